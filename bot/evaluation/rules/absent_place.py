"""The file lacks something that the board's form reads, such as the date.

## What it does
Names places for revision, date, precision, settings, samples and standard errors, percentages that are never above
1, and questions with unequal numbers of trials.

## Why is this bad?
Nobody can tell how it was measured.

## When it is wrong
The tool never writes the field: take the place out, or mark it with `?`.

## Example
(result) misread: [{"place": "model_sha", "pointer": "", "why": "is not there", "is_error": false}]

## A sound run writes
(result) misread: []
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.WARNING, looks_at="misread")
def absent_place(case: Case) -> Violations:
    """Yield one violation for each place beside the numbers that does not say what it should."""
    for one in case.result.misread:
        if not one.is_error:
            hint = one.hint or "add it to the file, or leave the place out of the form"
            yield Violation(f"the place {one.place} {one.why}", hint, one.pointer)
