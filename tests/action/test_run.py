"""The Action in this process: the files it takes, what it says, the evidence it names."""

from __future__ import annotations

import io
import json
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from bot.action.run import main
from tests.action.jobs import BAD, GOOD, bad_result, comments, propose, push
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_runner import Runner, parse_outputs
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result
from tests.world.server import served

__all__ = ["github"]

LOWER = result(right=(5, 10, 20))


@dataclass(frozen=True)
class Said:
    status: int
    outputs: dict[str, str]
    log: list[str]
    summary: str


@dataclass
class Job:
    """A workflow's job whose one step is the Action, in this process."""

    runner: Runner

    def run(
        self, event_name: str, event: dict[str, Any] | None, token: str = "app-token", sha: str = "", **given: str
    ) -> Said:
        self.runner.runs += 1
        folder = self.runner.scratch / str(self.runner.runs)
        folder.mkdir(parents=True)
        environ = self.runner.environment(folder, event_name, event, sha) | {"GITHUB_TOKEN": token}
        usual = {"results": "**/results_*.json", "leaderboard": str(self.runner.workspace / "tiny.toml")}
        environ |= {f"INPUT_{name.upper()}": value for name, value in (usual | given).items()}
        out = io.StringIO()
        status = main(environ, out)
        outputs = parse_outputs((folder / "output").read_text())
        return Said(status, outputs, out.getvalue().splitlines(), (folder / "summary").read_text())


@pytest.fixture
def job(github: GitHubServer, tmp_path: Path) -> Job:
    workspace, temp = tmp_path / "workspace", tmp_path / "temp"
    workspace.mkdir()
    temp.mkdir()
    (workspace / "tiny.toml").write_text(TINY)
    return Job(Runner(temp, workspace, github.url, BOARD, tmp_path / "scratch"))


def test_a_wrong_input_is_one_annotation_and_status_2(job: Job) -> None:
    said = job.run("push", None, mode="chek")

    assert said.status == 2
    assert said.log == ["::error title=leaderboard-bot::the input `mode` is 'chek'; it takes check, publish, verify"]
    assert said.outputs["verdict"] == ""


@pytest.mark.parametrize("fail_on", ["error", "rejected"])
def test_a_rejected_file_beside_a_row_that_is_accepted_without_it_does_not_count(
    github: GitHubServer, job: Job, fail_on: str
) -> None:
    cut = json.loads(result())
    cut["config"]["limit"] = 5
    event, sha = push(github, {"run/results_1.json": result(), "run/results_2.json": json.dumps(cut).encode()})
    said = job.run("push", event, sha=sha, fail_on=fail_on)

    assert "not needed: run/results_2.json" in said.log
    assert not any(line.startswith("::error") for line in said.log)
    assert said.status == 0


@pytest.mark.parametrize(("fail_on", "status"), [("error", 1), ("rejected", 1), ("warning", 1), ("never", 0)])
def test_a_rejected_file_with_the_only_numbers_of_a_task_is_needed(
    github: GitHubServer, job: Job, fail_on: str, status: int
) -> None:
    faulty = json.loads(result(right=(None, None, 70), date=1_780_000_000.0))
    faulty["n-shot"]["logic"] = 5
    sound = result(right=(50, 60, None))
    event, sha = push(github, {"run/results_1.json": json.dumps(faulty).encode(), "run/results_2.json": sound})
    said = job.run("push", event, sha=sha, fail_on=fail_on)

    assert (said.status, said.outputs["verdict"]) == (status, "incomplete")
    assert any(line.startswith("::error title=wrong-num-fewshot,file=run/results_1.json") for line in said.log)
    assert not any(line.startswith("not needed") for line in said.log)


@pytest.mark.parametrize(("folder", "status", "said"), [("acme__atlas-7b", 0, False), ("elsewhere", 1, True)])
def test_a_file_that_repairs_one_on_main_is_joined_with_it_or_told_where_it_belongs(
    github: GitHubServer, job: Job, folder: str, status: int, said: bool
) -> None:
    faulty = json.loads(result(right=(50, 60, 70)))
    faulty["n-shot"]["logic"] = 5
    push(github, {"runs/acme__atlas-7b/results_1.json": json.dumps(faulty).encode()})
    repaired = result(right=(None, None, 70), date=1_790_090_000.0)
    ran = job.run("pull_request", propose(github, {f"runs/{folder}/results_2.json": repaired}))

    told = "`runs/acme__atlas-7b` on the base branch has tasks that the row of `acme/atlas-7b` lacks"
    assert (ran.status, any(told in line for line in ran.log), told in ran.summary) == (status, said, said)


