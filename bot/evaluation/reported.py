"""Which reading of a result file gives a number that somebody reported.

People report a number and forget how they made it: which metric and filter, raw or normalized, before or after the
mean, over subtasks or over samples, with one subtask fewer, as a fraction or in percent. This tries the readings of a
file, gives those that come to the number to its printed digits, simplest first, and says how many would fit by chance.
Where none does, it tries two changes at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TypeVar

from bot.errors import CallError
from bot.evaluation.aggregates import leaves_of
from bot.evaluation.benchmarks.catalogue import Group, KnownLeaf, catalogue
from bot.evaluation.compare import mean_of_tasks
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.score import Scores, TaskScore, measured
from bot.evaluation.task import Task

NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,](\d{1,20}))?(?:[eE]([+-]?\d{1,2}))?")
ERRORS = re.compile(r"stderr|std_err|_se\b", re.IGNORECASE)  # names of standard errors, which nobody reports as a score
NEAREST = 3  # readings that are named where none fits
MOST_COLUMNS, MOST_MEMBERS = 400, 100  # what a hostile file may cost

T = TypeVar("T")
_Bounds = tuple[float, float]
_Way = tuple[float, tuple[str, ...], int]  # a value, its steps, and what they cost

# What makes a reading less likely; readings are listed in the order of the sum.
OTHER_METRIC, OTHER_MEAN, OTHER_SCALE, LEFT_OUT, UNCLIPPED = 2, 2, 1, 4, 2
OTHER_GUESS, TWO_CHANGES = 6, 8
USUAL_CHOICES = (2, 3, 4, 5, 10)
EXACT = 1_000  # steps of the scale that a number must tell apart, so that two changes are tried
NEAR = 0.01  # of the scale: how far around the number its rivals are counted
UNLIKELY = 0.05  # by_chance from which a reading is no more than a guess


@dataclass(frozen=True, slots=True)
class Reported:
    """A number as somebody printed it: `unit` is one step of its last digit; `is_percent` says that it has a "%"."""

    text: str
    value: float
    unit: float
    is_percent: bool

    def fits(self, value: float) -> bool:
        """Tell whether a value prints as this number."""
        return abs(value - self.value) <= self.unit / 2 + 1e-9 * max(1.0, abs(self.value))

    @property
    def top(self) -> float:
        """The top of the scale that the number seems to have: 1 or 100."""
        return 100.0 if self.is_percent or abs(self.value) > 1 else 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to get a number out of a file: `value` on the scale of the reported one, `steps` for people.

    `task` is the column or subtask, "average" for the average; a smaller `cost` is a simpler reading.
    """

    value: float
    task: str
    metric: str
    steps: tuple[str, ...]
    cost: int

    @property
    def is_raw(self) -> bool:
        """Whether no step normalized it."""
        return self.cost > 0 and not any("normalized" in step for step in self.steps)


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings that fit, how many were tried, and how many distinct values would fit by chance.

    `nearest` has the three nearest simple readings of whole tasks where none fits. `rivals` are the values that
    readings as simple as the first have near the number, itself among them, and `rivals_by_chance` how many of so many
    fit a number there.
    """

    reported: Reported
    fitting: tuple[Reading, ...]
    tried: int
    by_chance: float
    nearest: tuple[Reading, ...]
    rivals: int = 0
    rivals_by_chance: float = 0.0

    @property
    def is_guess(self) -> bool:
        """Whether the first reading leaves something out or changes two things, or may fit by chance."""
        return bool(self.fitting) and (self.fitting[0].cost >= LEFT_OUT or self.has_rivals)

    @property
    def has_rivals(self) -> bool:
        """Whether readings as simple as the first have so many values near the number that one fits by chance."""
        return self.rivals_by_chance > UNLIKELY


@dataclass(frozen=True, slots=True)
class _Member:
    """A leaf of a column: its key, row and number of samples, and the raw values that become 0 and 1."""

    key: str
    row: LeafResult
    samples: int | None
    bounds: _Bounds


@dataclass(frozen=True, slots=True)
class _Column:
    """What people report one number of. `keys` are its own metrics, `own` what the leaderboard makes of it.

    `is_declared` says that it is a task of the leaderboard.
    """

    id: str
    members: tuple[_Member, ...]
    keys: tuple[str, ...]
    cost: int
    rows: tuple[Mapping[str, object], ...] = ()
    own: TaskScore | None = None
    is_declared: bool = False


def parse_reported(text: str) -> Reported:
    """Read a number as people print it: `55.93`, `0.6915`, `47.88%`, also with a decimal comma or an exponent.

    Raises CallError if it is no number.
    """
    stripped = text.strip()
    is_percent = stripped.endswith("%")
    number = stripped.removesuffix("%").strip()
    match = NUMBER.fullmatch(number)
    if match is None:
        raise CallError(f"{text[:40]!r} is not a number: write it as it was reported, such as 55.93, 0.6915 or 47.88%")
    last = int(match[2] or 0) - len(match[1] or "")  # the power of ten of the last digit
    return Reported(stripped, float(number.replace(",", ".")), 10.0**last, is_percent)


def read_reported(
    results: Sequence[Result], scores: Scores, leaderboard: Leaderboard, reported: Reported, task_id: str = ""
) -> Readings:
    """Try every reading of the results of one row with its scores; `task_id` leaves out all columns but one."""
    columns = list(_columns(results, scores, leaderboard, task_id))
    values = [one for column in columns if task_id in {"", column.id} for one in _values(column)]
    if task_id in {"", "average"}:
        values += _averages([column.own for column in columns if column.own], scores)
        mean, count = mean_of_tasks(results)
        said = f"plain mean of the {count} tasks of the files, as `compare` has it = {mean:.6g}"
        values += [Reading(mean, "average", "", (said,), OTHER_MEAN)] if count else []
    if not values:
        raise CallError(f"there is no task {task_id} in these results" if task_id else "these results hold no number")
    readings = _distinct(sorted(_printed(values, reported), key=lambda one: one.cost))
    fitting = [one for one in readings if reported.fits(one.value)]
    parts = {member.key for column in columns if len(column.members) > 1 for member in column.members}
    whole = [one for one in readings if one.task not in parts and one.cost <= LEFT_OUT] or readings
    nearest = sorted(whole, key=lambda one: abs(one.value - reported.value))[:NEAREST]
    if not fitting and reported.unit * EXACT <= reported.top:
        values += _two_changes(columns, task_id)
        readings = _distinct(sorted(_printed(values, reported), key=lambda one: one.cost))
        fitting = [one for one in readings if reported.fits(one.value)]
    steps = {round(one.value / reported.unit) for one in readings if 0 <= one.value <= reported.top}
    chance = min(len(steps) * reported.unit / (reported.top + reported.unit), len(steps))
    if not fitting:
        return Readings(reported, (), len(readings), chance, tuple(nearest))
    around = max(NEAR * reported.top, reported.unit)
    rivals = {
        round(one.value / reported.unit)
        for one in readings
        if one.cost <= fitting[0].cost and abs(one.value - reported.value) <= around
    }
    by_chance = len(rivals) * reported.unit / (2 * around)
    return Readings(reported, tuple(fitting), len(readings), chance, (), len(rivals), by_chance)


def _printed(values: Iterable[Reading], reported: Reported) -> Iterator[Reading]:
    """Each value on every scale on which it could have been printed."""
    for one in values:
        scales = [100.0] if reported.top > 1 else [1.0] if abs(one.value) > 0.01 else [1.0, 100.0]
        if reported.top > 1 and abs(one.value) > 1:
            scales = [1.0, 100.0]  # percent, or a perplexity, of which tables of harness 0.3 give 100 times
        for scale in scales:
            yield replace(one, value=one.value * scale)


def _distinct(readings: Iterable[Reading]) -> list[Reading]:
    """The readings without those that give the same value of the same task in a longer way.

    The longer way stays where it explains a bare score.
    """
    seen: dict[tuple[str, float], Reading] = {}
    for one in readings:
        known = seen.setdefault((one.task, round(one.value, 9)), one)
        if known.cost == 0 and len(known.steps) == 1 < one.cost:
            seen[one.task, round(one.value, 9)] = replace(known, steps=(*one.steps, *known.steps))
    return list(seen.values())


def _columns(results: Sequence[Result], scores: Scores, leaderboard: Leaderboard, asked: str) -> Iterator[_Column]:
    """The leaderboard's tasks first, then groups of the catalogue and of the file, then each leaf alone.

    Of columns with the same leaves, the leaderboard's count, else the first, and the one that is asked for.
    """
    seen: set[frozenset[str]] = set()
    for column in _all_columns(results, scores, leaderboard):
        leaves = frozenset(member.key for member in column.members)
        if leaves and (column.is_declared or column.id == asked or leaves not in seen):
            seen.add(leaves)
            yield column
            if len(seen) >= MOST_COLUMNS:
                return


def _all_columns(results: Sequence[Result], scores: Scores, leaderboard: Leaderboard) -> Iterator[_Column]:
    scored = {one.id: one for one in scores.tasks if one.score is not None}
    for task in leaderboard.tasks:
        yield from _declared(results, task, scored.get(task.id))
    for result in results:
        yield from _of_groups(result)
    for result in results:
        for key, row in result.leaves.items():
            yield _Column(key, (_member(result, key, row),), (), 3)


def _declared(results: Sequence[Result], task: Task, own: TaskScore | None) -> Iterator[_Column]:
    """A task of the leaderboard, if the results have a part of it, with its bounds and with the catalogue's."""
    members: list[_Member] = []
    known: list[_Member] = []
    keys: tuple[str, ...] = ()
    for leaf in task.leaves:
        result = next((one for one in reversed(results) if leaf.key(one.format) in one.leaves), None)
        if result is not None:
            keys = tuple(metric.key(result.format) for metric in task.metrics)
            row = result.leaves[leaf.key(result.format)]
            bounds = (float(task.leaf_lower_bound(leaf)), float(task.upper_bound))
            declared = bounds if task.higher_is_better else (0.0, 1.0)
            members.append(_Member(leaf.key(result.format), row, row.samples or leaf.samples, declared))
            known.append(replace(members[-1], bounds=_member(result, leaf.key(result.format), row).bounds))
    if members:
        leaves = {member.key for member in members}
        rows = tuple(row for result in results for row in _rows(result, leaves))
        yield _Column(task.id, tuple(members), keys, 0, rows, own, is_declared=True)
        if known != members:
            yield _Column(task.id, tuple(known), keys, 1, rows, is_declared=True)


