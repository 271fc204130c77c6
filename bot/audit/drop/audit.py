"""Sample logs in; for each and for all what DROP's scoring did, the findings and the verdict, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from bot.audit.drop.assessment import assess
from bot.audit.drop.exhibits import Example, Exhibits, LeftOuts
from bot.audit.drop.figures import Figures, figures_of
from bot.audit.drop.golds import GoldIndex, join_golds
from bot.audit.drop.samples import decode_row, read_sample
from bot.audit.drop.scorer import Scorer
from bot.audit.drop.tally import Tally
from bot.audit.drop.verdict import DISTORTED_WARNING, Verdict, symptoms_of, verdict_of
from bot.audit.records import LeftOut, Record, open_log, read_records
from bot.errors import MalformedSamples
from bot.finding import Finding, Location, Severity


@dataclass(frozen=True, slots=True)
class LogAudit:
    """One log: figures and counts, what was left out, examples by flaw.

    `findings` are about the log itself, `symptoms` about the benchmark as this log alone shows it.
    """

    path: str
    verdict: Verdict
    figures: Figures
    tally: Tally
    left_out: tuple[LeftOuts, ...]
    examples: dict[str, list[Example]]
    findings: tuple[Finding, ...]
    symptoms: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class RankChange:
    """Pairs of logs whose order by mean f1 the repair reverses, of all pairs."""

    reversed: int
    pairs: int


@dataclass(frozen=True, slots=True)
class DropAudit:
    """All logs, one log being one model's run, and the figures of all their samples together.

    `findings` are about the golds file, `symptoms` about the benchmark.
    """

    verdict: Verdict
    figures: Figures
    tally: Tally
    ranks: RankChange
    symptoms: tuple[Finding, ...]
    logs: tuple[LogAudit, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether anything was found that blocks: in the benchmark, or in a log."""
        findings = [*self.findings, *self.symptoms, *(finding for log in self.logs for finding in log.findings)]
        return any(finding.severity is Severity.ERROR for finding in findings)


def audit_drop(
    paths: Sequence[Path],
    *,
    golds: GoldIndex | None = None,
    examples: int = 3,
    watch: Callable[[Path, Iterable[Record | LeftOut]], Iterable[Record | LeftOut]] | None = None,
) -> DropAudit:
    """Audit logs one after the other; memory does not grow with their length.

    `golds` answers samples that come without; `examples` is how many of each flaw are kept for each log;
    `watch` is handed each log's records and passes them on (a progress bar). Raises CallError where a log
    cannot be opened.
    """
    scorer, logs = Scorer(), []
    for path in paths:
        with open_log(path) as log:
            records = read_records(log)
            records = iter(watch(path, records)) if watch else records
            logs.append(_audit_log(str(path), records, scorer, golds, examples))
    return _together(logs, tuple(_golds_findings(golds)) if golds else ())


def _audit_log(
    path: str, records: Iterator[Record | LeftOut], scorer: Scorer, golds: GoldIndex | None, examples: int
) -> LogAudit:
    tally, exhibits = Tally(), Exhibits(path, examples)
    for record in records:
        try:
            _audit_record(record, tally, exhibits, scorer, golds)
        except MalformedSamples as error:
            exhibits.leave_out(LeftOut(record.line, str(error)))
    figures = figures_of(tally)
    symptoms = symptoms_of(figures, path)
    left_out = tuple(exhibits.left_out.values())
    findings = tuple(_log_findings(path, figures, left_out))
    return LogAudit(
        path, verdict_of(figures, symptoms), figures, tally, left_out, exhibits.examples, findings, tuple(symptoms)
    )


def _audit_record(
    record: Record | LeftOut, tally: Tally, exhibits: Exhibits, scorer: Scorer, golds: GoldIndex | None
) -> None:
    if isinstance(record, LeftOut):
        exhibits.leave_out(record)
        return
    sample = read_sample(decode_row(record.data), record.line)
    answers = join_golds(sample, golds)
    judged = assess(sample, answers, scorer)
    tally.add(sample, answers, judged)
    exhibits.show(sample, answers, judged)


def _log_findings(path: str, figures: Figures, left_out: tuple[LeftOuts, ...]) -> Iterator[Finding]:
    """Yield what is wrong with the log itself, one finding for each reason."""
    records = figures.samples + sum(group.count for group in left_out)
    if not records:
        yield Finding("drop-empty-log", Severity.ERROR, "the log is empty", "", Location(path), "drop")
    for group in left_out:
        lines = ", ".join(map(str, group.lines)) + (", …" if group.count > len(group.lines) else "")
        yield Finding(
            "drop-left-out",
            Severity.ERROR,
            f"{group.count} of {records} records left out: {group.why}",
            f"line {lines}; the figures stand on the other {figures.samples} samples",
            Location(path, line=group.lines[0]),
            "drop",
        )
    if figures.differing:
        yield Finding(
            "drop-score-differs",
            Severity.ERROR,
            f"{figures.differing} of {figures.logged} logged scores are not what the harness's scorer gives",
            "the log was edited, or scored by other code; the figures stand on the scores computed here",
            Location(path),
            "drop",
        )


def _golds_findings(golds: GoldIndex) -> Iterator[Finding]:
    if golds.left_out:
        first = golds.left_out[0]
        yield Finding(
            "drop-golds-left-out",
            Severity.ERROR,
            f"{len(golds.left_out)} records of the golds file left out: {first.why}",
            f"the first is line {first.line}; {len(golds.by_question) + len(golds.by_id)} questions have answers",
            Location(golds.path, line=first.line),
            "drop",
        )


def _together(logs: Sequence[LogAudit], findings: tuple[Finding, ...]) -> DropAudit:
    tally = sum((log.tally for log in logs), Tally())
    figures = figures_of(tally)
    ranks = rank_change(
        [(log.figures.scored.f1, log.figures.first_text_line.f1) for log in logs if log.figures.samples]
    )
    symptoms = [*symptoms_of(figures, ""), *_rank_finding(ranks, figures)]
    return DropAudit(verdict_of(figures, symptoms), figures, tally, ranks, tuple(symptoms), tuple(logs), findings)


def rank_change(scores: Sequence[tuple[float, float]]) -> RankChange:
    """Count pairs whose order is reversed from (before, after); a tie reverses nothing."""
    pairs = list(combinations(scores, 2))
    flips = sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in pairs)
    return RankChange(flips, len(pairs))


def _rank_finding(ranks: RankChange, figures: Figures) -> Iterator[Finding]:
    if ranks.reversed and figures.distorted.share >= DISTORTED_WARNING:
        yield Finding(
            "drop-ranks-change",
            Severity.WARNING,
            f"cutting at the first line of text reverses {ranks.reversed} of {ranks.pairs} pairs of models",
            "the order of the column is an order of formats as much as of models",
            Location(""),
            "drop",
        )
