"""Scores were changed after the run.

## What it does
Looks in a log (of at most 32 MB) for edited scores, beside which Inspect keeps the old ones.

## Why is this bad?
The numbers are no longer those of the scorer.

## When it is wrong
A correction was right: say in the request what was corrected.

## Example
(result) edited: true

## A sound run writes
(result) edited: false
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.WARNING, looks_at="edited")
def edited_run(case: Case) -> Violations:
    """Yield a violation where scores of samples were edited."""
    if case.result.edited:
        yield Violation(
            "scores of samples were edited after the run",
            "say in the pull request why, or upload the log as it was before",
            case.result.pointer_to("edited"),
        )
