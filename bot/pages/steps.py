"""The steps from the raw values of a task to its score, as sentences and as table lines.

Everything comes from the entry, so that an older row explains itself by the bounds that it was scored with.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.task import Task
from bot.pages.environment import full, raw
from bot.publishing.entry import Entry


@dataclass(frozen=True, slots=True)
class LeafLine:
    """A leaf's value of one metric, and where it comes from; `right` is `156 / 250`, or what else is known.

    `raw` has all digits, but where the counts of `right` give them.
    """

    leaf: LeafScore
    right: str
    raw: str
    shots: str
    version: str
    is_clipped: bool


def leaf_lines(entry: Entry, score: TaskScore, task: Task | None) -> list[LeafLine]:
    """A line for each leaf and metric; `task` is None if the declaration has no such task any more."""
    return [_line(entry, leaf, task) for leaf in score.leaves]


def _line(entry: Entry, leaf: LeafScore, task: Task | None) -> LeafLine:
    right, is_exact = _right(entry, leaf, task)
    return LeafLine(
        leaf,
        right,
        raw(leaf.raw) if is_exact else full(leaf.raw),
        str(entry.num_fewshot.get(leaf.id, "–")),
        entry.versions.get(leaf.id, "–"),
        leaf.score == 0 and leaf.raw != float(Fraction(leaf.lower_bound)),
    )


def _right(entry: Entry, leaf: LeafScore, task: Task | None) -> tuple[str, bool]:
    """How many answers are right, as text, and whether these counts give the raw value to its last digit."""
    metric = next((metric for metric in task.metrics if metric.name == leaf.metric), None) if task else None
    samples = leaf.samples or (metric.samples if metric else None) or entry.num_samples.get(leaf.id)
    if samples is None:
        return "–", False
    if task is None or metric is None or not metric.integral:
        return f"mean of {samples}", False
    whole = 100 if task.unit == "percent" else 1
    if not isfinite(leaf.raw):
        return f"? / {samples}", False
    right = round(leaf.raw / whole * samples)
    return f"{right} / {samples}", whole * right / samples == leaf.raw


def way(score: TaskScore, task: Task | None) -> list[str]:
    """How the task's score follows from its leaves."""
    if score.score is None or score.raw is None:
        return ["No score: at least one of its subtasks is missing or has no number that counts."]
    first = score.leaves[0]
    lower, upper = Fraction(first.lower_bound), Fraction(first.upper_bound)
    if task is not None and task.normalize == "leaf":
        mean = "the mean weighted by samples" if task.aggregation == "size-weighted" else "the plain mean"
        count = len(score.leaves)
        return [f"{mean.capitalize()} of {count} scores = {score.score:.4f}; of the raw values = {score.raw:.6f}."]
    count = len(score.leaves)
    pooled = "weighted by samples" if task is not None and task.aggregation == "size-weighted" else "plain"
    mean = f"the mean ({pooled}) of {count} raw values" if count > 1 else "the value itself"
    clip = ", and 0 below the lower bound" if score.score == 0 and score.raw != float(lower) else ""
    formula = f"100 × ({score.raw:.6f} - {lower}) / ({upper} - {lower})"
    return [f"Raw: {mean} = {score.raw:.6f}.", f"Score: {formula}{clip} = {score.score:.4f}."]
