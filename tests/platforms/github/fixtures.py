"""What the GitHub tests share: a local GitHub with one repository, and the real client that talks to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from github import Auth, Github

from tests.world.fixtures import is_direct
from tests.world.github_server import GitHubServer, local_github

BOARD = "acme/leaderboard"


@pytest.fixture
def github(request: pytest.FixtureRequest) -> Iterator[GitHubServer]:
    """A GitHub with `acme/leaderboard`, the bot's token `bot-token`, and a person's, `ann-token`."""
    with local_github(is_direct=is_direct(request)) as server:
        server.state.add_repo(BOARD, {"README.md": b"# Leaderboard\n"})
        server.state.add_account("bot-token", "leaderboard-bot")
        server.state.add_account("ann-token", "ann")
        server.state.add_account("app-token", "github-actions[bot]", is_app=True)
        server.state.add_account("read-token", "github-actions[bot]", frozenset(), is_app=True)
        yield server


def client(server: GitHubServer, token: str | None = "bot-token", **more: Any) -> Github:
    """PyGithub as it is, without its pauses."""
    auth = Auth.Token(token) if token else None
    quick = {"retry": None, "seconds_between_requests": None, "seconds_between_writes": None}
    return Github(auth=auth, base_url=server.url, **(quick | more))
