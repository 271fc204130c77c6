"""Where the board's form expects a number, the file has none, several or an impossible one.

## What it does
Names what a place (`[[formats]]`) finds: a text, a number outside of its unit, -1 or 999 for "not measured", two
values, no model.

## Why is this bad?
A wrong place gives a number that looks right. It is left out.

## When it is wrong
All files have it: correct the place or its unit.

## Example
(result) misread: [{"place": "retail", "pointer": "/retail", "why": "has 575, which is no percent", "is_error": true}]

## A sound run writes
(result) misread: []
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.formats.form_reading import MEND
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, invalidates_score=False, looks_at="misread")
def misread_place(case: Case) -> Violations:
    """Yield one violation for each place that cannot be believed."""
    for one in case.result.misread:
        if one.is_error:
            yield Violation(f"the place {one.place} {one.why}", one.hint or MEND, one.pointer)