def _of_groups(result: Result) -> Iterator[_Column]:
    """Groups that the catalogue knows, and those of the file."""
    known: dict[str, list[_Member]] = {}
    metrics: dict[str, tuple[str, ...]] = {}
    for key, row in result.leaves.items():
        found = catalogue().find(result.format, key)
        if found is not None and isinstance(found.of, Group):
            known.setdefault(found.of.id, []).append(_member(result, key, row, found))
            metrics[found.of.id] = tuple(one.key(result.format) for one in found.of.metrics)
    for name, members in known.items():
        yield _Column(name, tuple(members), metrics[name], 1, _rows(result, {one.key for one in members}))
    for group in result.subtasks:
        leaves = [key for key in leaves_of(group, result.subtasks)[:MOST_MEMBERS] if key in result.leaves]
        members = [_member(result, key, result.leaves[key]) for key in leaves]
        yield _Column(group, tuple(members), (), 2, _rows(result, set(leaves)))


def _rows(result: Result, leaves: set[str]) -> tuple[Mapping[str, object], ...]:
    return tuple(row.numbers for row in result.groups if set(leaves_of(row.key, result.subtasks)) == leaves)


def _member(result: Result, key: str, row: LeafResult, found: KnownLeaf | None = None) -> _Member:
    found = found or catalogue().find(result.format, key)
    guess = float(found.guessable.guessing) if found else 0.0
    return _Member(key, row, row.samples or (found.samples if found else None), (guess, 1.0))


