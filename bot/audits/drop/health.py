"""Judge from the figures of sample logs whether DROP measures models, and what is wrong with a log.

The thresholds are conventions: none was chosen by looking at a log. docs/audit-drop.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import NamedTuple

from bot.audits.drop.assessment import Flaw
from bot.audits.drop.figures import Figures
from bot.audits.drop.golds import GoldIndex
from bot.audits.drop.samples import RENDERED_KEYS
from bot.audits.ranks import reversed_pairs
from bot.audits.samples.records import Skipped
from bot.evaluation.finding import Finding, Location, Severity, counted

FEWEST_SAMPLES = 30
DISTORTED_ERROR, DISTORTED_WARNING = 0.10, 0.01
CHANCE = 0.001
FLOOR_F1, FLOOR_RUNS_ON = 0.10, 0.5
# Three standard errors of r under independence.
CORRELATION_ERRORS = 3.0


class Health(StrEnum):
    """Whether the scores measure models, measure them with a bias, do not measure them, or cannot be judged."""

    SOUND = "sound"
    IMPAIRED = "impaired"
    BROKEN = "broken"
    UNDETERMINED = "undetermined"


def health_of(figures: Figures, symptoms: list[Finding]) -> Health:
    """Return the health: an error among the symptoms means broken, a warning impaired."""
    if figures.samples < FEWEST_SAMPLES:
        return Health.UNDETERMINED
    severities = {symptom.severity for symptom in symptoms}
    if Severity.ERROR in severities:
        return Health.BROKEN
    return Health.IMPAIRED if Severity.WARNING in severities else Health.SOUND


def symptoms_of(figures: Figures, path: str) -> list[Finding]:
    """Return what is wrong with the benchmark, judged by the samples of one log or of all."""
    tests = (_distorted, _decimals, _floor, _length, _rendered)
    return [symptom.at(path) for test in tests for symptom in test(figures)]


class Symptom(NamedTuple):
    """A finding without its location."""

    rule: str
    severity: Severity
    message: str
    hint: str

    def at(self, path: str, line: int = 0) -> Finding:
        """The finding in a file."""
        return Finding(*self, Location(path, line=line), "drop")


def _distorted(figures: Figures) -> Iterator[Symptom]:
    share = figures.distorted.share
    if share < DISTORTED_WARNING:
        return
    severity = Severity.ERROR if share >= DISTORTED_ERROR else Severity.WARNING
    yield Symptom(
        "drop-distorted-scores",
        severity,
        f"{share:.1%} of the scores ({figures.distorted.samples} of {figures.samples}) depend on where the generation"
        " was cut or on its white space, not on the answer of the model",
        "cut each generation at its first line of text and score it again: mean f1"
        f" {figures.scored.f1:.4f} becomes {figures.first_text_line.f1:.4f};"
        " run again the samples that the stop word cut",
    )


def _decimals(figures: Figures) -> Iterator[Symptom]:
    decimals = figures.decimals
    if decimals.chance is None or decimals.chance >= CHANCE:
        return
    yield Symptom(
        "drop-decimals-unanswerable",
        Severity.ERROR,
        f"none of {decimals.samples} questions with a decimal answer is answered right, but"
        f" {decimals.integer_right} of {decimals.integer_samples} with a whole number are",
        'the stop word "." ends a generation inside the number: run them again with the line break as stop word',
    )


def _floor(figures: Figures) -> Iterator[Symptom]:
    runs_on = figures.flaws[Flaw.RUNS_ON].share
    if not figures.samples or figures.scored.f1 >= FLOOR_F1 or runs_on < FLOOR_RUNS_ON:
        return
    yield Symptom(
        "drop-at-the-floor",
        Severity.ERROR,
        f"mean f1 is {figures.scored.f1:.4f} and {runs_on:.1%} of the generations run on past the line of the answer",
        "such a score shows that the generations do not stop, not that the model cannot read",
    )


def _length(figures: Figures) -> Iterator[Symptom]:
    r, runs_on = figures.correlation, figures.flaws[Flaw.RUNS_ON].share
    # Long answers are harder anyway: length tells something about the format only where generations run on.
    if r is None or r >= 0 or figures.samples < FEWEST_SAMPLES or runs_on < DISTORTED_WARNING:
        return
    error = sqrt((1 - r * r) / (figures.samples - 2))
    if -r > CORRELATION_ERRORS * error:
        yield Symptom(
            "drop-length-decides",
            Severity.WARNING if runs_on >= DISTORTED_ERROR else Severity.NOTICE,
            f"longer generations score lower (length and f1 correlate with r = {r:.2f} over {figures.samples} samples)",
            "the stop word decides the length, which favours a model that stops at once over one that goes on",
        )


def _rendered(figures: Figures) -> Iterator[Symptom]:
    prompts, targets = figures.flaws[Flaw.RENDERED_PROMPT].samples, figures.flaws[Flaw.RENDERED_TARGET].samples
    if prompts:
        yield Symptom(
            "drop-rendered-prompt",
            Severity.ERROR,
            f"the few-shot answers in {prompts} prompts are the field names of an answer ({RENDERED_KEYS})",
            "the task renders a dict as its target: run it again with a task that renders the answer",
        )
    elif targets:
        # Without few-shot examples no model sees the target, and the scorer reads the answers.
        yield Symptom(
            "drop-rendered-target",
            Severity.NOTICE,
            f"the logged targets of {targets} samples are the field names of an answer ({RENDERED_KEYS})",
            "no score depends on it here; with few-shot examples it would be in the prompts",
        )


@dataclass(frozen=True, slots=True)
class RankChange:
    """Pairs of logs whose order by mean f1 the repair reverses, of all pairs."""

    reversed: int
    pairs: int


def log_findings(path: str, figures: Figures, skipped: Skipped) -> Iterator[Finding]:
    """Yield what is wrong with a log itself, one finding for each reason."""
    records = figures.samples + skipped.total
    if not records:
        yield Symptom("drop-empty-log", Severity.ERROR, "the log is empty", "").at(path)
    for group in skipped.values():
        were = "was" if group.count == 1 else "were"
        lines = ", ".join(map(str, group.lines)) + (", …" if group.count > len(group.lines) else "")
        yield Symptom(
            "drop-skipped-records",
            Severity.ERROR,
            f"{group.count} of {records} records {were} skipped: {group.why}",
            f"{'lines' if group.count > 1 else 'line'} {lines}; the figures count the other {figures.samples} samples",
        ).at(path, group.lines[0])
    if figures.differing:
        yield Symptom(
            "drop-score-differs",
            Severity.ERROR,
            f"{figures.differing} of {figures.logged} logged scores differ from what the harness's scorer gives",
            "the log was edited, or other code scored it; the figures use the scores computed here",
        ).at(path)


def golds_findings(golds: GoldIndex) -> Iterator[Finding]:
    """Yield what is wrong with the golds file."""
    first = next(iter(golds.skipped.values()), None)
    if first is not None:
        yield Symptom(
            "drop-golds-skipped",
            Severity.ERROR,
            f"skipped {counted(golds.skipped.total, 'record')} of the golds file; the first: {first.why}",
            f"line {first.lines[0]}; {counted(len(golds.by_question) + len(golds.by_id), 'question')} with answers",
        ).at(golds.path, first.lines[0])


def rank_change(scores: Sequence[tuple[float, float]]) -> RankChange:
    """Count pairs whose order is reversed from (before, after); a tie reverses nothing."""
    flips = reversed_pairs([before for before, _ in scores], [after for _, after in scores])
    return RankChange(len(flips), len(scores) * (len(scores) - 1) // 2)


def rank_findings(ranks: RankChange, figures: Figures) -> Iterator[Finding]:
    """Yield a warning if the repair changes the order of models, and the scores are distorted at all."""
    if ranks.reversed and figures.distorted.share >= DISTORTED_WARNING:
        yield Symptom(
            "drop-ranks-change",
            Severity.WARNING,
            f"cutting at the first line of text reverses {ranks.reversed} of {ranks.pairs} pairs of models",
            "the column orders models by the format of their answers as well as by their skill",
        ).at("")
