"""Boards on GitHub whose default branch has another name, is protected, or holds pointers of Git LFS."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import NoWriteAccess
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.source import GitHubSource
from bot.publishing.publication import Form
from tests.platforms.git.publisher import entry
from tests.platforms.github.fixtures import BOARD, github
from tests.platforms.github.publishing import board, publish_to, requests
from tests.service.github_stories import SOURCE, TARGET, GitHubStory
from tests.world.github_server import GitHubServer
from tests.world.results import path_of, result

__all__ = ["github"]
FILE = f"entries/{entry().key}.json"


@pytest.mark.parametrize("branch", ["master", "trunk", "release/1.0"])
@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_the_default_branch_may_have_any_name(github: GitHubServer, form: Form, branch: str) -> None:
    github.state.rename_main(BOARD, branch)

    publish_to(github, entry(), form)
    if form == "pull-request":
        [request] = requests(github)
        assert request.base == branch
        github.state.merge(BOARD, request.number)

    git = board(github).git
    assert FILE in git.files(git.refs[f"heads/{branch}"])
    assert "heads/main" not in git.refs
    writes = github.state.writes()
    publish_to(github, entry(), form)
    assert github.state.writes() == writes


def test_a_source_is_read_at_its_default_branch(github: GitHubServer) -> None:
    github.state.rename_main(BOARD, "trunk")
    source = GitHubSource(GitHubClient("bot-token", github.url), GitHubAddress(BOARD))

    head = source.head()
    assert [change.path for change in source.changes(None, head)] == ["README.md"]
    assert source.read("README.md", head, 100) == b"# Leaderboard\n"


RULES = (
    "Repository rule violations found\n\nChanges must be made through a pull request.\n\n",
    "At least 1 approving review is required by reviewers with write access.",
    "Protected branch update failed for refs/heads/main.",
    'Required status check "tests" is expected.',
)


@pytest.mark.parametrize("rule", RULES)
def test_a_protected_branch_is_named_with_what_to_do(github: GitHubServer, rule: str) -> None:
    github.state.order("PATCH", "/git/refs/heads", status=422, message=rule, times=99)

    with pytest.raises(NoWriteAccess, match='publish with `as = "pull-request"`, or let the bot pass the rule'):
        publish_to(github, entry(), "commit")
    assert FILE not in board(github).git.files(board(github).git.refs["heads/main"])


OWN_WORDS = (
    (422, "Repository rule violations found\n\nCommits must have verified signatures.\n\n"),
    (403, "Resource protected by organization SAML enforcement. You must grant your token access to it."),
    (403, "The `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this."),
    (403, "`acme` forbids access via a token if the token's lifetime is greater than 366 days."),
)


@pytest.mark.parametrize(("status", "rule"), OWN_WORDS)
def test_a_rule_that_says_what_it_wants_has_no_advice_of_ours(github: GitHubServer, status: int, rule: str) -> None:
    github.state.order("PATCH", "/git/refs/heads", status=status, message=rule, times=99)

    with pytest.raises(NoWriteAccess) as refusal:
        publish_to(github, entry(), "commit")
    assert str(refusal.value).endswith(" ".join(rule.split()).rstrip("."))


def test_a_rule_about_new_branches_says_which_are_meant(github: GitHubServer) -> None:
    rule = "Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n"
    github.state.order("POST", "/git/refs", status=422, message=rule, times=99)

    with pytest.raises(NoWriteAccess, match=r"or leave out of it the branches leaderboard-bot/\*"):
        publish_to(github, entry(), "pull-request")


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 70000\n"


def test_a_pointer_at_the_source_is_named_and_stops_no_other_file(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    pointed, whole = path_of("acme/borea-1b"), path_of()
    story.source.git.push("heads/main", {pointed: POINTER, whole: result()})

    story.settle()
    assert len(story.target.pulls("open")) == 1
    [unread] = [one for part in story.state.submissions.all(size=9) for one in part if one.path == pointed]
    assert "Git LFS" in repr(unread.content)
    story.end()


@pytest.mark.slow
def test_a_pointer_among_the_entries_of_a_target_is_nobodys_row(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    story.target.git.push("heads/main", {"entries/tiny/acme/borea-1b/x-bfloat16.json": POINTER})
    story.source.git.push("heads/main", {path_of(): result()})

    story.settle()
    [request] = story.target.pulls("open")
    github.state.merge(TARGET, request.number)
    story.settle()
    story.end()
    assert story.target.git.read("heads/main", "entries/tiny/acme/borea-1b/x-bfloat16.json") == POINTER


def test_a_watch_settles_between_default_branches_of_any_name(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    for name, branch in ((SOURCE, "master"), (TARGET, "trunk")):
        github.state.rename_main(name, branch)
    story.source.git.push("heads/master", {path_of(): result()})

    story.settle()
    [request] = story.target.pulls("open")
    github.state.merge(TARGET, request.number)
    story.end()
    assert [
        path for path in story.target.git.files(story.target.git.refs["heads/trunk"]) if path.startswith("entries/")
    ]


@pytest.mark.slow
def test_what_people_closed_stays_closed_when_the_default_branch_gets_another_name(
    github: GitHubServer, tmp_path: Path
) -> None:
    story = GitHubStory(github, tmp_path)
    story.source.git.push("heads/main", {path_of(model): result(model) for model in ("acme/borea-1b", "acme/ceres-7b")})
    story.settle()
    closed, stays = story.target.pulls("open")
    github.state.close(TARGET, closed.number)
    story.settle()
    github.state.rename_main(TARGET, "trunk")
    story.end()
    assert story.target.pulls("open") == [stays]


def test_the_board_of_a_protected_branch_rides_in_a_request(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path)
    github.state.order("PATCH", "/git/refs/heads/main", status=422, message=RULES[0], times=999)
    story.source.git.push("heads/main", {path_of(): result()})

    story.settle()
    [request] = story.target.pulls("open")
    github.state.merge(TARGET, request.number)
    outcomes = story.settle()
    [request] = story.target.pulls("open")
    assert "failed" not in {one.outcome for one in outcomes}
    assert "leaderboard.csv" in story.target.git.files(story.target.git.refs[f"heads/{request.head}"])
    github.state.merge(TARGET, request.number)
    story.end()
    assert "leaderboard.csv" in story.target.git.files(story.target.git.refs["heads/main"])
