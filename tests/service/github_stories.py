"""A watch of a repository on the local GitHub, told in verbs: propose, comment, settle, merge, lose the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bot.platforms.github.platform import GitHubPlatform
from bot.platforms.platform import Access, GitHubApp
from bot.publishing.publication import find_marker
from bot.service.context import ContextFactory
from bot.service.settings.config import Watch, parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store, WatchState
from bot.service.watch.outcome import Outcome
from tests.service.passes import settle
from tests.world.github_server import GitHubServer
from tests.world.github_state import Issue, Repo
from tests.world.results import TINY, path_of, result

SOURCE, TARGET, FORK = "acme/results", "acme/contents", "ann/results"
SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "github://acme/results"
maintainers = {maintainers}
[[watches.targets]]
to = "github://acme/contents"
"""


@dataclass
class GitHubStory:
    """One bot, one source, one target; `ann` proposes from a fork."""

    server: GitHubServer
    folder: Path
    token: str = "bot-token"
    maintainers: str = '["meg"]'
    app: GitHubApp | None = None
    limit: int = 20
    contexts: ContextFactory = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "tiny.toml").write_text(TINY)
        state = self.server.state
        self.source = state.add_repo(SOURCE, {"README.md": b"# Results\n"})
        self.target = state.add_repo(TARGET, {"README.md": b"# Board\n"})
        self.fork = state.add_fork(FORK, SOURCE)
        self.contexts = self.open_contexts()

    @property
    def watch(self) -> Watch:
        text = SETTINGS.format(maintainers=self.maintainers)
        text = text.replace("[[watches.targets]]", f"backfill_limit = {self.limit}\n[[watches.targets]]")
        return parse_settings(text, "bot.toml").watches[0]

    @property
    def state(self) -> WatchState:
        """What the bot remembers of the watch."""
        return self.contexts.store.of("tiny")

    def open_contexts(self) -> ContextFactory:
        store = Store(connect(f"sqlite:///{self.folder / 'state.db'}"))
        access = Access(None if self.app else self.token, self.server.url, self.app)
        contexts = ContextFactory(access, store, self.folder)
        client = GitHubPlatform.client(contexts.opener)
        client.sleep, client.unknown_fate = lambda _: None, 0.1
        return contexts

    def lose_state(self) -> None:
        """What a wiped disk does."""
        self.contexts.store.close()
        for file in self.folder.glob("state.db*"):
            file.unlink()
        self.contexts = self.open_contexts()

    def settle(self) -> list[Outcome]:
        return settle(self.contexts.open_context(self.watch))

    def said(self) -> dict[str, str]:
        """How everything ended in a pass: the text by subject."""
        return {one.subject: f"{one.outcome}: {one.text}" for one in self.settle()}

    def propose(self, files: dict[str, bytes | None] | None = None, branch: str = "run", **how: object) -> Issue:
        """Open a pull request from the fork."""
        self.push_to(branch, files, **how)
        return self.server.state.open_pull(SOURCE, branch, fork=FORK)

    def push_to(self, branch: str, files: dict[str, bytes | None] | None = None, **how: object) -> str:
        """Push to a branch of the fork: one result where no files are given."""
        given = files if files is not None else {path_of(): result(**how)}  # type: ignore[arg-type]
        return self.fork.git.push(f"heads/{branch}", given, "Results", "ann")

    def write(self, request: Issue, text: str, author: str = "ann") -> None:
        self.server.state.comment(SOURCE, request.number, text, author)

    def comments(self, request: Issue, kind: str) -> list[str]:
        """What we wrote on a request, by the kind of mark."""
        ours = [one.body for one in self.source.comments_on(request.number) if one.author == self.login]
        return [text for text in ours if (mark := find_marker(text)) and mark.kind == kind]

    @property
    def login(self) -> str:
        return self.server.state.accounts[self.token].login

    def review(self, request: Issue) -> str:
        """The one review of a request."""
        [text] = self.comments(request, "verdict")
        return text

    def statuses(self, repo: Repo | None = None) -> list[tuple[str, str]]:
        """Every status that was ever set: state and text."""
        return [(row["state"], row["description"]) for row in (repo or self.source).statuses]

    def world(self) -> str:
        """All that can be seen at GitHub."""
        return repr([(repo.git.refs, repo.issues, repo.comments, repo.statuses) for repo in (self.source, self.target)])

    def end(self) -> None:
        """Another settlement changes nothing, and neither does one without a state."""
        before = self.world()
        self.settle()
        if self.world() != before:  # the story ended before it was settled
            before = self.world()
            self.settle()
            assert self.world() == before
        self.lose_state()
        self.settle()
        assert self.world() == before
        self.contexts.store.close()
