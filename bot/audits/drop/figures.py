"""Count the outcomes of samples, and compute the figures of the report from the counts.

The counts take the same room for ten samples and ten million.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import accumulate
from math import sqrt
from typing import Any

from bot.audits.drop.assessment import Flaw, SampleOutcome
from bot.audits.drop.scorer import DropScore

MAX_STOPS = 8
OTHER_STOPS = "others"


@dataclass(slots=True)
class RepairCounters:
    """The effect of one repair: sums over all samples (f1 in hundredths), and how many samples change."""

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


# The groups of the rerun estimate, each without the ones before it (docs/audit-drop.md): A, B and C.
CUT, NUMBER, GLUED = "cut", "number", "glued"
RERUN = (CUT, NUMBER, GLUED)


def rerun_group(outcome: SampleOutcome) -> str:
    """Return the first group of the rerun estimate that a sample belongs to, "" for none."""
    if Flaw.DECIMAL_CUT in outcome.flaws:
        return CUT
    if Flaw.ENDS_WITH_NUMBER in outcome.flaws:
        return NUMBER
    return GLUED if outcome.glued_matters else ""


@dataclass(slots=True)
class Lengths:
    """Sums over samples of one outcome; whole numbers, so that a correlation is exact."""

    samples: int = 0
    characters: int = 0
    squares: int = 0

    def add(self, characters: int) -> None:
        """Count one sample."""
        self.samples += 1
        self.characters += characters
        self.squares += characters * characters


@dataclass(slots=True)
class LengthCounters:
    """Lengths of generations, and their relation to f1 (in hundredths).

    `x` is the number of characters and `y` f1: the sums that their correlation needs.
    """

    x: int = 0
    y: int = 0
    xx: int = 0
    yy: int = 0
    xy: int = 0

    def add(self, f1: int, lengths: Lengths) -> None:
        """Count the samples of one outcome."""
        self.x += lengths.characters
        self.xx += lengths.squares
        self.y += f1 * lengths.samples
        self.yy += f1 * f1 * lengths.samples
        self.xy += f1 * lengths.characters


@dataclass(slots=True)
class Counters:
    """Everything that is counted (f1 in hundredths); the counters of two logs add up to those of both together.

    `reruns` counts by the group of the rerun estimate, and whether a line break ends the answer.
    """

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
    f1: int = 0
    first_line: RepairCounters = field(default_factory=RepairCounters)
    first_text_line: RepairCounters = field(default_factory=RepairCounters)
    reruns: Counter[tuple[str, bool]] = field(default_factory=Counter)
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
        self.f1 += score.hundredths * times
        self.first_line.add(outcome.first_line, score, times)
        self.first_text_line.add(outcome.first_text_line, score, times)
        self.reruns[rerun_group(outcome), outcome.answer_line_ends] += times
        self.length.add(score.hundredths, lengths)

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


@dataclass(frozen=True, slots=True)
class Share:
    """A number of samples, and what part of all samples (0 to 1) that is."""

    samples: int
    share: float


@dataclass(frozen=True, slots=True)
class Means:
    """Mean em and f1, both 0 to 1."""

    em: float
    f1: float


@dataclass(frozen=True, slots=True)
class RepairedMeans:
    """Means after a repair; how many samples score better and worse than before."""

    em: float
    f1: float
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Decimals:
    """Questions whose gold answers are all one decimal number, beside those with whole numbers.

    `chance` is the probability of so few right answers at the rate of the whole numbers if decimals were no
    harder: (1 - rate) ** samples; it is given only where not one decimal is right, else None.
    """

    samples: int
    right: int
    integer_samples: int
    integer_right: int
    chance: float | None


@dataclass(frozen=True, slots=True)
class RerunBounds:
    """Samples to run again: at least `lower` (A), perhaps `possible` (A, B), at most `upper` (A, B, C)."""

    lower: Share
    possible: Share
    upper: Share


@dataclass(frozen=True, slots=True)
class RerunEstimate:
    """The estimate of the investigation, and what is left of it once generations are cut at the line break.

    A: a decimal answer cut at "."; B: ends with a digit, among the rest; C: a glued number costs the score,
    among what is left. `ends_with_number_of_rest` is B over all that is not A. `settled_by_cut` needs no
    run: a line break ends the answer, and it is not a cut decimal.
    """

    as_logged: RerunBounds
    after_cut: RerunBounds
    ends_with_number_of_rest: float
    settled_by_cut: Share


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that is reported of one log, or of all together.

    `correlation` is Pearson's r of length in characters and f1, None if one of them does not vary.
    """

    samples: int
    forms: dict[str, int]
    until: dict[str, int]
    logged: int
    differing: int
    scored: Means
    first_line: RepairedMeans
    first_text_line: RepairedMeans
    starts_with_break: Share
    literal_cut_is_worse: Share
    flaws: dict[str, Share]
    glued_number_costs: Share
    distorted: Share
    decimals: Decimals
    correlation: float | None
    rerun: RerunEstimate


