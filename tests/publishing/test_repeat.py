"""The commands in texts: whoever pastes one finds the file and the declaration."""

from __future__ import annotations

import shlex

import msgspec
import pytest
from msgspec.structs import replace

from bot.evaluation.leaderboard import load_shipped, parse_leaderboard
from bot.publishing.entry import Declared, Evidence
from bot.publishing.publication import entry_marker
from bot.publishing.repeat import LATER, check_command, declaration_name, explain_command, measure_commands, when_kept
from bot.publishing.texts import request_text
from tests.platforms.git.publisher import entry

OURS = Declared("board", f"sha256:{'ab' * 32}", f"sha256:{'cd' * 32}")
KEPT = f"declarations/{'ab' * 32}.toml"


@pytest.mark.parametrize(
    ("targets", "name"),
    [
        ([], KEPT),
        (["hf://datasets/acme/contents"], f"hf://datasets/acme/contents/{KEPT}"),
        (["./board", "hf://spaces/acme/board"], f"hf://spaces/acme/board/{KEPT}"),
        (["hf://datasets/acme/contents#3"], f"hf://datasets/acme/contents/{KEPT}"),
        (["hf://models"], KEPT),
        (["github://acme/board#3"], KEPT),
        (["", "/srv/my board"], f"my board/{KEPT}"),
        (["boards/mine"], f"boards/mine/{KEPT}"),
    ],
)
def test_a_declaration_is_named_where_a_target_keeps_it(targets: list[str], name: str) -> None:
    assert declaration_name(OURS, targets) == name
    assert when_kept(name) == LATER


def test_a_shipped_declaration_is_named_by_its_id_and_an_older_one_of_that_id_is_not() -> None:
    shipped = load_shipped("open-llm-v2")
    of_today = Declared(shipped.id, shipped.digest, shipped.scoring_digest)
    assert declaration_name(of_today, ["hf://datasets/acme/contents"]) == "open-llm-v2"
    assert when_kept("open-llm-v2") == when_kept("hf://datasets/acme/boards/declarations.toml") == ""
    of_then = msgspec.structs.replace(of_today, digest=OURS.digest)
    assert declaration_name(of_then, ["hf://datasets/acme/contents"]) == f"hf://datasets/acme/contents/{KEPT}"


@pytest.mark.parametrize(
    ("source", "place"), [("hf://datasets/acme/results", "hf://datasets/acme/results@a1b2/a b.json"), (".", "a b.json")]
)
def test_the_file_of_a_verdict_is_named_at_its_commit_where_anybody_can_open_it(source: str, place: str) -> None:
    words = shlex.split(check_command(source, "a1b2", ["a b.json"], "my board.toml"))
    assert words == ["leaderboard-bot", "check", place, "--leaderboard", "my board.toml"]


def test_the_file_of_a_row_is_named_at_its_commit_and_both_words_are_one_for_a_shell() -> None:
    (file,) = entry().evidence
    there = msgspec.structs.replace(file, source="hf://datasets/acme/results", commit="a1" * 20, path="a b/it's.json")
    words = shlex.split(explain_command([there], OURS, "/srv/my board"))
    assert words[2:] == [
        f"hf://datasets/acme/results@{'a1' * 20}/a b/it's.json", "--leaderboard", f"my board/{KEPT}",
    ]  # fmt: skip
    in_git = msgspec.structs.replace(there, source="./results")
    assert shlex.split(explain_command([in_git], OURS, ""))[2] == "a b/it's.json"


def test_a_path_cannot_leave_the_code_span_of_its_command() -> None:
    row = entry()
    odd = msgspec.structs.replace(row.evidence[0], path="a`b**c**`.json")
    text = request_text(msgspec.structs.replace(row, evidence=(odd,)), None, entry_marker(row), target="./board")
    (line,) = [line for line in text.body.split("\n") if line.startswith("- Check it: ")]
    assert line.startswith("- Check it: ``leaderboard-bot explain 'a`b**c**`.json'")
    assert line.endswith(".toml``")


def test_what_is_missing_is_measured_under_the_keys_of_the_format_and_with_the_shots_of_the_board() -> None:
    board = load_shipped("open-llm-v1")
    leaves = {leaf.id for task in board.tasks[:2] for leaf in task.leaves}
    row = entry("acme/atlas-7b")
    measured = replace(row, model=replace(row.model, revision="c" * 40, chat_template=True))
    of_04 = replace(measured, evidence=(Evidence(format="lm-eval-0.4"), Evidence(format="helm")))
    words = [shlex.split(one) for one in measure_commands(of_04, board, leaves)]
    assert [one[one.index("--tasks") + 1] for one in words] == ["arc_challenge", "hellaswag"]
    assert [one[one.index("--num_fewshot") + 1] for one in words] == ["25", "10"]
    assert all(f"pretrained=acme/atlas-7b,revision={'c' * 40},dtype=bfloat16" in one for one in words)
    assert all("--apply_chat_template" in one for one in words)


def test_a_task_of_a_format_without_a_command_has_none_whatever_the_row_s_file_is() -> None:
    text = """
title = "One"
description = "A task of a format without a command."
[harness]
formats = ["helm"]
[[tasks]]
id = "quiz"
title = "Quiz"
metrics = [{ name = "em" }]
num_fewshot = 0
leaves = [{ id = "quiz", samples = 5 }]
"""
    board = parse_leaderboard(text, "one", "one.toml")
    for newest in ("helm", "lm-eval-0.4"):
        row = replace(entry("acme/atlas-7b"), evidence=(Evidence(format=newest),))
        assert measure_commands(row, board, {"quiz"}) == []


@pytest.mark.parametrize(
    "model",
    [{"precision": "4bit"}, {"id": "acme/x,trust_remote_code=True"}, {"revision": "main,trust_remote_code=True"}],
)
def test_no_command_measures_another_setup_or_has_an_argument_of_a_stranger(model: dict[str, str]) -> None:
    board = load_shipped("open-llm-v1")
    row = replace(entry("acme/atlas-7b"), evidence=(Evidence(format="lm-eval-0.4"),))
    leaves = {leaf.id for leaf in board.tasks[0].leaves}
    assert len(measure_commands(row, board, leaves)) == 1
    assert measure_commands(replace(row, model=replace(row.model, **model)), board, leaves) == []


def test_no_command_loads_the_weights_of_a_model_that_only_a_service_has() -> None:
    board = load_shipped("open-llm-v1")
    row = replace(entry("acme/atlas-7b"), evidence=(Evidence(format="lm-eval-0.4"),))
    served = replace(row.model, id="openai/gpt-5", revision="2026-03-04", precision="")
    leaves = {leaf.id for leaf in board.tasks[0].leaves}
    assert len(measure_commands(row, board, leaves)) == 1
    assert measure_commands(replace(row, model=served), board, leaves) == []