@pytest.mark.parametrize(
    ("fail_on", "statuses"),
    [("error", [0, 0, 1, 1]), ("rejected", [0, 0, 0, 1]), ("warning", [0, 1, 1, 1]), ("never", [0, 0, 0, 0])],
)
def test_the_status_follows_fail_on(github: GitHubServer, job: Job, fail_on: str, statuses: list[int]) -> None:
    warned = result(config={"model": "hf", "model_args": "pretrained=acme/atlas-7b", "model_dtype": "torch.bfloat16"})
    files = {"clean": result(), "warned": warned, "part": result(right=(50, 60, None)), "bad": bad_result()}
    found = []
    for name, data in files.items():
        event, sha = push(github, {f"{name}/results_1.json": data})
        found.append(job.run("push", event, sha=sha, fail_on=fail_on).status)

    assert found == statuses


def test_publishing_on_a_pull_request_is_refused(github: GitHubServer, job: Job) -> None:
    said = job.run("pull_request", propose(github, {GOOD: result()}), mode="publish", to=f"github://{BOARD}")

    assert said.status == 2
    assert "`mode: publish` is for merged results" in said.log[0]
    assert github.state.writes() == 0


def test_one_step_may_check_requests_and_publish_pushes_with_the_same_target(github: GitHubServer, job: Job) -> None:
    event = propose(github, {GOOD: result()})
    said = job.run("pull_request", event, to=f"github://{BOARD}", **{"as": "commit"})

    assert said.status == 0
    assert github.state.writes() == 0


def test_always_comments_on_good_results_and_never_says_nothing(github: GitHubServer, job: Job) -> None:
    event = propose(github, {GOOD: result()})
    job.run("pull_request", event, comment="never")
    assert github.state.repos[BOARD].comments == {}

    said = job.run("pull_request", event, comment="always")

    (comment,) = github.state.repos[BOARD].comments.values()
    assert said.log[-1] == f"comment: {github.url}/{BOARD}/issues/1#issuecomment-{comment.id}"
    assert comment.body.startswith("`tiny`: 1 accepted\n\n### ✅ accepted: `acme/atlas-7b`\n")


def test_a_request_is_read_at_its_head_where_the_event_gives_a_token_that_may_write(
    github: GitHubServer, job: Job
) -> None:
    """GITHUB_SHA of `pull_request_target` is a commit of the base branch."""
    event = propose(github, {BAD: bad_result()}, fork="bob/leaderboard")
    base = github.state.repos[BOARD].git.refs["heads/main"]
    said = job.run("pull_request_target", event, sha=base)

    assert (said.status, said.outputs["verdict"]) == (1, "rejected")
    assert len(comments(github)) == 1


def test_what_a_merge_queue_would_merge_is_checked_and_compared(github: GitHubServer, job: Job) -> None:
    push(github, {GOOD: result()})
    git = github.state.repos[BOARD].git
    git.refs["heads/gh-readonly-queue/main/pr-1"] = base = git.refs["heads/main"]
    head = git.push("heads/gh-readonly-queue/main/pr-1", {GOOD: LOWER, BAD: bad_result()})
    event = {"action": "checks_requested", "merge_group": {"head_sha": head, "base_sha": base}}

    said = job.run("merge_group", event, sha=head, compare_to="base", compare_fail_on="lower", fail_on="never")

    assert (said.status, said.outputs["accepted"], said.outputs["rejected"]) == (1, "1", "1")
    assert "acme/atlas-7b compared with base: acme/atlas-7b: this row is" in "\n".join(said.log)


