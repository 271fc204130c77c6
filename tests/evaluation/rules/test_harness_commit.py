"""What is known of the harness of a result, why, and in which accepted range it lies."""

from __future__ import annotations

from typing import Any

import pytest

from bot.evaluation.benchmarks.harness import FORK, repository
from bot.evaluation.leaderboard import Accepted, Leaderboard
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.advised_version import advised_version
from bot.evaluation.rules.harness_commit import HarnessAnswer, judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.verdict import CommitAnswer, CommitFact
from tests.evaluation.judging import declared

OURS, ACME = repository(), "acme/evals"
# Commits of the default branch, one after the other, and one of the fork.
FIRST, SECOND, THIRD, FOURTH = "1c7fb748", "38ed3ac8", "0feef0d6", "b21d2b6e"
OF_FORK, NOWHERE = "fa31d1fb", "deadbeef"
DAYS = {FIRST: "2020-08-27", SECOND: "2020-09-04", THIRD: "2020-09-05", FOURTH: "2020-09-05"}


def span(name: str = OURS, **what: Any) -> Accepted:
    return Accepted(repository=name, reason="sound", **what)


def accepting(*spans: Accepted) -> Leaderboard:
    board = declared()
    return board.model_copy(update={"harness": board.harness.model_copy(update={"accepted": spans})})


def judged(harness: HarnessVersion, *spans: Accepted, facts: Facts = NO_FACTS) -> HarnessAnswer:
    return judge_harness(harness, accepting(*spans), facts)


def of(git_hash: str | None = None, version: str | None = None, name: str | None = None) -> HarnessVersion:
    return HarnessVersion("lm-evaluation-harness", name, git_hash, version)


def test_where_no_range_is_declared_every_harness_is_accepted() -> None:
    assert judged(of()) == HarnessAnswer("accepted", "the leaderboard does not pin the harness", 0)


@pytest.mark.parametrize(
    ("version", "git_hash", "answer"),
    [
        ("0.4.9", None, HarnessAnswer("accepted", "the file records release 0.4.9", 1)),
        (" v0.4.9 ", None, HarnessAnswer("accepted", "the file records release  v0.4.9 ", 1)),
        ("0.4.8", None, HarnessAnswer("unaccepted", "the file records release 0.4.8, which is not accepted")),
        ("0.4.99", None, HarnessAnswer("unknown", "the file records no commit of the harness")),
        ("0.4.99", "v0.4.9", HarnessAnswer("accepted", "v0.4.9 is release 0.4.9 of " + OURS, 1)),
        (" ", "v0.4.9", HarnessAnswer("accepted", "v0.4.9 is release 0.4.9 of " + OURS, 1)),
        (None, "v0.4.8", HarnessAnswer("unaccepted", f"v0.4.8 is release 0.4.8 of {OURS}, which is not accepted")),
    ],
)  # fmt: skip
def test_a_release_is_known_by_its_number(version: str | None, git_hash: str | None, answer: HarnessAnswer) -> None:
    assert judged(of(git_hash, version), span(releases=("0.4.4",)), span(releases=("0.4.9",))) == answer


def listed(short: str, more: str = "") -> str:
    return f"commit {short} is of {OURS}, {DAYS[short]}{more}"


@pytest.mark.parametrize(
    ("git_hash", "spans", "number"),
    [
        (FIRST, [span(since=SECOND)], None),
        (THIRD, [span(since=SECOND)], 0),
        (SECOND, [span(until=THIRD)], 0),
        (FOURTH, [span(until=THIRD)], None),
        (THIRD, [span(since=SECOND, until=FOURTH)], 0),
        (THIRD, [span()], 0),
        (THIRD, [span(FORK), span(until=SECOND), span(since=SECOND), span()], 2),
        (THIRD, [span(until=SECOND, since=NOWHERE)], None),
        (FIRST, [span(since=SECOND, until=NOWHERE)], None),
    ],
)
def test_a_commit_of_the_lists_is_in_a_range_between_its_ends(
    git_hash: str, spans: list[Accepted], number: int | None
) -> None:
    why = listed(git_hash, "" if number is not None else ", which is in no accepted range")
    answer: CommitAnswer = "unaccepted" if number is None else "accepted"
    assert judged(of(git_hash), *spans) == HarnessAnswer(answer, why, number)


@pytest.mark.parametrize(
    ("git_hash", "spans"),
    [
        (THIRD, [span(since=NOWHERE)]),
        (THIRD, [span(until=NOWHERE)]),
        (THIRD, [span(since=SECOND, until=NOWHERE)]),
        (THIRD, [span(until=SECOND), span(since=NOWHERE)]),
        (THIRD, [span(FORK)]),
    ],
)
def test_an_end_that_the_lists_do_not_have_leaves_it_open(git_hash: str, spans: list[Accepted]) -> None:
    why = listed(git_hash, "; whether that is in an accepted range was not looked up")
    assert judged(of(git_hash), *spans) == HarnessAnswer("unknown", why)


