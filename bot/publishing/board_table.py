"""A board as a table for a terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import msgspec

from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.board import TIE, Board, BoardRow, Record, average_without, records
from bot.reporting.escape import brief, cell
from bot.reporting.prose import escaped
from bot.reporting.scores import NamedRow, column_cells, fit, row_names
from bot.reporting.table import Table, markdown_table, text_table
from bot.reporting.text import WIDTH

SCHEMA = "leaderboard-bot/board/1"


def board_text(board: Board) -> str:
    """The rows with rank, model, average and scores; what the ranks mean is said below."""
    # A key stays whole, so that it can be copied.
    notes = [fill(note, WIDTH, break_on_hyphens=False, break_long_words=False) for note in _notes(board)]
    return f"{text_table(fit(_table(board)))}\n\n" + "".join(f"{note}\n" for note in notes)


def board_markdown(board: Board) -> str:
    """The same as a table of GitHub's Markdown."""
    return "\n\n".join([markdown_table(_table(board)), *map(escaped, _notes(board))]).rstrip() + "\n"


def board_json(board: Board, rows: Sequence[Record] | None = None) -> str:
    """The rows of `records`, or those that are given, with full doubles, one a line, keyed by the columns of the CSV.

    `schema` changes when a column goes or changes.
    """
    schema, name = (msgspec.json.encode(text).decode() for text in (SCHEMA, board.leaderboard.id))
    found = records(board) if rows is None else rows
    lines = ",\n".join(f"    {msgspec.json.encode(record).decode()}" for record in found)
    return f'{{\n  "schema": {schema},\n  "leaderboard": {name},\n  "rows": [\n{lines}\n  ]\n}}\n'


def _table(board: Board) -> Table:
    tasks = board.leaderboard.tasks
    doubted = [task.title for task in tasks if task.quarantined]
    without = [f"without {', '.join(doubted)}"] if doubted else []
    shown = (column.title for column in board.leaderboard.columns)
    titles = ("rank", "model", "average", *without, *board.leaderboard.groups, *(task.title for task in tasks), *shown)
    models = [row.entry.model for row in board.rows]
    names = row_names(NamedRow(one.id, one.revision, one.precision, one.chat_template) for one in models)
    rows = [_cells(row, name, board.leaderboard) for row, name in zip(board.rows, names, strict=True)]
    return Table(titles, tuple(rows), names=2)


def _notes(board: Board) -> list[str]:
    ranked = [row for row in board.rows if row.rank is not None]
    bare = sum(row.entry.stderr is None for row in ranked)
    note = (
        "A rank is the best and the worst place that a row could have by chance: averages that differ by at most "
        f"{TIE} standard errors of the difference may change places."
    )
    if bare:
        rows = "The rows" if bare == len(ranked) else "Rows without a standard error"
        alone = f"{rows} are ranked by their averages alone, and nothing tells what chance may change."
        note = alone if bare == len(ranked) else f"{note} {alone}"
    doubted = [task for task in board.leaderboard.tasks if task.quarantined]
    faults = [f"{brief(row.entry.key, 500)} has no rank: {row.fault}" for row in board.rows if row.fault]
    own = board.leaderboard.scoring_digest
    others = [brief(row.entry.key, 500) for row in board.rows if row.entry.leaderboard.scoring_digest != own]
    scored = [f"{counted(len(others), 'row')} of another declaration, such as {others[0]}"] if others else []
    return [note, *(f"{task.title} is quarantined: {task.quarantined}" for task in doubted), *faults, *scored]


def _cells(row: BoardRow, name: str, leaderboard: Leaderboard) -> tuple[str, ...]:
    entry = row.entry
    front: tuple[str, ...] = (row.ranks, name, cell(entry.average, 2))
    if any(task.quarantined for task in leaderboard.tasks):
        front = (*front, cell(average_without(entry, leaderboard), 2))
    scores = {task.id: task.score for task in entry.tasks}
    groups = {group.title: group.score for group in entry.groups}
    front = (*front, *(cell(groups.get(title), 2) for title in leaderboard.groups))
    return (
        *front,
        *(cell(scores.get(task.id), 2) for task in leaderboard.tasks),
        *column_cells(entry.columns, leaderboard),
    )
