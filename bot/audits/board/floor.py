"""Finds rows that lie on the floor of a column irrespective of strength, wherever the floor ends.

Two stories are told of each place where a floor may end, and compared by their likelihood. In both a column follows
the strength that the other columns show, with noise (a Gaussian copula with correlation r), and its weakest rows may
lie on a floor, in no order (a censored column; Tobin 1958). In the sound story at most a tenth of all rows lie there
for another reason than weakness; in the other one at least a fifth do. Both choose the r, and the share of such rows,
that fit best. Because only the order of the rows counts, it does not matter whether a board's scores are high or low,
and because a sound column may have a floor, too, one that is hard for all is not taken for a broken one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, erfc, inf, log, sqrt
from statistics import NormalDist

from bot.audits.ranks import ranks

# Chosen on synthetic boards; the error rates in docs/audit-board.md are those of boards from other seeds.
LEAST, MOST = 0.19, 0.9  # shares of the rows that a floor holds
FEW = 0.1  # share of all rows that lie on the floor of a sound column irrespective of strength, at most
UNORDERED, UNORDERED_SMALL = 0.66, 0.62  # share of pairs whose upper row is the stronger; on a board of few rows
SMALL = 80  # rows: fewer are few
LEAST_BETTER, BETTER_PER_ROW = 2.0, 0.01  # by how much the log-likelihood is higher where the same floor is given
WORSE = 0.5  # by how much it may be lower where each story chooses its floor
THINNER = 0.7  # density of rows just above a floor, as a share of that in it, at most
TAIL = 0.05  # of the rows on a floor, the lowest, which are left out of its spread
CUTS = 16  # places at which a floor is tried to end
MOST_ROWS = 250  # of more rows every second, third … in the order of the column is taken: enough, and fast

NORMAL = NormalDist()
CORRELATIONS = (0.3, 0.5, 0.65, 0.78, 0.88, 0.95)
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.52, 0.65, 0.78)
ENDS = 0.1, 0.93  # shares of the rows below the first and the last cut
FEWEST = 4  # rows on each side of a cut


@dataclass(frozen=True, slots=True)
class Floor:
    """A floor: the lowest and the highest value in it, its share of the rows, and the share of ordered pairs.

    `ordered` says how often, of a row on the floor and one above, the upper is the stronger: half of the time where the
    floor has nothing to do with strength (the area under the ROC curve; Hanley and McNeil 1982). `better` is by how
    much the log-likelihood is higher when many rows lie there irrespective of strength than when few do.
    """

    low: float
    high: float
    mass: float
    ordered: float
    better: float


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well both stories explain a column with a floor of the lowest `count` rows of a sample: log-likelihoods."""

    count: int
    sound: float
    broken: float


def find_floor(values: Sequence[float], strength: Sequence[float]) -> Floor | None:
    """Return the floor that holds many rows irrespective of strength, None where none does.

    `strength` orders the rows as the other columns do.
    """
    rows = len(values)
    order = sorted(range(rows), key=values.__getitem__)
    taken = order[:: ceil(rows / MOST_ROWS)]
    column, strong = [values[i] for i in taken], ranks([strength[i] for i in taken])
    cuts = _cuts(column)
    ordered = {cut: ordered_share(values, strength, column[cut - 1]) for cut in cuts if _is_end(column, cut)}
    most = UNORDERED if rows >= SMALL else UNORDERED_SMALL
    if min(ordered.values(), default=1.0) > most:
        return None
    fits, no_floor = _fits(column, strong, cuts)
    if max((fit.broken for fit in fits), default=-inf) < max([no_floor, *(fit.sound for fit in fits)]) - WORSE:
        return None
    least = max(LEAST_BETTER, BETTER_PER_ROW * len(column))
    found = [fit for fit in fits if ordered.get(fit.count, 1.0) <= most and fit.broken - fit.sound >= least]
    if not found:
        return None
    best = max(found, key=lambda fit: fit.broken - fit.sound)
    high = column[best.count - 1]
    mass = sum(value <= high for value in values) / rows
    return Floor(values[order[0]], high, mass, ordered[best.count], best.broken - best.sound)


