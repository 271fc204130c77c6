"""A reader without an account: a public board is shown, written as pages, and recomputed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import bot
from tests.evaluation.judging import ROOT
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]

RESULTS = ROOT / "examples" / "results"
TOKENS = ("HF_TOKEN", "GITHUB_TOKEN")


@pytest.fixture(params=["hf://datasets/acme/board", f"github://{BOARD}"])
def board(request: pytest.FixtureRequest, hub: Hub, github: GitHubServer) -> tuple[str, dict[str, str]]:
    """A public board with two rows and a row without a rank, and the environment of a reader."""
    repository, token = hub.repository("acme/board"), hub.person("bot")
    hub.writers.add(("bot", repository.name))
    told = {name: value for name, value in os.environ.items() if name not in TOKENS}
    told |= {"HF_ENDPOINT": hub.url, "GITHUB_API_URL": github.url, "HF_HOME": "/none"}
    maintainer = {**told, "HF_TOKEN": token, "GITHUB_TOKEN": "bot-token"}
    status, _, err = bot("publish", RESULTS, "--to", request.param, "--as", "commit", "--quiet", env=maintainer)
    assert status == 1, err  # two of the results are rejected
    return request.param, told


@pytest.mark.slow
def test_a_reader_sees_and_recomputes_a_board(board: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    target, told = board
    status, table, err = bot("board", target, "--format", "csv", env=told)
    assert (status, len(table.splitlines())) == (0, 4), err

    status, out, err = bot("site", target, "--out", tmp_path / "site", env=told)
    assert (status, out) == (0, f"{tmp_path / 'site' / 'index.html'}\n"), err

    status, out, err = bot("verify", target, env=told)
    assert status == 1
    assert out.count("untraceable (file)  open-llm-v2/") == 3, err  # the files lie on the machine of the maintainer
