"""Scores measurements: raw value, bound, clip, mean, each step kept so that it can be shown.

score = 100 * max(0, (value - lower_bound) / (upper_bound - lower_bound)); without a lower bound (0) nothing is clipped,
so that a correlation below 0 stays below 0. The bounds are exact fractions; the double
next to the fraction is subtracted, so a value measured at the bound scores exactly 0 and one at the top exactly 100.
Confirmed on the published rows of the Open LLM Leaderboard v2 ("Scores Normalization"), which clip below the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import fsum, isfinite, sqrt
from typing import Literal

import msgspec

from bot.evaluation.leaderboard import Column, Leaderboard
from bot.evaluation.measurement import Measurement, Measurements, RequiredMetric, by_task, raw_of
from bot.evaluation.result import Result
from bot.evaluation.task import Leaf, Task

HUGE = 1e100  # a variance past this is not a measurement, and squares of it are past what a float holds


def measured(value: object) -> float | None:
    """A value of a file as a double; None for no number, one that is not finite, or one too large for a measurement."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= HUGE:
        return None
    return float(value)


class LeafScore(msgspec.Struct, frozen=True, gc=False):
    """A leaf's value of one metric; `score` (0 to 100) is None if the value is not a number in its range.

    `stderr` is the standard error of `raw` as the file has it, None if it has none or none that is a finite number;
    `file` is the path of the submission.
    """

    id: str
    metric: str
    samples: int | None
    raw: float
    stderr: float | None
    lower_bound: str
    upper_bound: str
    score: float | None
    file: str

    @property
    def is_clipped(self) -> bool:
        """Whether the score is 0 because the raw value lies beyond the lower bound."""
        return self.score == 0 and self.raw != float(Fraction(self.lower_bound))


