"""Verdicts in, Markdown out, for a step summary, a comment or a request; what strangers wrote stands in code spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.finding import Finding
from bot.pipeline import Verdict
from bot.render.escape import brief, code, visible
from bot.score import Scores

SIGNS = {"accepted": "✅", "incomplete": "🟡", "rejected": "❌"}


def verdict_markdown(verdict: Verdict) -> str:
    """One submission: verdict, findings, scores."""
    name = (
        code(brief(verdict.result.model.id)) if verdict.result and verdict.result.model.id else "a model without a name"
    )
    lines = [f"### {SIGNS[verdict.status]} {verdict.status}: {name}", "", f"File: {code(verdict.path)}", ""]
    lines += [line for finding in verdict.findings for line in finding_markdown(finding)]
    if verdict.scores is not None:
        lines += ["", score_table(verdict.scores)]
    return "\n".join(lines).rstrip() + "\n"


def finding_markdown(finding: Finding) -> Iterator[str]:
    """One finding as an item of a list, its hint below it."""
    line = f", line {finding.location.line}" if finding.location.line else ""
    yield f"- **{finding.severity}** [`{finding.rule}`]({finding.url}){line}: {code(finding.message)}"
    if finding.hint:
        before, command, after = visible(finding.hint).partition("lm_eval --")
        yield f"  - {code(before.rstrip(': ')) if before.strip() else 'do'}" + (":" if command else "")
        if command:
            yield from ("", "    ```sh", f"    {command}{after}", "    ```")


def score_table(scores: Scores) -> str:
    """Raw value, score and standard error of each task, and their mean."""
    lines = ["| Task | Raw | Score | ± |", "| --- | ---: | ---: | ---: |"]
    for task in scores.tasks:
        cells = (cell(task.raw, 4), cell(task.score, 2), cell(task.stderr, 2))
        lines.append(f"| {task.title} | " + " | ".join(cells) + " |")
    lines.append(f"| **Average** | | **{cell(scores.average, 2)}** | {cell(scores.stderr, 2)} |")
    return "\n".join(lines)


def cell(value: float | None, digits: int) -> str:
    """A number for people, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def report_markdown(verdicts: Sequence[Verdict]) -> str:
    """All submissions."""
    return "\n".join(verdict_markdown(verdict) for verdict in verdicts)
