"""A task was run with another number of examples in the prompt.

## What it does
Compares each leaf's shots with the declared ones.

## Why is this bad?
Five examples instead of three is an easier test.

## When it is wrong
The board means the other number: change `num_fewshot`.

## Example
/n-shot/leaderboard_bbh_navigate: 5

## A sound run writes
/n-shot/leaderboard_bbh_navigate: 3
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted
from bot.evaluation.measurement import Measurement
from bot.evaluation.rules.rule import Case, Violations, name_of, rule


@rule(Severity.ERROR, where=lambda board: any(task.num_fewshot is not None for task in board.tasks))
def wrong_num_fewshot(case: Case) -> Violations:
    """Yield one violation for each task and number of shots that is not the declared one."""
    wrong: dict[tuple[str, int], list[Measurement]] = {}
    for measurement in case.measurements.present:
        shots, task = measurement.leaf.num_fewshot, measurement.required.task
        if shots is not None and shots != (shots if task.num_fewshot is None else task.num_fewshot):
            wrong.setdefault((task.id, shots), []).append(measurement)
    for (_, shots), found in wrong.items():
        task = found[0].required.task
        wanted = f"{task.num_fewshot} {'is' if task.num_fewshot == 1 else 'are'} required"
        message = f"{name_of(found)} was run with {counted(shots, 'shot')}, {wanted}"
        yield case.again(found, message, "measure it again", "num_fewshot")
