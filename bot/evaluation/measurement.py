"""Compare a result with a leaderboard's requirements: a measurement for each number, and the missing ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import fsum, nan
from operator import mul
from typing import Any

import msgspec

from bot.evaluation.aggregates import is_mean_of_proportions, right_answers, samples_behind, whole
from bot.evaluation.benchmarks.catalogue import catalogue
from bot.evaluation.definition import AcceptedDefinition, declared_definition, field_of, text_of
from bot.evaluation.finding import grouped
from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.sameness import in_one_spelling, value_of
from bot.evaluation.leaderboard import Leaderboard, leaves_like
from bot.evaluation.result import LeafResult, Result
from bot.evaluation.task import Leaf, Metric, Task

OUTPUT = "output_type"  # the field of a definition with the kind of request
LOG_LIKELIHOODS = frozenset({"multiple_choice", "loglikelihood", "loglikelihood_rolling"})  # those without answers
GREEDY = {"do_sample": "False", "temperature": "0"}  # what a definition leaves out
GENERATION = "generation_kwargs"  # the field of a definition
CACHED = 64  # declarations and formats whose requirements are kept


class RequiredMetric(msgspec.Struct, frozen=True, gc=False):
    """A number that a leaderboard requires, with all that is known of it before any result is read.

    `samples` is the declared number of values behind it (None if none is declared), `weight` its part in the task's
    mean; `lower` and `span` are lower_bound and upper_bound - lower_bound in the metric's unit, as the doubles next to
    the exact fractions. `definitions` are those of the leaf that count, empty where none is declared, and
    `versions_by_definition` has the versions of the harness for the digest of each, none where all count.
    """

    task: Task
    leaf: Leaf
    metric: Metric
    metric_id: str
    leaf_key: str
    value_key: str
    stderr_key: str
    samples: int | None
    integral: bool
    unit: float
    lower: float
    span: float
    lower_text: str
    upper_text: str
    weight: float
    versions: frozenset[float | str]
    definitions: tuple[AcceptedDefinition, ...]
    versions_by_definition: Mapping[str, frozenset[str]]


class Measurement(msgspec.Struct, gc=False):
    """A required number as measured: `raw` as the file has it, `value` as a double (NaN where it is not a number).

    `stderr` is None if the file has none; `samples` is the recorded number of values behind the mean, None where
    none is recorded. `file` is the path of the submission that it comes from. `is_proportion` says whether it is a mean
    of zeros and ones; where each sample was answered several times it is one of means. `count` is the number of values
    behind the mean as recorded, else as value and standard error give it: what they give must be whole and make the
    number of right answers whole, or the two are not of one run.
    """

    required: RequiredMetric
    leaf: LeafResult
    raw: Any
    value: float
    stderr: float | None
    samples: int | None
    file: str
    is_proportion: bool
    count: int | None


class Measurements(msgspec.Struct, frozen=True, gc=False):
    """The required numbers that a result has, and those that it lacks, in the order of the declaration."""

    present: tuple[Measurement, ...]
    missing: tuple[RequiredMetric, ...]


class Coverage(msgspec.Struct, frozen=True):
    """How many leaves are there, how many the leaderboard requires, and which are missing."""

    present: int
    required: int
    missing: tuple[str, ...]


@lru_cache(maxsize=CACHED)
def required_metrics(leaderboard: Leaderboard, format_id: str) -> tuple[RequiredMetric, ...]:
    """Every number that the leaderboard requires of a result of that format."""
    definitions = _definitions(leaderboard, format_id)
    return tuple(
        required_metric(task, leaf, metric, format_id, tuple(definitions.get(leaf.id, ())))
        for task, leaf in leaderboard.leaves()
        for metric in task.metrics
    )


def _definitions(leaderboard: Leaderboard, format_id: str) -> Mapping[str, list[AcceptedDefinition]]:
    """The definitions that count, by leaf; each pattern and each text is looked at once."""
    leaves = {leaf.id for _, leaf in leaderboard.leaves()}
    found: dict[str, list[AcceptedDefinition]] = {}
    for one in leaderboard.harness.definitions:
        if format_id in (one.formats or (format_id,)):
            declared = declared_definition(one.fields, one.versions)
            for leaf in {leaf for name in one.leaves for leaf in leaves_like(name, leaves)}:
                found.setdefault(leaf, []).append(declared)
    return found


def _versions_by_definition(definitions: Iterable[AcceptedDefinition]) -> dict[str, frozenset[str]]:
    """The versions for each digest, none where a definition counts for all of them."""
    found: dict[str, frozenset[str]] = {}
    for one in definitions:
        if one.digest:
            others = found.get(one.digest, one.versions)
            found[one.digest] = others | one.versions if others and one.versions else frozenset()
    return found


@lru_cache(maxsize=CACHED)
def sizes(leaderboard: Leaderboard, format_id: str) -> Mapping[str, int | None]:
    """The declared number of samples of every required leaf, None if none is declared, by its key in that format."""
    return {required.leaf_key: required.leaf.samples for required in required_metrics(leaderboard, format_id)}


@lru_cache(maxsize=CACHED)
def asked_versions(leaderboard: Leaderboard, format_id: str) -> frozenset[str]:
    """The releases and commits of the harness of which the definitions of leaves are declared."""
    required = required_metrics(leaderboard, format_id)
    return frozenset(version for one in required for asked in one.definitions for version in asked.versions)


def required_metric(
    task: Task, leaf: Leaf, metric: Metric, format_id: str, definitions: tuple[AcceptedDefinition, ...]
) -> RequiredMetric:
    """What the leaderboard requires of one metric of one leaf in a format; `definitions` are those of the leaf."""
    lower = float(task.leaf_lower_bound(leaf))
    return RequiredMetric(
        task=task,
        leaf=leaf,
        metric=metric,
        metric_id=f"{metric.name},{metric.filter}",
        leaf_key=leaf.key(format_id),
        value_key=metric.key(format_id),
        stderr_key=metric.stderr_key(format_id),
        samples=metric.samples or leaf.samples,
        integral=metric.integral and not is_mean_of_proportions(leaf.key(format_id), metric.name),
        unit=100.0 if task.unit == "percent" else 1.0,
        lower=lower,
        span=float(task.upper_bound) - lower,
        lower_text=str(task.leaf_lower_bound(leaf)),
        upper_text=str(task.upper_bound),
        weight=_weight(task, leaf),
        definitions=definitions,
        versions_by_definition=_versions_by_definition(definitions),
        versions=frozenset(spelling for version in task.versions_of(format_id) for spelling in _spellings(version)),
    )


def _weight(task: Task, leaf: Leaf) -> float:
    """The part that one metric of one leaf has in the task's mean; all parts add up to 1."""
    if task.aggregation == "size-weighted":
        return (leaf.samples or 0) / sum(each.samples or 0 for each in task.leaves) / len(task.metrics)
    return 1 / len(task.leaves) / len(task.metrics)


