"""Which reading of a result file gives a number that somebody reported.

People report a number and forget how they made it: which metric and filter, raw or normalized, before or after the
mean, over subtasks or over samples, with one subtask fewer, as a fraction or in percent. This tries the readings of a
file, gives those that come to the number to its printed digits, simplest first, and says how many would fit by chance.
A number may also be cut to its digits. Where none does, it tries two changes at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice, product
from math import floor, fsum, inf
from typing import Literal, TypeVar

from bot.errors import CallError
from bot.evaluation.aggregates import leaves_of
from bot.evaluation.benchmarks.catalogue import Group, catalogue
from bot.evaluation.compare import LeafSource, mean_of_tasks, metric_of, moving_settings
from bot.evaluation.finding import examples
from bot.evaluation.formats import format_of
from bot.evaluation.impossible import why_no_number
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.metric_kinds import is_count, is_share, kind_of
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.rounding import significant
from bot.evaluation.score import Scores, TaskScore, measured
from bot.evaluation.task import Task

BESIDE = re.compile(r"±|\+/?-|\\pm")  # between a number and its error
NUMBER = re.compile(r"[+-]?(?=[.,]?\d)\d{0,15}(?:[.,](\d{1,20}))?(?:[eE]([+-]?\d{1,2}))?")
ERRORS = re.compile(r"stderr|std_err|_se\b", re.IGNORECASE)  # names of standard errors, which nobody reports as a score
NORMALIZED, PLAIN = "acc_norm", "acc"  # people report the first of a task that has both
ENGLISH = frozenset({"default", "en", "en-en", "eng", "eng-eng"})  # subsets of MTEB that a table in English shows
NEAREST = 3  # readings that are named where none fits
MOST_COLUMNS, MOST_MEMBERS = 400, 100  # what a hostile file may cost

T = TypeVar("T")
Kind = Literal["plain", "derived", "guess"]
_Bounds = tuple[float, float]
_Way = tuple[float, tuple[str, ...], int]  # a value, its steps, and what they cost

# What makes a reading less likely; readings are listed in the order of the sum.
OTHER_METRIC, OTHER_MEAN, OTHER_SCALE, LEFT_OUT, UNCLIPPED, CUT, OF_FILES = 2, 2, 1, 4, 2, 3, 3
OTHER_GUESS, TWO_CHANGES = 6, 8
USUAL_CHOICES = (2, 3, 4, 5, 10)
EXACT = 1_000  # steps of the scale that a number must tell apart, so that two changes are tried
NEAR = 0.01  # of the scale: how far around the number its rivals are counted
UNLIKELY = 0.05  # of a chance to fit, above which a reading is no more than a guess
UNLIKELY_PART = 0.001  # the same for one subtask alone, which few report


@dataclass(frozen=True, slots=True)
class Reported:
    """A number as somebody printed it: `unit` is one step of its last digit; `is_percent` says that it has a "%"."""

    text: str
    value: float
    unit: float
    is_percent: bool

    def fits(self, value: float) -> bool:
        """Tell whether a value, rounded, prints as this number."""
        return abs(value - self.value) <= self.unit / 2 + 1e-9 * max(1.0, abs(self.value))

    def is_cut_of(self, value: float) -> bool:
        """Tell whether a value prints as this number where its further digits are left out."""
        return abs(value - self.value) < self.unit and self.cut(value) == round(abs(self.value) / self.unit)

    def cut(self, value: float) -> int:
        """How many steps of the last digit a value has without its further digits."""
        return floor(abs(value) / self.unit + 1e-6)

    @property
    def top(self) -> float:
        """The top of the scale that the number seems to have: 1 or 100."""
        return 100.0 if self.is_percent or abs(self.value) > 1 else 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to get a number out of a file: `value` on the scale of the reported one, `steps` for people.

    `task` is the column or subtask, "average" for the average; a smaller `cost` is a simpler reading. A `plain` one
    stands in the file, or is a score of the leaderboard; a `guess` leaves something out or changes two things. `leaves`
    are the files and keys of what it is made from, `limits` the least and the greatest value that it can have.
    `is_share` is false of perplexities and losses, which are never shown in percent.
    """

    value: float
    task: str
    metric: str
    steps: tuple[str, ...]
    cost: int
    kind: Kind = "derived"
    leaves: tuple[tuple[str, str], ...] = ()
    limits: _Bounds = (-inf, inf)
    is_share: bool = True

    @property
    def is_raw(self) -> bool:
        """Whether no step normalized it."""
        return self.cost > 0 and not any("normalized" in step for step in self.steps)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it is made from."""
        return tuple(dict.fromkeys([file for file, _ in self.leaves]))


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings that fit, how many were tried, and how many distinct values would fit by chance.

    Where none fits, `nearest` are the three nearest of all that were tried, and `whole` the three nearest of whole
    tasks with nothing left out; or `limits` are the least and the greatest value that any score of the results can
    have, if the number is none of these. `is_guess` says that the first leaves something out or changes two things, or
    may fit by chance, and `whole` is then the nearest that is plain, if it is another one; `is_part` says that it is a
    guess of one subtask, which nobody asked for; `rivals` are the values that readings as simple have near the number,
    its own among them. `settings` are how the nearest were measured where another setting is known to move numbers:
    title, values, effect; `causes` is why the leaderboard does not accept them, or not beside others. `is_accepted`
    says that it has a score of the first one's task. `unread` are places of the files that have the number and that
    are not read, where none fits; `broken` are values that are no number of a measurement.
    """

    reported: Reported
    fitting: tuple[Reading, ...]
    tried: int
    by_chance: float
    nearest: tuple[Reading, ...] = ()
    whole: tuple[Reading, ...] = ()
    limits: _Bounds | None = None
    is_guess: bool = False
    is_part: bool = False
    rivals: int = 0
    settings: tuple[tuple[str, str, str], ...] = ()
    causes: tuple[str, ...] = ()
    is_accepted: bool = False
    unread: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the first stands in the file, or is a score of the leaderboard, and is no guess."""
        return bool(self.fitting) and self.fitting[0].kind == "plain" and not self.is_guess


@dataclass(frozen=True, slots=True)
class _Member:
    """A leaf of a column: its file, format, key, row and number of samples, and the raw values that become 0 and 1.

    `is_known` says that the catalogue knows what guessing gives.
    """

    file: str
    format: str
    key: str
    row: LeafResult
    samples: int | None
    bounds: _Bounds
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class _Column:
    """What people report one number of. `keys` are its own metrics, `own` what the leaderboard makes of it.

    `is_declared` says that it is a task of the leaderboard, `is_part` that it is one subtask of a larger one.
    """

    id: str
    members: tuple[_Member, ...]
    keys: tuple[str, ...]
    cost: int
    rows: tuple[Mapping[str, object], ...] = ()
    own: TaskScore | None = None
    is_declared: bool = False
    is_part: bool = False

    @property
    def leaves(self) -> tuple[tuple[str, str], ...]:
        return tuple([(member.file, member.key) for member in self.members])


def parse_reported(text: str) -> Reported:
    """Read a number as people print it: `55.93`, `0.6915`, `47.88%`, `34.24 ± 0.4`, also with a comma or an exponent.

    Raises CallError if it is no number.
    """
    stripped = text.strip()
    before = BESIDE.split(stripped)[0].strip(" |")
    is_percent = stripped.endswith("%") or before.endswith("%")
    number = before.removesuffix("%").strip()
    match = NUMBER.fullmatch(number)
    if match is None:
        raise CallError(f"{text[:40]!r} is not a number: write it as it was reported, such as 55.93, 0.6915 or 47.88%")
    last = min(0, int(match[2] or 0) - len(match[1] or ""))  # the power of ten of the last digit
    return Reported(before, float(number.replace(",", ".")), 10.0**last, is_percent)


def read_reported(
    results: Mapping[str, Result], scores: Scores, leaderboard: Leaderboard, reported: Reported, task_id: str = ""
) -> Readings:
    """Try every reading of the results of one row, by their files, with its scores; `task_id` leaves but one column."""
    columns = list(_columns(results, scores, leaderboard, task_id))
    values = [one for column in columns if task_id in {"", column.id} for one in _values(column)]
    if task_id in {"", "average"}:
        limits = _hull([_limits(column, keys) for column in columns for _, keys, _ in _metrics(column)])
        averages = _averages([column.own for column in columns if column.own], scores)
        mean, count = mean_of_tasks(list(results.values()))
        said = f"plain mean of the {count} tasks of the files, as `compare` has it = {significant(mean)}"
        averages += [Reading(mean, "average", "", (said,), OTHER_MEAN)] if count else []
        averages += _with_unaccepted(columns, leaderboard)
        averages += _means_of_files(results)
        values += [replace(one, limits=limits) for one in averages]
    if not values:
        raise CallError(_no_task(task_id, columns) if task_id else "these results hold no number")
    readings = _distinct(values, reported)
    fitting = _fitting(readings, reported)
    possible = [one for one in readings if _may_be(one, reported)]
    if not possible:
        return Readings(reported, (), len(readings), 0.0, limits=_hull([one.limits for one in readings]))
    if not fitting and reported.unit * EXACT <= reported.top:
        values += _two_changes([one for one in columns if task_id in {"", "average", one.id}], task_id)
        readings = _distinct(values, reported)
        fitting = _fitting(readings, reported)
        possible = [one for one in readings if _may_be(one, reported)]
    is_cut = not (fitting and reported.fits(fitting[0].value))
    chance = _chance(readings, reported, is_cut=is_cut)
    parts = {column.id for column in columns if column.is_part} - {task_id}
    nearest = sorted(possible, key=lambda one: abs(one.value - reported.value))
    if not fitting:
        whole = [one for one in nearest if one.task not in parts and one.kind != "guess"]
        return Readings(reported, (), len(readings), chance, tuple(nearest[:NEAREST]), tuple(whole[:NEAREST]))
    first, around = fitting[0], max(NEAR * reported.top, reported.unit)
    simple = [one for one in readings if one.cost <= first.cost - (CUT if is_cut else 0)]
    near = [one for one in simple if abs(one.value - reported.value) <= around]
    rivals = len(_printed_as(near, reported, is_cut=is_cut))
    by_chance = rivals * reported.unit / (2 * around)
    if first.kind == "plain":
        by_chance = _chance([one for one in readings if one.kind == "plain"], reported, is_cut=is_cut)
    is_part = first.task in parts and chance > UNLIKELY_PART
    is_guess = is_part or first.kind == "guess" or by_chance > UNLIKELY
    plain = next((one for one in nearest if one.kind == "plain" and one.task not in parts), None)
    is_beside = is_guess and plain is not None and (plain.task, plain.value) != (first.task, first.value)
    return Readings(
        reported,
        tuple(fitting),
        len(readings),
        chance,
        whole=(plain,) if plain is not None and is_beside else (),
        is_guess=is_guess,
        is_part=is_part,
        rivals=rivals,
        is_accepted=first.task
        in {*(column.id for column in columns if column.own), *(["average"] * (scores.average is not None))},
    )


def with_settings(
    readings: Readings, results: Mapping[str, Result], causes: Mapping[str, Sequence[str]] = {}
) -> Readings:
    """The readings with their files and differing settings where several have a leaf, and how those were made.

    Nothing is said of the settings of a number that stands in the file. `causes` says by the task, "" for all, why the
    leaderboard does not accept it.
    """
    holding = Counter(key for result in results.values() for key in result.leaves)

    def placed(reading: Reading) -> Reading:
        shared = {key for _, key in reading.leaves if holding[key] > 1}
        if not shared:
            return reading
        every = [(file, key) for file, result in results.items() for key in shared if key in result.leaves]
        usual = _settings_of(results, every)
        differing = [f"{one[0]} {one[1]}" for one in _settings_of(results, reading.leaves) if one not in usual]
        where = f"in {examples(reading.files)}{': ' if differing else ''}{', '.join(differing)}"
        return replace(reading, steps=(f"{reading.steps[0]}, {where}", *reading.steps[1:]))

    first = () if readings.is_plain else readings.fitting[:1]
    shown = (*first, *(readings.whole or readings.nearest))
    every = [(file, key) for file, result in results.items() for key in result.leaves]
    leaves = every if any(not one.leaves for one in shown) else [leaf for one in shown for leaf in one.leaves]
    return replace(
        readings,
        broken=tuple(
            [
                f"{metric} of {key} {why}"
                for result in results.values()
                for key, leaf in result.leaves.items()
                if (metric := metric_of(result.format, key, leaf))
                and (why := why_no_number(result.format, leaf, metric))
            ]
        ),
        fitting=tuple([placed(one) for one in readings.fitting]),
        nearest=tuple([placed(one) for one in readings.nearest]),
        whole=tuple([placed(one) for one in readings.whole]),
        settings=tuple(_settings_of(results, leaves))
        if shown and (readings.is_guess or not readings.is_accepted)
        else (),
        causes=tuple(
            [
                why
                for task, said in causes.items()
                if shown and (not task or {task, "average"} & {one.task for one in shown})
                for why in said
            ]
        ),
    )


def _settings_of(results: Mapping[str, Result], leaves: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    return moving_settings([LeafSource(results[file], key) for file, key in leaves])


def _no_task(task_id: str, columns: Sequence[_Column]) -> str:
    names = list(dict.fromkeys([column.id for column in columns]))
    near = get_close_matches(task_id, names, 3)
    others = f"near it {'are' if near[1:] else 'is'} {examples(near)}" if near else f"they have {examples(names)}"
    return f"there is no task {task_id} in these results; {others}"


def _fitting(readings: Iterable[Reading], reported: Reported) -> list[Reading]:
    """The readings that print as the number, rounded or, as a longer way, cut; simplest first."""
    found = []
    for one in readings:
        if reported.fits(one.value):
            found.append(one)
        elif reported.is_cut_of(one.value):
            last = f"{one.steps[-1]}, cut, not rounded, to {reported.text}"
            found.append(replace(one, steps=(*one.steps[:-1], last), cost=one.cost + CUT))
    return sorted(found, key=lambda one: one.cost)


def _printed_as(readings: Iterable[Reading], reported: Reported, *, is_cut: bool) -> set[int]:
    """The numbers, in steps of the last digit, as which readings print, rounded and with `is_cut` also cut."""
    values = [one.value for one in readings]
    rounded = {round(one / reported.unit) for one in values}
    return rounded | {-reported.cut(one) if one < 0 else reported.cut(one) for one in values} if is_cut else rounded


def _chance(readings: Iterable[Reading], reported: Reported, *, is_cut: bool) -> float:
    """How many of the readings a random number of the scale would fit."""
    on_scale = [one for one in readings if 0 <= one.value <= reported.top]
    steps = len(_printed_as(on_scale, reported, is_cut=is_cut))
    return min(steps * reported.unit / (reported.top + reported.unit), steps)


def _may_be(reading: Reading, reported: Reported) -> bool:
    low, high = reading.limits
    return low - reported.unit <= reported.value <= high + reported.unit


def _hull(limits: Sequence[_Bounds]) -> _Bounds:
    """The smallest range that has all of these in it."""
    return min([low for low, _ in limits], default=-inf), max([high for _, high in limits], default=inf)


def _printed(values: Iterable[Reading], reported: Reported) -> Iterator[Reading]:
    """Each value on every scale on which it could have been printed."""
    for one in values:
        scales = [100.0] if reported.top > 1 else [1.0] if abs(one.value) > 0.01 else [1.0, 100.0]
        if (reported.top > 1 and abs(one.value) > 1) or not one.is_share:  # in percent, or no share
            scales = [1.0]
        low, high = one.limits
        for scale in scales:
            yield replace(one, value=one.value * scale, limits=(low * scale, high * scale))


def _distinct(values: Iterable[Reading], reported: Reported) -> list[Reading]:
    """The values as printed, simplest first, without those of the same task that another gives in a shorter way.

    The longer way stays where it explains a bare score.
    """
    seen: dict[tuple[str, float], Reading] = {}
    for one in sorted(_printed(values, reported), key=lambda one: one.cost):
        known = seen.setdefault((one.task, round(one.value, 9)), one)
        if known.steps == one.steps and known.leaves != one.leaves:  # in another file
            seen[one.task, round(one.value, 9)] = replace(known, leaves=(*known.leaves, *one.leaves))
        elif known.cost == 0 and len(known.steps) == 1 < one.cost:
            seen[one.task, round(one.value, 9)] = replace(known, steps=(*one.steps, *known.steps))
    return list(seen.values())


def _columns(results: Mapping[str, Result], scores: Scores, leaderboard: Leaderboard, asked: str) -> Iterator[_Column]:
    """The leaderboard's tasks first, then groups of the catalogue and of the file, then each leaf alone.

    Of columns with the same leaves, the leaderboard's count, else the first, and the one that is asked for.
    """
    seen: set[frozenset[tuple[str, str]]] = set()
    for column in _all_columns(results, scores, leaderboard):
        leaves = frozenset(column.leaves)
        if leaves and (column.is_declared or column.id == asked or leaves not in seen):
            seen.add(leaves)
            yield column
            if len(seen) >= MOST_COLUMNS:
                return


def _all_columns(results: Mapping[str, Result], scores: Scores, leaderboard: Leaderboard) -> Iterator[_Column]:
    scored = {one.id: one for one in scores.tasks if one.score is not None}
    for task in leaderboard.tasks:
        yield from _declared(results, task, scored.get(task.id))
        for file, result in results.items() if len(results) > 1 else ():
            yield from _declared({file: result}, task, None)
    for file, result in results.items():
        yield from _of_groups(file, result)
    for file, result in results.items():
        in_groups = {key for group in result.subtasks for key in leaves_of(group, result.subtasks)[:MOST_MEMBERS]}
        shown = _shown(result) if result.format == "mteb" else ()
        for key, row in result.leaves.items():
            known = catalogue().find(result.format, key)
            is_part = (isinstance(known.of, Group) if known else key in in_groups) and key not in shown
            yield _Column(key, (_member(file, result, key, row),), (), 3 if is_part else 0, is_part=is_part)


def _declared(results: Mapping[str, Result], task: Task, own: TaskScore | None) -> Iterator[_Column]:
    """A task of the leaderboard, if the results have a part of it, with its bounds and with the catalogue's."""
    members: list[_Member] = []
    known: list[_Member] = []
    keys: tuple[str, ...] = ()
    for leaf in task.leaves:
        found = [file for file, one in results.items() if leaf.key(one.format) in one.leaves]
        if found:
            file, result = found[-1], results[found[-1]]
            keys = tuple(metric.key(result.format) for metric in task.metrics)
            row = result.leaves[leaf.key(result.format)]
            bounds = (float(task.leaf_lower_bound(leaf)), float(task.upper_bound))
            known.append(_member(file, result, leaf.key(result.format), row))
            declared = bounds if task.higher_is_better else (0.0, 1.0)
            members.append(replace(known[-1], samples=row.samples or leaf.samples, bounds=declared))
    if members:
        known = [replace(one, samples=member.samples) for one, member in zip(known, members, strict=True)]
        leaves = {member.key for member in members}
        rows = tuple(row for result in results.values() for row in _rows(result, leaves))
        yield _Column(task.id, tuple(members), keys, 0, rows, own, is_declared=True)
        if known != members:
            yield _Column(task.id, tuple(known), keys, 1, rows, is_declared=True)


