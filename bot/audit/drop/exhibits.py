"""Assessed samples and records left out in; a few examples of each flaw, and a count for each reason, out."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.audit.drop.assessment import Assessment
from bot.audit.drop.detectors import Flaw
from bot.audit.drop.samples import Sample
from bot.audit.drop.scorer import Golds, Score
from bot.audit.records import LeftOut

SHOWN_LINES = 5
SHOWN_TEXT = 160
DIFFERS_FROM_LOG = "differs-from-log"
LITERAL_CUT_IS_WORSE = "literal-cut-is-worse"


@dataclass(frozen=True, slots=True)
class Example:
    """One sample that shows a flaw, its texts cut to 160 characters; `repaired` where a repair applies."""

    path: str
    line: int
    prediction: str
    golds: tuple[str, ...]
    score: Score
    repaired: Score | None = None
    logged: tuple[float | None, float | None] | None = None


@dataclass(slots=True)
class LeftOuts:
    """How many records were left out for one reason, and the lines of the first five."""

    why: str
    count: int = 0
    lines: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Exhibits:
    """The first `limit` examples for each flaw, and what was left out."""

    path: str
    limit: int
    examples: dict[str, list[Example]] = field(default_factory=dict)
    left_out: dict[str, LeftOuts] = field(default_factory=dict)

    def leave_out(self, record: LeftOut) -> None:
        """Count a record that cannot be used."""
        group = self.left_out.setdefault(record.why, LeftOuts(record.why))
        group.count += 1
        if len(group.lines) < SHOWN_LINES:
            group.lines.append(record.line)

    def show(self, sample: Sample, golds: Golds, judged: Assessment) -> None:
        """Keep a sample as an example of whatever it shows, while there is room."""
        for topic, repaired in _topics(judged):
            shown = self.examples.setdefault(topic, [])
            if len(shown) < self.limit:
                shown.append(_example(self.path, sample, golds, judged, repaired))
            elif _tells(repaired, judged.score) and (dull := _dull(shown)) is not None:
                shown[dull] = _example(self.path, sample, golds, judged, repaired)


def _tells(repaired: Score | None, score: Score) -> bool:
    return repaired is not None and repaired > score


def _dull(shown: list[Example]) -> int | None:
    """Find an example whose score the repair does not raise: a better one may take its place."""
    return next((i for i, one in enumerate(shown) if not _tells(one.repaired, one.score)), None)


def _topics(judged: Assessment) -> list[tuple[str, Score | None]]:
    """Name what a sample shows, each with the score that the repair for it gives."""
    repaired = {Flaw.GLUED_NUMBER: judged.unglued, Flaw.RUNS_ON: judged.first_text_line}
    topics: list[tuple[str, Score | None]] = [(flaw.value, repaired.get(flaw)) for flaw in judged.flaws]
    if judged.literal_cut_is_worse:
        topics.append((LITERAL_CUT_IS_WORSE, judged.first_line))
    if judged.differs_from_log:
        topics.append((DIFFERS_FROM_LOG, None))
    return topics


def _example(path: str, sample: Sample, golds: Golds, judged: Assessment, repaired: Score | None) -> Example:
    answers = tuple(_cut(" | ".join(answer)) for answer in golds[:SHOWN_LINES])
    logged = (sample.em, sample.f1) if judged.differs_from_log else None
    return Example(path, sample.line, _cut(sample.prediction), answers, judged.score, repaired, logged)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else text[: SHOWN_TEXT - 1] + "…"
