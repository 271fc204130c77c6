"""Collect a few examples of each flaw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.audits.drop.answers import Golds
from bot.audits.drop.assessment import SampleOutcome
from bot.audits.drop.detectors import Flaw
from bot.audits.drop.sample import DropSample
from bot.audits.drop.scorer import DropScore

GOLDS_SHOWN = 5
TEXT_SHOWN = 160
DIFFERS_FROM_LOG = "differs-from-log"
LITERAL_CUT_IS_WORSE = "literal-cut-is-worse"


@dataclass(frozen=True, slots=True)
class Example:
    """One sample that shows a flaw, its texts cut to 160 characters; `repaired` is its score where a repair applies."""

    path: str
    line: int
    prediction: str
    golds: tuple[str, ...]
    score: DropScore
    repaired: DropScore | None = None
    logged: tuple[float | None, float | None] | None = None

    @property
    def is_improved(self) -> bool:
        """Tell whether a repair raises the score: such an example explains more than another."""
        return self.repaired is not None and self.repaired > self.score


@dataclass(slots=True)
class FlawExamples:
    """The first examples of one flaw that a repair improves, and the first others."""

    improved: list[Example] = field(default_factory=list)
    others: list[Example] = field(default_factory=list)

    def like(self, *, is_improved: bool) -> list[Example]:
        """Return the list that such an example belongs to."""
        return self.improved if is_improved else self.others


@dataclass(slots=True)
class Examples:
    """The first `limit` examples of each flaw, those that a repair improves before others."""

    path: str
    limit: int
    flaws: dict[str, FlawExamples] = field(default_factory=dict)

    def add(self, line: int, sample: DropSample, golds: Golds, outcome: SampleOutcome) -> None:
        """Keep a sample as an example of each flaw that it shows, while there is room."""
        for flaw, repaired in _flaws(outcome):
            is_improved = repaired is not None and repaired > outcome.score
            kept = self.flaws.setdefault(flaw, FlawExamples()).like(is_improved=is_improved)
            if len(kept) < self.limit:
                kept.append(self._example(line, sample, golds, outcome, repaired))

    def merge(self, other: Examples, lines_before: int) -> None:
        """Add the examples of a later part of the log, in which line 1 is line `lines_before` + 1."""
        for flaw, found in other.flaws.items():
            for example in (*found.improved, *found.others):
                kept = self.flaws.setdefault(flaw, FlawExamples()).like(is_improved=example.is_improved)
                if len(kept) < self.limit:
                    kept.append(replace(example, line=example.line + lines_before))

    def by_flaw(self) -> dict[str, list[Example]]:
        """Return the examples to show, by line; only flaws that have any."""
        chosen = {flaw: (found.improved + found.others)[: self.limit] for flaw, found in self.flaws.items()}
        return {flaw: sorted(shown, key=lambda one: one.line) for flaw, shown in sorted(chosen.items()) if shown}

    def _example(
        self, line: int, sample: DropSample, golds: Golds, outcome: SampleOutcome, repaired: DropScore | None
    ) -> Example:
        answers = tuple(_cut(" | ".join(answer)) for answer in golds[:GOLDS_SHOWN])
        logged = (sample.em, sample.f1) if outcome.differs_from_log else None
        return Example(self.path, line, _cut(sample.prediction), answers, outcome.score, repaired, logged)


def _flaws(outcome: SampleOutcome) -> Iterator[tuple[str, DropScore | None]]:
    """Yield what a sample shows, each with the score that the repair for it gives."""
    repaired = {Flaw.GLUED_NUMBER.value: outcome.unglued, Flaw.RUNS_ON.value: outcome.first_text_line}
    for flaw in outcome.flaws:
        yield flaw, repaired.get(flaw)
    if outcome.literal_cut_is_worse:
        yield LITERAL_CUT_IS_WORSE, outcome.first_line
    if outcome.differs_from_log:
        yield DIFFERS_FROM_LOG, None


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_SHOWN else text[: TEXT_SHOWN - 1] + "…"