def _of_groups(file: str, result: Result) -> Iterator[_Column]:
    """Groups that the catalogue knows, and those of the file."""
    known: dict[str, list[_Member]] = {}
    metrics: dict[str, tuple[str, ...]] = {}
    for key, row in result.leaves.items():
        found = catalogue().find(result.format, key)
        if found is not None and isinstance(found.of, Group):
            known.setdefault(found.of.id, []).append(_member(file, result, key, row))
            metrics[found.of.id] = tuple(one.key(result.format) for one in found.of.metrics)
    for name, members in known.items():
        yield _Column(name, tuple(members), metrics[name], 1, _rows(result, {one.key for one in members}))
    for group in result.subtasks:
        leaves = [key for key in leaves_of(group, result.subtasks)[:MOST_MEMBERS] if key in result.leaves]
        members = [_member(file, result, key, result.leaves[key]) for key in leaves]
        yield _Column(group, tuple(members), (), 2, _rows(result, set(leaves)))


def _rows(result: Result, leaves: set[str]) -> tuple[Mapping[str, object], ...]:
    return tuple(row.numbers for row in result.groups if set(leaves_of(row.key, result.subtasks)) == leaves)


def _member(file: str, result: Result, key: str, row: LeafResult) -> _Member:
    found = catalogue().find(result.format, key)
    guess = float(found.guessable.guessing) if found else 0.0
    samples = row.samples or (found.samples if found else None)
    return _Member(file, result.format, key, row, samples, (guess, 1.0), found is not None)


