"""An audit of DROP in, the same as text or Markdown out; what came from samples is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.audit.drop.audit import DropAudit, LogAudit
from bot.audit.drop.detectors import Flaw
from bot.audit.drop.exhibits import DIFFERS_FROM_LOG, LITERAL_CUT_IS_WORSE, Example
from bot.audit.drop.figures import Bounds, Figures, Share
from bot.audit.drop.verdict import FEWEST_SAMPLES, Verdict
from bot.finding import Finding
from bot.render.chart import Cell, Table
from bot.render.escape import code, visible
from bot.render.table import markdown_table, text_table

VERDICTS = {
    Verdict.SOUND: "the scores show what the models answered",
    Verdict.IMPAIRED: "the scores are biased by how generations were cut",
    Verdict.BROKEN: "the scores do not measure the models",
    Verdict.UNDETERMINED: f"fewer than {FEWEST_SAMPLES} samples could be scored",
}
TOPICS = {
    Flaw.GLUED_NUMBER.value: "number glued to white space that is no space",
    Flaw.DECIMAL_CUT.value: 'decimal answer cut at the stop word "."',
    Flaw.DESTROYED_DECIMAL.value: "decimal destroyed with its punctuation",
    Flaw.RUNS_ON.value: "generation runs on past the line of the answer",
    Flaw.ENDS_WITH_NUMBER.value: 'ends with a digit: perhaps cut at "."',
    Flaw.RENDERED_PROMPT.value: "few-shot answers are field names, not answers",
    Flaw.RENDERED_TARGET.value: "logged target is field names, not the answer",
    LITERAL_CUT_IS_WORSE: "begins with a line break: the literal cut scores worse",
    DIFFERS_FROM_LOG: "logged score is not the harness's",
}
# Ending with a digit is no fault by itself: it is counted for the estimate, and not shown.
SHOWN = tuple(topic for topic in TOPICS if topic != Flaw.ENDS_WITH_NUMBER.value)


def audit_drop_text(audit: DropAudit) -> str:
    """Return the audit for a person at a terminal."""
    parts = [
        f"DROP is {audit.verdict}: {VERDICTS[audit.verdict]}",
        "\n".join(map(finding_line, all_findings(audit))),
        summary(audit.figures),
        *map(text_table, tables(audit)),
        *(_text_examples(topic, examples) for topic, examples in examples_by_topic(audit)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def audit_drop_markdown(audit: DropAudit) -> str:
    """Return the audit for a comment, an issue, or a card."""
    parts = [
        f"## DROP is {audit.verdict}",
        f"{VERDICTS[audit.verdict].capitalize()}.",
        "\n".join(map(_markdown_finding, all_findings(audit))),
        _markdown_summary(audit.figures),
        *map(markdown_table, tables(audit)),
        *(_markdown_examples(topic, examples) for topic, examples in examples_by_topic(audit)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def all_findings(audit: DropAudit) -> Iterator[Finding]:
    """Yield the findings about the benchmark, then those about the files."""
    yield from audit.symptoms
    yield from audit.findings
    for log in audit.logs:
        yield from log.findings


def finding_line(finding: Finding) -> str:
    """Return a finding in one line: severity, rule, place, message, hint."""
    where = f" {place(finding)}:" if finding.location.path else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return visible(f"{finding.severity}[{finding.rule}]{where} {finding.message}{hint}")


def place(finding: Finding) -> str:
    """Return path and line of a finding, without the line where it has none."""
    location = finding.location
    return f"{location.path}:{location.line}" if location.line else location.path


def _markdown_finding(finding: Finding) -> str:
    where = f" {code(place(finding))}:" if finding.location.path else ""
    hint = f" _{finding.hint}_" if finding.hint else ""
    return f"- **{finding.severity}** `{finding.rule}`{where} {finding.message}.{hint}"


def summary(figures: Figures) -> str:
    """Return what was read, and the two figures of the whole that no table holds."""
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


def tables(audit: DropAudit) -> list[Table]:
    """Return the tables that every form of the report shows."""
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
    return Table(("generations", "em", "f1", "better", "worse"), rows, "Scores, without and with the repair")


def flaws_table(figures: Figures) -> Table:
    """Return how many samples show each flaw."""
    shares = [(TOPICS[name], share) for name, share in figures.flaws.items()]
    shares.insert(1, ("  of these, the score rises when it is not", figures.glued_number_costs))
    shares.append(("begins with a line break", figures.starts_with_break))
    shares.append(("  of these, the literal cut scores worse", figures.literal_cut_is_worse))
    shares.append(("score decided by the cut or by white space", figures.distorted))
    rows = tuple((title, share.samples, share.share) for title, share in shares)
    return Table(("flaw", "samples", "share"), rows, "Flaws, as shares of all samples")


def rerun_table(figures: Figures) -> Table:
    """Return what must be run again, as the log stands and after the cut."""
    rerun = figures.rerun
    pairs = zip(_bounds(rerun.as_logged), _bounds(rerun.after_cut), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (title, logged.samples, logged.share, cut.samples, cut.share) for (title, logged), (_, cut) in pairs
    ]
    settled = rerun.settled_by_cut
    rows.append(("settled by the cut alone", settled.samples, settled.share, None, None))
    columns = ("to run again", "samples", "share", "after the cut", "share after")
    caption = f"What must be run again ({rerun.ends_with_number_of_rest:.1%} of what is not cut ends with a digit)"
    return Table(columns, tuple(rows), caption)


def _bounds(bounds: Bounds) -> list[tuple[str, Share]]:
    return [
        ("at least: decimals cut", bounds.lower),
        ("perhaps: and ending with a digit", bounds.possible),
        ("at most: and numbers glued", bounds.upper),
    ]


def logs_table(logs: Iterable[LogAudit]) -> Table:
    """Return one row for each log."""
    rows = tuple(
        (
            visible(log.path),
            log.figures.samples,
            sum(group.count for group in log.left_out),
            *_scores_of(log.figures),
            str(log.verdict),
        )
        for log in logs
    )
    columns = ("log", "samples", "left out", "f1", "f1 after the cut", "decided by flaws", "verdict")
    return Table(columns, rows, "Logs")


def _scores_of(figures: Figures) -> tuple[float | None, float | None, float | None]:
    if not figures.samples:
        return None, None, None
    return figures.scored.f1, figures.first_text_line.f1, figures.distorted.share


def examples_by_topic(audit: DropAudit) -> Iterator[tuple[str, list[Example]]]:
    """Yield the examples of all logs for each flaw that has any."""
    for topic in SHOWN:
        shown = [example for log in audit.logs for example in log.examples.get(topic, [])]
        if shown:
            yield topic, shown


def change(example: Example) -> str:
    """Return the scores of an example: logged, computed, repaired."""
    parts = [f"em {example.score.em:.0f}, f1 {example.score.f1:.2f}"]
    if example.logged is not None:
        parts.insert(0, f"logged em {example.logged[0]}, f1 {example.logged[1]}")
    if example.repaired is not None:
        parts.append(f"em {example.repaired.em:.0f}, f1 {example.repaired.f1:.2f} repaired")
    return " -> ".join(parts)


def _text_examples(topic: str, examples: list[Example]) -> str:
    lines = [
        visible(
            f"  {example.path}:{example.line}: {quoted(example.prediction)}"
            f" for {' or '.join(map(quoted, example.golds))}: {change(example)}"
        )
        for example in examples
    ]
    return "\n".join([f"Example of {TOPICS[topic]}", *lines])


def _markdown_examples(topic: str, examples: list[Example]) -> str:
    lines = [
        f"- {code(f'{example.path}:{example.line}')} {code(quoted(example.prediction))}"
        f" for {code(' or '.join(map(quoted, example.golds)))}: {change(example)}"
        for example in examples
    ]
    return "\n".join([f"### {TOPICS[topic][0].upper()}{TOPICS[topic][1:]}", "", *lines])


def quoted(text: str) -> str:
    """Return a text in quotation marks, so that its outer white space can be seen."""
    return f'"{visible(text)}"'
