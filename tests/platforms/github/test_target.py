"""Rows are published to a local GitHub: one request or comment for each, however often it is run."""

from __future__ import annotations

import pytest

from bot.errors import BotError, LeaseLost, Refused, Unwritable
from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.platforms.github.source import MOST_FILES
from bot.platforms.github.target import GitHubTarget, branch_name
from bot.platforms.net import checked_lease
from bot.publishing.board import make_board
from bot.publishing.publication import (
    MOST_CLOSED,
    CloseRequest,
    Commit,
    Form,
    Marker,
    OpenRequest,
    PostText,
    entry_marker,
    file_marks,
    find_marker,
    rolling_mark,
)
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import rebuild_board
from tests.evaluation.judging import entry_from
from tests.platforms.github.entries import entry, tiny
from tests.platforms.github.fixtures import BOARD, github
from tests.platforms.github.publishing import board, ours, proposed, publish_to, requests, target
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.results import TINY, path_of, result

__all__ = ["github"]


def test_a_row_becomes_one_request_on_the_branch_of_its_key(github: GitHubServer) -> None:
    one = entry()

    done = publish([one], target(github), "pull-request")

    (request,) = requests(github)
    assert done[0].where == f"{github.url}/{BOARD}/pull/1"
    assert request.head == f"leaderboard-bot/{one.key}"
    assert request.title == "Add acme/atlas-7b (bfloat16): 58.33"
    assert find_marker(request.body) == entry_marker(one)
    assert proposed(github, 1) == {one.path: one.to_bytes()}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("pull-request", "the open request proposes it already"),
        ("commit", "the main branch has it already"),
        ("comment", "the comment shows it already"),
    ],
)
def test_ten_times_is_as_good_as_once_and_writes_once(github: GitHubServer, form: Form, why: str) -> None:
    publish_to(github, entry(), form)
    writes = github.state.writes()

    assert [publish_to(github, entry(), form) for _ in range(10)] == [why] * 10
    assert github.state.writes() == writes
    assert len(requests(github)) == (form == "pull-request")
    assert len(ours(github)) == (form == "comment")


def test_the_rows_of_a_board_are_those_of_its_own_requests(github: GitHubServer) -> None:
    other = entry_from(result(), parse_leaderboard(TINY, "small", "small.toml"), path_of())
    publish_to(github, entry())
    publish_to(github, other)

    assert target(github).read_keys("tiny") == {entry().key}
    assert target(github).read_keys("small") == {other.key}


def test_nothing_is_written_without_the_lease(github: GitHubServer) -> None:
    def lost() -> None:
        raise LeaseLost

    with checked_lease(lost), pytest.raises(LeaseLost):
        publish_to(github, entry())
    assert github.state.writes() == 0


@pytest.mark.slow
def test_a_request_of_more_files_than_github_lists_is_read_whole(github: GitHubServer) -> None:
    """The next row is added to what is proposed: what is not listed would be taken out of the request."""
    board(github).git.push("heads/main", {"entries/tiny/0.json": b"0", "entries/tiny/1.json": b"1"})
    files = {f"entries/tiny/{number}.json": b"%d\n" % number for number in range(1, MOST_FILES + 100)}
    mark = rolling_mark("tiny")
    changed: dict[str, bytes | None] = {**files, "entries/tiny/0.json": None}
    target(github).apply(OpenRequest(mark, PostText("Add rows", mark.render()), changed))
    board(github).git.push("heads/main", {"README.md": b"changed"})

    found = target(github).read_state(mark, ())
    assert found.request is not None
    assert found.request.files == changed


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


def test_what_others_push_to_a_request_stays_in_it(github: GitHubServer) -> None:
    publish_to(github, entry())
    git, (request,) = board(github).git, requests(github)
    for path in (entry().path, "notes.md"):
        git.push(f"heads/{request.head}", {path: b"{}"})
    newer = entry(right=(60, 60, 70), time="20")

    assert publish_to(github, entry()) == "the open request is updated"
    git.push("heads/main", {"README.md": b"changed"})
    assert publish_to(github, newer) == "the open request is updated"
    assert publish_to(github, newer) == "the open request proposes it already"
    assert proposed(github, 1) == {"notes.md": b"{}", newer.path: newer.to_bytes()}


def test_a_request_that_was_merged_is_followed_by_a_new_one(github: GitHubServer) -> None:
    publish_to(github, entry())
    github.state.merge(BOARD, 1)
    newer = entry(right=(60, 60, 70), time="20")

    assert publish_to(github, entry()) == "the main branch has it already"
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

    assert publish_to(github, entry()) == "a person closed the request with the same content"
    publish_to(github, entry(right=(60, 60, 70), time="20"))

    assert [request.number for request in requests(github)] == [2]


def test_a_closed_request_stays_a_no_after_another_was_closed_and_while_one_is_open(github: GitHubServer) -> None:
    rows = [entry(), entry(right=(60, 60, 70), time="20"), entry(right=(70, 60, 70), time="21")]
    for number, row in enumerate(rows[:2], 1):
        publish_to(github, row)
        github.state.close(BOARD, number)

    assert [publish_to(github, row) for row in rows[:2]] == ["a person closed the request with the same content"] * 2
    publish_to(github, rows[2])
    state = target(github).read_state(entry_marker(rows[0]), (rows[0].path,))
    marks = [file_marks({row.path: row.to_bytes()}) for row in reversed(rows[:2])]
    assert [one.rows for one in state.declined] == marks


