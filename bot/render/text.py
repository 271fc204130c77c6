"""Verdicts in, text for a terminal out: the verdict first, then what is wrong, then the scores; 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from bot.entry import coverage_of
from bot.finding import Finding, Severity
from bot.pipeline import Verdict
from bot.render.escape import brief, visible
from bot.render.report import summarize
from bot.score import Scores

WIDTH = 80
SIGNS = {"accepted": "✓", "incomplete": "◐", "rejected": "✗"}
COLOURS = {"accepted": "32", "incomplete": "33", "rejected": "31", "error": "31", "warning": "33", "notice": "36"}


class Ink:
    """Colours, where there is a terminal to show them."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def paint(self, text: str, what: str) -> str:
        """The text in the colour of a verdict or a severity."""
        return f"\x1b[1;{COLOURS[what]}m{text}\x1b[0m" if self._colour else text

    def faint(self, text: str) -> str:
        """The text in grey."""
        return f"\x1b[2m{text}\x1b[0m" if self._colour else text


def verdict_text(verdict: Verdict, ink: Ink, *, quiet: bool = False) -> str:
    """One submission; `quiet` leaves out what is neither verdict nor finding."""
    lines = [_headline(verdict, ink), ink.faint(f"  {visible(verdict.path)}")]
    if not quiet:
        lines += [ink.faint(f"  {line}") for line in _circumstances(verdict)]
    for finding in verdict.findings:
        lines += ["", *finding_lines(finding, ink)]
    if verdict.scores is not None and not quiet and any(task.score is not None for task in verdict.scores.tasks):
        lines += ["", *(f"  {line}" for line in score_lines(verdict.scores))]
    return "\n".join(lines) + "\n"


def _headline(verdict: Verdict, ink: Ink) -> str:
    name = brief(verdict.result.model.id) if verdict.result and verdict.result.model.id else "(no model)"
    average = verdict.scores.average if verdict.scores else None
    sign = ink.paint(f"{SIGNS[verdict.status]} {verdict.status}", verdict.status)
    return f"{sign}  {name}  " + (f"average {average:.2f}" if average is not None else "no average")


def _circumstances(verdict: Verdict) -> Iterator[str]:
    if verdict.result is None or verdict.measures is None:
        return
    model, harness = verdict.result.model, verdict.result.harness
    coverage = coverage_of(verdict.measures, verdict.leaderboard)
    template = "chat template" if model.chat_template else "no chat template"
    yield f"{brief(model.precision) or 'unknown precision'}, revision {model.revision[:12] or 'unknown'}, {template}"
    commit = brief(harness.version or harness.git_hash or "commit unknown")
    yield f"{verdict.result.format}, {harness.name} {commit}"
    yield f"{coverage.present} of {coverage.required} subtasks for {verdict.leaderboard.id}"


def finding_lines(finding: Finding, ink: Ink) -> Iterator[str]:
    """One finding: rule and line, message, and what to do; a command is left in one piece to be copied."""
    line = f"  line {finding.location.line}" if finding.location.line else ""
    yield f"  {ink.paint(f'{finding.severity}[{finding.rule}]', str(finding.severity))}{ink.faint(line)}"
    yield from wrap(visible(finding.message), WIDTH, initial_indent="    ", subsequent_indent="    ")
    if finding.hint:
        before, command, after = visible(finding.hint).partition("lm_eval --")
        yield from wrap(f"→ {before}".rstrip(), WIDTH, initial_indent="    ", subsequent_indent="      ")
        if command:
            yield f"      {command}{after}"


def score_lines(scores: Scores) -> Iterator[str]:
    """The columns: raw value and score of each task, and their mean."""
    width = max(len(task.title) for task in scores.tasks)
    yield f"{'':{width}}  {'raw':>8}  {'score':>7}  {'±':>5}"
    for task in scores.tasks:
        raw, error = _cell(task.raw, "8.4f"), _cell(task.stderr, "5.2f")
        yield f"{task.title:{width}}  {raw}  {_cell(task.score, '7.2f')}  {error}"
    yield f"{'Average':{width}}  {'':8}  {_cell(scores.average, '7.2f')}  {_cell(scores.stderr, '5.2f')}"


def _cell(value: float | None, form: str) -> str:
    return f"{'–':>{form[0]}}" if value is None else f"{value:{form}}"


def summary_text(verdicts: Sequence[Verdict], ink: Ink) -> str:
    """One line over all submissions."""
    counts = summarize(verdicts)
    parts = [ink.paint(f"{number} {status}", status) for status, number in counts.items() if number]
    files = f"{len(verdicts)} submission" + ("s" if len(verdicts) != 1 else "")
    errors = sum(finding.severity is Severity.ERROR for verdict in verdicts for finding in verdict.findings)
    return f"{files}: {', '.join(parts)}; {errors} error{'s' if errors != 1 else ''}"
