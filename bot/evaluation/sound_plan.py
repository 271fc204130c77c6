"""What all complete files of one shape have in common, made ready to look at their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import le, truediv
from typing import Any, NamedTuple

from msgspec.structs import replace

from bot.evaluation.counts import are_counts
from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurement, Measurements, RequiredMetric, take_measurements
from bot.evaluation.result import Result
from bot.evaluation.rules.non_finite_value import non_finite_value
from bot.evaluation.rules.rule import Rule, in_tasks
from bot.evaluation.rules.stderr_contradicts_samples import all_fit, stderr_contradicts_samples
from bot.evaluation.rules.value_not_integral import value_not_integral
from bot.evaluation.rules.value_out_of_range import value_out_of_range
from bot.evaluation.score import score_of
from bot.evaluation.task import Task

# The rules on numbers that are silent where a plan finds all numbers plain.
COVERED = frozenset({non_finite_value.id, value_out_of_range.id, value_not_integral.id, stderr_contradicts_samples.id})
FLOATS = {float}


class Numbers(NamedTuple):
    """The required numbers in the order of the declaration: where each stands, and its bounds.

    `shares` are the places of those that are means of zeros and ones of known `samples`, `stderr_keys` the keys of
    their standard errors, `units` their units where one is not 1.
    """

    leaf_keys: tuple[str, ...]
    value_keys: tuple[str, ...]
    stderr_keys: tuple[str, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    units: tuple[float, ...]
    shares: tuple[int, ...]
    samples: tuple[int, ...]


class ScoredColumn(NamedTuple):
    """A task, and its part of all required numbers."""

    task: Task
    required: tuple[RequiredMetric, ...]
    part: slice


@dataclass(frozen=True, slots=True)
class FilePlan:
    """How the numbers of a file are looked at, and which rules still run.

    `unmeasured` are the measurements that a file of the shape has, without their numbers.
    """

    rules: tuple[Rule, ...]
    numbers: Numbers
    columns: tuple[ScoredColumn, ...]
    unmeasured: Measurements

    def scores_of(self, result: Result) -> tuple[float, ...] | None:
        """The score of each column where no rule finds an error in the numbers, else None."""
        leaves = result.leaves
        values = _plain_values(self.numbers, [leaves[key].numbers for key in self.numbers.leaf_keys])
        if values is None:
            return None
        return tuple([score_of(task, required, values[part]) for task, required, part in self.columns])


def _plain_values(numbers: Numbers, rows: Sequence[Mapping[str, Any]]) -> list[float] | None:
    """The values where each is a number that no rule speaks of."""
    _, value_keys, stderr_keys, lowest, highest, units, shares, samples = numbers
    values = [row[key] for row, key in zip(rows, value_keys, strict=True)]
    if set(map(type, values)) != FLOATS or not (all(map(le, lowest, values)) and all(map(le, values, highest))):
        return None
    of_one = [values[place] for place in shares]
    errors = [rows[place].get(key) for place, key in zip(shares, stderr_keys, strict=True)]
    if units:
        of_one = list(map(truediv, of_one, units))
        errors = [error / unit if type(error) is float else None for error, unit in zip(errors, units, strict=True)]
    return values if are_counts(of_one, samples) and all_fit(of_one, errors, samples) else None


def make_plan(result: Result, leaderboard: Leaderboard, rules: Iterable[Rule]) -> FilePlan | None:
    """The plan for files of a result's shape, which these rules are still to be asked of; None if there is none.

    A rule that only warns is not asked: no score depends on it, and no verdict, not even where it fails.
    """
    measurements = take_measurements(result, leaderboard)
    present = measurements.present
    asked = [rule for rule in rules if rule.severity_on(leaderboard) is Severity.ERROR and rule.id not in COVERED]
    if measurements.missing or any(rule.reads != "file" for rule in asked) or not all(map(_is_counted, present)):
        return None
    unmeasured = Measurements(tuple(map(_without_numbers, present)), ())
    return FilePlan(tuple(asked), _numbers(present), _columns(present), unmeasured)


def _is_counted(measurement: Measurement) -> bool:
    """Tell whether the number of samples does not have to be recovered from the numbers, and a mean has some spread."""
    if measurement.leaf.reducer or (measurement.leaf.samples is None and measurement.is_share):
        return False
    return not measurement.is_share or measurement.samples is None or measurement.samples > 1


def _numbers(present: Sequence[Measurement]) -> Numbers:
    required = [measurement.required for measurement in present]
    shares = [place for place, one in enumerate(present) if one.is_share and one.samples is not None]
    units = tuple(required[place].unit for place in shares)
    return Numbers(
        leaf_keys=tuple(one.leaf_key for one in required),
        value_keys=tuple(one.value_key for one in required),
        stderr_keys=tuple(required[place].stderr_key for place in shares),
        lowest=tuple(one.task.range[0] for one in required),
        highest=tuple(one.task.range[1] for one in required),
        units=() if set(units) == {1.0} else units,
        shares=tuple(shares),
        samples=tuple(present[place].samples or 0 for place in shares),
    )


def _columns(present: Sequence[Measurement]) -> tuple[ScoredColumn, ...]:
    """The columns in the order of the declaration, in which the measurements come, too."""
    columns: list[ScoredColumn] = []
    start = 0
    for found in in_tasks(present).values():
        required = tuple(measurement.required for measurement in found)
        columns.append(ScoredColumn(required[0].task, required, slice(start, start + len(found))))
        start += len(found)
    return tuple(columns)


def _without_numbers(measurement: Measurement) -> Measurement:
    leaf = replace(measurement.leaf, numbers={})
    return Measurement(measurement.required, leaf, None, nan, None, measurement.samples, "", measurement.is_share)
