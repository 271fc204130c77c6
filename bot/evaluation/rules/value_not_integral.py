"""A value cannot come from its number of samples.

## What it does
A mean of n zeros and ones, times n, is whole (to 1e-6).

## Why is this bad?
The value was edited, rounded, or measured on another number of samples.

## When it is wrong
The metric gives parts of a point: declare `integral = false`.

## Example
/results/leaderboard_mmlu_pro/acc,none: 0.5001
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## A sound run writes
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from bot.evaluation.aggregates import TOLERANCE
from bot.evaluation.finding import Severity
from bot.evaluation.rounding import half_up
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR, is_one_a_task=True)
def value_not_integral(case: Case) -> Violations:
    """Yield one violation for each task whose value of zeros and ones is not k/n."""
    for measurement in case.measurements.present:
        required, value = measurement.required, measurement.value
        samples = measurement.samples
        if measurement.leaf.samples is None:  # another number than declared is wrong-sample-count's
            samples = measurement.count or required.samples
        if samples is None or not measurement.is_proportion:
            continue
        right = value / required.unit * samples
        # other rules report NaN and values outside the range; the comparison is false for NaN
        if 0.0 <= right <= samples and abs(right - round(right)) > TOLERANCE:
            yield case.at(
                [measurement],
                f"{required.leaf_key}: {required.value_key} {value!r} is not a whole number of right answers"
                f" out of {samples:,} ({half_up(right, 4)})",
                "upload the file as the harness wrote it, with all digits",
            )