def ordered_share(values: Sequence[float], strength: Sequence[float], top: float) -> float:
    """Return how often, of a row up to `top` and one above, the upper is the stronger; 1 where a side has no row."""
    placed = ranks(strength)
    below = [rank for value, rank in zip(values, placed, strict=True) if value <= top]
    count, above = len(below), len(values) - len(below)
    if not count or not above:
        return 1.0
    return 1 - (sum(below) - count * (count + 1) / 2) / (count * above)


def _is_end(column: Sequence[float], cut: int) -> bool:
    """Whether a floor may end here: it holds neither too few nor too many rows, and fewer follow just above."""
    low, high = column[int(TAIL * (cut - 1))], column[cut - 1]
    above = bisect_right(column, high + (high - low) / 2) - cut
    return LEAST <= cut / len(column) <= MOST and above <= THINNER * cut / 2


def _cuts(column: Sequence[float]) -> list[int]:
    """Return how many rows lie below each place where a floor may end: between two values, evenly over the rows."""
    rows = len(column)
    first, last = max(FEWEST, ceil(ENDS[0] * rows)), min(rows - FEWEST, int(ENDS[1] * rows))
    cuts = [count for count in range(first, last + 1) if column[count] > column[count - 1]]
    if len(cuts) <= CUTS:
        return cuts
    return [cuts[place * (len(cuts) - 1) // (CUTS - 1)] for place in range(CUTS)]


def _scores(places: Sequence[float], rows: int) -> list[float]:
    """Return the normal score of each rank."""
    return [NORMAL.inv_cdf((place - 0.5) / rows) for place in places]


def _fits(column: Sequence[float], strong: Sequence[float], cuts: Sequence[int]) -> tuple[list[_Fit], float]:
    """Return what both stories come to at each cut, and the log-likelihood of a sound column without a floor."""
    rows = len(column)
    strengths, placed = _scores(strong, rows), ranks(column)
    above = {
        (r, share): _above(placed, strengths, r, share) for share in SHARES for r in CORRELATIONS
    }  # from each row upwards
    fits = []
    for cut in cuts:
        sound: list[float] = []
        broken: list[float] = []
        for (r, share), tail in above.items():
            if share * rows <= cut:
                story = sound if share <= FEW else broken
                story.append(_on_floor(strengths[:cut], cut / rows, r, share) + tail[cut])
        if broken:
            fits.append(_Fit(cut, max(sound), max(broken)))
    return fits, max(above[r, 0.0][0] for r in CORRELATIONS)


def _above(placed: Sequence[float], strengths: Sequence[float], r: float, share: float) -> list[float]:
    """Return the log-likelihood of the rows from each one upwards, which follow strength: a Gaussian copula.

    `share` of the rows lie on the floor irrespective of strength; the quantile of a row is that among the others.
    """
    rows, noise = len(placed), 1 - r * r
    found = []
    for place, x in zip(placed, strengths, strict=True):
        quantile = ((place - 0.5) / rows - share) / (1 - share)
        z = NORMAL.inv_cdf(min(max(quantile, 1e-9), 1 - 1e-9))
        found.append((z * z - (z - r * x) ** 2 / noise - log(noise)) / 2)
    return [*list(accumulate(reversed(found)))[::-1], 0.0]


def _on_floor(strengths: Sequence[float], mass: float, r: float, share: float) -> float:
    """Return the log-likelihood of the rows on the floor, in no order: there irrespective of strength, or too weak."""
    weak = max((mass - share) / (1 - share), 1e-6)  # the share of the others that the floor takes
    scale = sqrt(2 * (1 - r * r))
    start, slope, half = -NORMAL.inv_cdf(weak) / scale, r / scale, (1 - share) / 2
    on_floor = [log(share + half * erfc(start + slope * x) + 1e-12) for x in strengths]
    return sum(on_floor) - len(on_floor) * log(mass)