@pytest.mark.slow
def test_more_closed_requests_than_are_read_cost_nothing_more(github: GitHubServer) -> None:
    asked = []
    for number in range(1, MOST_CLOSED + 3):
        publish_to(github, entry(right=(number, 60, 70)))
        github.state.close(BOARD, number)
        if number >= MOST_CLOSED:
            before = github.state.count("GET")
            state = target(github).read_state(entry_marker(entry()), (entry().path,))
            asked.append(github.state.count("GET") - before)
            newest = entry(right=(number, 60, 70))
            assert len(state.declined) == MOST_CLOSED
            assert state.declined[0].rows == file_marks({newest.path: newest.to_bytes()})
    assert len(set(asked)) == 1


def test_a_request_of_ours_that_has_nothing_left_to_say_is_closed_with_a_reason(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    board(github).git.push("heads/main", {one.path: one.to_bytes()})

    assert publish_to(github, one) == "the request is closed"

    (request,) = requests(github, "closed")
    assert request.body.startswith("The main branch already has what this request proposes.\n\n")
    assert f"heads/{request.head}" not in board(github).git.refs


def test_a_request_that_we_closed_may_be_made_again(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one)
    there = target(github).read_state(entry_marker(one), (one.path,)).request
    assert there is not None
    target(github).apply(CloseRequest(entry_marker(one), there, "The submission was withdrawn."))

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

    assert publish_to(github, entry(), "comment") == "the comment shows it already"
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


def test_the_board_is_rebuilt_from_the_entries_on_main(github: GitHubServer) -> None:
    entries = [entry(), entry("acme/bolt-1b", (90, 90, 90))]
    for one in entries:
        publish_to(github, one, "commit")
    board(github).git.push("heads/main", {"entries/foreign.json": b"[]"})

    assert list(target(github).scan_entries().skipped) == ["entries/foreign.json"]
    assert rebuild_board(target(github), tiny()) is True
    assert rebuild_board(target(github), tiny()) is False

    table = board(github).git.read("main", "leaderboard.csv").decode().splitlines()
    assert len(table) == 3
    assert "acme/bolt-1b" in table[1]
    assert {one.key for one in target(github).scan_entries().entries} == {one.key for one in entries}
    ranked = make_board(target(github).scan_entries().entries, tiny()).rows
    assert {row.entry.key: row.rank for row in ranked}[entries[1].key] == 1


def test_a_parquet_file_of_somebody_else_is_not_overwritten(github: GitHubServer) -> None:
    publish_to(github, entry(), "commit")
    board(github).git.push("heads/main", {"leaderboard.parquet": b"PAR1 of another tool PAR1"})

    with pytest.raises(Unwritable, match=r"^leaderboard\.parquet was not made by leaderboard-bot, .*; rename it$"):
        rebuild_board(target(github), tiny())
    assert board(github).git.read("main", "leaderboard.parquet") == b"PAR1 of another tool PAR1"


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
    name = branch_name(Marker("entry", key, "tiny"))

    assert name == branch or (branch is None and name.startswith("leaderboard-bot/key-"))


@pytest.mark.parametrize("form", ["pull-request", "commit", "comment"])
def test_an_empty_repository_is_named_with_what_to_do(github: GitHubServer, form: Form) -> None:
    github.state.add_repo("acme/new")
    client = GitHubClient("bot-token", github.url)

    with pytest.raises(Refused, match=r"acme/new.*is empty: make a first commit in it") as error:
        publish([entry()], GitHubTarget(client, GitHubAddress("acme/new"), form), form)
    assert "\n" not in str(error.value)
    assert github.state.writes() == 0


def test_a_row_is_withdrawn_from_a_repository_with_more_files_than_one_answer_lists(github: GitHubServer) -> None:
    one = entry()
    publish_to(github, one, "commit")
    git = board(github).git
    git.push("heads/main", {f"a{number}.txt": b"" for number in range(20)})
    git.most_listed = 10

    gone = {one.path: None, "entries/not-there.json": None}
    target(github, "commit").apply(Commit(entry_marker(one), PostText("Remove", "gone"), gone))

    assert one.path not in git.files(git.refs["heads/main"])


def test_a_comment_says_whether_it_was_edited(github: GitHubServer) -> None:
    publish_to(github, entry())
    github.state.comment(BOARD, 1, "/merge")
    later = github.state.comment(BOARD, 1, "looks fine")
    later.body, later.updated = "/merge", github.state.tick()

    conversation = target(github).conversation("1")
    assert conversation is not None
    assert [(one.text, one.edited) for one in conversation.comments] == [("/merge", False), ("/merge", True)]


def test_an_opening_text_that_holds_a_command_says_whether_it_was_edited(github: GitHubServer) -> None:
    place = GitHubAddress(BOARD)
    client = GitHubClient("bot-token", github.url)
    talk = GitHubDiscussions(RequestSource(client, place))
    posted = github.state.add_issue(board(github), Issue(0, "ann", "Please", "/ignore drop", "open"))
    changed = github.state.add_issue(board(github), Issue(0, "ann", "Please", "/ignore drop", "open"))
    changed.edited = github.state.tick()

    assert [talk.read(one.number).comments[0].edited for one in (posted, changed)] == [False, True]