def _spellings(version: str) -> tuple[float | str, ...]:
    """A version as text and, where it is one, as the number that files write (0 and 0.0 are one key)."""
    try:
        return version, float(version)
    except ValueError:
        return (version,)


def take_measurements(result: Result, leaderboard: Leaderboard, file: str = "") -> Measurements:
    """Hold the result of a file against a leaderboard; a leaf without the required metric counts as missing."""
    present: list[Measurement] = []
    missing: list[RequiredMetric] = []
    leaves = result.leaves
    for required in required_metrics(leaderboard, result.format):
        leaf = leaves.get(required.leaf_key)
        if leaf is None or required.value_key not in leaf.numbers:
            missing.append(required)
            continue
        raw = leaf.numbers[required.value_key]
        stderr = leaf.numbers.get(required.stderr_key)
        value = raw if type(raw) is float else float(raw) if type(raw) is int and abs(raw) < 1e300 else nan
        error = stderr if type(stderr) is float else None
        # a metric with a count of its own (IFEval's instructions) is not counted by `n-samples`
        own, is_whole = required.metric.samples, leaf.samples == required.leaf.samples
        samples = leaf.samples if own is None else own if is_whole else None
        is_proportion = required.integral and leaf.epochs == 1
        count = samples
        if samples is None and error is not None and is_proportion:
            count = _recovered(value / required.unit, error / required.unit)
        present.append(Measurement(required, leaf, raw, value, error, samples, file, is_proportion, count))
    return Measurements(tuple(present), tuple(missing))


def _recovered(share: float, error: float) -> int | None:
    samples = whole(samples_behind(share, error))
    return samples if samples is not None and right_answers(share, samples) is not None else None


def has_some_leaf(result: Result, measurements: Measurements) -> bool:
    """Tell whether a result has a leaf of the leaderboard, be it without the metric that the leaderboard takes."""
    return bool(measurements.present) or any(one.leaf_key in result.leaves for one in measurements.missing)


def definitions_of(measurements: Measurements) -> dict[str, str]:
    """The digest of the definition of each leaf, where its file records one."""
    return {one.required.leaf.id: one.leaf.definition for one in measurements.present if one.leaf.definition}


