"""Result files for tests of verdicts: an example file and changes to it in, bytes or a verdict out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

from bot.leaderboard import Leaderboard, load_leaderboard
from bot.pipeline import Submission, Verdict, judge
from bot.rules.rule import NO_FACTS, Facts

ROOT = Path(__file__).resolve().parent.parent
KESTREL = next((ROOT / "examples" / "results" / "example-org__kestrel-7b").glob("*.json"))
EXAMPLES = tuple(sorted((ROOT / "examples" / "results").rglob("*.json")))
ABSENT = object()


@cache
def declared(leaderboard: str = "open-llm-v2") -> Leaderboard:
    return load_leaderboard(leaderboard)


@cache
def _base_text() -> str:
    return KESTREL.read_text(encoding="utf-8")


def base() -> dict[str, Any]:
    """The example file of a good model, a fresh copy."""
    return json.loads(_base_text())


def stderr(value: float, samples: int) -> float:
    """The standard error that the harness writes for a mean of zeros and ones."""
    return sqrt(value * (1 - value) / (samples - 1))


def base_v1() -> dict[str, Any]:
    """A complete file of the Open LLM Leaderboard v1, of numbers that could be."""
    results: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    for task, leaf in declared("open-llm-v1").leaves():
        key = f"harness|{leaf.key('open-llm-v1')}|{task.num_fewshot}"
        value = round(0.4 * leaf.samples) / leaf.samples
        row = {task.metrics[0].name: value, f"{task.metrics[0].name}_stderr": stderr(value, leaf.samples)}
        if task.id == "mmlu":
            row |= {"acc_norm": value, "acc_norm_stderr": stderr(value, leaf.samples)}
        results[key], versions[key] = row, int(task.versions[-1])
    config = {"model_name": "example-org/kestrel-7b", "model_sha": "0123456789" * 4, "model_dtype": "torch.bfloat16"}
    config |= {"lighteval_sha": "b281b0921b636bc36ad05c0b0b0763bd6dd43463", "max_samples": None}
    return {"config_general": config, "results": results | {"all": {"acc": 0.4}}, "versions": versions}


def patch(data: Any, pointer: str, value: Any) -> Any:
    """Set what a JSON pointer names, making objects on the way; ABSENT removes it."""
    if not pointer:
        return value
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))
    inner = data
    for part in way:
        inner = inner.setdefault(part, {})
    if value is ABSENT:
        inner.pop(last, None)
    else:
        inner[last] = value
    return data


def patched(changes: Mapping[str, Any], start: dict[str, Any] | None = None) -> dict[str, Any]:
    """The base file with each pointer set to its value."""
    data = base() if start is None else deepcopy(start)
    for pointer, value in changes.items():
        data = patch(data, pointer, value)
    return data


def dumps(data: Any) -> bytes:
    """JSON as the harness writes it: two spaces, bare NaN."""
    return json.dumps(data, indent=2, ensure_ascii=False).encode("utf-8")


def verdict_of(
    data: Any, leaderboard: Leaderboard | str = "open-llm-v2", facts: Facts = NO_FACTS, path: str = "results_x.json"
) -> Verdict:
    """Judge a value or bytes as a submission."""
    raw = data if isinstance(data, bytes) else dumps(data)
    board = declared(leaderboard) if isinstance(leaderboard, str) else leaderboard
    return judge(Submission(path, raw, len(raw)), board, facts)


def rules_of(verdict: Verdict) -> set[str]:
    """The ids of the rules that found something."""
    return {finding.rule for finding in verdict.findings}
