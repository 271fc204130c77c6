"""Rows that rest on samples, as people use them: `check --samples`, a board that asks for logs, `verify --samples`."""

from __future__ import annotations

import json
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from bot.cli.judging import judge_paths
from bot.platforms.declarations import open_leaderboard
from bot.platforms.platform import Access
from tests.audits.samples.test_check import STAMP, hashed
from tests.command import completed
from tests.world.local_git import git
from tests.world.results import TINY, result

ROOT = Path(__file__).resolve().parents[2]
RIGHT = {"sums_plus": 50, "sums_times": 60, "logic": 70}


def bot(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return completed(*args, cwd=folder, env={"PATH": "/usr/bin:/bin"})


def rows(task: str, right: int) -> list[dict[str, object]]:
    """A log of 100 questions with two answers each, of which the model likes the first `right` times."""
    return [
        hashed({
            "doc_id": number,
            "doc": {"question": f"{task} {number}"},
            "target": "0",
            "arguments": {f"gen_args_{n}": {"arg_0": f"{task} {number}", "arg_1": f" {n + 5}"} for n in range(2)},
            "resps": [[["-1.0" if number < right else "-3.0", "False"]], [["-2.0", "False"]]],
            "filtered_resps": [],
            "filter": "none",
            "acc": float(number < right),
        })
        for number in range(100)
    ]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A git repository that holds a run with its logs, and beside it a declaration that requires them."""
    folder = tmp_path / "runs" / "atlas"
    folder.mkdir(parents=True)
    (folder / f"results_{STAMP}.json").write_bytes(result())
    for task, right in RIGHT.items():
        text = "".join(json.dumps(row) + "\n" for row in rows(task, right))
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
    declared = TINY.replace("[harness]", '[evidence]\nsamples = "required"\n\n[harness]', 1)
    (tmp_path / "tiny.toml").write_text(declared)
    for args in (("init", "-q"), ("add", "runs"), ("commit", "-qm", "results")):
        git(tmp_path, *args)
    return tmp_path


@pytest.mark.slow
def test_a_row_with_logs_is_published_and_verified(run: Path) -> None:
    published = bot(run, "publish", "runs", "-l", "tiny.toml", "--to", "board", "--as", "commit", "--quiet")
    assert published.returncode == 0, published.stdout + published.stderr
    (entry,) = (run / "board" / "entries").rglob("*.json")
    logs = json.loads(entry.read_text())["samples"]
    assert [(one["leaf"], one["samples"], one["shows"]) for one in logs] == [(task, 100, "rescored") for task in RIGHT]

    for more in ((), ("--samples",)):
        verified = bot(run, "verify", "board", "--sources", ".", *more)
        assert verified.returncode == 0, verified.stdout + verified.stderr

    entry.write_text(entry.read_text().replace(logs[2]["sha256"], "0" * 64))
    git(run / "board", "commit", "-qam", "another log")
    verified = bot(run, "verify", "board", "--sources", ".", "--samples")
    assert verified.returncode == 1
    assert "is not the sample log that the row names" in verified.stdout


def test_a_row_of_a_folder_without_commits_is_verified_with_its_logs(run: Path) -> None:
    shutil.rmtree(run / ".git")
    published = bot(run, "publish", "runs", "-l", "tiny.toml", "--to", "board", "--as", "commit", "--quiet")
    assert published.returncode == 0, published.stdout + published.stderr
    verified = bot(run, "verify", "board", "--sources", "runs", "--samples")
    assert verified.returncode == 0, verified.stdout + verified.stderr

    log = next((run / "runs" / "atlas").glob("samples_logic_*"))
    log.write_text(log.read_text() + "\n")
    verified = bot(run, "verify", "board", "--sources", "runs", "--samples")
    assert "is not the sample log that the row names" in verified.stdout


@pytest.mark.slow
def test_check_and_publish_name_the_model_whose_answers_are_nearly_the_same(run: Path) -> None:
    """The second run has all its log-likelihoods but those of one question in each task."""
    for model, more in (("atlas", 0), ("copy", 1)):
        folder = run / "runs" / model
        folder.mkdir(exist_ok=True)
        right = {task: count + more for task, count in RIGHT.items()}
        (folder / f"results_{STAMP}.json").write_bytes(result(f"acme/{model}-7b", right=tuple(right.values())))
        for task, count in right.items():
            text = "".join(json.dumps(row) + "\n" for row in rows(task, count))
            text = text.replace('"-1.0"', '"-1.0625"').replace('"-3.0"', '"-3.0625"')
            (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
    for args in (("add", "runs"), ("commit", "-qm", "a copy")):
        git(run, *args)
    said = "acme/atlas-7b has nearly all answers of sums_plus, sums_times, logic of this row"
    assert said in " ".join(bot(run, "check", "runs", "-l", "tiny.toml").stdout.split())  # judged together
    publish = ("-l", "tiny.toml", "--to", "board", "--as", "commit", "--quiet")
    assert bot(run, "publish", "runs/atlas", *publish).returncode == 0
    assert said in " ".join(bot(run, "check", "runs/copy", "-l", "tiny.toml", "--board", "board").stdout.split())
    assert bot(run, "publish", "runs/copy", *publish).returncode == 0
    warned = {
        entry["model"]["id"]: [one["message"] for one in entry["warnings"]]
        for entry in (json.loads(path.read_text()) for path in (run / "board" / "entries").rglob("*.json"))
    }
    assert said in warned["acme/copy-7b"]
    assert not any("nearly all" in one for one in warned["acme/atlas-7b"])
    verified = bot(run, "verify", "board", "--sources", ".", "--samples")
    assert (verified.returncode, "neither says so" in verified.stdout) == (0, False), verified.stdout


@pytest.mark.slow
def test_memory_does_not_grow_with_the_logs_that_are_checked(run: Path) -> None:
    log = next((run / "runs" / "atlas").glob("samples_logic_*"))
    text, peaks = log.read_text(), []
    declared = open_leaderboard(str(run / "tiny.toml"), Access())
    for times in (20, 200):
        log.write_text(text * times)
        tracemalloc.start()
        judge_paths([str(run / "runs")], declared, quiet=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_a_missing_log_and_an_edited_one_reject_the_row(run: Path) -> None:
    log = next((run / "runs" / "atlas").glob("samples_logic_*"))
    text = log.read_text()
    log.write_text(text.replace('"acc": 0.0', '"acc": 1.0', 1))
    done = bot(run, "check", "runs", "-l", "tiny.toml")
    assert done.returncode == 1
    assert "answer-scored-otherwise" in done.stdout
    assert "samples-disagree" in done.stdout

    log.write_text(text.replace('"acc"', '"accuracy"'))
    done = bot(run, "check", "runs", "-l", "tiny.toml")
    assert done.returncode == 1
    assert "samples-missing" in done.stdout, done.stdout

    log.unlink()
    done = bot(run, "check", "runs", "-l", "tiny.toml")
    assert done.returncode == 1
    assert "samples-missing" in done.stdout


def test_logs_are_reported_apart_where_the_leaderboard_does_not_ask(run: Path) -> None:
    (run / "plain.toml").write_text(TINY)
    before = json.loads(bot(run, "check", "runs", "-l", "plain.toml", "-f", "json").stdout)
    log = next((run / "runs" / "atlas").glob("samples_logic_*"))
    log.write_text(log.read_text().replace('"acc": 0.0', '"acc": 1.0', 1))

    done = bot(run, "check", "runs", "-l", "plain.toml", "-f", "json", "--samples")

    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["digest"] == before["digest"]
    assert before["summary"]["unread"] == {"sample-log": 3}
    assert report["unread"] == []
    (found,) = report["samples"]
    assert {one["rule"] for one in found["findings"]} == {"samples-disagree", "answer-scored-otherwise"}
    for form in ("text", "markdown", "github", "summary"):
        assert (
            "answer-scored-otherwise" in bot(run, "check", "runs", "-l", "plain.toml", "--samples", "-f", form).stdout
        )
