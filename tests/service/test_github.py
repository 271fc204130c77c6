"""The service settles a watch into targets on a local GitHub, in all three forms; the second time it does nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bot.platforms.github.target import MARKS_ONE_BY_ONE
from bot.publishing.addresses import request_url, target_url
from bot.publishing.publication import find_marker
from bot.service.settings.environment import read_access
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.command import completed
from tests.platforms.github.fixtures import github
from tests.service.github_stories import GitHubStory
from tests.world.github_server import GitHubServer
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

__all__ = ["github"]

LISTINGS = r"/contents/pulls(\?|$)"
FORMS = ["pull-request", "commit", "comment"]
WATCH = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "results"
look_up_commits = true
"""
TARGET = """
[[watches.targets]]
to = "github://acme/{form}"
as = "{form}"
"""
ACCEPTED = """
[[harness.accepted]]
repository = "harness/evaluation"
since = "{since}"
reason = "these measured"

[[tasks]]"""


def settle(folder: Path, server: GitHubServer) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GITHUB_TOKEN": "bot-token",
        "GITHUB_API_URL": server.url,
    }
    return completed("settle", "--config", "bot.toml", cwd=folder, env=environment)


@pytest.mark.slow
def test_a_watch_is_settled_into_github_once(github: GitHubServer, tmp_path: Path) -> None:
    harness = github.state.add_repo("harness/evaluation", {"a": b"0"}).git
    since, measured = harness.refs["heads/main"], harness.push("heads/main", {"a": b"1"})
    boards = {form: github.state.add_repo(f"acme/{form}", {"README.md": b"# Board\n"}) for form in FORMS}
    results = tmp_path / "results" / path_of()
    results.parent.mkdir(parents=True)
    results.write_bytes(result(git_hash=measured))
    git(tmp_path / "results", "init", "-q", "-b", "main")
    git(tmp_path / "results", "add", ".")
    git(tmp_path / "results", "commit", "-qm", "results")
    (tmp_path / "tiny.toml").write_text(TINY.replace("[[tasks]]", ACCEPTED.format(since=since), 1))
    (tmp_path / "bot.toml").write_text(WATCH + "".join(TARGET.format(form=form) for form in FORMS))

    first = settle(tmp_path, github)
    writes = github.state.writes()
    asked = github.state.count("GET", "/repos/harness/")
    second = settle(tmp_path, github)

    assert (first.returncode, second.returncode) == (0, 0), first.stdout + first.stderr
    assert github.state.writes() == writes
    assert len(boards["pull-request"].pulls("open")) == 1
    assert any(
        path.startswith("entries/") for path in boards["commit"].git.files(boards["commit"].git.refs["heads/main"])
    )
    assert [bool(find_marker(comment.body)) for comment in boards["comment"].comments.values()] == [True]
    assert asked > 0
    assert github.state.count("GET", "/repos/harness/") == asked


@pytest.mark.slow
def test_a_request_that_a_person_closed_is_a_declined_row_and_no_error(github: GitHubServer, tmp_path: Path) -> None:
    board = github.state.add_repo("acme/pull-request", {"README.md": b"# Board\n"})
    results = tmp_path / "results" / path_of()
    results.parent.mkdir(parents=True)
    results.write_bytes(result())
    git(tmp_path / "results", "init", "-q", "-b", "main")
    git(tmp_path / "results", "add", ".")
    git(tmp_path / "results", "commit", "-qm", "results")
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bot.toml").write_text(WATCH + TARGET.format(form="pull-request"))
    first = settle(tmp_path, github)
    github.state.close("acme/pull-request", 1)
    second = settle(tmp_path, github)

    assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout + second.stderr
    assert "1 accepted: 0 on main, 0 open, 0 held, 1 declined, 0 unexplained" in second.stdout
    assert board.pulls("open") == []


@pytest.mark.parametrize(
    ("api", "web"),
    [
        ("https://git.acme.example/api/v3/", "https://git.acme.example"),
        ("http://localhost:8080/github/api/v3", "http://localhost:8080/github"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com"),
        ("https://api.github.com", "https://github.com"),
        ("", "https://github.com"),
    ],
)
def test_links_lead_to_the_host_of_the_api(api: str, web: str) -> None:
    read_access({"GITHUB_API_URL": api})
    found = request_url("github://acme/board", "7")
    read_access({})
    assert (found, target_url("github://acme/board")) == (f"{web}/acme/board/pull/7", "https://github.com/acme/board")


def test_answers_are_kept_in_the_store_and_grow_old(tmp_path: Path) -> None:
    store = Store(connect(f"sqlite:///{tmp_path / 'store.db'}"))
    store.set_answer("for ever", "yes", None)
    store.set_answer("for a while", "no", 110.0)
    store.set_answer("for ever", "ahead", None)

    assert [store.answer(one, 100.0) for one in ("for ever", "for a while", "never")] == ["ahead", "no", None]
    again = Store(connect(f"sqlite:///{tmp_path / 'store.db'}"))
    assert [again.answer(one, 111.0) for one in ("for ever", "for a while")] == ["ahead", None]
    store.close()
    again.close()


@pytest.mark.slow
def test_the_requests_of_many_rows_come_in_one_listing(github: GitHubServer, tmp_path: Path) -> None:
    story = GitHubStory(github, tmp_path, limit=100)
    models = [f"acme/m-{n}" for n in range(MARKS_ONE_BY_ONE + 16)]
    story.source.git.push("heads/main", {path_of(model): result(model) for model in models}, "Results", "ann")
    story.settle()
    assert len(story.target.pulls("open")) == len(models)
    seen = github.state.count("GET", LISTINGS)
    story.lose_state()
    story.settle()
    assert github.state.count("GET", LISTINGS) - seen < len(models)
    story.end()
