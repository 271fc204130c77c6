"""Findings about a log, about the golds file, and about the order of several logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from bot.audits.drop.figures import Figures
from bot.audits.drop.golds import GoldIndex
from bot.audits.drop.health import DISTORTED_WARNING
from bot.audits.records import Skipped
from bot.evaluation.finding import Finding, Location, Severity, counted


@dataclass(frozen=True, slots=True)
class RankChange:
    """Pairs of logs whose order by mean f1 the repair reverses, of all pairs."""

    reversed: int
    pairs: int


def log_findings(path: str, figures: Figures, skipped: Skipped) -> Iterator[Finding]:
    """Yield what is wrong with a log itself, one finding for each reason."""
    records = figures.samples + skipped.total
    if not records:
        yield Finding("drop-empty-log", Severity.ERROR, "the log is empty", "", Location(path), "drop")
    for group in skipped.values():
        were = "was" if group.count == 1 else "were"
        lines = ", ".join(map(str, group.lines)) + (", …" if group.count > len(group.lines) else "")
        yield Finding(
            "drop-skipped-records",
            Severity.ERROR,
            f"{group.count} of {records} records {were} skipped: {group.why}",
            f"{'lines' if group.count > 1 else 'line'} {lines}; the figures count the other {figures.samples} samples",
            Location(path, line=group.lines[0]),
            "drop",
        )
    if figures.differing:
        yield Finding(
            "drop-score-differs",
            Severity.ERROR,
            f"{figures.differing} of {figures.logged} logged scores differ from what the harness's scorer gives",
            "the log was edited, or other code scored it; the figures use the scores computed here",
            Location(path),
            "drop",
        )


def golds_findings(golds: GoldIndex) -> Iterator[Finding]:
    """Yield what is wrong with the golds file."""
    first = next(iter(golds.skipped.values()), None)
    if first is not None:
        yield Finding(
            "drop-golds-skipped",
            Severity.ERROR,
            f"skipped {counted(golds.skipped.total, 'record')} of the golds file; the first: {first.why}",
            f"line {first.lines[0]}; {counted(len(golds.by_question) + len(golds.by_id), 'question')} with answers",
            Location(golds.path, line=first.lines[0]),
            "drop",
        )


def rank_change(scores: Sequence[tuple[float, float]]) -> RankChange:
    """Count pairs whose order is reversed from (before, after); a tie reverses nothing."""
    pairs = list(combinations(scores, 2))
    flips = sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in pairs)
    return RankChange(flips, len(pairs))


def rank_findings(ranks: RankChange, figures: Figures) -> Iterator[Finding]:
    """Yield a warning if the repair changes the order of models, and the scores are distorted at all."""
    if ranks.reversed and figures.distorted.share >= DISTORTED_WARNING:
        yield Finding(
            "drop-ranks-change",
            Severity.WARNING,
            f"cutting at the first line of text reverses {ranks.reversed} of {ranks.pairs} pairs of models",
            "the column orders models by the format of their answers as well as by their skill",
            Location(""),
            "drop",
        )
