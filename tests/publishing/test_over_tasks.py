"""Ranks over tasks, against each pair's exact sign test by the binomial distribution."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

import pytest
from msgspec.structs import replace

from bot.publishing.board import make_board
from bot.publishing.over_tasks import ranges_over_tasks
from tests.evaluation.judging import declared
from tests.pages.boards import generated


def sign_test(one: list[float], other: list[float]) -> tuple[int, Fraction]:
    """How many more tasks the first wins than it loses, and the two-sided p, exact."""
    wins, losses = (sum(a > b for a, b in zip(*pair, strict=True)) for pair in ((one, other), (other, one)))
    n = wins + losses
    tail = sum(Fraction(comb(n, k), 2**n) for k in range(min(wins, losses) + 1))
    return wins - losses, min(Fraction(1), 2 * tail)


@pytest.mark.parametrize(("rows", "tasks", "digits"), [(30, 6, 1), (25, 13, 0), (20, 56, 0), (1, 6, 1)])
def test_ranges_count_the_pairs_that_the_sign_test_separates(rows: int, tasks: int, digits: int) -> None:
    random = Random(tasks)
    scores = [[round(random.gauss(50 + row / 2, 6), digits) for _ in range(tasks)] for row in range(rows)]
    scores.sort(key=sum, reverse=True)

    def is_better(one: list[float], other: list[float]) -> bool:
        margin, p = sign_test(one, other)
        return margin > 0 and p < Fraction(1, 20)

    expected = [
        (
            1 + sum(is_better(above, one) for above in scores[:place]),
            rows - sum(is_better(one, below) for below in scores[place + 1 :]),
        )
        for place, one in enumerate(scores)
    ]
    assert ranges_over_tasks(scores) == expected
    assert rows == 1 or any(best != worst for best, worst in expected)


def test_a_board_without_errors_is_ranked_over_its_tasks_and_one_with_an_error_is_not() -> None:
    bare = tuple(
        replace(entry, stderr=None, tasks=tuple(replace(task, stderr=None) for task in entry.tasks))
        for entry in generated(12)
    )
    board = make_board(bare, declared())
    scores = [[task.score or 0.0 for task in row.entry.tasks] for row in board.rows]
    assert [(row.rank, row.worst) for row in board.rows] == ranges_over_tasks(scores)
    assert all(row.is_over_tasks for row in board.rows)
    twice = tuple(
        replace(entry, tasks=(*entry.tasks, *(replace(task, id=f"{task.id}-again") for task in entry.tasks)))
        for entry in bare
    )
    assert [(row.rank, row.worst) for row in make_board(twice, declared()).rows] == ranges_over_tasks(scores)
    mixed = make_board((*bare[1:], generated(12)[0]), declared())
    assert not any(row.is_over_tasks for row in mixed.rows)
