"""Write an audit of DROP as text, Markdown or JSON; what came from samples is escaped.

The JSON is one document of the schema leaderboard-bot/audit-drop/1; changes only add keys.
"""

from __future__ import annotations

import json
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
from bot.reporting.escape import code, visible
from bot.reporting.table import Cell, Table, markdown_table, text_table

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
DISTORTED = "score decided by the cut or by white space"


def tables(audit: DropAudit) -> list[Table]:
    """Return all tables of a report."""
    figures = audit.figures
    shown = [scores_table(figures), flaws_table(figures), rerun_table(figures)] if figures.samples else []
    return [*shown, logs_table(audit.logs)] if len(audit.logs) > 1 else shown


def scores_table(figures: Figures) -> Table:
    """Return em and f1 as scored and repaired."""
    first, text = figures.first_line, figures.first_text_line
    rows = (
        ("as the harness scores it", figures.scored.em, figures.scored.f1, None, None),
        ("cut at the first line break", first.em, first.f1, first.better, first.worse),
        ("cut at the first line of text", text.em, text.f1, text.better, text.worse),
    )
    return Table(("generations", "em", "f1", "better", "worse"), rows, "Scores with and without the repair")


def flaws_table(figures: Figures) -> Table:
    """Return how many samples show each flaw."""
    shares = [(FLAW_TITLES[name], share) for name, share in figures.flaws.items()]
    shares.insert(1, ("  of these, the score rises without it", figures.glued_number_costs))
    shares.append(("begins with a line break", figures.starts_with_break))
    shares.append(("  of these, the literal cut scores lower", figures.literal_cut_is_worse))
    shares.append((DISTORTED, figures.distorted))
    rows = tuple((title, share.samples, share.share) for title, share in shares)
    return Table(("flaw", "samples", "share"), rows, "Flaws, as shares of all samples")


def rerun_table(figures: Figures) -> Table:
    """Return what must be run again, as the log is and after the cut."""
    rerun = figures.rerun
    pairs = zip(_bounds(rerun.as_logged), _bounds(rerun.after_cut), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (title, logged.samples, logged.share, cut.samples, cut.share) for (title, logged), (_, cut) in pairs
    ]
    settled = rerun.settled_by_cut
    rows.append(("settled by the cut alone", settled.samples, settled.share, None, None))
    columns = ("to run again", "samples", "share", "after the cut", "share after")
    caption = f"Samples to run again ({rerun.ends_with_number_of_rest:.1%} of what is not cut ends with a digit)"
    return Table(columns, tuple(rows), caption)


def _bounds(bounds: RerunBounds) -> list[tuple[str, Share]]:
    return [
        ("at least: decimals cut", bounds.lower),
        ("perhaps: also what ends with a digit", bounds.possible),
        ("at most: also glued numbers", bounds.upper),
    ]


def logs_table(logs: Iterable[LogAudit]) -> Table:
    """Return one row for each log."""
    rows = tuple(
        (
            visible(log.path),
            log.figures.samples,
            sum(group.count for group in log.skipped),
            *_scores_of(log.figures),
            str(log.health),
        )
        for log in logs
    )
    columns = ("log", "samples", "skipped", "f1", "f1 after the cut", "decided by flaws", "health")
    return Table(columns, rows, "Logs")


def _scores_of(figures: Figures) -> tuple[float | None, float | None, float | None]:
    if not figures.samples:
        return None, None, None
    return figures.scored.f1, figures.first_text_line.f1, figures.distorted.share


HEALTH_SENTENCES = {
    Health.SOUND: "the scores show what the models answered",
    Health.IMPAIRED: "the scores are biased by how generations were cut",
    Health.BROKEN: "the scores do not measure the models",
    Health.UNDETERMINED: f"fewer than {FEWEST_SAMPLES} samples could be scored",
}


