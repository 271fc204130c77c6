"""The task was scored by an older scorer, which the leaderboard accepts.

## What it does
Names the version with the declared difference.

## Why is this bad?
MATH had three scorers within nine months: the same run gave 186, 201 and 203 of 1,324.

## When it is wrong
It states a fact: measure again for the newer scorer.

## Example
/versions/leaderboard_math_algebra_hard: 1.0

## A sound run writes
/versions/leaderboard_math_algebra_hard: 3.0
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.WARNING, where=lambda board: any(task.older_versions for task in board.tasks))
def older_scorer_version(case: Case) -> Violations:
    """Yield one violation for each task and older version."""
    seen: set[tuple[str, str]] = set()
    for measurement in case.measurements.present:
        if not measurement.required.task.older_versions or measurement.leaf.version is None:
            continue
        task = measurement.required.task
        spelled = canonical_version(measurement.leaf.version)
        if spelled in task.older_versions and (task.id, spelled) not in seen:
            seen.add((task.id, spelled))
            yield Violation(
                f"{task.title} was scored by version {spelled}: {task.older_versions[spelled]}",
                f"compare it with rows of version {spelled} only, or measure again with version"
                f" {task.versions_of(case.result.format)[-1]}",
                case.result.pointer_to("version", measurement.required.leaf_key),
                task.id,
            )
