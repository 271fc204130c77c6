"""A harness commit is looked up on a local GitHub: ancestry counts, existence does not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bot.evaluation.leaderboard import Accepted, Leaderboard, parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.platforms.github.client import GitHubClient
from bot.platforms.platform import Access
from bot.service.judge.commits import AnswersInFile, CommitLookup, askable, open_look_up
from bot.service.judge.facts import Judge, no_look_up
from tests.command import bot
from tests.platforms.github.fixtures import github
from tests.world.github_server import GitHubServer
from tests.world.results import TINY, result

__all__ = ["github"]

UPSTREAM = "harness/evaluation"
FORK = "board/evaluation"


class History:
    """An upstream repository with five commits on main, and a fork of it with a branch of its own."""

    def __init__(self, server: GitHubServer) -> None:
        git = server.state.add_repo(UPSTREAM, {"a": b"0"}).git
        self.main = [git.refs["heads/main"], *(git.push("heads/main", {"a": b"%d" % n}) for n in range(1, 5))]
        git.refs["heads/side"] = self.main[2]
        self.side = git.push("heads/side", {"side": b"1"})
        fork = server.state.add_fork(FORK, UPSTREAM).git
        fork.refs["heads/board"] = self.main[1]
        self.board = fork.push("heads/board", {"board": b"1"})
        fork.refs["heads/stranger"] = self.main[4]
        self.stranger = fork.push("heads/stranger", {"stranger": b"1"})
        self.outside = "e33da740" * 5

    def span(self, since: int | None, until: int | None = None, repo: str = UPSTREAM, **more: object) -> Accepted:
        ends = {"since": since, "until": until}
        given = {name: self.main[index] for name, index in ends.items() if index is not None}
        return Accepted(repository=repo, reason="these measured", **given, **more)


@pytest.fixture
def history(github: GitHubServer) -> History:
    return History(github)


def lookup(server: GitHubServer, token: str | None = None, **more: object) -> CommitLookup:
    return CommitLookup(GitHubClient(token, server.url, patience=0, **more))


@pytest.mark.parametrize(("index", "answer"), [(0, "unaccepted"), (1, "accepted"), (2, "accepted"), (4, "unaccepted")])
def test_a_commit_inside_the_range_is_accepted(github: GitHubServer, history: History, index: int, answer: str) -> None:
    looked = lookup(github).judge(history.main[index], [history.span(1, 3)])

    assert looked.answer == answer


def test_short_full_and_described_hashes_are_one_commit(github: GitHubServer, history: History) -> None:
    full = history.main[2]
    spans = [history.span(1)]

    answers = {text: lookup(github).judge(text, spans) for text in (full, full[:9], f"v0.4.10-129-g{full[:9]}")}

    assert {looked.answer for looked in answers.values()} == {"accepted"}
    assert answers[full].why == f"commit {full[:12]} is in the accepted range of {UPSTREAM}"


def test_the_tag_of_a_release_is_looked_up(github: GitHubServer, history: History) -> None:
    github.state.repos[UPSTREAM].git.refs["tags/v0.4.99"] = history.main[3]

    assert lookup(github).judge("v0.4.99", [history.span(1)]).answer == "accepted"


def test_a_commit_of_a_fork_exists_upstream_and_is_not_accepted(github: GitHubServer, history: History) -> None:
    """It descends from the range's beginning and resolves below the upstream name: only its way to main is missing."""
    looked = lookup(github).judge(history.stranger, [history.span(1)])

    assert looked.answer == "unaccepted"
    assert looked.why == f"commit {history.stranger} is in no accepted range of {UPSTREAM}"


def test_a_branch_that_never_merged_is_accepted_up_to_its_declared_commits(
    github: GitHubServer, history: History
) -> None:
    fork = github.state.repos[FORK].git
    newer = fork.push("heads/board", {"board": b"2"})
    span = history.span(1, repo=FORK, commits=(newer,))

    assert lookup(github).judge(history.board, [span]).answer == "accepted"
    assert lookup(github).judge(history.board, [history.span(1, repo=FORK)]).answer == "unaccepted"


def test_a_commit_that_no_accepted_repository_has_is_unknown(github: GitHubServer, history: History) -> None:
    looked = lookup(github).judge(history.outside, [history.span(1), history.span(1, repo=FORK)])

    assert looked.answer == "unknown"
    assert looked.why == (
        f"there is no commit {history.outside} in {UPSTREAM} or {FORK}: perhaps it is of the user's own repository"
    )


@pytest.mark.parametrize("text", ["myproj-1.0", "../../user", "main", "", "a b\n", "HEAD", "x" * 5000, "é" * 8])
def test_what_is_no_commit_is_never_asked_for(github: GitHubServer, history: History, text: str) -> None:
    assert askable(text) == ""
    assert lookup(github).judge(text, [history.span(1)]) is None
    assert github.state.requests == []


def test_each_question_is_asked_once_and_kept_between_runs(
    github: GitHubServer, history: History, tmp_path: Path
) -> None:
    path = tmp_path / "cache" / "commits.json"
    first = lookup(github)
    first.answers = AnswersInFile(path)
    first.judge(history.main[2], [history.span(1)])
    asked = len(github.state.requests)
    again = lookup(github)
    again.answers = AnswersInFile(path)

    looked = again.judge(history.main[2], [history.span(1)])

    assert (looked.answer, asked, len(github.state.requests)) == ("accepted", 5, 5)


def test_a_no_that_main_may_still_turn_into_a_yes_is_asked_again_the_next_day(
    github: GitHubServer, history: History, tmp_path: Path
) -> None:
    now = [0.0]
    looker = lookup(github)
    looker.answers, looker.clock = AnswersInFile(tmp_path / "commits.json"), lambda: now[0]
    assert looker.judge(history.side, [history.span(1)]).answer == "unaccepted"
    github.state.repos[UPSTREAM].git.refs["heads/main"] = history.side

    assert looker.judge(history.side, [history.span(1)]).answer == "unaccepted"
    now[0] += 86_401
    assert looker.judge(history.side, [history.span(1)]).answer == "accepted"


