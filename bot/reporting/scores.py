"""Rows as a table of scores: text, CSV, Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.score_table import ScoredRow, ScoreTable
from bot.reporting.escape import brief, inert
from bot.reporting.markdown import cell
from bot.reporting.row_names import NamedRow, row_names
from bot.reporting.table import NARROWEST, Table, cut_front, markdown_table, table_width, text_table
from bot.reporting.text import SIGNS, WIDTH


def scores_text(table: ScoreTable, leaderboard: Leaderboard) -> str:
    """Aligned columns, rounded for people."""
    titles = ("", "model", "average", *(task.id for task in leaderboard.tasks))
    named = zip(_names(table.rows), table.rows, strict=True)
    rows = [(SIGNS[row.status], name, *(cell(score, 2) for score in _scores(row))) for name, row in named]
    rows += [(SIGNS["rejected"], path, *_holes(leaderboard)) for path in table.unreadable]
    return text_table(fit(Table(titles, tuple(rows), names=2))) + "\n"


def fit(table: Table, column: int = 1) -> Table:
    """The table within the terminal, and 80 columns at most: names are cut from the front."""
    widths = [max(len(str(cell)) for cell in cells) for cells in zip(table.columns, *table.rows, strict=True)]
    room = min(WIDTH, table_width()) - sum(widths) + widths[column] - 2 * (len(widths) - 1)
    room = room if room > 0 else NARROWEST  # the table has a second part, and no name is wrapped there
    rows = tuple((*row[:column], cut_front(str(row[column]), room), *row[column + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


def scores_markdown(table: ScoreTable, leaderboard: Leaderboard) -> str:
    """A table of GitHub's Markdown, rounded for people."""
    titles = ("model", "verdict", "average", *(task.title for task in leaderboard.tasks))
    named = zip(_names(table.rows), table.rows, strict=True)
    rows = [(name, row.status, *(cell(score, 2) for score in _scores(row))) for name, row in named]
    rows += [(path, "rejected", *_holes(leaderboard)) for path in table.unreadable]
    return markdown_table(Table(titles, tuple(rows))) + "\n"


def scores_csv(table: ScoreTable, leaderboard: Leaderboard) -> str:
    """CSV with full doubles, empty where there is no score; `path` holds the files of a row, parted by spaces."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("path", "model", "verdict", "average", *(task.id for task in leaderboard.tasks)))
    for row in table.rows:
        numbers = ["" if score is None else score for score in _scores(row)]
        writer.writerow((inert(" ".join(row.files)), inert(brief(row.model)), row.status, *numbers))
    for path in table.unreadable:
        writer.writerow((inert(path), "", "rejected", *("" for _ in _holes(leaderboard))))
    return text.getvalue()


def _names(rows: Sequence[ScoredRow]) -> list[str]:
    keys = [(row, row.key) for row in rows]
    return row_names(
        NamedRow(brief(row.model) or row.files[0], key.revision, key.precision, key.chat_template) for row, key in keys
    )


def _scores(row: ScoredRow) -> list[float | None]:
    return [row.average, *row.scores]


def _holes(leaderboard: Leaderboard) -> list[str]:
    return ["–"] * (1 + len(leaderboard.tasks))
