"""What changed in a long list: all of it is found, by few pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.discussions import Listed
from bot.platforms.hub.list_changes import ListChanges, UnexpectedOrder

SIZE = 10


def pages_of(numbers: list[int]) -> tuple[list[int], Callable[[int], tuple[int, list[Listed]]]]:
    """The pages that were asked for, and what gives them."""
    asked: list[int] = []

    def read(page: int) -> tuple[int, list[Listed]]:
        asked.append(page)
        some = numbers[page * SIZE : (page + 1) * SIZE]
        return len(numbers), [Listed(num, "", "open", "bot", pull_request=True) for num in some]

    return asked, read


def newest_first(numbers: set[int]) -> list[int]:
    return sorted(numbers, reverse=True)


@given(st.sets(st.integers(1, 120)), st.sets(st.integers(1, 120), max_size=4))
def test_what_is_gone_or_new_is_found(known: set[int], changed: set[int]) -> None:
    is_one_way = changed <= known or not changed & known  # as many gone as came look like nothing to the count
    there = known ^ changed
    asked, read = pages_of(newest_first(there))
    changes = ListChanges(read, known)
    gone = changes.search()
    assert len(asked) == len(set(asked))
    assert not gone & there
    if is_one_way:
        assert gone == known - there
        assert there - known <= changes.found.keys()


@pytest.mark.parametrize("closed", [1, 2, 5_000, 9_995, 10_000])
def test_one_closed_request_of_ten_thousand_is_found_by_few_pages(closed: int) -> None:
    known = set(range(1, 10_001))
    asked, read = pages_of(newest_first(known - {closed}))
    assert ListChanges(read, known).search() == {closed}
    assert len(asked) <= 20


def test_many_new_ones_are_read_page_by_page() -> None:
    asked, read = pages_of(newest_first(set(range(1, 1_051))))
    changes = ListChanges(read, set(range(1, 1_001)))
    assert changes.search() == set()
    assert changes.found.keys() >= set(range(1_001, 1_051))
    assert len(asked) <= 7


def test_nothing_more_is_read_where_the_count_agrees() -> None:
    asked, read = pages_of(newest_first(set(range(1, 10_002))))
    changes = ListChanges(read, set(range(1, 10_001)))
    assert changes.search() == set()
    assert asked == [0]
    assert changes.found.keys() == set(range(9_992, 10_002))


@pytest.mark.parametrize(
    "numbers",
    [
        [*range(1, 31)],  # the oldest first
        [7, *newest_first(set(range(1, 31)) - {7})],  # a pinned one before all others
    ],
)
def test_a_list_in_another_order_is_refused(numbers: list[int]) -> None:
    _, read = pages_of(numbers)
    with pytest.raises(UnexpectedOrder):
        ListChanges(read, set(range(1, 33))).search()


def test_a_page_that_is_cut_short_is_refused() -> None:
    _, read = pages_of(newest_first(set(range(1, 33)) - {3, 4}))

    def cut(page: int) -> tuple[int, list[Listed]]:
        total, rows = read(page)
        return total, rows[:3] if page else rows

    with pytest.raises(UnexpectedOrder):
        ListChanges(cut, set(range(1, 33))).search()


def test_a_list_that_says_more_than_it_gives_is_refused() -> None:
    with pytest.raises(UnexpectedOrder):
        ListChanges(lambda _: (5, []), {1, 2}).search()
    assert ListChanges(lambda _: (0, []), {1, 2}).search() == {1, 2}
