"""Recovers the counts behind each value of a result, and checks each group against its leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.evaluation.aggregates import (
    is_mean_of_proportions,
    leaves_of,
    means_of_leaves,
    means_of_members,
    right_answers,
    samples_behind,
    whole,
)
from bot.evaluation.formats.format import stderr_beside
from bot.evaluation.impossible import is_possible, is_spoiled
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.score import measured

# Metrics that are 0 or 1 on one sample; of others (f1, mc2, inst_level_*) the error says nothing about n.
ZERO_OR_ONE = frozenset(
    ("acc", "acc_norm", "exact_match", "mc1", "prompt_level_strict_acc", "prompt_level_loose_acc", "pass@1")
)
GROUP_TOLERANCE = 1e-6
AGREES, RECOVERED, SILENT = "agrees", "recovered", "says nothing"
NOT_WHOLE, NOT_INTEGRAL, CONTRADICTS = "n is not a whole number", "no k/n", "n contradicts n-samples"
NOT_FINITE, IMPOSSIBLE = "no finite number", "outside of the metric's range"
GROUP_AGREES, GROUP_DIFFERS, GROUP_UNKNOWN = "agrees", "its leaves give another value", "cannot be recomputed"
BAD = frozenset((NOT_FINITE, IMPOSSIBLE, NOT_WHOLE, NOT_INTEGRAL, CONTRADICTS, GROUP_DIFFERS))


@dataclass(frozen=True, slots=True)
class CountCheck:
    """What value and standard error say: `recovered` is 1 + p(1 - p) / se^2, `right` the right answers behind p.

    `recorded` is the file's own number of samples. None if there is none.
    """

    task: str
    metric: str
    value: float | None
    stderr: float | None
    recorded: int | None
    recovered: float | None
    right: int | None
    verdict: str


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """A group's value beside what its leaves give, weighted by samples and plain; None if that is unknown."""

    group: str
    metric: str
    value: float | None
    weighted: float | None
    plain: float | None
    verdict: str


def counts_of(result: Result) -> Iterator[CountCheck]:
    """Yield the counts behind every value of a 0/1 metric, and each other value that the file says is out of range.

    Others may be NaN in a sound file, as `ap` of a task with many classes is.
    """
    for task, leaf in result.leaves.items():
        for key, value in leaf.numbers.items():
            stderr = measured(leaf.numbers.get(stderr_beside(key)))
            is_counted = _is_zero_or_one(task, key.partition(",")[0])
            if is_counted and is_spoiled(key, value):
                yield CountCheck(task, key, None, stderr, leaf.samples, None, None, NOT_FINITE)
            elif type(value) in {float, int} and not is_possible(result.format, leaf, key):
                yield CountCheck(task, key, float(value), stderr, leaf.samples, None, None, IMPOSSIBLE)
            elif type(value) in {float, int} and is_counted:
                yield _count(task, key, float(value), stderr, leaf)


def _is_zero_or_one(task: str, metric: str) -> bool:
    """Tell whether a metric is 0 or 1 on one sample; em is so in DROP, and a mean over people in CoQA."""
    if is_mean_of_proportions(task, metric):
        return False
    return metric in ZERO_OR_ONE or (metric == "em" and task.startswith("drop"))


def _count(task: str, metric: str, value: float, stderr: float | None, leaf: LeafResult) -> CountCheck:
    behind = None if stderr is None else samples_behind(value, stderr)
    samples = leaf.samples if leaf.samples is not None else whole(behind)
    right = None if samples is None else right_answers(value, samples)
    verdict = _verdict(leaf.samples, behind, samples, right)
    return CountCheck(task, metric, value, stderr, leaf.samples, behind, right, verdict)


def _verdict(recorded: int | None, behind: float | None, samples: int | None, right: int | None) -> str:
    if samples is not None and right is None:
        return NOT_INTEGRAL
    if behind is None:
        return SILENT if recorded is None else AGREES
    if whole(behind) is None:
        return NOT_WHOLE
    if recorded is None:
        return RECOVERED
    return AGREES if whole(behind) == recorded else CONTRADICTS


def groups_of(result: Result, sizes: Mapping[str, int]) -> Iterator[GroupCheck]:
    """Yield each number of each group; what `groups` says again as `results` did comes once.

    `sizes` are the sample counts of leaves for which the file records none.
    """
    said = set()
    for group, numbers in ((row.key, row.numbers) for row in result.groups):
        members = leaves_of(group, result.subtasks)
        keys = [key for key, value in numbers.items() if type(value) is float and "_stderr" not in key]
        for key in keys:
            mark = (group, key, repr(numbers[key]))
            if mark not in said:
                said.add(mark)
                yield _group(result, group, key, measured(numbers[key]), means_of_leaves(result, members, key, sizes))


def _group(result: Result, group: str, key: str, value: float | None, means: tuple[float, float] | None) -> GroupCheck:
    if value is None:
        return GroupCheck(group, key, None, None, None, NOT_FINITE)
    weighted, plain = (measured(means[0]), measured(means[1])) if means else (None, None)
    if weighted is None or plain is None:
        return GroupCheck(group, key, value, None, None, GROUP_UNKNOWN)
    near = any(
        abs(value - mean) <= GROUP_TOLERANCE for mean in (weighted, plain, *means_of_members(result, group, key))
    )
    return GroupCheck(group, key, value, weighted, plain, GROUP_AGREES if near else GROUP_DIFFERS)


def sizes_of(counts: Iterable[CountCheck]) -> dict[str, int]:
    """Return the recovered sample count of each task where it is whole."""
    found = {count.task: whole(count.recovered) for count in counts if count.recovered is not None}
    return {task: size for task, size in found.items() if size is not None}
