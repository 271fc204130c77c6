"""The command that writes rows in the form of others: export."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.judging import DEFAULT, MODEL_NAME, NO_PROGRESS, judge_paths, warn
from bot.cli.leaderboards import read_board
from bot.errors import CallError
from bot.evaluation.finding import counted, examples
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import evidence_of
from bot.publishing.entry import Entry, make_entries
from bot.publishing.records import records_of
from bot.service.settings.environment import read_access

ENTRIES = "entries"


def export(
    names: Annotated[list[str], typer.Argument(metavar="PATH|TARGET...", help="Result files, or one target.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    form: Annotated[Literal["every-eval-ever"], typer.Option("--format", "-f", help="The form to write.")],
    leaderboard: Annotated[
        str, typer.Option("--leaderboard", "-l", help="The id, file or hf:// address of a declaration.")
    ] = "",
    model_name: MODEL_NAME = None,
    *,
    quiet: NO_PROGRESS = False,
) -> None:
    """Write the rows of result files, or of a target, as records that others read, with their evidence."""
    del form  # there is one
    if out.exists() and not out.is_dir():
        raise CallError(f"{out}: is no folder")
    declared, entries, refused = _of_target(names[0], leaderboard) if _is_target(names) else (None, (), ())
    if declared is None:
        declared = open_leaderboard(leaderboard or DEFAULT, read_access())
        judgement, places = judge_paths(
            names, declared, names=model_name, declared_in=leaderboard, quiet=quiet, as_committed=True
        )
        counted_files = {file.path for row in judgement.rows for file in row.files}
        made = make_entries(judgement.rows, evidence_of(place for place in places if place.name in counted_files))
        entries = made.entries
        refused = [row.model.id for row in judgement.rows if row.key.text not in {entry.key for entry in entries}]
    if not entries:
        raise CallError("there is no row to write: leaderboard-bot check says what its files lack")
    retrieved, count = int(datetime.now(UTC).timestamp()), 0
    for entry in entries:
        for path, text in records_of(entry, declared, retrieved):
            place = out / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{text}\n", encoding="utf-8")
            count += 1
    if not quiet:
        warn(f"{counted(count, 'record')} of {counted(len(entries), 'row')} written to {out}")
    if refused:
        warn(f"{counted(len(refused), 'row')} left out, which no entry can hold: {examples(list(refused))}")
        raise typer.Exit(1)


def _is_target(names: Sequence[str]) -> bool:
    """Tell whether a call names a target: a folder with entries, or a repository elsewhere without a path in it."""
    if len(names) != 1:
        return False
    [name] = names
    if name.startswith("github://"):
        return True
    if name.startswith("hf://datasets/"):
        return len(name.removeprefix("hf://datasets/").strip("/").split("/")) == 2 and "@" not in name
    return (Path(name) / ENTRIES).is_dir()


def _of_target(name: str, leaderboard: str) -> tuple[Leaderboard, Sequence[Entry], Sequence[str]]:
    where = name if "://" in name else str(Path(name).resolve())
    board = read_board(where, leaderboard)
    return board.leaderboard, [row.entry for row in board.rows], ()
