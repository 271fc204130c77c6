"""The tables that compare rows, made by the server; the page's script makes the same from the same data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from bot.pages.compare_page import (
    AXES,
    NOTHING,
    Leaf,
    Score,
    circumstances,
    leaves_of_tasks,
    scores_of,
    shown_leaves,
    titles_of,
)
from bot.pages.content import PageContent
from bot.pages.environment import points
from bot.publishing.board import TIE
from bot.publishing.entry import Entry

MOST = 4  # rows that are compared
OFFERED = 2_000  # names that the fields offer
SCORES = (
    "Scores, and differences to the first row with 1.96 standard errors of the difference; "
    "differences larger than chance explains are bold"
)
CIRCUMSTANCES = "How each row was measured; where this differs, the numbers may not be comparable"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text and its class of the style sheet."""

    text: str
    style: str = "n"


@dataclass(frozen=True, slots=True)
class CompareLine:
    """A line with its head."""

    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class CompareTable:
    """A table with its caption."""

    caption: str
    titles: tuple[str, ...]
    lines: tuple[CompareLine, ...]


def compare_live(content: PageContent, asked: Sequence[str]) -> bytes:
    """The page with the rows that were asked for, complete without script."""
    wanted = [name for name in asked if name][:MOST]
    chosen = [name for name in wanted if name in content.rows]
    values: dict[str, Any] = {
        "asked": wanted,
        "offered": list(titles_of(content).items())[:OFFERED],
        "status": _status(len(wanted) - len(chosen), chosen),
        "tables": _tables(content, chosen) if len(chosen) > 1 else (),
        "is_live": True,
    }
    return content.page("compare.html", "compare.html", **values)


def _status(unknown: int, chosen: Sequence[str]) -> str:
    if len(chosen) < 2:
        return "A name is not on the board." if unknown else "Choose two rows or more."
    rest = f"; {unknown} names are not on the board" if unknown else ""
    return f"{len(chosen)} rows are compared{rest}."


def _tables(content: PageContent, chosen: Sequence[str]) -> tuple[CompareTable, CompareTable]:
    entries = [content.rows[name].entry for name in chosen]
    shown = titles_of(content)
    heads = [shown[name] for name in chosen]
    titles = ("Score", *heads, *(f"{title} less {heads[0]}" for title in heads[1:]))
    axes = ("Circumstance", *heads, "Verdict")
    return (
        CompareTable(SCORES, titles, tuple(_score_lines(content, entries))),
        CompareTable(CIRCUMSTANCES, axes, tuple(_axis_lines(entries))),
    )


def _score_lines(content: PageContent, entries: Sequence[Entry]) -> Iterator[CompareLine]:
    yield _line("Average", [(entry.average, entry.stderr) for entry in entries])
    leaves = leaves_of_tasks(content)
    found = [scores_of(entry, leaves) for entry in entries]
    for place, task in enumerate(content.board.leaderboard.tasks):
        yield _line(task.title, [tasks[place][0] for tasks in found])
        names: list[Leaf] = leaves[task.id]
        for number, name in enumerate(shown_leaves(names) if len(names) > 1 else ()):
            yield _line(f"{task.title}: {name}", [tasks[place][1][number] for tasks in found])


def _line(title: str, scores: Sequence[Score]) -> CompareLine:
    own = tuple(Cell(points(value)) for value, _ in scores)
    return CompareLine(title, (*own, *(_difference(scores[0], score) for score in scores[1:])))


def _difference(one: Score, other: Score) -> Cell:
    if one[0] is None or other[0] is None or NOTHING in (one, other):
        return Cell(points(None))
    value = other[0] - one[0]
    shown = f"{value:+.2f}" if value > 0 else f"{value:.2f}"
    if one[1] is None or other[1] is None:
        return Cell(shown)
    reach = TIE * hypot(one[1], other[1])
    return Cell(f"{shown} ±{reach:.2f}", "n apart" if abs(value) > reach else "n")


def _axis_lines(entries: Sequence[Entry]) -> Iterator[CompareLine]:
    for axis, *texts in zip(AXES, *(circumstances(entry) for entry in entries), strict=True):
        is_same = len(set(texts)) == 1
        verdict = Cell("same", "") if is_same else Cell("differs", "apart")
        yield CompareLine(axis, (*(Cell(text, "wrap") for text in texts), verdict))
