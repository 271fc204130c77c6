"""Rows on a corrected set of questions: the scores without the excluded ones, from the means of logged samples."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, sqrt
from typing import NamedTuple

from msgspec.structs import replace

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.score import LeafScore, Scores, TaskScore, average_of, group_scores, normalize
from bot.evaluation.task import Task
from bot.publishing.board import Board, make_board
from bot.publishing.entry import Entry

MOST_IDS = 1_000_000  # of excluded questions


class Rest(NamedTuple):
    """What is left of a leaf's log without the excluded questions: how many samples, mean and standard error.

    `excluded` is how many samples were left out.
    """

    samples: int
    mean: float
    stderr: float | None
    excluded: int


@dataclass
class Remainder:
    """The running mean and variance of the samples that are left (Welford)."""

    count: int = 0
    excluded: int = 0
    _mean: float = 0.0
    _square: float = 0.0

    def add(self, value: float) -> None:
        """Add a sample that is left."""
        self.count += 1
        step = value - self._mean
        self._mean += step / self.count
        self._square += step * (value - self._mean)

    @property
    def rest(self) -> Rest | None:
        """What is left; None where nothing is."""
        if not self.count:
            return None
        error = sqrt(self._square / (self.count - 1) / self.count) if self.count > 1 else None
        return Rest(self.count, self._mean, error, self.excluded)


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """A row before and after; `after` is the same where `why` says that it could not be computed again."""

    before: Entry
    after: Entry
    excluded: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class CorrectedBoard:
    """All rows, and both boards."""

    rows: tuple[CorrectedRow, ...]
    before: Board
    after: Board

    def ranks(self) -> Iterator[tuple[CorrectedRow, str, str]]:
        """Each row in the new order with its ranks before and after."""
        was = {row.entry.key: row.ranks for row in self.before.rows}
        by_key = {row.before.key: row for row in self.rows}
        for row in self.after.rows:
            yield by_key[row.entry.key], was[row.entry.key], row.ranks


def corrected_board(rows: Sequence[CorrectedRow], leaderboard: Leaderboard) -> CorrectedBoard:
    """The boards before and after of corrected rows."""
    return CorrectedBoard(
        tuple(rows),
        make_board([row.before for row in rows], leaderboard),
        make_board([row.after for row in rows], leaderboard),
    )


def corrected(entry: Entry, declared: Leaderboard, rests: Mapping[tuple[str, str], Rest]) -> Entry:
    """A row with the means of what is left, by leaf and metric; what lost no question stays to the bit."""
    known = {task.id: task for task in declared.tasks}
    tasks = tuple(_task(task, known[task.id], rests) if task.id in known else task for task in entry.tasks)
    if all(one is other for one, other in zip(tasks, entry.tasks, strict=True)):
        return entry
    groups = group_scores(tasks, declared.groups)
    over = declared.average.over
    average = average_of([one.score for one in (groups if over == "groups" else tasks)])
    scores = Scores(average, tasks, groups, over=over)
    return replace(entry, tasks=tasks, groups=groups, average=scores.average, stderr=scores.stderr)


def _task(task: TaskScore, declared: Task, rests: Mapping[tuple[str, str], Rest]) -> TaskScore:
    found = [(leaf, rests.get((leaf.id, leaf.metric))) for leaf in task.leaves]
    if task.score is None or not any(rest is not None and rest.excluded for _, rest in found):
        return task
    unit = 100.0 if declared.unit == "percent" else 1.0
    leaves = tuple(leaf if rest is None or not rest.excluded else _leaf(leaf, rest, unit) for leaf, rest in found)
    weights = _weights(declared, leaves)
    raw = fsum(weight * leaf.raw for weight, leaf in zip(weights, leaves, strict=True))
    scales = [100.0 / _span(leaf)[1] for leaf in leaves]
    if declared.normalize == "leaf":
        score = fsum(weight * (leaf.score or 0.0) for weight, leaf in zip(weights, leaves, strict=True))
    else:
        score = normalize(raw, *_span(leaves[0]))
    errors = [leaf.stderr for leaf in leaves]
    error = task.stderr
    if not task.nested and all(one is not None for one in errors):
        parts = zip(weights, scales, errors, strict=True)
        error = sqrt(fsum((weight * scale * (one or 0.0)) ** 2 for weight, scale, one in parts))
    return replace(task, raw=raw, score=score, stderr=error, leaves=leaves)


def _leaf(leaf: LeafScore, rest: Rest, unit: float) -> LeafScore:
    raw, error = rest.mean * unit, None if rest.stderr is None else rest.stderr * unit
    return replace(leaf, raw=raw, stderr=error, samples=rest.samples, score=normalize(raw, *_span(leaf)))


def _span(leaf: LeafScore) -> tuple[float, float]:
    """The lower bound of a leaf, and how far above it the upper bound lies."""
    lower, upper = Fraction(leaf.lower_bound), Fraction(leaf.upper_bound)
    return float(lower), float(upper - lower)


def _weights(declared: Task, leaves: Sequence[LeafScore]) -> list[float]:
    """The share of each value in the task: equal ones, or by the questions that are left."""
    sizes = [float(leaf.samples or 0) for leaf in leaves]
    if declared.aggregation != "size-weighted" or not all(sizes):
        return [1.0 / len(leaves)] * len(leaves)
    return [size / fsum(sizes) for size in sizes]


def read_ids(text: str) -> frozenset[str]:
    """The excluded ids of a file: a JSON list, or one a line; a line may end in a comment after #."""
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            listed = json.loads(stripped)
        except (ValueError, RecursionError):
            listed = []
        return frozenset(str(one) for one in listed if isinstance(one, str | int))
    lines = (line.partition("#")[0].strip() for line in stripped.splitlines())
    return frozenset(line for line in lines if line)


def matches(ids: Collection[str], names: Sequence[object]) -> bool:
    """Tell whether a question with these names (id, hash, a field) is excluded."""
    return any(str(name) in ids for name in names if isinstance(name, str | int) and name != "")
