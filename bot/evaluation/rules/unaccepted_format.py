"""The leaderboard does not accept results of this format.

## What it does
Compares the recognised format with the declared ones.

## Why is this bad?
Another harness means other measurements by the same names.

## When it is wrong
The board means this tool, too: add it to `formats` of `[harness]`.

## Example
leaderboard: open-llm-v1-drop

## A sound run writes
leaderboard: open-llm-v2
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import shipped
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR)
def unaccepted_format(case: Case) -> Violations:
    """Yield a violation where the result's format is not among the declared ones."""
    if not case.takes_format:
        formats = case.leaderboard.harness.formats
        yield Violation(
            f"the file is of format {case.result.format}; {case.leaderboard.id} takes {' and '.join(formats)}",
            "measure with a tool whose files it takes, or name the leaderboard that it was measured for with "
            f"--leaderboard; shipped are {', '.join(shipped())}",
        )
