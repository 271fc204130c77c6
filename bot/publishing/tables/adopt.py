"""Match the columns of a table that people keep to result files, and draft the mapping, with a TODO where unsure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, permutations, product
from math import comb, prod
from statistics import fmean, median
from typing import Any, NamedTuple, get_args

from bot.errors import Unwritable
from bot.evaluation.draft.columns import DraftColumn
from bot.evaluation.draft.readings import BEGINS, BEGUN, WHOLE, WORDS, TaskReading, resemblance
from bot.evaluation.draft.tasks import UNNAMED
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.identity import PROVIDERS
from bot.evaluation.row_key import owner_and_name
from bot.evaluation.task import Task
from bot.publishing.tables.cells import ABSENT, ColumnPath, as_text
from bot.publishing.tables.edit import order_of, says
from bot.publishing.tables.find import FoundTable, ModelFiles, NumberColumn, form_of, is_remarked, number_columns
from bot.publishing.tables.fit import decimals_of, number_in
from bot.publishing.tables.mapping import TableFormat
from bot.publishing.tables.order import FEWEST, directed
from bot.publishing.tables.rows import RANKS
from bot.publishing.tables.sheet import Grid, is_title
from bot.publishing.tables.values import Rounding, RowView, Unit, in_unit, lookup, rounded, scaled, unit_of
from bot.reporting.escape import plain_in_link, plain_markup

SAMPLED = 60  # rows that decide which reading a column has
MEAN = re.compile(r"(?i)(\b|_)(average|avg|mean|overall|total)(\b|_)")  # in the heading by which tables are sorted
CLUSTERED = 10  # values of one column lie this much closer together than if they were spread evenly
SURE, LIKELY = 0.01, 0.05  # the most readings that may fit by chance: without a heading, and with one
IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
AVERAGES = frozenset(
    {"average", "avg", "mean", "overall", "avgscore", "averagescore", "meanscore", "overallscore", "total", "score"}
)
MEANS: tuple[tuple[str, Unit | None], ...] = (
    ("average", None), ("average", "proportion"),
    ("average_raw", None), ("average_raw", "percent"), ("average_raw", "proportion"),
)  # fmt: skip
FEWEST_OF_FILES = 3  # different numbers that are no mean of other files by chance
MOST_FURTHER = 3  # columns that tell rows of one name apart
PLACEHOLDER = re.compile(r"(\{\{|\{model\.(?:id|name|org)\})")  # or a brace of the cell, which is doubled
EQUAL = "{} gives its numbers, but these are all equal, which may be chance: uncomment it if it is this number"
NOT_GIVEN = "no result gives its numbers"
TEXTS = {  # values that are no score, and what a column is called that holds them
    "model.revision": ("sha", "revision", "commit"),
    "model.precision": ("precision", "dtype"),
    "model.chat_template": ("chat",),
    "model.id": ("model", "name", "id", "fullname", "repo", "hub"),
    "model.name": ("model", "name"),
    "model.org": ("org", "organization", "organisation", "author", "provider"),
    "run.date": ("date", "evaluated", "day"),
    "run.version": ("harness", "version"),
}


@dataclass(frozen=True)
class Matched:
    """A column and a reading; `fits` says for each row that it covers whether it gives the row's number.

    `note` is for the maintainer. One that `is_beside` shows subtasks that another column counts, and one that
    `is_doubtful` is proposed, and not mapped. One that `is_fine` has `most_decimals`, but for zeros at the end.
    """

    column: NumberColumn
    reading: TaskReading
    fits: Mapping[int, bool]
    note: str = ""
    is_beside: bool = False
    is_doubtful: bool = False
    is_fine: bool = False

    @property
    def covered(self) -> int:
        """The number of rows for which the reading has a value."""
        return len(self.fits)

    @property
    def fitting(self) -> int:
        """The number of rows whose number it gives."""
        return sum(self.fits.values())


class _Given(NamedTuple):
    """A reading, and its values for the models that each row may mean."""

    reading: TaskReading
    values: Mapping[int, Sequence[float]]


@dataclass(frozen=True)
class Matching:
    """Which reading each column of numbers has; `unsure` says by column why it has none."""

    table: FoundTable
    matched: tuple[Matched, ...]
    columns: tuple[NumberColumn, ...]
    unsure: Mapping[ColumnPath, str]


def match_columns(table: FoundTable, readings: Sequence[TaskReading]) -> Matching:
    """Find the reading of each column of numbers; no subtask is read by two columns that a declaration cannot hold."""
    columns = tuple(one for one in number_columns(table) if one.column_path[-1].strip().casefold() not in RANKS)
    rows = dict(list(table.rows.items())[:SAMPLED])
    given = [_given(one, rows) for one in readings]
    choices = {one.column_path: one.fault or _choose(one, given) for one in columns}
    unsure = {column_path: choice for column_path, choice in choices.items() if isinstance(choice, str)}
    found: list[Matched] = []
    chosen = [one for one in choices.values() if isinstance(one, Matched)]
    metrics = {one.reading.metric for one in chosen}
    for column_path, rivals in [(path, some) for path, some in choices.items() if isinstance(some, tuple)]:
        alike = [one for one in rivals if one.reading.metric in metrics]  # the place that gives another column
        chosen += alike if len(alike) == 1 else []
        said = " and ".join(_said(each.reading) for each in rivals[:2])
        unsure |= {column_path: f"{said} give its numbers equally well"} if len(alike) != 1 else {}

    def order(one: Matched) -> int:
        """Means of what several other columns show come after these, and those that no group of the files has last."""
        shown = sum(other.reading.leaf_ids < one.reading.leaf_ids for other in chosen)
        is_mean = one.reading.column is not None and one.reading.column.is_mean
        return 3 if one.is_doubtful else 2 if is_mean else int(shown > 1)

    for choice in sorted(chosen, key=order):
        clash = next((one for one in found if _clash(one.reading, choice.reading)), None)
        if clash is None:
            found.append(replace(choice, is_beside=choice.is_doubtful))
        elif _is_average(choice, found):
            unsure[choice.column.column_path] = NOT_GIVEN
        elif can_be_beside(choice.reading):
            found.append(replace(choice, is_beside=True))
        else:
            unsure[choice.column.column_path] = (
                f"{choice.reading.metric} of {choice.reading.task.id} gives its numbers, and the column "
                f"{clash.column.label} already counts these subtasks: a declaration counts each subtask once"
            )
    for column in columns:
        if unsure.get(column.column_path, "") and not column.fault:
            said = next(_over_files(column, rows, readings), "")
            unsure |= {column.column_path: said} if said else {}
    for one, other in permutations(found, 2):
        if one.fitting < one.covered and other.fitting == other.covered and _is_same(one.reading, other.reading):
            unsure[one.column.column_path] = (
                f"{_said(one.reading)} gives {_in_rows(one)}, and all of {other.column.label}: this is another number"
            )
    for one, other in [pair for pair in permutations(found, 2) if _is_swapped(*pair)]:
        unsure[one.column.column_path] = _disagreement(_tried(one.column, _given(other.reading, rows)), one)
    return Matching(table, tuple(one for one in found if one.column.column_path not in unsure), columns, unsure)


def _over_files(
    column: NumberColumn, rows: Mapping[int, Sequence[ModelFiles]], readings: Sequence[TaskReading]
) -> Iterator[str]:
    """Say that a column is the mean or median of a number over the files of each model, of which a row counts one."""
    several = {row: some[0] for row, some in rows.items() if row in column.numbers and len(some) == 1}
    several = {row: several[row] for row in sorted(several, key=lambda row: len(several[row].files))}
    several = {row: one for row, one in several.items() if len(one.files) > 1}
    if len({column.numbers[row] for row in several}) < FEWEST_OF_FILES:
        return
    for reading in readings:
        if len(reading.task.leaves) > 1 or reading.field != "raw":
            continue
        for name, of_all in (("mean", fmean), ("median", median)):
            if all(
                (values := one.values(reading)) and column.fits(row, of_all(values), is_fraction=reading.is_fraction)
                for row, one in several.items()  # most readings end at the first row, that of fewest files
            ):
                yield (
                    f"it is the {name} of {_said(reading)} over the files of each model, of which one counts: write "
                    "what tells them apart into `leaf` of the form, or keep a file with this number"
                )


def _is_average(mean: Matched, others: Sequence[Matched]) -> bool:
    """Tell whether a column is the mean of all others that count."""
    counted_ids = [one.reading.leaf_ids for one in others if not one.is_beside]
    return len(counted_ids) > 1 and mean.reading.leaf_ids == frozenset().union(*counted_ids)


def can_be_beside(reading: TaskReading) -> bool:
    """Tell whether a column that does not count can hold a reading: one metric, as measured, and the plain mean."""
    task = reading.task
    is_plain = reading.column is not None and not _is_normalized(reading) and len(task.metrics) == 1
    return is_plain and (len(task.leaves) == 1 or task.aggregation == "mean")


def _is_swapped(one: Matched, other: Matched) -> bool:
    """Tell whether the heading of each column names what the other one shows, more than what it shows itself."""

    def named(column: Matched, shown: Matched) -> int:
        return max(resemblance(name, shown.reading.names) for name in (*column.column.column_path, column.column.label))

    return named(one, other) > named(one, one) and named(other, one) > named(other, other)


def tasks_of_rows(table: FoundTable, readings: Sequence[TaskReading]) -> ColumnPath | None:
    """The column that says of which task each row is, where a model has a row for each; None if there is none."""
    rows = {row: table.text(row) for row in table.rows}
    if 2 * len(set(rows.values())) > len(rows):
        return None
    names = [name for reading in readings for name in reading.names]
    for column_path in table.grid.column_paths:
        cells = {row: table.grid.cell(row, column_path) for row in rows}
        texts = {row: table.grid.plain(as_text(cell)) for row, cell in cells.items()}
        if any(text.startswith("{") or number_in(cells[row]) is not None for row, text in texts.items()):
            continue  # an object names no task, though it has keys that are called so
        pairs, tasks = {(rows[row], text) for row, text in texts.items()}, set(texts.values()) - {""}
        named = sum(resemblance(text, names) >= BEGUN for text in tasks)
        if len(pairs) == len(rows) and 2 * named >= len(tasks) > 1 and column_path != table.name:
            return column_path
    return None


def is_near(matching: Matching, readings: Sequence[TaskReading]) -> bool:
    """Tell whether a reading gives half of the numbers of a column in the few rows that name a model."""
    rows, columns = matching.table.rows, [column for column in matching.columns if not column.fault]
    given = [_given(one, rows) for one in readings]
    tried = (_tried(column, one) for column, one in product(columns, given))
    return any(one.fitting * 2 >= one.covered > 0 for one in tried)


def _values(reading: TaskReading, models: Sequence[ModelFiles]) -> list[float]:
    """The value of a reading for each model that a row may mean."""
    return [value for one in models if (value := one.value(reading)) is not None]


def _given(reading: TaskReading, rows: Mapping[int, Sequence[ModelFiles]]) -> _Given:
    """What a reading gives for the models of each row."""
    values = {row: _values(reading, models) for row, models in rows.items()}
    return _Given(reading, {row: found for row, found in values.items() if found})


def _choose(column: NumberColumn, given: Sequence[_Given]) -> Matched | tuple[Matched, ...] | str:
    """The reading of a column, several that give its numbers equally well, or why none is sure."""
    is_asked = False  # as many questions as the column's counts say
    possible = [one for one in given if not (column.is_named_raw and _is_normalized(one.reading))]
    if column.of is not None:
        possible = [one for one in possible if one.reading.is_fraction and not one.reading.is_in_percent]
        asked = [one for one in possible if one.reading.samples == column.of]
        possible, is_asked = asked or possible, bool(asked)
    tried = [one for one in (_tried(column, each) for each in possible) if one.covered]
    headings = tuple(dict.fromkeys((*column.column_path, column.label)))
    heading = {id(one): _named_by(headings, one.reading) for one in tried}
    said = {id(one): _said_by(headings, one.reading, heading[id(one)]) for one in tried}

    def rank(one: Matched) -> tuple[int, int, int, int]:
        return one.fitting, *said[id(one)], -one.reading.cost

    best = max(tried, key=rank, default=None)
    if best is None:
        return "no result has a value for its rows"
    is_whole = max(heading.values()) == WHOLE
    alike = [one for one in tried if heading[id(one)] >= (BEGINS if is_whole else BEGUN)]
    named = max(alike, key=rank, default=None)
    if named is not None and _agrees(named, best, len(alike), is_whole=heading[id(named)] == WHOLE):
        return _noted(named, [one for one in alike if heading[id(one)] == heading[id(named)]])
    shown = {column.numbers[row] for row in best.fits}
    rivals = [one for one in tried if (one.fitting, one.covered) == (best.fitting, best.covered)]
    rivals = [one for one in rivals if one.reading.leaf_ids != best.reading.leaf_ids]
    rivals = [one for one in rivals if said[id(one)] >= said[id(best)]]
    is_told = said[id(best)][1] == WHOLE or is_asked
    if is_told and best.fitting == best.covered and len(shown) > 1 and not rivals:
        return best  # the heading is its metric, or the counts are its own, and it gives each number
    if len(shown) == 1 and best.fitting == best.covered and max(heading.values()) < WHOLE:
        equal = [one for one in tried if (one.fitting, one.covered) == (best.fitting, best.covered)]
        alone = [one for one in equal if heading[id(one)] == max(heading[id(each)] for each in equal) >= WORDS]
        if alone and len({one.reading.leaf_ids for one in alone}) == 1 and can_be_beside(alone[0].reading):
            return replace(max(alone, key=rank), note=EQUAL.format(_said(alone[0].reading)), is_doubtful=True)
    is_sure = best.fitting > 0 and _is_sure(best, len(tried))
    is_of_own = best.reading.column is not None and best.reading.column.is_own
    is_other = is_sure and is_of_own and best.fitting == best.covered and named is not None and not named.fitting
    if named is not None and not is_other and (is_whole or not is_sure):
        clearest = max(alike, key=lambda one: (heading[id(one)], *rank(one)))
        return _disagreement(clearest, best if is_sure else None)
    if not is_sure:
        is_whole = best.fitting == best.covered and len(shown) > 1
        return f"{_said(best.reading)} gives {_in_rows(best)}, which may be chance" if is_whole else NOT_GIVEN
    if rivals:
        return (best, *rivals)
    return replace(best, note="found by its values, not by its heading")


def _named_by(headings: Sequence[str], reading: TaskReading) -> int:
    """How well headings name a reading; subtasks that only share a word are not what that word names."""
    column = reading.column
    shares_word = column is not None and len(column.leaves) > 1 and column.group is None and not column.rows
    return min(max(resemblance(name, reading.names) for name in headings), BEGINS if shares_word else WHOLE)


def _said_by(headings: Sequence[str], reading: TaskReading, named: int) -> tuple[int, int]:
    """How well headings name a reading, with the metric of a board's own files, which several tasks may have."""
    is_own = reading.column is not None and reading.column.is_own
    metrics = [one.name for one in reading.task.metrics if is_own and one.name != UNNAMED]
    metric = max(resemblance(name, metrics) for name in headings)
    return max(named, min(metric, WORDS)), metric


