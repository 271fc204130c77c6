"""The page of a board: its table of scores, or of the raw values that they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from bot.evaluation.task import Task
from bot.pages.addresses import column_page, row_page
from bot.pages.content import PageContent
from bot.pages.environment import points, raw
from bot.publishing.board import TIE, BoardRow, average_without


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head; `name` is that of the CSV, `kind` says how it sorts ("" as numbers, the largest first)."""

    name: str
    title: str
    kind: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row as people read it; `cells` are its numbers, with the marks between them."""

    ranks: str
    href: str
    model: str
    precision: str
    chat: str
    cells: Markup
    date: str
    warnings: int


def board_page(content: PageContent, *, is_raw: bool = False) -> bytes:
    """The page of all rows; the incomplete ones stand apart."""
    board = content.board
    declared = board.leaderboard
    lines = [_line(content, row, is_raw=is_raw) for row in board.rows]
    ranked = sum(row.rank is not None for row in board.rows)
    return content.page(
        "board.html",
        "raw.html" if is_raw else "index.html",
        description=declared.description,
        is_raw=is_raw,
        columns=_columns(content),
        rows=lines[:ranked],
        holes=lines[ranked:],
        ranked=ranked,
        newest=max((row.entry.date for row in board.rows), default="")[:10],
        quarantined=[task for task in declared.tasks if task.quarantined],
    )


def _columns(content: PageContent) -> list[Column]:
    tasks = content.board.leaderboard.tasks
    without = [Column("average_without_quarantined", "Without quarantined")] if content.has_quarantined else []
    return [
        Column("rank", "Rank", "rank"),
        Column("model", "Model", "text"),
        Column("precision", "Precision", "text"),
        Column("chat", "Template", "text"),
        Column("average", "Average"),
        *without,
        *(Column(task.id, _title(task), "", column_page(task.id)) for task in tasks),
        Column("date", "Measured", "text"),
        Column("warnings", "Warnings"),
    ]


def _title(task: Task) -> str:
    return f"{task.title} (quarantined)" if task.quarantined else task.title


def _line(content: PageContent, row: BoardRow, *, is_raw: bool) -> Line:
    entry = row.entry
    scores = {score.id: score for score in entry.tasks}
    found = [scores.get(task.id) for task in content.board.leaderboard.tasks]
    if is_raw:
        cells = [raw(score.raw if score else None) for score in found]
    else:
        cells = [_with_error(score.score, score.stderr) if score else _with_error(None, None) for score in found]
    without = [points(average_without(entry, content.board.leaderboard))] if content.has_quarantined else []
    return Line(
        row.ranks,
        row_page(content.names[entry.key]),
        entry.model.id or "(no name)",
        entry.model.precision or "unknown",
        "chat" if entry.model.chat_template else "plain",
        Markup("<td>".join((_with_error(entry.average, entry.stderr), *without, *cells))),  # noqa: S704 - numbers
        entry.date[:10],
        len(entry.warnings),
    )


def _with_error(value: float | None, stderr: float | None) -> str:
    if value is None or stderr is None:
        return points(value)
    return f"{value:.2f} ±{TIE * stderr:.1f}"
