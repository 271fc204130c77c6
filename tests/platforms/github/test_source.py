"""Files are read from a local GitHub through its API: changes of a push, files of a pull request, limits."""

from __future__ import annotations

import json

import pytest

from bot.errors import CallError, Gone, Refused, Unavailable
from bot.platforms.github.address import GitHubAddress, parse_address
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.source import GitHubSource
from bot.platforms.source import Change, TooLarge
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_git import blob_id
from tests.world.github_server import GitHubServer

__all__ = ["github"]

MEGABYTE = 1_048_576


def source(server: GitHubServer, token: str | None = "bot-token") -> GitHubSource:
    return GitHubSource(GitHubClient(token, server.url), GitHubAddress(BOARD))


def read_folder(board: GitHubSource, limit: int) -> dict[str, bytes]:
    found = board.folder("entries", board.head())
    return board.contents({item.path: item.oid or "" for item in found}, limit=limit)


def test_a_push_lists_what_it_added_changed_and_removed(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    old = git.push("heads/main", {"a.json": b"1", "b.json": b"1", "same.json": b"1"})
    new = git.push("heads/main", {"a.json": b"2", "b.json": None, "dir/ü c.json": b"3"})
    board = source(github)

    assert board.head() == new
    assert set(board.changes(old, new)) == {
        Change("a.json", blob_id(b"2"), 1),
        Change("b.json", None, 0),
        Change("dir/ü c.json", blob_id(b"3"), 1),
    }
    assert board.read("dir/ü c.json", new, 10) == b"3"
    assert board.read("b.json", old, 10) == b"1"
    assert board.read("b.json", new, 10) is None
    assert board.read("dir", new, 10) is None


def test_without_an_old_commit_every_file_is_new(github: GitHubServer) -> None:
    new = github.state.repos[BOARD].git.push("heads/main", {"a/b.json": b"12"})
    expected = {"README.md", "a/b.json"}

    assert {change.path for change in source(github).changes(None, new)} == expected
    assert {change.path for change in source(github).changes("0" * 40, new)} == expected


@pytest.mark.parametrize("path", ["../../../user", "a/../../b", "", ".", "a//b"])
def test_a_path_that_walks_up_is_not_asked_for(github: GitHubServer, path: str) -> None:
    assert source(github).read(path, "main", 10) is None
    assert github.state.requests == []


def test_a_file_past_the_limit_is_refused_and_one_past_a_megabyte_is_read(github: GitHubServer) -> None:
    commit = github.state.repos[BOARD].git.push("heads/main", {"big.json": b"x" * (MEGABYTE + 1)})

    assert len(source(github).read("big.json", commit, 2 * MEGABYTE) or b"") == MEGABYTE + 1
    with pytest.raises(TooLarge, match="more than 1,048,576 bytes"):
        source(github).read("big.json", commit, MEGABYTE)


def proposed(server: GitHubServer, files: dict[str, bytes | None]) -> int:
    server.state.add_fork("bob/leaderboard", BOARD)
    server.state.repos["bob/leaderboard"].git.push("heads/results", files)
    return server.state.open_pull(BOARD, "results", fork="bob/leaderboard", author="bob").number


@pytest.mark.parametrize("token", ["bot-token", None])
def test_the_files_of_a_fork_are_read_at_the_head_of_its_request(github: GitHubServer, token: str | None) -> None:
    number = proposed(github, {"results/a.json": b"{}", "README.md": None})
    head = github.state.repos["bob/leaderboard"].git.refs["heads/results"]

    found = source(github, token).read_proposal(number)

    assert (found.head, found.base) == (head, "main")
    assert found.files == (Change("README.md", None, 0), Change("results/a.json", blob_id(b"{}"), 0))
    assert source(github, token).read_content(found.files[1].oid or "", 10) == b"{}"
    assert source(github, token).find_proposal("bob", "results", head) == number
    assert source(github, token).find_proposal("bob", "results", "0" * 40) is None


def test_a_push_between_two_calls_never_passes_as_the_old_head(github: GitHubServer) -> None:
    number = proposed(github, {"results/a.json": b"old"})
    fork = github.state.repos["bob/leaderboard"].git
    github.state.order("GET", "/files", status=0, before=lambda: fork.push("heads/results", {"results/a.json": b"new"}))

    found = source(github).read_proposal(number)

    assert found.head == fork.refs["heads/results"]
    assert found.files == (Change("results/a.json", blob_id(b"new"), 0),)


@pytest.mark.slow
def test_of_a_request_with_more_files_than_github_lists_the_trees_are_compared(github: GitHubServer) -> None:
    number = proposed(github, {f"results/{index:04}.json": b"{}" for index in range(3001)})
    board = github.state.repos["acme/leaderboard"].git
    board.push("heads/main", {"results/of-main.json": b"{}"})

    files = source(github).read_proposal(number).files

    assert [file.path for file in files if file.oid] == [f"results/{index:04}.json" for index in range(3001)]
    assert [file.path for file in files if not file.oid] == []


def test_a_request_that_is_not_there_says_so(github: GitHubServer) -> None:
    with pytest.raises(Gone, match="it is not there, or the token may not see it"):
        source(github).read_proposal(7)


def test_many_files_come_a_hundred_to_a_question_and_only_once(github: GitHubServer) -> None:
    files = {f"entries/{index}.json": b"%d" % index for index in range(250)}
    odd = {"entries/binary": b"\xff\0", "entries/long": b"x" * 600_000, "entries/empty": b""}
    github.state.repos[BOARD].git.push("heads/main", files | odd)
    board = source(github)

    assert read_folder(board, MEGABYTE) == files | odd
    assert (github.state.count("POST", "/graphql"), github.state.count("GET", "/git/blobs/")) == (3, 2)
    assert read_folder(board, MEGABYTE) == files | odd
    assert (github.state.count("POST", "/graphql"), github.state.count("GET", "/git/blobs/")) == (3, 2)


@pytest.mark.parametrize("token", ["bot-token", None])
def test_without_graphql_they_come_one_by_one(github: GitHubServer, token: str | None) -> None:
    files = {f"entries/{index}.json": b"%d" % index for index in range(5)}
    github.state.repos[BOARD].git.push("heads/main", files)
    github.state.order("POST", "/graphql", status=400, message="no such thing", times=9)

    assert read_folder(source(github, token), 10) == files


def test_the_commit_that_last_touched_a_file_is_named(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    first = git.push("heads/main", {"a.json": b"1"})
    second = git.push("heads/main", {"b.json": b"1"})

    touched = source(github).touched(["a.json", "b.json"], second)

    assert {path: last.oid for path, last in touched.items()} == {"a.json": first, "b.json": second}
    assert all(last.date for last in touched.values())


def test_a_download_survives_one_bad_answer_and_gives_up_after_four(github: GitHubServer) -> None:
    commit = github.state.repos[BOARD].git.push("heads/main", {"a.json": b"1"})
    github.state.order("GET", "/git/blobs/", status=502)
    github.state.order("GET", "/git/blobs/", drop=True)
    assert source(github).read("a.json", commit, 10) == b"1"

    github.state.order("GET", "/git/blobs/", drop=True, times=4)
    with pytest.raises(Unavailable, match="the connection broke off"):
        source(github).read("a.json", commit, 10)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("github://acme/board", GitHubAddress("acme/board")),
        ("github://acme/my.board_2", GitHubAddress("acme/my.board_2")),
        ("github://acme/board#7", GitHubAddress("acme/board", 7)),
        ("github://ann_acme/board", GitHubAddress("ann_acme/board")),  # an account that an enterprise manages
    ],
)
def test_an_address_is_taken_apart(text: str, address: GitHubAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "github://acme",
        "github://acme/..",
        "github://../user",
        "github://a/b/c",
        "github://a/b#0",
        "github://a/b?x",
        "a/b",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(CallError, match="expected github://owner/name"):
        parse_address(text)


def test_bytes_that_are_not_those_of_the_object_are_asked_for_again(github: GitHubServer) -> None:
    commit = github.state.repos[BOARD].git.push("heads/main", {"a.json": b"{}"})
    fault = github.state.order("GET", "/git/blobs/", status=200, body=b"<html>Unicorn!</html>", times=1)

    assert source(github).read("a.json", commit, 100, blob_id(b"{}")) == b"{}"
    fault.times = 99
    with pytest.raises(Unavailable, match=r"github://acme/leaderboard object 9e26dfeeb6e6: 21 bytes arrived"):
        source(github).read("a.json", commit, 100)


def test_changes_follow_the_folders_that_changed(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    old = git.push("heads/main", {f"org{n}/model/r.json": b"%d" % n for n in range(40)} | {"x": b"1", "y/z": b"2"})
    new = git.push("heads/main", {"org3/model/r.json": b"new", "x": None, "x/a.json": b"3", "y/z": None})
    board = source(github)

    found = {change.path: change.oid for change in board.changes(old, new)}

    expected = {"org3/model/r.json": blob_id(b"new"), "x": None, "x/a.json": blob_id(b"3"), "y/z": None}
    assert found == expected
    assert github.state.count("GET", "/git/trees/") == 8
    assert {change.path: change.oid for change in board.changes(old, new)} == expected
    assert github.state.count("GET", "/git/trees/") == 8  # what an id names is not asked for again


def test_folders_that_hold_each_other_many_times_over_end(github: GitHubServer) -> None:
    git, files = github.state.repos[BOARD].git, {"x.json": b"1"}
    old = git.push("heads/main", {"y.json": b"1"})
    for _ in range(9):
        files = {f"{folder}/{path}": data for path, data in files.items() for folder in "ab"}
    new = git.push("heads/main", dict(files))
    board = source(github)
    board.most_listings = 200

    with pytest.raises(Refused, match="more than 200 folders differ"):
        list(board.changes(old, new))
    assert github.state.count("GET", "/git/trees/") < 15  # there are ten folders, and each is asked for once


def test_a_file_below_very_many_folders_is_found_in_few_requests(github: GitHubServer) -> None:
    """One path of 1,000 folders ended each later pass, as if GitHub could not be reached."""
    git, deep = github.state.repos[BOARD].git, "a/" * 1_500
    old = git.push("heads/main", {"y.json": b"1"})
    for data in (b"1", b"2"):
        new = git.push("heads/main", {f"{deep}x.json": data})
        [change] = source(github).changes(old, new)
        assert change.path.endswith("a/a/x.json")
        old = new
    assert github.state.count("GET", "/git/trees/") < 50


def test_links_and_submodules_are_no_files(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    git.links.add(git.add_blob(b"a.json"))
    module = git.add_commit(git.add_tree({}), (), "of another repository", "ann").sha
    git.modules.add(module)
    old = git.push("heads/main", {"a.json": b"1", "b.json": b"2"})
    files = git.files(old) | {"latest.json": git.add_blob(b"a.json"), "b.json": git.add_blob(b"a.json"), "sub": module}
    new = git.add_commit(git.add_tree(files), (old,), "Link", "ann").sha

    assert set(source(github).changes(old, new)) == {Change("b.json", None, 0)}
    assert {change.path for change in source(github).changes(None, new)} == {"README.md", "a.json"}


def test_a_repository_without_a_commit_is_said_to_be_empty(github: GitHubServer) -> None:
    github.state.add_repo("acme/new")
    client = GitHubClient("bot-token", github.url)

    with pytest.raises(Gone, match=r"acme/new.*is empty: make a first commit in it, for example a README"):
        GitHubSource(client, GitHubAddress("acme/new")).head()


def test_an_empty_listing_of_a_tree_that_is_not_empty_is_an_outage(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    old = git.push("heads/main", {"a.json": b"1"})
    new = git.push("heads/main", {"a.json": b"2"})
    body = json.dumps({"sha": new, "tree": [], "truncated": False}).encode()
    github.state.order("GET", f"/git/trees/{new}", status=200, body=body, times=9)

    with pytest.raises(Unavailable, match="is empty, but its tree is not"):
        list(source(github).changes(old, new))


def test_a_repository_on_github_that_really_is_empty_lists_nothing(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    new = git.push("heads/main", {"README.md": None})

    assert list(source(github).changes(None, new)) == []
