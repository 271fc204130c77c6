"""What the commits of a target on the Hub say of its rows, and where the main branches of models stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.errors import Unavailable
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.row_page import row_page_of
from bot.platforms.history import history_of
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import read_heads
from bot.platforms.platform import Access
from tests.pages.boards import board_of_rows, generated
from tests.world.git_wire import Bare
from tests.world.hub import Hub
from tests.world.local_git import git

ROWS = generated(2)


def test_each_commit_that_changed_a_row_is_a_change(hub: Hub) -> None:
    repository = hub.repository("acme/board")
    one, other = ROWS
    changed = replace(one, average=(one.average or 0.0) + 1)
    for files in ({one.path: one.to_bytes()}, {other.path: other.to_bytes(), "x": b""}, {one.path: changed.to_bytes()}):
        hub.push(repository, files, "Said by a person")
    hub.push(repository, {other.path: None}, "Withdrawn")

    found = history_of("hf://datasets/acme/board", "open-llm-v2", Access(hf_endpoint=hub.url))

    assert found is not None
    assert [(one.kind, one.model, one.reason) for one in found] == [
        ("removed", other.model.id, "Withdrawn"),
        ("changed", one.model.id, "Said by a person"),
        ("added", other.model.id, "Said by a person"),
        ("added", one.model.id, "Said by a person"),
    ]
    assert history_of("hf://models", "open-llm-v2", Access(hf_endpoint=hub.url)) is None
    with pytest.raises(Unavailable):
        history_of("hf://datasets/acme/absent", "open-llm-v2", Access(hf_endpoint=hub.url))


def test_the_history_of_a_folder_is_that_of_its_main_branch_master(tmp_path: Path) -> None:
    one, _ = ROWS
    git(tmp_path, "init", "-q", "-b", "master")
    file = tmp_path / one.path
    file.parent.mkdir(parents=True)
    file.write_bytes(one.to_bytes())
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "Start")

    found = history_of(str(tmp_path), "open-llm-v2", Access())

    assert found is not None
    assert [(one.kind, one.reason) for one in found] == [("added", "Start")]


def test_the_history_of_a_service_is_that_of_its_default_branch(hub: Hub) -> None:
    repository, (one, _) = hub.repository("acme/board"), ROWS
    hub.push(repository, {one.path: one.to_bytes()}, "Start")
    repository.refs["refs/heads/trunk"] = repository.refs.pop("refs/heads/main")
    repository.bare = Bare(repository)
    git(repository.bare.folder, "symbolic-ref", "HEAD", "refs/heads/trunk")

    found = history_of("hf://datasets/acme/board", "open-llm-v2", Access(hf_endpoint=hub.url))

    assert found is not None
    assert ("added", "Start") in [(one.kind, one.reason) for one in found]


def test_a_row_says_that_its_model_has_moved_on(hub: Hub) -> None:
    one, other = ROWS
    repository = hub.repository(one.model.id, "model")
    head = hub.push(repository, {"config.json": b"{}"}).oid
    client = HubClient(hub.url, None)

    heads = read_heads(client, [one.model.id, other.model.id, "no model at all"])

    assert heads == {one.model.id: head}
    content = PageContent(board_of_rows(ROWS), heads={**heads, other.model.id: other.model.revision})
    pages = {row.entry.model.id: row_page_of(content, row).decode() for row in content.rows.values()}
    assert f"has moved on to <code>{head[:12]}</code>" in pages[one.model.id]
    assert "has moved on" not in pages[other.model.id]
    assert row_page(content.names[one.key])
