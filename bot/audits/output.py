"""Options and output that the four audit commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.errors import CallError
from bot.reporting.escape import plain_json, without_commands


def default_to(command: str) -> type[TyperGroup]:
    """A group that takes a first argument which names no command as one of `command`."""

    class DefaultGroup(TyperGroup):
        """The group with its default."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Put the name of the default command before an argument or an option of its own."""
            if args and args[0] not in {*self.commands, "--help", "-h"}:
                args.insert(0, command)
            return super().parse_args(ctx, args)

    return DefaultGroup


class AuditFormat(StrEnum):
    """The formats of an audit's report."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


FORMAT = Annotated[AuditFormat, typer.Option("--format", "-f", help="The format of the report.")]
HTML = Annotated[Path | None, typer.Option("--html", help="Also write the report with charts to this HTML file.")]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Renderers = Mapping[AuditFormat, Callable[[], str]]


def require_html(path: Path | None) -> None:
    """Fail before long work where the HTML file cannot be drawn or written at its end. Raises CallError."""
    if path is None:
        return
    from bot.reporting.chart import altair

    altair()
    if not path.parent.is_dir():
        raise CallError(f"{path}: cannot be written: the folder {path.parent} does not exist")


def write_report(text: Callable[[], str], html: Path | None, page: Callable[[], str]) -> None:
    """Write the HTML page where one is asked for, then print the report. Raises CallError if that fails."""
    if html is not None:
        try:
            html.write_text(page(), encoding="utf-8")
        except OSError as error:
            raise CallError(f"{html}: cannot be written: {error.strerror}") from None
    typer.echo(without_commands(text()), nl=False)


def as_json(value: Any) -> str:
    """Return indented JSON that ends with a line break."""
    return plain_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
