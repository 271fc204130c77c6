"""Rows of two models that are alike: nearly all their values, or nearly all answers of a sample log, are equal.

Two models of one family answer about one question in ten otherwise, so that the value of a task of n questions is equal
by chance about once in sqrt(2 pi n / 10) pairs. In the published table of the Open LLM Leaderboard v2, where 1,500 rows
have six values each, this finds uploads of the same weights and no others; rows of models that guess are equal, too, so
that only values well above guessing count.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import blake2b, sha256
from itertools import pairwise
from math import comb, log10, pi, sqrt
from struct import pack
from typing import NamedTuple

import msgspec

from bot.evaluation.finding import examples
from bot.evaluation.score import TaskScore

DISCORDANT = 0.1  # share of the questions that two models of one family answer otherwise
FEW_QUESTIONS = 100  # of a task whose number nobody recorded
LEAST_SCORE = 10.0  # points that a value must be above guessing
MOST_OTHERS = 1 / 3  # of the values that count, and are others
TELLING = 5.0  # decimal logarithm of the odds that so many values are equal by chance
MARKED, SHARED = 16, 14  # answers of a log that its mark tells, and those that two logs of one run share at least
DIGITS = 8  # of one answer in a mark
SHORTEST = 40  # characters of an answer that no other model gives by chance
LONGEST_NUMBER = 6  # characters of a log-likelihood that no other model gives by chance
MOST_SHARING = 50  # rows with one mark that are compared


class Alike(msgspec.Struct, frozen=True):
    """The other model, and what a row has in common with it."""

    model: str
    what: str


class _Value(NamedTuple):
    raw: float
    telling: float


class Fingerprint(msgspec.Struct, frozen=True, dict=True):
    """What of a row is compared: the values that count by task, and the marks of its logs by leaf, see `AnswerMark`.

    `raws` is a digest of the raw values of all tasks, "" where one is missing or all are zero: many runs of many models
    score nothing at all. `named` is the model that the row says it is like.
    """

    model: str
    values: Mapping[str, _Value]
    answers: Mapping[str, str]
    raws: str = ""
    named: str = ""

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """What alike rows share one of: all values, two that follow each other, the first answer of a log."""
        values = [f"{task} {one.raw.hex()}" for task, one in self.values.items()]
        pairs = pairwise([*values, values[0]] if len(values) > 2 else values)
        shared = [f"{first} {second}" for first, second in pairs]
        shared += [f"{leaf} {mark[:DIGITS]}" for leaf, mark in self.answers.items()]
        return (*([self.raws] if self.raws else []), *[_digest(one, 16) for one in shared])


def fingerprint(model: str, tasks: Sequence[TaskScore], answers: Mapping[str, str], named: str = "") -> Fingerprint:
    """The fingerprint of a row."""
    raws = [task.raw for task in tasks]
    values = {
        task.id: _Value(task.raw + 0.0, _telling(task))
        for task in tasks
        if task.raw is not None and (task.score or 0.0) >= LEAST_SCORE
    }
    whole = digest_of_raws(raw for raw in raws if raw is not None) if any(raws) and None not in raws else ""
    return Fingerprint(model, values, {leaf: one for leaf, one in answers.items() if one}, whole, named)


def digest_of_raws(raws: Iterable[float]) -> str:
    """A digest that equal values share, to the last bit; 0.0 and -0.0 are equal."""
    return sha256(b"".join(pack("<d", raw + 0.0) for raw in raws)).hexdigest()[:32]


def _telling(task: TaskScore) -> float:
    """How much it tells that another row has the value: the logarithm of the odds against it.

    It is one step of the value (that of one question, or of its last digit) in the spread of two models of one family.
    """
    questions = sum([leaf.samples or FEW_QUESTIONS for leaf in task.leaves]) or FEW_QUESTIONS
    digits = len(repr(task.raw).partition(".")[2])
    return _odds(questions, digits, frozenset([leaf.upper_bound for leaf in task.leaves]))


@lru_cache(maxsize=1_000)
def _odds(questions: int, digits: int, upper_bounds: frozenset[str]) -> float:
    top = max([float(Fraction(bound)) for bound in upper_bounds], default=1.0)
    step = max(1 / questions, 10**-digits / (top or 1.0))
    return max(0.0, -log10(step / sqrt(2 * pi * DISCORDANT / questions)))


def likeness(row: Fingerprint, other: Fingerprint) -> str:
    """What two rows have in common that they can hardly have by chance; "" where there is nothing."""
    logs = [leaf for leaf, mark in row.answers.items() if _shared(mark, other.answers.get(leaf, "")) >= SHARED]
    if logs:
        return f"nearly all answers of {examples(logs)}"
    tasks = row.values.keys() | other.values.keys()
    equal = [task for task in row.values if task in other.values and row.values[task].raw == other.values[task].raw]
    others = len(tasks) - len(equal)
    told = sum(row.values[task].telling for task in equal) - log10(comb(len(tasks), others))
    return f"{len(equal)} of {len(tasks)} values" if others <= len(tasks) * MOST_OTHERS and told >= TELLING else ""


def _shared(mark: str, other: str) -> int:
    """How many answers two marks share; of marks that tell fewer answers than a log is known by, none."""
    first, second = (
        {one[at : at + DIGITS] for at in range(0, len(one), DIGITS)} if len(one) == MARKED * DIGITS else set()
        for one in (mark, other)
    )
    return len(first & second & set(heapq.nsmallest(MARKED, first | second)))


def nearest_of(row: Fingerprint, others: Iterable[Fingerprint]) -> Alike | None:
    """The first row of another model that is like a row, unless it says itself that it is like this one."""
    for other in others:
        if row.model not in {other.model, other.named} and (what := likeness(row, other)):
            return Alike(other.model, what)
    return None


class Peer(NamedTuple):
    """A row that others are compared with: when its last file came and when it was measured, both in Unix seconds.

    `is_there` tells that it is a row on the board; these stand in the order of their keys.
    """

    came: float
    measured: float
    key: str
    row: Fingerprint
    is_there: bool = False


@dataclass
class LikeRows:
    """Rows by their marks."""

    _by_mark: dict[str, list[tuple[int, Peer]]] = field(default_factory=lambda: defaultdict(list))
    _count: int = 0

    def add(self, peer: Peer) -> None:
        """Add a row."""
        self._count += 1
        for mark in peer.row.marks:
            if len(found := self._by_mark[mark]) < MOST_SHARING:
                found.append((self._count, peer))

    def with_one_of(self, marks: Iterable[str]) -> list[Peer]:
        """The rows with one of these marks, in the order in which they were added."""
        found = dict(one for mark in marks for one in self._by_mark.get(mark, ()))
        return [found[number] for number in sorted(found)]


def originals(rows: Iterable[Peer], others: Iterable[Peer]) -> Iterator[tuple[str, str, Alike | None]]:
    """The key of each row with the first other model that has exactly its values, "" for none, and the first like it.

    First stand rows on the board that are no candidates, then the candidates that came before, then the candidates
    that are on the board already: so of two the later one names the other, whichever was published first. What is on
    the board came before every candidate.
    """
    known = list(others)
    coming, there = ({one.key for one in known if one.is_there == is_there} for is_there in (False, True))
    by_mark = LikeRows()
    for one in sorted(known, key=lambda one: (one.is_there - 2 * (one.is_there and one.key not in coming), *one[:3])):
        by_mark.add(one)
    for row in rows:
        found = [
            one.row
            for one in by_mark.with_one_of(row.row.marks)
            if one.key != row.key and (one.is_there or (row.key not in there and one[:3] < row[:3]))
        ]
        model = row.row.model
        equal = (one.model for one in found if one.raws == row.row.raws and model not in {one.model, one.named})
        yield row.key, next(equal, "") if row.row.raws else "", nearest_of(row.row, found)


class AnswerMark(msgspec.Struct, gc=False):
    """The mark of a log: the least digests of its answers, each with its question.

    Logs of nearly the same answers have nearly the same mark, in any order. What other models may answer to the letter
    does not count: a short text, and round numbers.
    """

    _least: list[int] = []  # as negative numbers, the largest digest first
    _known: set[int] = set()

    def add(self, question: str, response: str | None, logprobs: Sequence[float]) -> None:
        """Add an answer: a text, or log-likelihoods."""
        said = " ".join(map(repr, logprobs)) if logprobs else response or ""
        longest = max((len(one) for one in said.split()), default=0) if logprobs else len(said)
        if longest < (LONGEST_NUMBER if logprobs else SHORTEST):
            return
        value = -int(_digest(f"{question}\0{said}", DIGITS), 16)
        if value in self._known or (len(self._least) == MARKED and value < self._least[0]):
            return
        self._known.add(value)
        if len(self._least) < MARKED:
            heapq.heappush(self._least, value)
        else:
            self._known.discard(heapq.heapreplace(self._least, value))

    @property
    def text(self) -> str:
        """The mark, "" where too few answers count."""
        least = sorted(-value for value in self._least)
        return "".join(f"{value:0{DIGITS}x}" for value in least) if len(least) == MARKED else ""


def _digest(text: str, digits: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=digits // 2).hexdigest()
