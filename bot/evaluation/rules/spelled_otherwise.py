"""A row of another spelling stands first: the two differ in case or spaces alone.

## What it does
Compares the key of the file's row (model, revision, precision, chat template) with those of the other files and of the
board, without case, spaces and marks that nobody sees. Of rows that are equal then, the one on the board counts, else
the one whose file came first; the files of every other spelling are rejected.

## Why is this bad?
A reader takes both rows for one model. Whoever submits a model under another spelling would put a second row beside the
first, or keep a bad one from being replaced.

## Example
(row) open-llm-v2/Example-Org/kestrel-7b/651099358104a2b2aea7ef80fd8a9035fe2729e8-bfloat16

## Use instead
(row) open-llm-v2/example-org/kestrel-7b/651099358104a2b2aea7ef80fd8a9035fe2729e8-bfloat16
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.finding import Severity, shown
from bot.evaluation.row_key import key_of, reading_of
from bot.evaluation.rules.rule import Case, Violation, rule


@rule(Severity.ERROR, invalidates_score=False)
def spelled_otherwise(case: Case) -> Iterator[Violation]:
    """Yield a violation where another spelling of the row stands first, handed in as a fact."""
    if not case.facts.spellings:
        return
    key = key_of(case.leaderboard.id, case.result.model).text
    first = case.facts.spellings.get(reading_of(key), key)
    if first != key:
        yield Violation(
            f"the row {shown(key, 200)} differs from {shown(first, 200)} in case or spaces alone",
            "spell the model, its revision and precision as that row does, or have that row removed first",
            case.result.pointer_to("model"),
        )