@pytest.mark.parametrize("text", ["", "[1]", '{"a": 1}', "{"])
def test_a_broken_file_of_answers_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "commits.json"
    path.write_text(text)

    assert AnswersInFile(path).answer("a", 0.0) is None


def test_past_the_hourly_limit_the_rest_is_unknown_and_not_asked(github: GitHubServer, history: History) -> None:
    github.state.anonymous_left = 2
    looker = lookup(github)

    looked = [looker.judge(sha, [history.span(1)]) for sha in history.main]

    assert looked == [None] * 5
    assert "rate limit exceeded" in looker.unreachable
    assert len(github.state.requests) == 3


def test_ten_commits_stay_far_below_the_hourly_limit(github: GitHubServer, history: History) -> None:
    git = github.state.repos[UPSTREAM].git
    shas = [git.push("heads/main", {"a": b"more %d" % n}) for n in range(10)]
    looker = lookup(github)

    assert {looker.judge(sha, [history.span(1)]).answer for sha in shas} == {"accepted"}
    assert len(github.state.requests) == 32


def test_a_service_that_is_down_makes_it_unknown(github: GitHubServer, history: History) -> None:
    github.state.order("GET", "/commits/", status=503, times=99)

    looker = lookup(github)

    assert looker.judge(history.main[2], [history.span(1)]) is None
    assert looker.unreachable.startswith("GitHub could not be reached")


def test_why_commits_are_not_looked_up_is_said_once_and_nothing_where_they_are(
    github: GitHubServer, history: History
) -> None:
    said: list[str] = []
    look_up = open_look_up(Access(github_api_url=github.url), AnswersInFile(), said.append)
    assert look_up([history.main[3]], declared(history))
    assert said == []

    github.state.anonymous_left = 0
    for sha in (history.side, history.outside):
        assert look_up([sha], declared(history)) == {}
    [why] = said
    assert why.startswith("harness commits are not looked up: ")
    assert "rate limit exceeded" in why


def test_a_private_repository_is_no_reason_to_fail(github: GitHubServer, history: History) -> None:
    github.state.repos[UPSTREAM].private = True

    assert lookup(github).judge(history.main[2], [history.span(1)]).answer == "unknown"


def declaration(history: History) -> str:
    accepted = f"""
[[harness.accepted]]
repository = "{UPSTREAM}"
since = "{history.main[1]}"
reason = "these measured"
"""
    return TINY.replace("[[tasks]]", f"{accepted}\n[[tasks]]", 1)


def declared(history: History) -> Leaderboard:
    return parse_leaderboard(declaration(history), "tiny", "tiny.toml")


def judged(git_hash: str, history: History, looker: CommitLookup | None) -> tuple[str, list[tuple[str, str]]]:
    parsed, board = parse_submission("a.json", {"": result(git_hash=git_hash)}), declared(history)
    look_up = no_look_up if looker is None else looker.look_up
    [verdict] = Judge(board, None, look_up=look_up).judge([parsed]).verdicts
    harness = [(found.rule, found.message) for found in verdict.findings if "harness" in found.rule]
    return verdict.status, harness


def test_an_unknown_commit_is_a_notice_offline_and_decided_online(github: GitHubServer, history: History) -> None:
    offline = "is not in the shipped table and was not looked up"

    assert judged(history.main[3], history, None) == (
        "accepted",
        [("unverifiable-harness-commit", f"commit {history.main[3]} {offline}")],
    )
    assert judged(history.main[3], history, lookup(github)) == ("accepted", [])
    assert judged(history.main[0], history, lookup(github)) == (
        "rejected",
        [
            (
                "unaccepted-harness-commit",
                f"the harness is not accepted: commit {history.main[0]} is in no accepted range of {UPSTREAM}",
            )
        ],
    )
    assert judged(history.outside, history, lookup(github)) == (
        "accepted",
        [
            (
                "unverifiable-harness-commit",
                f"there is no commit {history.outside} in {UPSTREAM}: perhaps it is of the user's own repository",
            )
        ],
    )


def test_a_lost_line_leaves_the_verdict_as_without_a_network(github: GitHubServer, history: History) -> None:
    github.state.anonymous_left = 0

    assert judged(history.main[3], history, lookup(github)) == judged(history.main[3], history, None)


def test_a_declared_commit_and_a_release_are_not_asked_for(github: GitHubServer, history: History) -> None:
    for git_hash in (history.main[1], "452749513f817315042df9286241a61051392470"):
        judged(git_hash, history, lookup(github))

    assert github.state.requests == []


def test_check_online_asks_and_keeps_the_answers(github: GitHubServer, history: History, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(declaration(history))
    (tmp_path / "results_a.json").write_bytes(result(git_hash=history.main[0]))
    environment = {
        **os.environ,
        "GITHUB_API_URL": github.url,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GITHUB_TOKEN": "",
    }
    command = ["check", "results_a.json", "-l", "tiny.toml", "--format", "json"]

    def check(*more: str) -> tuple[int, list[str]]:
        status, out, _ = bot(*command, *more, cwd=tmp_path, env=environment)
        return status, [finding["rule"] for finding in json.loads(out)["submissions"][0]["findings"]]

    assert check() == (0, ["unverifiable-harness-commit"])
    assert check("--online") == (1, ["unaccepted-harness-commit"])
    asked = len(github.state.requests)
    assert check("--online") == (1, ["unaccepted-harness-commit"])
    assert len(github.state.requests) == asked
