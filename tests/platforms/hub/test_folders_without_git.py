"""Where git cannot tell what changed in a long folder, or tells what the API does not know, the API counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.hub.client import HubClient
from tests.platforms.hub.long_folders import asked, by_api, cache_folder, models, new_source, short_pages
from tests.world.git import Repository
from tests.world.hub import Hub

__all__ = ["cache_folder", "short_pages"]


def test_a_hub_that_leaves_out_nothing_is_asked_once_and_by_pages(
    hub: Hub, repository: Repository, client: HubClient, cache_folder: Path
) -> None:
    hub.filters = False
    source = new_source(client)
    old = hub.push(repository, models(35)).oid
    for n in range(2):
        new = hub.push(repository, {f"new-{n}/results.json": b"1"}).oid
        assert [change.path for change in source.changes(old, new)] == [f"new-{n}/results.json"]
        old = new
    assert asked(hub, "info/refs") == 1
    assert not list(cache_folder.rglob("*.pack"))


def test_a_machine_without_git_reads_pages(
    hub: Hub, repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    monkeypatch.setenv("PATH", "/nowhere")
    assert [change.path for change in new_source(client).changes(old, new)] == ["new/results.json"]


def test_a_cache_that_cannot_be_written_leaves_the_pages(
    hub: Hub, repository: Repository, client: HubClient, cache_folder: Path
) -> None:
    cache_folder.write_text("a file")
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    assert [change.path for change in new_source(client).changes(old, new)] == ["new/results.json"]
    assert asked(hub, "info/refs") == asked(hub, "git-upload-pack") == 0


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 403},
        {"status": 503},
        {"reset": True},
        {"body": b"<!doctype html><html>The Hub is being repaired</html>"},
        {"body": b""},
        {"body": b"0000"},
        {"body": b"000dpackfile\n0009\x01PACK"},
        {"body": b"000dpackfile\n0012\x03out of memory\n0000"},
        {"body": b"0018ERR not our ref 12340000"},
        {"body": b"zzzz"},
    ],
)
@pytest.mark.parametrize("where", ["info/refs", "git-upload-pack"])
def test_where_git_fails_the_api_tells_it_and_git_is_left_alone_for_a_while(
    hub: Hub, repository: Repository, client: HubClient, fault: dict[str, object], where: str
) -> None:
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    hub.faults.order(where, **fault, times=-1)
    source = new_source(client)

    assert [change.path for change in source.changes(old, new)] == ["new/results.json"]
    hub.calls.clear()
    newer = hub.push(repository, {"newer/results.json": b"1"}).oid
    assert [change.path for change in source.changes(new, newer)] == ["newer/results.json"]
    assert asked(hub, "info/refs") == asked(hub, "git-upload-pack") == 0


def test_a_file_that_only_git_knows_is_left_to_the_api(
    hub: Hub, repository: Repository, client: HubClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/results.json": b"1", "plain.json": b"1"}).oid
    hub.faults.order("/paths-info/", body=b"[]", headers={"Content-Type": "application/json"}, times=-1)

    found = list(new_source(client).changes(old, new))
    assert [change.path for change in found] == ["new/results.json", "plain.json"]
    assert found == by_api(client, old, new)


def test_an_outage_of_the_api_is_one_whatever_git_said(hub: Hub, repository: Repository, client: HubClient) -> None:
    old = hub.push(repository, models(35)).oid
    new = hub.push(repository, {"new/results.json": b"1"}).oid
    source = new_source(client)
    hub.faults.order("/paths-info/", status=503, times=-1)

    with pytest.raises(Unavailable):
        list(source.changes(old, new))
    hub.faults.ordered.clear()
    assert [change.path for change in source.changes(old, new)] == ["new/results.json"]
