"""An aggregate row of the file is not the mean of its subtasks.

## What it does
Recomputes each aggregate that holds a needed subtask, weighted by samples and plain, and reports one that is neither.

## Why is this bad?
The aggregate is stale or was edited. The score never uses it: it is made from the leaves. But other readers of the
file do use it, and they will publish another number.

## Example
/results/leaderboard_musr/acc_norm,none: 0.9

## Use instead
/results/leaderboard_musr/acc_norm,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.aggregates import leaves_of, means_of_leaves
from bot.finding import Severity, shown
from bot.measure import sizes
from bot.rules.rule import Case, Violation, rule

TOLERANCE = 1e-6


@rule(Severity.WARNING)
def group_contradicts_leaves(case: Case) -> Iterator[Violation]:
    """Yield a violation for each number of an aggregate row that its leaves do not give."""
    result = case.result
    if not result.groups:
        return
    known = sizes(case.leaderboard, result.format)
    members: dict[str, Sequence[str]] = {}
    said: dict[str, Mapping[str, Any]] = {}
    for group, where, numbers in result.groups:
        if said.get(group) == numbers:
            continue  # `groups` says what `results` has said
        said[group] = numbers
        if group not in members:
            members[group] = leaves_of(group, result.subtasks)
        if known.keys().isdisjoint(members[group]):
            continue
        for key, value in numbers.items():
            if type(value) is not float or "_stderr," in key:
                continue
            means = means_of_leaves(result, members[group], key, known)
            if means is not None and min(abs(value - mean) for mean in means) > TOLERANCE:
                yield Violation(
                    f"{where}.{shown(group)} has {shown(key)} {value!r}, but its subtasks give {means[0]!r}",
                    "the score follows the subtasks; upload the file as the harness wrote it",
                    f"/{where}/{group}/{key}",
                )
