"""Another model on the board has exactly these values.

## What it does
Compares the raw values of all tasks, to the last bit, with those of every entry of another model. Rows that are 0
in every task are not compared.

## Why is this bad?
Runs of two different models do not agree in thousands of answers. It is a renamed copy, or a file that was uploaded
under a second name. In the published table of the Open LLM Leaderboard v2 there are 42 such groups.

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
