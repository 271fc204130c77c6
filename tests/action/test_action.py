"""The Action checks: its steps run one by one in bash, as a runner runs them, against a local GitHub."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.action.jobs import (
    AVERAGE,
    BAD,
    DECLARED,
    GOOD,
    NONE,
    bad_result,
    comments,
    here,
    propose,
    push,
    runner,
    temp,
    without_report,
    workflow_run,
)
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_runner import ROOT, HereRunner, Ran, Runner
from tests.world.github_server import GitHubServer
from tests.world.results import result

__all__ = ["github", "here", "runner", "temp"]


@pytest.mark.slow
def test_a_proposal_with_good_results_passes_quietly(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {GOOD: result()})

    ran = runner.run("pull_request", event, token="app-token", **DECLARED)

    assert ran.status == 0, ran.log
    assert without_report(ran.outputs) == NONE | {
        "verdict": "accepted",
        "accepted": "1",
        "average": AVERAGE,
    }
    assert ran.log.splitlines() == [f"accepted: {GOOD}"]
    assert "### ✅ accepted: `acme/atlas-7b`" in ran.summary
    assert "<summary>Where each number comes from</summary>" in ran.summary
    assert json.loads(Path(ran.outputs["report"]).read_text())["schema"] == "leaderboard-bot/report/2"
    assert comments(github) == []


def test_a_proposal_with_bad_results_is_annotated_commented_and_fails(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {GOOD: result(), BAD: bad_result(), "README.md": b"no result"})

    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    assert ran.status == 1
    assert without_report(ran.outputs) == NONE | {"verdict": "rejected", "accepted": "1", "rejected": "1"}
    first = ran.commands("error")[0]
    assert first.startswith(
        "::error title=value-out-of-range,file=acme__bolt-1b/results_2026-03-02T10-00-00.000000.json,"
    )
    line = int(first.split("line=")[1].split(":")[0])
    assert "1.7" in bad_result().decode().splitlines()[line - 1]
    (comment,) = comments(github)
    assert comment.startswith("`tiny`: 1 rejected, 1 accepted\n")
    assert comment.index("❌ rejected") < comment.index("✅ accepted")


def test_a_comment_is_edited_when_the_results_are_corrected(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {BAD: bad_result()})
    here.run("pull_request", event, token="app-token", **DECLARED)
    git = github.state.repos[BOARD].git
    event["pull_request"]["head"]["sha"] = git.push("heads/results", {BAD: result("acme/bolt-1b")})

    runs = [here.run("pull_request", event, token="app-token", **DECLARED) for _ in range(2)]

    assert [ran.status for ran in runs] == [0, 0]
    (comment,) = comments(github)
    assert comment.startswith("`tiny`: 1 accepted\n")
    assert github.state.count("PATCH", "/issues/comments/") == 1


@pytest.mark.slow
def test_two_runs_at_once_leave_one_comment(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {BAD: bad_result()})
    runner.run("pull_request", event, token="app-token", comment="never", **DECLARED)  # installs

    def run(_: int) -> Ran:
        own = Runner(runner.temp, runner.workspace, github.url, BOARD, runner.scratch / f"own-{_}")
        return own.run("pull_request", event, token="app-token", **DECLARED)

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, range(2)))

    assert [ran.status for ran in runs] == [1, 1]
    assert len(comments(github)) == 1


@pytest.mark.parametrize("token", ["", "read-token"])
def test_a_fork_without_rights_gets_its_verdict_and_one_line_about_the_comment(
    github: GitHubServer, here: HereRunner, token: str
) -> None:
    event = propose(github, {BAD: bad_result()}, fork="bob/leaderboard")

    ran = here.run("pull_request", event, token=token, **DECLARED)

    assert ran.status == 1
    assert ran.outputs["verdict"] == "rejected"
    assert comments(github) == []
    (line,) = ran.commands("warning")
    assert "the verdict does not change: GitHub refused: " in line
    assert "a run for a fork never may: there the second workflow of docs/github.md comments" in line


def test_the_second_workflow_comments_on_a_forks_proposal(github: GitHubServer, here: HereRunner) -> None:
    event = workflow_run(propose(github, {BAD: bad_result()}, fork="bob/leaderboard"), "bob")

    ran = here.run("workflow_run", event, token="app-token", fail_on="never", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], len(comments(github))) == (0, "rejected", 1)


def test_another_request_of_the_same_branch_keeps_no_comment_from_the_first(
    github: GitHubServer, here: HereRunner
) -> None:
    event = propose(github, {BAD: bad_result()}, fork="bob/leaderboard")
    board = github.state.repos[BOARD]
    board.git.push("heads/old", {"old.txt": b"1"})
    github.state.open_pull(BOARD, "results", fork="bob/leaderboard").base = "old"

    here.run("workflow_run", workflow_run(event, "bob"), token="app-token", fail_on="never", **DECLARED)

    assert {one.issue for one in board.comments.values()} == {event["number"]}


def test_the_second_workflow_gives_no_verdict_where_the_fork_is_gone(github: GitHubServer, here: HereRunner) -> None:
    event = workflow_run(propose(github, {BAD: bad_result()}, fork="bob/leaderboard"), "bob")
    event["workflow_run"]["head_repository"] = None  # as GitHub writes it; the request is closed then

    ran = here.run("workflow_run", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], comments(github)) == (0, "none", [])
    assert ran.log.startswith("no verdict: the pull request is closed")


def test_a_token_that_has_expired_is_told_by_the_name_of_its_input(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {BAD: bad_result()})

    ran = here.run("pull_request", event, token="expired-token", **DECLARED)

    assert ran.status == 4
    assert "has expired; set GITHUB_TOKEN where the bot is started (in a workflow, the input `github-token`)" in ran.log


def test_the_second_workflow_says_nothing_about_a_head_that_has_moved(github: GitHubServer, here: HereRunner) -> None:
    event = workflow_run(propose(github, {BAD: bad_result()}, fork="bob/leaderboard"), "bob")
    github.state.repos["bob/leaderboard"].git.push("heads/results", {"more.txt": b"1"})

    ran = here.run("workflow_run", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], comments(github)) == (0, "none", [])
    assert ran.log.startswith("no verdict: the pull request is closed, a newer commit of it has a run of its own, or")


def test_a_request_that_changes_the_declaration_that_judges_it_is_told(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {GOOD: result(), "tiny.toml": b"title = 'easier'"})
    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"]) == (0, "accepted"), ran.log
    assert len(ran.commands("warning")) == 1
    assert "also changes tiny.toml, the declaration by which results are judged" in ran.commands("warning")[0]
    [comment] = comments(github)
    assert "This request also changes `tiny.toml`" in comment


def test_a_schedule_without_a_payload_checks_the_workspace(github: GitHubServer, here: HereRunner) -> None:
    path = here.workspace / "runs" / GOOD
    path.parent.mkdir(parents=True)
    path.write_bytes(result())

    ran = here.run("schedule", None, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], ran.log.splitlines()) == (0, "accepted", [f"accepted: runs/{GOOD}"])


def test_no_matching_file_is_no_failure_and_one_line(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {"README.md": b"words"})

    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    assert (ran.status, without_report(ran.outputs)) == (0, NONE)
    (line,) = ran.log.splitlines()
    assert line == "no result file that was added or changed matches **/*.json"


@pytest.mark.parametrize(("before", "is_warned"), [({}, True), ({GOOD: result()}, False)])
def test_a_push_to_a_repository_without_results_is_a_warning(
    github: GitHubServer, here: HereRunner, before: dict[str, bytes], is_warned: bool
) -> None:
    push(github, {"notes.txt": b"words", **before})
    event, sha = push(github, {"answers.jsonl": b'{"scores": {"math": 0.5}}'})

    ran = here.run("push", event, sha=sha, token="app-token", **DECLARED)

    warned = "::warning title=leaderboard-bot::no result file in the repository matches **/*.json; name them by the"
    (line,) = ran.log.splitlines()
    assert (ran.status, line.startswith(warned)) == (0, is_warned)


def test_a_file_of_another_tool_is_named_with_the_reason(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {"a*b/scores.json": b'{"my_tool": "x", "scores": {}}'})

    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    said = 'not read: a*b/scores.json (other): has no "results" object'
    assert (ran.status, without_report(ran.outputs)) == (0, NONE)
    assert ran.log.startswith(said)
    assert f"\n\n    {said}" in ran.summary  # a block of code, in which nothing is markup
    assert "`no file that was added or changed is a result`" in ran.summary


def test_a_file_of_no_format_that_is_called_as_results_are_fails_the_run(
    github: GitHubServer, here: HereRunner
) -> None:
    """Who calls a file so believes that it was checked."""
    event = propose(github, {"results_x.json": b'{"my_tool": "x", "scores": {}}'})
    ran = here.run("pull_request", event, token="app-token", **DECLARED)
    assert (ran.status, without_report(ran.outputs)) == (1, NONE)
    (said,) = [line for line in ran.log.splitlines() if line.startswith("::")]
    assert said.startswith('::error title=leaderboard-bot::not read: results_x.json (other): has no "results" object')


@pytest.mark.parametrize("data", [b"", b"<html>Sign in</html>", b"\n"])
def test_a_file_called_as_results_are_that_holds_none_is_an_error(
    github: GitHubServer, here: HereRunner, data: bytes
) -> None:
    event = propose(github, {GOOD: data})

    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"]) == (1, "rejected")
    assert "malformed-file" in ran.summary


def test_sample_logs_alone_are_named(github: GitHubServer, here: HereRunner) -> None:
    event = propose(github, {"runs/samples_arc_2025.jsonl": b"{}"})

    ran = here.run("pull_request", event, token="app-token", **DECLARED)

    assert ran.log == (
        "1 sample log that was added or changed, and no result file:"
        " a log counts only together with the result file beside it (runs/samples_arc_2025.jsonl)\n"
    )


@pytest.mark.parametrize(
    "data", [b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", b"\xef\xbb\xbf" + result()]
)
@pytest.mark.parametrize(("fail_on", "status", "level"), [("error", 1, "error"), ("never", 0, "warning")])
def test_a_file_that_may_be_a_result_and_cannot_be_judged_counts_for_fail_on(  # noqa: PLR0917
    github: GitHubServer, here: HereRunner, data: bytes, fail_on: str, status: int, level: str
) -> None:
    event = propose(github, {GOOD: data})
    ran = here.run("pull_request", event, token="app-token", fail_on=fail_on, **DECLARED)

    assert (ran.status, without_report(ran.outputs)) == (status, NONE)
    (said,) = [line for line in ran.log.splitlines() if line.startswith("::")]
    assert said.startswith(f"::{level} ")
    assert f"::not read: {GOOD} (" in said
    assert "1 file may hold results and cannot be judged" in ran.summary


@pytest.mark.slow
def test_what_lies_in_the_workspace_is_never_imported(github: GitHubServer, runner: Runner) -> None:
    """A proposal brings modules named as ours and as our dependencies'; none of them runs."""
    for name in ("bot.py", "httpx.py", "github.py", "json.py", "sitecustomize.py", "bot/__init__.py", "uv.toml"):
        path = runner.workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('ran the submitted code')\n")
    (runner.workspace / ".python-version").write_text("2.7\n")
    (runner.workspace / "pyproject.toml").write_text("[project]\nname = 'evil'\n")
    event = propose(github, {GOOD: result()})

    ran = runner.run("pull_request", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"]) == (0, "accepted"), ran.log


@pytest.mark.campaign
def test_inputs_are_never_part_of_a_shell_line(github: GitHubServer, runner: Runner) -> None:
    mark = runner.scratch.parent / "ran"
    hostile = f"$(touch {mark}) `touch {mark}`; touch {mark}"

    ran = runner.run("schedule", None, token="app-token", results=hostile, leaderboard="tiny.toml")

    assert not mark.exists()
    assert (ran.status, ran.outputs["verdict"]) == (0, "none")


@pytest.mark.slow
def test_the_report_has_the_digest_of_the_command_line(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {GOOD: result(), BAD: bad_result()})
    for path, data in {GOOD: result(), BAD: bad_result()}.items():
        (runner.workspace / path).parent.mkdir(exist_ok=True)
        (runner.workspace / path).write_bytes(data)

    ran = runner.run("pull_request", event, token="app-token", **DECLARED)
    command = [sys.executable, "-m", "bot", "check", ".", "-l", "tiny.toml", "--format", "json"]
    local = subprocess.run(
        command,
        cwd=runner.workspace,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )

    report, ours = json.loads(Path(ran.outputs["report"]).read_text()), json.loads(local.stdout)
    assert (ran.status, local.returncode) == (1, 1)
    assert len(report["submissions"]) == 2
    assert report["digest"] == ours["digest"]
