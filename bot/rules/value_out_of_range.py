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

from collections.abc import Iterator

from bot.finding import Severity
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def value_out_of_range(case: Case) -> Iterator[Violation]:
    """Yield a violation for each value outside its range; NaN is another rule's."""
    for measure in case.measures.present:
        low, high = measure.need.task.range
        if measure.value < low or measure.value > high:
            need = measure.need
            yield Violation(
                f"{need.leaf_key} has {need.value_key} {measure.value!r}, outside {low:g} to {high:g}",
                "write a fraction, not a percentage" if need.unit == 1 and measure.value <= 100 else "",
                case.result.pointer_to(need.leaf_key, need.value_key),
                need.task.id,
            )
