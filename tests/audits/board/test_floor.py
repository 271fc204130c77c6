"""The search for a floor: any values, and what a floor says of itself."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.audits.board.audit import find_floor, ordered_share
from bot.audits.ranks import ranks

NUMBERS = st.floats(0, 100) | st.sampled_from([0.0, 1.0, 50.0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=60))
def test_any_column_has_a_floor_or_none(rows: list[tuple[float, float]]) -> None:
    values, strength = zip(*rows, strict=True)
    floor = find_floor(values, lambda: strength)
    if floor is not None:
        on_floor = [value for value in values if floor.low <= value <= floor.high]
        assert floor.low == min(values)
        assert len(on_floor) / len(values) == floor.mass
        assert floor.doubt < 0.7
        below = [rank for value, rank in zip(values, ranks(strength), strict=True) if value <= floor.high]
        assert ordered_share(sum(below), len(below), len(values)) == pytest.approx(floor.ordered)


def column(rows: int, share: float, random: Random) -> tuple[list[float], list[float]]:
    """A column that follows strength, but for a share of its rows, which lie at 0 to 1."""
    strength = [random.gauss(0, 1) for _ in range(rows)]
    follows = [20 + 5 * value + random.gauss(0, 2) for value in strength]
    return [random.random() if random.random() < share else value for value in follows], strength


def test_a_floor_says_where_it_is_and_how_many_rows_it_holds() -> None:
    values, strength = column(2500, 0.4, Random(1))
    floor = find_floor(values, lambda: strength)
    assert floor is not None
    assert 0 <= floor.low < floor.high < 12  # the other rows are about 20
    assert abs(floor.mass - 0.4) < 0.05
    assert abs(floor.ordered - 0.5) < 0.05


def test_the_weakest_rows_on_a_floor_are_a_hard_benchmark() -> None:
    values, strength = column(200, 0, Random(2))
    middle = sorted(values)[100]
    assert find_floor([max(value, middle) for value in values], lambda: strength) is None


def test_the_same_order_gives_the_same_answer_however_high_the_scores_are() -> None:
    values, strength = column(200, 0.4, Random(3))
    high, low = find_floor(values, lambda: strength), find_floor([value / 50 + 3 for value in values], lambda: strength)
    assert high is not None
    assert low is not None
    assert (high.mass, high.ordered, high.density) == (low.mass, low.ordered, low.density)
    assert high.gap == pytest.approx(low.gap)


def test_steps_of_a_coarse_column_are_no_gaps() -> None:
    """A quiz of twenty questions has 21 values: that the next value is one step above the floor says nothing."""
    random = Random(4)
    values = [0 if random.random() < 0.4 else random.randrange(1, 21) for _ in range(60)]
    floor = find_floor(values, lambda: [value or random.randrange(21) for value in values])
    assert floor is not None
    assert floor.high == 0
    assert floor.gap == 0
