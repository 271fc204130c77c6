"""A value lies outside what its metric can take.

## What it does
Compares each value with the declared range (0 to 1 for a fraction).

## Why is this bad?
41.2 where 0.412 is meant passes every other check and tops the table.

## Example
/results/leaderboard_mmlu_pro/acc,none: 41.2
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## Use instead
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
        low, high = measurement.required.task.range
        if isfinite(measurement.value) and not low <= measurement.value <= high:
            required = measurement.required
            yield case.at(
                [measurement],
                f"{required.leaf_key} has {required.value_key} {measurement.value!r}, outside {low:g} to {high:g}",
                _hint(measurement.value) if required.unit == 1 else "",
            )


def _hint(value: float) -> str:
    if value == -1:
        return "leave the value out if -1 says that there is none"
    return "write a fraction, not a percentage" if 1 < value <= 100 else ""
