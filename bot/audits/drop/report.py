"""Write an audit of DROP as text or as Markdown; what came from samples is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.audits.drop.audit import DropAudit
from bot.audits.drop.examples import Example
from bot.audits.drop.figures import Figures
from bot.audits.drop.health import FEWEST_SAMPLES, Health
from bot.audits.drop.tables import FLAW_TITLES, SHOWN_FLAWS, tables
from bot.evaluation.finding import Finding
from bot.reporting.escape import code, visible
from bot.reporting.table import markdown_table, text_table

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
        _markdown_summary(audit.figures),
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


def _markdown_summary(figures: Figures) -> str:
    return "; ".join(_facts(figures, map(code, figures.until)))


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