def _in_rows(one: Matched) -> str:
    return f"its numbers in {one.fitting} of {counted(one.covered, 'row')}"


def _disagreement(named: Matched, best: Matched | None) -> str:
    """Why a column does not show what its heading names; `best` is what surely gives its numbers, if anything does."""
    given = f"; {_said(best.reading)} gives {best.fitting} of {best.covered}" if best and best is not named else ""
    chance = ", which may be chance" if named.fitting * 2 >= named.covered and not given else ""
    return (
        f"its heading names {named.reading.task.id}, and {_said(named.reading)} gives {_in_rows(named)}{chance}{given}"
    )


def _agrees(named: Matched, best: Matched, tried: int, *, is_whole: bool) -> bool:
    """Tell whether the numbers agree with the benchmark of the heading: in half of the rows, and not by chance.

    Where the heading is not the whole name, it may mean several tasks: then more than half of the rows must agree.
    """
    is_best = named.fitting * 2 >= max(1, best.fitting)
    if is_whole and named.fitting == named.covered:  # few different numbers fit others by chance, and not these
        return is_best
    is_enough = named.fitting * 2 >= named.covered + (not is_whole)
    return is_best and is_enough and _by_chance(named, tried) < LIKELY


def _tried(column: NumberColumn, given: _Given) -> Matched:
    is_fraction = given.reading.is_fraction
    fits = {
        row: any(column.fits(row, value, is_fraction=is_fraction) for value in values)
        for row, values in given.values.items()
        if row in column.numbers
    }
    step = None if column.most_decimals is None else 10.0**-column.most_decimals
    is_fine = step is not None and all(
        any(column.fits(row, value, is_fraction=is_fraction, unit=step) for value in given.values[row])
        for row, is_there in fits.items()
        if is_there
    )
    return Matched(column, given.reading, fits, is_fine=is_fine)


