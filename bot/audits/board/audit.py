"""Finds the columns of a board that do not follow the rest.

Each column is held against the mean of the other columns. Two things are an alarm. *A floor irrespective of
strength*: many rows lie together at the bottom of the column, apart from the rest of it, and among them are rows that
the other columns place high: the column sorts by something else than what models can do (DROP, November 2023:
whether a generation ended in a line break). *No relation*: the order of the column has next to nothing to do with the
order by the rest. A floor is looked for in the lowest tenth of the column's range, and wherever else it ends (see
`find_floor`). The thresholds below have their reasons beside them; `ORDERED` alone is set with a real board in mind.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise, repeat
from math import atanh, ceil, frexp, fsum, inf, ldexp, sqrt, tanh
from operator import sub, truediv
from statistics import median

from bot.audits.ranks import OrderedValues, pearson_of_ranks, places, ranks
from bot.audits.score_table import Cells, PublishedTable, WrongMean
from bot.evaluation.finding import counted

# Chosen on synthetic boards and on half of the slices of real ones; docs/audit-board.md has the error rates of others.
LEAST, MOST = 0.19, 0.9  # shares of the rows that a floor holds
FEWEST = 4  # rows on each side of the place
HIGHEST, SURE, CHANCE = 0.73, 0.835, 1.95  # the limit: SURE - CHANCE / sqrt(rows), at most HIGHEST
DENSE, APART = 0.2, 2.0  # what density counts, as a share of that on the floor, and the gap, as a share of the range
DENSEST, WIDEST = 1.0, 0.04  # above this density no floor ends; a gap counts no more than this
WIDTH = 0.2  # of the range: what is wider than this is most of a column and no floor
TAIL = 0.05  # of the rows on a floor, the lowest, which are left out of its spread
BITS = 110  # of the largest value in sums
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


def find_floor(values: Sequence[float], strength: Callable[[], Sequence[float]]) -> Floor | None:
    """Return the floor that holds many rows irrespective of strength, None if none does.

    `strength` gives what orders the rows as the other columns do; it is asked only where many rows lie together.
    """
    limit = min(HIGHEST, SURE - CHANCE / sqrt(len(values)))
    least = min(_floors(values, strength, limit), key=lambda floor: floor.doubt, default=None)
    return least if least is not None and least.doubt < limit else None


def ordered_share(ranks_below: float, count: int, rows: int) -> float:
    """Return how often, of a row among the lowest `count` and one above, the upper is the stronger; 1 where none is.

    `ranks_below` is the sum of the ranks of the lowest by strength.
    """
    above = rows - count
    return 1 - (ranks_below - count * (count + 1) / 2) / (count * above) if count and above else 1.0


def _floors(values: Sequence[float], strength: Callable[[], Sequence[float]], limit: float) -> Iterator[Floor]:
    """Yield what lies below each place where a floor may end: between two values, with fewer rows just above.

    Left out is what the widest gap would not bring below the limit of doubt.
    """
    rows, column = len(values), sorted(values)
    odd = int(TRIM * (rows - 1))
    span = column[rows - 1 - odd] - column[odd]
    counts = range(max(FEWEST, ceil(LEAST * rows)), min(rows - FEWEST, int(MOST * rows)) + 1)
    ends = [count for count in counts if column[count] > column[count - 1]]
    spreads = [column[count - 1] - column[int(TAIL * (count - 1))] for count in ends]
    if min(spreads, default=inf) > WIDTH * span:
        return
    placed, order = ranks(strength()), sorted(range(rows), key=values.__getitem__)
    below = list(accumulate([placed[row] for row in order]))
    for count, spread in zip(ends, spreads, strict=True):
        high, following = column[count - 1], column[count]
        ordered = ordered_share(below[count - 1], count, rows)
        if ordered - APART * WIDEST >= limit:
            continue
        if spread > WIDTH * span:
            break
        density = 2 * (bisect_right(column, high + spread / 2) - count) / count
        if density <= DENSEST:
            gap = max(following - high - _step(column), 0.0) / span if span > 0 else 0.0
            yield Floor(column[0], high, count / rows, ordered, density, gap)


def _step(column: Sequence[float]) -> float:
    """The usual distance of two values that follow each other."""
    return median([high - low for low, high in pairwise(column) if high > low] or [0.0])


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

    @property
    def leader(self) -> str:
        """Who is first without the columns, as a part of a sentence."""
        if self.first_without == self.first_with:
            return f"{self.first_with} stays first"
        return f"{self.first_without} is first instead of {self.first_with}"


class Averages(OrderedValues):
    """The averages of all columns, whose order others are compared with, and the places of the rows by them."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__(values)
        self.places = places(values)


