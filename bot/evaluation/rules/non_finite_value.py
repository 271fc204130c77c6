"""A value is not a number.

## What it does
Reports NaN, infinity, a text or nothing in place of a value.

## Why is this bad?
`max(0, x)` turns NaN into 0, and a mean over the others hides the gap.

## When it is wrong
Never: measure the task again.

## Example
/results/leaderboard_mmlu_pro/acc,none: "NaN"

## A sound run writes
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from math import isfinite

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.measurement import by_task
from bot.evaluation.rules.rule import Case, Violations, keys_of, rule

WHAT = "NaN often comes from overflow in half precision: measure it again, in bfloat16, or in float32 if NaN comes back"

QUOTED = "upload the file as the harness wrote it: a number stands without quotation marks"


@rule(Severity.ERROR)
def non_finite_value(case: Case) -> Violations:
    """Yield one violation for each task with needed values that are not finite numbers."""
    wrong = by_task(measurement for measurement in case.measurements.present if not isfinite(measurement.value))
    for found in wrong.values():
        first, keys = found[0].required, keys_of(found)
        more = f"; the same in {examples(keys[1:])}" if len(keys) > 1 else ""
        raw, where = found[0].raw, f"{first.leaf_key} has {first.value_key}"
        if isinstance(raw, str) and any(map(str.isdigit, raw)):
            yield case.at(found, f'{where} "{shown(raw, 20)}", a text and not a number{more}', QUOTED)
        else:
            yield case.again(found, f"{where} {shown(raw, 20)}, which is not a number{more}", WHAT)