def _values(column: _Column) -> Iterator[Reading]:
    """Every reading of a column, as fractions."""
    if column.own is not None and column.own.score is not None:
        said = f"the leaderboard's score of {column.id} = {column.own.score:.6g}"
        yield Reading(column.own.score / 100, column.id, " and ".join(column.keys), (said,), 0)
    for metric, keys, cost in _metrics(column):
        read = [_mean_of_numbers(member.row.numbers, keys) for member in column.members]
        numbers = [one for one in read if one is not None]
        if len(numbers) == len(read):
            for value, steps, more in _means(column, numbers):
                yield Reading(value, column.id, metric, (f"{metric} of {column.id}", *steps), column.cost + cost + more)
        for row in column.rows:
            of_group = _mean_of_numbers(row, keys)
            if of_group is not None:
                said = f"{metric} of the group's own row = {of_group:.6g}"
                yield Reading(of_group, column.id, metric, (said,), column.cost + cost + OTHER_MEAN)


def _mean_of_numbers(row: Mapping[str, object], keys: Sequence[str]) -> float | None:
    values = [measured(row.get(key)) for key in keys]
    numbers = [one for one in values if one is not None]
    return fsum(numbers) / len(numbers) if numbers and len(numbers) == len(values) else None


def _metrics(column: _Column) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """The column's own metrics together, then each one that its rows have."""
    if column.keys:
        yield " and ".join(column.keys), column.keys, 1
    names = [name for name in column.members[0].row.numbers if not ERRORS.search(name)]
    for name in names[:MOST_MEMBERS]:
        if column.keys != (name,):
            is_own = not column.keys or name in column.keys
            yield name, (name,), 1 + (0 if is_own else OTHER_METRIC)


