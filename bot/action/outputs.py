"""What the workflow sees of us: outputs, step summary and report written where the runner said."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.leaderboard import Leaderboard
from bot.pipeline import Verdict
from bot.render.escape import visible
from bot.render.explanation import explain
from bot.render.markdown import verdict_markdown
from bot.render.report import make_report, submission_report, summarize, to_json

CLAIM_LIMIT = 20_000_000  # bytes of a report that somebody else wrote
SUMMARY_LIMIT = 1_000_000  # bytes; GitHub drops a step's summary past 1 MiB
CUT = "\n… cut: the report has all submissions.\n"
ORDER = ("rejected", "incomplete", "accepted")


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


def outputs_of(verdicts: Sequence[Verdict], report: str, published: Sequence[str]) -> Outputs:
    """What a run came to: the worst verdict ("none" without a file), and the average where there is one file."""
    counts = summarize(verdicts)
    worst = next((status for status in ORDER if counts[status]), "none")
    scores = verdicts[0].scores if len(verdicts) == 1 else None
    average = "" if scores is None or scores.average is None else repr(scores.average)
    numbers = {status: str(count) for status, count in counts.items()}
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


def write_report(verdicts: Sequence[Verdict], leaderboard: Leaderboard, environ: Mapping[str, str]) -> str:
    """Write the JSON report into a folder of its own below RUNNER_TEMP, and give its path."""
    folder = tempfile.mkdtemp(prefix="leaderboard-bot-", dir=environ.get("RUNNER_TEMP") or None)
    path = Path(folder) / "report.json"
    path.write_text(to_json(make_report(verdicts, leaderboard)) + "\n", encoding="utf-8")
    return str(path)


def read_claim(path: str) -> frozenset[tuple[str, str]] | None:
    """The digests, by path, that somebody else's report claims; None where it is no report.

    It comes from a run of the submitter's, so it may hold anything: its size is bounded, and of all its texts none is
    ever shown.
    """
    try:
        with Path(path).open("rb") as file:
            report = json.loads(file.read(CLAIM_LIMIT + 1)[:CLAIM_LIMIT])
        return frozenset((str(one["path"]), str(one["digest"])) for one in report["submissions"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def digests(verdicts: Sequence[Verdict]) -> frozenset[tuple[str, str]]:
    """The digests, by path, of our own verdicts."""
    return frozenset((one["path"], one["digest"]) for one in map(submission_report, verdicts))


def summary_markdown(verdicts: Sequence[Verdict]) -> str:
    """Every verdict with its findings and scores, and the way of each number folded below it."""
    return "\n".join(f"{verdict_markdown(verdict)}\n{explanation_markdown(verdict)}" for verdict in verdicts)


def explanation_markdown(verdict: Verdict) -> str:
    """The explanation as a fold; every line of it is indented, so that none can end the block."""
    if verdict.scores is None:
        return ""
    lines = [f"    {visible(line)}" for line in explain(verdict).splitlines()]
    return "\n".join(["<details><summary>Where each number comes from</summary>", "", *lines, "", "</details>", ""])
