"""Another model on the board has exactly these values.

## What it does
Compares the raw values of all tasks to the last bit, except rows of zeros.

## Why is this bad?
It is a renamed copy: the Open LLM Leaderboard v2 has 42 such groups.

## When it is wrong
The two have the same weights: say in the request how they are related.

## Example
(board) example-org/osprey-7b

## Use instead
(board)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.measurement import raw_values
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule


@rule(Severity.WARNING)
def duplicate_scores(case: RowCase) -> Violations:
    """Yield a violation where the board, handed in as a fact, has the same values under another name."""
    row = case.row
    if not case.facts.same_values or row.measurements.missing or not row.measurements.present:
        return
    values = raw_values(row.measurements, case.leaderboard)
    other = case.facts.same_values.get(values) if any(values) else None  # many runs of many models score nothing at all
    if other is not None and other != row.model.id:
        yield Violation(
            f"{shown(other)} has the same value in every task, to the last bit",
            "say in the request how the two models are related",
            row.result.pointer_to("leaves"),
        )
