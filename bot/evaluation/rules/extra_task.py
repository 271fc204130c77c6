"""The file holds a task that the leaderboard does not use.

## What it does
Names tasks that no column needs.

## Why is this bad?
No score counts them, but aggregates in the file may.

## When it is wrong
It states a fact: nothing is to be done.

## Example
/results/leaderboard_arc_challenge/acc_norm,none: 0.4

## A sound run writes
/results/leaderboard_arc_challenge: (absent)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples
from bot.evaluation.measurement import sizes
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.NOTICE)
def extra_task(case: Case) -> Violations:
    """Yield one violation that names all tasks no column needs."""
    if not case.takes_format:
        return
    unwanted = case.result.leaves.keys() - sizes(case.leaderboard, case.result.format).keys()
    if not unwanted:
        return
    groups = {group for task in case.leaderboard.tasks for group in task.groups}
    shown = {name for column in case.leaderboard.columns for name in column.leaves}
    extra = [key for key in case.result.leaves if key in unwanted and key not in groups and key not in shown]
    if extra:
        hint = "nothing needs to be done: no score uses it"
        pointer = case.result.pointer_to("leaf", extra[0])
        yield Violation(f"not used by this leaderboard: {examples(extra)}", hint, pointer)
