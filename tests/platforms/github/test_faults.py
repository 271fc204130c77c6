"""Publishing to a local GitHub that fails, is slow, refuses, or is written to by others."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from bot.errors import BotError, CallError, Refused, Unavailable
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.target import GitHubTarget
from bot.publishing.publication import Form, Marker, PostComment, PostText
from bot.service.publish.one_call import publish
from tests.platforms.github.entries import entry
from tests.platforms.github.fixtures import BOARD, github
from tests.platforms.github.publishing import board, ours, proposed, publish_to, requests, target
from tests.variants import one_of
from tests.world.github_server import GitHubServer

__all__ = ["github"]


def _try(call: Callable[[], object]) -> None:
    try:
        call()
    except BotError:
        return


@pytest.mark.parametrize("form", one_of(["pull-request", "commit", "comment"]))
def test_six_at_once_leave_one_of_each(github: GitHubServer, form: Form) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: publish_to(github, entry(), form), range(6)))

    assert len(requests(github)) == (form == "pull-request")
    assert len(ours(github)) == (form == "comment")
    assert [issue.state for issue in board(github).issues.values() if not issue.head].count("open") == (
        form == "comment"
    )
    if form == "pull-request":
        assert proposed(github, 1) == {entry().path: entry().to_bytes()}
    if form == "commit":
        assert board(github).git.read("main", entry().path) == entry().to_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("pull-request", "/git/trees$"),
        ("pull-request", "/git/commits$"),
        ("pull-request", "/git/refs$"),
        ("pull-request", "/pulls$"),
        ("commit", "/git/commits$"),
        ("comment", "/issues$"),
        ("comment", "/comments$"),
    ],
)
@pytest.mark.parametrize("drop", [True, False])
def test_a_write_that_fails_is_made_good_whether_or_not_it_landed(
    github: GitHubServer, form: Form, path: str, landed: bool, drop: bool
) -> None:
    github.state.order("POST", path, status=502, landed=landed, drop=drop)

    publish_to(github, entry(), form)

    assert publish_to(github, entry(), form).endswith("already")
    assert len(requests(github, "all")) == (form == "pull-request")
    assert len(ours(github)) == (form == "comment")
    assert sum(1 for issue in board(github).issues.values() if not issue.head) == (form == "comment")


@pytest.mark.parametrize("landed", [True, False])
def test_a_ref_that_fails_to_move_is_made_good(github: GitHubServer, landed: bool) -> None:
    github.state.order("PATCH", "/git/refs/heads/main", status=500, landed=landed)

    publish_to(github, entry(), "commit")

    assert board(github).git.read("main", entry().path) == entry().to_bytes()


def test_main_that_moves_between_reading_and_writing_costs_one_more_try(github: GitHubServer) -> None:
    git = board(github).git
    github.state.order("PATCH", "/git/refs/heads/main", status=0, before=lambda: git.push("heads/main", {"x": b"1"}))

    publish_to(github, entry(), "commit")

    assert git.read("main", entry().path) == entry().to_bytes()
    assert git.read("main", "x") == b"1"


def test_a_persons_commit_on_our_branch_is_never_forced_away(github: GitHubServer) -> None:
    publish_to(github, entry())
    branch = f"heads/{requests(github)[0].head}"
    git = board(github).git
    theirs: list[str] = []
    github.state.order(
        "PATCH", "/git/refs/", status=0, before=lambda: theirs.append(git.push(branch, {"note.md": b"hello"}))
    )

    publish_to(github, entry(right=(60, 60, 70), time="20"))

    assert theirs[0] in git.ancestors(git.refs[branch])


def test_a_secondary_rate_limit_is_waited_for_and_the_write_made_once(github: GitHubServer) -> None:
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, sleep=waited.append)
    limit = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    github.state.order("POST", "/pulls$", status=403, message=limit, headers={"Retry-After": "17"}, times=2)

    publish([entry()], GitHubTarget(client, GitHubAddress(BOARD)), "pull-request")

    assert waited == [17.0, 17.0]
    assert len(requests(github)) == 1


@pytest.mark.parametrize(
    ("status", "message", "errors"),
    [
        (
            422,
            "Validation Failed",
            [{"resource": "PullRequest", "code": "custom", "message": "was submitted too quickly"}],
        ),
        (403, "You have triggered an abuse detection mechanism. Please wait a few minutes.", []),
    ],
)
def test_who_is_told_to_write_slower_waits_a_minute(
    github: GitHubServer, status: int, message: str, errors: list[dict[str, str]]
) -> None:
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, sleep=waited.append)
    body = json.dumps({"message": message, "errors": errors}).encode()
    github.state.order("POST", "/pulls$", status=status, body=body, times=1)

    publish([entry()], GitHubTarget(client, GitHubAddress(BOARD)), "pull-request")

    assert waited == [60.0]
    assert len(requests(github)) == 1


def test_a_rate_limit_past_our_patience_is_said_with_its_time(github: GitHubServer) -> None:
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, sleep=waited.append)
    limit = "You have exceeded a secondary rate limit."
    github.state.order("POST", "/git/trees$", status=429, message=limit, headers={"Retry-After": "3600"}, times=9)

    with pytest.raises(Unavailable, match=r"try again in 3600 s") as error:
        publish([entry()], GitHubTarget(client, GitHubAddress(BOARD)), "pull-request")

    assert (error.value.retry_after, waited) == (3600.0, [])


@pytest.mark.parametrize(
    ("token", "message"),
    [("ghp_secret", "the token is wrong or has expired"), ("read-token", "the token may not do this")],
)
@pytest.mark.parametrize("form", ["pull-request", "commit", "comment"])
def test_a_token_that_may_not_is_said_in_one_line(github: GitHubServer, form: Form, token: str, message: str) -> None:
    with pytest.raises(Refused, match=message) as error:
        publish_to(github, entry(), form, token)
    assert "\n" not in str(error.value)
    assert token not in str(error.value)


@pytest.mark.parametrize("form", ["pull-request", "commit", "comment"])
def test_an_archived_repository_is_no_matter_of_rights(github: GitHubServer, form: Form) -> None:
    github.state.repos[BOARD].archived = True
    with pytest.raises(Refused, match="was archived so is read-only: unarchive it, or name another repository"):
        publish_to(github, entry(), form)


def test_a_workflow_that_may_open_no_request_is_told_the_setting(github: GitHubServer) -> None:
    said = "GitHub Actions is not permitted to create or approve pull requests."
    github.state.order("POST", "/pulls$", status=403, message=said)
    with pytest.raises(Refused, match='requests: switch on "Allow GitHub Actions to create and approve pull requests"'):
        publish_to(github, entry())


def test_a_lost_answer_to_who_am_i_is_asked_for_again(github: GitHubServer) -> None:
    github.state.order("POST", "/graphql", status=502)
    github.state.order("POST", "/graphql", drop=True)

    assert publish_to(github, entry()) == "a new request proposes it"
    assert len(requests(github)) == 1


def test_without_a_token_nothing_is_tried(github: GitHubServer) -> None:
    with pytest.raises(CallError, match="publishing to GitHub needs a token; set GITHUB_TOKEN"):
        target(github, token="").check()
    assert github.state.requests == []


@pytest.mark.slow
def test_the_end_state_is_one_request_after_any_row_of_faults(github: GitHubServer) -> None:
    """Faults of every kind at random writes, again and again: it ends as if nothing had happened."""
    dice = random.Random(20260302)
    rows = [entry(f"acme/model-{index}") for index in range(3)]
    for _ in range(25):
        method, path = dice.choice(
            [("POST", "/git/"), ("POST", "/pulls$"), ("PATCH", "/git/refs/"), ("PATCH", "/pulls/"), ("GET", "/pulls")]
        )
        github.state.order(method, path, status=500, landed=dice.random() < 0.5, drop=dice.random() < 0.3)
        _try(lambda: publish(dice.sample(rows, 2), target(github), "pull-request"))
    github.state.faults.clear()

    publish(rows, target(github), "pull-request")

    assert sorted(request.head for request in requests(github, "all")) == sorted(
        f"leaderboard-bot/{one.key}" for one in rows
    )
    assert all(
        set(proposed(github, request.number)) == {f"entries/{request.head.removeprefix('leaderboard-bot/')}.json"}
        for request in requests(github)
    )


def test_the_reason_of_a_closing_stands_once_though_the_answer_was_lost(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    board(github).git.push("heads/main", {one.path: one.to_bytes()})
    github.state.order("PATCH", "/pulls/1$", status=502, landed=True)

    publish_to(github, one)
    publish_to(github, one)

    assert requests(github, "closed")[0].body.count("The main branch already has what this request") == 1


def test_a_note_of_two_runs_keeps_the_older_one(github: GitHubServer) -> None:
    mark = Marker("verdict", "a.json", "tiny")
    number = github.state.open_pull(BOARD, "topic").number
    texts = [PostText("t", f"verdict {index}\n\n{mark.render()}") for index in range(2)]
    github.state.order(
        "POST",
        "/comments$",
        status=0,
        before=lambda: github.state.comment(BOARD, number, texts[0].body, "leaderboard-bot"),
    )

    target(github, "comment", number=number).apply(PostComment(mark, texts[1]))

    (kept,) = ours(github)
    assert kept.body == texts[1].body
    assert all(first < second for first, second in pairwise(sorted(board(github).comments)))


def test_a_rate_limit_of_graphql_is_one_though_its_status_is_200(github: GitHubServer) -> None:
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, sleep=waited.append)
    limited = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 7."}]}
    github.state.order("POST", "/graphql", status=200, body=json.dumps(limited).encode(), times=1)

    assert client.user == "leaderboard-bot"
    assert waited == [60.0]


def test_a_fault_within_graphql_is_an_outage(github: GitHubServer) -> None:
    client = GitHubClient("bot-token", github.url, sleep=lambda _: None)
    fault = {"errors": [{"message": "Something went wrong while executing your query."}]}
    github.state.order("POST", "/graphql", status=200, body=json.dumps(fault).encode(), times=99)

    with pytest.raises(Unavailable, match="Something went wrong"):
        _ = client.user
