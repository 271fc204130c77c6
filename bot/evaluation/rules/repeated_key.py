"""A key occurs twice in the file, with different values.

## What it does
Compares the values of keys that one object of the file has more than once. Equal ones are not reported.

## Why is this bad?
JSON does not say which of them counts. This bot takes the last, as most readers do; others take the first and publish
another number. No tool writes such a file: it was merged or edited by hand.

## Example
(file with) "results": {"leaderboard_mmlu_pro": {"acc,none": 0.6, "acc_stderr,none": "N/A"}},

## Use instead
/results/leaderboard_mmlu_pro/acc_stderr,none: "N/A"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted, examples, shown
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR)
def repeated_key(case: Case) -> Violations:
    """Yield one violation for the file, with the first key."""
    repeated = case.result.repeated
    if repeated:
        first = repeated[0]
        more = f"; the same for {counted(len(repeated) - 1, 'more key')}" if len(repeated) > 1 else ""
        yield Violation(
            f"{shown(first.pointer)} occurs {len(first.values)} times with different values"
            f" ({examples(first.values)}){more}",
            "upload the file as the harness wrote it",
            first.pointer,
        )
