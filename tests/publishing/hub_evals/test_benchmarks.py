"""What is written at a benchmark and in a declaration about pages of models: read strictly, and within bounds."""

from __future__ import annotations

from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from bot.errors import Unwritable
from bot.publishing.hub_evals.eval_results_layout import check_benchmark, check_unit, parse_benchmark
from bot.publishing.tables.values import Unit
from tests.publishing.hub_evals.models import EVAL_YAML, HUB, board


def many(count: int) -> str:
    return "".join(f"- id: task_{n}\n" for n in range(count))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("evaluation_framework: inspect-ai\n", "", "is not a short text"),
        ("evaluation_framework: inspect-ai", "evaluation_framework: [a]", "is not a short text"),
        ("- id: mmlu_pro_easy\n", "- id: mmlu_pro\n", "has a task twice"),
        ("- id: mmlu_pro_easy\n", "- config: x\n", "is not a short text"),
        ("- id: mmlu_pro_easy\n", "- 7\n", "is not a short text"),
        ("- id: mmlu_pro_easy\n", "- id: 7\n", "is not a short text"),
        (EVAL_YAML.decode(), "tasks: []\nevaluation_framework: x\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "tasks: x\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "- a\n", "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "a: [", "not valid YAML"),
        ("- id: mmlu_pro_easy\n", f"- id: {'x' * 201}\n", "is not a short text"),
        ("- id: mmlu_pro_easy\n", '- id: "a\\nb"\n', "is not a short text"),
        ("- id: mmlu_pro_easy\n", many(1_000), "has no list of at most 1000 tasks"),
        (EVAL_YAML.decode(), "[" * 500, "nested more than 100 deep"),
        (EVAL_YAML.decode(), "a: " + "x" * 1_000_000, "the limit is 1,000,000"),
    ],
)
def test_an_eval_yaml_is_read_strictly_and_within_bounds(old: str, new: str, reason: str) -> None:
    assert parse_benchmark(EVAL_YAML) == ("inspect-ai", ["mmlu_pro", "mmlu_pro_easy"])
    assert old in EVAL_YAML.decode()
    with pytest.raises(Unwritable, match=reason):
        parse_benchmark(EVAL_YAML.decode().replace(old, new).encode())
    with pytest.raises(Unwritable, match="UTF-8"):
        parse_benchmark(b"\xff")


def test_an_eval_yaml_at_its_bounds_is_read() -> None:
    text = EVAL_YAML.decode().replace("- id: mmlu_pro_easy\n", many(998) + f"- id: {'x' * 200}\n")
    assert len(parse_benchmark(f"{text}# {'x' * (1_000_000 - len(text) - 2)}".encode())[1]) == 1_000


def test_a_task_that_a_benchmark_does_not_have_is_refused_with_the_first_that_it_has() -> None:
    known = parse_benchmark(EVAL_YAML.decode().replace("- id: mmlu_pro_easy\n", many(30)).encode())[1]
    with pytest.raises(Unwritable) as caught:
        check_benchmark(
            EVAL_YAML.decode().replace("- id: mmlu_pro_easy\n", many(30)).encode(), "a/b", "x", "inspect", None
        )
    assert str(caught.value) == f"a/b has no task 'x'; eval.yaml has {', '.join(known[:20])}"


@pytest.mark.parametrize(
    ("unit", "published", "is_refused"),
    [
        ("percent", ["0.4", "1"], True),
        ("percent", ["0.4", "1.01"], False),
        ("percent", [], False),
        ("proportion", ["0.4", "1"], False),
        ("proportion", ["0.4", "1.01"], True),
        ("proportion", [], False),
    ],
)
def test_the_values_on_a_benchmark_s_board_tell_its_unit(unit: Unit, published: list[str], *, is_refused: bool) -> None:
    with pytest.raises(Unwritable, match="the unit seems to be") if is_refused else nullcontext():
        check_unit(unit, map(Decimal, published), "a/b")


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
