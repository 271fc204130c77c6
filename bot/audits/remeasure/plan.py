"""Draw the questions that are run again: at random, by a seed that the submitter could not choose.

The place of a question in the draw is the SHA-256 of seed, leaf and question. The seed is that of a text which was made
or published after the submission (a nonce, the value of a public beacon) and of the submission's commit or SHA-256: a
commit alone can be tried out until the draw suits.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from bot.audits.samples.check import is_extra, is_first_of, metric_in_log
from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import identifier
from bot.errors import CallError
from bot.evaluation.formats import find_format
from bot.evaluation.formats.format import Rerun
from bot.evaluation.result import Result

PLAN_SCHEMA: Literal["leaderboard-bot/remeasure-plan/1"] = "leaderboard-bot/remeasure-plan/1"
MOST_QUESTIONS = 10_000  # of one task

QuestionId = int | str


class DrawnQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that is run again: its id in the harness, the hash of its document, and its score in the row's log.

    Without a log only its id is known.
    """

    id: QuestionId
    document: str = ""
    score: float | None = None


class PlannedTask(msgspec.Struct, frozen=True):
    """The questions of one leaf: `key` is the number of the result, `value` what the row says it is.

    `size` is how many questions there are.
    """

    leaf: str
    key: str
    value: float
    size: int
    questions: tuple[DrawnQuestion, ...]


class RemeasurePlan(msgspec.Struct, frozen=True):
    """What is run again of one row or file. `seed` is the text that was drawn or given, `commit` of the submission.

    `row` is the key of the row, "" for a file; `digest` that of the row. `command` runs the questions.
    """

    schema: Literal["leaderboard-bot/remeasure-plan/1"]
    model: str
    revision: str
    format: str
    row: str
    digest: str
    sha256: tuple[str, ...]
    commit: str
    seed: str
    made: str
    tasks: tuple[PlannedTask, ...]
    command: str

    def to_bytes(self) -> bytes:
        """Canonical bytes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def read_plan(data: bytes, name: str) -> RemeasurePlan:
    """Read a plan back. Raises CallError for other bytes."""
    try:
        return msgspec.json.decode(data, type=RemeasurePlan)
    except (msgspec.DecodeError, RecursionError) as error:
        raise CallError(f"{name} is no plan of remeasure: {str(error)[:200]}") from None


@dataclass
class Draw:
    """The questions of one leaf in the order of the draw; only as many are kept as are wanted."""

    seed: str
    leaf: str
    wanted: int
    size: int = 0
    _kept: list[tuple[int, int, DrawnQuestion]] = field(default_factory=list)

    def add(self, question: DrawnQuestion) -> None:
        """Add a question."""
        self.size += 1
        place = int(hashlib.sha256(f"{self.seed}\n{self.leaf}\n{question.id}".encode(errors="replace")).hexdigest(), 16)
        item = (-place, self.size, question)
        if len(self._kept) < self.wanted:
            heapq.heappush(self._kept, item)
        elif item > self._kept[0]:
            heapq.heapreplace(self._kept, item)

    @property
    def drawn(self) -> tuple[DrawnQuestion, ...]:
        """The questions that were drawn, in the order of the draw."""
        return tuple(question for *_, question in sorted(self._kept, key=lambda item: -item[0]))


def seed_of(text: str, commit: str) -> str:
    """The seed of a draw."""
    return hashlib.sha256(f"{text}\n{commit}".encode(errors="replace")).hexdigest()


def draw(seed: str, leaf: str, questions: Iterable[DrawnQuestion], wanted: int) -> Draw:
    """Draw so many of the questions of a leaf."""
    found = Draw(seed, leaf, min(wanted, MOST_QUESTIONS))
    for one in questions:
        found.add(one)
    return found


def questions_in(log: Path, format_id: str, leaf: str, key: str) -> Iterator[DrawnQuestion]:
    """The questions of a log with their scores in a number of the result; of several epochs the first."""
    name, _, answer_filter = key.partition(",")
    name = metric_in_log(format_id, leaf, name if answer_filter else key)
    for sample in read_log(log):
        if isinstance(sample, SkippedRecord) or is_extra(sample) or not is_first_of(sample, answer_filter):
            continue
        if (number := identifier(sample.doc_id)) is not None and name in sample.metrics:
            yield DrawnQuestion(number, sample.doc_hash, sample.metrics[name])


def command_for(result: Result, tasks: Iterable[PlannedTask], file: str = "questions.json") -> tuple[str, str]:
    """The command that runs the questions at the row's revision and settings, "" where none can be given.

    Also the content of the file that it names, "" where it names none.
    """
    known, found = find_format(result.format), list(tasks)
    shots = {result.leaves[one.leaf].num_fewshot for one in found if one.leaf in result.leaves}
    num_fewshot = shots.pop() if len(shots) == 1 else None
    wanted = Rerun(result.model, tuple(one.leaf for one in found), num_fewshot, result.settings)
    command = known.rerun(wanted) if known and known.rerun else ""
    if not command or known is None or known.only_questions is None:
        return "", ""
    options, listed = known.only_questions({one.leaf: [q.id for q in one.questions] for one in found}, file)
    return (f"{command} {options}", listed) if options else ("", "")
