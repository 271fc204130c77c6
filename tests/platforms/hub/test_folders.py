"""What changed in a long folder: over git as by the API, in fewer requests, whatever the repository holds."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.git import fetch
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.git import changed_in_folder
from bot.platforms.hub.source import HubSource
from tests.platforms.hub.long_folders import RESULTS, asked, by_api, cache_folder, models, new_source, short_pages
from tests.world import routes_files
from tests.world.git import Blob, Repository, Tree, blob_id
from tests.world.hub import Hub
from tests.world.local_git import git

__all__ = ["cache_folder", "short_pages"]
MORE: dict[str, dict[str, bytes | None]] = {
    "a new model": {"org__model-new/results.json": b"1"},
    "the first and the last model": {"a/results.json": b"1", "zz/deep/er/results.json": b"2"},
    "a second result of a model": {"org__model-050/later.json": b"1"},
    "another result in the place of one": {"org__model-050/results_50.json": b"1"},
    "a model that goes": {"org__model-050": None},
    "a model in the place of another": {"org__model-050": None, "org__model-050x/results_50.json": b'{"n": 50}'},
    "many models": {f"org__more-{n}/results.json": b"%d" % n for n in range(40)},
    "many models that go": {f"org__model-{n:03}": None for n in range(20, 60)},
    "a file": {"README.md": b"text", "org__model-000.json": b"1"},
    "a file in the place of a folder": {"org__model-050": b"1"},
    "a folder in the place of a file": {"plain.json": None, "plain.json/results.json": b"1"},
    "a file that goes": {"plain.json": None},
    "odd names": {"a b/é ü.json": b"1", "line\nbreak/tab\t.json": b"2", "x\\y/'\".json": b"3", "x=&%2e?.json": b"4"},
    "the folder of another": {"twin/results_7.json": b'{"n": 7}'},
    "a name that is not UTF-8": {"odd\udcff/results.json": b"1", "odd\udcff.json": b"2", "good/results.json": b"3"},
}


@pytest.mark.parametrize("folder", ["", "deep/er/"])
@pytest.mark.parametrize("story", MORE)
def test_git_tells_what_the_api_tells(
    hub: Hub, repository: Repository, client: HubClient, story: str, folder: str
) -> None:
    start: dict[str, bytes | None] = {**models(100), "plain.json": b"plain"}
    old = hub.push(repository, {f"{folder}{path}": data for path, data in start.items()}).oid
    new = hub.push(repository, {f"{folder}{path}": data for path, data in MORE[story].items()}).oid
    expected = by_api(client, old, new)
    source = new_source(client)

    assert list(source.changes(old, new)) == expected
    assert expected
    assert asked(hub, "git-upload-pack") == 1
    again = hub.push(repository, {f"{folder}last/results.json": b"1"}).oid
    assert [change.path for change in source.changes(new, again)] == [f"{folder}last/results.json"]


def test_random_pushes_are_told_as_by_the_api(hub: Hub, repository: Repository, client: HubClient) -> None:
    chance = random.Random(7)
    old = hub.push(repository, models(60)).oid
    source = new_source(client)
    for _ in range(25):
        names = [f"{chance.choice('amz')}{chance.randrange(60):02}" for _ in range(chance.choice([1, 1, 2, 9]))]
        ends = ["/results.json", "/x/y.json", "", ".json"]
        pushed = {
            f"{name}{chance.choice(ends)}": chance.choice([None, b"%d" % chance.randrange(9)])
            for name in [*names, f"org__model-{chance.randrange(60):03}"]
        }
        new = hub.push(repository, pushed).oid
        assert list(source.changes(old, new)) == by_api(client, old, new)
        old = new
    assert list(source.changes(repository.main.parent.parent.oid, old)) == by_api(  # type: ignore[union-attr]
        client,
        repository.main.parent.parent.oid,
        old,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("count", [1, 50])
def test_a_push_costs_three_requests_however_long_the_folder_is(
    hub: Hub, repository: Repository, client: HubClient, count: int
) -> None:
    source = new_source(client)
    old = hub.push(repository, models(300)).oid
    first = hub.push(repository, {"org__first/results.json": b"1"}).oid
    hub.calls.clear()
    assert len(list(source.changes(old, first))) == 1
    assert len(hub.calls) == 4  # a page, what git can do, the folders of both commits, sizes

    new = hub.push(repository, {f"org__new-{n}/results.json": b"new %d" % n for n in range(count)}).oid
    hub.calls.clear()
    assert len(list(source.changes(first, new))) == count
    asked_for = [call.raw_path.rpartition("/")[2] for call in hub.calls]
    assert asked_for == ["refs", "git-upload-pack", new]
    assert len(repository.bare.answers[-1]) < 1000 + 100 * count  # the difference came, not the folder


def test_what_was_fetched_serves_the_next_process_and_a_killed_one_leaves_nothing_in_the_way(
    hub: Hub, repository: Repository, client: HubClient, cache_folder: Path
) -> None:
    old = hub.push(repository, models(100)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    assert len(list(new_source(client).changes(old, new))) == 1
    hub.calls.clear()
    assert len(list(new_source(client).changes(old, new))) == 1
    assert asked(hub, "git-upload-pack") == 0

    (kept,) = [path for path in (cache_folder / "git").iterdir() if path.is_dir()]
    for lock in ("shallow.lock", "config.lock"):
        (kept / lock).touch()
    newer = hub.push(repository, {"newer/results.json": b"1"}).oid
    assert [change.path for change in new_source(client).changes(new, newer)] == ["newer/results.json"]
    assert asked(hub, "git-upload-pack") == 1  # the difference


def test_a_repository_of_many_packs_is_made_anew(
    hub: Hub, repository: Repository, client: HubClient, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "PACK_FILES", 6)
    source, old = new_source(client), hub.push(repository, models(35)).oid
    for n in range(6):
        new = hub.push(repository, {f"new-{n}/results.json": b"%d" % n}).oid
        assert [change.path for change in source.changes(old, new)] == [f"new-{n}/results.json"]
        assert len(list(cache_folder.rglob("*.pack"))) <= 3
        old = new
    assert source.memory.silent_until == 0.0


def test_no_file_comes_with_the_folders(
    hub: Hub, repository: Repository, client: HubClient, cache_folder: Path
) -> None:
    old = hub.push(repository, {**models(35), "large/results.json": random.Random(1).randbytes(500_000)}).oid
    new = hub.push(repository, {"large/other.json": random.Random(2).randbytes(500_000)}).oid

    assert [change.path for change in new_source(client).changes(old, new)] == ["large/other.json"]
    assert sum(path.stat().st_size for path in cache_folder.rglob("*") if path.is_file()) < 100_000


@pytest.mark.parametrize("limit", ["FOLDERS_BYTES", "CHANGED_BYTES"])
def test_what_git_brings_is_bounded(
    hub: Hub, repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(fetch, limit, 20)
    old = hub.push(repository, models(100)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    source = new_source(client)

    assert [change.path for change in source.changes(old, new)] == ["new/results.json"]
    assert source.memory.silent_until > 0.0


def test_a_folder_of_more_memory_than_allowed_is_left_to_the_pages(
    hub: Hub, repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fetch.WALKING, "GIT_ALLOC_LIMIT", "1k")
    old = hub.push(repository, models(100)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    source = new_source(client)

    assert [change.path for change in source.changes(old, new)] == ["new/results.json"]
    assert source.memory.silent_until > 0.0


def test_folders_that_hold_each_other_many_times_over_end(
    repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(fetch.WALKING, "GIT_ALLOC_LIMIT", "500k")
    old = repository.main
    bomb = Tree({"x.json": Blob(blob_id(b""), b"", old.oid)})
    for _ in range(60):
        bomb = Tree({"a": bomb, "b": bomb})
    new = repository.add(repository.make(bomb, old, "bomb", "", old.date, "acme"))

    with pytest.raises(Unavailable):
        changed_in_folder(RESULTS, client, "", (old.oid, new.oid))


def test_a_name_that_is_no_commit_is_no_option_of_git(client: HubClient, repository: Repository) -> None:
    with pytest.raises(Unavailable, match="full id"):
        changed_in_folder(RESULTS, client, "", ("--output=x", repository.main.oid))


def test_a_repository_in_the_place_of_a_folder_is_nothing(tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.mkdir()
    git(local, "init", "--quiet")
    (local / "plain.json").write_text("1")
    commits = []
    for path in ("module", "plain.json"):
        git(local, "add", "--all")
        git(local, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")
        git(local, "commit", "--quiet", "--message", path)
        commits.append(git(local, "rev-parse", "HEAD"))

    def lines(old: str) -> bytes:
        return git(local, "diff-tree", "-r", "-z", "--no-renames", old, commits[1]).encode()

    assert fetch.compared(lines(commits[0])) == {"plain.json": ""}


def test_a_folder_that_took_the_content_of_another_is_read_whole(
    hub: Hub, repository: Repository, client: HubClient
) -> None:
    start = {f"{name}/{name}-{n}.json": b"%d" % n for name in ("one", "two") for n in range(35)}
    old = hub.push(repository, start).oid
    gone: dict[str, bytes | None] = {path: None for path in start if path.startswith("one/")}
    new = hub.push(repository, {**gone, **{f"one/two-{n}.json": b"%d" % n for n in range(35)}}).oid

    found = list(new_source(client).changes(old, new))
    assert found == by_api(client, old, new)
    assert len(found) == 70
    assert asked(hub, "git-upload-pack") == 1


def test_a_history_that_was_written_anew_is_a_change_of_everything(
    hub: Hub, repository: Repository, client: HubClient
) -> None:
    old = hub.push(repository, models(35)).oid
    new = repository.squash().oid

    assert len(list(new_source(client).changes(old, new))) == 35
    source = new_source(client)
    first = hub.push(repository, {"a/results.json": b"1"}).oid
    assert [change.path for change in source.changes(new, first)] == ["a/results.json"]
    repository.squash()
    again = hub.push(repository, {"b/results.json": b"1"}).oid
    assert [change.path for change in source.changes(first, again)] == ["b/results.json"]


def test_the_token_opens_a_private_repository_and_is_written_nowhere(
    hub: Hub, client: HubClient, cache_folder: Path
) -> None:
    repository = hub.repository("bot/private", private=True)
    old = hub.push(repository, models(35), user="bot").oid
    new = hub.push(repository, {"new/results.json": b"1"}, user="bot").oid
    address = parse_address("hf://datasets/bot/private")

    assert [change.path for change in HubSource(client, address).changes(old, new)] == ["new/results.json"]
    sent = {call.headers["authorization"] for call in hub.calls if "git-upload-pack" in call.raw_path}
    assert [base64.b64decode(one.removeprefix("Basic ")) for one in sent] == [b"leaderboard-bot:hf_bot"]
    written = [path.read_bytes() for path in cache_folder.rglob("*") if path.is_file()]
    secret = sent.pop().removeprefix("Basic ").encode()
    assert not any(b"hf_bot" in data or secret in data for data in written)


def test_large_files_keep_the_identity_of_their_content(
    hub: Hub, repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = routes_files.shown

    def with_pointer(path: str, item: Tree | Blob, *rest: object, **how: object) -> dict[str, object]:
        row = shown(path, item, *rest, **how)  # type: ignore[arg-type]
        large = {"lfs": {"oid": "5" * 64, "size": 10**9, "pointerSize": 134}, "size": 10**9}
        return row | large if path.endswith("large.json") else row

    monkeypatch.setattr(routes_files, "shown", with_pointer)
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/large.json": b"pointer", "top.large.json": b"pointer"}).oid

    found = list(new_source(client).changes(old, new))
    assert found == by_api(client, old, new)
    assert {(change.oid, change.size) for change in found} == {("5" * 64, 10**9)}
