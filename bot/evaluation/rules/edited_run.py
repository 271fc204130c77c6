"""Scores were changed after the run.

## What it does
Looks in the samples of a log for scores that have a history: when somebody edits a score, Inspect keeps the old one
and computes the metrics again. Samples of more than 32 MB together are not searched.

## Why is this bad?
The numbers are no longer those that the scorer gave. A correction by hand can be right, but readers must know about it.

## Example
(result) edited: true

## Use instead
(result) edited: false
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.WARNING)
def edited_run(case: Case) -> Violations:
    """Yield a violation where scores of samples were edited."""
    if case.result.edited:
        yield Violation(
            "scores of samples were edited after the run",
            "say in the pull request why, or upload the log as it was before",
            case.result.pointer_to("edited"),
        )
