"""Calls are repeated while that may do, and counted against the budget of their account: people first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.errors import Stale, Unavailable
from bot.platforms.net import Backoff, Budgets, bulk_work, is_overtaken, key_of


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
    return Backoff(pause=1.0, tries=7, longest=3600.0, sleep=waited.append)


@pytest.mark.parametrize(("times", "ends"), [(6, False), (7, True)])
def test_a_step_that_stands_still_waits_longer_each_time_and_ends(times: int, *, ends: bool) -> None:
    waited: list[float] = []
    step = failing(times, outage)
    if ends:
        with pytest.raises(Unavailable):
            patient(waited)(step, is_overtaken)
    else:
        patient(waited)(step, is_overtaken)

    assert waited == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize(("seconds", "waits"), [(3600.0, [3600.0]), (3601.0, [])])
def test_a_service_may_ask_for_an_hour_and_no_more(seconds: float, waits: list[float]) -> None:
    waited: list[float] = []
    step = failing(1, lambda: Unavailable("the Hub", "busy", retry_after=seconds))
    if waits:
        patient(waited)(step, is_overtaken)
    else:
        with pytest.raises(Unavailable):
            patient(waited)(step, is_overtaken)

    assert waited == waits


def test_what_somebody_else_moved_is_tried_again_and_other_faults_are_not() -> None:
    waited: list[float] = []
    assert patient(waited)(failing(1, lambda: Stale("moved")), is_overtaken) == "done"
    with pytest.raises(KeyError):
        patient(waited)(failing(1, lambda: KeyError("x")), is_overtaken)

    assert waited == [1.0]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budgets(clock: Clock) -> Budgets:
    return Budgets(clock)


def spent(budgets: Budgets, key: str) -> int:
    """How many requests go through before one has to wait."""
    for count in range(10_000):
        try:
            budgets.spend(key, "the Hub")
        except Unavailable:
            return count
    return 10_000


def test_bulk_work_leaves_half_of_a_window_to_people(budgets: Budgets) -> None:
    budgets.learn("k", 100, 100, 300)
    with bulk_work():
        assert spent(budgets, "k") == 50
    assert spent(budgets, "k") == 50
    with bulk_work(), pytest.raises(Unavailable) as failure:
        budgets.spend("k", "the Hub")
    assert failure.value.retry_after == 300


def test_a_new_window_begins_when_the_old_one_ends(budgets: Budgets, clock: Clock) -> None:
    budgets.learn("k", 100, 0, 60)
    assert spent(budgets, "k") == 0
    clock.now += 60
    assert spent(budgets, "k") == 10_000


def test_what_others_spend_shows_in_the_next_answer(budgets: Budgets) -> None:
    budgets.learn("k", 1000, 900, 100)
    budgets.learn("k", 1000, 510, 99)
    with bulk_work():
        assert spent(budgets, "k") == 10


def test_accounts_and_kinds_do_not_share(budgets: Budgets) -> None:
    one, other = key_of("hub", "hf_secret", "api"), key_of("hub", "hf_other", "api")
    budgets.learn(one, 10, 0, 60)
    assert spent(budgets, one) == 0
    assert spent(budgets, other) == 10_000
    assert spent(budgets, key_of("hub", "hf_secret", "resolvers")) == 10_000
    assert "hf_secret" not in one


def test_a_service_that_names_no_limit_is_believed_what_is_left(budgets: Budgets) -> None:
    budgets.learn("k", None, 40, 60)
    with bulk_work():
        assert spent(budgets, "k") == 20


def test_no_window_that_a_service_names_lasts_longer_than_an_hour(budgets: Budgets, clock: Clock) -> None:
    budgets.learn("api", 100, 0, 10**400)
    assert spent(budgets, "api") == 0
    clock.now += 3600
    assert spent(budgets, "api") == 10_000
