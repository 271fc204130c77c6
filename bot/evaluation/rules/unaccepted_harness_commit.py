"""The harness was at a commit that the leaderboard does not accept.

## What it does
Compares release, commit or `git describe` text with the declared ranges; with a network it looks unknown commits up.

## Why is this bad?
Prompts, parsers and metrics change under the same task name.

## When it is wrong
It measures the same: add the commit or its release to `[[harness.accepted]]`.

## Example
/lm_eval_version: (absent)
/git_hash: "3fa4fd72"

## A sound run writes
/lm_eval_version: (absent)
/git_hash: "543617fe"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.leaderboard import shipped
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import Case, Violation, Violations, rule, run_again


@rule(Severity.ERROR, where=lambda board: bool(board.harness.accepted))
def unaccepted_harness_commit(case: Case) -> Violations:
    """Yield a violation where the harness is known, and known not to be accepted."""
    judged = judge_harness(case.result.harness, case.leaderboard, case.facts)
    if judged.answer == "unaccepted" and case.takes_format:
        pointer = case.result.pointer_to("commit" if case.result.harness.git_hash else "release")
        board = case.leaderboard.id
        where = f"`leaderboard-bot leaderboards {board}` lists" if board in shipped() else "the declaration lists"
        hint, command = run_again(case, f"{where} those that are; measure again with one of them", newest=True)
        yield Violation(f"the harness is not accepted: {judged.why}", hint, pointer, command=command)