def _values(column: _Column) -> Iterator[Reading]:
    """Every reading of a column, as fractions."""
    if column.own is not None and column.own.score is not None:
        said, metric = (
            f"the leaderboard's score of {column.id} = {significant(column.own.score)}",
            " and ".join(column.keys),
        )
        limits = _hull([(0.0, 1.0), _limits(column, column.keys)])
        yield Reading(column.own.score / 100, column.id, metric, (said,), 0, "plain", column.leaves, limits)
    for metric, keys, cost in _metrics(column):
        limits, is_share = _limits(column, keys), all(_is_share(column, key) for key in keys)
        read = [_mean_of_numbers(member.row.numbers, keys) for member in column.members]
        numbers = [one for one in read if one is not None]
        if len(numbers) == len(read):
            is_plain = len(numbers) == len(keys) == 1 and not column.is_part
            of, total = f"{metric} of {column.id}", column.cost + cost
            for value, steps, more in _means(column, numbers):
                kind: Kind = "plain" if is_plain and not more else "derived"
                yield Reading(
                    value, column.id, metric, (of, *steps), total + more, kind, column.leaves, limits, is_share
                )
            for value, steps, more in _left_out(column, numbers):
                yield Reading(
                    value, column.id, metric, (of, *steps), total + more, "guess", column.leaves, limits, is_share
                )
        for row in column.rows:
            of_group = _mean_of_numbers(row, keys)
            if of_group is not None:
                said = f"{metric} of the group's own row = {significant(of_group)}"
                total = column.cost + cost + OTHER_MEAN
                yield Reading(of_group, column.id, metric, (said,), total, "plain", column.leaves, limits, is_share)


