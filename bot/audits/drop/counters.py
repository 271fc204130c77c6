"""Count the outcomes of samples: the counts take the same room for ten samples and ten million."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from bot.audits.drop.assessment import SampleOutcome
from bot.audits.drop.detectors import Flaw
from bot.audits.drop.scorer import DropScore

MAX_STOPS = 8
OTHER_STOPS = "others"


@dataclass(slots=True)
class RepairCounters:
    """What one repair does: sums over all samples (f1 in hundredths), and how many samples change."""

    em: int = 0
    f1: int = 0
    better: int = 0
    worse: int = 0

    def add(self, repaired: DropScore, score: DropScore, times: int) -> None:
        """Count equal samples."""
        self.em += int(repaired.em) * times
        self.f1 += repaired.hundredths * times
        self.better += (repaired > score) * times
        self.worse += (score > repaired) * times


@dataclass(slots=True)
class RerunCounters:
    """The groups of the rerun estimate, each without the ones before it (docs/audit-drop.md).

    `cut` is A, `number` B (of these `number_open`: no line break ends the answer), `glued` C. `cut_open` are those of A
    whose answer no line break ends; `settled` are samples whose answer a line break ends and which are not in A.
    """

    cut: int = 0
    cut_open: int = 0
    number: int = 0
    number_open: int = 0
    glued: int = 0
    glued_open: int = 0
    settled: int = 0

    def add(self, outcome: SampleOutcome, times: int) -> None:
        """Count equal samples in the first group that they belong to."""
        times_open = 0 if outcome.answer_line_ends else times
        if Flaw.DECIMAL_CUT in outcome.flaws:
            self.cut += times
            self.cut_open += times_open
            return
        self.settled += times - times_open
        if Flaw.ENDS_WITH_NUMBER in outcome.flaws:
            self.number += times
            self.number_open += times_open
        elif outcome.glued_matters:
            self.glued += times
            self.glued_open += times_open


@dataclass(slots=True)
class Lengths:
    """Sums over samples of one outcome; whole numbers, so that a correlation is exact."""

    samples: int = 0
    characters: int = 0
    squares: int = 0
    words: int = 0
    gold_words: int = 0

    def add(self, characters: int, words: int, gold_words: int) -> None:
        """Count one sample."""
        self.samples += 1
        self.characters += characters
        self.squares += characters * characters
        self.words += words
        self.gold_words += gold_words


@dataclass(slots=True)
class LengthCounters:
    """Lengths of generations and what they have to do with f1 (in hundredths).

    `x` is the number of characters and `y` f1: the sums that their correlation needs. `samples` and `f1` count samples
    and f1 by the bit length of the number of words.
    """

    words: int = 0
    gold_words: int = 0
    x: int = 0
    y: int = 0
    xx: int = 0
    yy: int = 0
    xy: int = 0
    samples: Counter[int] = field(default_factory=Counter)
    f1: Counter[int] = field(default_factory=Counter)

    def add(self, bits: int, f1: int, lengths: Lengths) -> None:
        """Count the samples of one outcome."""
        self.words += lengths.words
        self.gold_words += lengths.gold_words
        self.x += lengths.characters
        self.xx += lengths.squares
        self.y += f1 * lengths.samples
        self.yy += f1 * f1 * lengths.samples
        self.xy += f1 * lengths.characters
        self.samples[bits] += lengths.samples
        self.f1[bits] += f1 * lengths.samples


@dataclass(slots=True)
class Counters:
    """Everything that is counted; the counters of two logs add up to those of both together."""

    samples: int = 0
    em: int = 0
    distorted: int = 0
    starts_with_break: int = 0
    literal_cut_is_worse: int = 0
    glued_matters: int = 0
    logged: int = 0
    differing: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    until: Counter[str] = field(default_factory=Counter)
    flaws: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    kinds_right: Counter[str] = field(default_factory=Counter)
    f1: Counter[int] = field(default_factory=Counter)
    repaired_f1: Counter[int] = field(default_factory=Counter)
    first_line: RepairCounters = field(default_factory=RepairCounters)
    first_text_line: RepairCounters = field(default_factory=RepairCounters)
    rerun: RerunCounters = field(default_factory=RerunCounters)
    length: LengthCounters = field(default_factory=LengthCounters)

    def add(self, outcome: SampleOutcome, lengths: Lengths) -> None:
        """Count the samples of one outcome."""
        score, times = outcome.score, lengths.samples
        self.samples += times
        self.em += int(score.em) * times
        self.distorted += outcome.is_distorted * times
        self.starts_with_break += outcome.starts_with_break * times
        self.literal_cut_is_worse += outcome.literal_cut_is_worse * times
        self.glued_matters += outcome.glued_matters * times
        self.logged += outcome.is_logged * times
        self.differing += outcome.differs_from_log * times
        self.forms[outcome.form] += times
        known = outcome.until in self.until or len(self.until) < MAX_STOPS
        self.until[outcome.until if known else OTHER_STOPS] += times
        for flaw in outcome.flaws:
            self.flaws[flaw] += times
        self.kinds[outcome.kind] += times
        self.kinds_right[outcome.kind] += int(score.em) * times
        self.f1[score.hundredths] += times
        self.repaired_f1[outcome.first_text_line.hundredths] += times
        self.first_line.add(outcome.first_line, score, times)
        self.first_text_line.add(outcome.first_text_line, score, times)
        self.rerun.add(outcome, times)
        self.length.add(outcome.length, score.hundredths, lengths)

    def __add__(self, other: Counters) -> Counters:
        total: Counters = _added(self, other)
        total.until = _capped(total.until)
        return total


def _capped(until: Counter[str]) -> Counter[str]:
    """Keep the first few lists of stop words: whoever writes a log could name others in each sample."""
    kept = dict(list(until.items())[:MAX_STOPS])
    others = until.total() - sum(kept.values())
    return Counter(kept | ({OTHER_STOPS: others + kept.get(OTHER_STOPS, 0)} if others else {}))


def _added(one: Any, other: Any) -> Any:
    pairs = ((getattr(one, part.name), getattr(other, part.name)) for part in fields(one))
    return type(one)(*(_added(a, b) if is_dataclass(a) else a + b for a, b in pairs))
