"""A field of the file is too long, or has characters that are not allowed there.

## What it does
Names have at most 500 characters, precision, versions and commits 200 of printable ASCII, model arguments 10,000.

## Why is this bad?
The field becomes part of keys, paths and tables.

## When it is wrong
A precision in use is not in the list: report it, with the file.

## Example
/model_source: "hf™"

## A sound run writes
/model_source: "hf"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, invalidates_score=False, looks_at="malformed")
def malformed_field(case: Case) -> Violations:
    """Yield a violation for each kind of field that is outside its bounds."""
    seen: set[str] = set()
    for field in case.result.malformed:
        if field.name not in seen:
            seen.add(field.name)
            yield Violation(f"the {field.name} {field.why}", "upload the file as the harness wrote it", field.pointer)
