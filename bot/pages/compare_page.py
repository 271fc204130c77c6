"""A board in, the page that holds rows against each other out, with the data that its script reads."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import msgspec

from bot.evaluation.score import LeafScore
from bot.pages.content import Content
from bot.publishing.entry import Entry
from bot.reporting.escape import visible

Leaf = tuple[str, str]  # the subtask and the metric
Score = tuple[float | None, float | None]  # with its standard error, in points
NOTHING: Score = (None, None)
# On what two measurements must agree for their difference to be one of the models.
AXES = (
    "Harness", "Formats", "Task versions", "Shots", "Samples", "Chat template", "Precision", "Declaration", "Bounds",
)  # fmt: skip


def compare_page(content: Content) -> bytes:
    """The page; which rows are compared stands in its address."""
    return content.page("compare.html", "compare.html")


def compare_data(content: Content) -> bytes:
    """A script that holds the numbers of all rows: a page on a disk may load a script, and no data."""
    texts: dict[str, int] = {}
    leaves = _leaves_of_tasks(content)
    data = {
        "names": list(content.rows),
        "tasks": [
            {"title": task.title, "leaves": [visible(" ".join(leaf)) for leaf in leaves[task.id]]}
            for task in content.board.leaderboard.tasks
        ],
        "axes": AXES,
        "rows": [_row(row.entry, leaves, texts) for row in content.board.rows],
        "texts": list(texts),
    }
    return b'"use strict";\nglobalThis.leaderboard = ' + msgspec.json.encode(data) + b";\n"


def _leaves_of_tasks(content: Content) -> dict[str, list[Leaf]]:
    """The leaves and metrics of each task that any row has."""
    found: dict[str, dict[Leaf, None]] = {task.id: {} for task in content.board.leaderboard.tasks}
    for row in content.board.rows:
        for task in row.entry.tasks:
            if task.id in found:
                found[task.id].update(dict.fromkeys((leaf.id, leaf.metric) for leaf in task.leaves))
    return {task: list(leaves) for task, leaves in found.items()}


def _row(entry: Entry, leaves: Mapping[str, list[Leaf]], texts: dict[str, int]) -> dict[str, Any]:
    by_id = {task.id: task for task in entry.tasks}
    tasks = []
    for task_id, names in leaves.items():
        score = by_id.get(task_id)
        measured = {(leaf.id, leaf.metric): _points(leaf) for leaf in score.leaves} if score else {}
        whole = (score.score, score.stderr) if score else NOTHING
        tasks.append((whole, [measured.get(name, NOTHING) for name in names]))
    return {
        "average": (entry.average, entry.stderr),
        "tasks": tasks,
        "axes": [texts.setdefault(visible(text), len(texts)) for text in circumstances(entry)],
    }


def _points(leaf: LeafScore) -> Score:
    """A leaf's score and its standard error, both in points."""
    return leaf.score, None if leaf.stderr is None else 100 * leaf.stderr / _span(leaf.lower_bound, leaf.upper_bound)


@cache
def _span(lower: str, upper: str) -> float:
    return abs(float(Fraction(upper) - Fraction(lower)))


def circumstances(entry: Entry) -> tuple[str, ...]:
    """What a measurement was made with, a text for each of the axes; equal texts are equal circumstances."""
    harness = entry.harness
    bounds = sorted({(leaf.id, leaf.lower_bound, leaf.upper_bound) for task in entry.tasks for leaf in task.leaves})
    return (
        " ".join(filter(None, (harness.name, harness.repository, harness.version, harness.git_hash))),
        ", ".join(sorted({file.format for file in entry.evidence if file.format})) or "unknown",
        _mapping(entry.versions),
        _mapping(entry.num_fewshot),
        _mapping(entry.num_samples),
        "used" if entry.model.chat_template else "not used",
        entry.model.precision or "unknown",
        entry.leaderboard.scoring_digest,
        _counted([f"{lower} to {upper}" for _, lower, upper in bounds]),
    )


def _mapping(values: dict[str, Any]) -> str:
    return _counted([str(value) for value in values.values()]) if values else "not recorded"


def _counted(values: list[str]) -> str:
    """The values, each once, with how many subtasks have it."""
    counts = {value: values.count(value) for value in sorted(set(values))}
    return ", ".join(f"{value} ({count} subtasks)" for value, count in counts.items())
