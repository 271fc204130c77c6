"""Measures in, scores out: raw value, bound, clip, mean, each step kept so that it can be shown.

score = 100 * max(0, (value - lower_bound) / (upper_bound - lower_bound)). The bounds are exact fractions; the double
next to the fraction is subtracted, so a value measured at the bound scores exactly 0 and one at the top exactly 100.
Confirmed on the published rows of the Open LLM Leaderboard v2 ("Scores Normalization"), which clip below the bound.
"""

from __future__ import annotations

from collections.abc import Collection
from math import fsum, isfinite, sqrt

import msgspec

from bot.leaderboard import Leaderboard, Task
from bot.measure import Measure, Measures, by_task, task_raw

ALL_TASKS = "*"


class LeafScore(msgspec.Struct, frozen=True, gc=False):
    """A leaf's value of one metric; `score` (0 to 100) is None where the value is no number in its range."""

    id: str
    metric: str
    samples: int | None
    raw: float
    lower_bound: str
    upper_bound: str
    score: float | None


class TaskScore(msgspec.Struct, frozen=True, gc=False):
    """A column: `raw` in the metric's unit, `score` 0 to 100, both None where a leaf is missing or void.

    `stderr` is the score's standard error in points, None where a metric has none.
    """

    id: str
    title: str
    raw: float | None
    score: float | None
    stderr: float | None
    leaves: tuple[LeafScore, ...]


class Scores(msgspec.Struct, frozen=True, gc=False):
    """All columns, and their plain mean; `average` is None unless every task has a score."""

    average: float | None
    tasks: tuple[TaskScore, ...]

    @property
    def stderr(self) -> float | None:
        """The standard error of the average in points: sqrt(sum se_i^2) / k, the columns being independent runs."""
        errors = [task.stderr for task in self.tasks if task.stderr is not None]
        if self.average is None or len(errors) < len(self.tasks):
            return None
        return sqrt(fsum(error * error for error in errors)) / len(errors)


def normalize(value: float, lower: float, span: float) -> float:
    """Map a value to 0 at `lower` and 100 at `lower + span`, and to 0 below."""
    part = (value - lower) / span
    return part * 100.0 if part > 0.0 else 0.0


def make_scores(measures: Measures, leaderboard: Leaderboard, voided: Collection[str] = ()) -> Scores:
    """Score every task that is whole; `voided` are tasks that an error took the score from, "*" is all."""
    present = by_task(measures)
    broken = {need.task.id for need in measures.missing}.union(voided)
    everything = ALL_TASKS in broken
    tasks = [
        _task_score(task, present.get(task.id, []), is_whole=not everything and task.id not in broken)
        for task in leaderboard.tasks
    ]
    scores = [task.score for task in tasks if task.score is not None]
    average = fsum(scores) / len(scores) if len(scores) == len(tasks) else None
    return Scores(average, tuple(tasks))


def _task_score(task: Task, measures: list[Measure], *, is_whole: bool) -> TaskScore:
    leaves, points = [], []
    lowest, highest = task.range
    for measure in measures:
        need, value = measure.need, measure.value
        score = normalize(value, need.lower, need.span) if lowest <= value <= highest else None
        leaves.append(
            LeafScore(need.leaf_id, need.metric_name, measure.samples, value, need.lower_text, need.upper_text, score)
        )
        if score is not None:
            points.append(score)
    if not is_whole or len(points) < len(leaves):
        return TaskScore(task.id, task.title, None, None, None, tuple(leaves))
    raw = task_raw(task, measures)
    if task.normalize == "leaf":
        score = _mean(points, task, measures)
    else:
        score = normalize(raw, measures[0].need.lower, measures[0].need.span)
    return TaskScore(task.id, task.title, raw, score, _stderr(task, measures), tuple(leaves))


def _mean(points: list[float], task: Task, measures: list[Measure]) -> float:
    """The mean of a task's leaf scores, plain or weighted by the declared samples."""
    if task.aggregation == "size-weighted":
        return fsum([point * measure.need.weight for point, measure in zip(points, measures, strict=True)])
    return points[0] if len(points) == 1 else fsum(points) / len(points)


def _stderr(task: Task, measures: list[Measure]) -> float | None:
    """The standard error of a task's score in points, the clip left out of account; None where a metric has none.

    Leaves are independent: weights w_i give sqrt(sum (w_i se_i)^2). Metrics of one leaf are not (IFEval counts the same
    answers twice): their errors are added, which is the largest that their mean can have.
    """
    variance = together = 0.0
    count = len(task.metrics)
    for number, measure in enumerate(measures, start=1):
        need = measure.need
        if need.integral:
            share = measure.value / need.unit
            spread = share * (1.0 - share)
            error = need.unit * sqrt(spread / (need.samples - 1)) if spread > 0.0 and need.samples > 1 else 0.0
        elif measure.stderr is not None and measure.stderr >= 0.0:
            error = measure.stderr
        else:
            return None
        together += error * need.weight / need.span
        if number % count == 0:
            variance += together * together
            together = 0.0
    return 100.0 * sqrt(variance) if isfinite(variance) else None
