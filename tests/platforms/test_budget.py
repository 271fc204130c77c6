"""One budget for each service and account: people first, bulk work at most half of a window."""

from __future__ import annotations

import pytest

from bot.errors import Unavailable
from bot.platforms.net import Budgets, bulk_work, key_of


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
    budgets.spend("k", "the Hub")
    assert budgets.left() == {}


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


def test_no_window_that_a_service_names_lasts_longer_than_an_hour() -> None:
    budgets = Budgets(clock=lambda: 0.0)
    budgets.learn("api", 100, 0, 10**400)

    assert budgets.left()["api"].ends == 3600
