"""A value cannot come from its number of samples.

## What it does
A mean of n zeros and ones is k/n with a whole k. Reports a value whose product with n is no whole number, to 1e-6.

## Why is this bad?
The value was edited, rounded, or measured on another number of samples.

## Example
/results/leaderboard_mmlu_pro/acc,none: 0.5001
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"

## Use instead
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.counts import TOLERANCE
from bot.finding import Severity
from bot.measure import Measure
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def value_not_integral(case: Case) -> Iterator[Violation]:
    """Yield a violation for each value of zeros and ones that is no k/n."""
    for measure in case.measures.present:
        need, value = measure.need, measure.value
        samples = need.samples if measure.leaf.samples is None else measure.samples
        if not need.integral or samples is None:
            continue
        right = value / need.unit * samples
        # NaN and what lies outside the range are other rules'; the comparison is false for NaN
        if 0.0 <= right <= samples and abs(right - round(right)) > TOLERANCE:
            yield _violation(case, measure, samples)


def _violation(case: Case, measure: Measure, samples: int) -> Violation:
    need = measure.need
    return Violation(
        f"{need.leaf_key}: {need.value_key} {measure.value!r} is no whole number of right answers out of {samples:,}"
        f" ({measure.value / need.unit * samples:.4f})",
        "upload the file as the harness wrote it, with all digits",
        case.result.pointer_to(need.leaf_key, need.value_key),
        need.task.id,
    )