def _is_share(column: _Column, key: str) -> bool:
    return is_share(format_of(column.members[0].format).split_key(key)[0])


def _limits(column: _Column, keys: Sequence[str]) -> _Bounds:
    """The least and the greatest value that a reading of these metrics can have, as far as is known; as fractions."""
    found = []
    for member in column.members:
        for key in keys:
            kind = kind_of(format_of(member.format).split_key(key)[0])
            low, high = member.row.ranges.get(key) or (kind.range if kind else (-inf, inf))
            value = measured(member.row.numbers.get(key))
            if value is not None and not low <= value <= high:  # in percent, or wrong
                low, high = (100 * low, 100 * high) if 100 * low <= value <= 100 * high else (-inf, inf)
            found.append((min(low, _normalized(low, member.bounds)), high))
    return _hull(found)


def _mean_of_numbers(row: Mapping[str, object], keys: Sequence[str]) -> float | None:
    values = [measured(row.get(key)) for key in keys]
    numbers = [one for one in values if one is not None]
    return fsum(numbers) / len(numbers) if numbers and len(numbers) == len(values) else None


def _metrics(column: _Column) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """The column's own metrics together, then each one that its rows have."""
    if column.keys:
        yield " and ".join(column.keys), column.keys, 1
    first = column.members[0]
    spelling = format_of(first.format)
    found = [name for name in spelling.metrics_in(first.row.numbers) if not ERRORS.search(name)]
    names = [name for name in found if not is_count(spelling.split_key(name)[0])]
    for name in names[:MOST_MEMBERS]:
        if column.keys != (name,):
            is_own = not column.keys or name in column.keys
            yield name, (name,), 1 + (0 if is_own else OTHER_METRIC)


