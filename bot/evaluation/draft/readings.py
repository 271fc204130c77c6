"""The ways in which a column of a table may have been read from result files, as tasks that a declaration can state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from math import isfinite
from operator import itemgetter
from typing import Any, Literal

from bot.evaluation.draft.columns import DraftColumn, Seen, columns_of, is_integral, seen_in
from bot.evaluation.draft.form_draft import ID, OTHER_ID
from bot.evaluation.draft.form_values import WITHOUT
from bot.evaluation.draft.tasks import FreeIds, keys_alone, leaf_table
from bot.evaluation.finding import grouped
from bot.evaluation.formats import format_of
from bot.evaluation.formats.fields import number
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import RequiredMetric, raw_of, required_metric
from bot.evaluation.result import Result
from bot.evaluation.score import score_of
from bot.evaluation.task import Leaf, Metric, Task

MOST_METRICS = 8  # metrics of one column that are tried
MOST_READINGS = 4_000
MOST_LEAVES, MOST_MEANS = 300, 40  # of a board's own files, and words of their names
WHOLE, BEGINS, BEGUN, WORDS = 4, 3, 2, 1  # how far a heading names a benchmark, see `resemblance`
WORD = re.compile(r"[a-z]+|[0-9]+|\+")
# Words of headings and keys that do not name a benchmark.
NOISE = re.compile(
    r"leaderboard|harness|test|shots?|acc|accuracy|norm|raw|score|lvl|level|hard|em|exact|match|strict|flexible|avg"
    r"|average|mean|num"
)
OF_MEANS = re.compile(r"avg|average|mean|num|score")  # those that name nothing beside any other
ByLeaf = Mapping[str, Sequence[tuple[int, Result]]]


@dataclass(frozen=True)
class TaskReading:
    """One way to read a column: a task, and whether its normalized score or its raw value is shown.

    `column` is what a declaration is drafted from, None where the task is that of a declaration that exists. `cost` is
    0 for what a draft proposes, and grows with what is unusual. `is_in_percent` says that a value without an upper end,
    such as an error rate, is shown in percent.
    """

    task: Task
    field: str
    column: DraftColumn | None = None
    cost: int = 0
    is_in_percent: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What people may call the column: its id and title, and the name of its only leaf."""
        known = self.column.leaves[0].known if self.column else None
        leaves = [self.task.leaves[0].id] if len(self.task.leaves) == 1 else []
        group = [known.of.title] if known and (self.column is None or self.column.group or leaves) else []
        whole = [self.column.name.partition(WITHOUT)[0]] if self.column and WITHOUT in self.column.name else []
        return tuple(dict.fromkeys([self.task.id, self.task.title, *leaves, *group, *whole]))

    @property
    def metric(self) -> str:
        """The metrics with their answer filters, as a person reads them."""
        return " and ".join(f"{one.name},{one.filter}" for one in self.task.metrics)

    @property
    def leaf_ids(self) -> frozenset[str]:
        """The ids of its leaves."""
        return frozenset(leaf.id for leaf in self.task.leaves)

    @property
    def is_fraction(self) -> bool:
        """Tell whether the value lies between 0 and 1, so that it may be shown in percent."""
        bounded = self.task.range == (0.0, 1.0) or self.task.unit == "percent"
        return self.field == "score" or bounded or self.is_in_percent

    @cached_property
    def samples(self) -> int:
        """The number of questions of the files, 0 where they do not say it of each leaf."""
        sizes = [leaf.samples() or 0 for leaf in self.column.leaves] if self.column else [0]
        return sum(sizes) if all(sizes) else 0

    def value(self, by_leaf: ByLeaf) -> float | None:
        """The value in the newest of some results that has each leaf; 0 to 1 if `is_fraction`, None without a leaf."""
        read = [self._leaf(leaf, by_leaf) for leaf in self.task.leaves]
        found = [one for one in read if one is not None]
        if len(found) < len(read):
            return None
        required = [one for requirements, _ in found for one in requirements]
        values = [value for _, numbers in found for value in numbers]
        lowest, highest = self.task.range
        if not all(lowest <= value <= highest for value in values):
            return None
        if self.field == "score":
            return score_of(self.task, required, values) / 100
        return raw_of(self.task, required, values) / (100 if self.task.unit == "percent" else 1)

    def _leaf(self, leaf: Leaf, by_leaf: ByLeaf) -> tuple[list[RequiredMetric], list[float]] | None:
        keys = {leaf.id, *leaf.keys.values()}
        for _, result in sorted((one for key in keys for one in by_leaf.get(key, ())), key=itemgetter(0)):
            row = result.leaves.get(leaf.key(result.format))
            if row is None or row.num_fewshot not in {None, self.task.num_fewshot or row.num_fewshot}:
                continue
            values = [number(row.numbers.get(metric.key(result.format))) for metric in self.task.metrics]
            numbers = [value for value in values if value is not None and isfinite(value)]
            if len(numbers) == len(values):
                return self._required(leaf, result.format), numbers
        return None

    def _required(self, leaf: Leaf, format_id: str) -> list[RequiredMetric]:
        """What a file of a format needs for a leaf, made once."""
        if (leaf.id, format_id) not in self._made:
            made = [required_metric(self.task, leaf, one, format_id, ()) for one in self.task.metrics]
            self._made[leaf.id, format_id] = made
        return self._made[leaf.id, format_id]

    @cached_property
    def _made(self) -> dict[tuple[str, str], list[RequiredMetric]]:
        return {}


