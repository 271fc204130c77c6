"""The board of a leaderboard: its rows in order with ranges of ranks, and the table as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from bot.audits.score_table import PublishedTable as Table
from bot.errors import CallError
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry
from bot.publishing.ranks import rank_ranges
from bot.reporting.escape import inert

CSV_NAME = "leaderboard.csv"
JSON_NAME = "leaderboard.json"
WITHOUT = "average_without_quarantined"
PARQUET_NAME = "leaderboard.parquet"


@dataclass(frozen=True, slots=True)
class BoardRow:
    """An entry on the board; `position` is its place in the file, from 1.

    `rank` is the best and `worst` the worst rank that it may have, see `bot.publishing.ranks`; both are None for an
    incomplete row.
    """

    position: int
    rank: int | None
    worst: int | None
    entry: Entry

    @property
    def ranks(self) -> str:
        """The range as people read it, two numbers with a dash or one; a dash alone for a row without rank."""
        if self.rank is None:
            return "–"
        return f"{self.rank}" if self.rank == self.worst else f"{self.rank}–{self.worst}"


@dataclass(frozen=True, slots=True)
class Board:
    """All rows: the complete ones from the best down, then the incomplete ones by name."""

    leaderboard: Leaderboard
    rows: tuple[BoardRow, ...]


def make_board(entries: Iterable[Entry], leaderboard: Leaderboard) -> Board:
    """The board of a leaderboard's entries."""
    return Board(leaderboard, rank_entries(entries))


def rank_entries(entries: Iterable[Entry]) -> tuple[BoardRow, ...]:
    """Put the entries in order, with the ranks that chance leaves to each."""
    everything = list(entries)
    complete = sorted((e for e in everything if e.average is not None), key=lambda e: (-(e.average or 0.0), e.key))
    partial = sorted((e for e in everything if e.average is None), key=lambda e: e.key)
    ranges = rank_ranges([e.average or 0.0 for e in complete], [e.stderr or 0.0 for e in complete])
    ranked = [BoardRow(i, *ranks, e) for i, (ranks, e) in enumerate(zip(ranges, complete, strict=True), start=1)]
    holes = (BoardRow(i, None, None, e) for i, e in enumerate(partial, start=len(complete) + 1))
    return (*ranked, *holes)


def columns(leaderboard: Leaderboard) -> tuple[str, ...]:
    """The columns of the table, in order."""
    tasks = [task.id for task in leaderboard.tasks]
    front: tuple[str, ...] = ("rank_best", "rank_worst", "model", "revision", "precision", "chat_template")
    front = (*front, "average", "average_stderr")
    if any(task.quarantined for task in leaderboard.tasks):
        front = (*front, WITHOUT)
    return (*front, *tasks, "verdict", "missing", "warnings", "entry")


def average_without(entry: Entry, leaderboard: Leaderboard) -> float | None:
    """The plain mean of the tasks that are not quarantined, None if one of them has no score."""
    doubted = {task.id for task in leaderboard.tasks if task.quarantined}
    scores = [task.score for task in entry.tasks if task.id not in doubted]
    had = [score for score in scores if score is not None]
    return fsum(had) / len(had) if had and len(had) == len(scores) else None


def records(board: Board) -> list[dict[str, str | int | float | bool | None]]:
    """The rows as plain values, keyed by column; a task without a score is None."""
    table, named = [], columns(board.leaderboard)
    for row in board.rows:
        entry = row.entry
        scores = {task.id: task.score for task in entry.tasks}
        without = {WITHOUT: average_without(entry, board.leaderboard)} if WITHOUT in named else {}
        table.append(
            {
                "rank_best": row.rank,
                "rank_worst": row.worst,
                "model": entry.model.id,
                "revision": entry.model.revision,
                "precision": entry.model.precision,
                "chat_template": entry.model.chat_template,
                "average": entry.average,
                "average_stderr": entry.stderr,
                **without,
                **{task.id: scores.get(task.id) for task in board.leaderboard.tasks},
                "verdict": entry.verdict,
                "missing": " ".join(entry.coverage.missing),
                "warnings": " ".join(dict.fromkeys(remark.rule for remark in entry.warnings)),
                "entry": entry.path,
            }
        )
    return table


def to_csv(board: Board) -> bytes:
    """The table as CSV: full doubles, empty where there is no value."""
    text, named = io.StringIO(newline=""), columns(board.leaderboard)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(named)
    shown: dict[type, Callable[[Any], str]] = {bool: lambda value: str(value).lower(), str: inert}
    for record in records(board):
        values = [record[name] for name in named]
        writer.writerow([shown[type(value)](value) if type(value) in shown else value for value in values])
    return text.getvalue().encode()


def to_parquet(board: Board) -> bytes | None:
    """The table as Parquet, None if the extra `board` is not installed."""
    try:
        import polars as pl
    except ImportError:
        return None
    types: dict[str, type[pl.DataType]] = dict.fromkeys(columns(board.leaderboard), pl.String)
    types |= dict.fromkeys(("average", "average_stderr", *(task.id for task in board.leaderboard.tasks)), pl.Float64)
    types |= {WITHOUT: pl.Float64} if WITHOUT in types else {}
    types |= {"rank_best": pl.Int64, "rank_worst": pl.Int64, "chat_template": pl.Boolean}
    out = io.BytesIO()
    pl.DataFrame(records(board), schema=types).write_parquet(out)
    return out.getvalue()


def board_of(entries: Iterable[Entry], leaderboard: str = "", only: Sequence[str] = ()) -> Table:
    """Take the scores of entries; `leaderboard` is the id of theirs, "" if there is only one.

    Raises CallError if there are entries of no leaderboard or of several, or a named column is not among them.
    """
    had = [entry for entry in entries if leaderboard in {"", entry.leaderboard.id}]
    ids = sorted({entry.leaderboard.id for entry in had})
    if len(ids) != 1:
        found = (
            f"entries of several leaderboards, {', '.join(ids)}: name one" if ids else "no entries of this leaderboard"
        )
        raise CallError(f"there are {found}")
    tasks = list(dict.fromkeys(task.id for entry in had for task in entry.tasks))
    missing = [column for column in only if column not in tasks]
    if missing:
        raise CallError(f"there is no column {missing[0]!r}; the columns are {', '.join(tasks)}")
    scores = [{task.id: task.score for task in entry.tasks} for entry in had]
    columns = {task: tuple(row.get(task) for row in scores) for task in (only or tasks)}
    return Table(tuple(entry.model.id for entry in had), columns)


def same_values(entries: Iterable[Entry]) -> Mapping[tuple[float, ...], str]:
    """For the raw values of all tasks in order, the model on the board that has them: what `duplicate-scores` asks."""
    known: dict[tuple[float, ...], str] = {}
    for entry in sorted(entries, key=lambda e: e.key):
        raws = tuple(task.raw for task in entry.tasks if task.raw is not None)
        if len(raws) == len(entry.tasks):
            known.setdefault(raws, entry.model.id)
    return known