def _means(column: _Column, values: Sequence[float]) -> Iterator[_Way]:
    """The ways from the values of the members to one number: (value, steps, cost)."""
    bounds = [member.bounds for member in column.members]
    sizes = [member.samples or 0 for member in column.members]
    if len(values) == 1:
        row, asked = column.members[0].row, (column.members[0].row.samples or 0)
        missing = (row.unscored or 0) + (row.errored or 0)
        if missing and asked:
            without = f"{missing} of {asked + missing} samples have no score"
            yield from _scales(values[0], bounds[0], (f"raw value {significant(values[0])}; {without}",), 0)
            value = values[0] * asked / (asked + missing)
            yield (
                value,
                (f"raw value {significant(values[0])}", f"{without}; counted as 0 = {significant(value)}"),
                OTHER_MEAN,
            )
            return
        yield from _scales(values[0], bounds[0], (f"raw value {significant(values[0])}",), 0)
        return
    yield from _mean_readings(values, bounds, [], "", 0)
    if all(sizes) and len(set(sizes)) > 1:
        yield from _mean_readings(values, bounds, sizes, "", OTHER_MEAN)


def _left_out(column: _Column, values: Sequence[float]) -> Iterator[_Way]:
    """The same with one member fewer."""
    bounds = [member.bounds for member in column.members]
    for place, member in enumerate(column.members if 2 < len(values) <= MOST_MEMBERS else ()):
        rest, others = _without(values, place), _without(bounds, place)
        yield from _mean_readings(rest, others, [], member.key, LEFT_OUT)


