"""A served Hub with one source repository and one account of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource
from tests.world.direct import without_sockets
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.postgres import Cluster, running
from tests.world.server import served

# Where the socket is the subject; elsewhere a test asks for it with the fixture `sockets`.
OVER_SOCKETS = ("tests/platforms/", "tests/server/", "tests/world/")


@pytest.fixture(scope="session", autouse=True)
def _direct() -> Iterator[None]:
    with without_sockets():
        yield


@pytest.fixture
def sockets() -> None:
    """Let all requests of a test to the local Hub and GitHub go over loopback."""


def is_direct(request: pytest.FixtureRequest) -> bool:
    """Whether a test asks the local Hub and GitHub without sockets."""
    return "sockets" not in request.fixturenames and not request.node.nodeid.startswith(OVER_SOCKETS)


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[Hub]:
    with served(Hub(), is_direct=is_direct(request)) as hub:
        yield hub


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return hub.repository("acme/results")


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> HubClient:
    return HubClient(hub.url, hub.person("bot"), pause=0.01, unknown_fate=0.1, cache=tmp_path / "cache")


@pytest.fixture
def source(client: HubClient, repository: Repository) -> HubSource:
    return HubSource(client, parse_address("hf://datasets/acme/results"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A real PostgreSQL server."""
    with running() as cluster:
        yield cluster
