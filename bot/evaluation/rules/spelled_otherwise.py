"""An earlier row has this model and settings in another spelling: other case, other spaces or a shortened commit.

## What it does
Compares model, revision (from seven digits on), precision and chat template. The board's spelling counts, else the
first file's.

## Why is this bad?
It would be a second row.

## When it is wrong
The board's spelling is wrong: propose the removal of that row first.

## Example
(row) open-llm-v2/Example-Org/kestrel-7b/0000000000000000000000000000000000000001-bfloat16

## A sound run writes
(row) open-llm-v2/example-org/kestrel-7b/0000000000000000000000000000000000000001-bfloat16
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.row_key import key_of
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, invalidates_score=False, given="spellings")
def spelled_otherwise(case: Case) -> Violations:
    """Yield a violation where another spelling of the row stands first, handed in as a fact."""
    key = key_of(case.leaderboard.id, case.result.model).text
    first = case.facts.spellings.get(key)
    if first is not None:
        ours, how = shown(key, 200), "in case, in spaces or by a shortened commit alone"
        yield Violation(
            f"{shown(first, 200)} spells the model or a setting of {ours} otherwise, {how}",
            "spell the model, its revision and precision as that row does, or first remove the files of that row",
            case.result.pointer_to("model"),
        )
