"""Tell whether two measurements differ by more than chance, and what differed in how they were made.

A difference is always second minus first. Tasks are tested one by one, Holm's correction covers all of them, and the
average is not part of that family. What differed in how they were measured is named before any result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files
from math import fsum, inf, isclose, nan, sqrt
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from bot.errors import CallError
from bot.evaluation.aggregates import (
    first_of,
    is_mean_of_proportions,
    leaves_of,
    right_answers,
    samples_behind,
    whole,
)
from bot.evaluation.benchmarks.catalogue import Group, KnownBenchmark, catalogue
from bot.evaluation.benchmarks.harness import commit_of, known_commit
from bot.evaluation.benchmarks.mmlu_family import TITLES, Family, recognise, subjects_of
from bot.evaluation.benchmarks.silent_changes import silent_changes
from bot.evaluation.definition import differences
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.formats import find_format, format_of
from bot.evaluation.formats.format import NAME
from bot.evaluation.formats.sameness import generation_of, known_kind, model_name, shown_arguments, written_in
from bot.evaluation.formats.sameness import kind_of as sameness_of
from bot.evaluation.impossible import is_spoiled, why_no_number
from bot.evaluation.metric_kinds import is_share, kind_of
from bot.evaluation.result import HarnessVersion, LeafResult, Result
from bot.evaluation.score import LeafScore, Scores, TaskScore, measured, nested_variance
from bot.evaluation.statistics import (
    LEVEL,
    Contrast,
    holm,
    independent,
    independent_counts,
    mean_of,
    scaled,
    without_error,
)

Method = Literal["paired-exact", "paired-t", "independent-exact", "independent-normal", "mean-of-tests"]
Conclusion = Literal["higher", "lower", "not separable", "not tested", "not comparable"]
ERRORS = re.compile(r"stderr|std_err", re.IGNORECASE)
MOST_QUESTIONS = 1_000_000  # of a leaf or a group; an exact test of more would take minutes
# Of settings that have one effect, as a name begins.
GROUPS = ("prompt", "generation", "definition", "argument", "weights")
# Settings of the text around a question.
AROUND = re.compile(r"chat_template|system_|multiturn|_start_space|fewshot_seed")
# Settings that people forget to say.
MOVES = ("implementation", "silent change", "num_fewshot", "chat template", "limit")
TOKENIZER = "argument tokenizer"  # as the names of all arguments that name one begin
AGENT = "agent"  # a setting with an effect of its own
NOT_SET = "(not set)"
BRANCH = "main"  # which says nothing of the commit
# Two implementations of MMLU that score the same answers, and ask with other line breaks.
OF_ONE_SCORER = {Family.ONE_NEWLINE: Family.LETTERS}
LINE_BREAKS = {Family.LETTERS: "two", Family.ONE_NEWLINE: "one"}
TEMPLATES: Mapping[bool | None, str] = {True: "yes", False: "no", None: ""}  # what is said of the chat template
OF_WEIGHTS = ("revision", "size in bytes", "parameters")  # which two models have anyway
# What a tool writes down where it is given.
GIVEN = re.compile(r"epochs|fewshot_seed|system_|gen_kwargs|generation_parameters|^argument |^weights ")
# Harnesses whose commit in a file is that of the folder in which they were started.
OF_FOLDER = frozenset({"lm-evaluation-harness", "lmms-eval", "evalchemy"})
# What follows from settings that are named, or of which nothing recorded says as much as a value.
TOLD_OTHERWISE = frozenset({*OF_WEIGHTS, "definition", "silent change", "line breaks", "prompts"})
# Formats whose hashes of tasks are those of the questions, prompts and targets.
HASHES_PROMPTS = frozenset({"lm-eval-0.4", "lmms-eval", "evalchemy"})
# What may differ between two documents of the same question, as the table of effects calls it.
ORDER, ANSWER = "order of the choices", "text of the right answer"
NO_WEIGHTS = "its answers alone do not give the number: it is clipped, of several metrics, or counts questions twice"
NO_MEAN = "the results are not the means of their samples"
WHOLE = 100.0  # percentage points of a share of all
OF_DATASET = frozenset({"dataset_path", "dataset_name"})  # fields of a definition that a renamed task may differ in
MOST_RENAMED = 50  # tasks of each run that are compared for being one under two names
ROUNDING = 0.1  # percentage points that rounded values in result files may make of a difference
ENOUGH_SHARED = 0.5  # of the questions of the larger run; with fewer the two are not compared


class KnownEffect(msgspec.Struct, frozen=True):
    """The known effect of a difference in one setting, with its source.

    `breaks` says that no test is possible, `weak` that the setting explains no difference.
    """

    setting: str
    title: str
    what: str
    source: str
    breaks: bool = False
    weak: bool = False


class MeasuredTask(msgspec.Struct, frozen=True):
    """One number of a measurement: `value` with its standard error in the same unit, None if unknown.

    `points` is how many percentage points one of the unit is, 0 where the number is no share. `counts` are right
    answers and questions, None if the number is no plain share; `span` is a share of 1 in the number's unit. Where the
    number is a mean of its leaves, `weights` say what a share of 1 in each leaf adds to it; None where samples cannot
    give it. `plain` is the plain mean of the leaves with its error where the value is that of all questions. `broken`
    says why it is no number of a measurement, "" if it is one.
    """

    id: str
    value: float
    stderr: float | None
    metric: str
    points: float
    leaves: tuple[str, ...]
    counts: tuple[int, int] | None = None
    span: float = 1.0
    samples: int | None = None
    weights: tuple[float, ...] | None = ()
    less_is_better: bool = False
    plain: tuple[float, float | None] | None = None
    broken: str = ""


class LeafSource(NamedTuple):
    """The result of a leaf, and the leaf's key in it."""

    result: Result
    key: str


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One side of a comparison: its name, its settings, its tasks, and the settings of single leaves by name.

    `groups` are the tasks of each group where the average is over groups, `columns` the values of columns that do not
    count, by their titles. `sources` say where leaves come from; none for a row of a board whose files are not at hand,
    and `unread` says why. `model` is the id of a row's model, "" where the files say it.
    """

    name: str
    settings: Mapping[str, str]
    tasks: Mapping[str, MeasuredTask]
    of_leaves: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sources: Mapping[str, LeafSource] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[str, float] = field(default_factory=dict)
    unread: str = ""
    model: str = ""

    @property
    def model_id(self) -> str:
        """The id of its model, as its row or its files name it; "" where they do not, or name several."""
        named = [self.model] if self.model else [model_name(one.result.model.id) for one in self.sources.values()]
        found = {one.casefold(): one for one in named}
        return next(iter(found.values())) if len(found) == 1 else ""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Answers to the same questions: how many both runs, one of them, or neither got right, where that is said.

    `contrast` is the paired test on the metric's own scale over all questions, `parts` are those of each leaf where
    there are several; `flips` are the first questions on which the runs differ. `prompts_differ` is the first question
    that the runs asked in other words, "" if there is none, and `prompts` are the places where its two prompts begin to
    differ. `shared` and `larger` are the numbers of shared questions and of those of the larger run, `clusters` that of
    the texts that several questions are about, 0 where each question stands alone. `judged` counts the questions whose
    answers are the same and have other scores, `otherwise` those in two documents, by what differs in these.
    """

    contrast: Contrast
    method: Method
    shared: int
    larger: int
    counts: tuple[int, int, int, int] | None = None
    flips: tuple[tuple[str, str, str], ...] = ()
    prompts_differ: str = ""
    clusters: int = 0
    parts: tuple[Contrast, ...] = ()
    prompts: tuple[str, str] = ("", "")
    judged: int = 0
    otherwise: Mapping[str, int] = field(default_factory=dict)