def _by_chance(one: Matched, tried: int) -> float:
    """How many of the tried readings would give as many numbers by chance; equal numbers, such as 0.0, count once."""
    each = min(1.0, CLUSTERED * one.column.unit / one.column.top)
    covered = {one.column.numbers[row] for row in one.fits}
    given = {one.column.numbers[row] for row, fits in one.fits.items() if fits}
    return tried * comb(len(covered), len(given)) * each ** len(given)


def _is_sure(one: Matched, tried: int) -> bool:
    return one.fitting * 5 >= one.covered * 3 and _by_chance(one, tried) < SURE


def _said(reading: TaskReading) -> str:
    metric = reading.metric.removesuffix(",none")
    return f"{metric} of {reading.task.id}{' normalized' if _is_normalized(reading) else ''}"


def _is_normalized(reading: TaskReading) -> bool:
    return reading.field == "score" and reading.task.has_bounds


def _noted(best: Matched, alike: Sequence[Matched]) -> Matched:
    """The best match, with a note about another metric that gives the same numbers."""
    same = [one for one in alike if one.fitting == best.fitting and one.reading.metric != best.reading.metric]
    if not same:
        return best
    return replace(best, note=f"TODO: {same[0].reading.metric} gives the same numbers; keep the metric that is meant")


def _clash(one: TaskReading, other: TaskReading) -> bool:
    """Tell whether no declaration can hold both: they share subtasks, and are not one task raw and normalized."""
    if one.column is None or other.column is None or not one.leaf_ids & other.leaf_ids:
        return False
    return not _is_one_task(one, other)


