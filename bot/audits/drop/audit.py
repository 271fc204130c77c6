"""Audit sample logs of DROP: what its scoring did to each log and to all, and whether it measures models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.audits.drop.assessment import Flaw, SampleOutcome, assess
from bot.audits.drop.figures import Counters, Figures, Lengths, figures_of
from bot.audits.drop.golds import GoldIndex, join_golds
from bot.audits.drop.health import (
    Health,
    RankChange,
    golds_findings,
    health_of,
    log_findings,
    rank_change,
    rank_findings,
    symptoms_of,
)
from bot.audits.drop.samples import DropSample, read_drop_sample
from bot.audits.drop.scorer import DropScore, Golds, Scorer
from bot.audits.samples.records import (
    Record,
    Skipped,
    SkippedRecord,
    SkippedRecords,
    files_below,
    open_log,
    read_records,
)
from bot.errors import CallError, MalformedSamples
from bot.evaluation.finding import Finding, Severity

GOLDS_SHOWN = 5
TEXT_SHOWN = 160
DIFFERS_FROM_LOG = "differs-from-log"
LITERAL_CUT_IS_WORSE = "literal-cut-is-worse"
# 0.4.3 and later: samples_drop_<time>.jsonl; 0.4.0 to 0.4.2: <model args>_drop.jsonl; 0.3: drop_write_out_info.json.
LOG_NAME = re.compile(r"(samples_.*drop.*|.*_drop|.*drop_write_out_info|drop_samples.*)\.jsonl?(\.gz)?", re.IGNORECASE)


def find_logs(paths: Iterable[Path]) -> list[Path]:
    """Return each log once, in the order of the call; a folder stands for the logs of DROP in it, sorted by path.

    Raises CallError for a path that does not exist, and for a folder without such logs.
    """
    return list(dict.fromkeys(log for path in paths for log in _logs_of(path)))


def _logs_of(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise CallError(f"{path}: there is no such file or folder")
        return [path]
    logs = sorted(log for log in files_below(path, "*.json*") if LOG_NAME.fullmatch(log.name))
    if not logs:
        raise CallError(f"{path}: holds no sample log of DROP (samples_*drop*.jsonl); name the files themselves")
    return logs


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


@dataclass(slots=True)
class Examples:
    """The first `limit` examples of each flaw."""

    path: str
    limit: int
    flaws: dict[str, list[Example]] = field(default_factory=dict)

    def add(self, line: int, sample: DropSample, golds: Golds, outcome: SampleOutcome) -> None:
        """Keep a sample as an example of each flaw that it shows, while there is room."""
        answers = tuple(_cut(" | ".join(answer)) for answer in golds[:GOLDS_SHOWN])
        logged = (sample.em, sample.f1) if outcome.differs_from_log else None
        for flaw, repaired in _flaws(outcome):
            kept = self.flaws.setdefault(flaw, [])
            if len(kept) < self.limit:
                kept.append(Example(self.path, line, _cut(sample.prediction), answers, outcome.score, repaired, logged))


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


# Outcomes differ in a few thousand ways; a log made to differ in each sample is counted in steps.
MAX_OUTCOMES = 1 << 14


@dataclass(frozen=True, slots=True)
class LogAudit:
    """One log: its figures and counts, what was skipped, examples by flaw.

    `findings` are about the log itself, `symptoms` about the benchmark as this log alone shows it.
    """

    path: str
    health: Health
    figures: Figures
    counters: Counters
    skipped: tuple[SkippedRecords, ...]
    examples: dict[str, list[Example]]
    findings: tuple[Finding, ...]
    symptoms: tuple[Finding, ...]


class LogAuditor:
    """Audits logs, one after the other; `golds` answers samples that come without, `examples` is how many to keep."""

    def __init__(self, golds: GoldIndex | None, examples: int) -> None:
        self._golds, self._examples = golds, examples
        self._scorer = Scorer()

    def __call__(self, path: Path) -> LogAudit:
        """Audit one log. Raises CallError if it cannot be opened."""
        counters, examples, skipped = Counters(), Examples(str(path), self._examples), Skipped()
        outcomes: dict[SampleOutcome, Lengths] = {}
        with open_log(path) as log:
            for record in read_records(log):
                if isinstance(record, SkippedRecord):
                    skipped.add(record)
                    continue
                try:
                    self._count(record, examples, outcomes)
                except MalformedSamples as error:
                    skipped.add(SkippedRecord(record.line, str(error)))
                if len(outcomes) > MAX_OUTCOMES:
                    _flush(outcomes, counters)
        _flush(outcomes, counters)
        figures = figures_of(counters)
        symptoms = symptoms_of(figures, str(path))
        return LogAudit(
            str(path),
            health_of(figures, symptoms),
            figures,
            counters,
            tuple(skipped.values()),
            dict(sorted(examples.flaws.items())),
            tuple(log_findings(str(path), figures, skipped)),
            tuple(symptoms),
        )

    def _count(self, record: Record, examples: Examples, outcomes: dict[SampleOutcome, Lengths]) -> None:
        sample = read_drop_sample(record.data)
        golds = sample.golds if sample.golds is not None else join_golds(sample, self._golds)
        outcome = assess(self._scorer, sample, self._scorer.answers[golds])
        lengths = outcomes.get(outcome)
        if lengths is None:
            outcomes[outcome] = lengths = Lengths()
        # More examples of one outcome would never be shown.
        is_flawed = outcome.flaws or outcome.differs_from_log or outcome.literal_cut_is_worse
        if is_flawed and lengths.samples < self._examples:
            examples.add(record.line, sample, golds, outcome)
        lengths.add(len(sample.prediction))


def _flush(outcomes: dict[SampleOutcome, Lengths], counters: Counters) -> None:
    for outcome, lengths in outcomes.items():
        counters.add(outcome, lengths)
    outcomes.clear()


AuditLogs = Callable[[LogAuditor, Sequence[Path]], Iterable[LogAudit]]
"""Applies the auditor to each log, in this process or in others, and returns the results in order."""


@dataclass(frozen=True, slots=True)
class DropAudit:
    """All logs, one log being one model's run, and the figures of all their samples together.

    `findings` are about the golds file, `symptoms` about the benchmark.
    """

    health: Health
    figures: Figures
    ranks: RankChange
    symptoms: tuple[Finding, ...]
    logs: tuple[LogAudit, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Tell whether there is an error about the benchmark, a log, or the golds file."""
        findings = [*self.findings, *self.symptoms, *(finding for log in self.logs for finding in log.findings)]
        return any(finding.severity is Severity.ERROR for finding in findings)


def audit_drop(
    paths: Sequence[Path], *, golds: GoldIndex | None = None, examples: int = 3, audit_logs: AuditLogs = map
) -> DropAudit:
    """Audit logs; memory does not grow with their length.

    `golds` answers samples that come without, `examples` is how many of each flaw are kept for each log. The result
    does not depend on `audit_logs`. Raises CallError if a log cannot be opened.
    """
    logs = tuple(audit_logs(LogAuditor(golds, examples), paths))
    figures = figures_of(sum((log.counters for log in logs), Counters()))
    ranks = rank_change(
        [(log.figures.scored.f1, log.figures.first_text_line.f1) for log in logs if log.figures.samples]
    )
    symptoms = [*symptoms_of(figures, ""), *rank_findings(ranks, figures)]
    findings = tuple(golds_findings(golds)) if golds else ()
    return DropAudit(health_of(figures, symptoms), figures, ranks, tuple(symptoms), logs, findings)
