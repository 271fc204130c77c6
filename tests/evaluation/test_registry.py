"""The registry of formats: one of another package is found by its entry point and is like any other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.formats import BUILT_IN_FORMATS, Content, format_ids, parse_result
from tests.evaluation.judging import ROOT, base, dumps
from tests.variants import one_of
from tests.world.results import TINY

PACKAGE = Path(__file__).parent / "toy_package"
BOARD = TINY.replace('formats = ["lm-eval-0.4"]', 'formats = ["toy"]').replace(
    '{ id = "logic", samples', '{ id = "logic", keys = { toy = "LOGIC" }, samples'
)


def score(task: str, share: float, shots: int = 0) -> dict[str, Any]:
    return {"task": task, "share": share, "of": 100, "shots": shots}


def toy(*scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    who = {"name": "acme/atlas-7b", "commit": "0f3c" * 10}
    return {"toy": 1, "who": who, "settings": {"first": None}, "scores": list(scores), **more}


def check(
    data: dict[str, Any], folder: Path, package: Path = PACKAGE, more: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    (folder / "board.toml").write_text(BOARD, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "bot", *more, "check", "run.json", "-l", "board.toml", "-f", "json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{package}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_format_of_another_package_is_read_scored_and_published(tmp_path: Path) -> None:
    done = check(toy(score("sums_plus", 0.5), score("sums_times", 0.6), score("LOGIC", 0.7)), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    (row,) = report["rows"]
    assert report["submissions"][0]["format"] == "toy"
    assert (row["verdict"], round(row["scores"]["average"], 2)) == ("accepted", 58.33)


@pytest.mark.slow
def test_hints_and_pointers_are_those_of_the_format(tmp_path: Path) -> None:
    report = json.loads(check(toy(score("sums_plus", 0.5), score("sums_times", 0.6, 5)), tmp_path).stdout)
    (fault,) = [found for found in report["submissions"][0]["findings"] if found["severity"] == "error"]
    assert fault["rule"] == "wrong-num-fewshot"
    assert fault["location"] == {"path": "run.json", "pointer": "/scores/1/shots", "line": 21}
    assert fault["command"] == f"toy-eval --model acme/atlas-7b@{'0f3c' * 10} --shots 0 sums_times"
    (hole,) = report["rows"][0]["findings"]
    assert (hole["rule"], hole["command"].rsplit(" ", 1)[1]) == ("missing-task", "LOGIC")
    limited = json.loads(check(toy(score("LOGIC", 0.7), settings={"first": 50}), tmp_path).stdout)
    assert limited["submissions"][0]["findings"][0]["location"]["pointer"] == "/settings/first"
    assert limited["submissions"][0]["findings"][0]["location"]["line"] == 8


def test_a_format_that_fails_is_a_finding_and_no_traceback(tmp_path: Path) -> None:
    done = check({"toy": 1}, tmp_path)
    (finding,) = json.loads(done.stdout)["submissions"][0]["findings"]
    assert (done.returncode, finding["rule"]) == (1, "malformed-file")
    assert "could not be read: KeyError" in finding["message"]
    assert "Traceback" not in done.stderr
    assert "Traceback" in check({"toy": 1}, tmp_path, more=["--traceback"]).stderr


@pytest.mark.slow
def test_a_declaration_may_name_only_formats_that_are_there(tmp_path: Path) -> None:
    done = check(toy(), tmp_path, tmp_path)
    assert done.returncode == 2
    assert "harness.formats.0: there is no result format 'toy'; there are " in done.stderr


@pytest.mark.parametrize(
    ("point", "why"),
    one_of([("toy = json:loads", "does not name a Format"), ("v1 = toy_format:FAKE", "built-in format")]),
)
def test_a_wrong_entry_point_is_one_line(point: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "toy_format.py").write_text(
        "from bot.evaluation.formats.lm_eval_04 import LM_EVAL_04\nFAKE = LM_EVAL_04\n", encoding="utf-8"
    )
    info = tmp_path / "toy_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-format\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[leaderboard_bot.formats]\n{point}\n", encoding="utf-8")
    done = check(toy(), tmp_path, tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert why in done.stderr


def test_no_rule_and_no_report_asks_for_the_name_of_a_format() -> None:
    ids = re.compile("|".join(re.escape(f'"{known}"') for known in format_ids()))
    asked = [
        path.relative_to(ROOT).as_posix()
        for room in ("evaluation/rules", "reporting", "publishing", "audits")
        for path in (ROOT / "bot" / room).rglob("*.py")
        # a reader of sample logs is of one harness, and hub_evals knows the Hub's own names of harnesses
        if {"drop", "samples", "samples.py", "hub_evals"}.isdisjoint(path.parts)
        and ids.search(path.read_text(encoding="utf-8"))
    ]
    assert asked == []


def test_every_built_in_format_is_one_file_with_an_id_of_its_own() -> None:
    assert len({known.id for known in BUILT_IN_FORMATS}) == len(BUILT_IN_FORMATS)
    assert {known.id for known in BUILT_IN_FORMATS} <= format_ids()
    assert all(known.title for known in BUILT_IN_FORMATS)


def test_a_file_of_lm_eval_has_the_marks_of_few_formats() -> None:
    file = Content({"": dumps(base())})
    asked = [known.id for known in BUILT_IN_FORMATS if known.marks and known.may_be(file)]

    assert asked == ["evalchemy", "lmms-eval"]


@pytest.mark.parametrize("mark", ["lmms_eval_specific_kwargs", "doc_to_visual", "process_results_use_image"])
def test_a_mark_in_the_configuration_of_one_task_is_enough(mark: str) -> None:
    data = base()
    data["configs"][next(iter(data["configs"]))][mark] = None

    assert parse_result(dumps(data)).format == "lmms-eval"


def test_what_a_format_lacks_may_be_there_and_be_no_object() -> None:
    data = {"results": {"one": {"accuracy": 0.5}}, "config": {"annotator_model": "a"}, "configs": None}

    assert parse_result(dumps(data)).format == "evalchemy"