Paired: TypeAlias = Mapping[str, Pairs | str]  # by task; a text says why its logs make no pairs


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting that differs: its values, the tasks that it touches, and what it is known to do.

    One that is `weak` explains no difference.
    """

    name: str
    values: tuple[str, str]
    tasks: tuple[str, ...]
    effect: str
    breaks: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """One task of both measurements. `p_adjusted` is Holm's; `smallest` the least difference that could have shown.

    `unpaired` says why its sample logs make no pairs, "" where there are none. It is `not tested` where an error is
    unknown. `is_pooled` says that the values are means over the questions of several subtasks, `is_lent` that one file
    does not record the number of questions, so that it is the other's. `level` is that of the first step of Holm.
    """

    id: str
    values: tuple[float, float]
    points: float
    contrast: Contrast
    p_adjusted: float | None
    method: Method
    conclusion: Conclusion
    why: str = ""
    pairs: Pairs | None = None
    unpaired: str = ""
    less_is_better: bool = False
    metric: str = ""
    is_pooled: bool = False
    is_lent: bool = False
    level: float = LEVEL

    @property
    def is_worse(self) -> bool:
        """Tell whether the second is the worse one beyond chance."""
        return self.conclusion == ("higher" if self.less_is_better else "lower")

    @property
    def smallest(self) -> float | None:
        """The smallest difference that these samples could have shown, in the unit of the values.

        None where its error is unknown, or where it is more than any difference of shares.
        """
        found = self.contrast.smallest(self.level)
        return None if found is None or found * self.points > WHOLE else found


class RunLimit(NamedTuple):
    """How a run was limited to the first questions of its tasks: their number, or their share below 1.

    Files of one run may have several limits. `asked` are all questions of the tasks that were cut, `whole` those that
    these tasks have, 0 where that is not known; `tasks` is their number, subtasks counted.
    """

    least: float
    most: float
    asked: int
    whole: int
    tasks: int


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two measurements side by side; `average` is None where the tasks have no common scale.

    `columns` are those that do not count, each with its title and both values. `other_numbers` are those that differ
    and are not compared, as "metric of task". `recorded_once` are settings that one of the two does not record,
    `unread_fields` those that differ and that the form of both files does not read; `unread` says why the files of a
    row were not read. `models` are the ids of both, "" for one that is not known. `limits` says of each whether it
    asked only the first questions, `uneven` are the tasks whose means are equal and whose subtasks are not.
    `conditions` are those that both record and that differ, with both values: how it ran, which keeps no files apart.
    `opposed` are the tasks that another metric of both files orders the other way, each with that metric.
    `has_errors` says that one of the two gives the standard error of every task; without it the tests are those of
    answers.
    """

    first: str
    second: str
    settings: tuple[SettingDifference, ...]
    equal: int
    tasks: tuple[ComparedTask, ...]
    average: ComparedTask | None
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    has_logs: bool = True
    columns: tuple[tuple[str, float, float], ...] = ()
    other_numbers: tuple[str, ...] = ()
    recorded_once: tuple[SettingDifference, ...] = ()
    unread_fields: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    models: tuple[str, str] = ("", "")
    conditions: tuple[tuple[str, str, str], ...] = ()
    opposed: tuple[tuple[str, str], ...] = ()
    limits: tuple[RunLimit | None, RunLimit | None] = (None, None)
    uneven: tuple[str, ...] = ()
    has_errors: bool = True

    @property
    def is_one_model(self) -> bool:
        """Tell whether both are of one model, as far as that is known."""
        return self.models[0] != "" and self.models[0].casefold() == self.models[1].casefold()

    @property
    def judged(self) -> dict[str, int]:
        """How many questions of a task have the same answer in both and another score."""
        return {one.id: one.pairs.judged for one in self.tasks if one.pairs and one.pairs.judged}

    @property
    def with_other_samples(self) -> list[str]:
        """The tasks of equal values whose sample logs give other ones, or other scores of single questions."""
        return [
            one.id
            for one in self.tasks
            if one.values[0] == one.values[1]
            and (one.unpaired == NO_MEAN or (one.pairs and one.pairs.counts and any(one.pairs.counts[1:3])))
        ]

    @property
    def are_two_models(self) -> bool:
        """Tell whether both name their model, and name two."""
        return all(self.models) and not self.is_one_model

    @property
    def unexplained(self) -> list[str]:
        """The tasks of one model, or the average, that differ beyond chance without a setting that explains it."""
        found = [*self.tasks, *([self.average] if self.average and len(self.tasks) > 1 else [])]
        apart = [one.id for one in found if one.conclusion in {"higher", "lower"}]
        touched = {task for one in self.settings if not one.weak for task in one.tasks}
        touched |= self.judged.keys()
        touched |= {"average"} if touched or len(apart) > 1 else set()
        return [one for one in apart if one not in touched] if self.is_one_model else []

    @property
    def are_compared_equal(self) -> bool:
        """Tell whether all compared numbers are equal, so many and so different ones that it is no accident."""
        values = [one.values for one in self.tasks]
        are_equal = len(self.equal_tasks) == len(self.tasks)
        return are_equal and len(set(values)) > 1 and not any(self.only) and not any(one.why for one in self.tasks)

    @property
    def is_same(self) -> bool:
        """Tell whether both have the same numbers, also those that are not compared."""
        return self.are_compared_equal and not self.other_numbers

    @property
    def equal_tasks(self) -> list[str]:
        """The tasks whose two values are equal to the last digit."""
        return [one.id for one in self.tasks if one.values[0] == one.values[1]]

    def worse(self, margin: float = 0.0) -> list[str]:
        """The tasks, and the average, that are worse beyond chance and by more than a margin in percentage points."""
        found = [*self.tasks, *([self.average] if self.average else [])]
        return [one.id for one in found if one.is_worse and abs(one.contrast.difference) * (one.points or 1) > margin]


