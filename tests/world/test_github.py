"""The local GitHub answers the real PyGithub as GitHub does, also where it refuses."""

from __future__ import annotations

import socket
import struct
import time

import pytest
from github import GithubException, InputGitTreeElement, UnknownObjectException
from requests.exceptions import ConnectionError as LineClosed

from tests.platforms.github.fixtures import BOARD, client, github
from tests.world.github_server import GitHubServer

__all__ = ["github"]


def refused(error: pytest.ExceptionInfo[GithubException]) -> tuple[int, str]:
    data = error.value.data
    details = [detail.get("message", "") for detail in data.get("errors", [])]
    return error.value.status, " ".join([data["message"], *details])


def test_files_are_listed_and_read_at_a_commit(github: GitHubServer) -> None:
    state, repo = github.state, client(github).get_repo(BOARD)
    first = state.repos[BOARD].git.refs["heads/main"]
    state.repos[BOARD].git.push("heads/main", {"results/a.json": b"{}", "README.md": b"new"})

    assert [item.path for item in repo.get_contents("results")] == ["results/a.json"]
    assert repo.get_contents("README.md", ref=first).decoded_content == b"# Leaderboard\n"
    assert repo.get_contents("README.md").decoded_content == b"new"
    with pytest.raises(UnknownObjectException):
        repo.get_contents("no.json")


def test_a_file_past_a_megabyte_comes_only_as_a_blob(github: GitHubServer) -> None:
    data = b"x" * 1_048_577
    github.state.repos[BOARD].git.push("heads/main", {"big.json": data})
    repo = client(github).get_repo(BOARD)

    contents = repo.get_contents("big.json")

    assert contents.encoding == "none"
    assert repo.get_git_blob(contents.sha).size == len(data)


def test_writing_a_file_over_a_newer_one_is_refused(github: GitHubServer) -> None:
    repo = client(github).get_repo(BOARD)
    made = repo.create_file("a.json", "Add", b"1")["content"]
    repo.update_file("a.json", "Change", b"2", made.sha)

    with pytest.raises(GithubException) as error:
        repo.update_file("a.json", "Change", b"3", made.sha)
    assert refused(error) == (409, f"a.json does not match {made.sha}")
    with pytest.raises(GithubException) as error:
        repo._requester.requestJsonAndCheck(
            "PUT", f"{repo.url}/contents/a.json", input={"message": "m", "content": "MQ=="}
        )
    assert error.value.status == 422


def test_a_commit_is_built_from_blob_tree_and_ref(github: GitHubServer) -> None:
    repo = client(github).get_repo(BOARD)
    head = repo.get_git_ref("heads/main").object.sha
    base = repo.get_git_commit(head)
    tree = repo.create_git_tree([InputGitTreeElement("entries/a.json", "100644", "blob", content="{}\n")], base.tree)
    commit = repo.create_git_commit("Add a", tree, [base])

    ref = repo.create_git_ref("refs/heads/topic", commit.sha)

    assert repo.get_contents("entries/a.json", ref="topic").decoded_content == b"{}\n"
    assert [ref.ref for ref in repo.get_git_matching_refs("heads/to")] == ["refs/heads/topic"]
    with pytest.raises(GithubException) as error:
        repo.create_git_ref("refs/heads/topic", commit.sha)
    assert refused(error) == (422, "Reference already exists")
    ref.edit(head, force=True)
    assert repo.get_git_ref("heads/topic").object.sha == head
    ref.delete()
    with pytest.raises(UnknownObjectException):
        repo.get_git_ref("heads/topic")


