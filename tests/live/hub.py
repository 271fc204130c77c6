"""Throw-away repositories on a Hub, and one bot that keeps a watch there: what the stories are told with."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, Discussion, DiscussionWithDetails, HfApi
from huggingface_hub.errors import HfHubHTTPError

from bot.platforms.hub.address import parse_address
from bot.platforms.hub.platform import HubPlatform
from bot.platforms.hub.source import HubSource
from bot.platforms.platform import Access
from bot.publishing.publication import find_marker
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from bot.service.watch.outcome import Outcome
from tests.service.passes import settle
from tests.world.results import TINY

PREFIX = "leaderboard-bot-live"
PATIENCE = 60.0  # seconds in which the Hub must show what was written
T = TypeVar("T")
WATCH = """
[[watches]]
name = "live"
leaderboard = "tiny.toml"
source = "hf://datasets/{source}"
maintainers = [{maintainers}]
{targets}
"""


@dataclass
class LiveHub:
    """One account on one Hub; `second` is another account, which some stories need, and `namespace` owns all.

    Repositories are private, have a random name, and are deleted by `close`.
    """

    api: HfApi
    folder: Path
    namespace: str
    second: HfApi | None = None
    patience: float = PATIENCE
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    made: list[tuple[str, str]] = field(default_factory=list)
    contexts: ContextFactory | None = None

    def repository(self, what: str, kind: str = "dataset", files: dict[str, bytes] | None = None) -> str:
        """A new private repository."""
        name = f"{self.namespace}/{PREFIX}-{self.run}-{what}"
        self.api.create_repo(name, repo_type=kind, private=True)
        self.made.append((name, kind))
        if files:
            self.push(name, dict(files), kind)
        return name

    def push(self, name: str, files: dict[str, bytes | None], kind: str = "dataset", *, second: bool = False) -> str:
        """Commit to main; gives the commit."""
        made = self._account(second).create_commit(
            name, operations_of(files), commit_message="Add results", repo_type=kind
        )
        return made.oid

    def propose(self, name: str, files: dict[str, bytes | None], *, second: bool = False) -> int:
        """Open a request; gives its number."""
        made = self._account(second).create_commit(
            name, operations_of(files), commit_message="Propose results", repo_type="dataset", create_pr=True
        )
        assert made.pr_num is not None
        return made.pr_num

    def _account(self, second: bool) -> HfApi:
        return self.second if second and self.second is not None else self.api

    def read(self, name: str, path: str, revision: str = "main", kind: str = "dataset") -> bytes | None:
        """A file at a branch or a request."""
        assert self.contexts is not None
        source = HubSource(HubPlatform.client(self.contexts.opener), parse_address(f"hf://{kind}s/{name}"))
        refs = source.refs(requests=True)
        return source.read(path, refs.get(revision) or refs[f"refs/heads/{revision}"], 1_000_000)

    def talks(self, name: str, kind: str = "dataset", *, requests: bool = True) -> list[Discussion]:
        """The open requests, or the open discussions, oldest first."""
        found = self.api.get_repo_discussions(name, repo_type=kind)
        wanted = [one for one in found if one.status in {"open", "draft"} and one.is_pull_request == requests]
        return sorted(wanted, key=lambda one: one.num)

    def details(self, name: str, num: int, kind: str = "dataset") -> DiscussionWithDetails:
        """A discussion or request with what was said."""
        return self.api.get_discussion_details(name, num, repo_type=kind)

    def said(self, name: str, num: int, kind: str = "dataset") -> str:
        """All texts of a discussion that stand."""
        events = self.details(name, num, kind).events
        return "\n".join(event.content for event in events if event.type == "comment" and not event.hidden)

    # the bot

    def watch(self, source: str, targets: str) -> None:
        """Keep a watch from now on, with an empty state."""
        (self.folder / "tiny.toml").write_text(TINY)
        maintainer = self.second.whoami()["name"] if self.second is not None else ""
        names = f'"{maintainer}"' if maintainer else ""
        self.settings = parse_settings(WATCH.format(source=source, targets=targets, maintainers=names), "bot.toml")
        self.lose_state()

    def lose_state(self) -> None:
        """Begin with a new, empty state."""
        if self.contexts is not None:
            self.contexts.store.close()
        store = Store(connect(f"sqlite:///{self.folder / f'{secrets.token_hex(4)}.db'}"))
        access = Access(hf_token=str(self.api.token), hf_endpoint=self.api.endpoint)
        self.contexts = ContextFactory(access, store, self.folder)

    def settle(self, approve: str = "") -> list[Outcome]:
        """One pass; nothing may fail."""
        assert self.contexts is not None
        if approve:
            assert self.contexts.store.of("live").plans.approve(approve)
        outcomes = settle(self.contexts.open_context(self.settings.watches[0]))
        assert [one for one in outcomes if one.outcome == "failed"] == []
        return outcomes

    def eventually(self, look: Callable[[], T]) -> T:
        """What a look gives once it holds; the Hub may show a write a little later."""
        end = time.monotonic() + self.patience
        while not (found := look()) and time.monotonic() < end:
            time.sleep(min(1.0, self.patience / 10))
        assert found, "the Hub does not show it"
        return found

    def close(self) -> list[str]:
        """Delete all that was made; gives the names of what could not be deleted."""
        if self.contexts is not None:
            self.contexts.store.close()
        left = []
        for name, kind in self.made:
            try:
                self.api.delete_repo(name, repo_type=kind, missing_ok=True)
            except HfHubHTTPError:
                left.append(f"{kind} {name}")
        return left


def operations_of(files: dict[str, bytes | None]) -> list[CommitOperationAdd | CommitOperationDelete]:
    return [
        CommitOperationDelete(path) if data is None else CommitOperationAdd(path, data) for path, data in files.items()
    ]


def is_ours(body: str) -> bool:
    """Whether a text carries the bot's mark."""
    return find_marker(body) is not None
