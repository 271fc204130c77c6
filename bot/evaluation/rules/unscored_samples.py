"""Some samples were run and have no score.

## What it does
Says how many, and the value if these count as wrong.

## Why is this bad?
Answers that cannot be parsed then cost less than wrong ones.

## When it is wrong
The samples are broken, for every model alike: say so in the request.

## Example
(result) leaves/leaderboard_mmlu_pro/unscored: 32

## A sound run writes
(result) leaves/leaderboard_mmlu_pro/unscored: 0
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, counted
from bot.evaluation.measurement import Measurement, by_task
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.WARNING)
def unscored_samples(case: Case) -> Violations:
    """Yield one violation for each task that has samples without a score."""
    unscored = by_task(measurement for measurement in case.measurements.present if measurement.leaf.unscored)
    for found in unscored.values():
        leaves = {measurement.required.leaf_key: measurement for measurement in found}
        first, total = found[0], sum(measurement.leaf.unscored or 0 for measurement in leaves.values())
        others = "1 more leaf has" if len(leaves) == 2 else f"{len(leaves) - 1:,} more leaves have"
        more = f" (and {others} some)" if len(leaves) > 1 else ""
        were = "was" if first.leaf.unscored == 1 else "were"
        yield case.at(
            found,
            f"{first.required.leaf_key}: {counted(first.leaf.unscored or 0, 'sample')} {were} run and not scored{more}"
            f"{_as_wrong(first) if len(leaves) == 1 else f'; {total:,} in all'}",
            "find out why the scorer gave no score, then run these samples again",
            "unscored",
        )


def _as_wrong(measurement: Measurement) -> str:
    """The value with the unscored samples counted as wrong, if the number of scored ones is recorded."""
    scored, unscored = measurement.leaf.samples, measurement.leaf.unscored or 0
    if not scored or measurement.required.lower < 0:
        return ""
    lowered = measurement.value * scored / (scored + unscored)
    return f"; counted as wrong, they turn {significant(measurement.value, 4)} into {significant(lowered, 4)}"