def test_a_ref_moves_only_forward_unless_forced(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    repo = client(github).get_repo(BOARD)
    first = git.refs["heads/main"]
    git.push("heads/main", {"a": b"1"})

    with pytest.raises(GithubException) as error:
        repo.get_git_ref("heads/main").edit(first)
    assert refused(error) == (422, "Update is not a fast forward")


def test_a_second_pull_request_for_a_branch_is_refused(github: GitHubServer) -> None:
    github.state.repos[BOARD].git.push("heads/topic", {"a.json": b"{}"})
    repo = client(github).get_repo(BOARD)
    made = repo.create_pull("main", "topic", title="Add a", body="text")

    with pytest.raises(GithubException) as error:
        repo.create_pull("main", "topic", title="Add a", body="text")

    assert refused(error) == (422, "Validation Failed A pull request already exists for acme:topic.")
    assert [pull.number for pull in repo.get_pulls(head="acme:topic")] == [made.number]
    made.edit(state="closed")
    assert list(repo.get_pulls(head="acme:topic")) == []
    assert repo.get_issue(made.number).closed_by.login == "leaderboard-bot"


def test_a_pull_request_without_a_difference_or_a_branch_is_refused(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    git.refs["heads/same"] = git.refs["heads/main"]
    repo = client(github).get_repo(BOARD)

    with pytest.raises(GithubException) as error:
        repo.create_pull("main", "same", title="t", body="")
    assert refused(error) == (422, "Validation Failed No commits between main and same")
    with pytest.raises(GithubException) as error:
        repo.create_pull("main", "gone", title="t", body="")
    assert error.value.status == 422


def test_the_files_of_a_pull_request_are_what_its_branch_changed(github: GitHubServer) -> None:
    state = github.state
    state.add_fork("bob/leaderboard", BOARD)
    fork = state.repos["bob/leaderboard"].git
    fork.push("heads/results", {"results/a.json": b"{}", "README.md": None})
    state.repos[BOARD].git.push("heads/main", {"other.json": b"1"})
    number = state.open_pull(BOARD, "results", fork="bob/leaderboard").number

    files = client(github).get_repo(BOARD).get_pull(number).get_files()

    assert [(file.filename, file.status) for file in files] == [
        ("README.md", "removed"),
        ("results/a.json", "added"),
    ]


@pytest.mark.parametrize("line", [0, 4], ids=["apart", "beside"])
def test_a_pull_request_merges_three_ways_or_not_at_all(github: GitHubServer, line: int) -> None:
    git, repo = github.state.repos[BOARD].git, client(github).get_repo(BOARD)
    lines = [b"a\n", b"b\n", b"c\n", b"d\n"]
    git.push("heads/main", {"t.csv": b"".join(lines)})
    git.push("heads/topic", {"t.csv": b"".join([*lines, b"theirs\n"])})
    pull = repo.create_pull("main", "topic", title="A row", body="")
    git.push("heads/main", {"t.csv": b"".join([*lines[:line], b"ours\n", *lines[line:]])})

    pull.update()
    if line:
        assert (pull.mergeable, pull.mergeable_state) == (False, "dirty")
        with pytest.raises(GithubException) as error:
            pull.merge()
        assert refused(error) == (405, "Pull Request is not mergeable")
        assert git.read("heads/main", "t.csv") == b"a\nb\nc\nd\nours\n"
    else:
        assert (pull.mergeable, pull.mergeable_state) == (True, "clean")
        assert pull.merge().merged
        assert git.read("heads/main", "t.csv") == b"ours\na\nb\nc\nd\ntheirs\n"


def test_comments_come_in_pages(github: GitHubServer) -> None:
    number = github.state.open_pull(BOARD, "topic").number
    for index in range(65):
        github.state.comment(BOARD, number, f"comment {index}")
    issue = client(github).get_repo(BOARD).get_issue(number)

    assert [comment.body for comment in issue.get_comments()] == [f"comment {i}" for i in range(65)]
    assert github.state.count("GET", "/comments") == 3
    issue.create_comment("mine").edit("mine, edited")
    assert [c.body for c in issue.get_comments() if c.user.login == "leaderboard-bot"] == ["mine, edited"]


def test_a_text_past_the_limit_is_refused(github: GitHubServer) -> None:
    repo = client(github).get_repo(BOARD)

    with pytest.raises(GithubException) as error:
        repo.create_issue("t", body="x" * 65_537)
    assert error.value.status == 422
    assert repo.create_issue("t", body="x" * 65_536).number == 1


@pytest.mark.parametrize(
    ("between", "status"),
    [("behind", "behind"), ("ahead", "ahead"), ("same", "identical"), ("fork", "diverged")],
)
def test_compare_tells_ancestry(github: GitHubServer, between: str, status: str) -> None:
    git = github.state.repos[BOARD].git
    first = git.refs["heads/main"]
    second = git.push("heads/main", {"a": b"1"})
    git.refs["heads/side"] = first
    side = git.push("heads/side", {"b": b"1"})
    base, head = {
        "behind": (second, first),
        "ahead": (first, second),
        "same": (first, first),
        "fork": (second, side),
    }[between]

    comparison = client(github).get_repo(BOARD).compare(base, head)

    assert comparison.status == status
    assert comparison.merge_base_commit.sha == first


def test_an_unknown_commit_is_422_and_a_short_one_is_found(github: GitHubServer) -> None:
    repo = client(github).get_repo(BOARD)
    head = github.state.repos[BOARD].git.refs["heads/main"]

    assert repo.get_commit(head[:9]).sha == head
    with pytest.raises(GithubException) as error:
        repo.get_commit("0123456789")
    assert refused(error) == (422, "No commit found for SHA: 0123456789")


def test_a_bad_token_is_401_and_a_weak_one_403(github: GitHubServer) -> None:
    with pytest.raises(GithubException) as error:
        client(github, "wrong").get_repo(BOARD)
    assert refused(error) == (401, "Bad credentials")
    with pytest.raises(GithubException) as error:
        client(github, "read-token").get_repo(BOARD).create_issue("t")
    assert refused(error) == (403, "Resource not accessible by integration")
    with pytest.raises(GithubException) as error:
        client(github, None).get_repo(BOARD).create_issue("t")
    assert error.value.status == 401


def test_an_app_is_asked_by_graphql_who_it_is(github: GitHubServer) -> None:
    app = client(github, "app-token")

    with pytest.raises(GithubException) as error:
        _ = app.get_user().login
    assert error.value.status == 403
    _, data = app.requester.graphql_query("{ viewer { login } }", {})
    assert data["data"]["viewer"]["login"] == "github-actions[bot]"


def test_without_a_token_sixty_requests_are_answered(github: GitHubServer) -> None:
    github.state.anonymous_left = 1
    anonymous = client(github, None)
    anonymous.get_repo(BOARD)

    with pytest.raises(GithubException) as error:
        anonymous.get_repo(BOARD)
    assert (error.value.status, error.value.headers["x-ratelimit-remaining"]) == (403, "0")


def test_faults_come_on_order_and_may_land(github: GitHubServer) -> None:
    repo = client(github).get_repo(BOARD)
    limit = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    github.state.order("POST", "/issues$", status=403, message=limit, headers={"Retry-After": "1"})
    with pytest.raises(GithubException) as error:
        repo.create_issue("never")
    assert (error.value.status, error.value.headers["retry-after"]) == (403, "1")

    github.state.order("POST", "/issues$", status=502, landed=True)
    with pytest.raises(GithubException) as error:
        repo.create_issue("landed")
    assert error.value.status == 502

    github.state.order("GET", "/issues/1$", drop=True)
    with pytest.raises(LineClosed):
        repo.get_issue(1)
    assert repo.get_issue(1).title == "landed"


def test_a_client_that_is_killed_is_no_error_of_the_server(
    github: GitHubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """A connection that is reset in the middle of a request prints no traceback; a fault of the server does."""
    for _ in range(3):
        client = socket.create_connection(github.http.server_address[:2])
        client.sendall(b"GET /user HTTP/1.1\r\nContent-Le")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its end is a reset
        client.close()
    github.state.requests = None  # type: ignore[assignment]
    with socket.create_connection(github.http.server_address[:2]) as client:
        client.sendall(b"GET /user HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(100) == b""
    said, end = "", time.monotonic() + 30
    while "AttributeError" not in said and time.monotonic() < end:
        time.sleep(0.05)
        said += capfd.readouterr().err
    assert "AttributeError" in said
    assert "ConnectionResetError" not in said
