"""A board in, a table for a terminal out."""

from __future__ import annotations

from bot.board import TIE, Board, Row
from bot.render.chart import Table
from bot.render.markdown import cell
from bot.render.scores import fit
from bot.render.table import text_table


def board_text(board: Board) -> str:
    """The rows with rank, model, average and scores; what the ranks mean stands below."""
    tasks = board.leaderboard.tasks
    titles = ("rank", "model", "average", *(task.id for task in tasks))
    rows = tuple(_cells(row) for row in board.rows)
    note = f"Rows share a rank where their averages differ by less than {TIE} standard errors of the difference."
    return f"{text_table(Table(titles, rows))}\n\n{note}\n"


def _cells(row: Row) -> tuple[str, ...]:
    entry = row.entry
    chat = " (chat)" if entry.model.chat_template else ""
    front = (str(row.rank) if row.rank else "–", fit(f"{entry.model.id}{chat}", 20), cell(entry.average, 2))
    return (*front, *(cell(task.score, 2) for task in entry.tasks))
