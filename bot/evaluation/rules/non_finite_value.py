"""A value is not a number.

## What it does
Reports NaN, infinity, text or nothing where a leaf's value should be.

## Why is this bad?
A clip written `max(0, x)` turns NaN into 0 without a word, and a mean over the rest hides the hole.

## Example
/results/leaderboard_mmlu_pro/acc,none: "NaN"

## Use instead
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from bot.evaluation.finding import Severity, shown
from bot.evaluation.rules.rerun import rerun_advice
from bot.evaluation.rules.rule import Case, Violation, rule

WHAT = "NaN often comes from overflow in half precision: measure it again, in bfloat16 or float32 where it comes back"


@rule(Severity.ERROR)
def non_finite_value(case: Case) -> Iterator[Violation]:
    """Yield a violation for each needed value that is not a finite number."""
    for measurement in case.measurements.present:
        if not isfinite(measurement.value):
            required = measurement.required
            hint, command = rerun_advice(case.result, [required.leaf_key], required.task.num_fewshot, WHAT)
            yield Violation(
                f"{required.leaf_key} has {required.value_key} {shown(measurement.raw, 20)}, which is not a number",
                hint,
                case.result.pointer_to("value", required.leaf_key, required.value_key),
                required.task_id,
                (required.leaf_id,),
                command,
            )
