"""Very many files of a repository are read by one fetch over git, and come out as the API gives them."""

from __future__ import annotations

import base64
import os
import shutil
import stat
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.git import fetch
from bot.platforms.git.source import CopiedSource
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import MANY, HubSource
from bot.platforms.hub.target import HubTarget
from bot.platforms.source import TooLarge
from tests.world.git import Repository, blob_id
from tests.world.hub import Hub

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 3\n"


@pytest.fixture(autouse=True)
def cache_folder(client: HubClient, tmp_path: Path) -> Path:
    client.cache = tmp_path
    return tmp_path


@pytest.fixture
def head(hub: Hub, repository: Repository) -> str:
    files: dict[str, bytes | None] = {f"org__m{n}/results_{n}.json": b'{"n": %d}' % n for n in range(40)}
    odd: dict[str, bytes | None] = {"a b/é\n.json": b"odd", "é ü.json": b"letters", "large.json": bytes(5000)}
    return hub.push(repository, {**files, **odd, "pointer.json": POINTER, "empty.json": b""}).oid


def test_files_come_over_git_as_the_api_gives_them(
    hub: Hub, source: HubSource, repository: Repository, head: str
) -> None:
    paths = [path for path, _ in repository.main.tree.files()]
    by_api = {path: source.read(path, head, 10_000) for path in paths}
    hub.calls.clear()
    with source.in_bulk(head, MANY + 1) as bulk:
        by_git = {path: bulk.read(path, head, 10_000) for path in paths}

    assert by_git == by_api
    resolved = [call.raw_path for call in hub.calls if "/resolve/" in call.raw_path]
    assert len(resolved) == 1  # the pointer to a large file
    assert len([call for call in hub.calls if "/resolve/" not in call.raw_path]) <= 3
    assert not list((source.client.cache / "git").glob("*-0"))


def test_a_limit_holds_and_the_next_file_is_read_all_the_same(source: HubSource, head: str) -> None:
    with source.in_bulk(head, MANY + 1) as bulk:
        with pytest.raises(TooLarge):
            bulk.read("large.json", head, 4999)
        assert bulk.read("org__m7/results_7.json", head, 100) == b'{"n": 7}'
        assert bulk.read("nothing.json", head, 100) is None
        assert bulk.read("org__m7", head, 100) is None


def test_an_older_commit_than_main_is_read(hub: Hub, source: HubSource, repository: Repository, head: str) -> None:
    hub.push(repository, {"empty.json": None})
    with source.in_bulk(head, MANY + 1) as bulk:
        assert isinstance(bulk, CopiedSource)
        assert bulk.read("empty.json", head, 100) == b""


def test_few_files_and_a_hub_that_refuses_git_are_read_by_the_api(hub: Hub, source: HubSource, head: str) -> None:
    with source.in_bulk(head, MANY) as few:
        assert few is source
    hub.faults.order("info/refs", status=403, times=9)
    with source.in_bulk(head, MANY + 1) as refused:
        assert refused is source
    assert refused.read("empty.json", head, 100) == b""