def figures_of(counters: Counters) -> Figures:
    """Return the figures of counters; without samples they are zeros."""
    count = max(1, counters.samples)
    return Figures(
        samples=counters.samples,
        forms=dict(sorted(counters.forms.items())),
        until={stop: number for stop, number in sorted(counters.until.items()) if stop},
        logged=counters.logged,
        differing=counters.differing,
        scored=Means(counters.em / count, counters.f1 / 100 / count),
        first_line=_repaired(counters.first_line, count),
        first_text_line=_repaired(counters.first_text_line, count),
        starts_with_break=_share(counters.starts_with_break, count),
        literal_cut_is_worse=_share(counters.literal_cut_is_worse, count),
        flaws={flaw.value: _share(counters.flaws[flaw.value], count) for flaw in Flaw},
        glued_number_costs=_share(counters.glued_matters, count),
        distorted=_share(counters.distorted, count),
        decimals=_decimals(counters),
        correlation=correlation(counters.length, counters.samples),
        rerun=_reruns(counters.reruns, count),
    )


def _share(samples: int, count: int) -> Share:
    return Share(samples, samples / count)


def _repaired(repair: RepairCounters, count: int) -> RepairedMeans:
    return RepairedMeans(repair.em / count, repair.f1 / 100 / count, repair.better, repair.worse)


def _decimals(counters: Counters) -> Decimals:
    kinds, right = counters.kinds, counters.kinds_right
    rate = right["integer"] / kinds["integer"] if kinds["integer"] else 0.0
    none_right = kinds["decimal"] > 0 and not right["decimal"]
    chance = (1 - rate) ** kinds["decimal"] if none_right else None
    return Decimals(kinds["decimal"], right["decimal"], kinds["integer"], right["integer"], chance)


def _reruns(reruns: Counter[tuple[str, bool]], count: int) -> RerunEstimate:
    left = {group: reruns[group, False] for group in RERUN}
    logged = {group: reruns[group, True] + left[group] for group in RERUN}
    return RerunEstimate(
        as_logged=_bounds(logged, count),
        after_cut=_bounds(left, count),
        ends_with_number_of_rest=logged[NUMBER] / max(1, count - logged[CUT]),
        settled_by_cut=_share(sum(reruns[group, True] for group in ("", NUMBER, GLUED)), count),
    )


def _bounds(groups: Mapping[str, int], count: int) -> RerunBounds:
    return RerunBounds(*(_share(samples, count) for samples in accumulate(groups.values())))


def correlation(sums: LengthCounters, samples: int) -> float | None:
    """Return Pearson's r of length and f1 from sums of whole numbers: no step of it cancels digits."""
    x_spread = samples * sums.xx - sums.x**2
    y_spread = samples * sums.yy - sums.y**2
    if not (x_spread and y_spread):
        return None
    return (samples * sums.xy - sums.x * sums.y) / (sqrt(x_spread) * sqrt(y_spread))
