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

## A sound run writes
/lm_eval_version: "0.4.9"
/git_hash: null
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.formats import find_format
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

LM_EVAL = "lm-evaluation-harness"


@rule(Severity.NOTICE, is_pin=True, where=lambda board: bool(board.harness.accepted))
def unverifiable_harness_commit(case: Case) -> Violations:
    """Yield a violation if the harness can be neither accepted nor refused."""
    judged = judge_harness(case.result.harness, case.leaderboard, case.facts)
    if judged.answer == "unknown" and case.takes_format:
        harness, known = case.result.harness, find_format(case.result.format)
        hint = "the board's maintainer may declare the versions of the tool under [[harness.accepted]]"
        if known is not None and known.writes:
            hint = f"files of {known.title} do not record the release of the harness"
        elif harness.repository is None and (harness.git_hash or harness.name == LM_EVAL):
            hint = "lm-eval 0.4.9 and later record their release"
        yield Violation(judged.why, f"the result may be right; {hint}", case.result.pointer_to("commit"))
