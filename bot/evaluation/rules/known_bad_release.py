"""The harness version is known to give wrong numbers for these tasks, for everybody.

## What it does
Compares the recorded release or commit with the combinations that the declaration lists as bad.

## Why is this bad?
The version of the task did not change with the bug, so version checks pass. lm-eval 0.4.8 lost the Level 5 filter of
`leaderboard_math_hard`: about 5,000 questions of all levels instead of 1,324.

## Example
/lm_eval_version: (absent)
/git_hash: "6d2abda4"

## Use instead
/lm_eval_version: (absent)
/git_hash: "452749513"
"""

from __future__ import annotations

from bot.evaluation.benchmarks.harness import RELEASE, is_same_commit, known_commit, parse_git_hash
from bot.evaluation.finding import Severity, shown
from bot.evaluation.leaderboard import KnownBad, leaves_like
from bot.evaluation.measurement import by_task
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.rule import Case, Violations, rule


@rule(Severity.ERROR)
def known_bad_release(case: Case) -> Violations:
    """Yield one violation for each task that a known-bad version measured."""
    for bad in case.leaderboard.harness.known_bad:
        if not _is_of(case.result.harness, bad):
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


def _is_of(harness: HarnessVersion, bad: KnownBad) -> bool:
    release = RELEASE.fullmatch((harness.version or "").strip())
    if release is not None:
        return release["version"] == bad.release
    if not harness.git_hash:
        return False
    sha, known = parse_git_hash(harness.git_hash).sha, known_commit(harness.git_hash)
    if any(sha and is_same_commit(sha, commit) for commit in bad.commits):
        return True
    return known is not None and bad.release is not None and known.version == bad.release
