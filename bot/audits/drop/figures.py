"""Compute the figures of the report from counts: means, shares, the correlation, and what must be run again."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from bot.audits.drop.counters import Counters, LengthCounters, RepairCounters, RerunCounters
from bot.audits.drop.detectors import Flaw


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

    `correlation` is Pearson's r of length in characters and f1, None if one of them does not vary;
    `words_per_gold_word` compares the generations with the first gold answers.
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
    words_per_gold_word: float | None
    rerun: RerunEstimate


def figures_of(counters: Counters) -> Figures:
    """Return the figures of counters; without samples they are zeros."""
    count = max(1, counters.samples)
    f1 = sum(value * samples for value, samples in counters.f1.items())
    return Figures(
        samples=counters.samples,
        forms=dict(sorted(counters.forms.items())),
        until={stop: number for stop, number in sorted(counters.until.items()) if stop},
        logged=counters.logged,
        differing=counters.differing,
        scored=Means(counters.em / count, f1 / 100 / count),
        first_line=_repaired(counters.first_line, count),
        first_text_line=_repaired(counters.first_text_line, count),
        starts_with_break=_share(counters.starts_with_break, count),
        literal_cut_is_worse=_share(counters.literal_cut_is_worse, count),
        flaws={flaw.value: _share(counters.flaws[flaw.value], count) for flaw in Flaw},
        glued_number_costs=_share(counters.glued_matters, count),
        distorted=_share(counters.distorted, count),
        decimals=_decimals(counters),
        correlation=correlation(counters.length, counters.samples),
        words_per_gold_word=counters.length.words / counters.length.gold_words if counters.length.gold_words else None,
        rerun=_reruns(counters.rerun, count),
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


def _reruns(rerun: RerunCounters, count: int) -> RerunEstimate:
    return RerunEstimate(
        as_logged=_bounds(rerun.cut, rerun.number, rerun.glued, count),
        after_cut=_bounds(rerun.cut_open, rerun.number_open, rerun.glued_open, count),
        ends_with_number_of_rest=rerun.number / max(1, count - rerun.cut),
        settled_by_cut=_share(rerun.settled, count),
    )


def _bounds(cut: int, number: int, glued: int, count: int) -> RerunBounds:
    return RerunBounds(_share(cut, count), _share(cut + number, count), _share(cut + number + glued, count))


def correlation(sums: LengthCounters, samples: int) -> float | None:
    """Return Pearson's r of length and f1 from sums of whole numbers: no step of it cancels digits."""
    x_spread = samples * sums.xx - sums.x**2
    y_spread = samples * sums.yy - sums.y**2
    if not (x_spread and y_spread):
        return None
    return (samples * sums.xy - sums.x * sums.y) / (sqrt(x_spread) * sqrt(y_spread))
