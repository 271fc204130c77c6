"""The page of how scores are made: only what holds on this board, and columns that are made alike in one sentence."""

from __future__ import annotations

from typing import NamedTuple

from bot.evaluation.finding import counted, grouped
from bot.evaluation.task import Task
from bot.pages.board_page import is_bare, is_scaled
from bot.pages.content import PageContent

ALIKE = 4  # columns made in one way that are a sentence and a list, and no lines of the table


class Way(NamedTuple):
    """How a column is made, in words and without its versions; "" where there is nothing to choose."""

    metric: str
    better: str
    shots: str
    bounds: str
    made: str


HEADS = Way("Metric", "Better", "Shots", "Bounds", "From its subtasks")


def scores_page(content: PageContent) -> bytes:
    """The page."""
    rows, board = content.board.rows, content.board.leaderboard
    tasks, is_over_groups = board.tasks, board.average.over == "groups"
    ways = grouped((_way(task), task) for task in tasks)
    own = [(way, task) for task in tasks for way in [_way(task)] if len(ways[way]) < ALIKE]
    values = [{way[place] for way, _ in own} for place in range(len(HEADS))]
    units = {task.unit == "percent" for task in tasks if task.unit == "percent" or task.range == (0, 1)}
    return content.page(
        "scores.html",
        alike=[
            (way, some, grouped((task.group or "", task) for task in some))
            for way, some in ways.items()
            if len(some) >= ALIKE
        ],
        own=own,
        heads=[(place, head) for place, head in enumerate(HEADS) if len(values[place]) > 1 or place == 0],
        same=[some.pop() for some in values[1:] if len(some) == 1],
        unit={True: "percentages", False: "fractions from 0 to 1"}[units.pop()] if len(units) == 1 else "",
        single=[task for task in tasks if len(task.leaves) == 1],
        is_scaled=is_scaled(content),
        largest=max(board.groups.items(), key=lambda group: len(group[1])) if is_over_groups else None,
        has_errors=not rows or not is_bare(rows),
        has_pairs=not rows or any(row.entry.stderr is not None for row in rows),
        has_signs=not rows or any(row.is_over_tasks for row in rows),
    )


def _way(task: Task) -> Way:
    why = (task.bound_reason or "").rstrip(".")
    names, is_one = ", ".join(metric.name for metric in task.metrics), len(task.leaves) == 1
    has_own = task.normalize == "leaf" and any(leaf.bound_reason for leaf in task.leaves)
    lower = "each subtask's own" if has_own else task.lower_bound
    weighted = ", weighted by samples" if task.aggregation == "size-weighted" else ""
    return Way(
        f"{names}{' (their mean)' if len(task.metrics) > 1 else ''}",
        "higher is better" if task.higher_is_better else "lower is better",
        "any number of shots" if task.num_fewshot is None else counted(task.num_fewshot, "shot"),
        f"bounds {lower} to {task.upper_bound}{f': {why}' if why else ''}",
        "" if is_one else f"mean of {'scores' if task.normalize == 'leaf' else 'raw values'}{weighted}",
    )
