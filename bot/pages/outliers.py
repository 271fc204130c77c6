"""Scores that the other columns of their row make unlikely: places to look at, and no verdict.

Each column is held against the mean of the others by a straight line of least squares over all complete rows. A score
is odd where it lies further from that line than FAR times the spread of all scores around it (1.4826 times the median
distance, which few odd rows do not move) together with its own standard error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, hypot
from statistics import median

FEWEST_ROWS, FEWEST_COLUMNS = 12, 3  # for a line that says anything: with fewer rows marks are no more frequent
FAR = 6.0  # of 6,000 scores of the Open LLM Leaderboard v2 one is that far, of 11,600 of MTEB in English 22
NORMAL = 1.4826  # the standard deviation of a normal distribution, in median distances


def odd_scores(
    columns: Mapping[str, Sequence[float]], errors: Mapping[str, Sequence[float]]
) -> dict[str, dict[int, float]]:
    """By column the places of odd rows, each with the score that the other columns would give it."""
    count = len(next(iter(columns.values()), ()))
    if count < FEWEST_ROWS or len(columns) < FEWEST_COLUMNS:
        return {}
    sums = [fsum(row) for row in zip(*columns.values(), strict=True)]
    return {
        name: found
        for name, values in columns.items()
        for others in [[(total - one) / (len(columns) - 1) for total, one in zip(sums, values, strict=True)]]
        if (found := _odd(values, others, errors[name]))
    }


def _odd(values: Sequence[float], others: Sequence[float], errors: Sequence[float]) -> dict[int, float]:
    middle, mean = fsum(others) / len(others), fsum(values) / len(values)
    spread = fsum((one - middle) ** 2 for one in others)
    if not spread:
        return {}
    slope = fsum((one - middle) * (value - mean) for one, value in zip(others, values, strict=True)) / spread
    expected = [mean + slope * (one - middle) for one in others]
    off = [abs(value - one) for value, one in zip(values, expected, strict=True)]
    scale = NORMAL * median(off)
    return {place: expected[place] for place, one in enumerate(off) if one > FAR * hypot(scale, errors[place])}
