"""A board in, a table for a terminal out."""

from __future__ import annotations

from textwrap import fill

from bot.board import TIE, Board, Row, average_without
from bot.leaderboard import Leaderboard
from bot.render.chart import Table
from bot.render.markdown import cell
from bot.render.scores import fit
from bot.render.table import text_table
from bot.render.text import WIDTH


def board_text(board: Board) -> str:
    """The rows with rank, model, average and scores; what the ranks mean stands below."""
    tasks = board.leaderboard.tasks
    doubted = [task for task in tasks if task.quarantined]
    without = [f"without {', '.join(task.id for task in doubted)}"] if doubted else []
    titles = ("rank", "model", "average", *without, *(task.id for task in tasks))
    rows = tuple(_cells(row, board.leaderboard) for row in board.rows)
    note = f"Rows share a rank where their averages differ by less than {TIE} standard errors of the difference."
    notes = [note, *(f"{task.id} is quarantined: {task.quarantined}" for task in doubted)]
    return f"{text_table(fit(Table(titles, rows)))}\n\n" + "".join(f"{fill(note, WIDTH)}\n" for note in notes)


def _cells(row: Row, leaderboard: Leaderboard) -> tuple[str, ...]:
    entry = row.entry
    chat = " (chat)" if entry.model.chat_template else ""
    front: tuple[str, ...] = (
        str(row.rank) if row.rank else "–",
        f"{entry.model.id}{chat}",
        cell(entry.average, 2),
    )
    if any(task.quarantined for task in leaderboard.tasks):
        front = (*front, cell(average_without(entry, leaderboard), 2))
    return (*front, *(cell(task.score, 2) for task in entry.tasks))
