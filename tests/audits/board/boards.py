"""Synthetic boards: sound columns of six shapes, and columns that are broken in known ways."""

from __future__ import annotations

import math
from random import Random
from statistics import pstdev

from bot.audits.score_table import PublishedTable

SHAPES = ("plain", "chance", "skewed", "clipped", "ceiling", "flat")


def sound(rows: int, random: Random, columns: int = 6) -> list[list[float]]:
    """Columns of one common strength plus noise (loading 0.7 to 0.95), each of a shape that boards really have."""
    strength = [random.gauss(0, 1) for _ in range(rows)]
    return [column(strength, random) for _ in range(columns)]


def column(strength: list[float], random: Random) -> list[float]:
    loading = random.uniform(0.7, 0.95)
    noisy = [loading * value + math.sqrt(1 - loading**2) * random.gauss(0, 1) for value in strength]
    return shaped(noisy, random.choice(SHAPES), random)


def shaped(noisy: list[float], shape: str, random: Random) -> list[float]:
    """Give a standard normal column a shape; `chance` and `clipped` have a floor that weak rows reach."""
    if shape == "chance":
        start = random.uniform(-1, 0.3)
        return [25 + random.gauss(0, 1) + 15 * max(0.0, value - start) for value in noisy]
    if shape == "clipped":
        start = random.uniform(-1, 0.5)
        return [20 * max(0.0, value - start) for value in noisy]
    forms = {
        "plain": lambda value: 50 + 12 * value,
        "skewed": lambda value: 8 * math.exp(0.8 * value),
        "ceiling": lambda value: min(100.0, 90 + 12 * value),
        "flat": lambda value: 50 * (1 + math.erf(value / math.sqrt(2))),
    }
    return [forms[shape](value) for value in noisy]


def floored(columns: list[list[float]], share: float, random: Random) -> list[float]:
    """A column in which a share of the rows, strong and weak alike, lies on a floor; the others follow.

    It is as high or low, and as wide, as the board is.
    """
    means = [sum(row) / len(row) for row in zip(*columns, strict=True)]
    unit = pstdev(means)
    return [
        random.gauss(0.4 * unit, 0.08 * unit)
        if random.random() < share
        else max(0.65 * unit, 0.75 * mean + 1.2 * unit + random.gauss(0, 0.5 * unit))
        for mean in means
    ]


def low(columns: list[list[float]], random: Random) -> list[list[float]]:
    """The columns of a board on which nearly everybody scores low; up to half of the rows of each reach nothing."""
    lowered = []
    for values in columns:
        scale, base = random.uniform(0.08, 0.3), sorted(values)[int(random.uniform(0, 0.5) * len(values))]
        lowered.append([max(0.0, (value - base) * scale) + abs(random.gauss(0, 0.3)) for value in values])
    return lowered


def planted(values: list[float], share: float, random: Random) -> list[float]:
    """A sound column of which a share of the rows, strong and weak alike, is put on a floor below all others.

    The floor is 2 to 20 % of the column's range wide, and 0 to 15 % of it below the rest.
    """
    ordered = sorted(values)
    last = len(ordered) - 1
    span = ordered[int(0.98 * last)] - ordered[int(0.02 * last)]
    width = random.uniform(0.02, 0.2) * span
    bottom = ordered[int(0.02 * last)] - random.uniform(0, 0.15) * span - width
    return [bottom + width * random.random() if random.random() < share else value for value in values]


def board(columns: list[list[float]]) -> PublishedTable:
    names = tuple(f"org/model-{i}" for i in range(len(columns[0])))
    return PublishedTable(names, {f"c{i}": tuple(values) for i, values in enumerate(columns)})
