"""The way to GitHub under faults: what is no answer is an outage, no other host gets the token, everything ends."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable

import pytest

from bot.errors import BotError, DiscussionsDisabled, Gone, Locked, NoWriteAccess, Refused, Unavailable
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient, seconds_between_writes
from bot.platforms.github.platform import PLATFORM
from bot.platforms.github.source import GitHubSource
from bot.platforms.github.target import GitHubTarget
from bot.platforms.net import bulk_work
from bot.platforms.platform import Access
from bot.publishing.publication import Commit, Marker, OpenRequest, PostComment, PostText
from tests.command import bot
from tests.platforms.github.fixtures import BOARD, github
from tests.platforms.github.publishing import board, ours, proposed, requests, target
from tests.world.github_server import GitHubServer, local_github

__all__ = ["github"]

PAGE = b"<!doctype html><html>Unicorn!</html>"
HTML = {"Content-Type": "text/html"}
MARK = Marker("entry", "acme/atlas", "tiny")
TEXT = PostText("Add a row", f"Please look.\n\n{MARK.render()}")


def quick(server: GitHubServer, token: str = "bot-token", **how: float) -> GitHubClient:
    return GitHubClient(token, server.url, sleep=lambda _: None, unknown_fate=1.0, **how)


CALLS: dict[str, tuple[str, Callable[[GitHubClient], object]]] = {
    "repository": ("/leaderboard$", lambda client: client.repo(BOARD).full_name),
    "head": ("/git/ref/", lambda client: GitHubSource(client, GitHubAddress(BOARD)).head()),
    "tree": ("/git/trees/", lambda client: list(GitHubSource(client, GitHubAddress(BOARD)).changes(None, "main"))),
    "requests": ("/pulls", lambda client: GitHubTarget(client, GitHubAddress(BOARD)).read_keys("tiny")),
    "account": ("/graphql", lambda client: client.user),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "answer",
    [(PAGE, HTML), (PAGE, {}), (b'{"name": "a', {}), (b"null", {}), (b"3", {})],
    ids=["page", "page called JSON", "truncated", "null", "3"],
)
def test_what_is_no_answer_is_an_outage_and_asked_for_again(
    github: GitHubServer, call: str, answer: tuple[bytes, dict[str, str]]
) -> None:
    path, ask = CALLS[call]
    method = "POST" if call == "account" else "GET"
    expected = ask(quick(github))
    fault = github.state.order(method, path, status=200, body=answer[0], headers=answer[1], times=2)

    assert ask(quick(github)) == expected
    fault.times = 99
    with pytest.raises(Unavailable) as failure:
        ask(quick(github))
    assert call == "account" or f"github://{BOARD}" in str(failure.value)


@pytest.mark.parametrize("time", ["9" * 400, "\xb2", "-1", "1e9"])
@pytest.mark.parametrize("name", ["Retry-After", "X-RateLimit-Reset"])
def test_an_odd_time_to_wait_is_an_outage_like_others(github: GitHubServer, name: str, time: str) -> None:
    said = {"headers": {"X-RateLimit-Remaining": "0", name: time}, "message": "API rate limit exceeded"}
    github.state.order("GET", f"/repos/{BOARD}", status=403, times=9, **said)
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, sleep=waited.append)

    with pytest.raises(Unavailable, match=r"rate limit exceeded|not from GitHub"):
        GitHubSource(client, GitHubAddress(BOARD)).head()
    assert all(0 < seconds <= 180 for seconds in waited)


@pytest.mark.slow
def test_an_answer_that_unpacks_to_far_more_than_github_gives_is_refused(github: GitHubServer) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join([packer.compress(b" " * 10_000_000) for _ in range(60)]) + packer.flush()
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    github.state.order("GET", f"/repos/{BOARD}", status=200, body=bomb, headers=packed, times=9)

    assert len(bomb) < 1_000_000
    with pytest.raises(Unavailable, match="too large"):
        GitHubSource(quick(github), GitHubAddress(BOARD)).head()


def test_pages_that_name_themselves_as_the_next_end(github: GitHubServer) -> None:
    url = f"{github.url}/repos/{BOARD}/pulls?state=open&base=main&per_page=100"
    github.state.order(
        "GET", "/pulls", status=200, body=b'[{"number": 1}]', headers={"Link": f'<{url}>; rel="next"'}, times=99
    )

    with pytest.raises(Unavailable, match="github://acme/leaderboard: its list of pages does not end"):
        target(github).read_keys("tiny")
    assert github.state.count("GET", "/pulls") <= 8


def test_a_list_that_goes_on_at_another_host_is_not_followed(github: GitHubServer) -> None:
    with local_github() as other:
        link = f'<{other.url}/repos/{BOARD}/pulls?page=2>; rel="next"'
        github.state.order("GET", "/pulls", status=200, body=b'[{"number": 1}]', headers={"Link": link}, times=99)

        with pytest.raises(Unavailable):
            target(github).read_keys("tiny")
        assert other.state.requests == []


def test_a_redirect_to_another_host_is_not_followed(github: GitHubServer) -> None:
    with local_github() as other:
        link = {"Location": f"{other.url}/repos/{BOARD}/git/blobs/x"}
        github.state.order("GET", "/git/blobs/", status=302, headers=link, times=99)
        commit = board(github).git.push("heads/main", {"a.json": b"1"})

        with pytest.raises(Gone, match=f"github://{BOARD}: 302"):
            GitHubSource(quick(github), GitHubAddress(BOARD)).read("a.json", commit, 10)
        assert other.state.requests == []


def test_a_renamed_repository_is_named_with_its_new_name(github: GitHubServer) -> None:
    github.state.repos["acme/board"] = github.state.repos.pop(BOARD)
    github.state.repos["acme/board"].name = "acme/board"
    github.state.moved[BOARD] = "acme/board"

    with pytest.raises(Gone, match="github://acme/leaderboard was renamed to github://acme/board"):
        target(github).check()
    env = {**os.environ, "GITHUB_API_URL": github.url, "GITHUB_TOKEN": "bot-token"}
    status, _, said = bot("verify", f"github://{BOARD}", env=env)
    assert (status, len(said.splitlines())) == (4, 1), said


def test_a_locked_issue_is_named(github: GitHubServer) -> None:
    issue = github.state.open_pull(BOARD, "topic")
    issue.locked = True

    with pytest.raises(Locked, match=r"github://acme/leaderboard #1: 403: Unable to create comment"):
        target(github, "comment", number=issue.number).apply(PostComment(MARK, TEXT))


def test_disabled_issues_are_named(github: GitHubServer) -> None:
    board(github).has_issues = False

    with pytest.raises(DiscussionsDisabled, match="github://acme/leaderboard: 410: Issues has been disabled"):
        target(github, "comment").apply(PostComment(MARK, TEXT))


def test_no_right_to_write_is_named(github: GitHubServer) -> None:
    with pytest.raises(NoWriteAccess, match="github://acme/leaderboard: 403: Resource not accessible"):
        target(github, "commit", token="read-token").apply(Commit(MARK, TEXT, {"a.json": b"1"}))


def test_a_wrong_token_is_a_plain_refusal(github: GitHubServer) -> None:
    with pytest.raises(Refused) as failure:
        GitHubSource(quick(github, "ghp_wrong"), GitHubAddress(BOARD)).head()
    assert type(failure.value) is Refused


@pytest.mark.parametrize(
    ("path", "publication"),
    [
        ("/comments$", PostComment(MARK, TEXT)),
        ("/issues$", PostComment(MARK, TEXT)),
        ("/pulls$", OpenRequest(MARK, TEXT, {"a.json": b"1"})),
    ],
)
def test_a_write_that_landed_although_its_answer_was_lost_is_found(
    github: GitHubServer, path: str, publication: PostComment | OpenRequest
) -> None:
    github.state.order("POST", path, status=502, landed=True)

    where = target(github, "comment").apply(publication)

    assert where.startswith("http")
    assert len(ours(github)) + len(requests(github)) == 1
    assert len([issue for issue in board(github).issues.values() if not issue.head]) <= 1


def test_a_write_that_did_not_land_is_not_repeated_blindly(github: GitHubServer) -> None:
    github.state.order("POST", "/comments$", status=502)

    with pytest.raises(Unavailable) as failure:
        target(github, "comment").apply(PostComment(MARK, TEXT))
    assert failure.value.may_have_landed
    assert github.state.count("POST", "/comments$") == 1


def test_a_large_publication_is_several_commits(github: GitHubServer) -> None:
    files: dict[str, bytes | None] = {f"entries/{n:03}.json": b"%d" % n for n in range(250)}
    where = target(github)
    where.apply(OpenRequest(MARK, TEXT, files))
    assert proposed(github, 1) == files
    where.apply(Commit(MARK, TEXT, {**files, "more.json": b"1"}))

    git = board(github).git
    titles = [git.commits[sha].message.splitlines()[0] for sha in git.ancestors(git.refs["heads/main"])]
    assert {f"Add a row ({n} of 3)" for n in (1, 2, 3)} <= set(titles)


def test_a_sweep_finds_issues_and_comments_that_stand_twice(github: GitHubServer) -> None:
    where = target(github, "comment")
    where.apply(PostComment(MARK, TEXT))
    issue = next(iter(board(github).issues.values()))
    github.state.comment(BOARD, issue.number, TEXT.body, "leaderboard-bot")
    github.state.comment(BOARD, issue.number, TEXT.body, "ann")
    twin = github.state.open_pull(BOARD, "", author="leaderboard-bot", title=issue.title)
    twin.body = issue.body

    found = where.find_duplicates()
    for duplicate in found:
        where.remove_duplicate(duplicate)

    assert [(one.kind, one.name.split()[0], one.kept.split()[0]) for one in found] == [
        ("discussion", "2", "1"),
        ("comment", "1", "1"),
    ]
    assert (issue.state, twin.state) == ("open", "closed")
    assert [one.author for one in board(github).comments_on(issue.number)] == ["leaderboard-bot", "ann"]
    assert where.find_duplicates() == []


def test_errors_name_no_token(github: GitHubServer) -> None:
    with pytest.raises(BotError) as failure:
        GitHubSource(quick(github, "ghp_secret"), GitHubAddress("acme/none")).head()
    assert "ghp_secret" not in str(failure.value)


def test_bulk_work_uses_half_of_a_window_and_people_the_rest(github: GitHubServer) -> None:
    github.state.allowed = 40
    source = GitHubSource(quick(github, "bot-token"), GitHubAddress(BOARD))
    with bulk_work(), pytest.raises(Unavailable) as failure:
        [source.head() for _ in range(100)]
    asked = len(github.state.requests)
    assert 20 <= asked <= 21
    assert failure.value.retry_after == pytest.approx(300, abs=30)
    source.head()
    assert len(github.state.requests) > asked


@pytest.mark.parametrize(
    ("url", "seconds"),
    [
        ("https://api.github.com", 1.0),
        ("https://API.GitHub.com/", 1.0),
        ("https://api.acme.ghe.com", 1.0),
        ("https://github.acme.example/api/v3", 0.0),
        ("http://127.0.0.1:8000", 0.0),
    ],
)
def test_writes_are_spaced_where_github_says_so(url: str, seconds: float) -> None:
    """A server of one's own has no secondary limits, unless its owner sets them."""
    assert seconds_between_writes(url) == seconds


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.github.com", "github.com"),
        ("https://api.acme.ghe.com/", "acme.ghe.com"),
        ("https://api.acme.example/api/v3", "api.acme.example"),
    ],
)
def test_git_fetches_from_the_host_whose_api_is_asked(url: str, host: str) -> None:
    remote = PLATFORM.git_remote(f"github://{BOARD}", Access("bot-token", url))
    assert remote.url == f"https://{host}/{BOARD}.git"
