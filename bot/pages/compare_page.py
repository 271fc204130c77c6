"""The page that compares rows, with the data that its script reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from bot.pages.content import PageContent
from bot.publishing.entry import Entry
from bot.reporting.escape import visible

Leaf = tuple[str, str]  # the subtask and the metric
Score = tuple[float | None, float | None]  # with its standard error, in points
NOTHING: Score = (None, None)
# On what two measurements must agree for their difference to be one of the models.
AXES = (
    "Harness", "Formats", "Task versions", "Shots", "Samples", "Chat template", "Precision", "Declaration", "Bounds",
)  # fmt: skip


def compare_page(content: PageContent) -> bytes:
    """The page; which rows are compared stands in its address."""
    nothing: dict[str, Any] = {"asked": (), "offered": (), "status": "", "tables": (), "is_live": False}
    return content.page("compare.html", "compare.html", **nothing)


def compare_data(content: PageContent) -> bytes:
    """A script that holds the numbers of all rows: a page on a disk may load a script, and no data."""
    texts: dict[str, int] = {}
    leaves = leaves_of_tasks(content)
    data = {
        "names": list(content.rows),
        "titles": {name: title for name, title in titles_of(content).items() if name != title},
        "tasks": [
            {"title": task.title, "leaves": shown_leaves(leaves[task.id])} for task in content.board.leaderboard.tasks
        ],
        "axes": AXES,
        "rows": [_row(row.entry, leaves, texts) for row in content.board.rows],
        "texts": list(texts),
    }
    return b'"use strict";\nglobalThis.leaderboard = ' + msgspec.json.encode(data) + b";\n"


def titles_of(content: PageContent) -> dict[str, str]:
    """The text that people read for each row's name; the name in the address encodes letters of other scripts."""
    return {
        name: visible(f"{row.entry.model.id or '(no name)'}/{name.rpartition('/')[2]}")
        for name, row in content.rows.items()
    }


def shown_leaves(leaves: list[Leaf]) -> list[str]:
    """The names of leaves for people; the metric only where there are several."""
    several = len({metric for _, metric in leaves}) > 1
    return [visible(f"{leaf} {metric}" if several else leaf) for leaf, metric in leaves]


def leaves_of_tasks(content: PageContent) -> dict[str, list[Leaf]]:
    """The leaves and metrics of each task that any row has."""
    found: dict[str, dict[Leaf, None]] = {task.id: {} for task in content.board.leaderboard.tasks}
    last: dict[str, list[Leaf]] = {}
    for row in content.board.rows:
        for task in row.entry.tasks:
            leaves = [(leaf.id, leaf.metric) for leaf in task.leaves]
            if task.id in found and leaves != last.get(task.id):
                found[task.id].update(dict.fromkeys(leaves))
                last[task.id] = leaves
    return {task: list(leaves) for task, leaves in found.items()}


def _row(entry: Entry, leaves: Mapping[str, list[Leaf]], texts: dict[str, int]) -> dict[str, Any]:
    return {
        "average": (entry.average, entry.stderr),
        "tasks": scores_of(entry, leaves),
        "axes": [texts.setdefault(visible(text), len(texts)) for text in circumstances(entry)],
    }


def scores_of(entry: Entry, leaves: Mapping[str, list[Leaf]]) -> list[tuple[Score, list[Score]]]:
    """The score of each task, with those of its leaves in the order of `leaves`."""
    by_id = {task.id: task for task in entry.tasks}
    tasks: list[tuple[Score, list[Score]]] = []
    for task_id, names in leaves.items():
        score = by_id.get(task_id)
        had = score.leaves if score else ()
        measured: list[Score] = [
            (leaf.score, None if leaf.stderr is None else leaf.stderr * _points_of(leaf.lower_bound, leaf.upper_bound))
            for leaf in had
        ]
        own = [(leaf.id, leaf.metric) for leaf in had]
        if own != names:  # most rows have all leaves in the order of the first
            by_name = dict(zip(own, measured, strict=True))
            measured = [by_name.get(name, NOTHING) for name in names]
        tasks.append(((score.score, score.stderr) if score else NOTHING, measured))
    return tasks


@lru_cache(maxsize=1024)
def _points_of(lower: str, upper: str) -> float:
    """How many points of the score one unit of the raw value is."""
    return 100 / abs(float(Fraction(upper) - Fraction(lower)))


def circumstances(entry: Entry) -> tuple[str, ...]:
    """The circumstances of a measurement, a text for each of the axes; equal texts mean equal circumstances."""
    harness = entry.harness
    return (
        " ".join(filter(None, (harness.name, harness.repository, harness.version, harness.git_hash))),
        ", ".join(sorted({file.format for file in entry.evidence if file.format})) or "unknown",
        _counted(tuple(entry.versions.items())),
        _counted(tuple(entry.num_fewshot.items())),
        _counted(tuple(entry.num_samples.items())),
        "used" if entry.model.chat_template else "not used",
        entry.model.precision or "unknown",
        entry.leaderboard.scoring_digest,
        _bounds(tuple((leaf.id, leaf.lower_bound, leaf.upper_bound) for task in entry.tasks for leaf in task.leaves)),
    )


@lru_cache(maxsize=1024)
def _bounds(leaves: tuple[tuple[str, str, str], ...]) -> str:
    return _counted(tuple((leaf, f"{lower} to {upper}") for leaf, lower, upper in leaves))


@lru_cache(maxsize=1024)
def _counted(values: tuple[tuple[str, object], ...]) -> str:
    """The values by leaf, each once, with how many subtasks have it, and a digest that tells which."""
    counts = Counter(str(value) for _, value in dict(values).items())
    shown = ", ".join(f"{value} ({count} subtasks)" for value, count in sorted(counts.items()))
    return f"{shown} [{sha256(repr(sorted(values)).encode()).hexdigest()[:6]}]" if values else "not recorded"