def _is_same(one: TaskReading, other: TaskReading) -> bool:
    """Tell whether two readings give the same value."""
    return one.leaf_ids == other.leaf_ids and _is_one_task(one, other) and _is_normalized(one) == _is_normalized(other)


def _is_one_task(one: TaskReading, other: TaskReading) -> bool:
    if one.task.id == other.task.id and one.column is None:
        return True
    same = one.leaf_ids == other.leaf_ids and one.metric == other.metric
    same = same and one.task.aggregation == other.task.aggregation and one.task.num_fewshot == other.task.num_fewshot
    return same and (_is_normalized(one) != _is_normalized(other) or one.task == other.task)


def draft_columns(matching: Matching) -> list[tuple[DraftColumn, tuple[Matched, ...]]]:
    """The columns of the declaration, each with the columns of the table that show it raw or normalized."""
    groups: list[list[Matched]] = []
    for one in matching.matched:
        alike = (group for group in groups if _is_one_task(group[0].reading, one.reading))
        group = next(alike, None) if not one.is_beside else None
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    found = []
    for group in groups:
        shown = max(group, key=lambda one: _is_normalized(one.reading))
        column = shown.reading.column
        if column is not None:
            title = next((one.column.column_path[-1] for one in group if not one.column.is_named_raw), column.title)
            is_share = any(one.reading.is_fraction for one in group)
            made = replace(column, title=title, is_share=is_share)
            found.append((directed(made, shown.column, matching.columns, matching.table.grid), tuple(group)))
    return found


