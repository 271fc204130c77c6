"""A value is no number.

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

from bot.finding import Severity, shown
from bot.rules.rerun import rerun_command
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def non_finite_value(case: Case) -> Iterator[Violation]:
    """Yield a violation for each needed value that is not a finite number."""
    for measure in case.measures.present:
        if not isfinite(measure.value):
            need = measure.need
            yield Violation(
                f"{need.leaf_key} has {need.value_key} {shown(measure.raw, 20)}, which is no number",
                "NaN comes from overflow in half precision: try --model_args dtype=bfloat16 or float32, then "
                + rerun_command(case, [need.leaf_key], need.task.num_fewshot),
                case.result.pointer_to(need.leaf_key, need.value_key),
                need.task.id,
            )
