"""A value is not what other parts of the same file give.

## What it does
Computes values from rounds (EuroEval), experiments (MTEB), subsets (EvalScope), instances (HELM), answers (AISBench,
evalchemy) or outcomes (EvalPlus), and compares metrics that repeat each other.

## Why is this bad?
The value was edited, or two runs were put together.

## When it is wrong
A new release combines them otherwise: report it, with the file.

## Example
(result) leaves/leaderboard_mmlu_pro/contradicted: {"acc,none": "its 10 rounds give 0.41"}

## A sound run writes
(result) leaves/leaderboard_mmlu_pro/contradicted: {}
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR, is_one_a_task=True)
def value_contradicts_file(case: Case) -> Violations:
    """Yield one violation for each task with values that other parts of the file contradict."""
    for measurement in case.measurements.present:
        required = measurement.required
        if given := measurement.leaf.contradicted.get(required.value_key):
            yield case.at(
                [measurement],
                f"{required.leaf_key} has {required.value_key} {measurement.raw!r}, but {given}",
                "upload the file as the harness wrote it",
            )
