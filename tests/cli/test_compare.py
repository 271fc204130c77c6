"""`compare` as people call it: files, rows of a board, exit statuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.audits.samples.test_check import inspect_log
from tests.command import completed

ROOT = Path(__file__).resolve().parents[2]
KESTREL, OSPREY = (f"examples/results/example-org__{name}-7b" for name in ("kestrel", "osprey"))


def call(*args: str) -> subprocess.CompletedProcess[str]:
    return completed("compare", *args, cwd=ROOT)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = str(tmp_path_factory.mktemp("board") / "target")
    done = completed("publish", KESTREL, "--to", target, "--as", "commit", "--quiet", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return target


def test_two_folders_are_compared() -> None:
    done = call(KESTREL, OSPREY)
    assert done.returncode == 0, done.stderr
    assert "B is 4.11 ± 1.46 points above A on the average of 6 tasks: more than chance leaves." in done.stdout


def test_a_lower_task_can_end_with_1() -> None:
    assert call(KESTREL, OSPREY, "--fail-on", "lower").returncode == 1
    assert call(KESTREL, OSPREY, "--fail-on", "lower", "--margin", "20").returncode == 0
    assert call(KESTREL, KESTREL, "--fail-on", "lower").returncode == 0


def test_a_file_meets_the_row_of_its_model(board: str) -> None:
    done = call(KESTREL, "--board", board, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {one["verdict"] for one in report["tasks"]} == {"not separable"}
    assert {one["difference"] for one in report["tasks"]} == {0.0}


def test_a_file_is_compared_with_a_row_that_is_named(board: str) -> None:
    done = call("example-org/kestrel-7b", OSPREY, "--board", board)
    assert done.returncode == 0, done.stderr
    assert "B is 5.17 ± 1.90 points above A" in done.stdout


def test_two_logs_of_inspect_are_paired_by_their_samples(tmp_path: Path) -> None:
    right = [float(number % 2) for number in range(40)]
    logs = {"a": right, "b": [1.0] * 20 + right[20:]}
    for name, values in logs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(inspect_log(values)))
    done = call(*(str(tmp_path / f"{name}.json") for name in logs), "--format", "json")
    assert done.returncode == 0, done.stderr
    (task,) = json.loads(done.stdout)["tasks"]
    assert (task["method"], task["verdict"]) == ("paired-exact", "higher")
    assert task["pairs"] == {"both": 20, "first": 0, "second": 10, "neither": 10}


def test_a_prompt_that_differs_is_named_before_the_result(tmp_path: Path) -> None:
    path = next((ROOT / KESTREL).glob("*.json"))
    result = json.loads(path.read_text())
    result["configs"]["leaderboard_mmlu_pro"]["doc_to_text"] = "Think well. {{question}}"
    (tmp_path / path.name).write_text(json.dumps(result))
    done = call(KESTREL, str(tmp_path / path.name), "--samples", "none")
    assert done.returncode == 0, done.stderr
    assert "They were measured differently: definition" in done.stdout
    assert "definition: doc_to_text" in done.stdout


def test_three_are_compared_with_the_first() -> None:
    report = json.loads(call(KESTREL, OSPREY, KESTREL, "--format", "json").stdout)
    assert len(report["against"]) == 1
    text = call(KESTREL, OSPREY, KESTREL).stdout
    assert [f"{letter} - A" in text and f"\n{letter}  " in text for letter in "BCD"] == [True, True, False]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((KESTREL,), "compare takes two to four measurements"),
        ((KESTREL, "nothing/there"), "is no file, and no row; name the board with --board"),
        ((KESTREL, "README.md"), "README.md:"),
        ((KESTREL, "examples/results"), "holds results of"),
        ((KESTREL, OSPREY, "--samples", "nowhere"), "write auto, none, or a folder"),
        ((KESTREL, OSPREY, "--task", "nothing"), "has no task nothing"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_one_line(args: tuple[str, ...], message: str) -> None:
    done = call(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
