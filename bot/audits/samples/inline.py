"""The samples in a result of lm-evaluation-harness itself, where people write all that `simple_evaluate` returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from bot.audits.samples.sample import NO_METRIC
from bot.evaluation.result import Result

NAMED = b'"samples"'  # in every file that has them
FORMAT = "lm-eval-0.4"  # whose results they are


class _Whole(msgspec.Struct):
    samples: dict[str, Any] = {}


def write_logs(content: bytes, result: Result, folder: Path) -> dict[str, Path]:
    """The samples of each leaf that a result holds, as logs in a folder; none of a leaf without a list of records."""
    if result.format != FORMAT or NAMED not in content:
        return {}
    try:
        held = msgspec.json.decode(content, type=_Whole).samples
    except msgspec.DecodeError:
        return {}
    found = {}
    for place, leaf in enumerate(result.leaves):
        rows = held.get(result.original_keys.get(leaf, leaf))
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            found[leaf] = folder / f"{place}.jsonl"
            found[leaf].write_bytes(msgspec.json.Encoder().encode_lines(map(_as_logged, rows)))
    return found


def _as_logged(row: dict[str, Any]) -> dict[str, Any]:
    """A record without numbers that its list of metrics lacks: people write some of their own into such files."""
    metrics = row.get("metrics")
    if not isinstance(metrics, list):
        return row
    return {
        name: value
        for name, value in row.items()
        if name in metrics or name in NO_METRIC or not isinstance(value, int | float)
    }
