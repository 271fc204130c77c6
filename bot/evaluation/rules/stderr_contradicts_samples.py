"""Value, standard error and number of samples do not fit together.

## What it does
The standard error of a mean of n zeros and ones is sqrt(p(1 - p) / (n - 1)).

## Why is this bad?
One of the three was changed, or the value is not that mean.

## When it is wrong
The tool computes the error otherwise, as by clusters: declare `integral = false`.

## Example
/results/leaderboard_mmlu_pro/acc_stderr,none: 0.01

## A sound run writes
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from bot.evaluation.aggregates import expected_stderr, samples_behind
from bot.evaluation.finding import Severity
from bot.evaluation.measurement import Measurement
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

TOLERANCE = 1e-4
TINY = 1e-24  # the square of the tolerance for a standard error of 0


@rule(Severity.ERROR, invalidates_score=False, is_one_a_task=True)
def stderr_contradicts_samples(case: Case) -> Violations:
    """Yield one violation for each task with standard error that is not that of value and number of samples."""
    for measurement in case.measurements.present:
        required, stderr = measurement.required, measurement.stderr
        if stderr is None or not measurement.is_proportion:
            continue
        samples = measurement.samples if measurement.leaf.samples is not None else measurement.count or required.samples
        if samples is None or samples < 2:
            continue
        share, error = measurement.value / required.unit, stderr / required.unit
        variance = share * (1.0 - share)
        # squared, so the tolerance is doubled
        is_near = abs(error * error * (samples - 1) - variance) <= 2.0 * TOLERANCE * variance + TINY
        # a value that is NaN or out of range is another rule's
        if variance >= 0.0 and not (is_near and error >= 0.0):
            yield _violation(case, measurement, samples)


def _violation(case: Case, measurement: Measurement, samples: int) -> Violation:
    required, stderr = measurement.required, measurement.stderr or 0.0
    expected = (expected_stderr(measurement.value / required.unit, samples) or 0.0) * required.unit
    behind = samples_behind(measurement.value / required.unit, stderr / required.unit)
    implied = f"; it would belong to {behind:,.1f} samples" if behind is not None else ""
    return case.at(
        [measurement],
        f"{required.leaf_key}: {required.stderr_key} {stderr!r} does not fit {measurement.value!r}"
        f" on {samples:,} samples, which has {significant(expected)}{implied}",
        "upload the file as the harness wrote it",
        "stderr",
    )
