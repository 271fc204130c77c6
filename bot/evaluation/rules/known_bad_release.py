"""The harness version is known to give wrong numbers for these tasks, for everybody.

## What it does
Compares release and commit with `[[harness.known_bad]]`.

## Why is this bad?
The task's version stayed: lm-eval 0.4.8 asked 5,000 questions, not the 1,324 of `leaderboard_math_hard`.

## When it is wrong
The fault was corrected in this copy: ask for a waiver.

## Example
/lm_eval_version: (absent)
/git_hash: "6d2abda4"

## Use instead
/lm_eval_version: (absent)
/git_hash: "452749513"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.leaderboard import leaves_like
from bot.evaluation.measurement import by_task
from bot.evaluation.rules.harness_commit import named_version
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR, where=lambda board: bool(board.harness.known_bad))
def known_bad_release(case: Case) -> Violations:
    """Yield one violation for each task that a known-bad version measured."""
    for bad in case.leaderboard.harness.known_bad:
        versions = {*bad.commits, *([bad.release] if bad.release else [])}
        if not named_version(case.result.harness, versions):
            continue
        keys = {measurement.required.leaf_key for measurement in case.measurements.present}
        bad_keys = {key for pattern in bad.leaves for key in leaves_like(pattern, keys)}
        hit = [one for one in case.measurements.present if one.required.leaf_key in bad_keys]
        for found in by_task(hit).values():
            name = f"release {bad.release}" if bad.release else f"commit {shown(case.result.harness.git_hash)}"
            yield case.at(
                found,
                f"{name} of the harness measures {found[0].required.task.title} wrongly: {bad.reason}",
                "measure these tasks again with another release",
                "leaf",
            )
