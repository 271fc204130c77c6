"""The file says that it was measured after it was uploaded.

## What it does
Compares the date in the file or its name with that of its commit, which then counts, or with today.

## Why is this bad?
The newest run counts: a date in the future would win for years.

## When it is wrong
The machine's clock was wrong: nothing is to be done.

## Example
/date: 3000000000.0

## A sound run writes
/date: 1777777777.0
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule
from bot.evaluation.submission import LATEST, iso_date

HINT = "correct the clock of the machine that measures; for this file the date of the upload counts"


@rule(Severity.WARNING)
def future_date(case: Case) -> Violations:
    """Yield a violation where the file's own date is later than it can be."""
    if case.dated is not None and case.dated > case.latest:
        when = iso_date(case.dated) if case.dated < LATEST else "a day after 2096"
        yield Violation(f"the file says that it was measured on {when}, which is after it was uploaded", HINT)
