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
from bot.service.store import Store, connect
from bot.service.watch.outcome import Outcome
from bot.service.watch.settle import settle
from tests.live.hub import PREFIX, is_ours
from tests.platforms.git.test_source import Folder
from tests.world.results import TINY, path_of, result

WATCH = """
[[watches]]
name = "live"
leaderboard = "tiny.toml"
source = "results"
[[watches.targets]]
to = "github://{}"
as = "{}"
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

    def begin(self, form: str) -> tuple[Folder, Repository]:
        """A source with one result, a private target, and the first settlement."""
        name = f"{PREFIX}-{secrets.token_hex(4)}"
        target = self.github.get_user().create_repo(name, private=True, auto_init=True)  # type: ignore[union-attr]
        self.made.append(target)
        (self.folder / "tiny.toml").write_text(TINY)
        source = Folder(self.folder / "results")
        source.push({path_of(): result()})
        self.settings = parse_settings(WATCH.format(target.full_name, form), "bot.toml")
        store = Store(connect(f"sqlite:///{self.folder / 'state.db'}"))
        access = Access(github_token=self.token, github_api_url=self.url)
        self.contexts = ContextFactory(access, store, self.folder)
        self.settle()
        return source, target

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


STORIES = [a_row_is_proposed_updated_and_withdrawn_on_github, a_row_as_a_comment_stands_on_an_issue_of_github]
