"""Verdicts in, a table of scores out: text, CSV, Markdown; one row for each submission."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from bot.board import inert
from bot.leaderboard import Leaderboard
from bot.pipeline import Verdict
from bot.render.chart import Table
from bot.render.escape import brief
from bot.render.markdown import cell
from bot.render.table import markdown_table, text_table
from bot.render.text import SIGNS, WIDTH

LEAST = 12  # letters of a name that are left however many columns there are


def scores_text(verdicts: Sequence[Verdict], leaderboard: Leaderboard) -> str:
    """Aligned columns, rounded for people."""
    titles = ("", "model", "average", *(task.id for task in leaderboard.tasks))
    rows = [
        (SIGNS[v.status], _model(v) or v.path, *(cell(score, 2) for score in _scores(v, leaderboard))) for v in verdicts
    ]
    return text_table(fit(Table(titles, tuple(rows)))) + "\n"


def fit(table: Table, column: int = 1) -> Table:
    """The table within 80 columns: names are cut from the front, for the end tells models apart."""
    widths = [max(len(str(cell)) for cell in cells) for cells in zip(table.columns, *table.rows, strict=True)]
    room = max(LEAST, WIDTH - sum(widths) + widths[column] - 2 * (len(widths) - 1))
    rows = tuple((*row[:column], _cut(str(row[column]), room), *row[column + 1 :]) for row in table.rows)
    return Table(table.columns, rows, table.caption)


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else f"…{name[1 - room :]}"


def scores_markdown(verdicts: Sequence[Verdict], leaderboard: Leaderboard) -> str:
    """A table of GitHub's Markdown, rounded for people."""
    return markdown_table(_table(verdicts, leaderboard)) + "\n"


def scores_csv(verdicts: Sequence[Verdict], leaderboard: Leaderboard) -> str:
    """CSV with full doubles, empty where there is no score."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("path", "model", "verdict", "average", *(task.id for task in leaderboard.tasks)))
    for verdict in verdicts:
        numbers = ["" if score is None else score for score in _scores(verdict, leaderboard)]
        writer.writerow((inert(verdict.path), inert(_model(verdict)), verdict.status, *numbers))
    return text.getvalue()


def _model(verdict: Verdict) -> str:
    return brief(verdict.result.model.id) if verdict.result else ""


def _scores(verdict: Verdict, leaderboard: Leaderboard) -> list[float | None]:
    if verdict.scores is None:
        return [None] * (1 + len(leaderboard.tasks))
    return [verdict.scores.average, *(task.score for task in verdict.scores.tasks)]


def _table(verdicts: Sequence[Verdict], leaderboard: Leaderboard) -> Table:
    titles = ("model", "verdict", "average", *(task.title for task in leaderboard.tasks))
    rows = tuple(
        (_model(verdict) or verdict.path, verdict.status, *(cell(score, 2) for score in _scores(verdict, leaderboard)))
        for verdict in verdicts
    )
    return Table(titles, rows)
