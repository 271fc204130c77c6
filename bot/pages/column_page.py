"""The page of a column: how it is made, how its scores are distributed, and whether it follows the others."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import fsum

from bot.audits.board.audit import ColumnFigures
from bot.audits.ranks import places
from bot.evaluation.rounding import half_up
from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import column_page, row_page
from bot.pages.content import SEVERAL, PageContent
from bot.pages.drawing import LISTED, Figure, fitting, histogram, scatter
from bot.publishing.board import TIE, BoardRow
from bot.publishing.entry import Entry

LEAST_MOVE, MANY_ROWS = 3, 100  # places that say something, and rows of which shares of a range do
MOVED, TOP = 10, 10  # rows of the table of ranks, and of that of the best


@dataclass(frozen=True, slots=True)
class Best:
    """The row with the highest score of a column, and half of its interval, None if that is unknown.

    `alike` is the number of other rows whose score chance cannot separate from it, None if its own error is unknown.
    """

    score: float
    reach: float | None
    model: str
    page: str
    alike: int | None


def _best(content: PageContent, task: str) -> Best | None:
    """The first of the rows with the highest score; None if no row has one."""
    if not (field := content.fields.get(task)):
        return None
    row, stderr = next((row, score.stderr) for row, score in content.scores[task] if score.score == field[-1])
    alike = content.alike.get(row.entry.key, {}).get(task)
    page = row_page(content.names[row.entry.key])
    return Best(field[-1], stderr and TIE * stderr, row.entry.model.id, page, alike)


def _top(content: PageContent, task: str) -> list[tuple[int, BoardRow, TaskScore]]:
    """The rows with the highest scores, each with its place, which equal scores share, and its score."""
    scored = [one for one in content.scores.get(task, []) if one[1].score is not None]
    best = nlargest(TOP, scored, key=lambda one: one[1].score or 0.0)
    scores = [score.score for _, score in best]
    return [(scores.index(score.score) + 1, row, score) for row, score in best]


def column_page_of(content: PageContent, task: Task) -> bytes:
    """The page of one column."""
    values, scored = content.fields.get(task.id, []), content.scores.get(task.id, [])
    zeros = [row for row, score in scored if score.score == 0]
    figures = next((one for one in content.audit.columns if one.column == task.id), None)
    odd, others = _odd(content, task), _sums_of_others(content, task)
    moved = list(_moved(content, others))
    drawn = []
    if len(values) >= SEVERAL:
        drawn.append(histogram(f"{task.title}: number of rows by score", values, fitting("score (points)", values)))
    if drawn and others:
        drawn.append(_against_rest(content, task, others, {row.entry.key for row, *_ in odd}))
    return content.page(
        column_page(task.id),
        "column.html",
        task=task,
        best=_best(content, task.id),
        count=len(values),
        questions=sum(leaf.samples or 0 for leaf in task.leaves) if all(leaf.samples for leaf in task.leaves) else 0,
        top=_top(content, task.id),
        missing=len(scored) - len(values),
        figures=drawn,
        odd=odd,
        zeros=len(zeros),
        warned=sum(content.is_marked(row.entry) for row in zeros),
        words=list(_words(figures)) if figures else [],
        alarms=[alarm.why for alarm in figures.alarms] if figures else [],
        moved=moved[:MOVED],
        movers=len(moved),
        least=LEAST_MOVE,
    )


def _sums_of_others(content: PageContent, task: Task) -> list[float]:
    """The sums of the other columns for each row with every score; none where the column cannot be held against any."""
    columns = content.whole[1]
    kept = [column for name, column in columns.items() if name != task.id]
    return [fsum(row) for row in zip(*kept, strict=True)] if task.id in columns else []


def _odd(content: PageContent, task: Task) -> list[tuple[BoardRow, float, float]]:
    """The rows with a ? here on the board: its score, what the other columns would give it; the least likely first."""
    scored = ((row, score.score) for row, score in content.scores.get(task.id, []))
    marked = [
        (row, score, expected)
        for row, score in scored
        if score is not None and (expected := content.odd.get(row.entry.key, {}).get(task.id)) is not None
    ]
    return sorted(marked, key=lambda one: -abs(one[1] - one[2]))


def _against_rest(content: PageContent, task: Task, sums: Sequence[float], odd: Container[str]) -> Figure:
    """The column against the mean of the other columns; the odd rows, by their keys, in another colour."""
    names, columns = content.whole
    others = [total / (len(columns) - 1) for total in sums]
    models = [content.rows[name].entry.model for name in names[:LISTED]]
    titles = [f"{model.id or '(no name)'}, {model.precision or 'unknown precision'}" for model in models]
    marked = [place for place, name in enumerate(names) if content.rows[name].entry.key in odd]
    title = f"{task.title} against the mean of the other columns{'; orange: rows to look at' if marked else ''}"
    across, up = fitting("mean of the others (points)", others), fitting("score (points)", columns[task.id])
    return scatter(title, titles, (others, across), (columns[task.id], up), marked)


def _moved(content: PageContent, sums: Sequence[float]) -> Iterator[tuple[str, Entry, int, int]]:
    """The rows whose places change most by the sums of the other columns, of those with every score.

    Each with its name in addresses, and its place with the column and without it.
    """
    names = content.whole[0]
    found = [
        (-abs(now - before), before, place, now)
        for place, (before, now) in enumerate(zip(content.places, places(sums), strict=bool(sums)))
        if abs(now - before) >= LEAST_MOVE
    ]
    for _, before, place, now in sorted(found):
        yield names[place], content.rows[names[place]].entry, before, now


def _words(figures: ColumnFigures) -> Iterator[str]:
    """The findings of the audit, in sentences."""
    if figures.rows >= MANY_ROWS:
        yield (
            f"Of its scores 96 % lie between {half_up(figures.low, 2)} and {half_up(figures.high, 2)}. "
            f"The lowest tenth of that range holds {100 * figures.floor_mass:.1f} % of the rows, "
            f"the next tenth {100 * figures.next_mass:.1f} %."
        )
    if figures.correlation is not None:
        interval = ""
        if figures.correlation_low is not None and figures.correlation_high is not None:
            interval = f" (95 % interval {figures.correlation_low:.2f} to {figures.correlation_high:.2f})"
        yield f"Rank correlation with the mean of the other columns: {figures.correlation:.2f}{interval}."
    effect = figures.effect
    yield (
        f"Without this column {effect.rows_moved:,} of {figures.rows:,} rows have another rank by their averages, "
        f"by up to {effect.largest_move}; {effect.leader}."
        if effect.rows_moved
        else "Without this column every row keeps its rank."
    )
