"""The JSON report on submissions and their rows: schema leaderboard-bot/report/2, additive changes only."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec

from bot import __version__
from bot.evaluation.finding import Finding
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import EvidenceDemand
from bot.evaluation.measurement import coverage_of
from bot.evaluation.result import HarnessVersion, Model
from bot.evaluation.row_key import key_of
from bot.evaluation.rules import SAMPLE_RULES
from bot.evaluation.score import TaskScore
from bot.evaluation.verdict import Judgement, Row, Verdict
from bot.reporting.escape import plain_json

SCHEMA = "leaderboard-bot/report/2"
OF_MODEL, OF_HARNESS = ("id", "revision", "precision", "chat_template"), ("name", "repository", "git_hash", "version")


def make_report(judgement: Judgement) -> dict[str, Any]:
    """The whole report as plain JSON values."""
    leaderboard = judgement.leaderboard
    body = {
        "leaderboard": {
            "id": leaderboard.id,
            "digest": leaderboard.digest,
            "scoring_digest": leaderboard.scoring_digest,
        },
        "rows": [_row(row) for row in judgement.rows],
        "submissions": [_submission(verdict) for verdict in judgement.verdicts],
        "unread": [{"path": one.path, "kind": one.kind, "why": one.why} for one in judgement.unread],
        "summary": summarize(judgement),
    }
    return {"schema": SCHEMA, "tool": {"version": __version__}, **body, "digest": _digest(body)}


def sample_logs(judgement: Judgement) -> list[dict[str, Any]]:
    """What the sample logs beside each submission show, whether or not the leaderboard asks for them.

    It is no part of the report that is made of the submissions alone, nor of its digest.
    """
    board = judgement.leaderboard
    asking = board.model_copy(update={"evidence": EvidenceDemand(samples="checked")})
    found = []
    for verdict in judgement.verdicts:
        if verdict.parsed.samples is not None:
            findings = judge(verdict.parsed, asking, rules=SAMPLE_RULES).findings
            logs = [{"leaf": one.leaf, "log": one.path, "sha256": one.sha256,
                     "samples": one.count, "documents": one.documents,
                     "rescored": sorted(one.answers), "means": sorted(one.means)}
                    for one in verdict.parsed.samples]  # fmt: skip
            said = [{"rule": one.rule, "severity": str(one.severity), "message": one.message} for one in findings]
            found.append({"path": verdict.path, "logs": logs, "findings": said})
    return found


def to_json(report: Mapping[str, Any]) -> str:
    """The report as text; it never holds NaN, nor what the runner of a workflow takes for a command (`##[…]`).

    What a terminal would not show as it is (control characters, marks of direction, halves of surrogates) is escaped.
    """
    data = json.dumps(report, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    indented = msgspec.json.format(data, indent=2)  # ten times as fast as `json.dumps` with an indent
    return plain_json(indented.decode("utf-8", "surrogatepass"))


def summarize(judgement: Judgement) -> dict[str, Any]:
    """How many rows have each verdict, how many submissions have errors, and how many files of each kind are unread.

    A submission that no format reads is in no row and counts as a rejected one.
    """
    counts = dict.fromkeys(("accepted", "incomplete", "rejected"), 0)
    for row in judgement.rows:
        counts[row.status] += 1
    counts["rejected"] += len(judgement.unreadable)
    submissions = Counter(verdict.status for verdict in judgement.verdicts)
    return {
        **counts,
        "submissions": {status: submissions[status] for status in ("accepted", "rejected")},
        "unread": dict(sorted(Counter(one.kind for one in judgement.unread).items())),
    }


def _digest(body: Mapping[str, Any]) -> str:
    """The SHA-256 of the report without paths and lines: the same wherever the files lie and whatever is shown."""
    names = {one["path"]: one["sha256"] for one in body["submissions"]}
    submissions = sorted(
        _canonical({**one, "path": one["sha256"], "findings": _placeless_findings(one, names)})
        for one in body["submissions"]
    )
    rows = _canonical([_placeless_row(row, names) for row in body["rows"]])
    board = _canonical(body["leaderboard"]["digest"])
    placeless = f'{{"leaderboard":{board},"rows":{rows},"submissions":[{",".join(submissions)}]}}'
    return "sha256:" + hashlib.sha256(placeless.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _placeless_row(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A row with the SHA-256 of each file for its path, and findings without messages, which may name files."""
    findings = _placeless_findings(row, names)
    tasks = [
        {**task, "leaves": [{**leaf, "file": names.get(leaf["file"], "")} for leaf in task["leaves"]]}
        for task in row["scores"]["tasks"]
    ]
    return {
        **row,
        "scores": {**row["scores"], "tasks": tasks},
        "findings": [{key: value for key, value in one.items() if key != "message"} for one in findings],
        "files": [names.get(path, "") for path in row["files"]],
    }


def _placeless_findings(one: Mapping[str, Any], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The findings without lines, with a SHA-256 for the path; the path of another file becomes empty."""
    places = [(finding, finding["location"]) for finding in one["findings"]]
    return [
        {**finding, "location": {"path": names.get(place["path"], ""), "pointer": place["pointer"]}}
        for finding, place in places
    ]


def _submission(verdict: Verdict) -> dict[str, Any]:
    result, leaderboard = verdict.result, verdict.leaderboard
    coverage = coverage_of(verdict.measurements, leaderboard) if verdict.measurements else None
    return {
        "path": verdict.path,
        "sha256": verdict.sha256,
        "format": verdict.parsed.format,
        "key": key_of(leaderboard.id, result.model).text if result else None,
        "model": _fields(verdict.own or result.model, OF_MODEL) if result else None,
        "harness": _fields(result.harness, OF_HARNESS) if result else None,
        "verdict": verdict.status,
        "leaves": coverage.present if coverage else 0,
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "key": row.key.text,
        "model": _fields(row.model, OF_MODEL),
        "verdict": row.status,
        "coverage": msgspec.to_builtins(row.coverage),
        "scores": {
            "average": row.scores.average,
            "stderr": row.scores.stderr,
            "tasks": [_task(task) for task in row.scores.tasks],
            **({"groups": msgspec.to_builtins(row.scores.groups)} if row.scores.groups else {}),
            **({"columns": msgspec.to_builtins(row.scores.columns)} if row.scores.columns else {}),
        },
        "findings": [_finding(finding) for finding in row.findings],
        "files": [verdict.path for verdict in row.files],
    }


def _fields(value: Model | HarnessVersion, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _finding(finding: Finding) -> dict[str, Any]:
    place = finding.location
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.advice,
        "command": finding.command,
        "location": {"path": place.path, "pointer": place.pointer, "line": place.line},
        "url": finding.url,
    }


def _task(task: TaskScore) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(task)
    for leaf in values["leaves"]:
        leaf["raw"] = leaf["raw"] if isfinite(leaf["raw"]) else None
    return values