def _means(column: _Column, values: Sequence[float]) -> Iterator[_Way]:
    """The ways from the values of the members to one number: (value, steps, cost)."""
    bounds = [member.bounds for member in column.members]
    sizes = [member.samples or 0 for member in column.members]
    if len(values) == 1:
        yield from _scales(values[0], bounds[0], (f"raw value {values[0]:.6g}",), 0)
        return
    yield from _mean_readings(values, bounds, [], "", 0)
    if all(sizes) and len(set(sizes)) > 1:
        yield from _mean_readings(values, bounds, sizes, "", OTHER_MEAN)
    if 2 < len(values) <= MOST_MEMBERS:
        for place, member in enumerate(column.members):
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
    yield from _scales(raw, bounds[0] if len(set(bounds)) == 1 else (0.0, 1.0), (f"{said} = {raw:.6g}",), cost)
    if any(guess for guess, _ in bounds):
        plain = [_normalized(one, by) for one, by in zip(values, bounds, strict=True)]
        clipped = [max(0.0, one) for one in plain]
        steps = (
            "each subtask normalized by its own guessing value, 0 below it",
            f"{said} = {_mean(clipped, sizes):.6g}",
        )
        yield _mean(clipped, sizes), steps, cost + OTHER_SCALE
        if clipped != plain:
            steps = ("each subtask normalized, also below guessing", f"{said} = {_mean(plain, sizes):.6g}")
            yield _mean(plain, sizes), steps, cost + OTHER_SCALE + UNCLIPPED


def _scales(raw: float, bounds: _Bounds, steps: tuple[str, ...], cost: int) -> Iterator[_Way]:
    """A value raw, and normalized if guessing gives more than 0."""
    yield raw, steps, cost
    guess, top = bounds
    if 0 < guess < top and raw <= top:
        plain = _normalized(raw, bounds)
        formula = f"normalized: ({raw:.6g} - {guess:.6g}) / ({top:.6g} - {guess:.6g}) = {max(0.0, plain):.6g}"
        yield max(0.0, plain), (*steps, formula), cost + OTHER_SCALE
        if plain < 0:
            below = (*steps, f"normalized, also below guessing = {plain:.6g}")
            yield plain, below, cost + OTHER_SCALE + UNCLIPPED


def _averages(tasks: Sequence[TaskScore], scores: Scores) -> Iterator[Reading]:
    """The leaderboard's average, and the means of scores and of raw values, each also with one task left out."""
    if scores.average is not None:
        steps = (f"the leaderboard's average of {len(scores.averaged)} {scores.over} = {scores.average:.6g}",)
        yield Reading(scores.average / 100, "average", "", steps, 0)
    for name, values in (
        ("scores", [(one.score or 0.0) / 100 for one in tasks]),
        ("raw values", [one.raw or 0.0 for one in tasks]),
    ):
        if len(values) > 1:
            yield _plain_mean(values, f"{name} of {len(values)} tasks", OTHER_MEAN)
        for place, task in enumerate(tasks if len(values) > 2 else ()):
            yield _plain_mean(_without(values, place), f"{name} without {task.id}", LEFT_OUT)


def _two_changes(columns: Sequence[_Column], asked: str) -> Iterator[Reading]:
    """The average with one task read otherwise, and raw values normalized by a usual guessing value."""
    tasks = [column.own for column in columns if column.own is not None]
    for name, values in (
        ("scores", [(one.score or 0.0) / 100 for one in tasks]),
        ("raw values", [one.raw or 0.0 for one in tasks]),
    ):
        for place, task in enumerate(tasks if asked in {"", "average"} and len(tasks) > 1 else ()):
            for one in (one for column in columns if column.id == task.id for one in _values(column)):
                if one.cost < LEFT_OUT and abs(one.value - values[place]) > 1e-9:
                    mean = fsum([*_without(values, place), one.value]) / len(values)
                    said = f"plain mean of the {name} of {len(values)} tasks, {task.id} by this reading = {mean:.6g}"
                    yield Reading(mean, "average", one.metric, (*one.steps, said), TWO_CHANGES + one.cost)
    for column in columns if asked != "average" else ():
        for one in (one for one in _values(column) if one.is_raw and one.cost < LEFT_OUT and one.value <= 1):
            for choices in USUAL_CHOICES:
                value = _normalized(one.value, (1 / choices, 1.0))
                said = f"normalized by guessing among {choices} = {value:.6g}"
                yield replace(one, value=value, steps=(*one.steps, said), cost=OTHER_GUESS + one.cost)


def _plain_mean(values: Sequence[float], of: str, cost: int) -> Reading:
    mean = fsum(values) / len(values)
    return Reading(mean, "average", "", (f"plain mean of the {of} = {mean:.6g}",), cost)


def _mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    if sizes:
        return fsum(one * size for one, size in zip(values, sizes, strict=True)) / (sum(sizes) or 1)
    return fsum(values) / len(values)


def _normalized(value: float, bounds: _Bounds) -> float:
    guess, top = bounds
    return (value - guess) / (top - guess) if guess < top else 0.0