@dataclass(frozen=True)
class MappingColumn:
    """A column of the drafted mapping: its keys, None where it is left to a person; `note` is a comment above it.

    `proposed` are the keys that a person may give it.
    """

    column_path: ColumnPath
    keys: Mapping[str, Any] | None
    note: str = ""
    proposed: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        """The name of the column for people, which is also its key in the mapping."""
        return ".".join(self.column_path)


def task_column(one: Matched, declared: Task, *, beside_raw: bool) -> MappingColumn:
    """The mapping of a column that shows a declared task; without bounds its score is its raw value in percent."""
    column, reading = one.column, one.reading
    is_points = reading.is_fraction and not reading.is_in_percent and declared.higher_is_better
    is_percent = is_points and column.is_percent and not column.is_named_raw
    is_score = _is_normalized(reading) or (not declared.has_bounds and (is_percent or beside_raw))
    keys: dict[str, Any] = {"value": f"tasks.{declared.id}.{'score' if is_score else 'raw'}"}
    if reading.is_fraction and (not column.is_percent or not is_score):
        keys["unit"] = "percent" if column.is_percent else "proportion"
    return MappingColumn(column.column_path, keys | printed(column, is_fine=one.is_fine), noted(one))


def noted(one: Matched) -> str:
    """The note of a matched column, and that a new number gets as many decimals as any has where they vary."""
    column = one.column
    fewest = min(decimals_of(number) for number in column.numbers.values())
    vary = f"its numbers have {fewest} to {column.most_decimals} decimals, new ones the most" if one.is_fine else ""
    return "; ".join(filter(None, (one.note, vary)))


def printed(column: NumberColumn, *, is_fine: bool = False) -> dict[str, Any]:
    """How the numbers of a column are written."""
    decimals = column.most_decimals if is_fine else column.decimals
    keys: dict[str, Any] = {} if decimals is None else {"decimals": decimals}
    if column.template is not None:
        keys["template"] = column.template
    if column.of is not None:
        keys["of"] = column.of
    if column.missing:
        keys["missing"] = column.missing
    return keys


def average_column(matching: Matching, views: Mapping[int, RowView], taken: set[ColumnPath]) -> MappingColumn | None:
    """The column of the declaration's average, else that of the mean of raw values; None if no column surely is one.

    Where one task counts, another column is near its score in many rows by what both measure.
    """
    counting = next((len(view.leaderboard.tasks) for view in views.values()), 0)
    free = [column for column in matching.columns if column.column_path not in taken and not column.fault]
    for (accessor, unit), column in product(MEANS, free if matching.matched else ()):
        means = {row: mean_of(view, accessor, unit) for row, view in views.items() if row in column.numbers}
        fits = {row: column.fits(row, mean, is_fraction=False) for row, mean in means.items() if mean is not None}
        is_named = _is_named_average(column.column_path)
        found = Matched(column, matching.matched[0].reading, fits)
        is_sure = _is_sure(found, len(MEANS)) and (counting > 1 or found.fitting == found.covered)
        if found.fitting and (is_sure or (is_named and found.fitting * 2 >= len(fits))):
            keys = {"value": accessor, "unit": unit} if unit else {"value": accessor}
            return MappingColumn(column.column_path, keys | printed(column))
    return None


