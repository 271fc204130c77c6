"""A task has a version that the leaderboard does not accept.

## What it does
Compares the recorded version of each leaf with the declared ones; 1, 1.0 and "1.0" are the same.

## Why is this bad?
The version of a task is raised when its prompt, its data or its scorer changes: same name, other measurement.

## Example
/versions/leaderboard_mmlu_pro: 0.2

## Use instead
/versions/leaderboard_mmlu_pro: 0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.finding import Severity, shown
from bot.leaderboard import canonical_version
from bot.rules.harness_commit import accepted_versions
from bot.rules.rule import Case, Violation, rule


@rule(Severity.ERROR)
def unaccepted_task_version(case: Case) -> Iterator[Violation]:
    """Yield one violation for each task and version that is not accepted; an unrecorded version is none."""
    seen: set[tuple[str, str]] = set()
    for measure in case.measures.present:
        version, task = measure.leaf.version, measure.need.task
        if version in measure.need.versions or version is None or not task.versions:
            continue
        spelled = canonical_version(version)
        if spelled in task.versions or (task.id, spelled) in seen:
            continue
        seen.add((task.id, spelled))
        yield Violation(
            f"{measure.need.leaf_key} has version {shown(spelled)}, accepted are {', '.join(task.versions)}",
            accepted_versions(case) if case.leaderboard.harness.accepted else "measure with an accepted version",
            case.result.pointer_beside("versions", measure.need.leaf_key),
            task.id,
        )
