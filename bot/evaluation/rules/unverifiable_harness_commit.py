"""The file does not show which version of the harness measured it.

## What it does
Names a commit that is null, unknown or not looked up, or of another repository.

## Why is this bad?
The harness records the commit of the folder in which it started.

## When it is wrong
The commit is public: `check --online` looks it up, or declare it in `releases` or `commits`.

## Example
/lm_eval_version: (absent)
/git_hash: null

## Use instead
/lm_eval_version: "0.4.9"
/git_hash: null
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

LM_EVAL = "lm-evaluation-harness"


@rule(Severity.NOTICE, is_pin=True, where=lambda board: bool(board.harness.accepted))
def unverifiable_harness_commit(case: Case) -> Violations:
    """Yield a violation if the harness can be neither accepted nor refused."""
    judged = judge_harness(case.result.harness, case.leaderboard, case.facts)
    if judged.answer == "unknown" and case.takes_format:
        harness = case.result.harness
        is_lm_eval = harness.repository is None and (harness.git_hash or harness.name == LM_EVAL)
        yield Violation(
            judged.why,
            "the result may be right; lm-eval 0.4.9 and later record their release"
            if is_lm_eval
            else "the result may be right; declare the versions of the tool under [[harness.accepted]]",
            case.result.pointer_to("commit"),
        )
