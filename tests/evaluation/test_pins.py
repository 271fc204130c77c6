"""What a file cannot show of what is declared: a notice, and an error where a declaration demands its pins."""

from __future__ import annotations

from typing import Any

import pytest

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.submission import parse_submission
from tests.evaluation.judging import ABSENT, declared, dumps, patched

UNSHOWN = {
    "unverifiable-harness-commit": {"/git_hash": None, "/lm_eval_version": ABSENT},
    "unverifiable-pin": {"/versions/leaderboard_ifeval": ABSENT},
    "unpinned-revision": {
        "/config/model_sha": "",
        "/config/model_revision": "main",
        "/config/model_args": "pretrained=example-org/kestrel-7b,dtype=bfloat16",
    },
}


def demanding(**of_ifeval: Any) -> Leaderboard:
    """The shipped declaration with its pins demanded, and IFEval declared otherwise."""
    data = declared().model_dump()
    data["harness"]["pins"] = "required"
    if not of_ifeval.get("versions", True):
        data["harness"]["definitions"] = ()
    first, *others = data["tasks"]
    data["tasks"] = [first | of_ifeval, *others]
    return Leaderboard.model_validate(data)


def errors_of(changes: dict[str, Any], board: Leaderboard) -> tuple[set[str], set[str]]:
    """The rules that report something, and those of them that report an error."""
    parsed = parse_submission("results_x.json", {"": dumps(patched(changes))})
    findings = judge_all([parsed], board).verdicts[0].findings
    return {found.rule for found in findings}, {found.rule for found in findings if found.is_error}


@pytest.mark.parametrize("rule", UNSHOWN)
def test_what_is_not_shown_is_an_error_only_where_pins_are_demanded(rule: str) -> None:
    assert errors_of(UNSHOWN[rule], declared()) == ({rule}, set())
    assert errors_of(UNSHOWN[rule], demanding()) == ({rule}, {rule})


def test_a_file_that_shows_all_is_accepted_where_pins_are_demanded() -> None:
    assert errors_of({}, demanding()) == (set(), set())


def test_what_is_not_declared_need_not_be_shown() -> None:
    free = demanding(versions=(), older_versions={}, num_fewshot=None)
    shots = {"/n-shot/leaderboard_ifeval": ABSENT, "/configs/leaderboard_ifeval": ABSENT}
    warned = {"contradicts-itself"}  # the file shows it of all other tasks
    assert errors_of(UNSHOWN["unverifiable-pin"] | shots, free) == (warned, set())
