"""Values below 0 of metrics that have them: nothing is clipped where no lower bound is declared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.score import normalize
from bot.publishing.board import contradiction
from bot.publishing.entry import entry_of
from bot.reporting.draft import draft_text
from tests.evaluation.joined_rows import row_of


@pytest.mark.parametrize("metric", ["mcc", "spearman", "p-MRR"])
def test_a_draft_keeps_a_value_below_0(metric: str) -> None:
    data: dict[str, Any] = {
        "results": {"task": {f"{metric},none": -0.015, f"{metric}_stderr,none": 0.01}, "other": {"acc,none": 0.5}},
        "configs": {"task": {"task": "task"}, "other": {"task": "other"}}, "n-shot": {"task": 0, "other": 0},
        "config": {"model": "hf", "model_args": "pretrained=acme/a"}, "model_name": "acme/a",
    }  # fmt: skip
    text = draft_text(draft_of([parse_result(json.dumps(data).encode())]))
    row = row_of({"r.json": data}, parse_leaderboard(text, "board", "board.toml"))
    assert [task.score for task in row.scores.tasks] == [-1.5, 50.0]
    assert row.scores.average == 24.25
    entry = entry_of(row)
    assert entry is not None
    assert contradiction(entry) == ""


def test_a_value_is_clipped_at_a_declared_bound_alone() -> None:
    assert normalize(0.1, 0.25, 0.75) == 0.0
    assert normalize(-0.1, 0.0, 1.0) == -10.0
    assert normalize(-0.7, -0.5, 1.5) == 0.0
    assert normalize(1.2, 1.0, -1.0) == 0.0
