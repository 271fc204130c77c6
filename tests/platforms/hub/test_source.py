"""Reading a source on the Hub: what changed, from which commit, and what a service that fails makes of it."""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import traceback

import pytest

from bot.errors import CallError, Refused, Unavailable
from bot.platforms.hub.address import HubAddress, parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource
from bot.platforms.hub.target import HubTarget
from bot.platforms.source import TooLarge
from tests.world import routes_files
from tests.world.git import Blob, Repository, Tree, blob_id
from tests.world.hub import Hub
from tests.world.reply import Reply

LIMIT = 1_000_000


def trees_asked(hub: Hub) -> int:
    return len([call for call in hub.calls if "/tree/" in call.raw_path])


def test_addresses_are_taken_apart() -> None:
    assert parse_address("hf://datasets/acme/results") == HubAddress("dataset", "acme/results")
    assert parse_address("hf://datasets/a/b@refs%2Fpr%2F1/x/y.json") == HubAddress(
        "dataset", "a/b", "refs/pr/1", "x/y.json"
    )
    with pytest.raises(CallError, match="expected hf://datasets/org/name"):
        parse_address("hf://acme/results")


@pytest.mark.parametrize("name", ["../x", "acme/..", "a--b/c", "acme/x.git", "acme/-x", f"acme/{'x' * 97}"])
def test_a_name_that_no_repository_has_is_no_address(name: str) -> None:
    with pytest.raises(CallError, match="expected hf://datasets/org/name"):
        parse_address(f"hf://datasets/{name}")


@pytest.mark.parametrize("path", ["../../../../../api/whoami-v2", "a/../../../refs", "..", ".", "", "/a", "a//b"])
def test_a_path_that_no_file_has_is_not_asked_for(hub: Hub, source: HubSource, path: str) -> None:
    """A client would take the ways up out of the address, and send the token to another page of the host."""
    head, before = source.head(), len(hub.calls)
    assert source.read(path, head, 1_000) is None
    assert [call.raw_path for call in hub.calls[before:]] == []


def test_changes_are_what_was_added_changed_and_removed(hub: Hub, repository: Repository, source: HubSource) -> None:
    old = hub.push(repository, {"a/x.json": b"1", "a/y.json": b"2", "b/z.json": b"3", "c": b"4"}).oid
    new = hub.push(repository, {"a/x.json": b"5", "b": None, "c": None, "c/d/e.json": b"6"}).oid

    found = {change.path: change.oid for change in source.changes(old, new)}

    assert found == {"a/x.json": blob_id(b"5"), "b/z.json": None, "c": None, "c/d/e.json": blob_id(b"6")}


def test_requests_follow_the_change_and_not_the_repository(hub: Hub, repository: Repository, source: HubSource) -> None:
    old = hub.push(repository, {f"org{n // 30}/model{n % 30}/r.json": b"" for n in range(900)}).oid
    new = hub.push(repository, {"org3/model7/r2.json": b"1"}).oid

    assert [change.path for change in source.changes(old, new)] == ["org3/model7/r2.json"]
    assert trees_asked(hub) == 6

    newer = hub.push(repository, {"org3/model8/r2.json": b"1"}).oid
    assert [change.path for change in source.changes(new, newer)] == ["org3/model8/r2.json"]
    assert trees_asked(hub) == 6 + 4  # what was listed before is not listed again


@pytest.mark.parametrize("folder", ["", "org/"])
def test_new_folders_of_one_folder_are_listed_together(
    hub: Hub, repository: Repository, source: HubSource, folder: str
) -> None:
    old = hub.push(repository, {f"{folder}old{n}/r.json": b"" for n in range(50)}).oid
    pushed: dict[str, bytes | None] = {f"{folder}new{n}/deep/r{n}.json": b"%d" % n for n in range(200)}
    new = hub.push(repository, {**pushed, f"{folder}new1.x": b"1", f"{folder}old1/r.json": b"2"}).oid

    found = {change.path: change.oid for change in source.changes(old, new)}

    assert found == {
        **{path: blob_id(data) for path, data in pushed.items() if data is not None},
        f"{folder}new1.x": blob_id(b"1"),
        f"{folder}old1/r.json": blob_id(b"2"),
    }
    assert trees_asked(hub) == 2 * folder.count("/") + 2 + 2 + 1


