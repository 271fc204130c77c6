"""What is written at a benchmark and in a declaration about pages of models: read strictly, and within bounds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bot.errors import Unwritable
from bot.publishing.hub_evals.benchmark import Benchmark, parse_benchmark
from tests.publishing.hub_evals.models import EVAL_YAML, HUB, board


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("evaluation_framework: inspect-ai\n", "", "evaluation_framework is not a short text"),
        ("evaluation_framework: inspect-ai", "evaluation_framework: [a]", "evaluation_framework is not a short text"),
        ("- id: mmlu_pro_easy\n", "- id: mmlu_pro\n", "has a task twice"),
        ("- id: mmlu_pro_easy\n", "- config: x\n", "the id of a task is not a short text"),
        ("- id: mmlu_pro_easy\n", "- 7\n", "the id of a task is not a short text"),
        ("- id: mmlu_pro_easy\n", "- id: 7\n", "the id of a task is not a short text"),
        (EVAL_YAML.decode(), "tasks: []\nevaluation_framework: x\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "tasks: x\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "- a\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "a: [", "not valid YAML"),
        (EVAL_YAML.decode(), "[" * 50_000, "nested more than 100 deep"),
        (EVAL_YAML.decode(), "a: " + "x" * 1_000_000, "the limit is 1,000,000"),
    ],
)
def test_an_eval_yaml_is_read_strictly_and_within_bounds(old: str, new: str, reason: str) -> None:
    assert parse_benchmark(EVAL_YAML) == Benchmark("inspect-ai", ("mmlu_pro", "mmlu_pro_easy"))
    assert old in EVAL_YAML.decode()
    with pytest.raises(Unwritable, match=reason):
        parse_benchmark(EVAL_YAML.decode().replace(old, new).encode())
    with pytest.raises(Unwritable, match="UTF-8"):
        parse_benchmark(b"\xff")


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": "gsm8k"},
        {"dataset": "a/../b"},
        {"unit": "points"},
        {"task_id": ""},
        {"leaf": "other"},
        {"value": "score"},
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        board(mmlu_pro={**HUB, **changes})
