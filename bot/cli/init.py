"""The command that sets up a new board: init."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.judging import results_at, warn
from bot.cli.publish import AsForm
from bot.errors import CallError
from bot.evaluation.leaderboard import parse_leaderboard, shipped
from bot.platforms.git.platform import checked_folder
from bot.platforms.registry import open_target
from bot.service.environment import read_access
from bot.service.new_board import BOARD, CARD, SETTINGS, NewBoard, card_text, copied, drafted, settings_text

RESULTS = "Result files or folders to draft the declaration from (empty: copy a shipped one)"
LIKE = f"The shipped declaration to copy ({', '.join(shipped())})"
SOURCE = "Where results are pushed (hf://datasets/org/name, github://owner/name, or a local git repository)"
TARGET = "Where rows go (hf://datasets/org/name, github://owner/name, or a folder)"


def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder to write to.")] = Path(),
    results: Annotated[
        list[str] | None,
        typer.Option("--results", metavar="PATH", help="Result files or folders to draft the declaration from."),
    ] = None,
    *,
    like: Annotated[str, typer.Option("--like", metavar="ID", help="Copy this shipped declaration instead.")] = "",
    source: Annotated[str, typer.Option("--source", help="Where results are pushed.")] = "",
    to: Annotated[str, typer.Option("--to", metavar="TARGET", help="Where rows go.")] = "",
    form: Annotated[AsForm, typer.Option("--as", help="How rows go there.")] = AsForm.PULL_REQUEST,
    title: Annotated[str, typer.Option("--title", help="The title of the board.")] = "",
    description: Annotated[str, typer.Option("--description", help="One sentence that says what it compares.")] = "",
) -> None:
    """Set up a new board. Writes its declaration, its settings and its card, and never replaces a file."""
    places = list(results or [])
    if not places and not like:
        places = list(map(os.path.expanduser, shlex.split(_asked(RESULTS, "--results PATH or --like ID", ""))))
        like = "" if places else _asked(LIKE, "--like ID")
    read_at, written_at = source or _asked(SOURCE, "--source"), to or _asked(TARGET, "--to TARGET")
    open_target(checked_folder(written_at), read_access(), form.value)  # raises if invalid; asks no service
    board = NewBoard(
        _seen_from(folder, checked_folder(read_at)),
        _seen_from(folder, written_at),
        form.value,
        title or _offered("The title of the board (optional)"),
        description or _offered("One sentence that says what it compares (optional)"),
    )
    declaration = _drafted(places, board) if places else copied(like, board)
    declared = _declared(folder, declaration)
    _write(folder, {BOARD: declared, SETTINGS: settings_text(board), CARD: _card(declared, board)})
    typer.echo(f"leaderboard-bot leaderboards {shlex.quote(str(folder / BOARD))}")
    settings = shlex.quote(str(folder / SETTINGS))
    warn(f"when no TODO is left: leaderboard-bot settle --config {settings} --dry-run")
    warn(f"put {CARD} and {BOARD} into {written_at}: the bot writes the table into the card")
    warn(f"to check token, rights and webhook: leaderboard-bot doctor --config {settings}")


def _seen_from(folder: Path, place: str) -> str:
    """Return a place as the settings in `folder` must name it: there, a relative path starts at that folder."""
    if "://" in place or Path(place).is_absolute() or folder.resolve() == Path.cwd():
        return place
    path = os.path.relpath(place, folder)
    return path if path.startswith(os.pardir) else f"./{path}"


def _asked(question: str, flag: str, default: str | None = None) -> str:
    """Ask the person at the terminal. Raises CallError if there is no terminal."""
    if not sys.stdin.isatty():
        raise CallError(f"there is no terminal to ask at: add {flag}")
    while True:
        typer.echo(f"{question}: ", nl=False, err=True)
        line = sys.stdin.readline()
        if line.strip() or (line and default is not None):
            return line.strip() or default or ""
        if not line:
            raise CallError("the input ended before the last question")


def _offered(question: str) -> str:
    """Ask for an optional answer; "" if it is left empty."""
    return _asked(question, "", "") if sys.stdin.isatty() else ""


def _drafted(paths: list[str], board: NewBoard) -> str:
    """Draft a declaration that accepts the results at these paths. Raises CallError if there is no result."""
    return drafted(results_at(paths)[0], board)


def _declared(folder: Path, declaration: str) -> str:
    """Return the declaration that applies: the one that is already in the folder, if there is one."""
    try:
        return (folder / BOARD).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return declaration
    except (OSError, UnicodeDecodeError):
        raise CallError(f"{folder / BOARD}: exists and cannot be read") from None


def _card(declared: str, board: NewBoard) -> str:
    return card_text(board, parse_leaderboard(declared, Path(BOARD).stem, BOARD))


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write each file that does not exist yet, and report each. Raises CallError if one cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            _write_new(folder / name, text)
    except OSError as error:
        raise CallError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        warn(f"{path}: already exists, not changed")
        return
    todo = text.count("TODO")
    left = f", with {todo} TODO to decide" if todo else ""
    warn(f"{path}: written{left}")