def _without(values: Sequence[T], place: int) -> list[T]:
    return [*values[:place], *values[place + 1 :]]


def _mean_readings(
    values: Sequence[float], bounds: Sequence[_Bounds], sizes: Sequence[int], left_out: str, cost: int
) -> Iterator[_Way]:
    raw = _mean(values, sizes)
    kind = "mean over the samples" if sizes else "plain mean"
    said = f"{kind} of {len(values)} subtasks{f' without {left_out}' if left_out else ''}"
    yield from _scales(raw, bounds[0] if len(set(bounds)) == 1 else (0.0, 1.0), (f"{said} = {significant(raw)}",), cost)
    if any(guess for guess, _ in bounds):
        plain = [_normalized(one, by) for one, by in zip(values, bounds, strict=True)]
        clipped = [max(0.0, one) for one in plain]
        steps = (
            "each subtask normalized by its own guessing value, 0 below it",
            f"{said} = {significant(_mean(clipped, sizes))}",
        )
        yield _mean(clipped, sizes), steps, cost + OTHER_SCALE
        if clipped != plain:
            steps = ("each subtask normalized, also below guessing", f"{said} = {significant(_mean(plain, sizes))}")
            yield _mean(plain, sizes), steps, cost + OTHER_SCALE + UNCLIPPED


