"""An aggregate row of the file is not the mean of its subtasks.

## What it does
Recomputes the needed metrics of each aggregate that holds a needed subtask, weighted by samples and plain, and reports
one that is neither. Of a file with very many groups the first thousand are asked.

## Why is this bad?
The aggregate is stale or was edited. The score never uses it: it is made from the leaves. But other readers of the
file do use it, and they will publish another number.

## Example
/results/leaderboard_musr/acc_norm,none: 0.9

## Use instead
/results/leaderboard_musr/acc_norm,none: "N/A"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from bot.aggregates import MOST, leaves_of, means_of_leaves
from bot.finding import Severity, shown
from bot.measure import sizes, value_keys
from bot.result import escape_pointer
from bot.rules.rule import Case, Violation, rule

TOLERANCE = 1e-6


@rule(Severity.WARNING)
def group_contradicts_leaves(case: Case) -> Iterator[Violation]:
    """Yield a violation for each number of an aggregate row that its leaves do not give."""
    result = case.result
    if not result.groups:
        return
    known, metrics = sizes(case.leaderboard, result.format), value_keys(case.leaderboard, result.format)
    members: dict[str, Sequence[str]] = {}
    said: set[tuple[str, str, float]] = set()
    for group, where, numbers in result.groups[:MOST]:
        if group not in members:
            members[group] = leaves_of(group, result.subtasks)
        if known.keys().isdisjoint(members[group]):
            continue
        for key, value in numbers.items():
            if type(value) is not float or key not in metrics or (group, key, value) in said:
                continue
            said.add((group, key, value))  # `groups` says again what `results` has said
            means = means_of_leaves(result, members[group], key, known)
            if means is not None and not any(_is_near(value, mean) for mean in means):
                yield Violation(
                    f"{where}.{shown(group)} has {shown(key)} {value!r}, but its subtasks give {means[0]!r}",
                    "the score follows the subtasks; upload the file as the harness wrote it",
                    f"/{where}/{escape_pointer(group)}/{escape_pointer(key)}",
                )


def _is_near(value: float, mean: float) -> bool:
    """Whether they agree; the NaN of a leaf, which another rule reports, makes its groups NaN."""
    return abs(value - mean) <= TOLERANCE or (isnan(value) and isnan(mean))