def _is_named_average(column_path: ColumnPath) -> bool:
    """Tell whether a heading says that a column is the average, as `Avg (95% CI)` does."""
    return form_of(IN_BRACKETS.sub("", column_path[-1])).replace("+", "") in AVERAGES


def with_rounding(column: MappingColumn, grid: Grid, views: Mapping[int, RowView]) -> MappingColumn:
    """The column with the rounding that gives most of its cells; they differ only where a number is in the middle."""
    keys = column.keys or {}
    if "value" not in keys or "decimals" not in keys:
        return column
    given: Counter[Rounding] = Counter()
    for row, view in views.items():
        exact, there = in_unit(keys["value"], view, keys.get("unit")), number_in(grid.cell(row, column.column_path))
        if isinstance(exact, Decimal) and there is not None:
            given.update(one for one in get_args(Rounding) if rounded(exact, keys["decimals"], one) == there)
    best = max(get_args(Rounding), key=lambda one: given[one])  # the first of several
    return column if best == get_args(Rounding)[0] else replace(column, keys={**keys, "rounding": best})


def mean_of(view: RowView, accessor: str, unit: Unit | None) -> float | None:
    """An average of a row, None if it has none, or if nobody can take the mean of these raw values."""
    try:
        mean = lookup(accessor, view)
        return float(scaled(mean, unit_of(accessor, view), unit)) if isinstance(mean, Decimal) else None
    except Unwritable:
        return None


def text_columns(table: FoundTable, views: Mapping[int, RowView], taken: set[ColumnPath]) -> Iterator[MappingColumn]:
    """The columns that show a fact of the row that is no score: in every row that it covers, under a heading of it."""
    for column_path in table.grid.column_paths:
        if column_path in taken:
            continue
        cells = {row: cell for row in views if (cell := table.grid.cell(row, column_path)) is not ABSENT}
        for accessor, words in TEXTS.items():
            has_word = any(word in form_of(column_path[-1]) for word in words)
            wanted = {row: lookup(accessor, views[row]) for row in cells} if has_word and cells else {}
            if wanted and all(
                value not in {None, ""} and says(table.grid, cells[row], value) for row, value in wanted.items()
            ):
                yield MappingColumn(column_path, {"value": accessor})
                break


def name_column(table: FoundTable, models: Mapping[int, ModelFiles], written: TableFormat) -> MappingColumn:
    """The column of names: the value or template that gives most of its cells, and the texts of the other rows.

    A template that gives less than half of them would misspell the names of new models, so it is none. A name is given
    if the cell says it, and the row is found by it.
    """
    cells = {row: as_text(table.grid.cell(row, table.name)) for row in models}
    tried = [{"value": "model.id"}, {"value": "model.name"}, *_templates(cells, models, written)]

    def gives(keys: Mapping[str, str], row: int) -> bool:
        template = keys.get("template") or "{" + keys["value"] + "}"
        name, cell = _filled(template, models[row], written), cells[row]
        return says(table.grid, cell, name) and table.grid.plain(cell) == table.grid.plain(name)

    given = [sum(gives(keys, row) for row in models) for keys in tried]
    is_common = [count * 2 >= len(models) or "value" in keys for count, keys in zip(given, tried, strict=True)]
    best = max(zip(given, is_common, tried, strict=True), key=lambda each: each[0] * each[1])[2]
    names = {models[row].model.id: cell for row, cell in cells.items() if not gives(best, row)}
    return MappingColumn(table.name, {**best, **({"names": names} if names else {})})


def _templates(
    cells: Mapping[int, str], models: Mapping[int, ModelFiles], written: TableFormat
) -> list[dict[str, str]]:
    """Each cell as a template with the id and its parts replaced; most rows give the same one."""
    found: dict[str, None] = {}
    for row, cell in cells.items():
        model = models[row].model
        org, name = owner_and_name(model.id)
        text = cell.replace("{", "{{").replace("}", "}}")
        for accessor, part in (("model.id", model.id), ("model.name", name), ("model.org", org)):
            for spelled in (part, *((plain_markup(part), plain_in_link(part)) if written == "markdown" else ())):
                if len(spelled) > 2:
                    text = "".join(
                        piece if PLACEHOLDER.fullmatch(piece) else piece.replace(spelled, "{" + accessor + "}")
                        for piece in PLACEHOLDER.split(text)
                    )
        if any(piece.startswith("{model.") for piece in PLACEHOLDER.split(text)) and text.isprintable():
            found[text] = None
    ours = [text for text in found if text.partition("/{")[0] not in PROVIDERS]  # other services serve other models
    return [{"template": text} for text in ours][:SAMPLED]


