"""The version of the task does not show which scorer was used.

## What it does
Names tasks whose scorer or prompt had changed while the version stayed.

## Why is this bad?
A change of the harness looks like one of the model.

## When it is wrong
It states a fact: nothing is to be done.

## Example
(declaration) tasks/2/older_versions: {}
/lm_eval_version: (absent)
/git_hash: "c2a08496"
/versions/leaderboard_math_geometry_hard: 2.0

## A sound run writes
(declaration) tasks/2/older_versions: {}
/lm_eval_version: (absent)
/git_hash: "e40b843a"
/versions/leaderboard_math_geometry_hard: 2.0
"""

from __future__ import annotations

from bot.evaluation.benchmarks.silent_changes import silent_changes
from bot.evaluation.finding import Severity, examples
from bot.evaluation.rules.rule import Case, Violation, Violations, keys_of, rule


@rule(Severity.NOTICE)
def silent_change(case: Case) -> Violations:
    """Yield one violation for each change that a task of the result came after."""
    harness = case.result.harness
    for change in silent_changes() if harness.version or harness.git_hash else ():
        if not change.is_in(harness):
            continue
        present = case.measurements.present
        keys = keys_of(
            one for one in present if change.covers(one.required.leaf_key, one.leaf.num_fewshot, one.leaf.version)
        )
        if keys:
            yield Violation(
                f"the version of {examples(keys)} does not show which code measured it: {change.what}",
                f"compare it with rows of {change.after} only",
                case.result.pointer_to("release" if harness.version else "commit"),
            )
