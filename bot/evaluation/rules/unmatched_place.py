"""The board's form looks for a number that no file has.

## What it does
Names the place once for all files.

## Why is this bad?
The place may be misspelled.

## When it is wrong
The number comes with later files: nothing is to be done.

## Example
(result) unmatched: ["results.{domain}.pas_{k}"]

## A sound run writes
(result) unmatched: []
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, examples
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.NOTICE, given="unmatched")
def unmatched_place(case: Case) -> Violations:
    """Yield one violation that names the places which lead to nothing in any file of the form."""
    places = case.facts.unmatched.get(case.path, ())
    if places:
        message = f"in no file is a number at {examples(places)} of the form {case.result.format}"
        hint = "add the number to the file; if no result has it, mend the place in the declaration"
        yield Violation(message, hint)