def effect_of(names: Sequence[str], having: Averages, lacking: Sequence[float]) -> Effect:
    """Return the effect of leaving columns out, from the averages with and without them."""
    rank_with, rank_without = having.places, places(lacking)
    moves = list(map(abs, map(sub, rank_with, rank_without)))
    return Effect(
        mean_with=fsum(having.values) / len(names),
        mean_without=fsum(lacking) / len(names),
        tau=having.kendall(lacking),
        rows_moved=len(moves) - moves.count(0),
        largest_move=max(moves),
        first_with=names[rank_with.index(1)],
        first_without=names[rank_without.index(1)],
    )


def moved_rows(names: Sequence[str], having: Averages, lacking: Sequence[float]) -> tuple[RowEffect, ...]:
    """Return what leaving columns out does to each row, those that move most first."""
    rows = [RowEffect(*row) for row in zip(names, having.values, lacking, having.places, places(lacking), strict=True)]
    return tuple(sorted(rows, key=lambda row: (-abs(row.rank_with - row.rank_without), row.rank_without)))


class RowMeans:
    """The means of the rows over columns, from sums of whole numbers: to leave a column out is one subtraction a row.

    Each mean is that of `fsum` over the columns that are left, to the last bit: of the largest value 110 bits count, so
    that of a number 10**17 times as small all digits do. A `scale` says instead how many bits after the point count.
    """

    def __init__(self, columns: Mapping[str, Sequence[float]], scale: int | None = None) -> None:
        largest = max(max(map(abs, values)) for values in columns.values())
        self._scale = BITS - frexp(largest)[1] if scale is None else scale
        self._columns = {
            column: list(map(int, map(ldexp, values, repeat(self._scale)))) for column, values in columns.items()
        }
        self._sums = [sum(row) for row in zip(*self._columns.values(), strict=True)]

    def copy(self) -> RowMeans:
        """The same means, of which columns can be left out for good."""
        found = copy(self)
        found._columns = dict(self._columns)  # noqa: SLF001 - of this class
        return found

    def without(self, *left_out: str) -> list[float]:
        """The mean of each row over all columns but those."""
        kept = len(self._columns) - len(left_out)
        sums = self._sums
        for column in left_out:
            sums = list(map(sub, sums, self._columns[column]))
        return list(map(truediv, map(ldexp, sums, repeat(-self._scale)), repeat(kept)))

    def leave_out(self, column: str) -> None:
        """Forget a column for good."""
        self._sums = list(map(sub, self._sums, self._columns.pop(column)))


# Below this neither a share nor a correlation is worth an alarm.
FEWEST_ROWS = 20
# Every column is held against all others, and again after each that is named: what is judged is bounded in cells.
MOST_CELLS = 1_000_000
MOST_JUDGED = 3_000_000
# The floor is the lowest tenth of the column's range; a flat column has a tenth of its rows there: three times that.
FLOOR_MASS = 0.3
# In the next tenth lie at most so many rows for each on the floor, or it is not apart; DROP of November 2023 has 0.09.
NEXT = 1 / 8
# 0: the floor holds the weakest rows; 1: it holds rows irrespective of strength. Half way between.
MISPLACED = 0.5
# Five rows in the wrong place by the toss of a coin: 3 %.
FEWEST_MISPLACED = 5
# Of a row on the floor and one above it, the upper is the stronger in half of the pairs by chance, in all where the
# floor holds the weakest. DROP of November 2023 has 0.755, sound columns with a floor 0.8 and more: between the two.
ORDERED = 0.77
# Item analysis rejects an item that correlates below this with the rest of its test (Ebel & Frisbie 1991: .30).
UNRELATED = 0.3
FLOOR, NO_RELATION, CONSTANT = "floor-irrespective-of-strength", "no-relation-to-the-rest", "says-nothing"


@dataclass(frozen=True, slots=True)
class Alarm:
    """One reason why a column is named: which test, and the sentence with its figures."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one column, over the rows that have all columns.

    `low` and `high` are its trimmed range; `floor` the top of the lowest tenth of it. `floor_mass`, `next_mass` and
    `mean_mass` are the shares of rows in that tenth, in the next, and on average in the eight above. `misplaced` counts
    rows on the floor that the other columns do not place among as many weakest; `misplacement` is its share of what
    chance would give; `ordered` is the share of pairs, a row on the floor and one above, whose upper row is the
    stronger.
    `apart` is a floor that holds many rows irrespective of strength, wherever its top is; `zeros` are the rows with 0.
    `correlation` is Spearman's with the mean of the other sound columns, with the limits of its 95 % interval.
    """

    column: str
    rows: int
    low: float
    high: float
    floor: float
    floor_mass: float
    next_mass: float
    mean_mass: float
    misplaced: int
    misplacement: float
    ordered: float
    correlation: float | None
    correlation_low: float | None
    correlation_high: float | None
    effect: Effect
    alarms: tuple[Alarm, ...]
    apart: Floor | None = None
    zeros: int = 0


