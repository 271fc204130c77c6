"""The numbers were copied from somewhere, not measured.

## What it does
Reports a file that names a document or a leaderboard as its source; a warning with `quoted = "accepted"`.

## Why is this bad?
Nobody can check them, and a copy repeats the errors of others.

## When it is wrong
They were measured: correct the source in the file.

## Example
(result) quoted_from: "example-org leaderboard"

## A sound run writes
(result) quoted_from: ""
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


def _where_accepted(leaderboard: Leaderboard) -> Severity | None:
    return Severity.WARNING if leaderboard.harness.quoted == "accepted" else None


@rule(Severity.ERROR, invalidates_score=False, on=_where_accepted, looks_at="quoted_from")
def quoted_result(case: Case) -> Violations:
    """Yield a violation where the file says that its numbers are quoted."""
    if case.result.quoted_from:
        declare = "" if _where_accepted(case.leaderboard) else ', or declare harness.quoted = "accepted"'
        yield Violation(
            f"the numbers are quoted from {shown(case.result.quoted_from)}, not measured",
            f"upload the result file of the run that the numbers come from{declare}",
            case.result.pointer_to("quoted_from"),
        )
