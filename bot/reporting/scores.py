"""Rows as a table of scores (text, CSV, Markdown), with names short enough for it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from bot.evaluation.finding import grouped
from bot.evaluation.verdict import Judgement, Row
from bot.reporting.escape import brief, cell, inert
from bot.reporting.table import NARROWEST, Table, cut_front, markdown_table, table_width, text_table
from bot.reporting.text import SIGNS, WIDTH, short_revision

REVISION = 8  # letters of a commit that people read
NO_REVISION, NO_PRECISION = "unpinned", "unknown"


class NamedRow(NamedTuple):
    """The fields of a row's key that tell it from others; `model` is the name that people use."""

    model: str
    revision: str
    precision: str
    chat_template: bool


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


def scores_text(judgement: Judgement) -> str:
    """Aligned columns, rounded for people."""
    titles = ("", "model", "average", *(task.id for task in judgement.leaderboard.tasks))
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
    titles = ("model", "verdict", "average", *(task.title for task in judgement.leaderboard.tasks))
    rows = [(name, status, *cells) for name, status, cells in _lines(judgement)]
    return markdown_table(Table(titles, tuple(rows))) + "\n"


def scores_csv(judgement: Judgement) -> str:
    """CSV with full doubles, empty where there is no score; `path` holds the files of a row, parted by spaces."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("path", "model", "verdict", "average", *(task.id for task in judgement.leaderboard.tasks)))
    for row in judgement.rows:
        numbers = ["" if score is None else score for score in _scores(row)]
        writer.writerow((inert(" ".join(_paths(row))), inert(brief(row.key.model)), row.status, *numbers))
    for verdict in judgement.unreadable:
        writer.writerow((inert(verdict.path), "", "rejected", "", *("" for _ in judgement.leaderboard.tasks)))
    return text.getvalue()


def _lines(judgement: Judgement) -> list[tuple[str, str, list[str]]]:
    """The name, the verdict and the numbers of each row, and of each submission that no format reads."""
    names = row_names(
        NamedRow(brief(key.model) or _paths(row)[0], key.revision, key.precision, key.chat_template)
        for row, key in [(row, row.key) for row in judgement.rows]
    )
    lines = [
        (name, str(row.status), [cell(score, 2) for score in _scores(row)])
        for name, row in zip(names, judgement.rows, strict=True)
    ]
    holes = ["–"] * (1 + len(judgement.leaderboard.tasks))
    return lines + [(verdict.path, "rejected", holes) for verdict in judgement.unreadable]


def _paths(row: Row) -> list[str]:
    """The files that a row's numbers come from."""
    return [file.path for file in row.files or (row.lead,)]


def _scores(row: Row) -> list[float | None]:
    return [row.scores.average, *(task.score for task in row.scores.tasks)]
