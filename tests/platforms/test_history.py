"""What the commits of a target on the Hub say of its rows, and where the main branches of models stand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.errors import Unavailable
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.row_page import row_page_of
from bot.platforms.history import history_of
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.heads import read_heads
from bot.platforms.registry import Access
from tests.pages.boards import board_of_rows, generated
from tests.world.hub import Hub

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