@pytest.mark.parametrize(
    ("git_hash", "answer"),
    [
        (SECOND[:7], HarnessAnswer("accepted", f"commit {SECOND[:7]} is declared", 1)),
        (NOWHERE, HarnessAnswer("accepted", f"commit {NOWHERE} is declared", 2)),
        (OF_FORK, HarnessAnswer("unknown", f"commit {OF_FORK} is of {FORK}, 2024-05-02; whether that is in an accepted"
                                " range was not looked up")),
        ("e47e01bee", HarnessAnswer("unaccepted", "e47e01bee is known (the Open LLM Leaderboard until June 2023) and"
                                    " not accepted")),
        ("abcdef12", HarnessAnswer("unknown", "commit abcdef12 is not in the shipped table and was not looked up")),
        ("v9-1-gabcdef12", HarnessAnswer("unknown", "git_hash v9-1-gabcdef12 is what git describe printed in some"
                                         " repository, perhaps the user's own")),
    ],
)  # fmt: skip
def test_a_commit_is_declared_or_known_or_nothing_is_known_of_it(git_hash: str, answer: HarnessAnswer) -> None:
    assert judged(of(git_hash), span(FORK), span(since=SECOND), span(ACME, commits=(NOWHERE,))) == answer


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        (Facts(commits={FIRST: CommitFact("accepted")}), HarnessAnswer("accepted", "", 0)),
        (Facts(commits={FIRST: CommitFact("accepted", OURS, "it is between")}),
         HarnessAnswer("accepted", "it is between", 1)),
        (Facts(commits={FIRST: CommitFact("accepted", ACME)}), HarnessAnswer("accepted", "")),
        (Facts(commits={FIRST: CommitFact("unaccepted", why="it is older")}),
         HarnessAnswer("unaccepted", "it is older")),
        (Facts(commits={FIRST: CommitFact("unknown", why="GitHub does not answer")}),
         HarnessAnswer("unknown", "GitHub does not answer")),
        (Facts(commits={THIRD: CommitFact("accepted")}),
         HarnessAnswer("unaccepted", listed(FIRST, ", which is in no accepted range"))),
    ],
)  # fmt: skip
def test_what_was_looked_up_counts_first(facts: Facts, answer: HarnessAnswer) -> None:
    assert judged(of(FIRST), span(FORK), span(since=SECOND), facts=facts) == answer


@pytest.mark.parametrize(
    ("version", "git_hash", "answer"),
    [
        ("1.0", None, HarnessAnswer("accepted", "the file records release 1.0", 1)),
        ("1.1", None, HarnessAnswer("unaccepted", "the file records release 1.1, which is not accepted")),
        (None, FIRST, HarnessAnswer("accepted", f"commit {FIRST} is declared", 2)),
        (None, SECOND, HarnessAnswer("accepted", "it lies before", 1)),
        (None, THIRD, HarnessAnswer("accepted", "it is between", 1)),
        (None, FOURTH, HarnessAnswer("unknown", f"commit {FOURTH} is not declared of {ACME}")),
        (None, OF_FORK, HarnessAnswer("unknown", f"commit {OF_FORK} is not declared of {ACME}")),
        (None, None, HarnessAnswer("unknown", f"the file records neither release nor commit of {ACME}")),
    ],
)
def test_another_tool_is_judged_by_the_ranges_of_its_repository(
    version: str | None, git_hash: str | None, answer: HarnessAnswer
) -> None:
    looked_up = {
        SECOND: CommitFact("accepted", ACME, "it lies before"),
        THIRD: CommitFact("accepted", ACME, "it is between"),
        FOURTH: CommitFact("unaccepted", ACME),
        OF_FORK: CommitFact("accepted", FORK),
    }
    facts = Facts(commits=looked_up)
    spans = (span(releases=("1.1",)), span(ACME, releases=("1.0",)), span(ACME, commits=(FIRST,)))
    assert judged(of(git_hash, version, ACME.upper()), *spans, facts=facts).answer == answer.answer
    assert judged(of(git_hash, version, ACME), *spans, facts=facts) == answer


def test_of_a_tool_without_a_range_nothing_is_known() -> None:
    assert judged(of(FIRST, "1.0", ACME), span()) == HarnessAnswer("unknown", f"no version of {ACME} is declared")


LISTED = span(releases=("0.4.7", "0.4.8", "0.4.9"))
OF_BOTH = (span(FORK, commits=("493d432b", "c2a08496")), LISTED)


@pytest.mark.parametrize(
    ("spans", "harness", "advised"),
    [
        ([], of(version="0.4.7"), "lm-eval 0.4.7"),
        ([], of(version="0.4.7; rm -r ."), None),
        ([span()], of(version="0.4.7"), None),
        ([LISTED], of(version="0.4.7"), "lm-eval 0.4.9"),  # it has MATH's scorer of today
        ([LISTED], of(version="0.4.8"), "lm-eval 0.4.9"),
        ([LISTED], of(), "lm-eval 0.4.9"),
        ([span(FORK), LISTED], of(version="0.3.0"), "lm-eval 0.4.9"),
        (OF_BOTH, of("493d432b" + "0" * 32), f"{FORK} at 493d432b"),
        (OF_BOTH, of(version="0.4.9"), "lm-eval 0.4.9"),
        ([span(since=FIRST)], of(THIRD), f"{OURS} at {THIRD}"),
        ([span(ACME, releases=("1.0",)), LISTED], of(name=ACME.upper()), f"{ACME} 1.0"),
        ([span(releases=("0.4.9",), formats=("helm",)), span(releases=("0.4.7",))], of(), "lm-eval 0.4.7"),
    ],
)  # fmt: skip
def test_the_version_to_measure_with_is_the_file_s_own_or_else_the_newest_that_measures_rightly(
    spans: list[Accepted], harness: HarnessVersion, advised: str | None
) -> None:
    """Of a file's texts only a release is part of it: more digits than the declaration has may be of another commit."""
    found = advised_version(harness, "lm-eval-0.4", ["leaderboard_math_algebra_hard"], accepting(*spans), NO_FACTS)
    assert (found and found.title) == advised


def test_a_task_whose_numbers_are_the_same_is_measured_with_the_file_s_own_release() -> None:
    found = advised_version(of(version="0.4.7"), "lm-eval-0.4", ["leaderboard_mmlu_pro"], accepting(LISTED), NO_FACTS)
    assert found is not None
    assert found.title == "lm-eval 0.4.7"
