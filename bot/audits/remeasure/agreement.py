"""Whether another run agrees with a row: the exact sign test of the answers that differ, and what it could have found.

The noise of an honest run flips answers both ways; who forges makes wrong answers right. So of the answers that differ,
those that only the row has right are counted against an even chance, one-sided (a binomial test). Without logs, the
right answers of the new run are held against those of the row by the hypergeometric distribution. Answers that differ
more often than any noise makes them, whichever way, are of another model or of other settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, fsum, lgamma, log, log1p
from typing import Literal, NamedTuple

from bot.audits.remeasure.plan import DrawnQuestion, PlannedTask
from bot.evaluation.statistics import holm

ALPHA = 0.01  # of one honest submission in a hundred a task is called wrong
POWER = 0.9
NOISE = 0.05  # share of the answers that differ between two honest runs, half of them each way
MOST_NOISE, BEYOND = 0.2, 1e-4  # share of answers that no honest run has otherwise, and the level of that test
ENOUGH = 0.25  # a test that misses a larger forgery than this share of a task's questions says too little
NEGLIGIBLE = 1e-9  # of a probability
CLOSE = 1e-9  # of two scores of one answer
Outcome = Literal["agrees", "does not agree", "too few to say"]


class Agreement(NamedTuple):
    """One task run again: how many questions, both means, answers that only the row or only the new run has better.

    `smallest` is the share of forged answers that this test finds with 90 %, None where it finds none.
    """

    leaf: str
    questions: int
    row: float
    again: float
    only_row: int
    only_again: int
    p: float
    p_adjusted: float
    smallest: float | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Agreements:
    """All tasks of a plan, and what they say together."""

    tasks: tuple[Agreement, ...]
    together: Agreement
    missing: tuple[str, ...] = ()  # what is wrong with the logs

    @property
    def outcome(self) -> Outcome:
        """What the new run says of the row."""
        if any(one.outcome == "does not agree" for one in (*self.tasks, self.together)):
            return "does not agree"
        return self.together.outcome if not self.missing else "too few to say"


def judge_runs(tasks: Sequence[PlannedTask], again: Mapping[str, Mapping[str | int, DrawnQuestion]]) -> Agreements:
    """Hold the answers of a new run against a plan; `again` has them by leaf and by the id of the question."""
    missing: list[str] = []
    counts: list[tuple[PlannedTask, _Counts]] = []
    for task in tasks:
        found = again.get(task.leaf, {})
        lacking = [one for one in task.questions if one.id not in found]
        other = [
            one for one in task.questions
            if one.document and one.id in found and found[one.id].document not in {"", one.document}
        ]  # fmt: skip
        if lacking:
            missing.append(f"{task.leaf}: {len(lacking)} of {len(task.questions)} questions are in no log")
        if other:
            missing.append(f"{task.leaf}: question {other[0].id} is another one in the new log")
        out = {one.id for one in (*lacking, *other)}
        counts.append((task, _count(task, [one for one in task.questions if one.id not in out], found)))
    p_values = {task.leaf: one.p for task, one in counts if one.n}
    adjusted = holm(p_values)
    judged = tuple(_judged(task.leaf, one, adjusted.get(task.leaf, 1.0)) for task, one in counts)
    together = _together([one for _, one in counts if one.is_paired])
    if together is None:
        together = max(judged, key=lambda one: one.questions, default=_judged("all tasks", NONE, 1.0))
    return Agreements(judged, together, tuple(missing))


class _Counts(NamedTuple):
    n: int
    row: float
    again: float
    only_row: int
    only_again: int
    p: float
    is_paired: bool


NONE = _Counts(0, 0.0, 0.0, 0, 0, 1.0, is_paired=False)


def _together(counts: Sequence[_Counts]) -> Agreement | None:
    """What the answers to the questions of all tasks say as one; None without a pair."""
    n = sum(one.n for one in counts)
    if not n:
        return None
    more, less = sum(one.only_row for one in counts), sum(one.only_again for one in counts)
    row, again = (fsum(getattr(one, name) * one.n for one in counts) / n for name in ("row", "again"))
    found = _Counts(n, row, again, more, less, sign_test(more, less), is_paired=True)
    return _judged("all tasks", found, found.p)


def _count(task: PlannedTask, questions: Sequence[DrawnQuestion], again: Mapping[str | int, DrawnQuestion]) -> _Counts:
    scores = [(one.score, again[one.id].score or 0.0) for one in questions]
    n = len(scores)
    new = fsum(score for _, score in scores) / n if n else 0.0
    if n and all(score is not None for score, _ in scores):
        pairs = [(score or 0.0, other) for score, other in scores]
        more, less = sum(a > b + CLOSE for a, b in pairs), sum(b > a + CLOSE for a, b in pairs)
        row = fsum(score for score, _ in pairs) / n
        return _Counts(n, row, new, more, less, sign_test(more, less), is_paired=True)
    share = task.value / 100 if task.value > 1 else task.value
    right = round(share * task.size)
    p = hypergeometric_tail(round(new * n), n, right, task.size) if n else 1.0
    return _Counts(n, share, new, 0, 0, p, is_paired=False)


def _judged(leaf: str, one: _Counts, adjusted: float) -> Agreement:
    size = smallest_forgery(one.n) if one.n else None
    outcome: Outcome = "agrees"
    if adjusted < ALPHA or _tail(one.only_row + one.only_again, one.n, MOST_NOISE) < BEYOND:
        outcome = "does not agree"
    elif size is None or size > ENOUGH:
        outcome = "too few to say"
    return Agreement(leaf, one.n, one.row, one.again, one.only_row, one.only_again, one.p, adjusted, size, outcome)


def _tail(k: int, n: int, p: float) -> float:
    """The probability of at least k of n."""
    return fsum(_binomial(one, n, p) for one in range(k, n + 1)) if k else 1.0


def sign_test(more: int, less: int) -> float:
    """The probability of at least so many of `more + less` even chances (one-sided binomial test)."""
    return min(1.0, _tail(more, more + less, 0.5))


def hypergeometric_tail(right: int, drawn: int, right_of_all: int, size: int) -> float:
    """The probability of at most so many right answers among those drawn from all (hypergeometric distribution)."""
    if not 0 <= right_of_all <= size or drawn > size:
        return 1.0
    total = _choose(size, drawn)
    least = max(0, drawn - (size - right_of_all))
    terms = (
        exp(_choose(right_of_all, k) + _choose(size - right_of_all, drawn - k) - total)
        for k in range(least, min(right, right_of_all) + 1)
    )
    return min(1.0, fsum(terms))


def _choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _binomial(k: int, n: int, p: float) -> float:
    if p in {0.0, 1.0}:
        return float(k == (n if p else 0))
    return exp(_choose(n, k) + k * log(p) + (n - k) * log1p(-p))


def power(n: int, forged: float, noise: float = NOISE) -> float:
    """The probability that the test finds so large a share of forged answers among n questions.

    The answers that only the row has right are a share of forged + noise / 2 of all, those of the new run noise / 2.
    """
    below = noise / 2
    found = 0.0
    for less in range(n + 1):
        chance = _binomial(less, n, below)
        if chance < NEGLIGIBLE:
            if less > n * below:
                break
            continue
        rest, share = n - less, min(1.0, (forged + below) / (1 - below))
        least = _least_found(less, rest)
        found += chance * fsum(_binomial(more, rest, share) for more in range(least, rest + 1))
    return found


@lru_cache(maxsize=100_000)
def _least_found(less: int, most: int) -> int:
    """The least number of answers against the row that the test calls wrong, beside so many for it."""
    low, high = less, most + 1
    while low < high:
        middle = (low + high) // 2
        if sign_test(middle, less) < ALPHA:
            high = middle
        else:
            low = middle + 1
    return low


@lru_cache(maxsize=1_000)
def smallest_forgery(n: int) -> float | None:
    """The smallest share of forged answers that n questions find with 90 %, to a tenth of a point; None for none."""
    if power(n, 1.0) < POWER:
        return None
    low, high = 0, 1_000
    while low < high:
        middle = (low + high) // 2
        if power(n, middle / 1_000) >= POWER:
            high = middle
        else:
            low = middle + 1
    return low / 1_000
