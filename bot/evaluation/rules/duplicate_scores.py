"""Another model has exactly these values.

## What it does
Compares the raw values of all tasks to the last bit, except rows of zeros, with those on main and in other results of
the source or call. Of two copies the later one names the other: by commit, then date, then key.

## Why is this bad?
It is a renamed copy: the Open LLM Leaderboard v2 has 42 groups.

## When it is wrong
They share weights: say in the request how they are related.

## Example
(board) example-org/osprey-7b

## A sound run writes
(board)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule


@rule(Severity.WARNING, given="same_values")
def duplicate_scores(case: RowCase) -> Violations:
    """Yield a violation where the facts name another model with the same values."""
    row, other = case.row, case.facts.same_values.get(case.row.key.text, "")
    if other and other != row.model.id:
        yield Violation(
            f"{shown(other)} has the same value in every task, to the last bit",
            "say in the request how the two models are related",
            row.result.pointer_to("leaves"),
        )
