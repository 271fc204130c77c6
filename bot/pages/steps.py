"""The steps from the raw values of a task to its score, as sentences and as table lines.

Everything comes from the entry, so that an older row explains itself by the bounds that it was scored with.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.task import Task
from bot.publishing.entry import Entry


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A leaf's value of one metric, and where it comes from; `right` is `156 / 250`, or what else is known."""

    leaf: LeafScore
    right: str
    shots: str
    version: str
    is_clipped: bool


def leaf_lines(entry: Entry, score: TaskScore, task: Task | None) -> list[LeafLine]:
    """A line for each leaf and metric; `task` is None if the declaration has no such task any more."""
    return [
        LeafLine(
            leaf,
            _right(entry, leaf, task),
            str(entry.num_fewshot.get(leaf.id, "–")),
            entry.versions.get(leaf.id, "–"),
            leaf.score == 0 and leaf.raw != float(Fraction(leaf.lower_bound)),
        )
        for leaf in score.leaves
    ]


def _right(entry: Entry, leaf: LeafScore, task: Task | None) -> str:
    metric = next((metric for metric in task.metrics if metric.name == leaf.metric), None) if task else None
    samples = leaf.samples or (metric.samples if metric else None) or entry.num_samples.get(leaf.id)
    if samples is None:
        return "–"
    if task is None or metric is None or not metric.integral:
        return f"mean of {samples}"
    share = leaf.raw / (100 if task.unit == "percent" else 1)
    return f"{round(share * samples)} / {samples}" if isfinite(share) else f"? / {samples}"


def way(score: TaskScore, task: Task | None) -> list[str]:
    """How the task's score follows from its leaves."""
    if score.score is None or score.raw is None:
        return ["No score: at least one of its subtasks is missing or has no number that counts."]
    first = score.leaves[0]
    lower, upper = Fraction(first.lower_bound), Fraction(first.upper_bound)
    if task is not None and task.normalize == "leaf":
        mean = "the mean weighted by samples" if task.aggregation == "size-weighted" else "the plain mean"
        return [
            "Each subtask: score = 100 × (raw - lower) / (upper - lower), and 0 below the lower bound.",
            f"Task: {mean} of {len(score.leaves)} scores = {score.score:.4f}; of the raw values = {score.raw:.6f}.",
        ]
    count = len(score.leaves)
    pooled = "weighted by samples" if task is not None and task.aggregation == "size-weighted" else "plain"
    mean = f"the mean ({pooled}) of {count} raw values" if count > 1 else "the value itself"
    clip = ", and 0 below the lower bound" if score.score == 0 and score.raw != float(lower) else ""
    formula = f"100 × ({score.raw:.6f} - {lower}) / ({upper} - {lower})"
    return [f"Raw: {mean} = {score.raw:.6f}.", f"Score: {formula}{clip} = {score.score:.4f}."]


def reasons(score: TaskScore, task: Task | None) -> list[str]:
    """Why the bounds are what they are, each reason once."""
    if task is None:
        return []
    declared = {leaf.id: leaf for leaf in task.leaves}
    found = []
    for leaf in score.leaves:
        known = declared.get(leaf.id)
        reason = (known.bound_reason if known else None) or task.bound_reason
        if reason and Fraction(leaf.lower_bound):
            found.append(f"{leaf.lower_bound}: {reason}")
    return list(dict.fromkeys(found))
