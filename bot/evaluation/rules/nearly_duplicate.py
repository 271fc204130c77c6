"""Another model on the board has these values or answers but for a few.

## What it does
Compares the raw values of the tasks with those of the rows of other models: a few may differ, where so many equal ones
are hardly chance. Values near guessing do not count, and each counts by how many questions and digits it has. Where the
board checks sample logs, it compares the answers of each log with those of the logs of other models, too.

## Why is this bad?
It is most often a copy of another model, or of its run, of which a few numbers were changed. In the published tables of
the Open LLM Leaderboard, 1,500 rows of v2 and 7,169 of v1, this finds seven pairs, all of the same or merged weights.

## Example
(alike) example-org/osprey-7b

## Use instead
(board)
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.measurement import raw_values
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule


@rule(Severity.WARNING)
def nearly_duplicate(case: RowCase) -> Violations:
    """Yield a violation where the facts name a row that is alike, and not equal in every value."""
    row, alike = case.row, case.facts.alike.get(case.row.key.text)
    if alike is None or alike.model == row.model.id:
        return
    values = () if row.measurements.missing else raw_values(row.measurements, case.leaderboard)
    if case.facts.same_values.get(values, row.model.id) != row.model.id:
        return  # `duplicate-scores` says it
    yield Violation(
        f"{shown(alike.model)} has {alike.what} of this row",
        "say in the request how the two models are related",
        row.result.pointer_to("leaves"),
    )
