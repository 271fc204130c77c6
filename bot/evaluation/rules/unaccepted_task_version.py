"""A task has a version that the leaderboard does not accept.

## What it does
Compares each leaf's version with the declared ones; 1, 1.0 and "1.0" are the same.

## Why is this bad?
A version is raised when prompt, data or scorer changes.

## When it is wrong
The numbers are the same: add it to `versions`, or with the difference to `older_versions`.

## Example
/versions/leaderboard_mmlu_pro: 0.2

## A sound run writes
/versions/leaderboard_mmlu_pro: 0.1
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.formats import format_of
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.measurement import Measurement
from bot.evaluation.rules.rule import Case, Violations, name_of, rule


@rule(Severity.ERROR, where=lambda board: any(task.versions or task.format_versions for task in board.tasks))
def unaccepted_task_version(case: Case) -> Violations:
    """Yield one violation for each task and version that is not accepted; an unrecorded version gives no violation."""
    wrong: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in case.measurements.present:
        version, required = measurement.leaf.version, measurement.required
        if version in required.versions or version is None or not required.versions:
            continue
        spelled = canonical_version(version)
        if spelled not in required.versions:
            wrong.setdefault((required.task.id, spelled), []).append(measurement)
    for (_, spelled), found in wrong.items():
        versions = found[0].required.task.versions_of(case.result.format)
        are = "is" if len(versions) == 1 else "are"
        message = f"{name_of(found)} has version {shown(spelled)}; only {', '.join(versions)} {are} accepted"
        if case.leaderboard.harness.accepted:
            yield case.again(found, message, "measure it again", "version", newest=True)
        else:  # a command would install a release of which nobody knows that it has an accepted version
            tool = format_of(case.result.format).title
            hint = (
                f"measure it with a release of {tool} that has an accepted version, or ask the board's maintainer which"
            )
            yield case.at(found, message, hint, "version")
