"""What the tests of the Action share: a runner, events, files to propose and push, what is expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.publishing.publication import find_marker
from tests.platforms.github.fixtures import BOARD
from tests.world.github_runner import HereRunner, Runner
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result
from tests.world.server import served

GOOD = path_of()


BAD = path_of("acme/bolt-1b")


AVERAGE = "58.33333333333333"


DECLARED = {"leaderboard": "tiny.toml"}


NONE = {"verdict": "none", "accepted": "0", "incomplete": "0", "rejected": "0", "average": "", "pull-request": ""}


FAILED = {
    "verdict": "",
    "accepted": "0",
    "incomplete": "0",
    "rejected": "0",
    "average": "",
    "report": "",
    "pull-request": "",
}


def bad_result() -> bytes:
    data = json.loads(result("acme/bolt-1b"))
    data["results"]["logic"]["acc,none"] = 1.7
    return json.dumps(data, indent=2).encode()


@pytest.fixture(scope="session")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RUNNER_TEMP, shared by all runs: the locked core is installed there once."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def runner(github: GitHubServer, temp: Path, tmp_path: Path) -> Runner:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "tiny.toml").write_text(TINY)
    return Runner(temp, workspace, github.url, BOARD, tmp_path / "scratch")


@pytest.fixture
def here(runner: Runner) -> HereRunner:
    """The same job without processes of its own."""
    return HereRunner(runner.temp, runner.workspace, runner.api_url, runner.repository, runner.scratch)


def propose(server: GitHubServer, files: dict[str, bytes | None], fork: str = "") -> dict[str, Any]:
    """A person proposes files; gives the event of `pull_request`."""
    state = server.state
    if fork:
        state.add_fork(fork, BOARD)
    head = state.repos[fork or BOARD].git.push("heads/results", files)
    number = state.open_pull(BOARD, "results", fork=fork).number
    return {"number": number, "pull_request": {"number": number, "head": {"sha": head, "ref": "results"}}}


def without_report(outputs: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in outputs.items() if name != "report"}


def comments(server: GitHubServer) -> list[str]:
    return [comment.body for comment in server.state.repos[BOARD].comments.values() if find_marker(comment.body)]


def workflow_run(event: dict[str, Any], owner: str) -> dict[str, Any]:
    head = event["pull_request"]["head"]
    run = {"event": "pull_request", "head_sha": head["sha"], "head_branch": head["ref"], "conclusion": "failure"}
    return {"action": "completed", "workflow_run": run | {"head_repository": {"owner": {"login": owner}}}}


def push(server: GitHubServer, files: dict[str, bytes]) -> tuple[dict[str, Any], str]:
    git = server.state.repos[BOARD].git
    before = git.refs["heads/main"]
    after = git.push("heads/main", files)
    return {"ref": "refs/heads/main", "before": before, "after": after}, after


PUBLISH = {"mode": "publish", "to": f"github://{BOARD}", **DECLARED}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with served(Hub()) as hub:
        yield hub
