"""Value, standard error and number of samples do not fit together.

## What it does
For a mean of n zeros and ones the harness writes se = sqrt(p(1 - p) / (n - 1)). Reports a standard error that is not
that of the value and n, to one in ten thousand. One that is missing or "N/A" is not asked.

## Why is this bad?
One of the three was changed after the run, or the value is not the mean it claims to be.

## Example
/results/leaderboard_mmlu_pro/acc_stderr,none: 0.01

## Use instead
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.counts import expected_stderr, samples_behind
from bot.finding import Severity
from bot.measure import Measure
from bot.rules.rule import Case, Violation, rule

TOLERANCE = 1e-4
TINY = 1e-24  # the square of what a standard error of 0 may be off by


@rule(Severity.ERROR, voids=False)
def stderr_contradicts_samples(case: Case) -> Iterator[Violation]:
    """Yield a violation for each standard error that is not that of value and number of samples."""
    for measure in case.measures.present:
        need, stderr = measure.need, measure.stderr
        if stderr is None or not need.integral:
            continue
        samples = measure.samples if measure.leaf.samples is not None else measure.count() or need.samples
        if samples is None or samples < 2:
            continue
        share, error = measure.value / need.unit, stderr / need.unit
        variance = share * (1.0 - share)
        # squared, so the tolerance is doubled; a value that is NaN or out of range is another rule's
        if variance >= 0.0 and not (
            error >= 0.0 and abs(error * error * (samples - 1) - variance) <= 2.0 * TOLERANCE * variance + TINY
        ):
            yield _violation(case, measure, samples)


def _violation(case: Case, measure: Measure, samples: int) -> Violation:
    need, stderr = measure.need, measure.stderr or 0.0
    expected = (expected_stderr(measure.value / need.unit, samples) or 0.0) * need.unit
    behind = samples_behind(measure.value / need.unit, stderr / need.unit)
    implied = f"; it would belong to {behind:,.1f} samples" if behind is not None else ""
    return Violation(
        f"{need.leaf_key}: {need.stderr_key} {stderr!r} is not that of {measure.value!r} on {samples:,} samples,"
        f" {expected:.6g}{implied}",
        "upload the file as the harness wrote it",
        case.result.pointer_to(need.leaf_key, need.stderr_key),
        need.task.id,
    )