def by_leaf(results: Sequence[Result]) -> ByLeaf:
    """The results of a model that have a leaf, by its key, each with its place among all of them, newest first."""
    return grouped((key, (age, result)) for age, result in enumerate(results) for key in result.leaves)


def declared_readings(leaderboard: Leaderboard) -> list[TaskReading]:
    """The readings of a declaration that exists: the score and the raw value of each task."""
    return [TaskReading(task, field) for task in leaderboard.tasks for field in ("score", "raw")]


def task_readings(results: Sequence[Result]) -> list[TaskReading]:
    """The readings that files offer: each benchmark and each subtask alone, by each metric, mean and bound."""
    seen = seen_in(results)
    columns = columns_of(seen, results)
    families = list(_families(seen, columns))
    singles = [DraftColumn(leaf.key, (leaf,)) for column in columns if len(column.leaves) > 1 for leaf in column.leaves]
    found: list[TaskReading] = []
    others = [*families, *singles, *_means(seen)]
    for column, is_single in [*((one, 0) for one in columns), *((one, 1) for one in others)]:
        for cost, choice in enumerate(_choices(column)):
            if len(found) < MOST_READINGS:
                found += _readings(choice, results, 4 * is_single + min(cost, 3))
    return found


def _families(seen: Sequence[Seen], columns: Sequence[DraftColumn]) -> Iterator[DraftColumn]:
    """Subtasks whose names begin with the same word, where no group of the files or the catalogue has them."""
    known = {frozenset(leaf.key for leaf in column.leaves) for column in columns}
    words = grouped((leaf.key.partition("_")[0], leaf) for leaf in seen if leaf.key.find("_") > 1)
    for word, leaves in words.items():
        if len(leaves) > 1 and frozenset(leaf.key for leaf in leaves) not in known:
            yield DraftColumn(word, tuple(leaves))


def _means(seen: Sequence[Seen]) -> Iterator[DraftColumn]:
    """What a table may show the mean of in own files: all leaves, those of one metric, and those with one word."""
    every = [leaf for leaf in seen if {ID, OTHER_ID}.issuperset(leaf.formats)]
    own = every[:MOST_LEAVES]
    named = [(word, leaf) for leaf in own for word in dict.fromkeys(leaf.key.split()) if " " in leaf.key]
    named += [(f"mean {leaf.metrics[0].name}", leaf) for leaf in every]
    groups = {word: leaves for word, leaves in grouped(named).items() if 1 < len(leaves) < len(every)}
    largest = sorted(groups.items(), key=lambda group: len(group[1]))
    for word, leaves in [*largest, ("average", own)][-MOST_MEANS:]:
        most = max((len(leaf.runs) for leaf in leaves), default=0)
        common = [leaf for leaf in leaves if len(leaf.runs) == most]  # of all models, where newer ones have more
        for some in (leaves, *([common] if len(common) < len(leaves) else [])):
            if len(some) > 1:
                yield DraftColumn(word, tuple(some), is_mean=True)


