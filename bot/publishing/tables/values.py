"""The values of an entry that the columns of a table can have, by accessor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from string import Formatter
from typing import Literal

from bot.errors import Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rounding import TWELVE_DIGITS
from bot.evaluation.row_key import owner_and_name
from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.publishing.addresses import evidence_link
from bot.publishing.entry import Entry

Scalar = Decimal | str | bool | None
Unit = Literal["proportion", "percent"]
Rounding = Literal["half-up", "half-even", "double"]
FEW_DECIMALS = 6
OWN = "value"  # in a template: the column's own value
RIGHT, OF = "right", "of"  # in a template: the value as a count, and of how many it is
COUNTED = 0.1  # how far a share of all may be from a whole number: files round shares
GROUP_FIELDS = ("score", "stderr")
TASK_FIELDS = ("score", "raw", "stderr", "samples", "num_fewshot")


@dataclass(frozen=True, slots=True)
class RowView:
    """The parts of an entry that layouts of foreign files use."""

    entry: Entry
    leaderboard: Leaderboard

    @property
    def date(self) -> str:
        """The day of the measurement, `YYYY-MM-DD`, else that of the push; "" if nobody knows."""
        return self.entry.when[:10]

    @property
    def harness(self) -> str:
        """The version of the harness, or else its commit."""
        return self.entry.harness.version or (self.entry.harness.git_hash or "")[:12]

    def task(self, task_id: str) -> TaskScore:
        """A column of the leaderboard. Raises Unwritable if it has none of that id."""
        for task in self.entry.tasks:
            if task.id == task_id:
                return task
        known = ", ".join(task.id for task in self.entry.tasks)
        raise Unwritable(f"the leaderboard has no task {task_id!r}; its tasks are {known}")

    def other(self, kind: str, name: str, part: str) -> float | None:
        """A number of a group, or a column that does not count. Raises Unwritable if the leaderboard has none."""
        if kind == "groups":
            group = next((one for one in self.entry.groups if one.title == name), None)
            value = None if group is None else group.score if part == "score" else group.stderr
            known: Iterable[str] = self.leaderboard.groups
        else:
            value = next((one.value for one in self.entry.columns if one.id == name), None)
            known = [one.id for one in self.leaderboard.columns]
        if name not in known:
            raise Unwritable(f"the leaderboard has no {kind[:-1]} {name!r}; it has {', '.join(known) or 'none'}")
        return value

    def column_unit(self, column_id: str) -> Unit | None:
        """The unit of a column that does not count, None where it is no share."""
        unit = next((one.unit for one in self.leaderboard.columns if one.id == column_id), "")
        return "percent" if unit == "percent" else "proportion" if unit == "fraction" else None

    def unit(self, task_id: str) -> Unit:
        """The unit in which the leaderboard declares a task's raw values."""
        return "percent" if self.declared(task_id).unit == "percent" else "proportion"

    def mean_unit(self) -> Unit:
        """The unit of the mean of all raw values. Raises Unwritable where tasks differ in it, or in what is better."""
        kinds = {(self.unit(task.id), self.declared(task.id).higher_is_better) for task in self.entry.tasks}
        if len(kinds) != 1:
            raise Unwritable(
                "average_raw needs tasks of one unit, in all of which higher or in all of which less is better"
            )
        return kinds.pop()[0]

    def mean(self) -> Decimal | None:
        """The plain mean of the raw values of all tasks, None if one is missing. Raises Unwritable, see `mean_unit`."""
        self.mean_unit()
        values = [exact(task.raw) for task in self.entry.tasks]
        known = [value for value in values if value is not None]
        return exact(float(sum(known, Decimal(0)) / len(known))) if len(known) == len(values) else None

    def declared(self, task_id: str) -> Task:
        """The declaration of a task that the entry has. Raises Unwritable if the leaderboard no longer has it."""
        found = next((task for task in self.leaderboard.tasks if task.id == task_id), None)
        if found is None:
            raise Unwritable(f"the leaderboard has no task {task_id!r} any more")
        return found


PLAIN: dict[str, Callable[[RowView], Scalar]] = {
    "model.id": lambda row: row.entry.model.id,
    "model.org": lambda row: owner_and_name(row.entry.model.id)[0],
    "model.name": lambda row: owner_and_name(row.entry.model.id)[1],
    "model.revision": lambda row: row.entry.model.revision,
    "model.precision": lambda row: row.entry.model.precision.removeprefix("torch."),
    "model.chat_template": lambda row: row.entry.model.chat_template,
    "average": lambda row: exact(row.entry.average),
    "average_stderr": lambda row: exact(row.entry.stderr),
    "average_raw": RowView.mean,
    "run.date": lambda row: row.date,
    "run.harness": lambda row: row.entry.harness.name,
    "run.version": lambda row: row.harness,
    "leaderboard.id": lambda row: row.leaderboard.id,
    "leaderboard.title": lambda row: row.leaderboard.title,
    "evidence.url": lambda row: evidence_link(row.entry),
}
ACCESSORS = (
    *PLAIN,
    *(f"tasks.ID.{name}" for name in TASK_FIELDS),
    *(f"groups.TITLE.{name}" for name in GROUP_FIELDS),
    "columns.ID.value",
)


