"""Rank statistics against their definitions, and against values worked out elsewhere."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.audits.ranks import kendall, places, ranks, reversed_pairs, spearman

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30)


def tau_b(left: list[int], right: list[int]) -> float | None:
    """Kendall's tau-b by its definition, over all pairs."""
    signs = [
        ((left[i] > left[j]) - (left[i] < left[j]), (right[i] > right[j]) - (right[i] < right[j]))
        for i, j in combinations(range(len(left)), 2)
    ]
    free = sum(bool(x) for x, _ in signs) * sum(bool(y) for _, y in signs)
    return sum(x * y for x, y in signs) / sqrt(free) if free else None


@given(PAIRS)
def test_kendall_equals_its_definition(pairs: list[tuple[int, int]]) -> None:
    left, right = [list(side) for side in zip(*pairs, strict=True)]
    assert kendall(left, right) == pytest.approx(tau_b(left, right))


@given(PAIRS)
def test_reversed_pairs_are_those_that_kendall_counts_against(pairs: list[tuple[int, int]]) -> None:
    left, right = [list(side) for side in zip(*pairs, strict=True)]
    expected = [
        (i, j)
        for i, j in combinations(range(len(left)), 2)
        if (left[i] < left[j] and right[i] > right[j]) or (left[i] > left[j] and right[i] < right[j])
    ]
    assert reversed_pairs(left, right) == expected


def test_ties_share_the_mean_rank_and_the_best_place() -> None:
    assert ranks([10, 20, 20, 30]) == [1, 2.5, 2.5, 4]
    assert places([10, 20, 20, 30]) == [4, 2, 2, 1]


def test_spearman_of_an_order_and_its_reverse() -> None:
    assert spearman([1, 2, 3, 9], [1, 4, 5, 6]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) == pytest.approx(0.8)


def test_what_does_not_vary_has_no_correlation() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert kendall([1, 1, 1], [1, 2, 3]) is None
