"""A value lies outside what its metric can take.

## What it does
Compares it with the declared range (0 to 1 for a fraction), and that in the file.

## Why is this bad?
41.2 in place of 0.412 passes every other check and tops the table.

## When it is wrong
The metric goes further: declare its `range`, or `unit = "percent"`.

## Example
/results/leaderboard_mmlu_pro/acc,none: 41.2
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## A sound run writes
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from math import isfinite

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR, is_one_a_task=True)
def value_out_of_range(case: Case) -> Violations:
    """Yield one violation for each task with values outside their range; what is not finite is another rule's."""
    for measurement in case.measurements.present:
        required, value = measurement.required, measurement.value
        low, high = required.task.range
        said = measurement.leaf.ranges.get(required.value_key) if measurement.leaf.ranges else None
        is_outside = not low <= value <= high
        if not isfinite(value) or not (is_outside or (said and _is_other(said, value, high))):
            continue
        what = f"{required.leaf_key} has {required.value_key} {value!r}"
        if is_outside or said is None:
            hint = _hint(value, required.task.id) if required.unit == 1 else ""
            yield case.at([measurement], f"{what}, outside {low:g} to {high:g}", hint)
        else:
            whose = f"of {said[0]:g} to {said[1]:g}, as the file says, and of {low:g} to {high:g} on the leaderboard"
            yield case.at([measurement], f"{what} {whose}", "write the value and its range in the leaderboard's unit")


def _is_other(said: tuple[float, float], value: float, high: float) -> bool:
    """Tell whether the range that the file says is of another unit, or does not hold the value."""
    return (high > 0 and high in {100 * said[1], said[1] / 100}) or not said[0] <= value <= said[1]


def _hint(value: float, task_id: str) -> str:
    if value == -1:
        return "leave the value out if -1 says that there is none"
    if value > 100:
        return f"if the metric goes so far, set `range` and `upper_bound` of the task {task_id} in the declaration"
    return "upload the file as the harness wrote it: its number here is a fraction" if value > 1 else ""
