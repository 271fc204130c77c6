"""One opener for every address: what is opened follows from the scheme."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.errors import CallError
from bot.platforms.caches import KnownThreads
from bot.platforms.platform import Access, Opener, ServiceCache, open_target
from tests.platforms.github.fixtures import BOARD, github
from tests.world.git import Repository
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]


def test_a_source_on_github_is_the_repository_there(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    old = git.push("heads/main", {"a.json": b"1", "b.json": b"2"})
    new = git.push("heads/main", {"a.json": b"3", "b.json": None})
    opener = Opener(Access(github_token="bot-token", github_api_url=github.url))

    source = opener.source(f"github://{BOARD}")

    assert (source.name, source.head()) == (f"github://{BOARD}", new)
    assert {change.path: change.oid is None for change in source.changes(old, new)} == {"a.json": False, "b.json": True}
    assert source.read("a.json", new, 10) == b"3"
    talk = opener.discussions(f"github://{BOARD}")
    assert talk is not None
    assert talk.us == "leaderboard-bot"
    assert Opener(Access(github_api_url=github.url)).discussions(f"github://{BOARD}") is None


def test_the_hub_has_discussions_and_one_client_for_all(hub: Hub, repository: Repository) -> None:
    remembered: dict[str, KnownThreads] = {}
    kept = ServiceCache(known=lambda name: remembered.setdefault(name, KnownThreads()))
    opener = Opener(Access(hf_token=hub.person("bot"), hf_endpoint=hub.url), service_cache=kept)
    address = "hf://datasets/acme/results"

    talk = opener.discussions(address)

    assert talk is not None
    talk.open_discussion("Title", "text")
    assert opener.source(address).head() == repository.main.oid
    assert [num for num, _ in remembered[address].of("discussion")] == [1]
    assert opener.target(address).name == address
    assert len(kept.clients) == 1


def test_a_folder_starts_where_the_settings_lie(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "results"], check=True)
    author = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *author, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path / "results", check=True)
    opener = Opener(Access(), tmp_path)

    assert len(opener.source("results").head()) == 40
    assert opener.target("board").name == str(tmp_path / "board")
    assert opener.discussions("results") is None
    assert open_target("./board", Access()).name == "./board"


@pytest.mark.parametrize("name", ["ftp://x", "s3://bucket/key"])
def test_an_address_of_no_platform_is_refused_with_those_there_are(name: str) -> None:
    for open_it in (Opener(Access()).source, Opener(Access()).target, Opener(Access()).discussions):
        with pytest.raises(CallError, match=f"{name}: write a folder, hf://datasets/org/name or github://owner/name"):
            open_it(name)
