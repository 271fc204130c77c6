"""Collect the leaves of result files and put them into columns: groups of catalogue or file, or single leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import isfinite
from typing import Literal, TypeVar

from bot.evaluation.aggregates import leaves_of, right_answers, samples_behind, whole
from bot.evaluation.benchmarks.catalogue import Group, KnownLeaf, catalogue, members_of
from bot.evaluation.draft.form_draft import ID, OTHER_ID
from bot.evaluation.formats import format_of
from bot.evaluation.formats.fields import canonical_version, number
from bot.evaluation.metric_kinds import kind_of
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.row_key import RowKey, key_of
from bot.evaluation.task import Metric

T = TypeVar("T")
NO_METRIC = "acc"  # what a draft asks for where a leaf has no number at all


@dataclass(frozen=True)
class SeenRun:
    """A leaf in one file, with the key of its model."""

    format_id: str
    leaf: LeafResult
    is_limited: bool
    model: RowKey

    @cached_property
    def metric_keys(self) -> list[str]:
        """The keys of its metrics, the one first that counts."""
        return format_of(self.format_id).metric_keys(self.leaf.numbers)

    def value(self, metric: Metric) -> float | None:
        """The value of a metric, None if it is not a finite number."""
        value = number(self.leaf.numbers.get(metric.key(self.format_id)))
        return value if value is not None and isfinite(value) else None

    def stderr(self, metric: Metric) -> float | None:
        """The standard error beside it, None if there is none."""
        error = number(self.leaf.numbers.get(metric.stderr_key(self.format_id)))
        return error if error is not None and isfinite(error) else None


@dataclass(frozen=True)
class Seen:
    """A leaf, by its key, in all files that have it; `others` are its metrics that do not count."""

    key: str
    runs: tuple[SeenRun, ...]
    known: KnownLeaf | None
    metrics: tuple[Metric, ...]
    others: tuple[str, ...]

    @property
    def is_scored(self) -> bool:
        """Tell whether any file has a number for it."""
        return any(run.metric_keys for run in self.runs)

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the files."""
        return tuple(dict.fromkeys(run.format_id for run in self.runs))

    @property
    def shots(self) -> tuple[int, ...]:
        """The numbers of shots, the most frequent one first; none where no file records it."""
        counts = Counter(shots for run in self.runs if (shots := run.leaf.num_fewshot) is not None and shots >= 0)
        return tuple(sorted(counts, key=lambda shots: (-counts[shots], -shots)))

    def versions(self, format_id: str) -> tuple[str, ...]:
        """The task versions in files of a format."""
        found = [run.leaf.version for run in self.runs if run.format_id == format_id]
        return tuple(sorted({canonical_version(version) for version in found if version not in {None, ""}}))

    def without(self) -> int:
        """The number of files that lack a metric that counts."""
        return sum(any(one.key(run.format_id) not in run.leaf.numbers for one in self.metrics) for run in self.runs)

    def models(self) -> frozenset[RowKey]:
        """The models that have all metrics that count, with the usual number of shots."""
        usual = {None, *self.shots[:1]}
        return frozenset(
            run.model
            for run in self.runs
            if run.leaf.num_fewshot in usual and all(run.value(metric) is not None for metric in self.metrics)
        )

    @cached_property
    def values(self) -> Sequence[float]:
        """All values of the metrics that count."""
        found = [run.value(metric) for run in self.runs for metric in self.metrics]
        return [value for value in found if value is not None]

    @property
    def less_is_better(self) -> bool:
        """Tell whether a file says that the metric that counts is better where it is less."""
        return any(self.metrics[0].key(run.format_id) in run.leaf.less_is_better for run in self.runs)

    @cached_property
    def range(self) -> tuple[float, float] | None:
        """The range of the metric that counts, as the files say it; None if they do not, or say different ones."""
        found = {run.leaf.ranges.get(self.metrics[0].key(run.format_id)) for run in self.runs}
        return next(iter(found)) if len(found) == 1 else None

    def samples(self) -> int | None:
        """The size of the leaf: as most files record or show it, else as the catalogue has it."""
        sizes = self.sizes
        return sizes[0] if sizes else self.known.samples if self.known else None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes in the files, the most frequent one first: as recorded, else recovered from a standard error."""
        whole_runs = [run for run in self.runs if not run.is_limited]
        recorded = [max(run.leaf.original or 0, 0 if run.is_limited else run.leaf.samples or 0) for run in self.runs]
        counts = Counter(size for size in recorded if size > 0)
        counts = counts or Counter(size for run in whole_runs if (size := self._recovered(run)))
        return tuple(sorted(counts, key=lambda size: (-counts[size], -size)))

    def _recovered(self, run: SeenRun) -> int | None:
        for metric in self.metrics:
            value, error = run.value(metric), run.stderr(metric)
            if metric.integral and metric.samples is None and value is not None and error is not None:
                return whole(samples_behind(value, error))
        return None


def seen_in(results: Iterable[Result]) -> list[Seen]:
    """Every leaf of the files that has a name, in the order of the files."""
    runs: dict[str, list[SeenRun]] = {}
    for result in results:
        model = key_of("", result.model)
        for key, leaf in result.leaves.items():
            if key:
                runs.setdefault(key, []).append(SeenRun(result.format, leaf, result.limit is not None, model))
    return [_seen(key, found) for key, found in runs.items()]


def _seen(key: str, runs: Sequence[SeenRun]) -> Seen:
    """A leaf with the metrics of the catalogue, where every file has them, or with the one that counts in the files."""
    found = catalogue().find(runs[0].format_id, key)
    known = found.of.metrics if found else ()
    has_known = all(metric.key(run.format_id) in run.leaf.numbers for metric in known for run in runs)
    has_known = has_known and not (_main(runs) - {metric.key(runs[0].format_id) for metric in known})
    metrics = (known if has_known else ()) or (_chosen(runs),)
    chosen = {metric.key(runs[0].format_id) for metric in metrics}
    others = [name for run in runs for name in run.metric_keys if name not in chosen]
    return Seen(key, tuple(runs), found, metrics, tuple(dict.fromkeys(others)))


def _main(runs: Iterable[SeenRun]) -> set[str]:
    """The numbers that the tools take for the leaf's score, where they have them."""
    return {run.leaf.main for run in runs if run.leaf.main in run.leaf.numbers}


