"""MMLU was measured by another implementation than the leaderboard's.

## What it does
Tells the family of an MMLU from the file alone: task version 0 of `hendrycksTest-*` scores the texts of the choices,
version 1 and later the letters; and where letters are scored acc and acc_norm are equal, so any difference between
them proves the older family.

## Why is this bad?
In 2023 one name, MMLU, stood for three measurements. For llama-65b they gave 0.637, 0.488 and 0.636, and the ranking
changed with them. Numbers of two implementations do not belong in one column.

## Example
leaderboard: open-llm-v1
/versions/harness|hendrycksTest-virology|5: 0

## Use instead
leaderboard: open-llm-v1
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity
from bot.leaderboard import Task, canonical_version
from bot.measure import Measure
from bot.rules.rule import Case, Violation, rule

OLD_FAMILY = "harness_2023"


@rule(Severity.ERROR)
def implementation_mismatch(case: Case) -> Iterator[Violation]:
    """Yield a violation for each task whose leaves were measured by another family than declared."""
    for task in case.leaderboard.tasks:
        if task.mmlu_family is None or task.mmlu_family == OLD_FAMILY:
            continue
        leaves = [measure for measure in case.measures.present if measure.need.task is task]
        evidence = next(filter(None, map(_evidence, leaves)), "")
        if evidence:
            yield _violation(case, task, leaves[0], evidence)


def _evidence(measure: Measure) -> str:
    """What shows that a leaf's choices were scored as texts, not as letters."""
    leaf, key = measure.leaf, measure.need.leaf_key
    if leaf.version is not None and canonical_version(leaf.version) == "0":
        return f"{key} has task version 0"
    acc, acc_norm = leaf.numbers.get("acc"), leaf.numbers.get("acc_norm")
    if acc is not None and acc_norm is not None and acc != acc_norm:
        return f"{key} has acc {acc} and acc_norm {acc_norm}, which are equal where letters are scored"
    return ""


def _violation(case: Case, task: Task, first: Measure, evidence: str) -> Violation:
    return Violation(
        f"{task.title} is of the family {OLD_FAMILY} (texts of the choices), not {task.mmlu_family}: {evidence}",
        "no conversion exists: measure again at b281b0921b636bc36ad05c0b0b0763bd6dd43463; docs/audit-mmlu.md tells why",
        case.result.pointer_to(first.need.leaf_key),
        task.id,
    )
