"""Tables in JSON: several boards in one file, and an object keyed by display name with nested cells."""

from __future__ import annotations

import json
from typing import Any

from tests.publishing.tables.boards import MODEL, Files

SWE: dict[str, Any] = {
    "path": "data/leaderboards.json",
    "at": "leaderboards[name=Verified].results",
    "key": ["name"],
    "columns": {
        "name": "model.id",
        "resolved": {"value": "average", "decimals": 2},
        "site": {"value": "evidence.url", "missing": "null"},
        "date": {"value": "run.date", "missing": "null"},
        "checked": {"default": False},
    },
    "sorted_by": "resolved",
}


def swe() -> Files:
    """Two boards in one file, four spaces, results from the best down."""

    def result(name: str, resolved: float) -> dict[str, Any]:
        tags = ["Model: " + name, "Org: Acme"]
        return {
            "name": name,
            "logo": ["https://example.org/logo.png"],
            "site": None,
            "folder": "20240402_" + name.lower(),
            "resolved": resolved,
            "date": "2024-04-02",
            "logs": True,
            "checked": False,
            "tags": tags,
            "warning": None,
        }

    boards = [
        {"name": "Lite", "results": [result("Wren", 31.5), result(MODEL, 9.0)]},
        {"name": "Verified", "results": [result("Heron β", 62.4), result("Wren", 33.6), result("Finch", 12.47)]},
    ]
    return {SWE["path"]: json.dumps({"leaderboards": boards}, indent=4).encode()}


EVALPLUS: dict[str, Any] = {
    "path": "results.json",
    "keyed": True,
    "key": ["display"],
    "columns": {
        "display": {"template": "{model.name} ({model.precision})"},
        "link": {"template": "https://huggingface.co/{model.id}"},
        "humaneval": {"name": ["pass@1", "humaneval"], "value": "tasks.bbh.raw", "unit": "percent", "decimals": 1},
        "humaneval+": {"name": ["pass@1", "humaneval+"], "value": "tasks.gpqa.raw", "unit": "percent", "decimals": 1},
        "mbpp": {
            "name": ["pass@1", "mbpp"],
            "value": "tasks.musr.raw",
            "unit": "percent",
            "decimals": 1,
            "missing": "null",
        },
        "prompted": {"default": True},
        "open-data": {"default": "NONE"},
    },
}


def evalplus() -> Files:
    """An object keyed by display name, letters beyond ASCII escaped, a last line end."""

    def row(pass_at_1: dict[str, float | None]) -> dict[str, Any]:
        link = "https://example.org/model"
        return {"link": link, "open-data": "NONE", "pass@1": pass_at_1, "prompted": True, "size": None}

    rows = {
        "Heron-β 7B": row({"humaneval": 90.2, "humaneval+": 86.6, "mbpp": None, "mbpp+": None}),
        "Wren": row({"humaneval": 71.0, "humaneval+": 65.0, "mbpp": 60.5, "mbpp+": 55.25}),
    }
    return {EVALPLUS["path"]: (json.dumps(rows, indent=2) + "\n").encode()}
