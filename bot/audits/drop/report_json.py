"""Write an audit of DROP as one JSON document of the schema leaderboard-bot/audit-drop/1; changes only add keys."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

import msgspec

from bot import __version__
from bot.audits.drop.audit import DropAudit, LogAudit
from bot.audits.drop.examples import Example
from bot.audits.drop.scorer import DropScore
from bot.evaluation.finding import Finding

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
