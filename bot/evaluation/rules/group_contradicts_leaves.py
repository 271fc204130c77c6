"""A total in the file is not the mean of its subtasks.

## What it does
Recomputes each aggregate of required subtasks, weighted and plain.

## Why is this bad?
It is stale or was edited. No score is made from it, but others read it.

## When it is wrong
The harness weighs this group otherwise: report it, with the file.

## Example
/results/leaderboard_musr/acc_norm,none: 0.9

## A sound run writes
/results/leaderboard_musr/acc_norm,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from msgspec.structs import replace

from bot.evaluation.aggregates import MOST, leaves_of, means_of_leaves, means_of_members
from bot.evaluation.finding import Severity, counted, shown
from bot.evaluation.measurement import required_metrics, sizes
from bot.evaluation.result import escape_pointer
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

TOLERANCE = 1e-6


@rule(Severity.WARNING, looks_at="groups")
def group_contradicts_leaves(case: Case) -> Violations:
    """Yield one violation for all numbers of aggregate rows that differ from the mean of their leaves."""
    wrong = list(_violations(case))
    if wrong:
        more = f"; the same for {counted(len(wrong) - 1, 'more number')} of aggregates" if len(wrong) > 1 else ""
        yield replace(wrong[0], message=f"{wrong[0].message}{more}")


def _violations(case: Case) -> Violations:
    result = case.result
    if not result.groups:
        return
    known = sizes(case.leaderboard, result.format)
    metrics = {required.value_key for required in required_metrics(case.leaderboard, result.format)}
    members: dict[str, Sequence[str]] = {}
    seen: set[tuple[str, str, float]] = set()
    for group in result.groups[:MOST]:
        if group.key not in members:
            members[group.key] = leaves_of(group.key, result.subtasks)
        if known.keys().isdisjoint(members[group.key]):
            continue
        for key, value in group.numbers.items():
            if key not in metrics or type(value) is not float or (group.key, key, value) in seen:
                continue
            seen.add((group.key, key, value))  # `groups` repeats what `results` has
            means = means_of_leaves(result, members[group.key], key, known)
            if means is None or not isfinite(means[0]) or any(_is_near(value, mean) for mean in means):
                continue  # a leaf that makes a mean infinite or NaN is reported by another rule
            if not any(_is_near(value, mean) for mean in means_of_members(result, group.key, key)):
                yield Violation(
                    f"{shown(group.key)} has {shown(key)} {value!r}, but its subtasks give {means[0]!r}",
                    "the score follows the subtasks; upload the file as the harness wrote it",
                    f"{group.pointer}/{escape_pointer(key)}",
                )


def _is_near(value: float, mean: float) -> bool:
    return abs(value - mean) <= TOLERANCE
