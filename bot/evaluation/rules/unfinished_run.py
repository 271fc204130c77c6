"""The run did not finish.

## What it does
Reads the status in the log, such as "cancelled", "error" or "started".

## Why is this bad?
It has scored the samples that happened to be done.

## When it is wrong
The log was not closed: let the tool write it again.

## Example
(result) unfinished: "cancelled"

## A sound run writes
(result) unfinished: ""
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, looks_at="unfinished")
def unfinished_run(case: Case) -> Violations:
    """Yield a violation where the status says that the run did not end as it should."""
    if case.result.unfinished:
        yield Violation(
            f"the run did not finish: its status is {shown(case.result.unfinished)}",
            "run it to its end and upload the new log",
            case.result.pointer_to("unfinished"),
        )
