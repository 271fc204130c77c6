"""Find rows on the floor of a column whatever their strength, wherever the floor ends.

At each place where a floor may end the rows below and above are compared: how often, of one row from each side, the
upper is the stronger by the other columns (the area under the ROC curve; Hanley and McNeil 1982). On a floor that has
nothing to do with strength that is half of the pairs; the weakest rows of a sound column lose nearly all, whatever the
scale of the column and however many of them share its lowest value. A floor is also apart from the rest: few rows
follow just above it, after a gap. Both are added to the share of ordered pairs, and the least sum is held against a
limit that leaves room for chance on boards of few rows. Only orders and shares of the range count, so it does not
matter whether a board's scores are high or low.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil, sqrt
from statistics import median

from bot.audits.ranks import ranks

# Chosen on synthetic boards and on half of the slices of real ones; docs/audit-board.md has the error rates of others.
LEAST, MOST = 0.19, 0.9  # shares of the rows that a floor holds
FEWEST = 4  # rows on each side of the place
HIGHEST, SURE, CHANCE = 0.73, 0.835, 1.95  # the limit: SURE - CHANCE / sqrt(rows), at most HIGHEST
DENSE, APART = 0.2, 2.0  # what density counts, as a share of that on the floor, and the gap, as a share of the range
DENSEST, WIDEST = 1.0, 0.04  # above this density no floor ends; a gap counts no more than this
WIDTH = 0.2  # of the range: what is wider than this is most of a column and no floor
TAIL = 0.05  # of the rows on a floor, the lowest, which are left out of its spread
TRIM = 0.02  # of all rows, the highest and the lowest, which are left out of the range


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor: the lowest and the highest value in it, its share of the rows, and the share of ordered pairs.

    `ordered` says how often, of a row on the floor and one above, the upper is the stronger. `density` is that of the
    rows just above as a share of that on the floor, `gap` the distance to the next value as a share of the range.
    """

    low: float
    high: float
    mass: float
    ordered: float
    density: float
    gap: float

    @property
    def doubt(self) -> float:
        """The sum that is small at a floor: the share of ordered pairs, plus density above, minus the gap above."""
        return self.ordered + DENSE * self.density - APART * min(self.gap, WIDEST)


def find_floor(values: Sequence[float], strength: Sequence[float]) -> Floor | None:
    """Return the floor that holds many rows irrespective of strength, None if none does.

    `strength` orders the rows as the other columns do.
    """
    limit = min(HIGHEST, SURE - CHANCE / sqrt(len(values)))
    least = min(_floors(values, strength, limit), key=lambda floor: floor.doubt, default=None)
    return least if least is not None and least.doubt < limit else None


def ordered_share(values: Sequence[float], placed: Sequence[float], top: float) -> float:
    """Return how often, of a row up to `top` and one above, the upper is the stronger; 1 where a side has no row.

    `placed` are the ranks of the rows by strength.
    """
    below = [rank for value, rank in zip(values, placed, strict=True) if value <= top]
    return _ordered(sum(below), len(below), len(values))


def _ordered(ranks_below: float, count: int, rows: int) -> float:
    above = rows - count
    return 1 - (ranks_below - count * (count + 1) / 2) / (count * above) if count and above else 1.0


def _floors(values: Sequence[float], strength: Sequence[float], limit: float) -> Iterator[Floor]:
    """Yield what lies below each place where a floor may end: between two values, with fewer rows just above.

    Left out is what the widest gap would not bring below the limit of doubt.
    """
    rows = len(values)
    column = sorted(values)
    placed = [rank for _, rank in sorted(zip(values, ranks(strength), strict=True))]
    below = list(accumulate(placed))
    step = median([high - low for low, high in pairwise(column) if high > low] or [0.0])
    odd = int(TRIM * (rows - 1))
    span = column[rows - 1 - odd] - column[odd]
    for count in range(max(FEWEST, ceil(LEAST * rows)), min(rows - FEWEST, int(MOST * rows)) + 1):
        high, following = column[count - 1], column[count]
        ordered = _ordered(below[count - 1], count, rows)
        if following <= high or ordered - APART * WIDEST >= limit:
            continue
        spread = high - column[int(TAIL * (count - 1))]
        if spread > WIDTH * span:
            break
        density = 2 * (bisect_right(column, high + spread / 2) - count) / count
        if density <= DENSEST:
            gap = max(following - high - step, 0.0) / span if span > 0 else 0.0
            yield Floor(column[0], high, count / rows, ordered, density, gap)
