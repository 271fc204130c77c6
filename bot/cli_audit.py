"""The command group `audit`: a call in, a report on standard output and an exit status out."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.errors import CallError

audit = typer.Typer(no_args_is_help=True)


@audit.callback()
def group() -> None:
    """Investigate a benchmark, a board, or where numbers come from."""


class Form(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


FORM = Annotated[Form, typer.Option("--format", help="How the report is written.")]
HTML = Annotated[Path | None, typer.Option("--html", help="Write one self-contained page with charts there, too.")]


@audit.command("board")
def board(
    target: Annotated[str, typer.Argument(help="A CSV of scores, or a folder that holds leaderboard.csv.")],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="A column of scores; give it once for each. Default: all found."),
    ] = None,
    form: FORM = Form.TEXT,
    html: HTML = None,
) -> None:
    """Name the columns of a board that do not follow the rest, and what they do to averages and ranks.

    Exit status 1 where a column is named.
    """
    from bot.audit.columns import audit_board
    from bot.audit.table import read_board
    from bot.board import CSV_NAME
    from bot.render import board_audit as render

    path = Path(target)
    path = path / CSV_NAME if path.is_dir() else path
    found = audit_board(read_board(read_bytes(path), target, tuple(column or ())))
    forms: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: render.board_text(found, target),
        Form.JSON: lambda: as_json(render.board_json(found, target)),
        Form.MARKDOWN: lambda: render.board_markdown(found, target),
    }
    report(forms[form], html, lambda: render.board_html(found, target))
    raise typer.Exit(1 if found.named else 0)


def report(written: Callable[[], str], html: Path | None, page: Callable[[], str]) -> None:
    """Print a report, and write its page where one is asked for."""
    if html is not None:
        write_text(html, page())
    typer.echo(written(), nl=False)


def as_json(value: Any) -> str:
    """Return JSON for people and programs alike, with a line break at its end."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_bytes(path: Path) -> bytes:
    """Read a file that the call names. Raises CallError where that fails."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file that the call names. Raises CallError where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CallError(f"{path}: cannot be written: {error.strerror}") from None
