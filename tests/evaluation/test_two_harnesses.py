"""A board with tasks of two harnesses: ranges, rows, commands and settings are those of the leaf's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.publishing.compared_rows import settings_of
from bot.publishing.entry import entry_of
from bot.publishing.repeat import measure_commands
from tests.evaluation.joined_rows import row_of
from tests.evaluation.judging import judgement_of
from tests.evaluation.test_every_eval_ever import record
from tests.evaluation.test_every_eval_ever import result as eee_result
from tests.world.results import result

PINS = """
[[harness.accepted]]
repository = "EleutherAI/lm-evaluation-harness"
releases = ["0.4.9"]
formats = ["lm-eval-0.4"]
reason = "ours"
[[harness.accepted]]
repository = "huggingface/lighteval"
formats = ["lighteval"]
commits = ["0f3c0f3c0f3c0f3c0f3c0f3c0f3c0f3c0f3c0f3c"]
reason = "ours"
"""


def board(pins: str = PINS) -> Leaderboard:
    text = f"""
title = "Two"
description = "A task of each harness."
[harness]
formats = ["lm-eval-0.4", "lighteval"]
{pins}
[[tasks]]
id = "sums"
title = "Sums"
metrics = [{{ name = "acc" }}]
num_fewshot = 0
leaves = [{{ id = "sums_plus", samples = 100 }}]
[[tasks]]
id = "quiz"
title = "Quiz"
metrics = [{{ name = "acc" }}]
num_fewshot = 0
leaves = [{{ id = "quiz", keys = {{ lighteval = "quiz|0" }} }}]
"""
    return parse_leaderboard(text, "two", "two.toml")


def of_lm_eval() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result())
    return found


def of_lighteval(**general: Any) -> dict[str, Any]:
    was = of_lm_eval()
    known = {"lighteval_sha": "0f3c" * 10, "num_fewshot_seeds": 1, "model_name": was["model_name"]}
    known |= {"model_sha": was["config"]["model_sha"], "model_dtype": "bfloat16", "max_samples": None}
    rows = {"quiz|0": {"acc": 0.5, "acc_stderr": 0.05}, "all": {"acc": 0.5}}
    return {"config_general": known | general, "results": rows, "versions": {"quiz|0": 0}, "config_tasks": {}}


@pytest.mark.parametrize("pins", ["", PINS])
def test_files_of_both_make_one_row(pins: str) -> None:
    row = row_of({"a.json": of_lm_eval(), "b.json": of_lighteval()}, board(pins))
    assert (row.status, len(row.files)) == ("accepted", 2)


def test_a_harness_outside_of_its_range_does_not_join() -> None:
    old = of_lm_eval() | {"lm_eval_version": "0.4.3"}
    row = row_of({"a.json": old, "b.json": of_lighteval()}, board())
    assert row.status == "incomplete"
    assert [file.path for file in row.files] == ["b.json"]


def test_settings_of_one_name_must_agree() -> None:
    files = {"a.json": of_lm_eval() | {"system_instruction": "Think."}, "b.json": of_lighteval()}
    assert row_of(files, board()).status == "accepted"  # lighteval has another name for it, or none
    spoken = of_lighteval(generation_parameters={"temperature": 0.7})
    assert row_of(files | {"b.json": spoken}, board()).status == "accepted"


def test_the_harness_is_said_of_the_leaf() -> None:
    entry = entry_of(row_of({"a.json": of_lm_eval(), "b.json": of_lighteval()}, board()))
    assert entry is not None
    whole, of_leaves = settings_of(entry)
    assert "harness" not in whole
    assert of_leaves["harness"] == {"sums_plus": "lm-evaluation-harness", "quiz": "lighteval"}


def test_a_missing_leaf_is_measured_by_its_own_tool() -> None:
    row = row_of({"a.json": of_lm_eval()}, board())
    [missing] = [one for one in row.findings if one.rule == "missing-task"]
    assert "lighteval" in (missing.command or missing.hint)
    assert "lm_eval" not in (missing.command or "")
    entry = entry_of(row)
    assert entry is not None
    [command] = measure_commands(entry, board(), {"quiz"})
    installing, _, call = command.partition(" && ")
    assert installing == f"pip install 'lighteval @ git+https://github.com/huggingface/lighteval@{'0f3c' * 10}'"
    assert call.startswith("lighteval accelerate model_name=")
    assert "'quiz|0'" in call


def test_what_other_results_have_from_another_format_has_no_command_of_the_rows_harness() -> None:
    """As a lab has it: one task of lm-eval, another from records of Every Eval Ever, and a model without the record."""
    text = (
        board(pins="").text.replace('"lighteval"', '"every-eval-ever"').replace("keys = { lighteval", "keys = { helm")
    )
    declared = parse_leaderboard(text, "two", "two.toml")
    quiz = record(eee_result("quiz", 0.5, evaluation_description="acc"), source="evaluation_run")
    files = {"a.json": of_lm_eval(), "b.json": quiz}
    [finding] = [one for row in judgement_of(files, declared).rows for one in row.findings if one.task == "quiz"]
    assert (finding.hint, finding.command) == ("add a result of it; the board's others are of Every Eval Ever", "")
