"""Audit one part of a log: the share of one process."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.audits.drop.assessment import Assessor, SampleOutcome
from bot.audits.drop.counters import Counters, Lengths
from bot.audits.drop.examples import Examples
from bot.audits.drop.golds import GoldIndex, join_golds
from bot.audits.drop.sample_reader import SampleReader
from bot.audits.log_parts import LogPart, PartReader
from bot.audits.records import Record, Skipped, SkippedRecord
from bot.errors import MalformedSamples

# Outcomes differ in a few thousand ways; a log made to differ in each sample is counted in steps.
MAX_OUTCOMES = 1 << 14


@dataclass(slots=True)
class PartAudit:
    """What is found in one part of a log; line 1 is the first line of the part, `lines` the number of all."""

    counters: Counters
    examples: Examples
    skipped: Skipped = field(default_factory=Skipped)
    lines: int = 0


class PartAuditor:
    """Audits parts, one after the other; `golds` answers samples that come without, `examples` is how many to keep."""

    def __init__(self, golds: GoldIndex | None, examples: int) -> None:
        self._golds, self._examples = golds, examples
        self._assessor, self._read = Assessor(), SampleReader()

    def __call__(self, part: LogPart) -> PartAudit:
        """Audit one part. Raises CallError if the log cannot be opened."""
        found = PartAudit(Counters(), Examples(str(part.path), self._examples))
        outcomes: dict[SampleOutcome, Lengths] = {}
        records = PartReader(part)
        for record in records:
            if isinstance(record, SkippedRecord):
                found.skipped.add(record)
                continue
            try:
                self._count(record, found.examples, outcomes)
            except MalformedSamples as error:
                found.skipped.add(SkippedRecord(record.line, str(error)))
            if len(outcomes) > MAX_OUTCOMES:
                _flush(outcomes, found.counters)
        _flush(outcomes, found.counters)
        found.lines = records.lines
        return found

    def _count(self, record: Record, examples: Examples, outcomes: dict[SampleOutcome, Lengths]) -> None:
        sample = self._read(record.data)
        golds = sample.golds if sample.golds is not None else join_golds(sample, self._golds)
        answers = self._assessor.answers(golds)
        outcome, words = self._assessor.assess(sample, answers)
        lengths = outcomes.get(outcome)
        if lengths is None:
            outcomes[outcome] = lengths = Lengths()
        # More examples of one outcome would never be shown.
        if lengths.samples < self._examples and outcome.is_example:
            examples.add(record.line, sample, golds, outcome)
        lengths.add(len(sample.prediction), words, answers.length)


def _flush(outcomes: dict[SampleOutcome, Lengths], counters: Counters) -> None:
    for outcome, lengths in outcomes.items():
        counters.add(outcome, lengths)
    outcomes.clear()
