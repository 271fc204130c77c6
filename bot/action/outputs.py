"""Write the outputs, step summary and report of a run to the places that the runner names."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.evaluation.verdict import Judgement, Row
from bot.reporting.escape import visible
from bot.reporting.explanation import explain
from bot.reporting.markdown import ORDER, judgement_markdown
from bot.reporting.report import summarize, to_json

SUMMARY_LIMIT = 1_000_000  # bytes; GitHub drops a step's summary past 1 MiB
CUT = "\n… cut: the report has all submissions.\n"


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of `action.yml`; "" is how a workflow sees none."""

    verdict: str = ""
    accepted: str = "0"
    incomplete: str = "0"
    rejected: str = "0"
    average: str = ""
    report: str = ""
    pull_request: str = ""


def outputs_of(judgement: Judgement, report: str, published: Sequence[str]) -> Outputs:
    """The outcome of a run: the worst verdict ("none" without a file), and the average where there is one row."""
    counts = summarize(judgement)
    worst = next((status for status in ORDER if counts[status]), "none")
    scores = judgement.rows[0].scores if len(judgement.rows) == 1 and worst != "rejected" else None
    average = "" if scores is None or scores.average is None else repr(scores.average)
    numbers = {status: str(counts[status]) for status in ORDER}
    return Outputs(verdict=worst, average=average, report=report, pull_request="\n".join(published), **numbers)


def write_outputs(outputs: Outputs, environ: Mapping[str, str]) -> None:
    """Append to GITHUB_OUTPUT; a delimiter that nobody can guess keeps a value from ending itself early."""
    lines = []
    for name in outputs.__slots__:
        end = f"end-{secrets.token_hex(16)}"
        lines.append(f"{name.replace('_', '-')}<<{end}\n{getattr(outputs, name)}\n{end}\n")
    append(environ.get("GITHUB_OUTPUT", ""), "".join(lines))


def write_summary(text: str, environ: Mapping[str, str]) -> None:
    """Append to the step's summary, cut at the end of a line where GitHub would drop it all."""
    data = text.encode("utf-8", "replace")
    if len(data) > SUMMARY_LIMIT:
        data = data[: SUMMARY_LIMIT - len(CUT.encode())].rpartition(b"\n")[0] + CUT.encode()
    append(environ.get("GITHUB_STEP_SUMMARY", ""), data.decode("utf-8", "ignore"))


def append(path: str, text: str) -> None:
    """Add to one of the runner's files; outside of a runner there is none."""
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def write_report(report: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Write the JSON report into a folder of its own below RUNNER_TEMP, and give its path."""
    folder = tempfile.mkdtemp(prefix="leaderboard-bot-", dir=environ.get("RUNNER_TEMP") or None)
    path = Path(folder) / "report.json"
    path.write_text(to_json(report) + "\n", encoding="utf-8")
    return str(path)


def summary_markdown(judgement: Judgement) -> str:
    """Every row with its findings and scores, the worst first, and the way of each number folded below it."""
    return judgement_markdown(judgement, _explanation)


def _explanation(row: Row) -> str:
    """The explanation as a fold; every line of it is indented, so that none can end the block."""
    lines = [f"    {visible(line)}" for line in explain(row).splitlines()]
    return "\n".join(["", "<details><summary>Where each number comes from</summary>", "", *lines, "", "</details>", ""])
