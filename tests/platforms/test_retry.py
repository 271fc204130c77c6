"""A long step is tried again while it gets on; where it stands still, or must wait too long, it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.errors import Stale, Unavailable
from bot.platforms.net import Backoff


def failing(times: int, failure: Callable[[], Exception]) -> Callable[[], str]:
    """A step that fails so many times."""
    failures = [failure() for _ in range(times)]

    def step() -> str:
        if failures:
            raise failures.pop()
        return "done"

    return step


def outage() -> Unavailable:
    return Unavailable("the Hub", "no answer")


def patient(waited: list[float]) -> Backoff:
    return Backoff(pause=1.0, tries=6, longest=3600.0, sleep=waited.append)


def test_a_step_that_gets_on_is_tried_as_often_as_it_takes() -> None:
    waited: list[float] = []
    told: list[float] = []
    left = iter(range(20, 0, -1))
    done = patient(waited).while_it_moves(failing(20, outage), lambda: next(left), lambda wait, _: told.append(wait))

    assert done == "done"
    assert waited == told == [1.0] * 20


@pytest.mark.parametrize(("times", "ends"), [(6, False), (7, True)])
def test_a_step_that_stands_still_waits_longer_each_time_and_ends(times: int, *, ends: bool) -> None:
    waited: list[float] = []
    step = failing(times, outage)
    if ends:
        with pytest.raises(Unavailable):
            patient(waited).while_it_moves(step, lambda: 5, lambda *_: None)
    else:
        patient(waited).while_it_moves(step, lambda: 5, lambda *_: None)

    assert waited == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize(("seconds", "waits"), [(3600.0, [3600.0]), (3601.0, [])])
def test_a_service_may_ask_for_an_hour_and_no_more(seconds: float, waits: list[float]) -> None:
    waited: list[float] = []
    step = failing(1, lambda: Unavailable("the Hub", "busy", retry_after=seconds))
    if waits:
        patient(waited).while_it_moves(step, lambda: 5, lambda *_: None)
    else:
        with pytest.raises(Unavailable):
            patient(waited).while_it_moves(step, lambda: 5, lambda *_: None)

    assert waited == waits


def test_what_somebody_else_moved_is_tried_again_and_other_faults_are_not() -> None:
    waited: list[float] = []
    assert patient(waited).while_it_moves(failing(1, lambda: Stale("moved")), lambda: 5, lambda *_: None) == "done"
    with pytest.raises(KeyError):
        patient(waited).while_it_moves(failing(1, lambda: KeyError("x")), lambda: 5, lambda *_: None)

    assert waited == [1.0]
