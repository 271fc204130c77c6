"""Large files, such as sample logs, are copied from every kind of source piece by piece."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.platform import Access, Opener
from bot.platforms.source import Source, TooLarge
from bot.service.checks.verify_evidence import FolderFiles
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub

__all__ = ["github"]

DATASET = "hf://datasets/acme/results"
LOG = "log.jsonl"
# A process of its own, because the servers of the tests hold the files in this one; prints its peak in MiB.
WORKER = """
import sys, tempfile
from bot.platforms.platform import Access
from bot.platforms.platform import Opener
from tests.service.memory_worker import peak
name, commit, url, token = sys.argv[1:]
access = Access(token, url) if name.startswith("github") else Access(hf_token=token, hf_endpoint=url)
with tempfile.TemporaryFile() as copy:
    assert Opener(access).source(name).save("log.jsonl", commit, 100_000_000, copy)
print(peak())
"""


@pytest.fixture(params=["hub", "github", "git", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Source, str]:
    """A source of each kind, and a commit that has a small log."""
    if request.param == "hub":
        hub: Hub = request.getfixturevalue("hub")
        commit = hub.push(hub.repository("acme/results"), {LOG: b"{}\n"}).oid
        return Opener(Access(hf_token=hub.person("bot"), hf_endpoint=hub.url)).source(DATASET), commit
    if request.param == "github":
        server: GitHubServer = request.getfixturevalue("github")
        commit = server.state.repos[BOARD].git.push("heads/main", {LOG: b"{}\n"})
        return Opener(Access("bot-token", server.url)).source(f"github://{BOARD}"), commit
    folder = Folder(tmp_path / "results")
    commit = folder.push({LOG: b"{}\n"})
    is_git = request.param == "git"
    return Opener(Access()).source(str(folder.path)) if is_git else FolderFiles(folder.path, folder.path), commit


def test_a_file_is_copied_as_it_is_read(place: tuple[Source, str]) -> None:
    source, commit = place
    copy = BytesIO()
    assert source.save(LOG, commit, 3, copy)
    assert copy.getvalue() == source.read(LOG, commit, 3) == b"{}\n"
    assert not source.save("other.jsonl", commit, 3, BytesIO())
    assert not source.save(f"../{LOG}", commit, 3, BytesIO())
    with pytest.raises(TooLarge, match="more than 2 bytes"):
        source.save(LOG, commit, 2, BytesIO())


def test_other_bytes_are_asked_for_again(github: GitHubServer) -> None:
    commit = github.state.repos[BOARD].git.push("heads/main", {LOG: b"{}\n"})
    fault = github.state.order("GET", "/git/blobs/", status=200, body=b"a longer one", times=1)
    source = Opener(Access("bot-token", github.url)).source(f"github://{BOARD}")

    copy = BytesIO()
    assert source.save(LOG, commit, 100, copy)
    assert copy.getvalue() == b"{}\n"
    fault.times = 99
    with pytest.raises(Unavailable, match="12 bytes arrived that are not those of object"):
        source.save(LOG, commit, 100, copy)


def peak_of(name: str, commit: str, url: str, token: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, name, commit, url, token], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


@pytest.mark.slow
def test_memory_does_not_grow_with_a_file_of_the_hub(hub: Hub) -> None:
    repository = hub.repository("acme/results")
    small, large = (hub.push(repository, {LOG: b"x" * size}).oid for size in (1_000_000, 60_000_000))
    peaks = [peak_of(DATASET, commit, hub.url, hub.person("bot")) for commit in (small, large)]
    assert peaks[1] < peaks[0] + 20


@pytest.mark.slow
def test_memory_does_not_grow_with_a_file_of_github(github: GitHubServer) -> None:
    git = github.state.repos[BOARD].git
    small, large = (git.push("heads/main", {LOG: b"x" * size}) for size in (1_000_000, 60_000_000))
    peaks = [peak_of(f"github://{BOARD}", commit, github.url, "bot-token") for commit in (small, large)]
    assert peaks[1] < peaks[0] + 20
