"""The Action's steps run one by one in bash, as a runner runs them, against a local GitHub."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.publication import find_mark
from tests.github_fixtures import BOARD, github
from tests.world.github_runner import BASH, EXPRESSION, ROOT, Ran, Runner
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result
from tests.world.server import served

__all__ = ["github"]

GOOD = path_of()
BAD = path_of("acme/bolt-1b")
AVERAGE = "58.33333333333333"
DECLARED = {"leaderboard": "tiny.toml"}
NONE = {"verdict": "none", "accepted": "0", "incomplete": "0", "rejected": "0", "average": "", "pull-request": ""}
FAILED = {
    "verdict": "",
    "accepted": "0",
    "incomplete": "0",
    "rejected": "0",
    "average": "",
    "report": "",
    "pull-request": "",
}


def bad_result() -> bytes:
    data = json.loads(result("acme/bolt-1b"))
    data["results"]["logic"]["acc,none"] = 1.7
    return json.dumps(data, indent=2).encode()


@pytest.fixture(scope="session")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RUNNER_TEMP, shared by all runs: the locked core is installed there once."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def runner(github: GitHubServer, temp: Path, tmp_path: Path) -> Runner:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "tiny.toml").write_text(TINY)
    return Runner(temp, workspace, github.url, BOARD, tmp_path / "scratch")


def propose(server: GitHubServer, files: dict[str, bytes], fork: str = "") -> dict[str, Any]:
    """A person proposes files; gives the event of `pull_request`."""
    state = server.state
    if fork:
        state.add_fork(fork, BOARD)
    head = state.repos[fork or BOARD].git.push("heads/results", files)
    number = state.open_pull(BOARD, "results", fork=fork).number
    return {"number": number, "pull_request": {"number": number, "head": {"sha": head, "ref": "results"}}}


def without_report(outputs: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in outputs.items() if name != "report"}


def comments(server: GitHubServer) -> list[str]:
    return [comment.body for comment in server.state.repos[BOARD].comments.values() if find_mark(comment.body)]


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
    assert json.loads(Path(ran.outputs["report"]).read_text())["schema"] == "leaderboard-bot/report/1"
    assert comments(github) == []


def test_a_proposal_with_bad_results_is_annotated_and_commented_and_fails(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {GOOD: result(), BAD: bad_result(), "README.md": b"no result"})

    ran = runner.run("pull_request", event, token="app-token", **DECLARED)

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


def test_a_comment_is_edited_when_the_results_are_mended_and_posted_once(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {BAD: bad_result()})
    runner.run("pull_request", event, token="app-token", **DECLARED)
    git = github.state.repos[BOARD].git
    event["pull_request"]["head"]["sha"] = git.push("heads/results", {BAD: result("acme/bolt-1b")})

    runs = [runner.run("pull_request", event, token="app-token", **DECLARED) for _ in range(2)]

    assert [ran.status for ran in runs] == [0, 0]
    (comment,) = comments(github)
    assert comment.startswith("`tiny`: 1 accepted\n")
    assert github.state.count("PATCH", "/issues/comments/") == 1


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
    github: GitHubServer, runner: Runner, token: str
) -> None:
    event = propose(github, {BAD: bad_result()}, fork="bob/leaderboard")

    ran = runner.run("pull_request", event, token=token, **DECLARED)

    assert ran.status == 1
    assert ran.outputs["verdict"] == "rejected"
    assert comments(github) == []
    if token:
        (line,) = ran.commands("warning")
        assert "the comment could not be written, the verdict stands all the same: GitHub refused: 403" in line
    else:
        assert "no comment: there is no token" in ran.log


def workflow_run(event: dict[str, Any], owner: str) -> dict[str, Any]:
    head = event["pull_request"]["head"]
    run = {"event": "pull_request", "head_sha": head["sha"], "head_branch": head["ref"], "conclusion": "failure"}
    return {"action": "completed", "workflow_run": run | {"head_repository": {"owner": {"login": owner}}}}


def test_the_second_workflow_comments_on_a_forks_proposal(github: GitHubServer, runner: Runner) -> None:
    event = workflow_run(propose(github, {BAD: bad_result()}, fork="bob/leaderboard"), "bob")

    ran = runner.run("workflow_run", event, token="app-token", fail_on="never", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], len(comments(github))) == (0, "rejected", 1)


@pytest.mark.campaign
def test_the_second_workflow_says_nothing_about_a_head_that_has_moved(github: GitHubServer, runner: Runner) -> None:
    event = workflow_run(propose(github, {BAD: bad_result()}, fork="bob/leaderboard"), "bob")
    github.state.repos["bob/leaderboard"].git.push("heads/results", {"more.txt": b"1"})

    ran = runner.run("workflow_run", event, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], comments(github)) == (0, "none", [])


def push(server: GitHubServer, files: dict[str, bytes]) -> tuple[dict[str, Any], str]:
    git = server.state.repos[BOARD].git
    before = git.refs["heads/main"]
    after = git.push("heads/main", files)
    return {"ref": "refs/heads/main", "before": before, "after": after}, after


PUBLISH = {"mode": "publish", "to": f"github://{BOARD}", **DECLARED}


def test_a_push_to_main_publishes_one_request_however_often_it_runs(github: GitHubServer, runner: Runner) -> None:
    event, sha = push(github, {GOOD: result()})

    first, *others = [runner.run("push", event, token="app-token", sha=sha, **PUBLISH) for _ in range(3)]

    assert first.status == 0, first.log
    assert without_report(first.outputs) == NONE | {
        "verdict": "accepted",
        "accepted": "1",
        "average": AVERAGE,
        "pull-request": f"{github.url}/{BOARD}/pull/1",
    }
    assert [ran.outputs["pull-request"] for ran in others] == ["", ""]
    (request,) = github.state.repos[BOARD].pulls()
    entry = json.loads(github.state.repos[BOARD].git.read(f"heads/{request.head}", f"entries/{request.head[16:]}.json"))
    assert entry["evidence"]["source"] == f"github://{BOARD}"
    assert (entry["evidence"]["commit"], entry["evidence"]["path"]) == (sha, GOOD)


@pytest.mark.campaign
def test_two_publishing_runs_at_once_leave_one_request(github: GitHubServer, runner: Runner) -> None:
    event, sha = push(github, {GOOD: result()})
    runner.run("schedule", None, token="app-token", sha=sha, **DECLARED)  # installs

    def run(number: int) -> Ran:
        own = Runner(runner.temp, runner.workspace, github.url, BOARD, runner.scratch / f"own-{number}")
        return own.run("push", event, token="app-token", sha=sha, **PUBLISH)

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, range(2)))

    assert [ran.status for ran in runs] == [0, 0], [ran.log for ran in runs]
    assert len(github.state.repos[BOARD].pulls()) == 1


def test_a_schedule_without_a_payload_checks_the_workspace(github: GitHubServer, runner: Runner) -> None:
    path = runner.workspace / "runs" / GOOD
    path.parent.mkdir(parents=True)
    path.write_bytes(result())

    ran = runner.run("schedule", None, token="app-token", **DECLARED)

    assert (ran.status, ran.outputs["verdict"], ran.log.splitlines()) == (0, "accepted", [f"accepted: runs/{GOOD}"])


def test_no_matching_file_is_no_failure_and_one_line(github: GitHubServer, runner: Runner) -> None:
    event = propose(github, {"README.md": b"words"})

    ran = runner.run("pull_request", event, token="app-token", **DECLARED)

    assert (ran.status, without_report(ran.outputs)) == (0, NONE)
    (line,) = ran.log.splitlines()
    assert line == "no result file that changed matches **/results_*.json"


def test_a_token_without_permission_ends_publishing_with_status_4(github: GitHubServer, runner: Runner) -> None:
    event, sha = push(github, {GOOD: result()})

    ran = runner.run("push", event, token="read-token", sha=sha, **PUBLISH)

    assert ran.status == 4
    assert ran.log.splitlines()[-1].startswith("::error title=leaderboard-bot::GitHub refused: 403")
    assert "in a workflow, under `permissions:`" in ran.log
    assert ran.outputs["verdict"] == "accepted"
    assert "could not finish** (status 4)" in ran.summary


def test_an_api_that_is_down_is_status_3_and_one_line(github: GitHubServer, runner: Runner) -> None:
    event, sha = push(github, {GOOD: result()})
    github.http.shutdown()
    github.http.server_close()

    ran = runner.run("push", event, token="app-token", sha=sha, **PUBLISH)

    assert (ran.status, ran.outputs) == (3, FAILED)
    (line,) = ran.log.splitlines()
    assert line.startswith("::error title=leaderboard-bot::GitHub could not be reached: ")


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

    ran = runner.run("schedule", None, token="app-token", results=hostile, leaderboard="tiny.toml", to=hostile)

    assert not mark.exists()
    assert (ran.status, ran.outputs["verdict"]) == (0, "none")


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

    digests: Callable[[str | bytes], dict[str, str]] = lambda text: {  # noqa: E731
        one["sha256"]: one["digest"] for one in json.loads(text)["submissions"]
    }
    report = Path(ran.outputs["report"]).read_text()
    assert (ran.status, local.returncode) == (1, 1)
    assert len(digests(report)) == 2
    assert digests(report) == digests(local.stdout)


def test_our_own_selftest_passes_here(github: GitHubServer, runner: Runner) -> None:
    """`.github/workflows/selftest.yml`, its `uses: ./` and its shell step, as a runner takes them one by one."""
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "selftest.yml").read_text())["jobs"]["action"]
    shutil.copytree(ROOT / "examples", runner.workspace / "examples")
    known: dict[str, str] = {}
    for step in job["steps"]:
        if step.get("uses") == "./":
            given = {name.replace("-", "_"): value for name, value in step["with"].items()}
            ran = runner.run("push", None, **given)
            known[f"steps.{step['id']}.outcome"] = "failure" if ran.status else "success"
            known |= {f"steps.{step['id']}.outputs.{name}": value for name, value in ran.outputs.items()}

    assert job["steps"][-1]["name"] == "Outputs and status are as documented"
    variables = {name: EXPRESSION.sub(lambda m: known[m[1]], text) for name, text in job["steps"][-1]["env"].items()}
    done = subprocess.run([*BASH, "-c", job["steps"][-1]["run"]], env=variables, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


@pytest.fixture
def hub() -> Iterator[Hub]:
    with served(Hub()) as hub:
        yield hub


def test_the_hub_is_published_to_without_a_secret(github: GitHubServer, hub: Hub, runner: Runner) -> None:
    """The workflow's identity is exchanged for a token of one repository; that token does not even know its name."""
    board = hub.repository("acme/leaderboard")
    runner.variables |= {
        "HF_ENDPOINT": hub.url,
        "HF_OIDC_RESOURCE": "datasets/acme/leaderboard",
        "ACTIONS_ID_TOKEN_REQUEST_URL": hub.trust("publish-results", board),
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner",
    }
    event, sha = push(github, {GOOD: result()})
    keyless = {"mode": "publish", "to": "hf://datasets/acme/leaderboard", "as": "commit", **DECLARED}

    runs = [runner.run("push", event, token="read-token", sha=sha, **keyless) for _ in range(2)]

    assert [ran.status for ran in runs] == [0, 0], runs[0].log
    (path,) = [path for path, _ in board.main.tree.files() if path.startswith("entries/")]
    assert path.startswith("entries/acme__atlas-7b/")
    assert {posted.user for posted in hub.log} == {"[OIDC]"}


def test_a_workflow_that_the_hub_does_not_trust_is_refused_in_one_line(
    github: GitHubServer, hub: Hub, runner: Runner
) -> None:
    hub.repository("acme/leaderboard")
    runner.variables |= {"HF_ENDPOINT": hub.url, "HF_OIDC_RESOURCE": "datasets/acme/leaderboard"}
    event, sha = push(github, {GOOD: result()})
    keyless = {"mode": "publish", "to": "hf://datasets/acme/leaderboard", "as": "commit", **DECLARED}

    ran = runner.run("push", event, token="read-token", sha=sha, **keyless)

    assert ran.status == 4
    (line,) = ran.log.splitlines()
    assert line.startswith("::error title=leaderboard-bot::the Hub refused: trusted publishing: Cannot request an OIDC")
    assert "id-token: write" in line