def compare(first: MeasuredRun, second: MeasuredRun, pairs: Paired | None = None) -> RunComparison:
    """Compare two measurements; `pairs` has the paired answers of the tasks whose sample logs were read.

    Raises CallError if they have no task in common.
    """
    second = _named_alike(first, second)
    shared = [task for task in first.tasks if task in second.tasks]
    if not shared:
        has = "; ".join(f"{one.name} has {examples(list(one.tasks)) or 'none'}" for one in (first, second))
        raise CallError(f"the two have no task in common: {has}{_renamed(first, second)}")
    differing, equal = _settings(first, second, shared, pairs or {})
    breaking = {task: one.effect.partition(" (")[0] for one in differing if one.breaks for task in one.tasks}
    limited = [run.of_leaves.get("limit", {}) for run in (first, second)]
    tests = {}
    for task in shared:
        one, other = _alike(first.tasks[task], second.tasks[task])
        is_lent = False
        limits = [said_of(said, task.leaves) or "none" for said, task in zip(limited, (one, other), strict=True)]
        if limits[0] == limits[1]:
            had = (one.counts, other.counts)
            one, other = _with_questions(one, other), _with_questions(other, one)
            is_lent = had != (one.counts, other.counts)
        faults = [f"{fault} in {run.name}" for fault, run in ((one.broken, first), (other.broken, second)) if fault]
        tested = _tested(one, other, (pairs or {}).get(task), breaking.get(task) or " and ".join(faults))
        tests[task] = replace(tested, is_lent=is_lent)
    adjusted = holm({task: one.contrast.p for task, one in tests.items() if one.contrast.p is not None and not one.why})
    level = LEVEL / max(1, len(adjusted))
    tasks = tuple(_concluded(replace(one, level=level), adjusted.get(task)) for task, one in tests.items())
    groups = [[task for task in group if task in tests] for group in first.groups.values()]
    only = tuple(tuple(task for task in one.tasks if task not in other.tasks) for one, other in
                 ((first, second), (second, first)))  # fmt: skip
    formats = {one.result.format for run in (first, second) for one in run.sources.values()}
    logs = all(known is None or known.logging for known in map(find_format, formats))
    average = _average(tasks, groups if first.groups == second.groups else [])
    columns = tuple(
        (title, value, second.columns[title]) for title, value in first.columns.items() if title in second.columns
    )
    return RunComparison(
        first.name, second.name, differing, equal, tasks, average, (only[0], only[1]), logs, columns,
        other_numbers=tuple(_other_numbers(first, second, shared)),
        recorded_once=tuple(_recorded_once(first, second, shared)),
        unread_fields=tuple(dict.fromkeys(_unread_fields(first, second, shared))),
        unread=tuple(dict.fromkeys(one.unread for one in (first, second) if one.unread)),
        models=(first.model_id, second.model_id),
        conditions=tuple(_conditions(first, second, shared)),
        opposed=tuple(_opposed(first, second, shared)),
        limits=(_limit_of(first, shared), _limit_of(second, shared)),
        uneven=tuple(one.id for one in tasks if one.values[0] == one.values[1] and _are_uneven(one.id, first, second)),
        has_errors=any(all(run.tasks[task].stderr is not None for task in shared) for run in (first, second)),
    )  # fmt: skip


def _renamed(first: MeasuredRun, second: MeasuredRun) -> str:
    """Which tasks of two runs may be one under two names: asked alike but for the dataset's name, and as often."""
    pairs = [
        f"{one.id} and {other.id}"
        for one in [*first.tasks.values()][:MOST_RENAMED]
        for other in [*second.tasks.values()][:MOST_RENAMED]
        if one.samples and one.samples == other.samples and _is_defined_alike(first, one, second, other)
    ]
    if not pairs:
        return ""
    return f"; {examples(pairs)} are defined alike, of as many questions: write one name in both files to compare them"


def _is_defined_alike(first: MeasuredRun, one: MeasuredTask, second: MeasuredRun, other: MeasuredTask) -> bool:
    sides = _sources(first, [one.id]), _sources(second, [other.id])
    if not all(source.result.leaves[source.key].definition for side in sides for source in side):
        return False
    if not (len(sides[0]) == len(sides[1]) == 1):
        return False
    return {name for name, *_ in differences(*sides[0][0], *sides[1][0])} <= OF_DATASET


