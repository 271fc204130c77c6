"""Verdicts in, the JSON report out: schema leaderboard-bot/report/1, additive changes only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from bot import __version__
from bot.entry import coverage_of
from bot.finding import Finding
from bot.leaderboard import Leaderboard
from bot.pipeline import Verdict
from bot.score import LeafScore, TaskScore

SCHEMA = "leaderboard-bot/report/1"


def make_report(verdicts: Sequence[Verdict], leaderboard: Leaderboard) -> dict[str, Any]:
    """The whole report as plain JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"version": __version__},
        "leaderboard": {"id": leaderboard.id, "digest": leaderboard.digest},
        "submissions": [submission_report(verdict) for verdict in verdicts],
        "summary": summarize(verdicts),
    }


def to_json(report: dict[str, Any]) -> str:
    """The report as text; it never holds NaN."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)


def summarize(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many submissions had each verdict."""
    counts = {"accepted": 0, "incomplete": 0, "rejected": 0}
    for verdict in verdicts:
        counts[verdict.status] += 1
    return counts


def submission_report(verdict: Verdict) -> dict[str, Any]:
    """One submission; `digest` is over all of it but the paths, so it is the same wherever the file lies."""
    report: dict[str, Any] = {
        "path": verdict.path,
        "sha256": verdict.sha256,
        "format": verdict.result.format if verdict.result else None,
        "model": _model(verdict),
        "harness": _harness(verdict),
        "verdict": verdict.status,
        "coverage": _coverage(verdict),
        "findings": [_finding(finding) for finding in verdict.findings],
        "scores": _scores(verdict),
    }
    return {**report, "digest": _digest(report, verdict.leaderboard.digest)}


def _digest(report: dict[str, Any], leaderboard_digest: str) -> str:
    findings = [{**found, "location": {**found["location"], "path": ""}} for found in report["findings"]]
    placeless = {**report, "path": "", "findings": findings, "leaderboard": leaderboard_digest}
    text = json.dumps(placeless, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _model(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.result is None:
        return None
    model = verdict.result.model
    return {
        "id": model.id,
        "revision": model.revision,
        "precision": model.precision,
        "chat_template": model.chat_template,
    }


def _harness(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.result is None:
        return None
    harness = verdict.result.harness
    return {
        "name": harness.name,
        "repository": harness.repository,
        "git_hash": harness.git_hash,
        "version": harness.version,
    }


def _coverage(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.measures is None:
        return None
    coverage = coverage_of(verdict.measures, verdict.leaderboard)
    return {
        "leaves": {"present": coverage.present, "required": coverage.required},
        "missing": list(coverage.missing),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    place = finding.location
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "location": {"path": place.path, "pointer": place.pointer, "line": place.line},
        "url": finding.url,
    }


def _scores(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.scores is None:
        return None
    return {"average": verdict.scores.average, "tasks": [_task(task) for task in verdict.scores.tasks]}


def _task(task: TaskScore) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "raw": task.raw,
        "score": task.score,
        "stderr": task.stderr,
        "leaves": [_leaf(leaf) for leaf in task.leaves],
    }


def _leaf(leaf: LeafScore) -> dict[str, Any]:
    return {
        "id": leaf.id,
        "metric": leaf.metric,
        "samples": leaf.samples,
        "raw": leaf.raw if isfinite(leaf.raw) else None,
        "lower_bound": leaf.lower_bound,
        "upper_bound": leaf.upper_bound,
        "score": leaf.score,
    }