def _chosen(runs: Sequence[SeenRun]) -> Metric:
    """The metric that counts by its name, with its keys in formats that spell it otherwise."""
    by_format = {one: _shared_keys(one, runs) for one in dict.fromkeys(run.format_id for run in runs)}
    first = runs[0].format_id
    name, answer_filter = format_of(first).split_key(by_format[first][0]) if by_format[first] else (NO_METRIC, "none")
    keys = {
        format_id: found[0]
        for format_id, found in by_format.items()
        if found and format_of(format_id).metric_key(name, answer_filter) not in found
    }
    metric = Metric(name=name, filter=answer_filter, keys=keys)
    return metric.model_copy(update={"integral": all(is_integral(metric, run) for run in runs)})


def _shared_keys(format_id: str, runs: Sequence[SeenRun]) -> list[str]:
    """The keys of known metrics that nine in ten runs of a format have, or half of them, else those that most have.

    The first is the one to draft; of a format that orders its metrics all are known.
    """
    main = _main(run for run in runs if run.format_id == format_id)
    if len(main) == 1:
        return list(main)
    found = [run.metric_keys for run in runs if run.format_id == format_id]
    spelling = format_of(format_id)
    counts = Counter(key for keys in found for key in keys)
    known = [key for key in counts if spelling.has_order or kind_of(spelling.split_key(key)[0]) is not None]
    usual = ([key for key in known if counts[key] >= share * len(found)] for share in (0.9, 0.5))
    common = [key for key in counts if counts[key] == max(counts.values())]
    return spelling.metric_keys(dict.fromkeys(next(filter(None, usual), common), 0))


def is_integral(metric: Metric, run: SeenRun) -> bool:
    """Tell whether a value may be a mean of zeros and ones, and its sample count or standard error agrees."""
    kind, value, error = kind_of(metric.name), run.value(metric), run.stderr(metric)
    if kind is None or not kind.zeros_and_ones or value is None or not 0.0 <= value <= 1.0:
        return False
    samples = run.leaf.samples
    behind = samples_behind(value, error) if error is not None else None
    if samples is not None and right_answers(value, samples) is None:
        return False
    if behind is not None:
        return whole(behind) is not None and whole(behind) == (samples or whole(behind))
    return samples is not None


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """Leaves that make one column; `group` is theirs in the catalogue, `name` what the file or the leaf is called.

    `models` have all of these leaves; `left_out` are leaves of the group that only few of them have.
    The rest says what a table decides: the `title`, the `aggregation` ("" is that of the harness), that its values
    are not normalized (`is_raw`) or are shares of all (`is_share`), what is better, and what it leaves open (`todo`).
    """

    name: str
    leaves: tuple[Seen, ...]
    group: Group | None = None
    rows: tuple[str, ...] = ()
    models: frozenset[RowKey] = frozenset()
    left_out: tuple[Seen, ...] = ()
    title: str = ""
    aggregation: Literal["", "mean", "size-weighted"] = ""
    is_raw: bool = False
    is_mean: bool = False
    is_share: bool = False
    better: Literal["", "less", "more"] = ""
    todo: tuple[str, ...] = ()

    @property
    def range(self) -> tuple[float, float] | None:
        """The range that the files say for each leaf; None if they do not, or say different ones."""
        found = {leaf.range for leaf in self.leaves}
        return next(iter(found)) if len(found) == 1 else None

    @property
    def numbers(self) -> Iterator[tuple[str, str, str]]:
        """The numbers that it reads: the format, the leaf and the metric of each."""
        for leaf, metric in product(self.leaves, self.leaves[0].metrics):
            yield from ((one, leaf.key, metric.key(one)) for one in leaf.formats)

    @property
    def is_own(self) -> bool:
        """Tell whether a board's own files have it, of which no tool knows what their names mean."""
        return {ID, OTHER_ID}.issuperset(self.leaves[0].formats)

    @property
    def is_whole_group(self) -> bool:
        """Tell whether all members of the catalogue's group are there."""
        return self.group is not None and len(self.leaves) == len(members_of(self.group))


