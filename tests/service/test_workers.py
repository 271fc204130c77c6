"""Hints and settles: a burst becomes one or two, a failure ends with the next one, a stop waits for what runs."""

from __future__ import annotations

import threading

import pytest

from bot.errors import Refused, StateUnavailable, Unavailable
from bot.service.watch import workers
from bot.service.watch.workers import WatchWorker


class Settles:
    """Counts settles, holds each until told, and raises what it is given."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.count = 0
        self.running = threading.Event()
        self.go = threading.Event()
        self.enough = threading.Condition()

    def __call__(self) -> None:
        self.running.set()
        assert self.go.wait(60)
        with self.enough:
            self.count += 1
            self.enough.notify_all()
        if self.failures:
            raise self.failures.pop(0)

    def wait_for(self, count: int) -> bool:
        with self.enough:
            return self.enough.wait_for(lambda: self.count >= count, timeout=60)


def test_a_burst_of_500_hints_while_one_runs_is_one_settle_more() -> None:
    settles = Settles()
    worker = WatchWorker("w", settles, every=3600, quiet=0.05)
    worker.start()
    assert settles.running.wait(60)
    for _ in range(500):
        worker.hint()
    settles.go.set()

    assert settles.wait_for(2)
    assert worker.stop(60)
    assert settles.count == 2


def test_a_watch_is_settled_at_the_start_and_when_its_time_has_come() -> None:
    settles = Settles()
    settles.go.set()
    worker = WatchWorker("w", settles, every=0.01, quiet=0)
    worker.start()

    assert settles.wait_for(3)
    assert worker.stop(60)


def test_a_failure_of_any_kind_ends_with_the_next_settle() -> None:
    settles = Settles(Unavailable("x", "y", retry_after=0), Refused("x", "y"), ZeroDivisionError())
    settles.go.set()
    worker = WatchWorker("w", settles, every=0.01, quiet=0)
    worker.start()

    assert settles.wait_for(5)
    assert worker.stop(60)


def test_after_an_outage_the_settle_comes_as_soon_as_the_service_allows() -> None:
    settles = Settles(Unavailable("x", "y", retry_after=0))
    settles.go.set()
    worker = WatchWorker("w", settles, every=3600, quiet=0)
    worker.start()

    assert settles.wait_for(2)
    assert worker.stop(60)


def test_a_state_that_is_away_is_tried_again_before_the_time_of_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "AFTER_OUTAGE", 0.01)
    settles = Settles(StateUnavailable("bot.db", "the disk is full"))
    settles.go.set()
    worker = WatchWorker("w", settles, every=3600, quiet=0)
    worker.start()

    assert settles.wait_for(2)
    assert worker.stop(60)


def test_a_stop_waits_for_the_settle_that_runs() -> None:
    settles = Settles()
    worker = WatchWorker("w", settles, every=3600, quiet=0)
    worker.start()
    assert settles.running.wait(60)

    assert not worker.stop(0.01)
    settles.go.set()
    assert worker.stop(60)
    assert settles.count == 1