def _scales(raw: float, bounds: _Bounds, steps: tuple[str, ...], cost: int) -> Iterator[_Way]:
    """A value raw, and normalized if guessing gives more than 0."""
    yield raw, steps, cost
    guess, top = bounds
    if 0 < guess < top and raw <= top:
        plain = _normalized(raw, bounds)
        low, high = significant(guess), significant(top)
        formula = f"normalized: ({significant(raw)} - {low}) / ({high} - {low}) = {significant(max(0.0, plain))}"
        yield max(0.0, plain), (*steps, formula), cost + OTHER_SCALE
        if plain < 0:
            below = (*steps, f"normalized, also below guessing = {significant(plain)}")
            yield plain, below, cost + OTHER_SCALE + UNCLIPPED


def _averages(tasks: Sequence[TaskScore], scores: Scores) -> list[Reading]:
    """The leaderboard's average, and the means of scores and of raw values, each also with one task left out."""
    found = []
    if scores.average is not None:
        steps = (f"the leaderboard's average of {len(scores.averaged)} {scores.over} = {significant(scores.average)}",)
        found.append(Reading(scores.average / 100, "average", "", steps, 0, "plain"))
    for name, values in (
        ("scores", [(one.score or 0.0) / 100 for one in tasks]),
        ("raw values", [one.raw or 0.0 for one in tasks]),
    ):
        if len(values) > 1:
            found.append(_plain_mean(values, f"{name} of {len(values)} tasks"))
        for place, task in enumerate(tasks if len(values) > 2 else ()):
            rest = _plain_mean(_without(values, place), f"{name} without {task.id}")
            found.append(replace(rest, cost=LEFT_OUT, kind="guess"))
    return found


def _means_of_files(results: Mapping[str, Result]) -> Iterator[Reading]:
    """The means over the tasks of each file and of all files, and the mean of the files' own means."""
    every = {file: values for file, result in results.items() if (values := _usual_values(file, result))}
    names = {name for values in every.values() for _, name, _ in values}
    metric = f"{NORMALIZED} where a task has it, else {PLAIN}" if {NORMALIZED, PLAIN} <= names else examples([*names])
    parts = [(f"tasks of {file}", values) for file, values in every.items()]
    if len(every) > 1:
        parts.append((f"tasks of {len(every)} files", [one for values in every.values() for one in values]))
    for file, result in results.items():
        yield from _means_of_all(file, result)
    for of, values in parts:
        if len(values) > 1:
            mean = _plain_mean([value for value, _, _ in values], f"{len(values)} {of}, {metric}")
            leaves = tuple([leaf for _, _, leaf in values])
            yield replace(mean, metric=metric, cost=OF_FILES, leaves=leaves)
    if len(every) > 1:
        means = [_mean([value for value, _, _ in values], []) for values in every.values()]
        steps = tuple(f"mean of {file} = {significant(mean)}" for file, mean in zip(every, means, strict=True))
        mean = _plain_mean(means, f"means of {len(every)} files, {metric}")
        leaves = tuple([leaf for values in every.values() for _, _, leaf in values])
        yield replace(mean, metric=metric, cost=OF_FILES, steps=(*steps[:MOST_MEMBERS], *mean.steps), leaves=leaves)


def _means_of_all(file: str, result: Result) -> Iterator[Reading]:
    """The means over every metric of every task of a file, and over its groups besides, as people make them at home."""
    spelling = format_of(result.format)

    def shares(numbers: Mapping[str, object]) -> list[float]:
        names = [name for name in spelling.metrics_in(numbers) if is_share(spelling.split_key(name)[0])]
        return [value for name in names if (value := measured(numbers[name])) is not None]

    rows = {key: shares(leaf.numbers) for key, leaf in [*result.leaves.items()][:MOST_COLUMNS]}
    groups = {row.key: shares(row.numbers) for row in result.groups[:MOST_COLUMNS]}
    leaves, every = ([value for row in some.values() for value in row] for some in (rows, {**rows, **groups}))
    ways = [(f"{len(leaves)} values of all {len(rows)} tasks of {file}, every metric", leaves)] if len(rows) > 1 else []
    ways += (
        [(f"{len(every)} values of all tasks and groups of {file}, every metric", every)]
        if any(groups.values())
        else []
    )
    for of, values in ways:
        if len(values) > 1:
            placed = tuple([(file, key) for key in rows])
            yield replace(_plain_mean(values, of), metric="every metric", cost=OF_FILES + OTHER_METRIC, leaves=placed)