def test_a_comment_stays_true_when_the_results_are_taken_back(github: GitHubServer, job: Job) -> None:
    event = propose(github, {BAD: bad_result()})
    job.run("pull_request", event)
    head = github.state.repos[BOARD].git.push("heads/results", {BAD: None, "words.md": b"sorry"})
    event["pull_request"]["head"]["sha"] = head

    said = job.run("pull_request", event)

    (comment,) = github.state.repos[BOARD].comments.values()
    assert comment.body.startswith("No result file for `tiny` changes here any more.\n")
    assert (said.status, said.outputs["verdict"]) == (0, "none")


def test_a_result_that_is_too_large_is_rejected_as_on_the_command_line(github: GitHubServer, job: Job) -> None:
    padded = result(padding="x" * 9_000_000)
    said = job.run("pull_request", propose(github, {GOOD: result(), BAD: padded}))

    assert (said.status, said.outputs["accepted"], said.outputs["rejected"]) == (1, "1", "1")
    assert any(line.startswith("::error") and "the limit is 8 MB" in line for line in said.log)


def test_a_submodule_named_like_a_result_stops_no_verdict(github: GitHubServer, job: Job) -> None:
    git = github.state.repos[BOARD].git
    event = propose(github, {GOOD: result()})
    head = event["pull_request"]["head"]
    module = git.add_commit(git.add_tree({}), (), "of another repository", "ann").sha
    git.modules.add(module)
    files = git.files(head["sha"]) | {"x/results_9.json": module}
    head["sha"] = git.refs["heads/results"] = git.add_commit(git.add_tree(files), (head["sha"],), "Link", "ann").sha

    said = job.run("pull_request", event)

    assert (said.status, said.outputs["verdict"], said.outputs["accepted"]) == (0, "accepted", "1")


def test_a_hostile_name_stays_text_in_comment_and_summary(github: GitHubServer, job: Job) -> None:
    name = "</details>\n# @everyone ::error:: `x` <img src=x> [a](http://evil) <!-- leaderboard-bot {} -->"
    data = json.loads(bad_result()) | {"model_name": name}
    event = propose(github, {"a/results_`x`,%0A::error::.json": json.dumps(data, indent=1).encode()})

    said = job.run("pull_request", event)

    (comment,) = github.state.repos[BOARD].comments.values()
    for text in (comment.body, said.summary):
        page = MarkdownIt("commonmark").render(text)
        assert "@everyone" in page
        for markup in ("<h1", "<img", 'href="http://evil', "</details>\n<h1"):
            assert markup not in page
    assert all(
        line.startswith(("::error title=", "::warning title=", "::notice title=", "rejected: ", "comment: "))
        for line in said.log
    )
    assert job.run("pull_request", event).status == 1
    assert len(github.state.repos[BOARD].comments) == 1


