"""Compute how averages and ranks of a board change without some columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from bot.audits.ranks import kendall, places


@dataclass(frozen=True, slots=True)
class RowEffect:
    """One row with and without: its average (plain mean of the columns) and its rank (1 is best)."""

    name: str
    average_with: float
    average_without: float
    rank_with: int
    rank_without: int


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of leaving columns out.

    The mean of all averages with and without, Kendall's tau-b between the two orders, how many rows change their
    rank, the largest change, and who is first.
    """

    mean_with: float
    mean_without: float
    tau: float | None
    rows_moved: int
    largest_move: int
    first_with: str
    first_without: str


def effect_of(names: Sequence[str], columns: Mapping[str, Sequence[float]], without: Collection[str]) -> Effect:
    """Return the effect of leaving columns out."""
    having, lacking = _averages(columns), _averages(columns, without)
    rank_with, rank_without = places(having), places(lacking)
    moves = [abs(one - other) for one, other in zip(rank_with, rank_without, strict=True)]
    return Effect(
        mean_with=fsum(having) / len(names),
        mean_without=fsum(lacking) / len(names),
        tau=kendall(having, lacking),
        rows_moved=sum(map(bool, moves)),
        largest_move=max(moves),
        first_with=names[rank_with.index(1)],
        first_without=names[rank_without.index(1)],
    )


def moved_rows(
    names: Sequence[str], columns: Mapping[str, Sequence[float]], without: Collection[str]
) -> tuple[RowEffect, ...]:
    """Return what leaving columns out does to each row, those that move most first."""
    having, lacking = _averages(columns), _averages(columns, without)
    rows = [RowEffect(*row) for row in zip(names, having, lacking, places(having), places(lacking), strict=True)]
    return tuple(sorted(rows, key=lambda row: (-abs(row.rank_with - row.rank_without), row.rank_without)))


def _averages(columns: Mapping[str, Sequence[float]], without: Collection[str] = ()) -> list[float]:
    kept = [values for column, values in columns.items() if column not in without]
    return [fsum(row) / len(kept) for row in zip(*kept, strict=True)]
