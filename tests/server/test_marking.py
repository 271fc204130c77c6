"""What deliveries tell of is in the state before the watch is hinted, whatever becomes of the state."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from bot.service.store.engine import connect
from bot.service.store.items import Kind, Mark
from bot.service.store.state import Store
from bot.service.watch.workers import MarkWriter

REVIEWS, REQUEST = Mark("reviews"), Mark("request", "7", "hf://datasets/acme/board")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))
    yield store
    store.close()


def test_a_watch_is_hinted_when_its_marks_are_in_the_state(store: Store) -> None:
    found: list[tuple[str, list[str]]] = []
    kinds: tuple[Kind, ...] = ("request", "reviews")
    writer = MarkWriter(
        store, lambda watch: found.append((watch, [one for one in kinds if store.of(watch).items.due(one, 9e9)]))
    )
    writer.add("tiny", [REVIEWS, REQUEST])
    writer.wait(30)
    writer.add("small", [REVIEWS])
    writer.wait(30)
    assert found == [("tiny", ["request", "reviews"]), ("small", ["reviews"])]


def test_what_comes_while_a_watch_is_marked_is_marked_after_it(store: Store) -> None:
    started, may_go = threading.Event(), threading.Event()
    hinted: list[str] = []

    def hint(watch: str) -> None:
        hinted.append(watch)
        started.set()
        assert may_go.wait(30)

    writer = MarkWriter(store, hint)
    writer.add("tiny", [REVIEWS])
    assert started.wait(30)
    for _ in range(3):
        writer.add("small", [REVIEWS])
    may_go.set()
    writer.wait(30)
    assert hinted == ["tiny", "small"]


def test_a_watch_is_hinted_though_the_state_takes_no_marks(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.close()
    rmtree(tmp_path)
    hinted: list[str] = []
    writer = MarkWriter(store, hinted.append)
    with caplog.at_level(logging.WARNING):
        writer.add("tiny", [REVIEWS])
        writer.wait(30)
    assert hinted == ["tiny"]
    assert "tiny: a webhook's change is not noted now" in caplog.text
    assert "Traceback" not in caplog.text


def test_what_no_thread_could_write_is_written_with_the_next_delivery(store: Store) -> None:
    hinted: list[str] = []
    writer = MarkWriter(store, hinted.append)
    usual = threading.stack_size(1 << 46)  # more than the system gives: no thread starts
    try:
        writer.add("tiny", [REVIEWS])
        writer.wait(30)
    finally:
        threading.stack_size(usual)
    assert hinted == []
    writer.add("small", [REVIEWS])
    writer.wait(30)
    assert hinted == ["tiny", "small"]
