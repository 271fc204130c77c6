"""A judgement as Markdown, for a step summary, a comment or a request; what strangers wrote is in code spans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bot.evaluation.finding import Finding
from bot.evaluation.join import verdicts_by_key
from bot.evaluation.score import Scores
from bot.evaluation.verdict import Judgement, Row, Verdict
from bot.reporting.escape import brief, cell, code, visible
from bot.reporting.shell import shell_lines
from bot.reporting.text import advised_once, findings_told, in_one_clone, is_spare, of_row_told, spare_said, where_to

SIGNS = {"accepted": "✅", "incomplete": "🟡", "rejected": "❌"}
ORDER = ("rejected", "incomplete", "accepted")
FENCE = "```"


def judgement_markdown(judgement: Judgement, below: Callable[[Row], str] = lambda _: "") -> str:
    """The submissions that no format reads, then every row, the worst first, each with what is said below it."""
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    rows = sorted(judgement.rows, key=lambda row: ORDER.index(row.status))
    above: set[str] = set()
    parts = [verdict_markdown(verdict, above) for verdict in judgement.unreadable]
    return "\n".join([*parts, *(f"{row_markdown(row, files[row.key], above)}{below(row)}" for row in rows)])


def row_markdown(row: Row, files: Sequence[Verdict], above: set[str]) -> str:
    """One row: verdict, files with their findings, the row's findings, scores; `above` as in `advised_once`."""
    lines = [f"### {SIGNS[row.status]} {row.status}: {_model(row.model.id)}", ""]
    for file in files:
        spare = f": {code(spare_said(file, row))}" if is_spare(file, row) else ""
        lines += [f"File: {code(file.path)}{spare}", "", *_findings(findings_told(file, row), above)]
    lines += _findings(of_row_told(row), above)
    if row.repair is not None and not row.repair.command:
        lines += [f"{code(row.repair.hint)}", ""]
    elif row.repair is not None:
        repair = in_one_clone(row.repair, above)
        lines += [f"{code(repair.hint.rstrip(':'))}:", "", *_block(repair.command), "", where_to(repair), ""]
    lines.append(score_rows(row.scores))
    return "\n".join(lines).rstrip() + "\n"


def verdict_markdown(verdict: Verdict, above: set[str]) -> str:
    """One submission: verdict and findings; `above` as in `advised_once`."""
    name = _model(verdict.result.model.id) if verdict.result else "no result"
    lines = [f"### {SIGNS[verdict.status]} {verdict.status}: {name}", "", f"File: {code(verdict.path)}", ""]
    return "\n".join([*lines, *_findings(verdict.findings, above)]).rstrip() + "\n"


def _model(name: str) -> str:
    return code(brief(name)) if name else "a model without a name"


def _findings(findings: Sequence[Finding], above: set[str]) -> list[str]:
    lines = [line for finding in advised_once(findings, above) for line in finding_markdown(finding)]
    return [*lines, ""] if lines else []


def finding_markdown(finding: Finding) -> Iterator[str]:
    """One finding as an item of a list, its hint and its command below it."""
    line = f", line {finding.location.line}" if finding.location.line else ""
    yield f"- **{finding.severity}** [`{finding.rule}`]({finding.url}){line}: {code(finding.message)}"
    if finding.hint:
        yield f"  - {code(finding.hint.rstrip(':'))}" + (":" if finding.command else "")
    if finding.command:
        yield from ("", *(f"    {line}" for line in _block(finding.command)))


def _block(command: str) -> list[str]:
    return [f"{FENCE}sh", *shell_lines(visible(command)), FENCE]


def score_rows(scores: Scores) -> str:
    """Raw value, score and standard error of each task, and their mean."""
    lines = ["| Task | Raw | Score | Stderr |", "| --- | ---: | ---: | ---: |"]
    for task in scores.tasks:
        cells = (cell(task.raw, 4), cell(task.score, 2), cell(task.stderr, 2))
        lines.append(f"| {task.title} | " + " | ".join(cells) + " |")
    lines += [f"| **{one.title}** | | {cell(one.score, 2)} | {cell(one.stderr, 2)} |" for one in scores.groups]
    lines.append(f"| **Average** | | **{cell(scores.average, 2)}** | {cell(scores.stderr, 2)} |")
    return "\n".join(lines)