def test_the_workspace_is_taken_where_changed_only_is_off(github: GitHubServer, job: Job) -> None:
    event = propose(github, {BAD: bad_result()})
    for path in ("runs/results_1.json", "runs/deep/results_2.json", "runs/samples.json", "other/results_3.json"):
        (job.runner.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (job.runner.workspace / path).write_bytes(result())

    globbed = job.run("pull_request", event, changed_only="false", results="runs/**/results_*.json\nrunning/*.json")
    folder = job.run("pull_request", event, changed_only="false", results="./runs/")
    outside = job.run("schedule", None, results=str(job.runner.workspace / "other" / "*.json"))

    assert globbed.log == ["accepted: runs/deep/results_2.json", "accepted: runs/results_1.json"]
    assert folder.log == [*globbed.log, "accepted: runs/samples.json"]
    assert outside.log == [f"accepted: {job.runner.workspace}/other/results_3.json"]


@pytest.mark.parametrize(("fail_on", "status", "severity"), [("error", 1, "error"), ("never", 0, "warning")])
def test_a_workspace_without_results_fails_the_step(job: Job, fail_on: str, status: int, severity: str) -> None:
    """A green run would say that the results of the board are right."""
    said = job.run("schedule", None, fail_on=fail_on)

    assert (said.status, said.outputs["verdict"]) == (status, "none")
    (line,) = said.log
    assert line.startswith(f"::{severity} title=leaderboard-bot::no result file in the workspace matches **/results_*")
    assert line.endswith("; name them by the input `results`, or by `paths` in the `bot.toml` beside the declaration")


def test_a_link_in_the_workspace_leads_nowhere(job: Job) -> None:
    secret = job.runner.scratch.parent / "secret"
    secret.mkdir()
    (secret / "results_1.json").write_bytes(result())
    (job.runner.workspace / "results_link.json").symlink_to(secret / "results_1.json")
    (job.runner.workspace / "runs").symlink_to(secret)

    (job.runner.workspace / "circle").symlink_to("circle")

    for pattern in (
        "**/results_*.json",
        "runs",
        "runs/results_1.json",
        "results_link.json",
        "../secret/*.json",
        "circle",
    ):
        assert job.run("schedule", None, results=pattern).outputs["verdict"] == "none"


def test_a_run_about_a_head_that_has_moved_says_nothing_of_another(github: GitHubServer, job: Job) -> None:
    """Else sound files that are pushed while the run begins would make its commit green, for a push back."""
    event = propose(github, {BAD: bad_result()})
    github.state.repos[BOARD].git.push("heads/results", {BAD: result("acme/bolt-1b")})
    said = job.run("pull_request", event)

    assert said.status == 3
    assert said.outputs["verdict"] == ""
    [line] = said.log
    assert "the pull request has a newer commit" in line


def test_a_declaration_that_is_not_checked_out_is_said_to_be_missing_there(github: GitHubServer, job: Job) -> None:
    said = job.run("pull_request", propose(github, {GOOD: result()}), leaderboard="boards/tiny.toml")
    assert said.status == 2
    assert said.log[0].endswith("boards/tiny.toml, which is not in the workspace: check the repository out before")


def test_a_link_leads_no_declaration_out_of_the_workspace(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the faults of the file show would reach the log."""
    workspace = job.runner.workspace
    (workspace / "tiny.toml").rename(workspace.parent / "secret.toml")
    (workspace / "tiny.toml").symlink_to("../secret.toml")
    monkeypatch.chdir(workspace)
    said = job.run("schedule", None, leaderboard="tiny.toml")

    why = "the input `leaderboard` names tiny.toml, which leads out of the workspace"
    assert (said.status, said.log) == (2, [f"::error title=leaderboard-bot::{why}"])


def test_a_committed_file_that_is_huge_in_the_workspace_is_not_read(job: Job) -> None:
    large = job.runner.workspace / "results_1.json"
    large.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    git(job.runner.workspace, "init", "-q")
    git(job.runner.workspace, "add", "-A")
    git(job.runner.workspace, "commit", "-qm", "results")
    with large.open("wb") as file:
        file.truncate(1_000_000_000)
    tracemalloc.start()
    try:
        job.run("schedule", None)
        assert tracemalloc.get_traced_memory()[1] < 400 * 2**20
    finally:
        tracemalloc.stop()


def test_a_weekly_run_on_what_a_push_published_changes_nothing(github: GitHubServer, job: Job) -> None:
    """The same bytes read at a later commit are the same evidence; a file that the run made names no commit."""
    event, sha = push(github, {GOOD: result()})
    publish = {"mode": "publish", "to": f"github://{BOARD}", "as": "commit"}
    job.run("push", event, sha=sha, **publish)
    (job.runner.workspace / GOOD).parent.mkdir()
    (job.runner.workspace / GOOD).write_bytes(result())
    (job.runner.workspace / "results_made.json").write_bytes(result("acme/bolt-1b"))
    git(job.runner.workspace, "init", "-q")
    git(job.runner.workspace, "add", GOOD)
    git(job.runner.workspace, "commit", "-qm", "results")

    said = job.run("schedule", None, sha=sha, **publish)

    entries = github.state.repos[BOARD].git.files(github.state.repos[BOARD].git.refs["heads/main"])
    evidence = {
        path: json.loads(github.state.repos[BOARD].git.read("main", path))["evidence"][0]["commit"]
        for path in entries
        if path.startswith("entries/")
    }
    assert sorted(evidence.values()) == ["", sha]
    assert any("the main branch has it already" in line for line in said.log)


def test_a_push_of_many_files_costs_few_requests(github: GitHubServer, job: Job) -> None:
    event, sha = push(github, {f"runs/{n}/results_1.json": result(f"acme/model-{n}") for n in range(120)})

    said = job.run("push", event, sha=sha)

    assert (said.status, said.outputs["accepted"]) == (0, "120")
    assert len(github.state.requests) < 10


def test_a_run_asks_for_its_repository_and_its_account_once(github: GitHubServer, job: Job) -> None:
    """One client: what it learned, and how long it may still wait for rate limits, holds for the whole run."""
    push(github, {GOOD: result()})
    event = propose(github, {GOOD: LOWER, BAD: bad_result()})
    github.state.requests.clear()
    job.run("pull_request", event, compare_to=f"github://{BOARD}", comment="always")
    assert github.state.count("GET", f"/repos/{BOARD}$") == 1

    event, sha = push(github, {BAD: result("acme/bolt-1b")})
    github.state.requests.clear()
    to = {"to": f"github://{BOARD}", "site": f"github://{BOARD}@gh-pages", "as": "commit"}
    job.run("push", event, sha=sha, mode="publish", **to)
    assert github.state.count("GET", f"/repos/{BOARD}$") == 1


def test_a_check_of_many_files_costs_few_requests_and_writes_its_comment_alone(github: GitHubServer, job: Job) -> None:
    faulty = json.loads(bad_result())
    models = [f"acme/faulty-{number}" for number in range(60)]
    event = propose(github, {path_of(one): json.dumps(faulty | {"model_name": one}).encode() for one in models})
    github.state.requests.clear()
    said = job.run("pull_request", event)

    assert (said.status, said.outputs["rejected"]) == (1, "60")
    writes = [(method, path) for method, path in github.state.requests if method not in {"GET", "HEAD"}]
    assert [path for _, path in writes if path != "/graphql"] == [f"/repos/{BOARD}/issues/1/comments"]
    assert len(github.state.requests) < 30
    assert len(comments(github)) == 1


def test_a_new_branch_is_read_whole(github: GitHubServer, job: Job) -> None:
    event, sha = push(github, {GOOD: result()})

    said = job.run("push", event | {"before": "0" * 40}, sha=sha)

    assert said.log == [f"accepted: {GOOD}"]


def test_results_can_be_published_as_comments(github: GitHubServer, job: Job) -> None:
    event, sha = push(github, {GOOD: result()})
    publish = {"mode": "publish", "to": f"github://{BOARD}", "as": "comment"}

    for _ in range(2):
        assert job.run("push", event, sha=sha, **publish).status == 0

    (comment,) = github.state.repos[BOARD].comments.values()
    assert "<details><summary>The row as JSON</summary>" in comment.body


def test_results_on_the_hub_are_checked_at_the_commit_of_today(github: GitHubServer, job: Job) -> None:
    with served(Hub()) as hub:
        repository = hub.repository("acme/results")
        pushed = hub.push(repository, {GOOD: result(), BAD: bad_result(), "README.md": b"words"})
        job.runner.variables["HF_ENDPOINT"] = hub.url

        said = job.run("schedule", None, results="hf://datasets/acme/results")
        other = job.run("schedule", None, results="s3://bucket/results")

    place = f"hf://datasets/acme/results@{pushed.oid[:12]}"
    assert said.log[-2:] == [f"accepted: {place}/{GOOD}", f"rejected: {place}/{BAD}"]
    (line,) = other.log
    assert line.startswith("::error title=leaderboard-bot::the input `results` names 's3://bucket/results'; it takes")


@pytest.mark.slow
def test_very_many_faulty_files_are_one_comment_that_github_takes(github: GitHubServer, job: Job) -> None:
    faulty = json.loads(bad_result())
    models = [f"acme/faulty-{number}" for number in range(300)]
    files = {path_of(model): json.dumps(faulty | {"model_name": model}).encode() for model in models}
    event = propose(github, dict(files))

    said = [job.run("pull_request", event, comment="always") for _ in range(2)]

    assert [(one.status, one.outputs["rejected"]) for one in said] == [(1, "300")] * 2
    [comment] = comments(github)
    assert len(comment) <= 65_536
    assert sum(line.startswith("::error") for line in said[0].log) <= 50
