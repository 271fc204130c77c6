"""A column was measured in an accepted way that is not comparable with other rows.

## What it does
Names the columns, and the declared reason.

## Why is this bad?
A change of the harness looks like a difference between two models.

## When it is wrong
The numbers are comparable: take the table out of `not_comparable`.

## Example
leaderboard: open-llm-v1
(a file of open-llm-v1 by harness 0.4)
/versions/gsm8k: 3.0

## A sound run writes
leaderboard: open-llm-v1
(a file of open-llm-v1)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.formats import format_of
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.NOTICE, where=lambda board: any(task.not_comparable for task in board.tasks))
def not_comparable(case: Case) -> Violations:
    """Yield a violation for each task and reason that the declaration gives for results of this format and version."""
    result, seen = case.result, set()
    for measurement in case.measurements.present:
        required = measurement.required
        for declared in required.task.not_comparable:
            about = required.task.id, declared.reason
            if about not in seen and declared.covers(result.format, measurement.leaf.version):
                seen.add(about)
                yield Violation(
                    f"{required.task.title} is not comparable with the leaderboard's other rows: {declared.reason}",
                    f"compare it with rows of {format_of(result.format).title} only",
                    result.pointer_to("leaf", required.leaf_key),
                    required.task.id,
                )
