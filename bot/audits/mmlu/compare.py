"""Compares the orders of the same models under several implementations, and who is first in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

from bot.audits.ranks import kendall, places, reversed_pairs, spearman


@dataclass(frozen=True, slots=True)
class Gap:
    """A model and the absolute difference of its scores."""

    model: str
    gap: float


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns held against each other: `reversed` are the pairs of models that they order in opposite ways."""

    left: str
    right: str
    kendall_tau: float | None
    spearman: float | None
    pairs: int
    reversed: tuple[tuple[str, str], ...]
    largest: Gap
    mean_gap: float


@dataclass(frozen=True, slots=True)
class ImplementationComparison:
    """All pairs of columns; `ranks` of each model by column, `first` of each column, `spread` from largest to least."""

    columns: tuple[str, ...]
    ranks: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float, ...]]
    first: Mapping[str, str]
    pairs: tuple[ColumnPair, ...]
    spread: tuple[Gap, ...]


def compare(models: Sequence[str], columns: Mapping[str, Sequence[float]]) -> ImplementationComparison:
    """Compare columns of scores, each with one score for each model, in the order of `models`."""
    ranked = {column: places(scores) for column, scores in columns.items()}
    rows = dict(zip(models, zip(*columns.values(), strict=True), strict=True))
    spread = [Gap(model, max(scores) - min(scores)) for model, scores in rows.items()]
    return ImplementationComparison(
        tuple(columns),
        dict(zip(models, zip(*ranked.values(), strict=True), strict=True)),
        rows,
        {column: models[ranks.index(1)] for column, ranks in ranked.items()},
        tuple(_pair(models, columns, *two) for two in combinations(columns, 2)),
        tuple(sorted(spread, key=lambda one: -one.gap)),
    )


def _pair(models: Sequence[str], columns: Mapping[str, Sequence[float]], left: str, right: str) -> ColumnPair:
    one, other = columns[left], columns[right]
    gaps = [Gap(model, abs(a - b)) for model, a, b in zip(models, one, other, strict=True)]
    turned = tuple((models[i], models[j]) for i, j in reversed_pairs(one, other))
    return ColumnPair(
        left,
        right,
        kendall(one, other),
        spearman(one, other),
        len(models) * (len(models) - 1) // 2,
        turned,
        max(gaps, key=lambda gap: gap.gap),
        fsum(gap.gap for gap in gaps) / len(gaps),
    )