def test_folders_that_go_are_listed_together(hub: Hub, repository: Repository, source: HubSource) -> None:
    paths = [f"model{n}/r.json" for n in range(60)]
    old = hub.push(repository, dict.fromkeys([*paths, "kept/r.json"], b"1")).oid
    new = hub.push(repository, dict.fromkeys(paths)).oid

    assert sorted(change.path for change in source.changes(old, new) if change.oid is None) == sorted(paths)
    assert trees_asked(hub) == 2 + 1


def test_new_folders_among_very_many_others_are_listed_one_by_one(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    old = hub.push(repository, {f"big/{n}.json": b"" for n in range(5_000)}).oid
    new = hub.push(repository, {f"model{n}/r.json": b"1" for n in range(4)}).oid

    assert [change.path for change in source.changes(old, new)] == [f"model{n}/r.json" for n in range(4)]
    assert trees_asked(hub) == 2 + 3 + 4  # three pages of what is in the folder, given up as too many


@pytest.mark.slow
@pytest.mark.parametrize("is_new", [True, False], ids=["listed", "compared"])
def test_folders_that_hold_each_other_many_times_over_end(
    hub: Hub, repository: Repository, source: HubSource, *, is_new: bool
) -> None:
    source.most_entries = 1500
    start, bombs = repository.main, []
    for content in (b"1", b"2"):
        bomb = Tree({"x.json": Blob(blob_id(content), content, start.oid)})
        for _ in range(11):
            bomb = Tree({"a": bomb, "b": bomb})
        bombs.append(repository.add(repository.make(bomb, start, "bomb", "", start.date, "acme")))
    old = start if is_new else bombs[0]

    with pytest.raises(Refused, match="more than 1,500 files and folders are listed or differ"):
        list(source.changes(old.oid, bombs[1].oid))


def test_a_file_below_very_many_folders_is_found_in_few_requests(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    """A second push of one path of 1,000 folders ended each later pass in an internal error."""
    start, deep, commits = repository.main, 100, []
    for content in (b"1", b"2"):
        tree = Tree({"x.json": Blob(blob_id(content), content, start.oid)})
        for _ in range(deep):
            tree = Tree({"a": tree})
        commits.append(repository.add(repository.make(tree, start, "deep", "", start.date, "acme")))
    asked = trees_asked(hub)
    assert [change.path for change in source.changes(commits[0].oid, commits[1].oid)] == ["a/" * deep + "x.json"]
    assert trees_asked(hub) - asked < 50


def test_without_an_old_commit_or_with_a_rewritten_one_everything_is_a_change(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    new = hub.push(repository, {"a/x.json": b"1", "y.json": b"2"}).oid

    assert [change.path for change in source.changes(None, new)] == ["a/x.json", "y.json"]
    assert [change.path for change in source.changes("0" * 40, new)] == ["a/x.json", "y.json"]


def test_each_file_names_the_commit_that_last_touched_it(hub: Hub, repository: Repository, source: HubSource) -> None:
    first = hub.push(repository, {"a.json": b"1", "b.json": b"1"}).oid
    second = hub.push(repository, {"b.json": b"2"}).oid

    touched = source.touched(["a.json", "b.json", "gone.json"], second)

    assert {path: last.oid for path, last in touched.items()} == {"a.json": first, "b.json": second}
    assert all(last.date for last in touched.values())


def test_the_fork_point_of_a_request_is_found_from_both_histories(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    base = repository.main.oid
    _, made = hub.open_request(repository, {"a.json": b"1"})
    for n in range(60):
        hub.push(repository, {"b.json": b"%d" % n})

    assert source.fork_point(made.oid, repository.main.oid) == base
    assert source.fork_point(base, base) == base


def test_a_file_is_read_at_its_commit_however_it_is_called(hub: Hub, repository: Repository, source: HubSource) -> None:
    names = ["a b/é#?.json", "%2e%2e/x.json", "line\nbreak.json", "n" * 4000 + ".json"]
    commit = hub.push(repository, {name: name.encode() for name in names}).oid
    hub.push(repository, dict.fromkeys(names, b"later"))

    assert [source.read(name, commit, LIMIT) for name in names] == [name.encode() for name in names]
    assert source.read("none.json", commit, LIMIT) is None


def test_a_file_past_the_limit_is_not_read(hub: Hub, repository: Repository, source: HubSource) -> None:
    commit = hub.push(repository, {"big.json": b"x" * (LIMIT + 1)}).oid

    with pytest.raises(TooLarge, match="more than 1,000,000 bytes"):
        source.read("big.json", commit, LIMIT)


def test_a_small_file_of_a_public_repository_is_read_where_the_hub_sends_us(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    hub.sends_on = True
    commit = hub.push(repository, {"a b/x é.json": b"[1]"}).oid

    assert source.read("a b/x é.json", commit, LIMIT) == b"[1]"
    assert source.read("a b/x é.json", commit, LIMIT, blob_id(b"[1]")) == b"[1]"
    assert "/api/resolve-cache/" in hub.calls[-1].raw_path
    with pytest.raises(Unavailable):
        source.read("a b/x é.json", commit, LIMIT, blob_id(b"[2]"))
    with pytest.raises(TooLarge):
        source.read("a b/x é.json", commit, 2)


def test_a_compressed_bomb_is_refused_unopened(
    hub: Hub, repository: Repository, source: HubSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    commit = hub.push(repository, {"bomb.json": b""}).oid
    reply = Reply(200, bomb, {"Content-Encoding": "gzip", "X-Repo-Commit": commit})
    monkeypatch.setattr(routes_files, "resolve", lambda *_: reply)

    with pytest.raises(Refused, match="compressed"):
        source.read("bomb.json", commit, LIMIT)
    assert hub.calls[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_a_read_is_repeated_after_a_passing_failure(
    hub: Hub, repository: Repository, source: HubSource, status: int
) -> None:
    hub.faults.order("/refs", status=status, times=2)

    assert source.head() == repository.main.oid


def test_a_read_that_keeps_failing_is_an_outage_and_never_an_absence(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    hub.faults.order("/resolve/", status=503, times=-1)

    with pytest.raises(Unavailable, match="503"):
        source.read("a.json", repository.main.oid, LIMIT)


def test_a_connection_that_is_cut_is_tried_again(hub: Hub, repository: Repository, source: HubSource) -> None:
    hub.faults.order("/refs", reset=True, times=1)

    assert source.head() == repository.main.oid


def test_a_wait_beyond_the_limit_ends_the_read_and_says_how_long(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    hub.faults.order("/tree/", status=429, headers={"RateLimit": '"api";r=0;t=290'}, times=-1)

    with pytest.raises(Unavailable) as failure:
        list(source.tree("main", ""))
    assert failure.value.retry_after == 290


def test_a_short_wait_is_waited(hub: Hub, repository: Repository, source: HubSource) -> None:
    hub.faults.order("/refs", status=429, headers={"Retry-After": "0"})

    assert source.head() == repository.main.oid


def test_a_repository_that_vanished_was_renamed_or_is_gated_is_a_refusal(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    repository.gated = True
    with pytest.raises(Refused, match="restricted"):
        source.head()
    repository.gated = False
    hub.rename(repository, "acme/elsewhere")
    with pytest.raises(Refused, match="Repository acme/results not found"):
        source.head()
    hub.delete(repository)
    with pytest.raises(Refused, match="404"):
        source.head()


def test_the_token_stands_in_no_error_and_no_log(
    hub: Hub, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    marker = hub.person("MARKER-SECRET")
    source = HubSource(HubClient(hub.url, marker, pause=0.01), parse_address("hf://datasets/acme/none"))
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Refused) as failure:
        source.head()

    shown = "".join(traceback.format_exception(failure.value)) + repr(source) + caplog.text
    assert marker not in shown


PAGE = b"<!doctype html><html>The Hub is being repaired</html>"


def test_a_page_in_place_of_a_file_is_an_outage_and_asked_for_again(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    commit = hub.push(repository, {"a.json": b"{}"}).oid
    fault = hub.faults.order("/resolve/", body=PAGE, times=2)

    assert source.read("a.json", commit, LIMIT) == b"{}"
    fault.times = -1
    with pytest.raises(Unavailable, match=r"hf://datasets/acme/results a\.json: the answer is not the file"):
        source.read("a.json", commit, LIMIT)


def test_bytes_are_those_that_the_listing_and_the_answer_name(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    commit = hub.push(repository, {"a.json": b"{}"}).oid
    headers = {"X-Repo-Commit": commit, "ETag": f'"{blob_id(b"{}")}"'}
    fault = hub.faults.order("/resolve/", body=b"{", headers=headers, times=-1)

    with pytest.raises(Unavailable, match=r"a\.json: 1 bytes arrived that are not those of object 9e26dfeeb6e6"):
        source.read("a.json", commit, LIMIT)
    fault.headers = {"X-Repo-Commit": commit}
    with pytest.raises(Unavailable, match="not those of object"):
        source.read("a.json", commit, LIMIT, hashlib.sha256(b"{}").hexdigest())
    fault.times = 0
    assert source.read("a.json", commit, LIMIT, hashlib.sha256(b"{}").hexdigest()) == b"{}"


def test_a_name_that_is_no_text_is_named_and_stops_nothing(hub: Hub, repository: Repository, source: HubSource) -> None:
    row = {"type": "file", "path": "odd\ud800.json", "oid": "1" * 40, "size": 1}
    long, other = (f"{'é/' * 400}{name}" for name in ("a.json", "b.json"))  # 1,206 bytes
    listing = json.dumps([row, *(row | {"path": path} for path in ("a.json", long, other))]).encode()
    hub.faults.order("/tree/", body=listing, headers={"Content-Type": "application/json"}, times=-1)

    found = {change.path: change.fault for change in source.changes(None, repository.main.oid)}

    cut = [path for path, fault in found.items() if fault == "its name has more than 1,000 bytes; rename it"]
    assert len(cut) == 2
    assert all(path.startswith("é/é/") and path.endswith(".json") for path in cut)
    assert max(len(path.encode()) for path in cut) < 450
    assert found.keys() - cut == {"odd\\xed\\xa0\\x80.json", "a.json"}
    assert found["odd\\xed\\xa0\\x80.json"] == "its name is not UTF-8; rename it"
    assert found["a.json"] == ""


def test_an_empty_listing_of_a_commit_that_has_files_is_an_outage(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    old = hub.push(repository, {"a/b.json": b"1"}).oid
    new = hub.push(repository, {"a/b.json": b"2"}).oid
    empty = hub.faults.order(f"/tree/{new}", body=b"[]", headers={"Content-Type": "application/json"}, times=-1)

    for call in (lambda: list(source.changes(None, new)), lambda: source.walk(new, "a")):
        with pytest.raises(Unavailable, match="empty"):
            call()
    with pytest.raises(Unavailable, match=r"the listing of commit .* is empty, but it has files"):
        list(source.changes(old, new))
    empty.times = 0
    assert {change.path for change in source.changes(old, new)} == {"a/b.json"}


def test_a_repository_that_really_is_empty_lists_nothing(hub: Hub, repository: Repository, source: HubSource) -> None:
    hub.push(repository, dict.fromkeys(change.path for change in source.changes(None, source.head())))

    assert list(source.changes(None, source.head())) == []


def test_a_listing_of_a_target_is_asked_for_once_for_each_commit(
    hub: Hub, repository: Repository, client: HubClient
) -> None:
    hub.push(repository, {"entries/a.json": b"{}", "tables/a.csv": b"1"})
    target = HubTarget(client, parse_address("hf://datasets/acme/results"))
    before = trees_asked(hub)
    for _ in range(3):
        assert target.list_folder("tables") == ["tables/a.csv"]
        assert list(target.scan_entries().skipped) == ["entries/a.json"]
    assert trees_asked(hub) - before == 2

    hub.push(repository, {"entries/b.json": b"{}"})
    target.look_again()
    assert target.list_folder("entries") == ["entries/a.json", "entries/b.json"]
