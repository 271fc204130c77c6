"""`compare-to`: how the rows of a pull request differ from the base branch or from a board, and a check to require."""

from __future__ import annotations

import json

import pytest
from markdown_it import MarkdownIt

from tests.action.jobs import GOOD, comments, propose, push
from tests.action.test_run import Job, job
from tests.cli.test_samples import RIGHT, rows
from tests.platforms.github.fixtures import BOARD, github
from tests.world.github_server import GitHubServer
from tests.world.local_git import git
from tests.world.results import path_of, result

__all__ = ["github", "job"]

LOWER = result(right=(5, 10, 20))


@pytest.fixture
def base(github: GitHubServer) -> str:
    return push(github, {GOOD: result()})[1]


def test_a_lower_row_fails_the_step_and_the_comment_says_by_how_much(github: GitHubServer, job: Job, base: str) -> None:
    event = propose(github, {GOOD: LOWER})

    said = job.run("pull_request", event, compare_to="base", compare_fail_on="lower")

    assert said.status == 1
    (comment,) = comments(github)
    assert "points lower than the other row on the average of 2 tasks; chance alone does not explain this" in comment
    [error] = [line for line in said.log if line.startswith("::error")]
    assert error.startswith("::error title=compare::acme/atlas-7b compared with base: acme/atlas-7b")
    assert "compared with base: acme/atlas-7b: this row is" in error
    assert error.endswith("The step fails, because these are worse beyond chance: sums, logic, average.")
    assert "chance alone does not explain this" in said.summary
    shown = MarkdownIt().render(said.summary)
    assert "<strong><code>acme/atlas-7b</code>, compared with" in shown  # and no longer part of the fold before it


def test_the_last_of_ten_annotations_counts_the_rest_and_the_summary_has_all(github: GitHubServer, job: Job) -> None:
    models = [f"acme/model-{number}" for number in range(24)]
    push(github, {path_of(one): result(one) for one in models})
    new = {path_of(f"{one}-new"): result(f"{one}-new") for one in models}
    event = propose(github, {path_of(one): result(one, right=(5, 10, 20)) for one in models} | new)

    said = job.run("pull_request", event, compare_to="base", compare_fail_on="lower")

    errors = [line for line in said.log if line.startswith("::error")]
    assert len(errors) == 10
    assert errors[-1] == "::error::15 more of these: the step summary has them all"
    assert said.summary.count(", compared with `base: ") == 24
    (comment,) = comments(github)
    assert comment.count(", compared with `base: ") == 20
    assert "… and 4 more rows." in comment
    assert "`acme/model-9-new` and 4 more" in comment or " and 4 more." in comment


def sampled() -> bytes:
    """The lower row with another temperature."""
    value = json.loads(LOWER)
    value["config"]["gen_kwargs"] = "temperature=0.7"
    return json.dumps(value).encode()


def test_another_setting_of_the_file_is_named_before_the_difference(github: GitHubServer, job: Job, base: str) -> None:
    said = job.run("pull_request", propose(github, {GOOD: sampled()}), compare_to="base")
    assert "They were measured differently: generation gen_kwargs." in str(said.log)


@pytest.mark.parametrize(("data", "status"), [(LOWER, 1), (result(), 0)])  # GitHub calls the second one renamed
def test_a_row_meets_its_row_in_the_folder_that_its_file_has_left(
    github: GitHubServer, job: Job, base: str, data: bytes, status: int
) -> None:
    event = propose(github, {GOOD: None, "other/results_1.json": data})
    said = job.run("pull_request", event, compare_to="base", compare_fail_on="lower")

    assert said.status == status
    assert "acme/atlas-7b compared with base: acme/atlas-7b" in str(said.log)


def test_the_same_row_and_one_within_the_margin_pass(github: GitHubServer, job: Job, base: str) -> None:
    event = propose(github, {GOOD: LOWER})

    assert job.run("pull_request", event, compare_to="base").status == 0
    assert job.run("pull_request", event, compare_to="base", compare_fail_on="lower", compare_margin="90").status == 0

    event = propose(github, {GOOD: result(date=1_790_000_001.0)})
    said = job.run("pull_request", event, compare_to="base", compare_fail_on="lower")
    assert said.status == 0
    assert any("have the same numbers" in line for line in said.log)


def test_a_board_that_is_not_there_stops_no_lower_row_in_silence(github: GitHubServer, job: Job, base: str) -> None:
    event = propose(github, {GOOD: LOWER})
    said = job.run("pull_request", event, compare_to="main", compare_fail_on="lower")

    assert said.status == 2
    assert "the input `compare-to` is 'main', which is no folder; it takes base, or a board" in said.log[-1]
    assert job.run("pull_request", event, compare_to="github://acme/none", compare_fail_on="lower").status == 4


