"""Counts in, the figures of the report out: means, shares, the correlation, and what must be rerun."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from bot.audit.drop.detectors import Flaw
from bot.audit.drop.tally import Moments, Repair, Rerun, Tally


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
class Repaired:
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
class Bounds:
    """Samples to run again: at least `lower` (A), perhaps `possible` (A, B), at most `upper` (A, B, C)."""

    lower: Share
    possible: Share
    upper: Share


@dataclass(frozen=True, slots=True)
class Reruns:
    """The estimate of the investigation, and what is left of it once generations are cut at the line break.

    A: a decimal answer cut at "."; B: ends with a digit, among the rest; C: a glued number costs the score,
    among what is left. `ends_with_number_of_rest` is B over all that is not A. `settled_by_cut` needs no
    run: a line break ends the answer, and it is no cut decimal.
    """

    as_logged: Bounds
    after_cut: Bounds
    ends_with_number_of_rest: float
    settled_by_cut: Share


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that is reported of one log, or of all together.

    `correlation` is Pearson's r of length in characters and f1, None where one of them does not vary;
    `words_per_gold_word` compares the generations with the first gold answers.
    """

    samples: int
    forms: dict[str, int]
    until: dict[str, int]
    logged: int
    differing: int
    scored: Means
    first_line: Repaired
    first_text_line: Repaired
    starts_with_break: Share
    literal_cut_is_worse: Share
    flaws: dict[str, Share]
    glued_number_costs: Share
    distorted: Share
    decimals: Decimals
    correlation: float | None
    words_per_gold_word: float | None
    rerun: Reruns


def figures_of(tally: Tally) -> Figures:
    """Compute the figures of a tally; one of no samples gives zeros."""
    count = max(1, tally.samples)
    f1 = sum(value * samples for value, samples in tally.f1.items())
    return Figures(
        samples=tally.samples,
        forms=dict(sorted(tally.forms.items())),
        until={stop: number for stop, number in sorted(tally.until.items()) if stop},
        logged=tally.logged,
        differing=tally.differing,
        scored=Means(tally.em / count, f1 / 100 / count),
        first_line=_repaired(tally.first_line, count),
        first_text_line=_repaired(tally.first_text_line, count),
        starts_with_break=_share(tally.starts_with_break, count),
        literal_cut_is_worse=_share(tally.literal_cut_is_worse, count),
        flaws={flaw.value: _share(tally.flaws[flaw], count) for flaw in Flaw},
        glued_number_costs=_share(tally.glued_matters, count),
        distorted=_share(tally.distorted, count),
        decimals=_decimals(tally),
        correlation=correlation(tally.moments, tally.samples),
        words_per_gold_word=tally.words / tally.gold_words if tally.gold_words else None,
        rerun=_reruns(tally.rerun, count),
    )


def _share(samples: int, count: int) -> Share:
    return Share(samples, samples / count)


def _repaired(repair: Repair, count: int) -> Repaired:
    return Repaired(repair.em / count, repair.f1 / 100 / count, repair.better, repair.worse)


def _decimals(tally: Tally) -> Decimals:
    kinds, right = tally.kinds, tally.kinds_right
    rate = right["integer"] / kinds["integer"] if kinds["integer"] else 0.0
    none_right = kinds["decimal"] > 0 and not right["decimal"]
    chance = (1 - rate) ** kinds["decimal"] if none_right else None
    return Decimals(kinds["decimal"], right["decimal"], kinds["integer"], right["integer"], chance)


def _reruns(rerun: Rerun, count: int) -> Reruns:
    return Reruns(
        as_logged=_bounds(rerun.cut, rerun.number, rerun.glued, count),
        after_cut=_bounds(rerun.cut_open, rerun.number_open, rerun.glued_open, count),
        ends_with_number_of_rest=rerun.number / max(1, count - rerun.cut),
        settled_by_cut=_share(rerun.settled, count),
    )


def _bounds(cut: int, number: int, glued: int, count: int) -> Bounds:
    return Bounds(_share(cut, count), _share(cut + number, count), _share(cut + number + glued, count))


def correlation(moments: Moments, samples: int) -> float | None:
    """Pearson's r from sums of whole numbers: no step of it cancels digits."""
    x_spread = samples * moments.xx - moments.x**2
    y_spread = samples * moments.yy - moments.y**2
    if not (x_spread and y_spread):
        return None
    return (samples * moments.xy - moments.x * moments.y) / (sqrt(x_spread) * sqrt(y_spread))
