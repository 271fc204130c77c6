"""Ranks of rows whose scores have no standard errors: each pair by the tasks in which one of them is higher.

The exact sign test: of the tasks in which two rows differ, equally good ones win half each. A row is better than
another over tasks where its average is higher and it wins more tasks than chance explains (two-sided p below 0.05).
Tasks with the same numbers in every row are one task: an aggregate under two names wins no second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby

from bot.evaluation.statistics import LEVEL, mcnemar_p

Scores = Sequence[float]


def distinct_tasks(rows: Sequence[Scores]) -> tuple[int, ...]:
    """The places of the tasks, of those whose scores are equal in every row only the first."""
    found: dict[Scores, int] = {}
    for place, scores in enumerate(zip(*rows, strict=True)):
        found.setdefault(scores, place)
    return tuple(found.values())


@cache
def least_wins(losses: int, most: int) -> int:
    """The fewest wins beside so many losses that chance does not explain; `most + 1` where as many tasks cannot."""
    return next((wins for wins in range(losses + 1, most + 1) if mcnemar_p(wins, losses) < LEVEL), most + 1)


def is_better(one: Scores, other: Scores) -> bool:
    """Tell whether the first of two rows wins more tasks than chance explains."""
    wins = sum(a > b for a, b in zip(one, other, strict=True))
    losses = sum(a < b for a, b in zip(one, other, strict=True))
    return wins >= least_wins(losses, len(one))


def ranges_over_tasks(rows: Sequence[Scores]) -> list[tuple[int, int]]:
    """The best and the worst rank of each row, by the scores of its tasks; the rows come from the best average down.

    Sets of rows are whole numbers with a bit for each row, so that a row is compared with all others at once: for each
    row the numbers of its wins and losses against every other are kept in binary, a set for each digit.
    """
    tasks = len(rows[0]) if rows else 0
    wins: list[list[int]] = [[] for _ in rows]
    losses: list[list[int]] = [[] for _ in rows]
    everybody = (1 << len(rows)) - 1
    for task in range(tasks):
        lower = 0
        order = sorted(range(len(rows)), key=lambda row: rows[row][task])
        for _, group in groupby(order, key=lambda row: rows[row][task]):
            equal = list(group)
            here = sum(1 << row for row in equal)
            higher = everybody ^ lower ^ here
            for row in equal:
                _add(wins[row], lower)
                _add(losses[row], higher)
            lower |= here
    found = []
    for row in range(len(rows)):
        above = (1 << row) - 1
        beaten = _won(wins[row], losses[row], tasks, everybody) & ~above
        by = _won(losses[row], wins[row], tasks, everybody) & above
        found.append((1 + by.bit_count(), len(rows) - beaten.bit_count()))
    return found


def _add(digits: list[int], carry: int) -> None:
    """Add one to the numbers of a set of rows."""
    for place, digit in enumerate(digits):
        digits[place], carry = digit ^ carry, digit & carry
        if not carry:
            return
    if carry:
        digits.append(carry)


def _won(wins: Sequence[int], losses: Sequence[int], tasks: int, everybody: int) -> int:
    """The rows against which the wins are more than chance explains beside the losses."""
    found = 0
    for lost in range(tasks + 1):
        least = least_wins(lost, tasks)
        if least + lost > tasks:
            break
        found |= (
            _at_least(losses, lost, everybody)
            & ~_at_least(losses, lost + 1, everybody)
            & _at_least(wins, least, everybody)
        )
    return found


def _at_least(digits: Sequence[int], number: int, everybody: int) -> int:
    """The rows whose number is not below a number."""
    if number >> len(digits):
        return 0
    above, equal = 0, everybody
    for place in range(len(digits) - 1, -1, -1):
        if number >> place & 1:
            equal &= digits[place]
        else:
            above |= equal & digits[place]
            equal &= ~digits[place]
    return above | equal
