"""Report the audit of DROP: the findings, the scores with and without the repair, the flaws, and examples of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

import msgspec

from bot import __version__
from bot.audits.drop.assessment import Flaw
from bot.audits.drop.audit import DIFFERS_FROM_LOG, LITERAL_CUT_IS_WORSE, DropAudit, Example, LogAudit
from bot.audits.drop.figures import Figures, RerunBounds, Share
from bot.audits.drop.health import FEWEST_SAMPLES, Health
from bot.audits.drop.scorer import DropScore
from bot.evaluation.finding import Finding
from bot.reporting.prose import Section
from bot.reporting.table import Cell, Table

FLAW_TITLES = {
    Flaw.GLUED_NUMBER.value: "number glued to white space other than a space",
    Flaw.DECIMAL_CUT.value: 'decimal answer cut at the stop word "."',
    Flaw.DESTROYED_DECIMAL.value: "decimal destroyed with its punctuation",
    Flaw.RUNS_ON.value: "generation goes on after the line of the answer",
    Flaw.ENDS_WITH_NUMBER.value: 'ends with a digit: perhaps cut at "."',
    Flaw.RENDERED_PROMPT.value: "few-shot answers are field names, not answers",
    Flaw.RENDERED_TARGET.value: "logged target is field names, not the answer",
    LITERAL_CUT_IS_WORSE: "begins with a line break: the literal cut scores lower",
    DIFFERS_FROM_LOG: "logged score differs from the harness's",
}
# To end with a digit is no fault in itself: it is counted for the estimate, and not shown.
SHOWN_FLAWS = tuple(flaw for flaw in FLAW_TITLES if flaw != Flaw.ENDS_WITH_NUMBER.value)
SCHEMA = "leaderboard-bot/audit-drop/1"
DISTORTED = "score decided by the cut or by white space"
HEALTH_SENTENCES = {
    Health.SOUND: "the scores show what the models answered",
    Health.IMPAIRED: "the scores are biased by how generations were cut",
    Health.BROKEN: "the scores do not measure the models",
    Health.UNDETERMINED: f"fewer than {FEWEST_SAMPLES} samples could be scored",
}


def drop_json(audit: DropAudit) -> dict[str, Any]:
    """Return the report for a program; later versions only add keys."""
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "health": audit.health,
        "findings": [_finding(finding) for finding in (*audit.symptoms, *audit.findings)],
        "figures": msgspec.to_builtins(audit.figures),
        "ranks": msgspec.to_builtins(audit.ranks),
        "logs": [_log(log) for log in audit.logs],
    }


def document(audit: DropAudit) -> tuple[str, str, list[Section]]:
    """Return title, lead and sections of the report."""
    title = f"DROP is {audit.health}: {HEALTH_SENTENCES[audit.health]}"
    return title, f"{'; '.join(_facts(audit.figures))}.", list(_sections(audit))


def _sections(audit: DropAudit) -> Iterator[Section]:
    figures = audit.figures
    findings = [*audit.symptoms, *audit.findings, *(finding for log in audit.logs for finding in log.findings)]
    if findings:
        yield Section("Findings", list(map(_finding_line, findings)))
    if figures.samples:
        yield Section("Scores with and without the repair", [_scores(figures)])
        yield Section("Flaws, as shares of all samples", [_flaws(figures)])
        yield Section("Samples to run again", [_rerun(figures)])
    if len(audit.logs) > 1:
        yield Section("Logs", [_logs(audit.logs)])
    for flaw in SHOWN_FLAWS:
        shown = [_example_line(example) for log in audit.logs for example in log.examples.get(flaw, [])]
        if shown:
            yield Section(f"Examples: {FLAW_TITLES[flaw]}", shown)


def _finding_line(finding: Finding) -> str:
    """A finding in one line: severity, rule, place, message, hint."""
    location = finding.location
    line = f":{location.line}" if location.line else ""
    where = f" {location.path}{line}:" if location.path else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{finding.severity}[{finding.rule}]{where} {finding.message}{hint}"


def _facts(figures: Figures) -> Iterator[str]:
    """What was read, and the figures that no table holds."""
    forms = ", ".join(f"{count} {form}" for form, count in figures.forms.items())
    yield f"{figures.samples} samples" + (f" ({forms})" if forms else "")
    yield f"{figures.logged} with a logged score, of which {figures.differing} differ"
    if stops := ", ".join(figures.until):
        yield f"stop words {stops}"
    decimals = figures.decimals
    yield f"decimal answers right: {decimals.right} of {decimals.samples}"
    yield f"whole-number answers right: {decimals.integer_right} of {decimals.integer_samples}"
    if figures.correlation is not None:
        yield f"length and f1 correlate with r = {figures.correlation:.2f}"


def _scores(figures: Figures) -> Table:
    """Return em and f1 as scored and repaired."""
    first, text = figures.first_line, figures.first_text_line
    rows = (
        ("as the harness scores it", figures.scored.em, figures.scored.f1, None, None),
        ("cut at the first line break", first.em, first.f1, first.better, first.worse),
        ("cut at the first line of text", text.em, text.f1, text.better, text.worse),
    )
    return Table(("generations", "em", "f1", "better", "worse"), rows)


def _flaws(figures: Figures) -> Table:
    """Return how many samples show each flaw."""
    shares = [(FLAW_TITLES[name], share) for name, share in figures.flaws.items()]
    shares.insert(1, ("  of these, the score rises without it", figures.glued_number_costs))
    shares.append(("begins with a line break", figures.starts_with_break))
    shares.append(("  of these, the literal cut scores lower", figures.literal_cut_is_worse))
    shares.append((DISTORTED, figures.distorted))
    rows = tuple((title, share.samples, share.share) for title, share in shares)
    return Table(("flaw", "samples", "share"), rows)


def _rerun(figures: Figures) -> Table:
    """Return what must be run again, as the log is and after the cut."""
    rerun = figures.rerun
    pairs = zip(_bounds(rerun.as_logged), _bounds(rerun.after_cut), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (title, logged.samples, logged.share, cut.samples, cut.share) for (title, logged), (_, cut) in pairs
    ]
    settled = rerun.settled_by_cut
    rows.append(("settled by the cut alone", settled.samples, settled.share, None, None))
    columns = ("to run again", "samples", "share", "after the cut", "share after")
    caption = f"Of what is not cut, {rerun.ends_with_number_of_rest:.1%} ends with a digit."
    return Table(columns, tuple(rows), caption)


def _bounds(bounds: RerunBounds) -> list[tuple[str, Share]]:
    return [
        ("at least: decimals cut", bounds.lower),
        ("perhaps: also what ends with a digit", bounds.possible),
        ("at most: also glued numbers", bounds.upper),
    ]


def _logs(logs: Iterable[LogAudit]) -> Table:
    """Return one row for each log."""
    rows = tuple(
        (
            log.path,
            one.samples,
            sum(group.count for group in log.skipped),
            *((one.scored.f1, one.first_text_line.f1, one.distorted.share) if one.samples else (None, None, None)),
            str(log.health),
        )
        for log, one in ((log, log.figures) for log in logs)
    )
    columns = ("log", "samples", "skipped", "f1", "f1 after the cut", "decided by flaws", "health")
    return Table(columns, rows)


def _example_line(example: Example) -> str:
    """A sample with its scores: logged, computed, repaired; quotation marks show the white space around its texts."""
    parts = [f"em {example.score.em:.0f}, f1 {example.score.f1:.2f}"]
    if example.logged is not None:
        parts.insert(0, f"logged em {example.logged[0]}, f1 {example.logged[1]}")
    if example.repaired is not None:
        parts.append(f"em {example.repaired.em:.0f}, f1 {example.repaired.f1:.2f} repaired")
    golds = " or ".join(f'"{gold}"' for gold in example.golds)
    return f'{example.path}:{example.line}: "{example.prediction}" for {golds}: {" -> ".join(parts)}'


def _log(log: LogAudit) -> dict[str, Any]:
    return {
        "path": log.path,
        "health": log.health,
        "findings": [_finding(finding) for finding in (*log.findings, *log.symptoms)],
        "skipped": msgspec.to_builtins(log.skipped),
        "figures": msgspec.to_builtins(log.figures),
        "examples": {topic: list(map(_example, shown)) for topic, shown in log.examples.items()},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "location": {"path": finding.location.path, "line": finding.location.line},
    }


def _example(example: Example) -> dict[str, Any]:
    return {
        "line": example.line,
        "prediction": example.prediction,
        "golds": list(example.golds),
        "score": _score(example.score),
        "repaired": _score(example.repaired),
        "logged": _score(example.logged),
    }


def _score(score: DropScore | tuple[float | None, float | None] | None) -> dict[str, float | None] | None:
    if score is None:
        return None
    em, f1 = (value if value is not None and isfinite(value) else None for value in score)
    return {"em": em, "f1": f1}
