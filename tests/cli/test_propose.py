"""`init --propose`: one pull request sets a board up in the repository of its table; merged, it keeps the table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from bot.publishing.setup import setup_workflow
from tests.cli.test_adopt import MODELS, markdown
from tests.command import bot
from tests.docs.test_github import WORKFLOWS
from tests.platforms.github.fixtures import client
from tests.world.github_server import GitHubServer, local_github
from tests.world.github_state import Repo
from tests.world.local_git import git
from tests.world.results import path_of, result

BOARD = "acme/board"
TABLE = f"github://{BOARD}/README.md"
PATHS = [".github/workflows/leaderboard.yml", "leaderboard/board.toml", "leaderboard/bot.toml"]


@dataclass
class Story:
    """A table with its results in one repository on GitHub, and a copy of the results here."""

    server: GitHubServer
    repo: Repo
    folder: Path

    def init(self, *words: object, token: str = "ann-token") -> tuple[int, str, str]:
        return self.bot("init", *words, "--table", TABLE, "--results", self.folder / "results", token=token)

    def bot(self, *words: object, token: str, cwd: Path | None = None) -> tuple[int, str, str]:
        environ = {**os.environ, "GITHUB_API_URL": self.server.url, "GITHUB_TOKEN": token}
        return bot(*words, env=environ, cwd=cwd or self.folder)

    def files(self, revision: str = "heads/main") -> dict[str, bytes]:
        at = self.repo.git.resolve(revision)
        return {path: self.repo.git.read(at, path) for path in self.repo.git.files(at)}


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    files = {f"results/{path_of(model)}": result(model, right=right) for model, right in MODELS.items()}
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    with local_github() as server:
        server.state.add_account("ann-token", "ann")
        server.state.add_account("eve-token", "eve", frozenset())
        server.state.add_account("app-token", "github-actions[bot]", is_app=True)
        repo = server.state.add_repo(BOARD, {"README.md": markdown().encode(), **files})
        yield Story(server, repo, tmp_path)


def test_a_table_on_github_is_adopted_without_a_clone(story: Story) -> None:
    status, out, err = story.init("ours", "--source", f"github://{BOARD}")
    assert (status, out.splitlines()[0].partition(": ")[2][:17]) == (0, "2 of 3 rows repro"), err
    assert "ours/board.toml: written; readers see 1 TODO (description), 1 TODO in comments is optional" in err
    assert 'title = "Our board"' in (story.folder / "ours" / "board.toml").read_text()
    assert f'to = "github://{BOARD}"' in (story.folder / "ours" / "bot.toml").read_text()
    assert story.server.state.writes() == 0


@pytest.mark.slow
def test_a_merged_proposal_keeps_the_table(story: Story) -> None:
    """The workflow that was proposed settles, as its own account, and proposes the one cell that is wrong."""
    before = story.files()
    call = ("--propose", "--source", f"github://{BOARD}")
    status, out, err = story.init(*call)
    assert (status, out.splitlines()[-1].split()[:4]) == (0, ["a", "new", "request", "proposes"]), err
    assert story.init(*call)[1].splitlines()[-1] == "the open request proposes it already"
    [pull] = story.repo.pulls("open")
    proposed = story.files(pull.head)
    assert sorted(proposed.keys() - before.keys()) == PATHS
    assert {path: proposed[path] for path in before} == before
    assert "  heron-3b, Avg: there 58.1, computed 58.0: no reading of its files gives it" in pull.body
    assert (
        "| `leaderboard/board.toml` | readers see 1 TODO (description), 1 TODO in comments is optional |" in pull.body
    )
    assert sorted(path.name for path in story.folder.iterdir()) == ["results"]

    client(story.server, "ann-token").get_repo(BOARD).get_pull(pull.number).merge()
    assert story.init(*call)[1].splitlines()[-1] == "the main branch has it already"
    jobs = yaml.safe_load(story.files()[PATHS[0]])["jobs"]
    [shown] = [yaml.safe_load(text)["jobs"]["check"]["steps"] for name, text in WORKFLOWS[:1]]
    shown[1]["with"]["leaderboard"] = "leaderboard/board.toml"
    assert jobs["check"]["steps"] == shown
    [line] = [step["run"] for step in jobs["settle"]["steps"] if "run" in step]
    words = shlex.split(line)
    assert words[:4] == ["uvx", "--from", "leaderboard-bot[server]", "leaderboard-bot"]
    checkout = story.folder / "checkout"
    for path, data in story.files().items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_bytes(data)
    status, out, err = story.bot(*words[4:], token="app-token", cwd=checkout)
    assert status == 0, out + err
    [pull] = story.repo.pulls("open")
    assert pull.author == "github-actions[bot]"
    was, now = (story.files(ref)["README.md"].decode().splitlines() for ref in ("heads/main", pull.head))
    assert [(old, new) for old, new in zip(was, now, strict=True) if old != new] == [
        (row, row.replace("58.1", "58.0")) for row in was if "58.1" in row
    ]


@pytest.mark.parametrize(
    ("words", "token", "status", "why"),
    [
        (("--source", f"github://{BOARD}"), "eve-token", 4, "eve may not write there: ask somebody who may"),
        (("--source", f"github://{BOARD}"), "", 2, "publishing to GitHub needs a token; set GITHUB_TOKEN"),
        ((), "ann-token", 2, "the bot there cannot read a folder of this machine: push the results, and add --source"),
        (("../ours", "--source", f"github://{BOARD}"), "ann-token", 2, "FOLDER is a folder in the repository"),
        (("docs", "--source", f"github://{BOARD}"), "ann-token", 2, "docs/board.toml is there already, and is not"),
    ],
)
def test_what_cannot_be_proposed_is_one_line_and_nothing_is_written(
    story: Story, words: tuple[str, ...], token: str, status: int, why: str
) -> None:
    story.repo.git.push("heads/main", {"docs/board.toml": b"title = 'Mine'\n"})
    found, _, err = story.init(*words, "--propose", token=token)
    assert (found, why in err.splitlines()[-1]) == (status, True), err
    assert story.server.state.writes() == 0
    assert sorted(path.name for path in story.folder.iterdir()) == ["results"]


def test_a_token_without_the_scope_for_workflows_is_told_so(story: Story) -> None:
    """As in octokit/rest.js issue 368: GitHub answers 404 to a tree that holds a workflow."""
    story.server.state.order("POST", "/git/trees", status=404, message="Not Found", times=9)
    status, _, err = story.init("--propose", "--source", f"github://{BOARD}")
    assert (status, "give it the scope `workflow`" in err.splitlines()[-1]) == (4, True), err
    assert not story.repo.pulls("open")


def test_the_address_of_results_is_that_of_their_clone(story: Story) -> None:
    git(story.folder / "results", "init", "--quiet", "--initial-branch=main")
    git(story.folder / "results", "remote", "add", "origin", "git@github.com:acme/results.git")
    git(story.folder / "results", "add", ".")
    git(story.folder / "results", "commit", "--quiet", "--message=Results")
    assert story.init("--propose")[0] == 0
    [pull] = story.repo.pulls("open")
    assert 'source = "github://acme/results"' in story.files(pull.head)[PATHS[2]].decode()
    assert b"pull_request:" not in story.files(pull.head)[PATHS[0]]


def test_what_is_proposed_is_checked_also_where_the_source_has_other_capitals() -> None:
    jobs = [yaml.safe_load(setup_workflow("x", source, TABLE.removesuffix("/README.md")))["jobs"]
            for source in ("github://Acme/Board", "github://acme/results")]  # fmt: skip
    assert [list(one) for one in jobs] == [["check", "settle"], ["settle"]]


def test_results_on_github_need_no_clone_either(story: Story) -> None:
    call = ("init", "--propose", "--table", TABLE, "--results", f"github://{BOARD}/results")
    status, out, err = story.bot(*call, token="ann-token")
    assert (status, "2 of 3 rows reproduced" in out) == (0, True), err
    [pull] = story.repo.pulls("open")
    settings = story.files(pull.head)[PATHS[2]].decode()
    assert f'source = "github://{BOARD}"' in settings
    assert 'paths = ["results/**/*.json", "results/**/*.eval"]' in settings
    status, out, err = story.bot("leaderboards", "draft", f"github://{BOARD}/", token="ann-token")
    assert (status, "acme/atlas-7b" in out, out.count("[[tasks]]")) == (0, True, 3), err
    assert story.server.state.count("GET", "/contents/results/") == 0  # the listing names the contents of each file
    status, _, err = story.bot("check", f"github://{BOARD}/nothing", token="ann-token")
    assert (status, err.endswith("nothing: there is no such file, and no file below it\n")) == (2, True), err


def test_only_a_table_on_github_is_proposed_for(story: Story) -> None:
    (story.folder / "README.md").write_text(markdown())
    call = ("init", "--propose", "--results", story.folder / "results")
    for words, why in ((("--table", "README.md", "--source", "github://a/b"), "give --table github://owner/name/PATH"),
                       ((), "--propose is for a table that exists")):  # fmt: skip
        status, _, err = story.bot(*call, *words, token="ann-token")
        assert (status, why in err.splitlines()[-1]) == (2, True), err