def audit_drop_text(audit: DropAudit, width: int | None = None) -> str:
    """Return the audit for a terminal; its tables are at most `width` columns wide, by default the terminal's."""
    parts = [
        f"DROP is {audit.health}: {HEALTH_SENTENCES[audit.health]}",
        "\n".join(map(finding_line, all_findings(audit))),
        summary(audit.figures),
        *(text_table(table, width) for table in tables(audit)),
        *(_text_examples(flaw, examples) for flaw, examples in examples_by_flaw(audit)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def audit_drop_markdown(audit: DropAudit) -> str:
    """Return the audit for a comment, an issue, or a card."""
    parts = [
        f"## DROP is {audit.health}",
        f"{capitalized(HEALTH_SENTENCES[audit.health])}.",
        "\n".join(map(_markdown_finding, all_findings(audit))),
        "; ".join(_facts(audit.figures, map(code, audit.figures.until))),
        *map(markdown_table, tables(audit)),
        *(_markdown_examples(flaw, examples) for flaw, examples in examples_by_flaw(audit)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def capitalized(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def all_findings(audit: DropAudit) -> Iterator[Finding]:
    """Yield the findings about the benchmark, then those about the files."""
    yield from audit.symptoms
    yield from audit.findings
    for log in audit.logs:
        yield from log.findings


def finding_line(finding: Finding) -> str:
    """Return a finding in one line: severity, rule, place, message, hint."""
    where = f" {_place(finding)}:" if finding.location.path else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return visible(f"{finding.severity}[{finding.rule}]{where} {finding.message}{hint}")


def _place(finding: Finding) -> str:
    location = finding.location
    return f"{location.path}:{location.line}" if location.line else location.path


def _markdown_finding(finding: Finding) -> str:
    where = f" {code(_place(finding))}:" if finding.location.path else ""
    hint = f" _{finding.hint}_" if finding.hint else ""
    return f"- **{finding.severity}** `{finding.rule}`{where} {finding.message}.{hint}"


def summary(figures: Figures) -> str:
    """Return what was read, and the figures that no table holds."""
    return visible("; ".join(_facts(figures, figures.until)))


def _facts(figures: Figures, until: Iterable[str]) -> Iterator[str]:
    forms = ", ".join(f"{count} {form}" for form, count in figures.forms.items())
    yield f"{figures.samples} samples" + (f" ({forms})" if forms else "")
    yield f"{figures.logged} with a logged score, of which {figures.differing} differ"
    if stops := ", ".join(until):
        yield f"stop words {stops}"
    decimals = figures.decimals
    yield f"decimal answers right: {decimals.right} of {decimals.samples}"
    yield f"whole-number answers right: {decimals.integer_right} of {decimals.integer_samples}"
    if figures.correlation is not None:
        yield f"length and f1 correlate with r = {figures.correlation:.2f}"
    if figures.words_per_gold_word is not None:
        yield f"{figures.words_per_gold_word:.1f} generated words for each word of the answer"


def examples_by_flaw(audit: DropAudit) -> Iterator[tuple[str, list[Example]]]:
    """Yield the examples of all logs for each flaw that has any."""
    for flaw in SHOWN_FLAWS:
        shown = [example for log in audit.logs for example in log.examples.get(flaw, [])]
        if shown:
            yield flaw, shown


def change(example: Example) -> str:
    """Return the scores of an example: logged, computed, repaired."""
    parts = [f"em {example.score.em:.0f}, f1 {example.score.f1:.2f}"]
    if example.logged is not None:
        parts.insert(0, f"logged em {example.logged[0]}, f1 {example.logged[1]}")
    if example.repaired is not None:
        parts.append(f"em {example.repaired.em:.0f}, f1 {example.repaired.f1:.2f} repaired")
    return " -> ".join(parts)


def _text_examples(flaw: str, examples: list[Example]) -> str:
    lines = [
        visible(
            f"  {example.path}:{example.line}: {quoted(example.prediction)}"
            f" for {' or '.join(map(quoted, example.golds))}: {change(example)}"
        )
        for example in examples
    ]
    return "\n".join([f"Examples: {FLAW_TITLES[flaw]}", *lines])


def _markdown_examples(flaw: str, examples: list[Example]) -> str:
    lines = [
        f"- {code(f'{example.path}:{example.line}')} {code(quoted(example.prediction))}"
        f" for {code(' or '.join(map(quoted, example.golds)))}: {change(example)}"
        for example in examples
    ]
    return "\n".join([f"### {capitalized(FLAW_TITLES[flaw])}", "", *lines])


def quoted(text: str) -> str:
    """Return a text in quotation marks, which show the white space around it."""
    return f'"{visible(text)}"'


SCHEMA = "leaderboard-bot/audit-drop/1"


def audit_drop_json(audit: DropAudit) -> str:
    """Return the document in ASCII, because half a surrogate pair from a sample is not UTF-8."""
    document = {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "health": audit.health,
        "findings": [_finding(finding) for finding in (*audit.symptoms, *audit.findings)],
        "figures": msgspec.to_builtins(audit.figures),
        "ranks": msgspec.to_builtins(audit.ranks),
        "logs": [_log(log) for log in audit.logs],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


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
