"""Submissions: what reading them gives is small, can be stored, and is all that judging needs."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.discovery import Candidate, ListedFile, read_candidate
from bot.evaluation.formats.content import MAX_VALUES
from bot.evaluation.formats.format import MAX_BYTES, MAX_ROWS
from bot.evaluation.judge import judge
from bot.evaluation.submission import Parsed, parse_submission
from tests.evaluation.judging import EXAMPLES, base, declared, dumps, outcome_of, patched


def parsed(data: Any) -> Parsed:
    return parse_submission("x/results.json", {"": data if isinstance(data, bytes) else dumps(data)})


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.parent.name)
def test_what_is_stored_is_small_and_judged_like_the_file(file: Path) -> None:
    first = parsed(file.read_bytes())
    stored = first.to_bytes()
    assert len(stored) < 18_000
    again = Parsed.from_bytes(stored)
    one, other = judge(first, declared()), judge(again, declared())
    assert (one.findings, one.status, one.date) == (other.findings, other.status, other.date)
    assert one.measurements is not None
    assert other.measurements is not None
    assert [m.value for m in one.measurements.present] == [m.value for m in other.measurements.present]
    assert again.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_folder_is_one_submission_with_the_digest_that_sha256sum_gives(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    files = {"stats.json": b"[]", "run_spec.json": b"{}"}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    lines = subprocess.run(
        "sha256sum run_spec.json stats.json | sha256sum", shell=True, cwd=folder, capture_output=True, check=True
    )
    parsed = parse_submission("run", files)
    assert parsed.sha256 == lines.stdout.decode().split()[0]
    assert parsed.size == 4
    assert parsed.problem is not None


@pytest.mark.parametrize(("size", "why"), [(MAX_BYTES + 1, "has a file of 8.1 MB; the limit is 8 MB"), (2, "is gone")])
def test_a_folder_of_which_a_file_is_too_large_or_gone_is_not_read(size: int, why: str) -> None:
    folder = Candidate("run", (ListedFile("run/a", 2), ListedFile("run/b", size)), limit=MAX_BYTES)
    found = read_candidate(folder, lambda path, _: b"{}" if path == "run/a" else None)
    assert isinstance(found, Parsed)
    assert (found.sha256, found.size) == ("", size + 2)
    assert found.problem is not None
    assert found.problem.why == why


HUGE = "x" * 200_000


@pytest.mark.parametrize(
    ("pointer", "value", "field"),
    [
        ("/config/model_dtype", "p" * 70_000, "precision"),
        ("/config/model_dtype", "p" * 300, "precision"),
        ("/lm_eval_version", HUGE, "harness version"),
        ("/git_hash", HUGE, "harness commit"),
        ("/model_name", HUGE, "model name"),
        ("/model_source", HUGE, "model class"),
        ("/config/model_revision", HUGE, "requested revision"),
        ("/config/model_args", HUGE, "list of model arguments"),
        ("/versions/leaderboard_ifeval", HUGE, "task version"),
        (f"/results/{'t' * 100_000}", {"acc,none": 0.5}, "task name"),
        ("/results/a\u202eb", {"acc,none": 0.5}, "task name"),
        (f"/group_subtasks/{'g' * 1000}", ["leaderboard_ifeval"], "task name"),
        ("/group_subtasks/g", [HUGE], "task name"),
    ],
)
def test_a_field_that_is_too_long_is_a_finding_and_is_cut(pointer: str, value: Any, field: str) -> None:
    data = patched({pointer: value})
    assert len(parsed(data).to_bytes()) < 40_000
    outcome = outcome_of(data)
    (finding,) = [found for found in outcome.findings if found.rule == "malformed-field"]
    assert finding.message.startswith(f"the {field} ")
    assert outcome.status == "rejected"
    assert outcome.row is not None
    assert outcome.row.status == "rejected"
    assert len(outcome.row.key.text) < 900


@pytest.mark.parametrize(
    "pointer", ["/date", "/config/limit", "/n-shot/leaderboard_ifeval", "/versions/leaderboard_ifeval"]
)
@pytest.mark.parametrize("value", [10**400, -(10**400), 1e308, float("nan"), float("inf"), True, HUGE[:5000], [[]]])
def test_any_value_of_a_scalar_field_can_be_stored(pointer: str, value: Any) -> None:
    stored = parsed(patched({pointer: value})).to_bytes()
    assert Parsed.from_bytes(stored).to_bytes() == stored


@pytest.mark.parametrize("value", [10**400, 2**63, -(2**70), {"a": [1] * 100}, "é" * 1000, "\ud800"])
def test_any_value_of_a_row_can_be_stored(value: Any) -> None:
    data = json.dumps(patched({"/results/leaderboard_mmlu_pro/acc,none": value, "/results/x/acc,none": value})).encode()
    stored = parsed(data).to_bytes()
    assert Parsed.from_bytes(stored).to_bytes() == stored
    assert len(stored) < 30_000


def test_rows_beyond_any_real_file_are_refused() -> None:
    rows = {f"/results/t{number}": {"acc,none": 0.5} for number in range(MAX_ROWS)}
    problem = parsed(patched(rows)).problem
    assert problem is not None
    assert problem.why == "holds 10,051 rows; more than 10,000 are not read"
    wide = {f"/results/t{number}": {"a" * 400 + str(key): 0.5 for key in range(100)} for number in range(60)}
    problem = parsed(patched(wide)).problem
    assert problem is not None
    assert "the limit is 2 MB" in problem.why


@pytest.mark.parametrize(
    ("begin", "often", "times", "end"),
    [(b'{"results": {', b'"a":{},', 900_000, b'"b":{}}}'), (b"[", b"[],[],", 1_300_000, b"0]")],
)
def test_a_file_of_very_many_values_is_refused_before_it_is_decoded(
    begin: bytes, often: bytes, times: int, end: bytes
) -> None:
    data = begin + often * times + end
    assert len(data) <= MAX_BYTES
    tracemalloc.start()
    problem = parsed(data).problem
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problem is not None
    assert f"more than {MAX_VALUES:,} are not read" in problem.why
    assert peak < 18_000_000


def test_the_digest_of_a_file_that_was_changed_is_another() -> None:
    assert parsed(base()).sha256 != parsed(dumps(base()) + b"\n").sha256


def test_a_format_that_fails_is_a_problem_of_that_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise KeyError("the fault")

    monkeypatch.setattr("bot.evaluation.submission.parse_parts", fail)
    problem = parsed(base()).problem
    assert problem is not None
    assert problem.why == "could not be read: KeyError: 'the fault'"


def test_the_number_of_parameters_stays_beside_a_field_that_is_cut() -> None:
    result = parsed(patched({"/config/model_num_parameters": 7_000_000, "/git_hash": HUGE})).result
    assert result is not None
    assert result.model.parameters == 7_000_000