def test_a_machine_without_git_reads_by_the_api(source: HubSource, head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with source.in_bulk(head, MANY + 1) as found:
        assert found is source


def test_a_fetch_that_brings_too_much_is_given_up(
    source: HubSource, head: str, hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fetch, "FETCH_BYTES", 10)
    hub.faults.order("git-upload-pack", delay=1.0, times=9)
    with source.in_bulk(head, MANY + 1) as found:
        assert found is source


@pytest.mark.parametrize("limit", ["1m", "128m"])
def test_a_small_pack_that_unpacks_to_more_than_any_file_in_git_is_not_unpacked(
    hub: Hub, source: HubSource, repository: Repository, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setitem(fetch.FETCHING, "GIT_ALLOC_LIMIT", limit)
    head = hub.push(repository, {"zeros.json": bytes(3_000_000), "a/results.json": b"1"}).oid
    with source.in_bulk(head, MANY + 1) as found:
        assert (found is source) == (limit == "1m")
        assert found.read("a/results.json", head, 100) == b"1"


def command_lines(ancestor: int) -> list[str]:
    """The command lines of a process and of all that it started: other tests of the machine have theirs."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line, status = (folder / "cmdline").read_bytes(), (folder / "stat").read_text("utf-8", "replace")
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(status.rpartition(")")[2].split()[1])
        lines[int(folder.name)] = line.replace(b"\0", b" ").decode("utf-8", "replace")
    family = {ancestor}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    return [line for process, line in lines.items() if process in family]


def test_the_token_opens_a_private_repository_and_stands_in_no_process_list(
    hub: Hub, client: HubClient, tmp_path: Path
) -> None:
    repository = hub.repository("bot/private", private=True)
    head = hub.push(repository, {"a.json": b"{}"}, user="bot").oid
    seen: list[str] = []
    hub.faults.order("git-upload-pack", times=9, before=lambda: seen.extend(command_lines(os.getpid())))
    source = HubSource(client, parse_address("hf://datasets/bot/private"))
    with source.in_bulk(head, MANY + 1) as bulk:
        assert isinstance(bulk, CopiedSource)
        assert bulk.read("a.json", head, 10) == b"{}"
        kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("fetch" in line and hub.url in line for line in seen)
    assert not any("hf_bot" in line or "extraHeader" in line for line in seen)
    assert not any(b"hf_bot" in data for data in kept)


class Killed(BaseException):
    """What no code of ours catches."""


@pytest.mark.parametrize("left", [MANY + 1, 1])
def test_what_a_killed_process_fetched_is_not_fetched_again(hub: Hub, source: HubSource, head: str, left: int) -> None:
    with pytest.raises(Killed), source.in_bulk(head, MANY + 1):
        raise Killed
    hub.calls.clear()
    with source.in_bulk(head, left) as bulk:
        assert bulk.read("empty.json", head, 100) == b""
    assert hub.calls == []
    assert not list((source.client.cache / "git").glob("*-0"))


def test_for_few_files_of_another_commit_nothing_is_fetched_and_what_was_left_goes(
    hub: Hub, source: HubSource, repository: Repository, head: str
) -> None:
    with pytest.raises(Killed), source.in_bulk(head, MANY + 1):
        raise Killed
    later = hub.push(repository, {"new.json": b"new"}).oid
    hub.calls.clear()
    with source.in_bulk(later, 1) as few:
        assert few.read("new.json", later, 100) == b"new"
    assert [call.raw_path for call in hub.calls] == [f"/datasets/acme/results/resolve/{later}/new.json"]
    assert not list((source.client.cache / "git").glob("*-0"))


def test_two_processes_read_one_repository_side_by_side(source: HubSource, head: str) -> None:
    with source.in_bulk(head, MANY + 1) as one, source.in_bulk(head, MANY + 1) as other:
        assert isinstance(one, CopiedSource)
        assert isinstance(other, CopiedSource)
        assert one.copy.folder != other.copy.folder
        assert one.read("empty.json", head, 9) == other.read("empty.json", head, 9) == b""


def test_a_git_that_dies_while_it_reads_is_an_outage_and_started_again(
    source: HubSource, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with source.in_bulk(head, MANY + 1) as bulk:
        broken = tmp_path / "bin"
        broken.mkdir()
        (broken / "git").write_text("#!/bin/sh\nexit 1\n")
        (broken / "git").chmod(stat.S_IRWXU)
        path = os.environ["PATH"]
        monkeypatch.setenv("PATH", str(broken))
        with pytest.raises(Unavailable):
            bulk.read("empty.json", head, 9)
        monkeypatch.setenv("PATH", path)
        assert bulk.read("empty.json", head, 9) == b""


def test_a_large_board_is_read_over_git(hub: Hub, client: HubClient, repository: Repository) -> None:
    files: dict[str, bytes | None] = {f"entries/tiny/org/m{n}/x.json": b'{"n": %d}' % n for n in range(MANY + 1)}
    head = hub.push(repository, files).oid
    target = HubTarget(client, parse_address("hf://datasets/acme/results"))
    found = target.source.contents({path: blob_id(data or b"") for path, data in files.items()}, head)

    assert found == files
    assert [call.raw_path for call in hub.calls if "/resolve/" in call.raw_path] == []


def test_a_fetch_gives_git_no_secret_but_the_token_of_that_host(
    source: HubSource, repository: Repository, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recorder stands as git first on PATH: it sees what every process of git is started with.

    The Hub of the tests serves by git in this very process; only its calls have GIT_PROTOCOL.
    """
    recorder, real, seen = tmp_path / "bin" / "git", shutil.which("git"), tmp_path / "recorded"
    recorder.parent.mkdir()
    recorder.write_text(f'#!/bin/sh\n[ "${{GIT_PROTOCOL+x}}" ] || {{ echo "$@"; env; }} >> {seen}\nexec {real} "$@"\n')
    recorder.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(recorder.parent), os.environ["PATH"]]))
    for name in ("HF_TOKEN", "GITHUB_TOKEN", "OPERATOR_TOKEN", "WEBHOOK_SECRET", "DATABASE_URL"):
        monkeypatch.setenv(name, f"secret-{name}")
    source.client.token = "hf_bot"
    with source.in_bulk(head, MANY + 1) as bulk:
        assert bulk.read("org__m7/results_7.json", head, 100) == b'{"n": 7}'

    text = seen.read_text()
    assert "fetch" in text
    assert "secret-" not in text
    given = base64.b64encode(b"leaderboard-bot:hf_bot").decode()
    lines = [line for line in text.splitlines() if given in line or "hf_bot" in line]
    assert lines
    assert set(lines) == {f"GIT_CONFIG_VALUE_0=Authorization: Basic {given}"}
    keys = {line for line in text.splitlines() if line.startswith("GIT_CONFIG_KEY_0=")}
    assert keys == {f"GIT_CONFIG_KEY_0=http.{source.client.endpoint}/.extraHeader"}