def _filled(template: str, one: ModelFiles, written: TableFormat) -> str:
    org, name = owner_and_name(one.model.id)
    text, escape = template, plain_in_link if "]" in template else plain_markup
    for accessor, part in (("model.id", one.model.id), ("model.name", name), ("model.org", org)):
        text = text.replace("{" + accessor + "}", escape(part) if written == "markdown" else part)
    return text.replace("{{", "{").replace("}}", "}")


def rows_of_models(table: FoundTable) -> tuple[dict[int, ModelFiles], tuple[tuple[ColumnPath, str], ...], list[int]]:
    """The model files of each row, the further key columns with their accessors, and the rows that stay ambiguous."""
    keys: list[tuple[ColumnPath, str]] = []
    rows = {row: list(models) for row, models in table.rows.items()}
    names = [table.grid.plain(as_text(table.grid.cell(row, table.name))) for row in range(len(table.grid))]
    facts = {
        "model.precision": lambda one: one.model.precision.removeprefix("torch."),
        "model.revision": lambda one: one.model.revision,
        "model.chat_template": lambda one: one.model.chat_template,
    }
    if any(len(models) > 1 for models in rows.values()) or len(set(names)) < len(names):
        for column_path in table.grid.column_paths:
            accessor = next((one for one in facts if _holds(table, column_path, one, facts[one], rows)), None)
            if accessor is not None:
                keys.append((column_path, accessor))
                rows = {
                    row: [one for one in models if _says(table, row, column_path, facts[accessor](one))]
                    for row, models in rows.items()
                }
    ambiguous = [row for row, models in rows.items() if len(models) > 1]
    return {row: models[0] for row, models in rows.items() if len(models) == 1}, tuple(keys), ambiguous


def told_apart(
    table: FoundTable, columns: Sequence[MappingColumn], known: Sequence[ColumnPath]
) -> tuple[list[MappingColumn], str]:
    """Which facts tell rows of one name apart, beside the `known` columns; else a sentence, "" if none need to.

    A name may be an author's, or that of a model that was run in several ways.
    """
    grid = table.grid
    rows = [row for row in range(len(grid)) if not is_title(grid, row) and table.text(row)]
    facts = [one for one in columns if one.keys is not None and one.keys.get("value") in TEXTS]
    facts = [one for one in facts if one.column_path not in {table.name, *known}]

    def doubled(column_paths: Sequence[ColumnPath]) -> list[int]:
        texts = [[grid.plain(as_text(grid.cell(row, path))).casefold() for row in rows] for path in column_paths]
        keys = list(zip(*texts, strict=True))
        times = Counter(keys)
        return [row for row, key in zip(rows, keys, strict=True) if times[key] > 1]

    key = [table.name, *known]
    if not (shared := doubled(key)):
        return [], ""
    for count in range(1, MOST_FURTHER + 1):
        for some in combinations(facts, count):
            if not doubled([*key, *(one.column_path for one in some)]):
                return list(some), ""
    names = examples(list(dict.fromkeys(table.text(row) for row in shared)))
    said = f"{len(shared)} rows share a name in {table.name[-1]} ({names}), and are not written"
    return [], f"{said}: map a column that tells them apart, such as the model's, and add it to `key`"


def one_row_each(matching: Matching, rows: Mapping[int, ModelFiles]) -> dict[int, ModelFiles]:
    """One row of each model: the one with most of its numbers, and of several the one with the shortest name.

    A row whose name is that of the model but for a remark, as `o3 (high)`, counts only if it has one of its numbers.
    """
    fitting = {row: len(_fitting(matching.matched, row, one)[0]) for row, one in rows.items()}
    sure = {row: one for row, one in rows.items() if fitting[row] or not is_remarked(matching.table, row, one)}
    alike = grouped((id(one), row) for row, one in sure.items()).values()
    kept = {max(some, key=lambda row: (fitting[row], -len(matching.table.text(row)))) for some in alike}
    return {row: one for row, one in sure.items() if row in kept}


