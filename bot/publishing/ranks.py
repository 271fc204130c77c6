"""Ranges of ranks: the best and the worst rank that a row may have, given the standard errors.

Row j is better than row i beyond chance where average_j - average_i > 1.96 sqrt(se_i^2 + se_j^2), the standard error of
a difference of independent measurements. The best rank of a row is one more than the rows that are better beyond
chance, its worst the number of rows less those that it is better than beyond chance.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import sqrt

# Two averages are tied where they differ by at most this many standard errors of their difference (95 %).
TIE = 1.96


def rank_ranges(averages: Sequence[float], errors: Sequence[float]) -> list[tuple[int, int]]:
    """The best and the worst rank of each row, 1 being the best; the averages come from the largest down.

    Only rows whose difference lies between the smallest and the largest threshold are compared one by one.
    """
    falling = [-average for average in averages]
    least, largest = min(errors, default=0.0), max(errors, default=0.0)
    ranges = []
    for fell, error in zip(falling, errors, strict=True):
        near, far = TIE * sqrt(error * error + least * least), TIE * sqrt(error * error + largest * largest)
        better = bisect_left(falling, fell - far)
        worse = bisect_right(falling, fell + far)
        doubtful = range(better, bisect_left(falling, fell - near))
        better += sum(fell - falling[j] > TIE * sqrt(error * error + errors[j] * errors[j]) for j in doubtful)
        doubtful = range(bisect_right(falling, fell + near), worse)
        beaten = sum(falling[j] - fell > TIE * sqrt(error * error + errors[j] * errors[j]) for j in doubtful)
        ranges.append((better + 1, worse - beaten))
    return ranges
