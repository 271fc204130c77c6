"""Rows as a table of scores (text, CSV, Markdown), with names short enough for it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from bot.evaluation.finding import grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rounding import half_up, significant
from bot.evaluation.score import ColumnValue
from bot.evaluation.verdict import Judgement, Row
from bot.reporting.escape import brief, cell, inert
from bot.reporting.table import NARROWEST, Table, cut_front, markdown_table, table_width, text_table
from bot.reporting.text import SIGNS, WIDTH, short_revision

CURRENCIES = frozenset("$€£¥")  # units that stand before the number
REVISION = 8  # letters of a commit that people read
NO_REVISION, NO_PRECISION = "unpinned", "unknown"


class NamedRow(NamedTuple):
    """The fields of a row's key that tell it from others; `model` is the name that people use."""

    model: str
    revision: str
    precision: str
    chat_template: bool | None


def row_names(rows: Iterable[NamedRow]) -> list[str]:
    """The model of each row, and in brackets what tells it from other rows of that model; a template always."""
    rows = list(rows)
    same = grouped((row.model, row) for row in rows)
    fields = {model: _telling(rivals) for model, rivals in same.items()}
    marks = [_marks(row, fields[row.model]) for row in rows]
    return [f"{row.model} ({', '.join(mark)})" if mark else row.model for row, mark in zip(rows, marks, strict=True)]


def _telling(rows: Sequence[NamedRow]) -> tuple[str, ...]:
    """The fewest fields that tell the rows of one model apart: a line has little room."""
    choices: tuple[tuple[str, ...], ...] = ((), ("precision",), ("revision",))
    return next(
        (one for one in choices if len({_marks(row, one) for row in rows}) == len(rows)), choices[1] + choices[2]
    )


def _marks(row: NamedRow, fields: Sequence[str]) -> tuple[str, ...]:
    revision = short_revision(row.revision, REVISION) or NO_REVISION
    shown = {"precision": row.precision or NO_PRECISION, "revision": revision}
    return (*[shown[field] for field in fields], *(["chat"] if row.chat_template else []))


def column_cells(values: Iterable[ColumnValue], leaderboard: Leaderboard) -> list[str]:
    """The columns that do not count as people read them: shares in points, other numbers with their unit."""
    by_id = {one.id: one.value for one in values}
    return [column_cell(by_id.get(column.id), column.unit) for column in leaderboard.columns]


def value_text(column: ColumnValue | None) -> str:
    """One of them in the unit that it names, a dash for None."""
    return column_cell(column.value, column.unit) if column is not None else cell(None, 2)


def column_cell(value: float | None, unit: str) -> str:
    """A number of a column that does not count, with its unit."""
    number = column_number(value, unit)
    if value is None or unit in {"fraction", "percent", "plain"}:
        return number
    return f"{unit}{number}" if unit in CURRENCIES else f"{number} {unit}"


def column_number(value: float | None, unit: str) -> str:
    """The same without its unit, where a heading says it; shares are in points."""
    if value is None or unit in {"fraction", "percent"}:
        return cell(None if value is None else value * (100 if unit == "fraction" else 1), 2)
    if 0 < abs(value) < 0.1:
        return significant(value, 2)  # of a cost of a tenth of a cent two decimals leave nothing
    return f"{half_up(value, 2):,}" if abs(value) < 100 and not value.is_integer() else f"{half_up(value, 0):,}"


def scores_text(judgement: Judgement) -> str:
    """Aligned columns, rounded for people."""
    board = judgement.leaderboard
    titles = (
        "",
        "model",
        "average",
        *board.groups,
        *(task.title for task in board.tasks),
        *(one.title for one in board.columns),
    )
    rows = [(SIGNS[status], name, *cells) for name, status, cells in _lines(judgement)]
    return text_table(fit(Table(titles, tuple(rows), names=2))) + "\n"


def fit(table: Table) -> Table:
    """The table within the terminal, and 80 columns at most: the names in its second column are cut from the front.

    Names that would look alike then are not cut, but wrapped.
    """
    widths = [max(len(str(cell)) for cell in cells) for cells in zip(table.columns, *table.rows, strict=True)]
    room = min(WIDTH, table_width()) - sum(widths) + widths[1] - 2 * (len(widths) - 1)
    room = room if room > 0 else NARROWEST  # the table has a second part, and no name is wrapped there
    names = [str(name) for _, name, *_ in table.rows]
    cut = [cut_front(name, room) for name in names]
    if len(set(cut)) < len(set(names)):
        return table
    return replace(table, rows=tuple((row[0], name, *row[2:]) for row, name in zip(table.rows, cut, strict=True)))


def scores_markdown(judgement: Judgement) -> str:
    """A table of GitHub's Markdown, rounded for people."""
    board = judgement.leaderboard
    shown = (*board.groups, *(task.title for task in board.tasks), *(one.title for one in board.columns))
    titles = ("model", "verdict", "average", *shown)
    rows = [(name, status, *cells) for name, status, cells in _lines(judgement)]
    return markdown_table(Table(titles, tuple(rows))) + "\n"


def scores_csv(judgement: Judgement) -> str:
    """CSV with full doubles, empty where there is no score; `path` holds the files of a row, parted by spaces."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    board = judgement.leaderboard
    named = (*board.groups, *(task.id for task in board.tasks), *(one.id for one in board.columns))
    writer.writerow(("path", "model", "verdict", "average", *named))
    for row in judgement.rows:
        values = {one.id: one.value for one in row.scores.columns}
        found = [*_scores(row), *(values.get(one.id) for one in board.columns)]
        numbers = ["" if score is None else score for score in found]
        writer.writerow((inert(" ".join(_paths(row))), inert(brief(row.key.model)), row.status, *numbers))
    for verdict in judgement.unreadable:
        writer.writerow((inert(verdict.path), "", "rejected", "", *("" for _ in named)))
    return text.getvalue()


def _lines(judgement: Judgement) -> list[tuple[str, str, list[str]]]:
    """The name, the verdict and the numbers of each row, and of each submission that no format reads."""
    board = judgement.leaderboard
    names = row_names(
        NamedRow(brief(key.model) or _paths(row)[0], key.revision, key.precision, key.chat_template)
        for row, key in [(row, row.key) for row in judgement.rows]
    )
    lines = [
        (name, str(row.status), [*(cell(score, 2) for score in _scores(row)), *column_cells(row.scores.columns, board)])
        for name, row in zip(names, judgement.rows, strict=True)
    ]
    holes = ["–"] * (1 + len(board.groups) + len(board.tasks) + len(board.columns))
    return lines + [(verdict.path, "rejected", holes) for verdict in judgement.unreadable]


def _paths(row: Row) -> list[str]:
    """The files that a row's numbers come from."""
    return [file.path for file in row.files or (row.lead,)]


def _scores(row: Row) -> list[float | None]:
    scores = row.scores
    return [scores.average, *(group.score for group in scores.groups), *(task.score for task in scores.tasks)]
