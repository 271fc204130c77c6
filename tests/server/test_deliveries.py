"""The log of deliveries: for every process that shares the state, bounded, and not to be flooded by strangers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.server.webhooks import DeliveryLog
from bot.service.store import Store, connect
from bot.service.store.shared import KEPT_DELIVERIES
from bot.service.watch.event import Event


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    """Two processes' views of one state."""
    found = [Store(connect(f"sqlite:///{tmp_path / 'state.db'}")) for _ in range(2)]
    yield found
    for one in found:
        one.close()


def tell(log: DeliveryLog, repository: str) -> None:
    log.note(202, Event(repository, "repo.content", "update"), is_taken=True)


def test_another_process_shows_it_and_so_does_one_that_starts_later(stores: list[Store]) -> None:
    first, second = (DeliveryLog(store) for store in stores)
    tell(first, "datasets/acme/one")
    first.write()
    tell(second, "datasets/acme/two")
    for log in (second, first, DeliveryLog(stores[0])):
        if log is first:
            second.write()
        assert [one.repository for one in log.newest()] == ["datasets/acme/two", "datasets/acme/one"]


def test_only_so_many_are_kept_and_strangers_push_none_out(stores: list[Store]) -> None:
    log = DeliveryLog(stores[0])
    for number in range(KEPT_DELIVERIES + 5):
        tell(log, f"datasets/acme/{number}")
        if number % 50 == 0:
            log.write()
    for _ in range(1_000):
        log.note(403)
    shown = log.newest()
    assert len(shown) == KEPT_DELIVERIES
    assert shown[0].repository == f"datasets/acme/{KEPT_DELIVERIES + 4}"
    assert log.refused == {403: 1_000}


def test_a_state_that_is_away_loses_nothing(stores: list[Store]) -> None:
    log = DeliveryLog(stores[0])
    log.newest()
    with stores[1].transaction() as connection:
        connection.exec_driver_sql("ALTER TABLE deliveries RENAME TO gone")
    tell(log, "datasets/acme/one")
    log.write()
    with stores[1].transaction() as connection:
        connection.exec_driver_sql("ALTER TABLE gone RENAME TO deliveries")
    assert [one.repository for one in log.newest()] == ["datasets/acme/one"]