class TaskScore(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A column: `raw` in the metric's unit, `score` 0 to 100, both None if a leaf is missing.

    `stderr` is the score's standard error in points, None if a metric has none. `nested` says that the questions of
    each leaf are among those of every larger one.
    """

    id: str
    title: str
    raw: float | None
    score: float | None
    stderr: float | None
    leaves: tuple[LeafScore, ...]
    nested: bool = False


class GroupScore(msgspec.Struct, frozen=True, gc=False):
    """A group of columns: the plain mean of its tasks in points, None if one has no score; `tasks` are their ids."""

    title: str
    score: float | None
    stderr: float | None
    tasks: tuple[str, ...]


class ColumnValue(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A column that does not count: its value in its own unit, None where the row's files do not have it."""

    id: str
    value: float | None
    title: str = ""
    unit: str = "plain"

    @property
    def name(self) -> str:
        """What people call it."""
        return self.title or self.id


class Scores(msgspec.Struct, frozen=True, gc=False):
    """All columns, and their plain mean, or that of the groups; `average` is None unless every task has a score."""

    average: float | None
    tasks: tuple[TaskScore, ...]
    groups: tuple[GroupScore, ...] = ()
    columns: tuple[ColumnValue, ...] = ()
    over: Literal["tasks", "groups"] = "tasks"

    @property
    def stderr(self) -> float | None:
        """The standard error of the average in points, the columns being independent runs."""
        return None if self.average is None else mean_error([one.stderr for one in self.averaged])

    @property
    def averaged(self) -> tuple[TaskScore, ...] | tuple[GroupScore, ...]:
        """What the average is the mean of."""
        return self.groups if self.over == "groups" else self.tasks


def mean_error(errors: Sequence[float | None]) -> float | None:
    """The standard error of a mean of independent values: sqrt(sum se_i^2) / k; None where one has none."""
    known = [error for error in errors if error is not None]
    if not known or len(known) < len(errors):
        return None
    return sqrt(fsum(error * error for error in known)) / len(known)


def normalize(value: float, lower: float, span: float) -> float:
    """Map a value to 0 at `lower` and 100 at `lower + span`, and to 0 below a lower bound other than 0."""
    part = (value - lower) / span
    return part * 100.0 if part > 0.0 or lower == 0.0 else 0.0


def make_scores(measurements: Measurements, leaderboard: Leaderboard) -> Scores:
    """The scores of all tasks; a task with a missing leaf has none."""
    present = by_task(measurements.present)
    holes = {required.task.id for required in measurements.missing}
    tasks = tuple(_task_score(task, present.get(task.id, []), task.id not in holes) for task in leaderboard.tasks)
    groups = group_scores(tasks, leaderboard.groups)
    averaged = groups if leaderboard.average.over == "groups" else tasks
    average = average_of([one.score for one in averaged])
    return Scores(average, tasks, groups, over=leaderboard.average.over)


def group_scores(tasks: Sequence[TaskScore], groups: Mapping[str, Sequence[str]]) -> tuple[GroupScore, ...]:
    """The groups of columns, each the plain mean of its tasks."""
    by_id = {task.id: task for task in tasks}
    found = ((title, [by_id[one] for one in ids if one in by_id]) for title, ids in groups.items())
    return tuple(
        GroupScore(
            title,
            score := average_of([one.score for one in members]),
            None if score is None else mean_error([one.stderr for one in members]),
            tuple(one.id for one in members),
        )
        for title, members in found
    )


def column_values(leaderboard: Leaderboard, results: Mapping[str, Result]) -> tuple[ColumnValue, ...]:
    """The columns that do not count; `results` has the result that counts for each leaf, and any others.

    A value that no file has is a hole in its own column alone.
    """
    known = {leaf.id: leaf for _, leaf in leaderboard.leaves()} if leaderboard.columns else {}
    return tuple(
        ColumnValue(column.id, _column_value(column, known, results), column.title, column.unit)
        for column in leaderboard.columns
    )


def _column_value(column: Column, known: Mapping[str, Leaf], results: Mapping[str, Result]) -> float | None:
    values: list[float] = []
    for name in column.leaves:
        found = [result for result in (results.get(name), *_others(results)) if result is not None]
        for result in found:
            key = known[name].key(result.format) if name in known else name
            leaf = result.leaves.get(key)
            value = measured(leaf.numbers.get(column.metric.key(result.format))) if leaf is not None else None
            if value is not None:
                values.append(value)
                break
        else:
            return None
    total = fsum(values)
    return total if column.aggregation == "sum" else total / len(values)


def _others(results: Mapping[str, Result]) -> list[Result]:
    """Each result once."""
    return list({id(one): one for one in results.values()}.values())


def average_of(scores: Sequence[float | None]) -> float | None:
    """The plain mean of all columns, None if one has no score."""
    found = [score for score in scores if score is not None]
    return fsum(found) / len(found) if found and len(found) == len(scores) else None


def _task_score(task: Task, measurements: list[Measurement], is_whole: bool) -> TaskScore:  # noqa: FBT001 - private
    leaves, (lowest, highest) = _leaf_scores(task, measurements), task.range
    if not (is_whole and measurements and all(lowest <= one.value <= highest for one in measurements)):
        return TaskScore(task.id, task.title, None, None, None, leaves, task.nested)
    required, values = [one.required for one in measurements], [one.value for one in measurements]
    raw, score = raw_of(task, required, values), score_of(task, required, values)
    return TaskScore(task.id, task.title, raw, score, _stderr(task, measurements), leaves, task.nested)


def score_of(task: Task, required: Sequence[RequiredMetric], values: Sequence[float]) -> float:
    """The score of a task of which every value is there and in its range."""
    if task.normalize == "leaf":
        return _mean(task, required, values)
    return normalize(raw_of(task, required, values), required[0].lower, required[0].span)


def _leaf_scores(task: Task, measurements: list[Measurement]) -> tuple[LeafScore, ...]:
    lowest, highest = task.range
    leaves = []
    for measurement in measurements:
        required, value, error = measurement.required, measurement.value, measurement.stderr
        leaves.append(
            LeafScore(
                required.leaf.id,
                required.metric.name,
                measurement.samples,
                value,
                error if error is not None and isfinite(error) else None,
                required.lower_text,
                required.upper_text,
                normalize(value, required.lower, required.span) if lowest <= value <= highest else None,
                measurement.file,
            )
        )
    return tuple(leaves)


def _mean(task: Task, required: Sequence[RequiredMetric], values: Sequence[float]) -> float:
    """The mean of a task's leaf scores, plain or weighted by the declared samples."""
    points = [normalize(value, one.lower, one.span) for one, value in zip(required, values, strict=True)]
    if task.aggregation == "size-weighted":
        return fsum([point * one.weight for one, point in zip(required, points, strict=True)])
    return points[0] if len(points) == 1 else fsum(points) / len(points)


def nested_variance(parts: Sequence[tuple[float, float]]) -> float:
    """The largest variance of a sum of (error, questions) whose questions are each a part of those of every larger one.

    It is that of one answer to each question: the means of n of m answers and of all m have the covariance
    se_n se_m sqrt(n / m). Parts of an unknown size are taken as the same questions.
    """
    return fsum(
        one * other * (sqrt(min(size, larger) / max(size, larger)) if size and larger else 1.0)
        for one, size in parts
        for other, larger in parts
    )


def _stderr(task: Task, measurements: list[Measurement]) -> float | None:
    """The standard error of a task's score in points, the clip left out of account; None if a metric has none.

    Leaves are independent: weights w_i give sqrt(sum (w_i se_i)^2). Nested ones are not, and neither are the metrics of
    one leaf (IFEval counts the same answers twice): both get the largest error that they can have.
    """
    variance = together = 0.0
    parts: list[tuple[float, float]] = []
    count = len(task.metrics)
    for number, measurement in enumerate(measurements, start=1):
        required = measurement.required
        samples = measurement.samples if measurement.leaf.unscored else required.samples or measurement.samples
        if samples is not None and measurement.is_proportion:
            share = measurement.value / required.unit
            spread = share * (1.0 - share)
            error = required.unit * sqrt(spread / (samples - 1)) if spread > 0.0 and samples > 1 else 0.0
        elif measurement.stderr is not None and measurement.stderr >= 0.0:
            error = measurement.stderr
        else:
            return None
        together += error * required.weight / required.span
        if number % count == 0:
            if task.nested:
                parts.append((together, samples or 0.0))
            variance += together * together
            together = 0.0
    if parts:
        variance = nested_variance(parts)
    return 100.0 * sqrt(variance) if variance < HUGE else None
