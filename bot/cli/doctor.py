"""The command that examines a service: doctor."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.service import CONFIG, need_extra
from bot.reporting.escape import plain_json, visible, without_commands
from bot.service.settings.environment import (
    database_url,
    github_webhook_secret,
    read_access,
    settings_path,
    webhook_secret,
)

if TYPE_CHECKING:
    from bot.service.checks.diagnosis import Diagnosis

MARKS = {"ok": "✓", "warning": "!", "wrong": "✗"}


class DoctorFormat(StrEnum):
    """The formats of the diagnoses."""

    TEXT = "text"
    JSON = "json"


def doctor(
    config: CONFIG = None,
    form: Annotated[DoctorFormat, typer.Option("--format", "-f", help="The output format.")] = DoctorFormat.TEXT,
) -> None:
    """Find what does not work in a set-up. Each line says what to do about it."""
    need_extra("doctor")
    from bot.service.checks.diagnosis import ServiceCase
    from bot.service.checks.doctor import examine

    path = settings_path(config)
    found = []
    case = ServiceCase(path, read_access(), database_url(path), webhook_secret(), github_webhook_secret())
    for one in examine(case):
        found.append(one)
        if form is DoctorFormat.TEXT:
            typer.echo(without_commands(_line(one)))
    if form is DoctorFormat.JSON:
        typer.echo(plain_json(json.dumps([asdict(one) for one in found], indent=2)))
    if any(one.status == "wrong" for one in found):
        raise typer.Exit(1)


def _line(one: Diagnosis) -> str:
    advice = f" → {one.advice}" if one.advice else ""
    return f"{MARKS[one.status]} {visible(one.name)}: {visible(one.text + advice)}"
