"""The row rests on weaker evidence than the board ranks.

## What it does
Compares its word of evidence with `[evidence] least`. The row has no average and no rank.

## Why is this bad?
Anybody can write a result file.

## When it is wrong
Submit the sample logs, or have a part measured again (`remeasure`).

## Example
(declaration) evidence: {"least": "remeasured"}

## A sound run writes
(declaration) evidence: {"least": "samples"}
"""

from __future__ import annotations

from bot.evaluation.evidence import DOES_NOT_SHOW, SHOWS, STRENGTH
from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import RowCase, Violation, Violations, rule

TODO = {
    "file": "submit the result file of the run",
    "samples": "submit the sample logs of the run beside its result file",
    "rescored": "submit sample logs whose metrics are scored again",
    "remeasured": "have a part of the questions run again with `leaderboard-bot remeasure plan`",
}


@rule(Severity.WARNING, where=lambda board: STRENGTH[board.evidence.least] > 0)
def evidence_below_least(case: RowCase) -> Violations:
    """Yield one violation where the row's word is weaker than the declared one."""
    word, least = case.row.rests_on, case.leaderboard.evidence.least
    if STRENGTH[word] < STRENGTH[least]:
        yield Violation(
            f"the row is not ranked: it rests on {word} ({SHOWS[word]}), and the board ranks rows from {least} up; "
            f"nothing shows {DOES_NOT_SHOW[word]}",
            TODO[least],
        )