def rows_by_numbers(
    matching: Matching, models: Sequence[ModelFiles], rows: Mapping[int, ModelFiles]
) -> dict[int, ModelFiles]:
    """Further rows, found not by their names but because they alone have the numbers of a model."""
    table = matching.table
    others = [row for row in range(len(table.grid)) if row not in rows and row not in table.rows]
    known = {id(one) for one in rows.values()}
    free = [one for one in models if id(one) not in known]
    tried = len(others) * len(free)
    found = {row: [one for one in free if _has_numbers(matching.matched, row, one, tried)] for row in others}
    times = Counter(id(one) for found_models in found.values() for one in found_models)
    return {row: one[0] for row, one in found.items() if len(one) == 1 and times[id(one[0])] == 1}


def _has_numbers(matched: Sequence[Matched], row: int, one: ModelFiles, tried: int) -> bool:
    """Tell whether a model has the numbers of a row, of four or more all but one at least, and not by chance."""
    fitting, covered = _fitting(matched, row, one)
    chance = tried * prod(min(1.0, CLUSTERED * column.unit / column.top) for column in fitting)
    is_all = len(fitting) == covered > 1 or len(fitting) >= max(3, covered - 1)
    return is_all and chance < SURE


def _fitting(matched: Sequence[Matched], row: int, one: ModelFiles) -> tuple[list[NumberColumn], int]:
    """The columns in which a row has the numbers of a model, and in how many it has any that the model has."""
    covered = [
        (each, value) for each in matched if row in each.column.numbers for value in _values(each.reading, [one])
    ]
    fits = [
        each.column for each, value in covered if each.column.fits(row, value, is_fraction=each.reading.is_fraction)
    ]
    return fits, len(covered)


def _holds(
    table: FoundTable, column_path: ColumnPath, accessor: str, fact: Any, rows: Mapping[int, Sequence[ModelFiles]]
) -> bool:
    """Tell whether a column with such a heading has this fact for nearly every row's model."""
    if column_path == table.name or not any(word in form_of(column_path[-1]) for word in TEXTS[accessor]):
        return False
    models = dict.fromkeys(one for found in rows.values() for one in found)
    held = {one for row, found in rows.items() for one in found if _says(table, row, column_path, fact(one))}
    return len(held) * 10 >= len(models) * 9


def _says(table: FoundTable, row: int, column_path: ColumnPath, value: str | bool) -> bool:  # noqa: FBT001 - it is the value
    return value != "" and says(table.grid, table.grid.cell(row, column_path), value)


def sorting(table: FoundTable, columns: Sequence[MappingColumn]) -> MappingColumn | None:
    """The mapped column by which the table is sorted: the average, else one of that name, else that with fewest ties.

    None where the rows are in the same order by a column of numbers that is not mapped: then it may be that one.
    """
    mapped = [one for one in columns if one.keys and one.keys.get("value", "").startswith(("average", "tasks."))]
    if len(table.grid) < 3:
        return None

    def likeliness(one: MappingColumn) -> tuple[bool, bool, int]:
        cells = {as_text(table.grid.cell(row, one.column_path)) for row in range(len(table.grid))}
        is_average = (one.keys or {})["value"].startswith("average")
        return is_average, MEAN.search(one.label) is not None, len(cells)

    in_order = [one for one in mapped if order_of(table.grid, one.column_path) is not None]
    found = max(in_order, key=likeliness, default=None)
    if found is None or not (found.keys or {})["value"].startswith("tasks."):
        return found
    order = order_of(table.grid, found.column_path)
    others = [one.column_path for one in columns if one.keys is None and order_of(table.grid, one.column_path) == order]
    return None if any(_is_measured(table.grid, column_path) for column_path in others) else found


def leading(table: FoundTable, columns: Sequence[MappingColumn], tasks: Mapping[str, Task]) -> MappingColumn | None:
    """The task by which the rows are ranked: the only one that is called so, else the one that the rows are sorted by.

    None where few numbers are in order, which may be chance, or where the worst row would be the first.
    """
    scores = {
        one.keys["value"].split(".")[1]: one for one in columns if one.keys and "tasks." in one.keys.get("value", "")
    }
    named = [one for one in scores.values() if _is_named_average(one.column_path)]
    if len(named) == 1:
        return named[0]
    by = sorting(table, columns)
    if by is None or by not in scores.values():
        return None
    task = next(tasks[task_id] for task_id, one in scores.items() if one is by)
    numbers = {number_in(table.grid.cell(row, by.column_path)) for row in range(len(table.grid))} - {None}
    best_first = "descending" if task.higher_is_better else "ascending"
    return by if len(numbers) >= FEWEST and order_of(table.grid, by.column_path) == best_first else None


def _is_measured(grid: Grid, column_path: ColumnPath) -> bool:
    """Tell whether a column has several numbers that are no ranks, which are in order in every sorted table."""
    numbers = [number_in(grid.cell(row, column_path)) for row in range(len(grid))]
    return len(set(numbers)) > 2 and any(number is not None and number % 1 for number in numbers)