def _usual_values(file: str, result: Result) -> list[tuple[float, str, tuple[str, str]]]:
    """The shares of a file that people report, each with its metric and its place."""
    found, spelling = [], format_of(result.format)
    for key in _shown(result):
        row = result.leaves[key]
        names = {spelling.split_key(one)[0]: one for one in spelling.metric_keys(row.numbers)}
        metric = names.get(NORMALIZED) or names.get(PLAIN) or metric_of(result.format, key, row)
        name, value = spelling.split_key(metric)[0], measured(row.numbers.get(metric))
        if value is not None and is_share(name):
            found.append((value, name, (file, key)))
    return found


def _shown(result: Result) -> Sequence[str]:
    """The leaves that people report; of several subsets and splits of a task of MTEB the English test."""
    if result.format != "mteb" or len(result.leaves) == 1:
        return list(result.leaves)[:MOST_COLUMNS]
    parts = {key: key.rsplit("/", 2)[1:] for key in result.leaves}
    return [key for key, (subset, split) in parts.items() if split == "test" and subset in ENGLISH]


def _with_unaccepted(columns: Sequence[_Column], leaderboard: Leaderboard) -> Iterator[Reading]:
    """The means over all tasks where some have no score: of these a value that the results have, though unaccepted."""
    sizes = {task.id: len(task.leaves) for task in leaderboard.tasks}
    scored = {column.id: column.own for column in columns if column.own is not None}
    others: dict[str, list[Reading]] = {}
    for column in columns:
        if column.is_declared and column.id not in scored and len(column.members) == sizes[column.id]:
            own = [one for one in _values(column) if one.metric == " and ".join(column.keys) and one.kind != "guess"]
            others.setdefault(column.id, []).extend(own)
    if not others or {*scored, *others} != {*sizes}:
        return
    for ways in islice(product(*others.values()), MOST_COLUMNS):
        for name, values in (
            ("scores", [(one.score or 0.0) / 100 for one in scored.values()]),
            ("raw values", [one.raw or 0.0 for one in scored.values()]),
        ):
            mean = fsum([*values, *(one.value for one in ways)]) / len(sizes)
            value = f"the file's value{'s' * (len(others) > 1)} of {examples(list(others))}"
            said = f"plain mean of the {name} of all {len(sizes)} tasks, with {value}, which {leaderboard.id} does not "
            said += f"accept = {significant(mean)}"
            steps = (*(step for one in ways for step in one.steps), said)
            leaves = tuple([leaf for one in ways for leaf in one.leaves])
            yield Reading(mean, "average", "", steps, sum(one.cost for one in ways), leaves=leaves)


def _two_changes(columns: Sequence[_Column], asked: str) -> Iterator[Reading]:
    """The average with one task read otherwise, and raw values of the task asked for by a usual guessing value.

    The choices of a task of the catalogue are known, and those of a task that nobody named would be a bare guess.
    """
    tasks = [column.own for column in columns if column.own is not None]
    for name, values in (
        ("scores", [(one.score or 0.0) / 100 for one in tasks]),
        ("raw values", [one.raw or 0.0 for one in tasks]),
    ):
        for place, task in enumerate(tasks if asked in {"", "average"} and len(tasks) > 1 else ()):
            for one in (one for column in columns if column.id == task.id for one in _values(column)):
                if one.cost < LEFT_OUT and abs(one.value - values[place]) > 1e-9:
                    mean = fsum([*_without(values, place), one.value]) / len(values)
                    of = f"the {name} of {len(values)} tasks, {task.id} by this reading"
                    said = f"plain mean of {of} = {significant(mean)}"
                    steps, cost = (*one.steps, said), TWO_CHANGES + one.cost
                    yield Reading(mean, "average", one.metric, steps, cost, "guess", one.leaves)
    for column in [one for one in columns if one.id == asked and not any(member.is_known for member in one.members)]:
        for one in (one for one in _values(column) if one.is_raw and one.cost < LEFT_OUT and one.value <= 1):
            for choices in USUAL_CHOICES:
                value = _normalized(one.value, (1 / choices, 1.0))
                steps = (*one.steps, f"normalized by guessing among {choices} = {significant(value)}")
                yield replace(one, value=value, steps=steps, cost=OTHER_GUESS + one.cost, kind="guess")


def _plain_mean(values: Sequence[float], of: str) -> Reading:
    mean = fsum(values) / len(values)
    return Reading(mean, "average", "", (f"plain mean of the {of} = {significant(mean)}",), OTHER_MEAN)


def _mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    if sizes:
        return fsum(one * size for one, size in zip(values, sizes, strict=True)) / (sum(sizes) or 1)
    return fsum(values) / len(values)


def _normalized(value: float, bounds: _Bounds) -> float:
    guess, top = bounds
    return (value - guess) / (top - guess) if guess < top else 0.0
