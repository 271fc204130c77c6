"""The harness version is known to give wrong numbers for these tasks, for everybody.

## What it does
Compares release, commit and what the task asked with `[[harness.known_bad]]`.

## Why is this bad?
The task's version stayed: lm-eval 0.4.8 asked 5,000 questions, not the 1,324 of `leaderboard_math_hard`.

## When it is wrong
The fault was corrected in this copy: ask for a waiver.

## Example
/lm_eval_version: (absent)
/git_hash: "6d2abda4"

## A sound run writes
/lm_eval_version: (absent)
/git_hash: "452749513"
"""

from __future__ import annotations

from bot.evaluation.definition import definition_of, differing
from bot.evaluation.finding import Severity, shown
from bot.evaluation.leaderboard import leaves_like
from bot.evaluation.measurement import Measurement, asked_versions, by_task
from bot.evaluation.rules.harness_commit import development_of, named_version
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR, where=lambda board: bool(board.harness.known_bad))
def known_bad_release(case: Case) -> Violations:
    """Yield one violation for each task that a known-bad version measured."""
    asked = asked_versions(case.leaderboard, case.result.format)
    for bad in case.leaderboard.harness.known_bad:
        versions = {*bad.commits, *([bad.release] if bad.release else [])}
        named = named_version(case.result.harness, versions)
        if not named and named_version(case.result.harness, asked):
            continue
        later = development_of(case.result.harness, named, asked) if named else ""
        keys = {measurement.required.leaf_key for measurement in case.measurements.present}
        bad_keys = {key for pattern in bad.leaves for key in leaves_like(pattern, keys)}
        hit = [one for one in case.measurements.present if one.required.leaf_key in bad_keys]
        if named:
            hit = [one for one in hit if not _is_asked_otherwise(case, one, named, later)]
        else:  # the definition alone says it
            hit = [one for one in hit if _versions_of(one) and _versions_of(one) <= versions]
        for found in by_task(hit).values():
            name = f"release {bad.release}" if bad.release else f"commit {shown(case.result.harness.git_hash)}"
            name = name if named else f"the task definition of {' '.join(sorted(versions))}"
            yield case.at(
                found,
                f"{name} of the harness measures {found[0].required.task.title} wrongly: {bad.reason}",
                "measure these tasks again with another release",
                "leaf",
            )


def _versions_of(measurement: Measurement) -> frozenset[str]:
    """The versions that ask as the file records it, where exactly these do."""
    return measurement.required.versions_by_definition.get(measurement.leaf.definition, frozenset())


def _is_asked_otherwise(case: Case, measurement: Measurement, named: str, later: str) -> bool:
    """Tell whether the file records that it asked something else than the version that it names.

    A commit between two releases has the name of the first, and may be mended: then it has all questions of the task.
    """
    if _asks_as(case, measurement, named):
        return False
    is_known = any(named in one.versions for one in measurement.required.definitions)
    is_whole = measurement.leaf.original is not None and measurement.leaf.original == measurement.required.leaf.samples
    is_other = is_known and is_whole and bool(measurement.leaf.definition)
    return is_other or bool(later and _asks_as(case, measurement, later))


def _asks_as(case: Case, measurement: Measurement, version: str) -> bool:
    """Tell whether the file records the definition that a version has."""
    fields = definition_of(case.result, measurement.required.leaf_key)
    found = [one for one in measurement.required.definitions if version in one.versions]
    return fields is not None and any(not differing(fields, one) for one in found)
