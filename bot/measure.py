"""What a leaderboard needs held against what a result holds: one Measure for each number, a list of what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, nan
from typing import Any

import msgspec

from bot.counts import right_answers, samples_behind, whole
from bot.leaderboard import Format, Leaderboard, Leaf, Metric, Task
from bot.result import LeafResult, Result


class Need(msgspec.Struct, frozen=True, gc=False):
    """A number that a leaderboard needs, with all that is known of it before any result is read.

    What rules and scores ask of every leaf of every file stands here flat, for they ask it thousands of times.

    `samples` is the declared number of values behind it, `weight` its part in the task's mean; `lower` and `span` are
    lower_bound and upper_bound - lower_bound in the metric's unit, as the doubles next to the exact fractions.
    """

    task: Task
    leaf: Leaf
    metric: Metric
    task_id: str
    leaf_id: str
    metric_name: str
    leaf_key: str
    value_key: str
    stderr_key: str
    samples: int
    integral: bool
    unit: float
    lower: float
    span: float
    lower_text: str
    upper_text: str
    weight: float
    size: int
    versions: frozenset[float | str]
    has_older_versions: bool


class Measure(msgspec.Struct, gc=False):
    """A needed number as measured: `raw` as the file has it, `value` as a double (NaN where it is no number).

    `stderr` is None where the file has none; `samples` is the recorded number of values behind the mean, None where
    none is recorded: see `count`.
    """

    need: Need
    leaf: LeafResult
    raw: Any
    value: float
    stderr: float | None
    samples: int | None

    def count(self) -> int | None:
        """The number of values behind the mean: as recorded, else recovered from value and standard error.

        What is recovered must be whole and make the number of right answers whole, or the two are not of one run.
        """
        if self.samples is not None or self.stderr is None or not self.need.integral:
            return self.samples
        share = self.value / self.need.unit
        behind = samples_behind(share, self.stderr / self.need.unit)
        samples = None if behind is None else whole(behind)
        return samples if samples is not None and right_answers(share, samples) is not None else None


class Measures(msgspec.Struct, frozen=True, gc=False):
    """All that a result has of what a leaderboard needs, and what it has not, in the order of the declaration."""

    present: tuple[Measure, ...]
    missing: tuple[Need, ...]


_NEEDS: dict[tuple[str, str], tuple[Need, ...]] = {}
_SIZES: dict[tuple[str, str], Mapping[str, int]] = {}
_VALUE_KEYS: dict[tuple[str, str], frozenset[str]] = {}


def needs(leaderboard: Leaderboard, spelled: Format) -> tuple[Need, ...]:
    """Every number that the leaderboard needs of a result of that format."""
    known = _NEEDS.get((leaderboard.digest, spelled))
    if known is None:
        known = tuple(
            _need(task, leaf, metric, spelled) for task, leaf in leaderboard.leaves() for metric in task.metrics
        )
        _NEEDS[leaderboard.digest, spelled] = known
    return known


def sizes(leaderboard: Leaderboard, spelled: Format) -> Mapping[str, int]:
    """The declared number of samples of every needed leaf, by its key in that format."""
    known = _SIZES.get((leaderboard.digest, spelled))
    if known is None:
        known = {need.leaf_key: need.size for need in needs(leaderboard, spelled)}
        _SIZES[leaderboard.digest, spelled] = known
    return known


def value_keys(leaderboard: Leaderboard, spelled: Format) -> frozenset[str]:
    """The key of every needed metric in that format."""
    known = _VALUE_KEYS.get((leaderboard.digest, spelled))
    if known is None:
        known = frozenset(need.value_key for need in needs(leaderboard, spelled))
        _VALUE_KEYS[leaderboard.digest, spelled] = known
    return known


def _need(task: Task, leaf: Leaf, metric: Metric, spelled: Format) -> Need:
    lower = float(task.leaf_lower_bound(leaf))
    return Need(
        task=task,
        leaf=leaf,
        metric=metric,
        task_id=task.id,
        leaf_id=leaf.id,
        metric_name=metric.name,
        leaf_key=leaf.key(spelled),
        value_key=metric.key(spelled),
        stderr_key=metric.stderr_key(spelled),
        samples=metric.samples or leaf.samples,
        integral=metric.integral,
        unit=100.0 if task.unit == "percent" else 1.0,
        lower=lower,
        span=float(task.upper_bound) - lower,
        lower_text=str(task.leaf_lower_bound(leaf)),
        upper_text=str(task.upper_bound),
        weight=_weight(task, leaf),
        size=leaf.samples,
        has_older_versions=bool(task.older_versions),
        versions=frozenset(spelling for version in task.versions for spelling in _spellings(version)),
    )


def _weight(task: Task, leaf: Leaf) -> float:
    """The part that one metric of one leaf has in the task's mean; all parts add up to 1."""
    if task.aggregation == "size-weighted":
        return leaf.samples / sum(each.samples for each in task.leaves) / len(task.metrics)
    return 1 / len(task.leaves) / len(task.metrics)


def _spellings(version: str) -> tuple[float | str, ...]:
    """A version as text and, where it is one, as the number that files write (0 and 0.0 are one key)."""
    try:
        return version, float(version)
    except ValueError:
        return (version,)


def take_measures(result: Result, leaderboard: Leaderboard) -> Measures:
    """Hold a result against a leaderboard; a leaf without the needed metric counts as missing."""
    present: list[Measure] = []
    missing: list[Need] = []
    leaves = result.leaves
    for need in needs(leaderboard, result.format):
        leaf = leaves.get(need.leaf_key)
        if leaf is None or need.value_key not in leaf.numbers:
            missing.append(need)
            continue
        raw = leaf.numbers[need.value_key]
        stderr = leaf.numbers.get(need.stderr_key)
        value = raw if type(raw) is float else float(raw) if type(raw) is int and abs(raw) < 1e300 else nan
        present.append(
            Measure(need, leaf, raw, value, stderr if type(stderr) is float else None, _recorded(need, leaf))
        )
    return Measures(tuple(present), tuple(missing))


def _recorded(need: Need, leaf: LeafResult) -> int | None:
    """What `n-samples` says; a metric with a count of its own (IFEval's instructions) is not counted there."""
    if need.metric.samples is None:
        return leaf.samples
    return need.metric.samples if leaf.samples == need.leaf.samples else None


def by_task(measures: Measures) -> dict[str, list[Measure]]:
    """The present measures of each task, in the order of the declaration."""
    tasks: dict[str, list[Measure]] = {}
    for measure in measures.present:
        task_id = measure.need.task_id
        if task_id in tasks:
            tasks[task_id].append(measure)
        else:
            tasks[task_id] = [measure]
    return tasks


def task_raw(task: Task, measures: list[Measure]) -> float:
    """The raw value of a task: the metrics' mean, aggregated over the leaves, in the metric's unit.

    `size-weighted` is sum(n_i v_i) / sum(n_i) with the declared n_i: all right answers over all samples.
    """
    if len(measures) == 1:
        return measures[0].value
    if task.aggregation == "size-weighted":
        weights = [measure.need.leaf.samples for measure in measures]
        return fsum([measure.value * weight for measure, weight in zip(measures, weights, strict=True)]) / sum(weights)
    return fsum([measure.value for measure in measures]) / len(measures)


def raw_values(measures: Measures, leaderboard: Leaderboard) -> tuple[float, ...]:
    """The raw value of every task in the order of the declaration; only where nothing is missing."""
    tasks = by_task(measures)
    return tuple(task_raw(task, tasks[task.id]) for task in leaderboard.tasks)
