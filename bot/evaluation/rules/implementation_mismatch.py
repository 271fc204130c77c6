"""MMLU was measured by another implementation than the leaderboard's.

## What it does
Version 0 of `hendrycksTest-*` scores the texts of the choices, later ones the letters (acc and acc_norm are equal).

## Why is this bad?
One name stood for three measurements: for llama-65b 0.637, 0.488 and 0.636.

## When it is wrong
The board means this one: change `mmlu_family`.

## Example
leaderboard: open-llm-v1
(a file of open-llm-v1)
/results/harness|hendrycksTest-virology|5/acc_norm: 0.5

## A sound run writes
leaderboard: open-llm-v1
(a file of open-llm-v1)
"""

from __future__ import annotations

from bot.evaluation.benchmarks.mmlu_family import TITLES, Family, Recognition, recognise
from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, where=lambda board: any(task.mmlu_family for task in board.tasks))
def implementation_mismatch(case: Case) -> Violations:
    """Yield a violation for each task whose leaves were measured by another family than declared."""
    declared = [task for task in case.leaderboard.tasks if task.mmlu_family is not None]
    recognised = recognise(case.result) if declared else None
    if recognised is None or recognised.family is Family.UNKNOWN:
        return
    for task in declared:
        first = next((m.required.leaf_key for m in case.measurements.present if m.required.task.id == task.id), None)
        if first is not None and recognised.family.value != task.mmlu_family:
            pointer = case.result.pointer_to("leaf", first)
            yield Violation(_message(task.title, recognised, task.mmlu_family or ""), HINT, pointer, task.id)


HINT = "no conversion exists, so measure it again with the leaderboard's implementation; `audit mmlu` tells them apart"


def _message(title: str, recognised: Recognition, declared: str) -> str:
    return (
        f"{title} was measured by {TITLES[recognised.family]}, but the leaderboard uses {declared}:"
        f" {'; '.join(recognised.evidence)}"
    )
