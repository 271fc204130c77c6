"""The Action publishes: its steps run one by one in bash, against a local GitHub and a local Hub."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from tests.action.jobs import (
    AVERAGE,
    DECLARED,
    FAILED,
    GOOD,
    NONE,
    PUBLISH,
    here,
    hub,
    propose,
    push,
    runner,
    temp,
    without_report,
)
from tests.platforms.github.fixtures import BOARD, github
from tests.service.test_rows_beside import BESIDE, LOWER
from tests.world.github_runner import BASH, EXPRESSION, ROOT, HereRunner, Ran, Runner
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import path_of, result

__all__ = ["github", "here", "hub", "runner", "temp"]


OWN = """
title = "Own"
description = "Two tasks in files of many models"
[harness]
formats = ["own"]
[[formats]]
id = "own"
model = "model"
rows = "[*]"
[[formats.values]]
value = "scores.{task}"
leaf = "{task}"
metric = "acc"
unit = "fraction"
""" + "".join(
    f'[[tasks]]\nid = "{name}"\ntitle = "{name}"\nmetrics = [{{ name = "acc" }}]\nleaves = [{{ id = "{name}" }}]\n'
    for name in "ab"
)


@pytest.mark.slow
def test_a_push_to_main_publishes_one_request_however_often_it_runs(github: GitHubServer, runner: Runner) -> None:
    event, sha = push(github, {GOOD: result()})

    first, again = [runner.run("push", event, token="app-token", sha=sha, **PUBLISH) for _ in range(2)]

    assert first.status == 0, first.log
    assert without_report(first.outputs) == NONE | {
        "verdict": "accepted",
        "accepted": "1",
        "average": AVERAGE,
        "pull-request": f"{github.url}/{BOARD}/pull/1",
    }
    assert again.outputs["pull-request"] == ""
    (request,) = github.state.repos[BOARD].pulls()
    entry = json.loads(github.state.repos[BOARD].git.read(f"heads/{request.head}", f"entries/{request.head[16:]}.json"))
    (file,) = entry["evidence"]
    assert (file["source"], file["commit"], file["path"]) == (f"github://{BOARD}", sha, GOOD)


@pytest.mark.slow
def test_the_board_is_published_as_a_site_where_one_is_named(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result()})
    site = f"github://{BOARD}@gh-pages"

    first = here.run("push", event, token="app-token", sha=sha, site=site, **PUBLISH)
    ran = here.run("push", event, token="app-token", sha=sha, site=site, **{**PUBLISH, "as": "commit"})

    assert "no site: there is no row on the board yet" in first.log
    assert ran.status == 0, ran.log
    assert b"acme/atlas-7b" in github.state.repos[BOARD].git.read("heads/gh-pages", "index.html")


@pytest.mark.parametrize("site", [f"github://{BOARD}", "hf://datasets/acme/leaderboard", "ftp://a/b"])
def test_a_wrong_site_is_said_before_anything_is_published(github: GitHubServer, here: HereRunner, site: str) -> None:
    event, sha = push(github, {GOOD: result()})
    ran = here.run("push", event, token="app-token", sha=sha, site=site, **PUBLISH)

    assert ran.status == 2
    assert site in ran.log
    assert github.state.writes() == 0


def test_requests_are_published_where_the_branch_is_protected(github: GitHubServer, here: HereRunner) -> None:
    """The table beside the rows needs a commit, and a request none."""
    event, sha = push(github, {GOOD: result()})
    here.run("push", event, token="app-token", sha=sha, **PUBLISH)
    github.state.merge(BOARD, 1)
    rule = "Repository rule violations found\n\nChanges must be made through a pull request."
    github.state.order("PATCH", "/git/refs/heads/main$", status=422, message=rule, times=9)
    event, sha = push(github, {path_of("acme/bolt-1b"): result("acme/bolt-1b")})
    ran = here.run("push", event, token="app-token", sha=sha, **PUBLISH)

    assert ran.status == 0, ran.log
    assert ran.outputs["pull-request"] == f"{github.url}/{BOARD}/pull/2"
    [warning] = [line for line in ran.commands("warning") if "the board was not rebuilt" in line]
    assert 'through a pull request: publish with `as = "pull-request"`' in warning


def test_what_was_published_is_named_where_the_site_is_refused(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result()})
    to = PUBLISH | {"as": "commit", "site": "github://acme/none@gh-pages"}
    ran = here.run("push", event, token="app-token", sha=sha, **to)

    assert ran.status == 4, ran.log
    assert f"/{BOARD}/commit/" in ran.outputs["pull-request"]


def test_a_commit_that_stores_two_rows_is_named_once(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result(), path_of("acme/bolt-1b"): result("acme/bolt-1b")})
    ran = here.run("push", event, token="app-token", sha=sha, **{**PUBLISH, "as": "commit"})

    assert (ran.status, ran.outputs["accepted"]) == (0, "2"), ran.log
    assert ran.outputs["pull-request"].count(f"/{BOARD}/commit/") == 1


@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_what_a_dropped_run_would_have_published_is_published_by_the_next(
    github: GitHubServer, here: HereRunner, form: str
) -> None:
    models = ("acme/bolt-1b", "acme/cedar-1b", "acme/delta-1b")
    rights = ((10, 20, 30), (20, 30, 40), (30, 40, 40))
    pushed = [push(github, {path_of(one): result(one, right=right)}) for one, right in zip(models, rights, strict=True)]
    for event, sha in (pushed[0], pushed[2]):
        ran = here.run("push", event, token="app-token", sha=sha, **{**PUBLISH, "as": form})
        assert ran.status == 0, ran.log

    repository = github.state.repos[BOARD]
    heads = [f"heads/{one.head}" for one in repository.pulls()] if form == "pull-request" else ["heads/main"]
    there = {path for head in heads for path in repository.git.files(repository.git.refs[head])}
    assert [any(path.startswith(f"entries/tiny/{model}/") for path in there) for model in models] == [True] * 3
    assert "acme/bolt-1b" not in ran.log  # it is published


@pytest.mark.parametrize("is_one_commit", [True, False])
def test_what_a_run_that_ended_between_two_rows_left_is_published_by_the_next(
    github: GitHubServer, here: HereRunner, *, is_one_commit: bool
) -> None:
    """Two rows of one push: GitHub takes the request of one, and then nothing until the run is over."""
    event, sha = push(github, {GOOD: result()})
    assert here.run("push", event, token="app-token", sha=sha, **PUBLISH).status == 0
    repository, models = github.state.repos[BOARD], ("acme/bolt-1b", "acme/cedar-1b")
    files = {path_of(one): result(one, right=(n * 10, 30, 40)) for n, one in enumerate(models, 1)}
    parts = [files] if is_one_commit else [{path: data} for path, data in reversed(files.items())]
    pushed = [push(github, part) for part in parts]
    event = {**pushed[-1][0], "before": pushed[0][0]["before"]}

    def end() -> None:
        github.state.order("POST", "", status=403, times=99)

    github.state.order("POST", "/pulls$", status=0, before=end)
    here.run("push", event, token="app-token", sha=pushed[-1][1], **PUBLISH)
    assert len(repository.pulls()) == 2
    github.state.faults.clear()

    event, sha = push(github, {path_of("acme/delta-1b"): result("acme/delta-1b", right=(30, 40, 40))})
    ran = here.run("push", event, token="app-token", sha=sha, **PUBLISH)
    assert ran.status == 0, ran.log
    assert len(repository.pulls()) == 4
    assert ran.outputs["accepted"] == "2"  # the row that the first run published is not judged again


def test_a_task_that_comes_alone_joins_the_files_of_its_model(github: GitHubServer, here: HereRunner) -> None:
    later, wrong = (path_of(time=f"2026-03-0{day}T10-00-00.000000") for day in (4, 3))
    bad = {wrong: result(right=(50, 170, None)), path_of("acme/bolt-1b"): result("acme/bolt-1b")}
    push(github, {GOOD: result(right=(50, 60, None)), **bad})
    event = propose(github, {later: result(right=(None, None, 70))})
    proposed = here.run("pull_request", event, token="app-token", **DECLARED)
    event, sha = push(github, {later: result(right=(None, None, 70))})
    published = here.run("push", event, token="app-token", sha=sha, **PUBLISH)

    for ran in (proposed, published):
        assert (ran.status, ran.outputs["verdict"], ran.outputs["average"]) == (0, "accepted", AVERAGE), ran.log
        assert "bolt" not in ran.log
    (request,) = [one for one in github.state.repos[BOARD].pulls() if one.head != "results"]
    entry = json.loads(github.state.repos[BOARD].git.read(f"heads/{request.head}", f"entries/{request.head[16:]}.json"))
    assert [file["path"] for file in entry["evidence"]] == [GOOD, later]


def test_an_unchanged_file_of_several_models_joins_only_the_rows_of_the_change(
    github: GitHubServer, here: HereRunner
) -> None:
    (here.workspace / "own.toml").write_text(OWN)
    models = {"acme/atlas": 0.5, "acme/borea": 0.6, "acme/cedar": 0.7}

    def file(task: str, *names: str) -> bytes:
        return json.dumps([{"model": name, "scores": {task: models[name]}} for name in names]).encode()

    push(github, {"r/one.json": file("a", *models)})
    event = propose(github, {"r/two.json": file("b", "acme/atlas", "acme/borea")})
    ran = here.run("pull_request", event, token="app-token", leaderboard="own.toml")
    report = json.loads(Path(ran.outputs["report"]).read_text())

    assert (ran.status, ran.outputs["accepted"]) == (0, "2"), ran.log
    assert [row["model"]["id"] for row in report["rows"]] == ["acme/atlas", "acme/borea"]
    assert sorted(one["path"] for one in report["submissions"]) == [
        "r/one.json", "r/one.json#2", "r/two.json", "r/two.json#2",
    ]  # fmt: skip


def test_a_push_after_which_the_commit_before_is_gone_publishes_all_files(
    github: GitHubServer, here: HereRunner
) -> None:
    event, sha = push(github, {GOOD: result()})
    here.run("push", event, token="app-token", sha=sha, **{**PUBLISH, "as": "commit"})
    event, sha = push(github, {path_of("acme/bolt-1b"): result("acme/bolt-1b", right=(10, 20, 30))})
    ran = here.run("push", {**event, "before": "ab" * 20}, token="app-token", sha=sha, **{**PUBLISH, "as": "commit"})

    assert (ran.status, ran.outputs["accepted"]) == (0, "2"), ran.log


def test_a_pointer_of_git_lfs_fails_the_run_and_holds_no_other_row(github: GitHubServer, here: HereRunner) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
    event, sha = push(github, {GOOD: pointer})
    alone = here.run("push", event, token="app-token", sha=sha, **PUBLISH)
    assert (alone.status, without_report(alone.outputs), github.state.writes()) == (1, NONE, 0)
    assert "1 file may hold results and cannot be judged" in alone.summary

    event, sha = push(github, {GOOD: pointer + b"\n", path_of("acme/bolt-1b"): result("acme/bolt-1b")})
    beside = here.run("push", event, token="app-token", sha=sha, **PUBLISH)
    assert (beside.status, beside.outputs["accepted"]) == (1, "1")
    assert [request.title for request in github.state.repos[BOARD].pulls()] == ["Add acme/bolt-1b (bfloat16): 58.33"]
    for ran in (alone, beside):
        assert [line for line in ran.commands("error") if f"{GOOD} (git-lfs-pointer)" in line]
        assert f"not read: {GOOD} (git-lfs-pointer)" in ran.summary


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_publishing_from_an_empty_workspace_fails(github: GitHubServer, here: HereRunner, event: str) -> None:
    _, sha = push(github, {GOOD: result()})
    ran = here.run(event, None, token="app-token", sha=sha, **PUBLISH)

    assert ran.status == 2
    assert "no file in the workspace matches **/*.json: check the repository out before" in ran.log


def test_a_new_row_says_how_it_differs_from_another_of_its_model(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result()})
    assert here.run("push", event, token="app-token", sha=sha, **{**PUBLISH, "as": "commit"}).status == 0
    later = path_of(time="2026-03-03T10-00-00.000000")
    event, sha = push(github, {later: result(right=(40, 40, 40), revision=2)})
    ran = here.run("push", event, token="app-token", sha=sha, **PUBLISH)

    assert ran.status == 0, ran.log
    (request,) = github.state.repos[BOARD].pulls()
    assert BESIDE in request.body
    assert LOWER in request.body


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


def test_a_token_without_permission_ends_publishing_with_status_4(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result()})

    ran = here.run("push", event, token="read-token", sha=sha, **PUBLISH)

    assert ran.status == 4
    last = ran.log.splitlines()[-1]
    assert last.startswith("::error title=leaderboard-bot::GitHub refused: github://acme/leaderboard")
    assert "in a workflow, under `permissions:`" in ran.log
    assert ran.outputs["verdict"] == "accepted"
    assert "could not finish** (status 4)" in ran.summary


@pytest.mark.slow
@pytest.mark.usefixtures("sockets")
def test_an_api_that_is_down_is_status_3_and_one_line(github: GitHubServer, here: HereRunner) -> None:
    event, sha = push(github, {GOOD: result()})
    github.http.shutdown()
    github.http.server_close()

    ran = here.run("push", event, token="app-token", sha=sha, **PUBLISH)

    assert (ran.status, ran.outputs) == (3, FAILED)
    (line,) = ran.log.splitlines()
    assert line.startswith("::error title=leaderboard-bot::GitHub could not be reached: ")


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert path.startswith("entries/tiny/acme/atlas-7b/")
    assert {posted.user for posted in hub.log} == {"[OIDC]"}


@pytest.mark.slow
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