def _choices(column: DraftColumn) -> Iterator[DraftColumn]:
    """The column as drafted, then with another number of shots and by other metrics, and each with both means."""
    own = column.leaves[0].metrics
    metrics = [own, *([metric] for metric in _metrics(column.leaves) if (metric,) != own)]
    shots = {count for leaf in column.leaves for count in leaf.shots}
    usual = column.leaves[0].shots[:1] if len(shots) > 1 else ()
    asked = [*usual, *(count for count in sorted(shots) if count not in usual)] if len(shots) > 1 else [None]
    for count, chosen in product(asked, metrics):
        leaves = tuple(_with(leaf, tuple(chosen), count) for leaf in column.leaves)
        if all(leaf.runs for leaf in leaves):
            yield replace(column, leaves=leaves)


def _with(leaf: Seen, metrics: tuple[Metric, ...], shots: int | None) -> Seen:
    runs = tuple(run for run in leaf.runs if shots is None or run.leaf.num_fewshot == shots)
    own, counting = ([one.key(leaf.runs[0].format_id) for one in found] for found in (leaf.metrics, metrics))
    others = tuple(key for key in (*own, *leaf.others) if key not in counting)
    return replace(leaf, metrics=metrics, runs=runs, others=others)


def _metrics(leaves: Sequence[Seen]) -> list[Metric]:
    """The metrics that every leaf has in one of its files."""
    shared: dict[tuple[str, str], Metric] | None = None
    for leaf in leaves:
        here: dict[tuple[str, str], Metric] = {}
        for run in leaf.runs:
            known = format_of(run.format_id)
            for key in run.metric_keys:
                name, answer_filter = known.split_key(key)
                if (name, answer_filter) not in here:
                    spelled = {} if known.metric_key(name, answer_filter) == key else {run.format_id: key}
                    here[name, answer_filter] = Metric(name=name, filter=answer_filter, keys=spelled)
        shared = here if shared is None else {key: one for key, one in shared.items() if key in here}
    found, runs = list((shared or {}).values())[:MOST_METRICS], [run for leaf in leaves for run in leaf.runs]
    return [one.model_copy(update={"integral": all(is_integral(one, run) for run in runs)}) for one in found]


def _readings(column: DraftColumn, results: Sequence[Result], cost: int) -> Iterator[TaskReading]:
    """The column raw and normalized, by the mean of the harness and by the other one."""
    seen: set[str] = set()
    means: tuple[Literal["", "mean", "size-weighted"], ...] = ("", "mean", "size-weighted")
    for is_raw, mean in product((False, True), means if len(column.leaves) > 1 else means[:1]):
        choice = replace(column, is_raw=is_raw, aggregation=mean)
        task = Task.model_validate(_with_leaves(keys_alone(choice, results), choice))
        reading: Literal["score", "raw"] = "score" if task.has_bounds and not is_raw else "raw"
        text = reading + task.model_dump_json(exclude={"title"})
        if text in seen:
            continue
        seen.add(text)
        found = TaskReading(task, reading, replace(choice, is_raw=reading == "raw"), cost + (mean != ""))
        yield from [found] if found.is_fraction else [found, replace(found, is_in_percent=True)]


def _with_leaves(keys: Mapping[str, Any], column: DraftColumn) -> dict[str, Any]:
    """The table of a task with its leaves, also where it names a group of the catalogue."""
    if "members" not in keys:
        return dict(keys)
    ids, has_bounds = FreeIds(()), keys.get("normalize") == "leaf"
    return {**keys, "leaves": [leaf_table(one, ids, has_bounds=has_bounds) for one in column.leaves]}


def resemblance(heading: str, names: Iterable[str]) -> int:
    """How well a heading names a benchmark, 0 not at all.

    `WHOLE`: it is the name, `BEGINS`: the name begins with it, `BEGUN`: it begins with the name, `WORDS`: they share a
    word.
    """
    wanted = _words(heading)
    if not wanted:
        return 0
    return max((_alike(wanted, _words(name)) for name in names), default=0)


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    found = WORD.findall(re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", text.lower()))
    named = ([word for word in found if not noise.fullmatch(word)] for noise in (NOISE, OF_MEANS))
    return tuple(next(filter(None, named), found))


def _alike(wanted: Sequence[str], name: Sequence[str]) -> int:
    one, other = "".join(wanted), "".join(name)
    if one == other:
        return WHOLE
    if "+" in one or "+" in other:  # HumanEval+ is another benchmark than HumanEval
        return 0
    if min(len(one), len(other)) >= 3 and other.startswith(one):
        return BEGINS
    if min(len(one), len(other)) >= 3 and one.startswith(other):
        return BEGUN
    return WORDS if any(len(word) > 2 and word in name for word in wanted) else 0