@dataclass(frozen=True, slots=True)
class BoardAudit:
    """The result of the audit: the figures by column, the columns that are named, and the board without them.

    `with_and_without` is about all named columns together, None if none is named. `incomplete` rows miss a cell and
    take no part. `silent` says why nothing can be judged, "" if it can. Where `less_is_better`, values have a minus.
    `wrong_means` are the rows whose average does not follow from their columns, `repeated` the names that several rows
    have, with how many.
    """

    rows: int
    incomplete: int
    columns: tuple[ColumnFigures, ...]
    named: tuple[str, ...]
    with_and_without: Effect | None
    moved: tuple[RowEffect, ...]
    points: Mapping[str, tuple[tuple[str, float, float], ...]]
    left_out: Mapping[str, str]
    silent: str = ""
    less_is_better: bool = False
    wrong_means: tuple[WrongMean, ...] = ()
    repeated: Mapping[str, int] = field(default_factory=dict)


def audit_board(board: PublishedTable) -> BoardAudit:
    """Find the columns that do not follow the rest.

    The worst is named first and no longer counts among the others when the rest is judged again: a broken column
    spoils the mean that the sound ones are held against.
    """
    names, columns, left_out = complete(board)
    repeated = {name: count for name, count in Counter(board.names).items() if name and count > 1}
    silent = _silent(len(names), len(columns))
    if silent:
        missing, wrong = len(board.names) - len(names), board.wrong_means
        return BoardAudit(
            len(names), missing, (), (), None, (), {}, left_out, silent, wrong_means=wrong, repeated=repeated
        )
    if board.less_is_better:
        columns = {column: tuple([-value for value in values]) for column, values in columns.items()}
    everywhere = RowMeans(columns)
    sound = everywhere.copy()
    having = Averages(everywhere.without())
    ranked = {column: ranks(values) for column, values in columns.items()}
    sound_ranks = RowMeans(ranked, scale=1)  # of equal values ranks end in 1/2
    effects = {column: effect_of(names, having, everywhere.without(column)) for column in columns}
    named: dict[str, ColumnFigures] = {}
    rounds = max(1, MOST_JUDGED // (len(names) * len(columns)))
    for _ in range(min(rounds, len(columns) - 1)):
        judged = {
            column: judge_column(
                column,
                columns[column],
                ranked[column],
                sound.without(column),
                mean_ranks=partial(sound_ranks.without, column),
                effect=effect,
            )
            for column, effect in effects.items()
            if column not in named
        }
        alarmed = [figures for figures in judged.values() if figures.alarms]
        if not alarmed or len(judged) <= 2:
            break
        worst = min(alarmed, key=lambda figures: figures.correlation or 0.0)  # it follows the rest least
        named[worst.column] = worst
        sound.leave_out(worst.column)
        sound_ranks.leave_out(worst.column)
    figures = tuple(named.get(column) or judged[column] for column in columns)
    lacking = everywhere.without(*named)
    effect = effect_of(names, having, lacking) if named else None
    moved = moved_rows(names, having, lacking) if named else ()
    points = {
        column: tuple(zip(names, everywhere.without(*{column, *named}), columns[column], strict=True))
        for column in named
    }
    incomplete = len(board.names) - len(names)
    is_less, wrong = board.less_is_better, board.wrong_means
    return BoardAudit(
        len(names), incomplete, figures, tuple(named), effect, moved, points, left_out, "", is_less, wrong, repeated
    )


def complete(board: PublishedTable) -> tuple[tuple[str, ...], dict[str, tuple[float, ...]], dict[str, str]]:
    """Return the rows that have every column, after leaving out columns that fewer than half of the rows have."""
    left_out = dict(board.left_out)
    kept: dict[str, Cells] = {}
    for column, cells in board.columns.items():
        filled = len(cells) - cells.count(None)
        if 2 * filled < len(cells):
            left_out[column] = f"only {filled} of {len(cells)} rows have it"
        else:
            kept[column] = cells
    rows = zip(*kept.values(), strict=True) if kept else [()] * len(board.names)
    full = [i for i, row in enumerate(rows) if None not in row]
    columns = {column: tuple([cells[i] or 0.0 for i in full]) for column, cells in kept.items()}
    return tuple(board.names[i] for i in full), columns, left_out


def _silent(rows: int, columns: int) -> str:
    if columns < 3:
        return f"with {counted(columns, 'column')} of scores, nothing shows which one does not follow; that takes three"
    if columns * rows > MOST_CELLS:
        return f"{columns} columns of {rows:,} rows: at most {MOST_CELLS:,} scores are judged; name some with --column"
    if rows < FEWEST_ROWS:
        return f"{counted(rows, 'complete row')}, and it takes {FEWEST_ROWS} to judge a column"
    return ""


def judge_column(
    column: str,
    values: Sequence[float],
    own_ranks: Sequence[float],
    strength: Sequence[float],
    *,
    mean_ranks: Callable[[], Sequence[float]],
    effect: Effect,
) -> ColumnFigures:
    """Return the figures of one column and its alarms.

    `own_ranks` are the ranks of the rows in it; `strength` and `mean_ranks` are the rows' means over the other sound
    columns, of the values and of the ranks, in which each column counts alike, whatever its scale.
    """
    low, high, floor, counts = tenths(values)
    rows, on_floor, placed = len(values), counts[0], ranks(strength)
    below = [rank for value, rank in zip(values, placed, strict=True) if value <= floor]
    misplaced = sum(rank > on_floor for rank in below)
    correlation = pearson_of_ranks(placed, own_ranks)  # Spearman's
    limits = interval(correlation, rows)
    is_related = limits[1] is not None and limits[1] >= UNRELATED
    apart = find_floor(values, mean_ranks) if is_related else None
    chance = on_floor * (1 - on_floor / rows)  # how many rows on the floor chance would misplace
    figures = ColumnFigures(
        column,
        rows,
        low,
        high,
        floor,
        floor_mass=on_floor / rows,
        next_mass=counts[1] / rows,
        mean_mass=counts[2] / 8 / rows,
        misplaced=misplaced,
        misplacement=misplaced / chance if chance else 0.0,
        ordered=ordered_share(sum(below), on_floor, rows),
        correlation=correlation,
        correlation_low=limits[0],
        correlation_high=limits[1],
        effect=effect,
        alarms=(),
        apart=apart,
        zeros=values.count(0),
    )
    return replace(figures, alarms=tuple(_alarms(figures)))


def tenths(values: Sequence[float]) -> tuple[float, float, float, tuple[int, int, int]]:
    """Return trimmed low and high, the top of the lowest tenth, and the rows in it, in the next, and above."""
    ordered = sorted(values)
    last = len(ordered) - 1
    low, high = ordered[int(TRIM * last)], ordered[last - int(TRIM * last)]
    tenth = (high - low) / 10
    floor = low + tenth
    first = bisect_right(ordered, floor)
    second = bisect_right(ordered, floor + tenth) - first
    return low, high, floor, (first, second, len(values) - first - second)


def interval(correlation: float | None, rows: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval of Spearman's correlation (Fisher's z, error of Bonett & Wright 2000)."""
    if correlation is None:
        return None, None
    centre = atanh(max(-0.999999, min(0.999999, correlation)))
    reach = 1.96 * sqrt((1 + correlation * correlation / 2) / (rows - 3))
    return tanh(centre - reach), tanh(centre + reach)


def _alarms(column: ColumnFigures) -> Iterator[Alarm]:
    """Hold the figures against the thresholds."""
    if column.low == column.high:
        yield Alarm(CONSTANT, "96 % of the rows have the same value")
        return
    if why := _why_floor(column):
        yield Alarm(FLOOR, why)
    if column.correlation_high is not None and column.correlation_high < -UNRELATED:
        yield Alarm(
            NO_RELATION,
            f"it falls where the rest rises, with a rank correlation of {column.correlation:.2f}: "
            "if lower is better there, as of a loss or a rank, leave it out by naming the scores with --column",
        )
    elif column.correlation_high is not None and column.correlation_high < UNRELATED:
        yield Alarm(NO_RELATION, f"its rank correlation with the rest is below {UNRELATED} at 95 % confidence")


def _why_floor(column: ColumnFigures) -> str:
    """Return why rows lie on a floor, "" if none do."""
    is_apart = column.next_mass < min(column.mean_mass, NEXT * column.floor_mass) and column.ordered <= ORDERED
    are_zero = column.zeros >= 0.9 * column.rows * (column.apart.mass if column.apart else column.floor_mass) > 0
    zeros = f"; {column.zeros} rows have exactly 0, which may stand for a missing value" if are_zero else ""
    is_misplaced = column.misplacement >= MISPLACED and column.misplaced >= FEWEST_MISPLACED
    if column.floor_mass >= FLOOR_MASS and is_apart and is_misplaced:
        return (
            f"{100 * column.floor_mass:.0f} % of the rows lie in the lowest tenth of its range "
            f"and {100 * column.next_mass:.0f} % in the next, "
            f"and {column.misplaced} of them are not among the weakest by the other columns "
            f"({100 * column.misplacement:.0f} % of what chance would give){zeros}"
        )
    if (apart := column.apart) is not None:
        return (
            f"{100 * apart.mass:.0f} % of the rows lie between {apart.low:.4g} and {apart.high:.4g}, "
            f"a row above them is the stronger one by the other columns in only "
            f"{100 * apart.ordered:.0f} % of all pairs "
            f"(chance: 50 %), and few rows follow just above{zeros}"
        )
    return ""