def exact(number: float | None) -> Decimal | None:
    """The decimal that a double is written as, so that 0.46659 times 100 is 46.659; an entry has finite ones only."""
    return None if number is None else Decimal(repr(number))


def check_accessor(accessor: str) -> str:
    """The accessor itself. Raises ValueError with a list of all accessors if there is no such accessor."""
    if accessor in PLAIN or split_task(accessor) or split_other(accessor):
        return accessor
    raise ValueError(f"{accessor!r} names no value of a row; write one of {', '.join(ACCESSORS)}")


def split_task(accessor: str) -> tuple[str, str] | None:
    """The task's id and the field of `tasks.<id>.<field>`, None for another accessor; an id may hold dots."""
    start, _, rest = accessor.partition(".")
    task_id, dot, name = rest.rpartition(".")
    return (task_id, name) if start == "tasks" and dot and task_id and name in TASK_FIELDS else None


def split_other(accessor: str) -> tuple[str, str, str] | None:
    """The parts of `groups.<title>.<field>` and of `columns.<id>.value`, None for another accessor."""
    start, _, rest = accessor.partition(".")
    name, dot, part = rest.rpartition(".")
    is_known = (start == "groups" and part in GROUP_FIELDS) or (start == "columns" and part == "value")
    return (start, name, part) if is_known and dot and name else None


def placeholders(template: str) -> tuple[str, ...]:
    """The accessors in a template such as `{model.org}_{model.name}`. Raises ValueError if it cannot be read."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError:
        raise ValueError(
            f"{template!r} has a brace without its pair; write {{{{ or }}}} for a brace in the text"
        ) from None
    names = []
    for _, name, form, conversion in parts:
        if name is None:
            continue
        if form or conversion:
            raise ValueError(f"{template!r}: a placeholder is a name in braces, without a format")
        names.append(name if name in {OWN, RIGHT, OF} else check_accessor(name))
    return tuple(names)


def lookup(accessor: str, row: RowView) -> Scalar:
    """The value that an accessor names, None or "" if the row has none. Raises Unwritable."""
    parts = split_task(accessor)
    if other := split_other(accessor):
        return exact(row.other(*other))
    if parts is None:
        return PLAIN[accessor](row)
    task = row.task(parts[0])
    if parts[1] == "num_fewshot":
        shots = row.declared(parts[0]).num_fewshot
        return None if shots is None else Decimal(shots)
    if parts[1] == "samples":
        counts = [leaf.samples for leaf in task.leaves]
        return None if not counts or None in counts else Decimal(sum(count or 0 for count in counts))
    return exact({"score": task.score, "raw": task.raw, "stderr": task.stderr}[parts[1]])


def in_unit(accessor: str, row: RowView, unit: Unit | None) -> Scalar:
    """The value that an accessor names; a number in this unit, exact. Raises Unwritable."""
    value = lookup(accessor, row)
    return scaled(value, unit_of(accessor, row), unit) if isinstance(value, Decimal) else value


def rounded(number: Decimal, decimals: int | None, rounding: Rounding) -> Decimal:
    """A number with so many decimals, as it is without. Raises Unwritable.

    What a double has after 12 digits comes from the order of a sum, and makes no tie. With `double` the nearest double
    is rounded, as Python's formats of numbers do.
    """
    if decimals is None:
        return number
    near = TWELVE_DIGITS.plus(number) if decimals <= FEW_DECIMALS else number
    near = Decimal(float(number)) if rounding == "double" else near
    how = ROUND_HALF_UP if rounding == "half-up" else ROUND_HALF_EVEN
    try:
        return near.quantize(Decimal(1).scaleb(-decimals), how) + Decimal(0)  # no minus zero
    except InvalidOperation:
        raise Unwritable(f"{number} is too large for {decimals} decimals") from None


def count_of(share: Decimal, unit: Unit | None, of: int) -> Decimal:
    """How many of all a share is. Raises Unwritable where it is no share, or none of a whole number."""
    part = scaled(share, unit, "proportion") * of
    count = part.to_integral_value()
    if unit is None or not 0 <= count <= of or abs(part - count) > COUNTED:
        raise Unwritable(f"{share} is no share that makes a whole number of {of:,}")
    return count


def unit_of(accessor: str, row: RowView) -> Unit | None:
    """The unit of the value that an accessor names, None if it has none."""
    parts = split_task(accessor)
    if accessor == "average_raw":
        return row.mean_unit()
    if parts is not None and parts[1] == "raw":
        return row.unit(parts[0])
    if other := split_other(accessor):
        return "percent" if other[0] == "groups" else row.column_unit(other[1])
    has_points = accessor in {"average", "average_stderr"} or (parts is not None and parts[1] in {"score", "stderr"})
    return "percent" if has_points else None


def scaled(number: Decimal, have: Unit | None, want: Unit | None) -> Decimal:
    """The same quantity in another unit."""
    if have is None or want is None or have == want:
        return number
    return number.scaleb(2) if want == "percent" else number.scaleb(-2)