def logged(right: tuple[int, int, int]) -> dict[str, bytes]:
    """A result with the sample logs of its three tasks beside it."""
    folder, _, name = GOOD.rpartition("/")
    time = name.removeprefix("results_").removesuffix(".json")
    logs = {
        f"{folder}/samples_{task}_{time}.jsonl": rows(task, count) for task, count in zip(RIGHT, right, strict=True)
    }
    texts = {path: "".join(json.dumps(row) + "\n" for row in found) for path, found in logs.items()}
    return {GOOD: result(right=right), **{path: text.encode() for path, text in texts.items()}}


@pytest.mark.parametrize(("to", "status"), [("Base", 2), ("github://acme/none", 4), ("hf://none", 2)])
def test_a_wrong_board_is_said_although_nothing_is_compared(
    github: GitHubServer, job: Job, to: str, status: int
) -> None:
    said = job.run("pull_request", propose(github, {"README.md": b"words"}), compare_to=to)
    assert said.status == status
    assert to in said.log[0]


def test_the_logs_of_the_request_and_of_the_base_branch_are_paired(github: GitHubServer, job: Job) -> None:
    """Ten questions of a hundred are no difference without pairs; where the others are the same, they are one."""
    push(github, logged((50, 60, 70)))
    (without := logged((50, 60, 60))).pop(next(path for path in without if "logic" in path))
    assert job.run("pull_request", propose(github, without), compare_to="base", compare_fail_on="lower").status == 0

    event = propose(github, logged((50, 60, 60)))
    said = job.run("pull_request", event, compare_to="base", compare_fail_on="lower")

    assert said.status == 1
    assert all(pairs in said.summary for pairs in ("200 pairs", "100 pairs"))


def test_a_push_is_compared_with_the_commit_before_it(github: GitHubServer, job: Job, base: str) -> None:
    event, sha = push(github, {GOOD: LOWER})
    assert job.run("push", event, sha=sha, compare_to="base", compare_fail_on="lower").status == 1


@pytest.mark.usefixtures("pyarrow")
def test_a_row_meets_its_row_on_a_board(github: GitHubServer, job: Job) -> None:
    event, sha = push(github, {GOOD: result()})
    job.run("push", event, sha=sha, mode="publish", to=f"github://{BOARD}", **{"as": "commit"})
    event = propose(github, {GOOD: LOWER, "new/results_1.json": result("acme/new-1b")})

    said = job.run("pull_request", event, compare_to=f"github://{BOARD}", compare_fail_on="lower")

    assert said.status == 1
    (comment,) = comments(github)
    assert "Not compared, because there is no other row: `acme/new-1b`" in comment

    git = github.state.repos[BOARD].git
    [path] = [one for one in git.files(git.refs["heads/main"]) if one.startswith("entries/")]
    whole = json.loads(git.read("heads/main", path))
    git.push("heads/main", {path: json.dumps(whole | {"average": 99.0}).encode()})
    said = job.run("pull_request", event, compare_to=f"github://{BOARD}")
    assert "is not to be believed: the average is 99" in str(said.log)

    said = job.run("pull_request", propose(github, {GOOD: sampled()}), compare_to=f"github://{BOARD}")
    assert "They were measured differently: generation gen_kwargs." in str(said.log)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"compare_to": "base", "mode": "verify", "to": "x"},
            "the input `compare-to` goes with `mode: check`; with `mode: verify` it does nothing",
        ),
        ({"compare_margin": "much"}, "the input `compare-margin` is 'much'"),
        ({"compare_margin": "nan"}, "the input `compare-margin` is 'nan'"),
        ({"compare_fail_on": "higher"}, "the input `compare-fail-on` is 'higher'; it takes never, lower"),
    ],
)
def test_a_wrong_input_is_named(job: Job, given: dict[str, str], message: str) -> None:
    said = job.run("schedule", None, **given)
    assert said.status == 2
    assert message in said.log[0]


def test_a_schedule_has_no_base(job: Job) -> None:
    (job.runner.workspace / "results_1.json").write_bytes(result())
    said = job.run("schedule", None, compare_to="base")
    assert said.status == 2
    assert "needs a pull request or a push" in said.log[-1]


def test_a_link_leads_no_comparison_out_of_the_workspace(
    github: GitHubServer, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that makes the board's folder a link would be shown the rows of another one on the runner."""
    outside = job.runner.scratch.parent / "secret"
    outside.mkdir()
    git(outside, "init", "-q")
    (job.runner.workspace / "board").symlink_to(outside)
    monkeypatch.chdir(job.runner.workspace)
    said = job.run("pull_request", propose(github, {GOOD: result()}), compare_to="board")
    why = "the input `compare-to` names board, which leads out of the workspace"
    assert (said.status, said.log) == (2, [f"::error title=leaderboard-bot::{why}"])