def columns_of(seen: Sequence[Seen], results: Iterable[Result]) -> list[DraftColumn]:
    """The columns, in the order of their first leaves, each with the models that have it."""
    left = {leaf.key: leaf for leaf in seen}
    columns = list(_known_groups(left))
    columns += _named_groups(_merged(results), left)
    columns += [DraftColumn(leaf.key, (leaf,)) for leaf in left.values()]
    order = {leaf.key: place for place, leaf in enumerate(seen)}
    return sorted(map(_trimmed, columns), key=lambda column: order[column.leaves[0].key])


def mean_of_leaves(results: Sequence[Result], name: str) -> DraftColumn | None:
    """One column of all leaves that most models share, None where there are not two."""
    seen = [leaf for leaf in seen_in(results) if leaf.is_scored]
    column = _trimmed(DraftColumn(name, tuple(seen), aggregation="mean", is_mean=True)) if len(seen) > 1 else None
    return column if column and len(column.leaves) > 1 else None


def _trimmed(column: DraftColumn) -> DraftColumn:
    """The column without the leaves that most of its models lack."""
    models = [leaf.models() for leaf in column.leaves]
    places = shared(models)
    return replace(
        column,
        leaves=tuple(column.leaves[place] for place in places),
        left_out=tuple(leaf for place, leaf in enumerate(column.leaves) if place not in places),
        models=frozenset.intersection(*(models[place] for place in places)),
    )


def shared(sets: Sequence[frozenset[T]]) -> list[int]:
    """The indices of the sets, the largest first, whose intersection is more than half of the largest set."""
    by_size = sorted(range(len(sets)), key=lambda place: -len(sets[place]))
    largest = found = sets[by_size[0]]
    places = []
    for place in by_size:
        if 2 * len(found & sets[place]) > len(largest) or not largest:
            found &= sets[place]
            places.append(place)
    return sorted(places)


def _merged(results: Iterable[Result]) -> dict[str, tuple[str, ...]]:
    """The groups of all files with their members: a file may bring one of them."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for group, members in result.subtasks.items():
            found.setdefault(group, {}).update(dict.fromkeys(members))
    return {group: tuple(members) for group, members in found.items()}


def _known_groups(left: dict[str, Seen]) -> Iterator[DraftColumn]:
    """The members of the catalogue's groups, taken out of the remaining leaves."""
    found: dict[tuple[object, ...], list[Seen]] = {}
    for leaf in list(left.values()):
        if leaf.known is not None and isinstance(leaf.known.of, Group):
            found.setdefault((leaf.known.of.id, *_alike(leaf)), []).append(left.pop(leaf.key))
    for (group_id, *_), leaves in found.items():
        group = catalogue().groups[str(group_id)]
        yield DraftColumn(group.id, tuple(leaves), group, group.rows)


def _alike(leaf: Seen) -> tuple[object, ...]:
    """The properties that all leaves of one column must share."""
    return tuple((metric.name, metric.filter) for metric in leaf.metrics), leaf.shots, leaf.formats


def _named_groups(subtasks: Mapping[str, tuple[str, ...]], left: dict[str, Seen]) -> Iterator[DraftColumn]:
    """The groups of a file, taken out of the remaining leaves: from the top down, the first whose leaves are alike."""
    inner = {member for members in subtasks.values() for member in members}
    waiting = [group for group in subtasks if group not in inner]
    asked: set[str] = set()
    while waiting:
        group = waiting.pop(0)
        if group in asked:  # a file may name a group as a member of itself
            continue
        asked.add(group)
        leaves = [left[key] for key in leaves_of(group, subtasks) if key in left]
        if len(leaves) > 1 and len({_alike(leaf) for leaf in leaves}) == 1 and _is_one_benchmark(group, leaves):
            yield DraftColumn(group, tuple(left.pop(leaf.key) for leaf in leaves), rows=(group,))
        else:
            waiting += [member for member in subtasks[group] if member in subtasks]


def _is_one_benchmark(group: str, leaves: Iterable[Seen]) -> bool:
    """Whether all leaves are named after the group, and not a collection of benchmarks; one without a name is none."""
    task = group.rpartition("/")[0] or group  # before a split
    start = task[: max(3, len(task) // 2)]
    return bool(task) and all(leaf.key.startswith(start) or f"_{task}_" in leaf.key for leaf in leaves)
