"""The file says that it was measured after it was uploaded.

## What it does
Compares the date in the file, or in its name, with the date of the commit that added it, or with today if there is no
commit. A day is allowed for clocks and time zones. The bot ignores a later date and uses that of the commit.

## Why is this bad?
If a task was run twice, the newest run counts: a date in the future would win for years.

## Example
/date: 3000000000.0

## Use instead
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
