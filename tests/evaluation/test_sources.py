"""A board of two sources: a harness, and files of a form that does not say all of the model."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.evaluation.verdict import Judgement
from tests.evaluation.judging import judgement_of
from tests.world.results import result

MODEL = "acme/atlas-7b"
TASKS = """
[[tasks]]
id = "sums"
title = "Sums"
metrics = [{ name = "acc" }]
num_fewshot = 0
leaves = [{ id = "sums_plus", samples = 100 }]
[[tasks]]
id = "energy"
title = "Energy"
metrics = [{ name = "joules" }]
higher_is_better = false
range = [0, 1000]
upper_bound = "0"
lower_bound = "10"
bound_reason = "nobody wants to pay more"
leaves = [{ id = "energy" }]
"""
BOARD = f"""
title = "Two"
description = "A harness, and files of our own."
[harness]
formats = ["lm-eval-0.4", "watts"]
[[formats]]
id = "watts"
model = "model"
revision = "commit?"
precision = "precision?"
chat_template = "chat?"
[[formats.values]]
value = "joules"
leaf = "energy"
metric = "joules"
unit = "plain"
higher_is_better = false
{TASKS}
"""
SPANS = """
[[harness.accepted]]
repository = "EleutherAI/lm-evaluation-harness"
formats = ["lm-eval-0.4"]
reason = "ours"
[[harness.accepted]]
repository = "acme/watts"
formats = ["watts"]
reason = "ours"
"""
ONE, TWO = "a" * 40, "b" * 40


def joules(**more: object) -> dict[str, Any]:
    return {"model": MODEL, "joules": 2.5, "precision": "bf16"} | more


def sums(revision: str = ONE, *, chat: bool = True, args: str = "", **more: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result(right=(50, None, None)))
    said = f"pretrained={MODEL},revision={revision},dtype=bfloat16{args}"
    found["config"] |= {"model_args": said, "model_sha": revision}
    template = {"chat_template": "{{x}}", "chat_template_sha": "c" * 64} if chat else {}
    return found | template | more


def board(text: str = BOARD) -> Leaderboard:
    return parse_leaderboard(text, "two", "two.toml")


def judged(files: dict[str, Any], text: str = BOARD) -> Judgement:
    declared = board(text)
    read = partial(parse_submission, forms=[one.format for one in declared.formats])
    return judgement_of(files, declared, read=read)


def statuses(files: dict[str, Any], text: str = BOARD) -> dict[str, str]:
    return {row.key.text.rpartition("/")[2]: row.status for row in judged(files, text).rows}


@pytest.mark.parametrize("pins", ["", SPANS])
def test_what_a_file_does_not_say_splits_no_row(pins: str) -> None:
    text = BOARD.replace("[[formats]]", f"{pins}[[formats]]", 1)
    found = judged({"sums.json": sums(), "joules.json": joules()}, text)
    (row,) = found.rows
    assert (row.key.text.rpartition("/")[2], row.status) == (f"{ONE}-bfloat16-chat", "accepted")
    assert row.model.chat_template is True
    (silent,) = [one for one in found.verdicts if one.path == "joules.json"]
    assert [one.rule for one in silent.findings if one.rule == "unpinned-revision"]
    assert silent.own is not None
    assert (silent.own.revision, silent.own.chat_template) == ("", None)


@pytest.mark.parametrize(
    ("said", "apart"),
    [
        ({"commit": ONE, "chat": True}, False),
        ({"commit": TWO}, True),
        ({"chat": False}, True),
        ({"precision": "fp16"}, True),
        ({"precision": None}, False),
    ],
)
def test_what_both_say_must_agree(said: dict[str, Any], apart: bool) -> None:
    found = statuses({"sums.json": sums(), "joules.json": joules(**said)})
    assert set(found.values()) == ({"incomplete"} if apart else {"accepted"})
    assert len(found) == (2 if apart else 1)


def test_where_two_rows_could_have_it_a_file_makes_its_own() -> None:
    files = {"one.json": sums(ONE), "two.json": sums(TWO), "joules.json": joules()}
    assert set(statuses(files).values()) == {"incomplete"}
    assert len(statuses(files)) == 3
    named = statuses(files | {"joules.json": joules(commit=TWO)})
    assert named == {f"{ONE}-bfloat16-chat": "incomplete", f"{TWO}-bfloat16-chat": "accepted"}


def test_a_rejected_file_says_nothing_for_others() -> None:
    broken = sums(TWO) | {"n-shot": {"sums_plus": 5}}
    found = statuses({"one.json": sums(ONE), "two.json": broken, "joules.json": joules()})
    assert found[f"{ONE}-bfloat16-chat"] == "accepted"


def test_two_files_of_one_harness_stay_apart() -> None:
    unsaid = sums("", args="") | {"config": sums("")["config"] | {"model_args": f"pretrained={MODEL},dtype=bfloat16"}}
    found = statuses({"one.json": sums(ONE), "unsaid.json": unsaid})
    assert len(found) == 2


FREE = BOARD.replace('value = "joules"', 'value = "numbers.{name}"').replace('leaf = "energy"', 'leaf = "{name}"', 1)


@pytest.mark.parametrize("text", [BOARD, FREE], ids=["names its leaves", "names none"])
def test_an_argument_that_a_form_cannot_say_blocks_no_join(text: str) -> None:
    ours = joules(numbers={"energy": 2.5})
    (row,) = judged({"sums.json": sums(args=",max_length=512"), "joules.json": ours}, text).rows
    assert (row.status, row.left_out) == ("accepted", {})


def test_a_file_that_lies_there_and_does_not_join_is_named_with_the_reason() -> None:
    text = FREE.replace("[[formats]]", f"{SPANS}[[formats]]", 1)
    ours = joules(numbers={"energy": 2.5}, commit=ONE, chat=True)
    (row,) = judged({"sums.json": sums(), "joules.json": ours}, text).rows
    told = {one.rule: one for one in row.findings}
    left = "joules.json" if row.lead.path == "sums.json" else "sums.json"
    assert f"{left} has it and does not join" in told["missing-task"].message
    assert "may have its tasks" in told["settings-differ"].message
    assert told["settings-differ"].hint == "measure all tasks with the same settings"
