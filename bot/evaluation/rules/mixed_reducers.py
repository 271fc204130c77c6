"""Subtasks of one task count several answers to a question in different ways.

## What it does
Reports, for example, the mean of several answers beside their maximum.

## Why is this bad?
The largest of five answers is far above their mean.

## When it is wrong
Measure the leaves with one reducer, or declare two tasks.

## Example
(result) leaves/leaderboard_bbh_navigate/reducer: "max"

## A sound run writes
(result) leaves/leaderboard_bbh_navigate/reducer: "mean"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule

ONCE = "mean"


@rule(Severity.ERROR)
def mixed_reducers(case: RowCase) -> Violations:
    """Yield one violation for each task that has more than one reducer."""
    by_task: dict[str, dict[str, list[str]]] = {}
    present = case.row.measurements.present
    if len({one.leaf.reducer or ONCE for one in present}) < 2:
        return
    for measurement in present:
        reducers = by_task.setdefault(measurement.required.task.id, {})
        reducers.setdefault(measurement.leaf.reducer or ONCE, []).append(measurement.required.leaf_key)
    for task_id, reducers in by_task.items():
        if len(reducers) > 1:
            rare = min(reducers, key=lambda name: (name == ONCE, len(reducers[name])))
            keys = list(dict.fromkeys(reducers[rare]))
            yield Violation(
                f"the answers are reduced in different ways ({examples(list(reducers))}): {examples(keys)} by"
                f" {shown(rare)}",
                "name in the declaration the leaf key of one reducer, or run all leaves with the same one",
                case.row.result.pointer_to("reducer", keys[0]),
                task_id,
            )
