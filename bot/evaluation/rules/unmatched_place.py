"""A place of a form leads to a number in none of the files.

## What it does
Compares all files of a form that are judged together: a place for numbers that none of them has is named once, at the
first of them.

## Why is this bad?
Nothing is wrong with the numbers that were read. But the place may be misspelled, and what it should give is then
missing.

## Example
(result) unmatched: ["results.{domain}.pas_{k}"]

## Use instead
(result) unmatched: []
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.NOTICE)
def unmatched_place(case: Case) -> Violations:
    """Yield one violation that names the places which lead to nothing in any file of the form."""
    places = case.facts.unmatched.get(case.path, ())
    if places:
        message = f"in no file is a number at {examples(places)} of the form {case.result.format}"
        yield Violation(message, "mend the place in the declaration, or leave the value out of the form")
