"""Folders of many models, and what tells their changes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bot.platforms.hub import source
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource
from bot.platforms.source import Change
from tests.world import routes_files
from tests.world.hub import Hub

RESULTS = parse_address("hf://datasets/acme/results")

PAGE = 10


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page have ten entries."""
    monkeypatch.setattr(routes_files, "PAGE", PAGE)
    monkeypatch.setattr(source, "PAGE", PAGE)


@pytest.fixture(autouse=True)
def cache_folder(client: HubClient, tmp_path: Path) -> Path:
    """Let git keep its repositories in a folder of the test."""
    client.cache = tmp_path / "cache"
    return client.cache


def new_source(client: HubClient) -> HubSource:
    """A source of which nothing is known yet."""
    return HubSource(client, RESULTS)


def asked(hub: Hub, what: str) -> int:
    return len([call for call in hub.calls if what in call.raw_path])


def by_api(client: HubClient, old: str, new: str) -> list[Change]:
    """The changes where git is not asked."""
    alone = new_source(client)
    alone.memory.silent_until = math.inf
    return list(alone.changes(old, new))


def models(count: int) -> dict[str, bytes | None]:
    return {f"org__model-{n:03}/results_{n}.json": b'{"n": %d}' % n for n in range(count)}
