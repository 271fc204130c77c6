"""Somebody marked the run as not valid.

## What it does
Reads the mark of a log whose samples were invalidated.

## Why is this bad?
Its author says that it does not count.

## When it is wrong
The mark was set by mistake: take it back in the tool.

## Example
(result) invalidated: true

## A sound run writes
(result) invalidated: false
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule, run_again


@rule(Severity.ERROR, looks_at="invalidated")
def invalidated_run(case: Case) -> Violations:
    """Yield a violation where the run is marked as not valid."""
    if case.result.invalidated:
        what = "if the mark is a mistake, remove it with the tool that set it; else run it again"
        hint, command = run_again(case, what)
        yield Violation(
            "the run is marked as invalidated", hint, case.result.pointer_to("invalidated"), command=command
        )
