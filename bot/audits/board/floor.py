"""Finds a floor that lies apart from the rest of a column and holds weak and strong rows alike, wherever it lies.

Every cut between two values of the column is tried. A cut parts a floor from the rest where the lower rows lie close
together beside the spread of the column, and hardly any row follows just above. Of such a cut it is asked how often, of
one row from each side, the upper one is also the stronger by the other columns: always in a benchmark that weak models
fail, half of the time where the floor has nothing to do with strength (the area under the ROC curve, or Mann and
Whitney's U; Hanley and McNeil 1982).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from bot.audits.ranks import ranks

# Chosen on one half of the synthetic boards in docs/audit-board.md; the error rates there are those of the other half.
LEAST, MOST = 0.2, 0.9  # shares of the rows that a floor holds
CLOSE = 0.35  # spread of the floor, as a share of the column's
APART = 0.25  # density of rows just above the floor, as a share of that in it
UNORDERED, UNORDERED_FEW = 0.65, 0.6  # share of pairs whose upper row is the stronger; with fewer rows than `MANY`
MANY = 80
FEWEST = 5  # rows on each side
TAILS = 0.05  # of the lower end of the floor and the upper end of the column, which are left out of a spread


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor: the lowest and the highest value in it, its share of the rows, and the share of ordered pairs."""

    low: float
    high: float
    mass: float
    ordered: float


def find_floor(values: Sequence[float], strength: Sequence[float]) -> Floor | None:
    """Return the floor that has least to do with strength, None where no cut parts such a floor from the rest."""
    rows = len(values)
    order = sorted(range(rows), key=values.__getitem__)
    ordered = [values[i] for i in order]
    placed = ranks(strength)
    sums = list(accumulate(placed[i] for i in order))
    found: Floor | None = None
    for count in range(max(FEWEST, ceil(LEAST * rows)), min(rows - FEWEST, int(MOST * rows)) + 1):
        if ordered[count] <= ordered[count - 1] or not _is_apart(ordered, count):
            continue
        weaker = sums[count - 1] - count * (count + 1) / 2
        share = 1 - weaker / (count * (rows - count))
        if share <= (UNORDERED if rows >= MANY else UNORDERED_FEW) and (found is None or share < found.ordered):
            found = Floor(ordered[0], ordered[count - 1], count / rows, share)
    return found


def ordered_share(values: Sequence[float], strength: Sequence[float], top: float) -> float:
    """Return how often, of a row up to `top` and one above, the upper is the stronger; 1 where a side has no row."""
    placed = ranks(strength)
    below = [rank for value, rank in zip(values, placed, strict=True) if value <= top]
    count, above = len(below), len(values) - len(below)
    if not count or not above:
        return 1.0
    return 1 - (sum(below) - count * (count + 1) / 2) / (count * above)


def _is_apart(ordered: Sequence[float], count: int) -> bool:
    """Whether the lowest rows lie close together, and hardly any row just above them."""
    rows = len(ordered)
    low, high = ordered[int(TAILS * (count - 1))], ordered[count - 1]
    top = ordered[rows - 1 - int(TAILS * (rows - count - 1))]
    if high - low > CLOSE * (top - low):
        return False
    above = bisect_right(ordered, high + (high - low) / 2) - count
    return above <= APART * count / 2
