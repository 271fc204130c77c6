"""The Action recomputes the rows of a target on a schedule, and keeps one issue as long as some do not follow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.action.jobs import GOOD, PUBLISH, here, hub, push, runner, temp
from tests.platforms.github.fixtures import BOARD, github
from tests.service.stories import TABLE_TARGET
from tests.world.github_runner import HereRunner, Ran
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue
from tests.world.hub import Hub
from tests.world.results import result

__all__ = ["github", "here", "hub", "runner", "temp"]

VERIFY = {"mode": "verify", "to": f"github://{BOARD}", "leaderboard": "tiny.toml"}


@pytest.fixture
def published(github: GitHubServer, here: HereRunner, hub: Hub) -> str:
    """A board with one row; gives the path of its file."""
    here.variables["HF_ENDPOINT"] = hub.url
    event, sha = push(github, {GOOD: result(date=1_760_000_000.0)})  # before its commit
    ran = here.run("push", event, token="app-token", sha=sha, **PUBLISH | {"as": "commit"})
    assert ran.status == 0, ran.log
    git = github.state.repos[BOARD].git
    [path] = [path for path in git.files(git.refs["heads/main"]) if path.startswith("entries/")]
    return path


def verify(here: HereRunner, **more: str) -> Ran:
    return here.run("schedule", None, token="app-token", **VERIFY | more)


def edit(github: GitHubServer, path: str, average: float) -> None:
    """What somebody commits by hand."""
    git = github.state.repos[BOARD].git
    whole = json.loads(git.read("heads/main", path))
    git.push("heads/main", {path: json.dumps(whole | {"average": average}).encode()})


def issues(github: GitHubServer) -> list[Issue]:
    return [issue for issue in github.state.repos[BOARD].issues.values() if not issue.head]


def test_a_link_leads_no_badge_out_of_the_workspace(
    github: GitHubServer, here: HereRunner, published: str, tmp_path: Path
) -> None:
    (here.workspace / "badge.svg").symlink_to(tmp_path / "outside.svg")
    ran = verify(here, badge="badge.svg")
    assert ran.status == 2
    assert "`badge` names badge.svg, which leads out of the workspace" in str(ran.log)
    assert not (tmp_path / "outside.svg").exists()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"badge": "pages/badge.svg"}, "pages/badge.svg: there is no folder for it"),
        ({"sources": "run"}, "the input `sources` names run, which is no folder of the workspace"),
        ({"sources": "tiny.toml"}, "the input `sources` names tiny.toml, which is no folder of the workspace"),
        ({"sources": "../.."}, "the input `sources` names ../.., which leads out of the workspace"),
        ({"config": "../bot.toml"}, "the input `config` names ../bot.toml, which leads out of the workspace"),
    ],
)
def test_a_place_that_is_none_is_said_before_anything_is_verified(
    github: GitHubServer, here: HereRunner, published: str, given: dict[str, str], why: str
) -> None:
    edit(github, published, 99.0)
    ran = verify(here, **given)
    assert (ran.status, issues(github)) == (2, []), ran.log
    [line] = ran.log.splitlines()
    assert line.endswith(why)


def test_a_badge_of_another_kind_is_refused_before_anything_is_verified(here: HereRunner) -> None:
    ran = verify(here, badge="badge.gif")
    assert ran.status == 2
    assert "badge.gif: the name of a badge ends in .svg, or in .json for shields.io" in str(ran.log)
    assert not (here.workspace / "badge.gif").exists()


def test_one_issue_is_open_as_long_as_a_row_does_not_follow(
    github: GitHubServer, here: HereRunner, published: str
) -> None:
    good = json.loads(github.state.repos[BOARD].git.read("heads/main", published))["average"]
    first = verify(here, badge="badge.svg")
    assert (first.status, first.outputs["verdict"], issues(github)) == (0, "accepted", []), first.log
    assert "1 of 1" in (here.workspace / "badge.svg").read_text()

    edit(github, published, 99.0)
    ran = [verify(here) for _ in range(2)]
    assert [one.status for one in ran] == [1, 1], ran[0].log
    [issue] = issues(github)
    assert (issue.state, issue.author) == ("open", "github-actions[bot]")
    assert ran[0].outputs["pull-request"] == f"{BOARD}#{issue.number}"
    assert "**differs**, `the evidence gives another row`" in issue.body
    assert f"\n  - `average: published 99.0, computed {good}`" in issue.body
    assert f"average: published 99.0, computed {good}" in ran[0].commands("error")[0]
    row, table = ran[0].commands("error")  # the table that readers see follows no more, either
    assert ("differs" in row, "leaderboard.csv: board: " in table) == (True, True)
    assert ran[0].summary.startswith("1 of 1 rows do not follow from their evidence.\n\n- `tiny/acme/atlas-7b/")
    assert f"\n  - `average: published 99.0, computed {good}`" in ran[0].summary
    report = json.loads(Path(ran[0].outputs["report"]).read_text())
    assert [row["outcome"] for row in report] == ["differs", "board"]
    assert report[0]["differences"][0]["published"] == 99.0

    edit(github, published, good)
    assert verify(here).status == 0
    assert [one.state for one in issues(github)] == ["closed"]
    edit(github, published, 98.0)
    assert verify(here, fail_on="never").status == 0
    assert [one.state for one in issues(github)] == ["open"]


def test_the_last_of_ten_annotations_counts_the_rest_and_the_summary_has_all(
    github: GitHubServer, here: HereRunner, published: str
) -> None:
    git = github.state.repos[BOARD].git
    whole = json.loads(git.read("heads/main", published)) | {"average": 99.0}
    copies = {f"entries/tiny/acme/copy-{num}.json": json.dumps(whole).encode() for num in range(11)}
    git.push("heads/main", {published: None, **copies})
    ran = verify(here)

    assert len(ran.commands("error")) == 9, ran.log
    assert "::error::2 more of these: the step summary has them all" in ran.log
    assert ran.summary.count("\n- `") == 11


def test_what_a_person_closed_stays_closed_until_something_else_is_wrong(
    github: GitHubServer, here: HereRunner, published: str
) -> None:
    edit(github, published, 99.0)
    verify(here)
    [issue] = issues(github)
    github.state.close(BOARD, issue.number)
    assert verify(here).status == 1
    assert issue.state == "closed"

    git = github.state.repos[BOARD].git
    whole = json.loads(git.read("heads/main", published))
    whole["evidence"][0]["source"] = ""
    git.push("heads/main", {published: json.dumps(whole).encode()})
    verify(here)
    assert (issue.state, len(issues(github))) == ("open", 1)
    assert "**untraceable**" in issue.body


def test_a_service_that_does_not_answer_closes_and_opens_nothing(
    github: GitHubServer, here: HereRunner, published: str, hub: Hub
) -> None:
    edit(github, published, 99.0)
    verify(here)
    github.state.order("GET", "/git/blobs|/contents/acme", times=100, status=502)
    ran = verify(here)
    github.state.faults.clear()

    assert ran.status == 3, ran.log
    assert [one.state for one in issues(github)] == ["open"]


def test_a_row_that_could_not_be_checked_is_not_accepted(
    github: GitHubServer, here: HereRunner, published: str
) -> None:
    here.variables["HF_ENDPOINT"] = "http://127.0.0.1:1"
    ran = verify(here)

    assert (ran.status, ran.outputs["verdict"], ran.outputs["accepted"]) == (3, "", "0"), ran.log
    assert ran.summary == "0 of 1 rows do not follow from their evidence; 1 could not be checked.\n"


def test_a_token_that_may_not_write_issues_is_a_warning(github: GitHubServer, here: HereRunner, published: str) -> None:
    edit(github, published, 99.0)
    ran = here.run("schedule", None, token="read-token", **VERIFY)

    assert (ran.status, issues(github)) == (1, [])
    assert "the issue could not be written" in ran.commands("warning")[0]


@pytest.mark.parametrize("kind", ["pull_request", "issue_comment", "pull_request_target"])
def test_strangers_events_verify_nothing(github: GitHubServer, here: HereRunner, kind: str) -> None:
    event = {"pull_request": {"number": 1, "head": {"sha": "a" * 40}}}
    ran = here.run(kind, event, token="app-token", **VERIFY)

    assert ran.status == 2
    assert "`mode: verify` is for merged results" in ran.commands("error")[0]


SETTINGS = f"""
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "github://{BOARD}"
[[watches.targets]]
to = "github://{BOARD}"
{TABLE_TARGET}"""


def test_the_table_that_the_settings_describe_is_compared_cell_by_cell(
    github: GitHubServer, here: HereRunner, published: str
) -> None:
    git = github.state.repos[BOARD].git
    (here.workspace / "bot.toml").write_text(SETTINGS)
    git.push("heads/main", {"board.csv": b"Model,Average\nolympus/zeus,90.10\nacme/atlas-7b,58.33\n"})
    sound = verify(here, config="bot.toml")
    assert (sound.status, sound.outputs["verdict"]) == (0, "accepted"), sound.log

    git.push("heads/main", {"board.csv": b"Model,Average\nolympus/zeus,90.10\nacme/atlas-7b,98.33\n"})
    ran = verify(here, config="bot.toml")
    assert (ran.status, verify(here).status) == (1, 0), ran.log
    report = json.loads(Path(ran.outputs["report"]).read_text())
    assert [row["outcome"] for row in report] == ["table"]
    assert report[0]["differences"] == [{"name": "Average", "published": "98.33", "computed": "58.33"}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "bot.toml: there is no such file"),
        ("[[watches", "bot.toml"),
        (
            SETTINGS.replace(f'to = "github://{BOARD}"', 'to = "github://acme/other"'),
            "the settings of this table, or none",
        ),
    ],
)
def test_settings_that_describe_no_table_are_said(
    github: GitHubServer, here: HereRunner, published: str, text: str | None, why: str
) -> None:
    if text is not None:
        (here.workspace / "bot.toml").write_text(text)
    ran = verify(here, config="bot.toml")

    assert ran.status == 2, ran.log
    [said] = ran.commands("error")
    assert why in said
    assert issues(github) == []
