"""Assessed samples in, one by one; counts out that take the same room for ten samples and ten million."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from bot.audit.drop.assessment import Assessment, is_better
from bot.audit.drop.detectors import Flaw, gold_kind
from bot.audit.drop.samples import Sample
from bot.audit.drop.scorer import Golds, Score

STOPS = 8


@dataclass(slots=True)
class Repair:
    """What one way of cutting does: sums over all samples (f1 in hundredths), and how many change."""

    em: int = 0
    f1: int = 0
    better: int = 0
    worse: int = 0

    def add(self, repaired: Score, score: Score) -> None:
        """Count one sample."""
        self.em += int(repaired.em)
        self.f1 += hundredths(repaired)
        self.better += is_better(repaired, score)
        self.worse += is_better(score, repaired)


@dataclass(slots=True)
class Moments:
    """Sums of length (characters) and f1 (hundredths): whole numbers, so that a correlation is exact."""

    x: int = 0
    y: int = 0
    xx: int = 0
    yy: int = 0
    xy: int = 0

    def add(self, x: int, y: int) -> None:
        """Count one sample."""
        self.x += x
        self.y += y
        self.xx += x * x
        self.yy += y * y
        self.xy += x * y


@dataclass(slots=True)
class Rerun:
    """The groups of the rerun estimate, each without the ones before it (docs/audit-drop.md).

    `cut` A, `number` B (of these `number_open`: no line break ends the answer), `glued` C. `cut_open` are
    those of A whose answer no line break ends; `settled` are samples whose answer a line break ends and
    which are not A.
    """

    cut: int = 0
    cut_open: int = 0
    number: int = 0
    number_open: int = 0
    glued: int = 0
    glued_open: int = 0
    settled: int = 0

    def add(self, sample: Assessment) -> None:
        """Count one sample into the first group that it belongs to."""
        is_open = not sample.answer_line_ends
        if Flaw.DECIMAL_CUT in sample.flaws:
            self.cut += 1
            self.cut_open += is_open
            return
        self.settled += sample.answer_line_ends
        if Flaw.ENDS_WITH_NUMBER in sample.flaws:
            self.number += 1
            self.number_open += is_open
        elif sample.glued_matters:
            self.glued += 1
            self.glued_open += is_open


@dataclass(slots=True)
class Tally:
    """Everything that is counted; two tallies add up to that of both logs together."""

    samples: int = 0
    em: int = 0
    distorted: int = 0
    starts_with_break: int = 0
    literal_cut_is_worse: int = 0
    glued_matters: int = 0
    words: int = 0
    gold_words: int = 0
    logged: int = 0
    differing: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    until: Counter[str] = field(default_factory=Counter)
    flaws: Counter[Flaw] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    kinds_right: Counter[str] = field(default_factory=Counter)
    f1: Counter[int] = field(default_factory=Counter)
    repaired_f1: Counter[int] = field(default_factory=Counter)
    length: Counter[int] = field(default_factory=Counter)
    length_f1: Counter[int] = field(default_factory=Counter)
    first_line: Repair = field(default_factory=Repair)
    first_text_line: Repair = field(default_factory=Repair)
    rerun: Rerun = field(default_factory=Rerun)
    moments: Moments = field(default_factory=Moments)

    def add(self, sample: Sample, golds: Golds, judged: Assessment) -> None:
        """Count one sample."""
        score = judged.score
        self.samples += 1
        self.em += int(score.em)
        self.distorted += judged.is_distorted
        self.starts_with_break += judged.starts_with_break
        self.literal_cut_is_worse += judged.literal_cut_is_worse
        self.glued_matters += judged.glued_matters
        self.logged += sample.em is not None or sample.f1 is not None
        self.differing += judged.differs_from_log
        self.forms[sample.form] += 1
        self._add_until(sample.until)
        for flaw in judged.flaws:
            self.flaws[flaw] += 1
        self._add_kind(gold_kind(golds), score)
        self._add_length(sample.prediction, golds, hundredths(score))
        self.first_line.add(judged.first_line, score)
        self.first_text_line.add(judged.first_text_line, score)
        self.repaired_f1[hundredths(judged.first_text_line)] += 1
        self.rerun.add(judged)

    def _add_until(self, until: str) -> None:
        # Whoever writes a log could name other stop words in each sample.
        self.until[until if until in self.until or len(self.until) < STOPS else "others"] += 1

    def _add_kind(self, kind: str, score: Score) -> None:
        self.kinds[kind] += 1
        if score.em:
            self.kinds_right[kind] += 1

    def _add_length(self, prediction: str, golds: Golds, f1: int) -> None:
        words = len(prediction.split())
        self.words += words
        self.gold_words += sum(len(span.split()) for span in golds[0])
        self.f1[f1] += 1
        self.length[words.bit_length()] += 1
        self.length_f1[words.bit_length()] += f1
        self.moments.add(len(prediction), f1)

    def __add__(self, other: Tally) -> Tally:
        total: Tally = _added(self, other)
        return total


def _added(one: Any, other: Any) -> Any:
    pairs = ((getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    return type(one)(*(_added(a, b) if is_dataclass(a) else a + b for a, b in pairs))


def hundredths(score: Score) -> int:
    """Return f1 as a whole number of hundredths: sums of whole numbers are exact."""
    return round(score.f1 * 100)
