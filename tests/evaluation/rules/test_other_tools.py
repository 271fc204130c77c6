"""Results of other tools than lm-eval are held against the ranges of their own repository, and against no other."""

from __future__ import annotations

import pytest

from bot.evaluation.leaderboard import Accepted
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.advised_version import advised_version
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.verdict import CommitFact
from tests.evaluation.judging import declared

INSPECT, COMMIT = "UKGovernmentBEIS/inspect_ai", "c3" * 20
LM_EVAL = {"repository": "EleutherAI/lm-evaluation-harness", "releases": ("0.4.9",), "reason": "sound"}
RANGES = (
    Accepted.model_validate(LM_EVAL),
    Accepted(repository=INSPECT, releases=("0.3.285", "0.4.9"), commits=(COMMIT,), reason="sound"),
)


def judged(harness: HarnessVersion, *ranges: Accepted, facts: Facts = NO_FACTS) -> tuple[str, int | None]:
    board = declared()
    board = board.model_copy(update={"harness": board.harness.model_copy(update={"accepted": ranges})})
    answer = judge_harness(harness, board, facts)
    return answer.answer, answer.span


@pytest.mark.parametrize(
    ("version", "commit", "answer", "span"),
    [
        ("0.3.285", None, "accepted", 1),
        ("0.4.9", None, "accepted", 1),
        ("0.3.95.dev16+g6527d0861", None, "unaccepted", None),
        (None, COMMIT[:9], "accepted", 1),
        (None, "d4" * 20, "unknown", None),
        (None, None, "unknown", None),
    ],
)
def test_a_tool_is_judged_by_its_own_range(version: str, commit: str, answer: str, span: int | None) -> None:
    assert judged(HarnessVersion("inspect_ai", INSPECT, commit, version), *RANGES) == (answer, span)


def test_a_release_of_the_harness_is_none_of_another_tool() -> None:
    tool = HarnessVersion("inspect_ai", INSPECT, version="0.4.9")
    assert judged(tool, RANGES[0]) == ("unknown", None)
    assert judged(HarnessVersion("lm-evaluation-harness", version="0.4.9"), RANGES[0]) == ("accepted", 0)


def test_a_commit_that_was_looked_up_counts_in_its_repository_only() -> None:
    facts = Facts(commits={"e5" * 20: CommitFact("accepted", INSPECT)})
    tool = HarnessVersion("inspect_ai", INSPECT, "e5" * 20)
    assert judged(tool, *RANGES, facts=facts) == ("accepted", 1)
    assert judged(HarnessVersion("x", "acme/other", "e5" * 20), *RANGES, facts=facts) == ("unknown", None)


def test_the_advice_names_the_tool_that_measured() -> None:
    board = declared()
    board = board.model_copy(update={"harness": board.harness.model_copy(update={"accepted": RANGES})})
    tools = HarnessVersion("inspect_ai", INSPECT, version="0.3.1"), HarnessVersion("lm-evaluation-harness")
    advised = [advised_version(tool, "inspect", ["x"], board, NO_FACTS) for tool in tools]
    assert [one and one.title for one in advised] == [f"{INSPECT} 0.4.9", "lm-eval 0.4.9"]
