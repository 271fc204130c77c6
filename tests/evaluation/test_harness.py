"""The lists of harness commits: what a hash is told from, and how they are renewed."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from bot.evaluation.benchmarks.harness import FORK, commit_of, order_of, repository
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import Facts
from bot.evaluation.verdict import CommitFact
from tests.evaluation.judging import ROOT, declared
from tests.world.local_git import git


def script() -> ModuleType:
    """The script that renews the lists, which lies outside the package."""
    spec = importlib.util.spec_from_file_location("renew_commits", ROOT / ".github" / "renew_commits.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_commit_of_both_repositories_is_known(reference: Path) -> None:
    names = {"upstream_commits.csv": repository(), "fork_commits.csv": FORK}
    for file, name in names.items():
        with (reference / "harness" / file).open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                found = commit_of(row["commit"])
                assert found is not None, row
                assert (found.repository, found.day) == (name, row["date"])
                assert commit_of(row["commit"][:7]) == commit_of(row["commit"][:9]) == found


@pytest.mark.parametrize("text", ["", "v0.4.9", "abc", "0123456789abcdef", "4e7e0d4", "4e7e0d48f33bc710"])
def test_what_is_no_commit_of_the_lists_is_none(text: str) -> None:
    assert (commit_of(text) is None) == (text != "4e7e0d4")


@pytest.mark.parametrize(
    ("git_hash", "answer", "why"),
    [
        ("4e7e0d47", "accepted", "commit 4e7e0d47 is of EleutherAI/lm-evaluation-harness, 2026-08-21"),
        ("v0.4.9-3-g9067fdb8", "accepted", "commit 9067fdb8 is of EleutherAI/lm-evaluation-harness"),
        ("1c7fb748", "unaccepted", "commit 1c7fb748 is of EleutherAI/lm-evaluation-harness, 2020-08-27"),
        ("fa31d1fb", "unknown", "commit fa31d1fb is of huggingface/lm-evaluation-harness, 2024-05-02"),
        ("0183ac23", "unknown", "commit 0183ac23 is of huggingface/lm-evaluation-harness, 2024-10-29"),
        ("deadbeef", "unknown", "commit deadbeef is not in the shipped table"),
    ],
)
def test_a_commit_is_judged_by_its_place_in_the_lists(git_hash: str, answer: str, why: str) -> None:
    judged = judge_harness(HarnessVersion("lm-evaluation-harness", git_hash=git_hash), declared(), Facts())
    assert (judged.answer, judged.why[: len(why)]) == (answer, why)


def test_what_was_looked_up_counts_before_the_lists() -> None:
    facts = Facts(commits={"4e7e0d47": CommitFact("unaccepted", why="no")})
    assert judge_harness(HarnessVersion("x", git_hash="4e7e0d47"), declared(), facts).answer == "unaccepted"


def test_releases_sort_by_their_numbers() -> None:
    assert sorted(["0.4.10", "0.4.9.1", "0.4.9", "0.3.0"], key=order_of) == ["0.3.0", "0.4.9", "0.4.9.1", "0.4.10"]


def test_the_script_lists_the_default_branch_and_what_only_the_fork_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(folder: Path, title: str, day: str) -> str:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00Z")
        git(folder, "commit", "--allow-empty", "-m", title, "--date", f"{day}T12:00:00Z")
        return git(folder, "rev-parse", "HEAD")[:8]

    upstream, fork, lists = tmp_path / "upstream", tmp_path / "fork", tmp_path / "lists"
    upstream.mkdir()
    git(upstream, "init", "-q", "-b", "main")
    first, second = commit(upstream, "one", "2024-01-01"), commit(upstream, "two", "2024-01-01")
    git(tmp_path, "clone", "-q", str(upstream), str(fork))
    git(fork, "checkout", "-q", "-b", "other")
    third = commit(fork, "three", "2024-02-03")
    script().renew(upstream, fork, lists)
    ours = (lists / "EleutherAI__lm-evaluation-harness.txt").read_text(encoding="ascii").splitlines()
    theirs = (lists / "huggingface__lm-evaluation-harness.txt").read_text(encoding="ascii").splitlines()
    assert ours[1:] == [f"2024-01-01 {first} {second}"]
    assert theirs[1:] == [f"2024-02-03 {third}"]
