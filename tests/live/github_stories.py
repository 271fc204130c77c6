"""Stories on a GitHub that may be the real one, in private repositories that are deleted at their end."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from github import Auth, Github
from github.GithubException import GithubException
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from bot.service.watch.outcome import Outcome
from tests.live.hub import PREFIX, is_ours
from tests.platforms.git.test_source import Folder
from tests.service.passes import settle
from tests.world.results import TINY, path_of, result

WATCH = """
[[watches]]
name = "live"
leaderboard = "tiny.toml"
source = "{source}"
[[watches.targets]]
to = "github://{target}"
as = "{form}"
"""
TABLE = """\
kind = "table"
[watches.targets.table]
path = "board.csv"
key = ["Model"]
columns = { Model = "model.id", Logic = { value = "tasks.logic.score", decimals = 1 } }
on_existing = "update"
"""


@dataclass
class LiveGitHub:
    """One account on one GitHub, with a local folder of results as source."""

    token: str
    url: str
    folder: Path
    made: list[Repository] = field(default_factory=list)
    contexts: ContextFactory | None = None

    def __post_init__(self) -> None:
        self.github = Github(auth=Auth.Token(self.token), base_url=self.url)

    def repository(self, files: dict[str, bytes] | None = None) -> Repository:
        """A new private repository."""
        name = f"{PREFIX}-{secrets.token_hex(4)}"
        made = self.github.get_user().create_repo(name, private=True, auto_init=True)  # type: ignore[union-attr]
        self.made.append(made)
        for path, data in (files or {}).items():
            made.create_file(path, f"Add {path}", data)
        return made

    def begin(self, form: str) -> tuple[Folder, Repository]:
        """A source with one result, a private target, and the first settlement."""
        source, target = Folder(self.folder / "results"), self.repository()
        source.push({path_of(): result()})
        self.watch("results", target, form)
        return source, target

    def watch(self, source: str, target: Repository, form: str, more: str = "") -> None:
        """Keep a watch from now on, and make the first pass; `more` are further keys of the target."""
        (self.folder / "tiny.toml").write_text(TINY)
        text = WATCH.format(source=source, target=target.full_name, form=form) + more
        self.settings = parse_settings(text, "bot.toml")
        store = Store(connect(f"sqlite:///{self.folder / 'state.db'}"))
        access = Access(github_token=self.token, github_api_url=self.url)
        self.contexts = ContextFactory(access, store, self.folder)
        self.settle()

    def settle(self) -> list[Outcome]:
        """One pass; nothing may fail."""
        assert self.contexts is not None
        outcomes = settle(self.contexts.open_context(self.settings.watches[0]))
        assert [one for one in outcomes if one.outcome == "failed"] == []
        return outcomes

    def close(self) -> list[str]:
        """Delete all that was made; gives the names of what could not be deleted."""
        if self.contexts is not None:
            self.contexts.store.close()
        left = []
        for repository in self.made:
            try:
                repository.delete()
            except GithubException:
                left.append(f"github {repository.full_name}")
        return left


def pulls(target: Repository) -> list[PullRequest]:
    return list(target.get_pulls(state="open"))


def a_row_is_proposed_updated_and_withdrawn_on_github(live: LiveGitHub) -> None:
    source, target = live.begin("pull-request")
    [pull] = pulls(target)
    assert is_ours(pull.body)
    assert live.settle() == []

    source.push({path_of(): result(right=(60, 60, 70))})
    live.settle()
    [again] = pulls(target)
    assert (again.number, "61.67" in again.title) == (pull.number, True)

    source.push({path_of(): None, "notes.json": b"{}"})  # an emptied source waits for a person
    live.settle()
    assert pulls(target) == []


def a_row_as_a_comment_stands_on_an_issue_of_github(live: LiveGitHub) -> None:
    source, target = live.begin("comment")
    [issue] = [one for one in target.get_issues(state="open") if one.pull_request is None]
    source.push({path_of(): result(right=(60, 60, 70))})
    live.settle()
    [comment] = list(issue.get_comments())
    assert "61.67" in comment.body


def a_source_on_github_is_read_at_its_head(live: LiveGitHub) -> None:
    source, target = live.repository({path_of(): result()}), live.repository()
    live.watch(f"github://{source.full_name}", target, "pull-request")
    [pull] = pulls(target)
    assert "acme/atlas-7b" in pull.title
    assert live.settle() == []


def a_row_of_a_table_on_github_changes_one_line(live: LiveGitHub) -> None:
    source = Folder(live.folder / "results")
    source.push({path_of(): result()})
    target = live.repository({"board.csv": b"Model,Logic\nacme/lynx-1b,12.5\nacme/atlas-7b,69.9\n"})
    live.watch("results", target, "pull-request", TABLE)
    [pull] = pulls(target)
    assert [file.filename for file in pull.get_files()] == ["board.csv"]
    after = target.get_contents("board.csv", ref=pull.head.ref)
    assert not isinstance(after, list)
    assert after.decoded_content == b"Model,Logic\nacme/lynx-1b,12.5\nacme/atlas-7b,70.0\n"
    assert "69.9" in pull.body
    assert live.settle() == []


STORIES = [
    a_row_is_proposed_updated_and_withdrawn_on_github,
    a_row_as_a_comment_stands_on_an_issue_of_github,
    a_source_on_github_is_read_at_its_head,
    a_row_of_a_table_on_github_changes_one_line,
]
