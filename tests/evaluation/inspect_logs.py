"""Logs of Inspect made by hand, as an archive and as JSON."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from typing import Any

from tests.evaluation.judging import dumps

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

ZSTANDARD = zipfile.ZIP_ZSTANDARD
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD]
KEY = "sk-proj-0123456789abcdefghijkl"


def score(name: str, value: float, scored: int = 10, **more: Any) -> dict[str, Any]:
    metrics = {"accuracy": {"name": "accuracy", "value": value}, "stderr": {"name": "stderr", "value": 0.125}}
    counts = {"scored_samples": scored, "unscored_samples": 0}
    return {"name": name, "scorer": name, **counts, "params": {}, "metrics": metrics, **more}


def header(**changed: Any) -> dict[str, Any]:
    """The header as 0.3.285 writes it, of ten samples."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-03-01T12:00:00+00:00", "task": "inspect_evals/toy", "task_version": "2-A",
            "task_args": {"cot": True}, "task_args_passed": {}, "model": "hf/acme/atlas-7b",
            "dataset": {"name": "toy", "samples": 10, "sample_ids": [*range(10)], "shuffled": False},
            "model_generate_config": {"max_connections": 8}, "model_args": {"revision": "a1" * 20, "dtype": "bfloat16"},
            "config": {"epochs": 1}, "packages": {"inspect_ai": "0.3.285"},
            "revision": {"type": "git", "origin": "git@x", "commit": "e9a9d716"},
        },
        "plan": {"name": "plan", "steps": [], "config": {"temperature": 0.3}},
        "results": {"total_samples": 10, "completed_samples": 10, "scores": [score("match", 0.5)]},
        "stats": {"started_at": "2026-03-01T12:00:00+00:00", "completed_at": "2026-03-01T13:00:00+01:00"},
        "invalidated": False,
    } | changed  # fmt: skip


def sample(history: Any = ()) -> dict[str, Any]:
    said = 'It said "history": [{} and went on'
    return {"id": 1, "epoch": 1, "output": said, "scores": {"match": {"value": "C", "history": list(history)}}}


def archive(members: Mapping[str, Any], method: int = ZSTANDARD) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, value in members.items():
            packed.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return out.getvalue()


def log_archive(method: int = ZSTANDARD, **changed: Any) -> bytes:
    start = {key: header(**changed)[key] for key in ("version", "eval", "plan")}
    members = {"_journal/start.json": start, "samples/1_epoch_1.json": sample(), "header.json": header(**changed)}
    return archive(members, method)


def log_json(**changed: Any) -> bytes:
    """A JSON log as Inspect writes it: the samples behind the header."""
    return dumps(header(**changed) | {"samples": [sample()], "reductions": None})
