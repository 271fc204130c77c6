"""Another model has these values or answers but for a few.

## What it does
Compares raw values above guessing, and the answers in checked logs, with those of the same rows.

## Why is this bad?
It is mostly a copy with a few numbers changed.

## When it is wrong
They share weights, as a merge does: say so in the request.

## Example
(alike) example-org/osprey-7b

## A sound run writes
(board)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule


@rule(Severity.WARNING, given="alike")
def nearly_duplicate(case: RowCase) -> Violations:
    """Yield a violation where the facts name a row that is alike, and not equal in every value."""
    row, alike = case.row, case.facts.alike.get(case.row.key.text)
    if alike is None or alike.model == row.model.id or row.key.text in case.facts.same_values:
        return  # of an equal row `duplicate-scores` says it
    yield Violation(
        f"{shown(alike.model)} has {alike.what} of this row",
        "say in the request how the two models are related",
        row.result.pointer_to("leaves"),
    )