def by_task(measurements: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    """The measurements by the ids of their tasks, in the order in which they come."""
    return grouped((measurement.required.task.id, measurement) for measurement in measurements)


def task_raw(task: Task, measurements: list[Measurement]) -> float:
    """The raw value of a task of which nothing is missing, in the metric's unit: see `raw_of`."""
    return raw_of(task, [one.required for one in measurements], [one.value for one in measurements])


def raw_of(task: Task, required: Sequence[RequiredMetric], values: Sequence[float]) -> float:
    """The metrics' mean, aggregated over the leaves, in the metric's unit.

    `size-weighted` is sum(n_i v_i) / sum(n_i) with the declared n_i: all right answers over all samples.
    """
    if len(values) == 1:
        return values[0]
    if task.aggregation == "size-weighted":
        sizes = [one.leaf.samples or 0 for one in required]
        return fsum(map(mul, values, sizes)) / sum(sizes)
    return fsum(values) / len(values)


def coverage_of(measurements: Measurements, leaderboard: Leaderboard) -> Coverage:
    """Count the leaves that are there and name the others."""
    missing = tuple(dict.fromkeys([required.leaf.id for required in measurements.missing]))
    required = leaderboard.leaf_count
    return Coverage(required - len(missing), required, missing)


def refuses_gen_kwargs(leaderboard: Leaderboard, result: Result) -> bool:
    """Tell whether a task is accepted only without the generation settings that the call of this run gave."""
    given = value_of(result.settings.get("gen_kwargs", ""))
    pairs = {name: in_one_spelling(value) for name, value in arguments(given)[0].items()}
    return bool(pairs) and any(
        _refuses(required, result, pairs) for required in required_metrics(leaderboard, result.format)
    )


def needs_log_likelihoods(required: RequiredMetric, format_id: str) -> bool:
    """Tell whether answers are given and their log-likelihoods compared: by the definitions, else the catalogue."""
    outputs = {text_of(value) for one in required.definitions for value in one.values(OUTPUT)}
    if outputs:
        return outputs <= LOG_LIKELIHOODS
    known = catalogue().find(format_id, required.leaf_key)
    return known is not None and known.guessable.choices is not None and required.metric.name in {"acc", "acc_norm"}


def _refuses(required: RequiredMetric, result: Result, given: Mapping[str, str]) -> bool:
    """The same of one leaf; where the declaration has only a digest, by what the result records of the leaf."""
    accepted = [value for one in required.definitions for value in one.values(GENERATION)]
    texts = [text_of(value) for value in accepted]
    if accepted and all(texts):
        return not any(_includes(arguments(value_of(text))[0], given) for text in texts)
    recorded = field_of(result, required.leaf_key, GENERATION) if accepted else None
    return recorded is not None and recorded.digest not in {one.digest for one in accepted}


def _includes(accepted: Mapping[str, str], given: Mapping[str, str]) -> bool:
    return all(
        (in_one_spelling(accepted[name]) if name in accepted else GREEDY.get(name)) == value
        for name, value in given.items()
    )


def accepted_gen_kwargs(leaderboard: Leaderboard, result: Result) -> dict[str, Any] | None:
    """The generation settings of a call that asks as the leaderboard accepts; None where this run did so.

    Of those that the run gave, and those in which its tasks differ, the ones that all tasks are accepted with.
    """
    is_other, tasks = refuses_gen_kwargs(leaderboard, result), _accepted_generation(leaderboard, result.format)
    names = set(arguments(value_of(result.settings.get("gen_kwargs", "")))[0])
    for leaf_key, accepted in tasks:
        recorded = field_of(result, leaf_key, GENERATION)
        if recorded is not None and recorded.digest not in accepted:
            is_other, there = True, _members(text_of(recorded))
            names |= {name for one in accepted.values() for name in one if one[name] != there.get(name)}
    if not is_other:
        return None
    wanted = [one for _, accepted in tasks for one in accepted.values()]
    shared = [name for name in (wanted or [{}])[0] if len({str(one.get(name)) for one in wanted}) == 1]
    given = {name: wanted[0][name] for name in shared if name in names}
    return {name: value for name, value in given.items() if GREEDY.get(name) != in_one_spelling(str(value))}


@lru_cache(maxsize=CACHED)
def _accepted_generation(leaderboard: Leaderboard, format_id: str) -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """The generation settings that each leaf is accepted with, by their digests, where a definition has some."""
    found = []
    for required in required_metrics(leaderboard, format_id):
        values = [one for asked in required.definitions for one in asked.values(GENERATION) if one.digest]
        if values:
            found.append((required.leaf_key, {one.digest: _members(text_of(one)) for one in values}))
    return found


def _members(text: str) -> dict[str, Any]:
    value = value_of(text)
    return value if isinstance(value, dict) else {}
