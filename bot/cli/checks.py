"""The commands that only check: verify for the rows of a target, doctor for a set-up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.judging import FORM, check_sources, warn
from bot.cli.service import CONFIG, need_extra
from bot.evaluation.finding import counted
from bot.platforms.declarations import open_leaderboard
from bot.platforms.platform import Opener
from bot.reporting.escape import plain_json, visible, without_commands
from bot.service.checks.badge import check_badge, to_json, write_badge, write_record
from bot.service.checks.verify import VerifiedRow, Verifier, sources_beside, table_at
from bot.service.checks.verify_board import verify_board
from bot.service.judge.commits import open_look_up
from bot.service.settings.environment import (
    cached_answers,
    database_url,
    read_access,
    secret,
    settings_path,
)

if TYPE_CHECKING:
    from bot.service.checks.diagnosis import Diagnosis

FIELDS_NAMED = 5  # differing fields that are shown of one row


def verify(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A folder, hf://datasets/org/name, github://owner/name.")
    ],
    entries: Annotated[list[str] | None, typer.Argument(metavar="ENTRY", help="Rows by key, path or model.")] = None,
    leaderboard: Annotated[
        str, typer.Option("--leaderboard", "-l", help="Also compare with this declaration, such as today's.")
    ] = "",
    form: Annotated[Literal["text", "json"], FORM] = "text",
    sources: Annotated[
        list[Path] | None,
        typer.Option("--sources", metavar="DIR", help="A folder in which evidence may be read; can be repeated."),
    ] = None,
    *,
    badge: Annotated[
        Path | None, typer.Option("--badge", help="Also write a badge there: .svg, or .json for shields.io.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write what was found, for site --verified.")
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="Also ask the Hub whether the revision of each model is still there.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings that describe the target's table: compare its cells."),
    ] = None,
    samples: Annotated[
        bool | None,
        typer.Option(
            "--samples/--no-samples",
            help="Read the sample logs that rows name, and score them again. Default: where the board requires them.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show only rows that differ from their evidence.")
    ] = False,
) -> None:
    """Recompute rows from their evidence. The report names each row that differs from it."""
    if badge is not None:
        check_badge(badge)
    access = read_access()
    opened = Opener(access).target(target)
    opened.check_readable()
    today = open_leaderboard(leaderboard, access) if leaderboard else None
    table = table_at(opened, target, config) if config is not None else None
    check_sources(sources or [])
    look_up = open_look_up(access, cached_answers(), warn)
    folders = sources or sources_beside(target)
    verifier = Verifier(opened, Opener(access), today, models, table, folders, look_up, samples)
    rows, shown = _print_rows(verifier, entries or [], form, is_quiet=quiet)
    if badge is not None:
        write_badge(badge, rows, shown)
    if out is not None:
        write_record(out, rows, datetime.now(UTC).date().isoformat())
    outcomes = {row.outcome for row in (*rows, *shown) if not row.follows}
    if outcomes:
        raise typer.Exit(3 if outcomes == {"unavailable"} else 1)


def _print_rows(
    verifier: Verifier, names: Sequence[str], form: str, *, is_quiet: bool
) -> tuple[list[VerifiedRow], Sequence[VerifiedRow]]:
    """Print each row as soon as it is checked and then a summary, or all rows as JSON.

    Returns the rows, and the files that readers see and the entries do not give.
    """
    rows: list[VerifiedRow] = []
    for row in verifier.verify(names):
        rows.append(row)
        if form == "text" and not (is_quiet and row.follows):
            typer.echo(without_commands("\n".join(_lines(row))))
    board = verify_board(verifier)
    if form == "json":
        typer.echo(plain_json(json.dumps([to_json(row) for row in (*rows, *board.wrong)], indent=2)))
        return rows, board.wrong
    for row in board.wrong:
        typer.echo(without_commands("\n".join(_lines(row))))
    typer.echo(without_commands(visible(board.said)))
    typer.echo(_summary(rows))
    return rows, board.wrong


def _lines(row: VerifiedRow) -> list[str]:
    mark = "✓" if row.follows else "✗"
    said = row.why or row.notice
    word = f" ({visible(row.evidence)})" if row.evidence else ""
    lines = [f"{mark} {row.outcome}{word}  {visible(row.key)}" + (f": {visible(said)}" if said else "")]
    return [*lines, *(f"    {line}" for line in row.named(FIELDS_NAMED))]


def _summary(rows: Sequence[VerifiedRow]) -> str:
    counts = Counter(row.outcome for row in rows)
    many = {"follows": "follow", "differs": "differ"}
    named = ((count, many.get(outcome, outcome) if count > 1 else outcome) for outcome, count in counts.most_common())
    parts = ", ".join(f"{count} {outcome}" for count, outcome in named)
    return f"{counted(len(rows), 'row')}: {parts}"


MARKS = {"ok": "✓", "warning": "!", "wrong": "✗"}


def doctor(
    config: CONFIG = None,
    form: Annotated[Literal["text", "json"], FORM] = "text",
) -> None:
    """Find what does not work in a set-up. Each line says what to do about it."""
    need_extra("doctor")
    from bot.service.checks.diagnosis import ServiceCase
    from bot.service.checks.doctor import examine

    path = settings_path(config)
    found = []
    secrets = secret("WEBHOOK_SECRET"), secret("GITHUB_WEBHOOK_SECRET")
    case = ServiceCase(path, read_access(), database_url(path), *secrets)
    for one in examine(case):
        found.append(one)
        if form == "text":
            typer.echo(without_commands(_line(one)))
    if form == "json":
        typer.echo(plain_json(json.dumps([asdict(one) for one in found], indent=2)))
    if any(one.status == "wrong" for one in found):
        raise typer.Exit(1)


def _line(one: Diagnosis) -> str:
    advice = f" → {one.advice}" if one.advice else ""
    return f"{MARKS[one.status]} {visible(one.name)}: {visible(one.text + advice)}"