def _opposed(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The tasks that another metric of both files orders the other way, each with that metric."""
    for task in shared:
        tasks = first.tasks[task], second.tasks[task]
        sides = [_sources(run, [task]) for run in (first, second)]
        if not all(sides):
            continue
        rows = [[one.result.leaves[one.key].numbers for one in side] for side in sides]
        for name in format_of(sides[0][0].result.format).metrics_in(rows[0][0]):
            one, other = (_mean_of(name, some) for some in rows)
            if one is None or other is None or name == tasks[0].metric or not is_share(name.partition(",")[0]):
                continue
            if (other - one) * (tasks[1].value - tasks[0].value) < 0 and not _is_less_better(
                sides[0][0].result.format, name, sides[0][0].result.leaves[sides[0][0].key]
            ):
                yield task, name


def _mean_of(metric: str, rows: Sequence[Mapping[str, Any]]) -> float | None:
    values = [measured(row.get(metric)) for row in rows]
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


def _conditions(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """How the shared tasks of both ran, where both record it and it differs."""
    both = []
    for run in (first, second):
        results = {id(one.result): one.result for one in _sources(run, shared)}.values()
        said = grouped((name, value) for one in results for name, value in one.conditions.items())
        both.append({name: ", ".join(sorted({*values})) for name, values in said.items()})
    for name, value in both[0].items():
        if name in both[1] and value != both[1][name]:
            yield name, value, both[1][name]


def _sources(run: MeasuredRun, tasks: Iterable[str]) -> list[LeafSource]:
    """Where the leaves of some tasks come from, as far as their files were read."""
    return [run.sources[leaf] for task in tasks for leaf in run.tasks[task].leaves if leaf in run.sources]


def _are_uneven(task: str, first: MeasuredRun, second: MeasuredRun) -> bool:
    """Tell whether a subtask of a task has another value in the second run."""
    metric = first.tasks[task].metric
    shared = [leaf for leaf in first.tasks[task].leaves if leaf in first.sources and leaf in second.sources]
    values = (
        [run.sources[leaf].result.leaves[run.sources[leaf].key].numbers.get(metric) for run in (first, second)]
        for leaf in shared
    )
    return any(one != other for one, other in values)


def _unread_fields(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[str]:
    """The fields that differ between the files of shared leaves, and that their form does not read."""
    for task in shared:
        for leaf in first.tasks[task].leaves:
            one, other = (run.sources[leaf].result if leaf in run.sources else None for run in (first, second))
            if one and other and one.format == other.format:
                yield from (
                    name for name in {**one.unread, **other.unread} if one.unread.get(name) != other.unread.get(name)
                )


def _other_numbers(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[str]:
    """The numbers of shared leaves that differ and that no task shows; errors are none of them.

    A task whose two means are equal shows nothing of its subtasks.
    """
    for task in shared:
        is_equal = first.tasks[task].value == second.tasks[task].value
        own = set() if is_equal else {one.metric for one in (first.tasks[task], second.tasks[task])}
        for leaf in first.tasks[task].leaves:
            rows = [run.sources[leaf] for run in (first, second) if leaf in run.sources]
            if len(rows) < 2 or rows[0].result.format != rows[1].result.format:
                continue
            one, other = (each.result.leaves[each.key].numbers for each in rows)
            for name in format_of(rows[0].result.format).metrics_in(one):
                differs = measured(one[name]) != measured(other.get(name)) and name in other
                if differs and name not in own and not ERRORS.search(name):
                    yield f"{name.removesuffix(',none')} of {leaf}"


def _limit_of(run: MeasuredRun, shared: Sequence[str]) -> RunLimit | None:
    """The limit that cut shared tasks of a run; None where it asked all questions, or does not say."""
    leaves = _sources(run, shared)
    sizes = [_sizes_of(*one) for one in leaves if one.result.limit]
    cut = [(asked, size) for asked, size in sizes if not size or asked < size]
    if not cut:
        return None
    limits = {one.result.limit or 0.0 for one in leaves if one.result.limit}
    wholes = [size for _, size in cut]
    return RunLimit(
        min(limits), max(limits), sum(asked for asked, _ in cut), sum(wholes) if all(wholes) else 0, len(cut)
    )


def _sizes_of(result: Result, key: str) -> tuple[int, int]:
    """The questions that a limited run asked of a leaf, and all that the leaf has; 0 where nobody knows."""
    leaf, known, limit = result.leaves[key], catalogue().find(result.format, key), result.limit or 0.0
    size = leaf.original or (known.samples if known else 0)
    return leaf.samples or (first_of(size, limit) if size else int(limit)), size


def _named_alike(first: MeasuredRun, second: MeasuredRun) -> MeasuredRun:
    """The second run with its tasks as the first calls them: MMLU is hendrycksTest in harness 0.3, and mmlu in 0.4.

    The metric that counts may have another name, too: mc2 of truthfulqa_mc is acc of truthfulqa_mc2.
    """
    names, others = (
        grouped((title, task) for task in run.tasks if task not in other.tasks and (title := _title(run, task)))
        for run, other in ((first, second), (second, first))
    )
    alike = {
        others[title][0]: names[title][0] for title in names if len(names[title]) == len(others.get(title, ())) == 1
    }
    tasks = dict(second.tasks)
    for task, name in alike.items():
        are_own = _is_own_metric(first, name) and _is_own_metric(second, task)
        metric = first.tasks[name].metric if are_own else tasks[task].metric
        tasks[task] = msgspec.structs.replace(tasks[task], id=name, metric=metric)
    return replace(second, tasks={one.id: one for one in tasks.values()}) if alike else second


def _title(run: MeasuredRun, task: str) -> str:
    """The title that the catalogue gives a task: the group of its leaves, or a benchmark; "" for neither."""
    found = [of for of, _ in _known_of(run, task)]
    if len(found) == 1 and isinstance(found[0], KnownBenchmark):
        return f"{found[0].title} ({found[0].dataset})"
    titles = {one.title if isinstance(one, Group) else "" for one in found}
    return titles.pop() if len(titles) == 1 else ""


def _is_own_metric(run: MeasuredRun, task: str) -> bool:
    """Tell whether the number of a benchmark is that of the one metric that counts in the catalogue."""
    return [
        [metric.key(format_id) for metric in of.metrics] if isinstance(of, KnownBenchmark) else []
        for of, format_id in _known_of(run, task)
    ] == [[run.tasks[task].metric]]


def _known_of(run: MeasuredRun, task: str) -> list[tuple[KnownBenchmark | Group | None, str]]:
    """What the catalogue knows of the leaves of a task, each with the format of its file."""
    sources = _sources(run, [task])
    known = [(catalogue().find(one.result.format, one.key), one.result.format) for one in sources]
    return [(one.of if one else None, format_id) for one, format_id in known]


def _alike(first: MeasuredTask, second: MeasuredTask) -> tuple[MeasuredTask, MeasuredTask]:
    """Two tasks as means of one kind: both over all questions, or else both plain means of their subtasks."""
    if (first.plain is None) == (second.plain is None):
        return first, second
    return _plain(first), _plain(second)


def _plain(task: MeasuredTask) -> MeasuredTask:
    if task.plain is None:
        return task
    value, stderr = task.plain
    weights = None if task.weights is None else (task.span / len(task.leaves),) * len(task.leaves)
    return msgspec.structs.replace(task, value=value, stderr=stderr, counts=None, plain=None, weights=weights)


def _with_questions(task: MeasuredTask, other: MeasuredTask) -> MeasuredTask:
    """The task with the number of questions of the other, where all or none of its answers are right.

    Then the error in its file is 0 and gives no number.
    """
    if task.counts or other.counts is None or task.samples or task.span != other.span or len(task.leaves) > 1:
        return task
    asked = other.counts[1]
    if task.value * task.points == WHOLE:
        return msgspec.structs.replace(task, counts=(asked, asked), samples=asked)
    if task.value == 0 and task.span * task.points == WHOLE:  # the scale begins at no right answer
        return msgspec.structs.replace(task, counts=(0, asked), samples=asked)
    return task


def _tested(first: MeasuredTask, second: MeasuredTask, found: Pairs | str | None, broken: str) -> ComparedTask:
    pairs, unpaired = (None, found) if isinstance(found, str) else (found, "")
    values = (first.value, second.value)
    points = first.points if first.points == second.points else 0.0
    metrics = [one.metric.removesuffix(",none") for one in (first, second)]  # harness 0.4 adds the filter
    others = f"other metrics: {' and '.join(metrics)}" if metrics[0] != metrics[1] else ""
    why = broken or others or _too_little(first, second, pairs)
    if why:
        bare = without_error(second.value - first.value)
        return ComparedTask(first.id, values, points, bare, None, "independent-normal", "not comparable", why)
    if pairs is not None and (first.weights is None or first.weights != second.weights):
        pairs, unpaired = None, NO_WEIGHTS
    contrast, method = _contrast(first, second, pairs)
    off = abs(contrast.difference - (second.value - first.value))
    if pairs is not None and pairs.shared == pairs.larger and off * (points or 1) > ROUNDING:
        pairs, unpaired = None, NO_MEAN
        contrast, method = _contrast(first, second, None)
    return ComparedTask(
        first.id, values, points, contrast, None, method, "not tested", "", pairs, unpaired, first.less_is_better,
        first.metric, is_pooled=first.plain is not None,
    )  # fmt: skip


def _contrast(first: MeasuredTask, second: MeasuredTask, pairs: Pairs | None) -> tuple[Contrast, Method]:
    if pairs is not None and first.weights:
        leaves = zip(pairs.parts, first.weights, strict=True)
        return mean_of([scaled(part, weight * len(first.weights)) for part, weight in leaves]), pairs.method
    if pairs is not None:
        return scaled(pairs.contrast, first.span), pairs.method
    if first.counts and second.counts and first.span == second.span:
        return scaled(independent_counts(first.counts, second.counts), first.span), "independent-exact"
    if first.stderr is None or second.stderr is None:
        return without_error(second.value - first.value), "independent-normal"
    return independent(first.value, second.value, (first.stderr, second.stderr)), "independent-normal"


def _too_little(first: MeasuredTask, second: MeasuredTask, pairs: Pairs | None) -> str:
    """Why two numbers of one task come from too different questions, "" if they do not."""
    if pairs is not None and not pairs.shared:
        return f"no question is the same in both logs of {pairs.larger}; `--samples none` compares without them"
    if pairs is not None:
        shared, larger = pairs.shared, pairs.larger
    elif first.samples and second.samples:
        shared, larger = min(first.samples, second.samples), max(first.samples, second.samples)
    else:
        return ""
    return f"only {shared} of {larger} questions are shared" if shared < ENOUGH_SHARED * larger else ""


def _concluded(task: ComparedTask, adjusted: float | None) -> ComparedTask:
    if task.why:
        conclusion: Conclusion = "not comparable"
    elif adjusted is None:
        conclusion = "not tested"
    elif adjusted >= LEVEL:
        conclusion = "not separable"
    else:
        conclusion = "higher" if task.contrast.difference > 0 else "lower"
    return replace(task, p_adjusted=adjusted, conclusion=conclusion)


def _average(tasks: Sequence[ComparedTask], groups: Sequence[Sequence[str]] = ()) -> ComparedTask | None:
    """The plain mean of the tasks on one scale, or of the groups; a task that is not comparable makes it so."""
    if len({(one.points, one.less_is_better) for one in tasks}) > 1 or not tasks[0].points:
        return None
    if len(tasks) == 1:
        return tasks[0]
    shares = {task: 1 / len(groups) / len(group) for group in groups for task in group}
    parts = [shares.get(one.id, 0.0) if groups else 1 / len(tasks) for one in tasks]
    values = (
        fsum(one.values[0] * part for one, part in zip(tasks, parts, strict=True)),
        fsum(one.values[1] * part for one, part in zip(tasks, parts, strict=True)),
    )
    broken = next((f"{one.id}: {one.why}" for one in tasks if one.why), "")
    contrast = (
        without_error(values[1] - values[0])
        if broken
        else mean_of(
            [scaled(one.contrast, part * len(tasks)) for one, part in zip(tasks, parts, strict=True)]
            if groups
            else [one.contrast for one in tasks]
        )
    )
    average = ComparedTask(
        "average", values, tasks[0].points, contrast, None, "mean-of-tests", "not tested", broken,
        less_is_better=tasks[0].less_is_better,
    )  # fmt: skip
    return _concluded(average, contrast.p)


def mean_of_tasks(results: Sequence[Result]) -> tuple[float, int]:
    """The average that results have in a comparison, as a fraction, and of how many tasks; 0 of 0 for none."""
    tasks = [*run_of_results("", results).tasks.values()]
    if (
        len(tasks) < 2
        or any(one.broken for one in tasks)
        or len({(one.points, one.less_is_better) for one in tasks}) > 1
        or not tasks[0].points
    ):
        return 0.0, 0
    return fsum(one.value * one.points for one in tasks) / len(tasks) / 100, len(tasks)


def moving_settings(sources: Sequence[LeafSource]) -> list[tuple[str, str, str]]:
    """How leaves were measured where another setting is known to move numbers much.

    Each is the setting's title, its values, and what it does.
    """
    named = {str(place): one for place, one in enumerate(sources)}
    settings, known = _leaf_settings(named), {one.setting: one for one in effects()}
    found = []
    for name in MOVES:
        values = sorted({value for value in settings.get(name, {}).values() if value})
        if name == "chat template" and not any(one.result.places.get("chat_template") for one in sources):
            continue  # of a harness that had none
        if values and values != ["none"]:
            found.append((known[name].title, examples(values), known[name].what))
    return found


def _settings(
    first: MeasuredRun, second: MeasuredRun, shared: Sequence[str], pairs: Paired
) -> tuple[tuple[SettingDifference, ...], int]:
    """The settings that differ in the shared tasks, those with known effects first; and how many are equal."""
    found: list[SettingDifference] = []
    equal = 0
    formats = [{one.result.format for one in run.sources.values()} for run in (first, second)]
    is_one_format = formats[0] == formats[1] and len(formats[0]) == 1
    for name in dict.fromkeys([*first.settings, *second.settings]):
        values = (first.settings.get(name, ""), second.settings.get(name, ""))
        if values[0] == values[1]:
            equal += bool(values[0])
        elif all(values):  # what one of them does not record is no difference
            found.append(_difference(name, values, tuple(shared)))
    names = dict.fromkeys([*first.of_leaves, *second.of_leaves])
    if (first.sources and second.sources) or first.settings.get("format") != second.settings.get("format"):
        names.pop("definition", None)  # the files say which of its fields differ; those of two formats always do
    models = [{one.result.model.id for one in run.sources.values()} for run in (first, second)]
    for name in OF_WEIGHTS if models[0] != models[1] else ():
        names.pop(name, None)
    for name in names:
        differing, alike = _of_tasks(
            name, first, second, shared, absent=NOT_SET if is_one_format and GIVEN.search(name) else ""
        )
        found += differing
        equal += alike
    found += [*_subtasks(first, second, shared), *_definitions(first, second, shared), *_documents(pairs, shared)]
    order = {one.setting: place for place, one in enumerate(effects())}
    return tuple(sorted(found, key=lambda one: order.get(_setting(one.name), len(order)))), equal


def _of_tasks(
    name: str, first: MeasuredRun, second: MeasuredRun, shared: Sequence[str], *, absent: str
) -> tuple[list[SettingDifference], int]:
    """The differences in a setting of leaves, those with equal values together, and in how many tasks it is equal.

    `absent` is what a task has that does not record it, "" where nobody knows: that is no difference, and not equal.
    """
    one, other = first.of_leaves.get(name, {}), second.of_leaves.get(name, {})
    by_values: dict[tuple[str, str], list[str]] = {}
    equal = 0
    for task in shared:
        values = (
            said_of(one, first.tasks[task].leaves) or (_written(first, name, task) or absent if absent else ""),
            said_of(other, second.tasks[task].leaves) or (_written(second, name, task) or absent if absent else ""),
        )
        if values[0] == values[1]:
            equal += bool(values[0])
        elif all(values) or (name == "silent change" and first.sources and second.sources):
            by_values.setdefault(values, []).append(task)
    return [_difference(name, values, tuple(tasks)) for values, tasks in by_values.items()], equal


def _written(run: MeasuredRun, name: str, task: str) -> str:
    """What a task's files write of an argument that counts as absent, such as a switch that is off."""
    argument = name.partition(" ")[2]
    args = {one.result.model.args for one in _sources(run, [task])}
    return ", ".join(sorted({said for one in args if (said := written_in(one).get(argument, ""))}))


def _recorded_once(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[SettingDifference]:
    """The settings with an effect that one of the two does not record, "" there; not what is written where it is given.

    Of the sizes of the weights the precision tells.
    """
    if bool(first.sources) != bool(second.sources):
        return  # nobody read what the files of one record
    names = dict.fromkeys([*first.settings, *second.settings, *first.of_leaves, *second.of_leaves])
    known = {one.setting for one in effects() if not one.weak} - TOLD_OTHERWISE
    known |= {"revision"} if first.model_id.casefold() == second.model_id.casefold() else set()
    for name in [one for one in names if one in known and not GIVEN.search(one)]:
        by_values: dict[tuple[str, str], list[str]] = {}
        for task in shared:
            one, other = (
                run.settings.get(name) or said_of(run.of_leaves.get(name, {}), run.tasks[task].leaves)
                for run in (first, second)
            )
            if bool(one) != bool(other):
                by_values.setdefault((one, other), []).append(task)
        yield from (_difference(name, values, tuple(tasks)) for values, tasks in by_values.items())


def _subtasks(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[SettingDifference]:
    """The tasks that are means of other subtasks, as where a run lacks one."""
    for task in shared:
        one, other = first.tasks[task].leaves, second.tasks[task].leaves
        if len(set(one)) != len(set(other)) or (set(one) != set(other) and set(one) & set(other)):
            yield _difference("subtasks", (_with(one, other), _with(other, one)), (task,))


def _with(leaves: Sequence[str], others: Sequence[str]) -> str:
    """How many subtasks there are, and which of them the other run lacks."""
    alone = [leaf for leaf in dict.fromkeys(leaves) if leaf not in others]
    return counted(len(set(leaves)), "subtask") + (f", with {examples(alone)}" if alone else "")


def _definitions(first: MeasuredRun, second: MeasuredRun, shared: Sequence[str]) -> Iterator[SettingDifference]:
    """The fields of the tasks' definitions that differ, such as the prompt; those of several tasks together."""
    found: dict[str, tuple[tuple[str, str], list[str]]] = {}
    for task in shared:
        for leaf in first.tasks[task].leaves:
            one, other = first.sources.get(leaf), second.sources.get(leaf)
            if one is None or other is None or leaf not in second.tasks[task].leaves:
                continue
            for name, *values in differences(*one, *other):
                _, tasks = found.setdefault(name, ((values[0], values[1]), []))
                tasks += [] if task in tasks else [task]
    for name, (two, tasks) in found.items():
        yield _difference(f"definition: {name}", two, tuple(tasks))


def _documents(pairs: Paired, shared: Sequence[str]) -> Iterator[SettingDifference]:
    """What differs in the documents of the same questions, by the sample logs."""
    for task in shared:
        found = pairs.get(task)
        if not isinstance(found, Pairs):
            continue
        for name, count in found.otherwise.items():
            of = f"another for {count} of {counted(found.shared, 'shared question')}"
            yield _difference(name, ("one", of), (task,))


def said_of(values: Mapping[str, str], leaves: Iterable[str]) -> str:
    """The values of a setting over some leaves, each once."""
    return ", ".join(sorted({values[leaf] for leaf in leaves if values.get(leaf)}))


def _difference(name: str, values: tuple[str, str], tasks: tuple[str, ...]) -> SettingDifference:
    effect = next((one for one in effects() if one.setting == _setting(name)), None)
    if effect is None:
        return SettingDifference(name, values, tasks, "")
    return SettingDifference(
        effect.title if effect.setting == name else name, values, tasks, effect.what, effect.breaks, effect.weak
    )


def _setting(name: str) -> str:
    """The name in the table of effects for a setting."""
    known = next((one.setting for one in effects() if name in {one.setting, one.title}), "")
    if known:
        return known
    group, _, argument = name.partition(" ")
    if name.startswith(TOKENIZER):
        return TOKENIZER
    if group == "argument" and known_kind(argument) is None:
        return "unknown argument"
    return next((group for group in GROUPS if name.startswith((f"{group} ", f"{group}:"))), name)


@cache
def effects() -> tuple[KnownEffect, ...]:
    """The known effects of differences, the most important first."""
    text = files("bot").joinpath("data", "effects.toml").read_text(encoding="utf-8")
    return tuple(msgspec.toml.decode(text, type=dict[str, tuple[KnownEffect, ...]])["effects"])


def run_of_results(name: str, results: Sequence[Result], only: Sequence[str] = ()) -> MeasuredRun:
    """A measurement of result files as they are: groups whose leaves share a metric, and the other leaves."""
    leaves = {key: leaf for result in results for key, leaf in result.leaves.items()}
    format_id = results[-1].format if results else ""
    metrics = {key: metric for key, leaf in leaves.items() if (metric := metric_of(format_id, key, leaf))}
    groups = dict(_groups(results, metrics))
    grouped = {key for members in groups.values() for key in members}
    wanted = {**groups, **{key: (key,) for key in metrics if key not in grouped or key in only}}
    for task in only:
        if task not in wanted:
            members = [key for result in results for key in leaves_of(task, result.subtasks) if key in metrics]
            wanted |= {task: tuple(members)} if len({metrics[key] for key in members}) == 1 else {}
    if missing := [task for task in only if task not in wanted]:
        raise CallError(f"{name} has no task {missing[0]}")
    rows = {row.key: row.numbers for result in results for row in result.groups}
    sizes = {
        key: known.samples
        for result in results
        if result.limit is None
        for key in result.leaves
        if (known := catalogue().find(result.format, key)) is not None
    }
    tasks = {
        task: msgspec.structs.replace(
            _task_of(task, keys, leaves, metrics, format_id, row=rows.get(task, {}), sizes=sizes),
            less_is_better=_is_less_better(format_id, metrics[keys[0]], leaves[keys[0]]),
        )
        for task, keys in wanted.items()
        if not only or task in only
    }
    sources = {key: LeafSource(result, key) for result in results for key in result.leaves}
    return MeasuredRun(name, {}, tasks, _leaf_settings(sources), sources)


def with_files(run: MeasuredRun, sources: Mapping[str, LeafSource]) -> MeasuredRun:
    """A leaderboard's row with what its files record besides: settings that no row has, and definitions."""
    settings = _leaf_settings(sources)
    others = {name: settings[name] for name in settings if name not in run.settings and name not in run.of_leaves}
    return replace(run, of_leaves={**run.of_leaves, **others}, sources=sources)


def _are_nested(format_id: str, keys: Sequence[str]) -> bool:
    """Tell whether some leaves belong to one group in which smaller leaves ask questions of larger ones."""
    found = [catalogue().find(format_id, key) for key in keys] if len(keys) > 1 else []
    return bool(found) and all(one is not None and isinstance(one.of, Group) and one.of.nested for one in found)


def metric_of(format_id: str, key: str, leaf: LeafResult) -> str:
    """The metric of a leaf to compare, "" if there is none: the catalogue's, else the first of which more is better.

    The order is that of a draft: in a file it is alphabetic as often as not. One whose value is no number, as NaN, is
    not passed over.
    """
    numbers = {name: 0.0 if is_spoiled(name, value) else value for name, value in leaf.numbers.items()}
    names = [name for name in format_of(format_id).metric_keys(numbers) if not ERRORS.search(name)]
    known = catalogue().find(format_id, key)
    own = [metric.key(format_id) for metric in known.of.metrics] if known else []
    better = [name for name in names if not _is_less_better(format_id, name, leaf)]
    return next((name for name in [*own, *better, *names] if name in names), "")


def _is_less_better(format_id: str, metric: str, leaf: LeafResult) -> bool:
    kind = kind_of(format_of(format_id).split_key(metric)[0])
    return metric in leaf.less_is_better or (kind is not None and not kind.higher_is_better)


def _groups(results: Sequence[Result], metrics: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The largest groups whose leaves share one metric: those of the files, else those that the catalogue knows."""
    found: dict[str, tuple[str, ...]] = {}
    for result in results:
        for group in result.subtasks:
            members = tuple(key for key in leaves_of(group, result.subtasks) if key in metrics)
            if len(members) > 1 and len({metrics[key] for key in members}) == 1:
                found[group] = members
    formats = {key: result.format for result in results for key in result.leaves}
    for key in metrics if not found else ():
        known = catalogue().find(formats[key], key)
        if known is not None and isinstance(known.of, Group):
            found[known.of.id] = (*found.get(known.of.id, ()), key)
    for group, members in found.items():
        is_whole = len({metrics[key] for key in members}) == 1
        if is_whole and not any(set(members) < set(other) for other in found.values()):
            yield group, members


def _task_of(
    task: str,
    keys: Sequence[str],
    leaves: Mapping[str, LeafResult],
    metrics: Mapping[str, str],
    format_id: str,
    *,
    row: Mapping[str, Any],
    sizes: Mapping[str, int],
) -> MeasuredTask:
    """A task of files: all right answers over all questions where they are known, else the plain mean of its leaves.

    The plain mean counts also where the group's own row has it, as an average of lighteval. `sizes` are the questions
    of leaves that the catalogue knows and that were measured whole, for files that do not record their number.

    The logs of nested leaves give no pairs: they hold a question several times.
    """
    metric, is_nested, known = metrics[keys[0]], _are_nested(format_id, keys), format_of(format_id)
    faults = {key: why for key in keys if (why := why_no_number(format_id, leaves[key], metric))}
    read = {key: nan if (value := measured(leaves[key].numbers[metric])) is None else value for key in keys}
    values = [*read.values()]
    name = metric.partition(",")[0]
    points = _points_of([value for key, value in read.items() if key not in faults], metric, format_id)
    unit = 1.0 if points != 1.0 else WHOLE  # the value of all right answers
    said = [measured(leaves[key].numbers.get(known.stderr_key(metric))) for key in keys]
    errors = [None if one == 0 and 0 != value != unit else one for value, one in zip(values, said, strict=True)]
    counts = [
        _counts(
            value / unit,
            None if error is None else error / unit,
            leaves[key].samples,
            sizes.get(key),
            is_proportion=not is_mean_of_proportions(key, name),
        )
        for key, value, error in zip(keys, values, errors, strict=True)
    ]
    shares = [one for one in counts if one is not None]
    asked = [leaves[key].samples or (one[1] if one else 0) for key, one in zip(keys, counts, strict=True)]
    parts = [((one or 0.0) / len(keys), size) for one, size in zip(errors, asked, strict=True)]
    variance = nested_variance(parts) if is_nested else fsum(one * one for one, _ in parts)
    found = MeasuredTask(
        task,
        fsum(values) / len(keys),
        None if None in errors else sqrt(variance),
        metric,
        points,
        tuple(keys),
        span=unit,
        samples=sum(asked) if all(asked) else None,
        weights=None if is_nested else (unit / len(keys),) * len(keys) if len(keys) > 1 else (),
        broken=next((f"{name} of {key} {why}" for key, why in faults.items()), ""),
    )
    if len(shares) < len(keys) or _is_plain(row.get(metric), values, shares, unit):
        return found
    right, total = (sum(column) for column in zip(*shares, strict=True))
    if is_nested:
        error = sqrt(nested_variance([(_error(*one) * one[1] / total, one[1]) for one in shares]))
    else:
        error = _error(right, total)
    return msgspec.structs.replace(
        found,
        value=right / total * unit,
        stderr=error * unit,
        counts=(right, total) if total <= MOST_QUESTIONS and not is_nested else None,
        samples=total,
        weights=None if is_nested else (),
        plain=(found.value, found.stderr) if len(keys) > 1 else None,
    )


def _is_plain(said: object, values: Sequence[float], counts: Sequence[tuple[int, int]], unit: float) -> bool:
    """Tell whether a group's own value is the plain mean of its leaves, and not that of all questions."""
    means = fsum(values) / len(values), unit * sum(right for right, _ in counts) / sum(asked for _, asked in counts)
    return isinstance(said, float) and [isclose(said, mean, abs_tol=1e-6) for mean in means] == [True, False]


def _points_of(values: Sequence[float], metric: str, format_id: str) -> float:
    """How many percentage points one of the unit of a metric is, 0 where these values are no shares."""
    known = format_of(format_id)
    name = known.split_key(metric)[0]
    if not is_share(name):
        return 0.0
    if known.is_percent(metric):
        return 1.0 if all(abs(value) <= 100 for value in values) else 0.0
    kind = kind_of(name)
    low = kind.range[0] if kind is not None else 0.0
    return 100.0 if all(low <= value <= 1 for value in values) else 0.0


def _error(right: int, asked: int) -> float:
    """The standard error of a share of right answers."""
    return sqrt(right * (asked - right) / asked**2 / max(1, asked - 1))


def _counts(
    value: float, stderr: float | None, samples: int | None, size: int | None = None, *, is_proportion: bool
) -> tuple[int, int] | None:
    """Right answers and questions behind a share; None where the number is not one of zeros and ones.

    `size` is the number of questions that such a task has, for a file that does not record it.
    """
    if not is_proportion or not 0 <= value <= 1:
        return None
    behind = samples_behind(value, stderr) if stderr else None
    recovered = whole(behind)
    if behind is not None and (recovered is None or (samples and samples != recovered)):
        return None
    asked = recovered or samples or size
    right = right_answers(value, asked) if asked else None
    return (right, asked) if right is not None and asked and asked <= MOST_QUESTIONS else None


def _file_settings(result: Result) -> dict[str, str]:
    """The settings that a file records for all its leaves; the files of one run may record different ones."""
    model, harness = result.model, result.harness
    found = {
        "harness": harness.name,
        **version_of(harness),
        "revision": model.revision or ("" if model.requested_revision == BRANCH else model.requested_revision),
        "precision": model.precision,
        "chat template": TEMPLATES[model.chat_template],
        "backend": model.source,
        "limit": f"{result.limit:g}" if result.limit else "none" if result.records("limit") else "",
        **{
            f"{_group_of(name)}{name}": generation_of(said)
            for name, said in result.settings.items()
            if sameness_of(name) != "no matter"
        },
        "size in bytes": f"{model.size:,}" if model.size else "",
        "parameters": f"{model.parameters:,}" if model.parameters else "",
        **{name: said for name, said in shown_arguments(result).items() if NAME.fullmatch(name.partition(" ")[2])},
    }
    return {name: value for name, value in found.items() if value}


def version_of(harness: HarnessVersion) -> dict[str, str]:
    """The release or commit of a harness, or the commit of the folder in which it was started, each by its setting."""
    commit = harness.git_hash or ""
    is_own = not commit or harness.name not in OF_FOLDER or known_commit(commit) or commit_of(commit)
    return {"harness version" if harness.version or is_own else "starting folder": harness.version or commit[:9]}


def _group_of(name: str) -> str:
    """The group in front of a setting's name, by which its effect is found."""
    return "" if name == AGENT else "prompt " if AROUND.search(name) else "generation "


def _prompts(result: Result) -> Mapping[str, str]:
    """The hashes of the prompts of each leaf, as the tool made them."""
    return result.task_hashes if result.format in HASHES_PROMPTS else result.prompts


def _leaf_settings(sources: Mapping[str, LeafSource]) -> dict[str, dict[str, str]]:
    """The settings of single leaves by name and leaf, as texts."""
    leaves = {leaf: result.leaves[key] for leaf, (result, key) in sources.items()}
    found = {
        "num_fewshot": {key: str(leaf.num_fewshot) for key, leaf in leaves.items() if leaf.num_fewshot is not None},
        "version": {key: str(leaf.version) for key, leaf in leaves.items() if leaf.version is not None},
        "until": {key: repr(leaf.until) for key, leaf in leaves.items() if leaf.until},
        "implementation": {},
        "line breaks": {},
        "silent change": {},
        "prompts": {leaf: said for leaf, (result, key) in sources.items() if (said := _prompts(result).get(key))},
    }
    if often := {key: str(leaf.epochs) for key, leaf in leaves.items() if leaf.epochs > 1}:
        found["epochs"] = often
    results = {id(one.result): one.result for one in sources.values()}
    for number, members in grouped((id(one.result), (leaf, one.key)) for leaf, one in sources.items()).items():
        result, own = results[number], dict(members)
        for name, value in _file_settings(result).items():
            found.setdefault(name, {}).update(dict.fromkeys(own, value))
        recognised = recognise(result)
        if recognised is not None and recognised.family is not Family.UNKNOWN:
            subjects = {id(one) for one in subjects_of(result).values()}
            asked = [leaf for leaf in own if id(leaves[leaf]) in subjects]
            family = recognised.family
            found["implementation"] |= dict.fromkeys(asked, TITLES[OF_ONE_SCORER.get(family, family)])
            if family in LINE_BREAKS:
                found["line breaks"] |= dict.fromkeys(asked, LINE_BREAKS[family])
        for leaf, key in own.items():
            shots, version = leaves[leaf].num_fewshot, leaves[leaf].version
            changes = [
                one.what for one in silent_changes() if one.covers(key, shots, version) and one.is_in(result.harness)
            ]
            if changes:
                found["silent change"][leaf] = "; ".join(changes)
    return found


def run_of_scores(
    name: str,
    tasks: Iterable[TaskScore],
    settings: Mapping[str, str],
    of_leaves: Mapping[str, Mapping[str, str]],
    only: Sequence[str] = (),
    *,
    others: Scores | None = None,
) -> MeasuredRun:
    """A measurement of a leaderboard's row: the scores of its columns, whole tasks only.

    `others` has its groups, and the columns that do not count.
    """
    scored = [task for task in tasks if task.score is not None and (not only or task.id in only)]
    if missing := [task for task in only if task not in {one.id for one in scored}]:
        raise CallError(f"{name} has no score of {missing[0]}")
    measured_tasks = {task.id: task_of_score(task, _weights(task)) for task in scored}
    is_over_groups = others is not None and others.over == "groups"
    groups = {one.title: one.tasks for one in others.groups} if others is not None and is_over_groups else {}
    columns = {one.id: one.value for one in others.columns if one.value is not None} if others is not None else {}
    return MeasuredRun(name, settings, measured_tasks, of_leaves, groups=groups, columns=columns)


def task_of_score(task: TaskScore, weights: tuple[float, ...] | None = ()) -> MeasuredTask:
    """A column of a row as a number to compare; the weights of its leaves are needed for samples only."""
    leaves = tuple([leaf.id for leaf in task.leaves])
    metric = " and ".join(dict.fromkeys([leaf.metric for leaf in task.leaves]))
    counts, span = _counts_of(task.leaves[0]) if len(task.leaves) == 1 else (None, 1.0)
    sizes: dict[str, float] = {}
    for leaf in task.leaves:  # the metric that counts the fewest counts the questions, not the instructions in them
        sizes[leaf.id] = min(leaf.samples or inf, sizes.get(leaf.id, inf))
    samples = int(sum(sizes.values())) if inf not in sizes.values() else None
    return MeasuredTask(task.id, task.score or 0.0, task.stderr, metric, 1.0, leaves, counts, span, samples, weights)


@lru_cache(maxsize=1_000)
def _bound(text: str) -> float:
    """The double next to a bound; the rows of a board share a few."""
    return float(Fraction(text))


def _weights(task: TaskScore) -> tuple[float, ...] | None:
    """What a share of 1 of each leaf is worth in a score: the leaves count alike, or by their questions.

    None for a score that is clipped, of several metrics, or of nested leaves; empty for that of one leaf.
    """
    if task.nested:
        return None
    lows = [_bound(leaf.lower_bound) for leaf in task.leaves]
    if len({leaf.metric for leaf in task.leaves}) > 1 or any(
        leaf.raw < low != 0 for leaf, low in zip(task.leaves, lows, strict=True)
    ):
        return None
    if len(task.leaves) == 1:
        return ()
    points = [100 / (_bound(leaf.upper_bound) - low) for leaf, low in zip(task.leaves, lows, strict=True)]
    for parts in ([1] * len(points), [leaf.samples or 0 for leaf in task.leaves]):
        weights = tuple(part / (sum(parts) or 1) * one for part, one in zip(parts, points, strict=True))
        score = fsum(weight * (leaf.raw - low) for weight, leaf, low in zip(weights, task.leaves, lows, strict=True))
        if isclose(score, task.score or 0.0, rel_tol=1e-9, abs_tol=1e-9):
            return weights
    return None


def _counts_of(leaf: LeafScore) -> tuple[tuple[int, int] | None, float]:
    """The counts of a column of one leaf, where its score is not clipped, and the points that a share of 1 is worth."""
    lower, upper = _bound(leaf.lower_bound), _bound(leaf.upper_bound)
    is_proportion = (
        upper == 1 and leaf.raw >= lower and not is_mean_of_proportions(leaf.id, leaf.metric.partition(",")[0])
    )
    counts = _counts(leaf.raw, leaf.stderr, leaf.samples, is_proportion=is_proportion)
    return counts, 100 / (upper - lower)
