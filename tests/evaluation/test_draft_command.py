"""The command `leaderboards draft`, and drafts of real result files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import CallError
from bot.evaluation.formats import format_ids
from bot.evaluation.judge import judge_all
from bot.evaluation.submission import Parsed
from tests.evaluation.discovering import found_below
from tests.evaluation.drafting import drafted, modern
from tests.evaluation.judging import EXAMPLES, base, declared, dumps


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["leaderboards", "draft", *args])


def test_the_command_writes_a_declaration_that_the_others_take(tmp_path: Path) -> None:
    done = run(*(str(path) for path in EXAMPLES))
    assert done.exit_code == 0
    board = tmp_path / "board.toml"
    board.write_text(done.stdout, encoding="utf-8")
    assert CliRunner().invoke(app, ["leaderboards", str(board)]).exit_code == 0
    checked = CliRunner().invoke(app, ["score", str(EXAMPLES[0].parent), "-l", str(board), "-f", "json"])
    assert json.loads(checked.stdout)["leaderboard"]["id"] == "board"


def test_files_without_a_result_are_named(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('{"results": {"a"', encoding="utf-8")
    (tmp_path / "whole.json").write_bytes(dumps(modern({"quiz": {"acc,none": 0.5}})))
    done = run(str(tmp_path / "torn.json"), str(tmp_path / "whole.json"))
    assert done.exit_code == 1
    assert "torn.json: the file is truncated" in done.stderr
    assert 'id = "quiz"' in done.stdout
    alone = run(str(tmp_path / "torn.json"))
    assert (alone.exit_code, alone.stdout) == (2, "") if alone.exit_code == 2 else alone.exception is not None


def test_files_whose_tasks_have_no_name_are_not_drafted(tmp_path: Path) -> None:
    job = {"n_total_trials": 1, "stats": {"evals": {"agent": {"metrics": [{"mean": 0.5}]}}}}
    (tmp_path / "result.json").write_bytes(dumps(job))
    done = run(str(tmp_path))
    assert (type(done.exception), str(done.exception), done.stdout) == (
        CallError, "no task in these files has a name, so there is nothing to draft", "",
    )  # fmt: skip


# ---- real files ----

# What is wrong with the file itself, whatever the board.
FAULTS = {
    "unidentified-model", "quoted-result", "unfinished-run", "invalidated-run", "secret-in-file", "limited-run",
    "unscored-samples", "contradicts-itself",
}  # fmt: skip


def test_a_draft_of_any_real_result_is_accepted_and_accepts_it_or_names_its_fault(reference: Path) -> None:
    wild = reference / "wild"
    with (wild / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["read"] != "no"]
    drafts: Counter[str] = Counter()
    for parsed in found_below(wild, (row["file"] for row in rows)).values():
        if not isinstance(parsed, Parsed) or parsed.result is None or not parsed.result.leaves:
            continue
        board, text = drafted(parsed.result)
        leaves = [leaf.id for task in board.tasks for leaf in task.leaves]
        beside = {leaf for column in board.columns for leaf in column.leaves}  # of which less is better
        left = re.search(r"(\d+) more numbers? that do not count", text)
        assert not beside.intersection(leaves), parsed.path
        assert len(leaves) + len(beside) + int(left[1] if left else 0) == len(parsed.result.leaves), parsed.path
        judgement = judge_all([parsed], board)
        errors = {one.rule for one in [*judgement.verdicts[0].findings, *judgement.rows[0].findings] if one.is_error}
        assert errors <= FAULTS, parsed.path
        assert (judgement.rows[0].status == "accepted") == (not errors), parsed.path
        drafts[parsed.result.format] += 1
    assert drafts.total() >= 134
    elsewhere = {  # formats of which none are there
        "open-llm-v1",
        "bfcl",
        "euroeval",
        "evalplus",
        "evalscope",
        "lmms-eval",
        "gpt-oss",
        "harbor",
        "opencompass",
        "jmteb",
        "livecodebench",
        "nemo-evaluator",
        "simple-evals",
        "undated-simple-evals",
        "vlmevalkit",
        "olmo-eval",
        "olmo-eval-harness",
        "olmo-eval-models",
        "robustbench",
        "tau2",
        "swe-bench",  # the wild ones are of a kind that was not read when the list was made
        "terminal-bench",
    }
    assert [format_id for format_id in format_ids() - elsewhere if not drafts[format_id]] == []


def test_the_shipped_example_boards_are_drafted_from_their_files() -> None:
    assert {task.title for task in drafted(base())[0].tasks} == {task.title for task in declared().tasks}
