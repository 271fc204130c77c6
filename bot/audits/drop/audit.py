"""Audit sample logs of DROP: what its scoring did to each log and to all, and whether it measures models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bot.audits.drop.counters import Counters
from bot.audits.drop.examples import Example, Examples
from bot.audits.drop.figures import Figures, figures_of
from bot.audits.drop.findings import RankChange, golds_findings, log_findings, rank_change, rank_findings
from bot.audits.drop.golds import GoldIndex
from bot.audits.drop.health import Health, health_of, symptoms_of
from bot.audits.drop.part import PartAudit, PartAuditor
from bot.audits.log_parts import PART, LogPart, split_log
from bot.audits.records import Skipped, SkippedRecords
from bot.evaluation.finding import Finding, Severity

AuditParts = Callable[[PartAuditor, Sequence[LogPart]], Iterable[PartAudit]]
"""Applies the auditor to each part, in this process or in others, and returns the results in order."""


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


@dataclass(frozen=True, slots=True)
class DropAudit:
    """All logs, one log being one model's run, and the figures of all their samples together.

    `findings` are about the golds file, `symptoms` about the benchmark.
    """

    health: Health
    figures: Figures
    counters: Counters
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
    paths: Sequence[Path],
    *,
    golds: GoldIndex | None = None,
    examples: int = 3,
    audit_parts: AuditParts = map,
    part: int = PART,
) -> DropAudit:
    """Audit logs; memory does not grow with their length.

    `golds` answers samples that come without, `examples` is how many of each flaw are kept for each log. Logs are read
    in parts of about `part` bytes; the result depends neither on that nor on `audit_parts`. Raises CallError if a log
    cannot be opened.
    """
    parts = {path: split_log(path, part) for path in paths}
    audited = iter(audit_parts(PartAuditor(golds, examples), [part for each in parts.values() for part in each]))
    logs = [_audit_log(str(path), islice(audited, len(each)), examples) for path, each in parts.items()]
    return _together(logs, tuple(golds_findings(golds)) if golds else ())


def _audit_log(path: str, parts: Iterator[PartAudit], limit: int) -> LogAudit:
    counters, examples, skipped, lines = Counters(), Examples(path, limit), Skipped(), 0
    for part in parts:
        counters += part.counters
        examples.merge(part.examples, lines)
        skipped.merge(part.skipped.values(), lines)
        lines += part.lines
    figures = figures_of(counters)
    symptoms = symptoms_of(figures, path)
    return LogAudit(
        path,
        health_of(figures, symptoms),
        figures,
        counters,
        tuple(skipped.values()),
        examples.by_flaw(),
        tuple(log_findings(path, figures, skipped)),
        tuple(symptoms),
    )


def _together(logs: Sequence[LogAudit], findings: tuple[Finding, ...]) -> DropAudit:
    counters = sum((log.counters for log in logs), Counters())
    figures = figures_of(counters)
    ranks = rank_change(
        [(log.figures.scored.f1, log.figures.first_text_line.f1) for log in logs if log.figures.samples]
    )
    symptoms = [*symptoms_of(figures, ""), *rank_findings(ranks, figures)]
    return DropAudit(health_of(figures, symptoms), figures, counters, ranks, tuple(symptoms), tuple(logs), findings)
