"""Rows as a table of scores: text, CSV, Markdown."""

from __future__ import annotations

import csv
import io

from bot.evaluation.judgement import Judgement
from bot.evaluation.row import Row
from bot.reporting.escape import brief, inert
from bot.reporting.markdown import cell
from bot.reporting.table import Table, cut_front, markdown_table, table_width, text_table
from bot.reporting.text import SIGNS, WIDTH


def scores_text(judgement: Judgement) -> str:
    """Aligned columns, rounded for people."""
    titles = ("", "model", "average", *(task.id for task in judgement.leaderboard.tasks))
    rows = [(SIGNS[row.status], _name(row), *(cell(score, 2) for score in _scores(row))) for row in judgement.rows]
    rows += [(SIGNS["rejected"], path, *_holes(judgement)) for path in _paths(judgement)]
    return text_table(fit(Table(titles, tuple(rows)))) + "\n"


def fit(table: Table, column: int = 1) -> Table:
    """The table within the terminal, and 80 columns at most: names are cut from the front."""
    widths = [max(len(str(cell)) for cell in cells) for cells in zip(table.columns, *table.rows, strict=True)]
    room = min(WIDTH, table_width()) - sum(widths) + widths[column] - 2 * (len(widths) - 1)
    rows = tuple((*row[:column], cut_front(str(row[column]), room), *row[column + 1 :]) for row in table.rows)
    return Table(table.columns, rows, table.caption)


def scores_markdown(judgement: Judgement) -> str:
    """A table of GitHub's Markdown, rounded for people."""
    titles = ("model", "verdict", "average", *(task.title for task in judgement.leaderboard.tasks))
    rows = [(_name(row), row.status, *(cell(score, 2) for score in _scores(row))) for row in judgement.rows]
    rows += [(path, "rejected", *_holes(judgement)) for path in _paths(judgement)]
    return markdown_table(Table(titles, tuple(rows))) + "\n"


def scores_csv(judgement: Judgement) -> str:
    """CSV with full doubles, empty where there is no score; `path` holds the files of a row, parted by spaces."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("path", "model", "verdict", "average", *(task.id for task in judgement.leaderboard.tasks)))
    for row in judgement.rows:
        numbers = ["" if score is None else score for score in _scores(row)]
        paths = " ".join(file.path for file in (row.files or (row.lead,)))
        writer.writerow((inert(paths), inert(brief(row.model.id)), row.status, *numbers))
    for path in _paths(judgement):
        writer.writerow((inert(path), "", "rejected", *("" for _ in _holes(judgement))))
    return text.getvalue()


def _name(row: Row) -> str:
    return brief(row.model.id) or row.lead.path


def _scores(row: Row) -> list[float | None]:
    return [row.scores.average, *(task.score for task in row.scores.tasks)]


def _paths(judgement: Judgement) -> list[str]:
    """The submissions that no format reads."""
    return [verdict.path for verdict in judgement.unreadable]


def _holes(judgement: Judgement) -> list[str]:
    return ["–"] * (1 + len(judgement.leaderboard.tasks))
