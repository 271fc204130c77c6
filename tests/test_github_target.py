"""Rows are published to a local GitHub: one request or comment for each, whatever fails and however often it is run."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from bot.board import make_board
from bot.entry import Entry
from bot.errors import BotError, CallError, Refused, Unavailable
from bot.forges.github.branches import branch_name
from bot.forges.github.client import Address, GitHubClient
from bot.forges.github.target import GitHubTarget
from bot.publication import CloseRequest, Form, Mark, PostNote, Text, entry_mark, find_mark
from bot.publish import publish, rebuild_board
from tests.github_entries import entry, tiny
from tests.github_fixtures import BOARD, github
from tests.world.github_server import GitHubServer
from tests.world.github_state import Comment, Issue, Repo

__all__ = ["github"]


def target(
    server: GitHubServer, form: Form = "pull-request", token: str = "bot-token", number: int | None = None
) -> GitHubTarget:
    client = GitHubClient(token, server.url, seconds_between_writes=0, sleep=lambda _: None)
    return GitHubTarget(client, Address(BOARD, number), form)


def board(server: GitHubServer) -> Repo:
    return server.state.repos[BOARD]


def publish_to(server: GitHubServer, one: Entry, form: Form = "pull-request", token: str = "bot-token") -> str:
    return publish([one], target(server, form, token), form)[0].decision.why


def requests(server: GitHubServer, state: str = "open") -> list[Issue]:
    return board(server).pulls(state)


def ours(server: GitHubServer) -> list[Comment]:
    return [comment for comment in board(server).comments.values() if find_mark(comment.body)]


def proposed(server: GitHubServer, number: int) -> dict[str, bytes]:
    """What a request would change on main, as GitHub would show it."""
    git = board(server).git
    head = git.refs[f"heads/{board(server).issues[number].head}"]
    base = git.merge_base(git.refs["heads/main"], head)
    return {path: git.read(head, path) for path in git.changed(base, head)}


def test_a_row_becomes_one_request_on_the_branch_of_its_key(github: GitHubServer) -> None:
    one = entry()

    done = publish([one], target(github), "pull-request")

    (request,) = requests(github)
    assert done[0].where == f"{github.url}/{BOARD}/pull/1"
    assert request.head == f"leaderboard-bot/{one.key}"
    assert request.title == "Add acme/atlas-7b (bfloat16): 58.33"
    assert find_mark(request.body) == entry_mark(one)
    assert proposed(github, 1) == {one.path: one.to_bytes()}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("pull-request", "the request proposes so already"),
        ("commit", "the entry stands there already"),
        ("comment", "the comment says so already"),
    ],
)
def test_ten_times_is_as_good_as_once_and_writes_once(github: GitHubServer, form: Form, why: str) -> None:
    publish_to(github, entry(), form)
    writes = github.state.writes()

    assert [publish_to(github, entry(), form) for _ in range(10)] == [why] * 10
    assert github.state.writes() == writes
    assert len(requests(github)) == (form == "pull-request")
    assert len(ours(github)) == (form == "comment")


@pytest.mark.parametrize("form", ["pull-request", "commit", "comment"])
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


def test_a_newer_result_updates_the_open_request_though_main_has_moved(github: GitHubServer) -> None:
    publish_to(github, entry())
    board(github).git.push("heads/main", {"other.json": b"1", "README.md": b"changed"})
    newer = entry(right=(60, 60, 70), time="20")

    publish_to(github, newer)

    (request,) = requests(github)
    assert request.title == "Add acme/atlas-7b (bfloat16): 61.67"
    assert proposed(github, 1) == {newer.path: newer.to_bytes()}
    git = board(github).git
    history = git.ancestors(git.refs[f"heads/{request.head}"])
    assert git.refs["heads/main"] in history, "the branch is on the main of today"


def test_a_request_that_was_merged_is_followed_by_a_new_one(github: GitHubServer) -> None:
    publish_to(github, entry())
    github.state.merge(BOARD, 1)
    newer = entry(right=(60, 60, 70), time="20")

    assert publish_to(github, entry()) == "the entry stands there already"
    publish_to(github, newer)

    assert [request.number for request in requests(github)] == [2]
    assert requests(github)[0].title == "Update acme/atlas-7b (bfloat16): 61.67"
    assert set(proposed(github, 2)) == {newer.path}


@pytest.mark.parametrize("branch_is_deleted", [False, True])
def test_a_request_that_a_person_closed_is_not_made_again(github: GitHubServer, branch_is_deleted: bool) -> None:
    publish_to(github, entry())
    github.state.close(BOARD, 1)
    if branch_is_deleted:
        github.state.delete_branch(BOARD, requests(github, "all")[0].head)

    assert publish_to(github, entry()) == "a person closed the request with this very content"
    publish_to(github, entry(right=(60, 60, 70), time="20"))

    assert [request.number for request in requests(github)] == [2]


def test_a_request_of_ours_that_has_nothing_left_to_say_is_closed_with_a_reason(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    board(github).git.push("heads/main", {one.path: one.to_bytes()})

    assert publish_to(github, one) == "the entry stands there already"

    (request,) = requests(github, "closed")
    assert request.body.startswith("What this request proposes stands on the main branch already.\n\n")
    assert f"heads/{request.head}" not in board(github).git.refs


def test_a_request_that_we_closed_may_be_made_again(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    there = target(github).read_standing(entry_mark(one), (one.path,)).request
    assert there is not None
    target(github).carry_out(CloseRequest(entry_mark(one), there, "The submission was withdrawn."))

    publish_to(github, one)

    assert [request.number for request in requests(github)] == [2]


def test_a_foreign_request_on_our_branch_or_with_our_mark_is_not_ours(github: GitHubServer) -> None:
    publish_to(github, entry())
    copied = requests(github)[0].body
    board(github).git.push("heads/copy", {"x": b"1"})
    github.state.open_pull(BOARD, "copy", author="eve").body = copied
    requests(github)[0].author = "eve"

    with pytest.raises(BotError, match="already exists"):
        publish_to(github, entry())
    assert len(requests(github)) == 2


def test_a_comment_is_found_behind_the_first_page_and_foreign_copies_are_left_alone(github: GitHubServer) -> None:
    publish_to(github, entry(), "comment")
    number = next(iter(board(github).issues))
    body = ours(github)[0].body
    board(github).comments.clear()
    for index in range(250):
        github.state.comment(BOARD, number, body if index % 50 == 0 else "talk", author="eve")
    mine = github.state.comment(BOARD, number, body, author="leaderboard-bot")
    before = {comment.id: comment.body for comment in board(github).comments.values() if comment.author == "eve"}

    assert publish_to(github, entry(), "comment") == "the comment says so already"
    publish_to(github, entry(right=(60, 60, 70), time="20"), "comment")

    after = {comment.id: comment.body for comment in board(github).comments.values()}
    assert "61.67" in after.pop(mine.id)
    assert after == before


def test_comments_of_one_leaderboard_share_an_issue_and_a_given_number_is_used(github: GitHubServer) -> None:
    for model in ("acme/atlas-7b", "acme/bolt-1b"):
        publish_to(github, entry(model), "comment")
    (issue,) = board(github).issues.values()
    assert (issue.title, len(board(github).comments_on(issue.number))) == ("Rows of tiny", 2)

    other = github.state.add_issue(board(github), Issue(0, "ann", "Rows", "")).number
    publish([entry()], target(github, "comment", number=other), "comment")

    assert len(board(github).comments_on(other)) == 1


def test_a_workflows_own_token_publishes_as_its_bot(github: GitHubServer) -> None:
    publish_to(github, entry(), token="app-token")
    publish_to(github, entry(), token="app-token")

    assert [request.author for request in requests(github)] == ["github-actions[bot]"]


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
    client = GitHubClient("bot-token", github.url, seconds_between_writes=0, sleep=waited.append)
    limit = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    github.state.order("POST", "/pulls$", status=403, message=limit, headers={"Retry-After": "17"}, times=2)

    publish([entry()], GitHubTarget(client, Address(BOARD)), "pull-request")

    assert waited == [17.0, 17.0]
    assert len(requests(github)) == 1


def test_a_rate_limit_past_our_patience_is_said_with_its_time(github: GitHubServer) -> None:
    waited: list[float] = []
    client = GitHubClient("bot-token", github.url, seconds_between_writes=0, sleep=waited.append)
    limit = "You have exceeded a secondary rate limit."
    github.state.order("POST", "/git/trees$", status=429, message=limit, headers={"Retry-After": "3600"}, times=9)

    with pytest.raises(Unavailable, match=r"try again in 3600 s") as error:
        publish([entry()], GitHubTarget(client, Address(BOARD)), "pull-request")

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


def test_a_lost_answer_to_who_am_i_is_asked_for_again(github: GitHubServer) -> None:
    github.state.order("POST", "/graphql", status=502)
    github.state.order("POST", "/graphql", drop=True)

    assert publish_to(github, entry()) == "nothing is proposed yet"
    assert len(requests(github)) == 1


def test_without_a_token_nothing_is_tried(github: GitHubServer) -> None:
    with pytest.raises(CallError, match="publishing to GitHub needs a token; set GITHUB_TOKEN"):
        target(github, token="").check()
    assert github.state.requests == []


def test_the_board_is_rebuilt_from_the_entries_on_main(github: GitHubServer) -> None:
    entries = [entry(), entry("acme/bolt-1b", (90, 90, 90))]
    for one in entries:
        publish_to(github, one, "commit")

    assert rebuild_board(target(github), tiny()) is True
    assert rebuild_board(target(github), tiny()) is False

    table = board(github).git.read("main", "leaderboard.csv").decode().splitlines()
    assert len(table) == 3
    assert "acme/bolt-1b" in table[1]
    assert {one.key for one in target(github).read_entries()} == {one.key for one in entries}
    assert make_board(target(github).read_entries(), tiny()).rank_of(entries[1].key) == 1


@pytest.mark.parametrize(
    ("key", "branch"),
    [
        ("acme__atlas/0f3c-bfloat16", "leaderboard-bot/acme__atlas/0f3c-bfloat16"),
        ("a..b/0f3c", None),
        (".git/0f3c", None),
        ("a/0f3c.lock", None),
        ("a b", None),
        ("", None),
    ],
)
def test_a_branch_follows_from_the_key_even_where_git_refuses_it(key: str, branch: str | None) -> None:
    name = branch_name(Mark("entry", key, "tiny"))

    assert name == branch or (branch is None and name.startswith("leaderboard-bot/key-"))


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


def _try(call: Callable[[], object]) -> None:
    try:
        call()
    except BotError:
        return


def test_the_reason_of_a_closing_stands_once_though_the_answer_was_lost(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    board(github).git.push("heads/main", {one.path: one.to_bytes()})
    github.state.order("PATCH", "/pulls/1$", status=502, landed=True)

    publish_to(github, one)
    publish_to(github, one)

    assert requests(github, "closed")[0].body.count("What this request proposes stands") == 1


def test_a_note_of_two_runs_keeps_the_older_one(github: GitHubServer) -> None:
    mark = Mark("verdict", "a.json", "tiny")
    number = github.state.open_pull(BOARD, "topic").number
    texts = [Text("t", f"verdict {index}\n\n{mark.render()}") for index in range(2)]
    github.state.order(
        "POST",
        "/comments$",
        status=0,
        before=lambda: github.state.comment(BOARD, number, texts[0].body, "leaderboard-bot"),
    )

    target(github, "comment", number=number).carry_out(PostNote(mark, texts[1]))

    (kept,) = ours(github)
    assert kept.body == texts[1].body
    assert all(first < second for first, second in pairwise(sorted(board(github).comments)))
