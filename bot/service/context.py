"""A watch of the settings in, the context to settle it at out: source, targets, declaration, opened but not asked."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import CallError
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard
from bot.platforms.git.source import GitSource
from bot.platforms.github.answers import AnswersInStore
from bot.platforms.hub.client import HubClient, parse_address
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.source import HubSource, Listing
from bot.platforms.hub.target import HubTarget
from bot.platforms.registry import Access, open_target
from bot.platforms.source import Source
from bot.platforms.target import Target
from bot.service.config import Settings, Watch, WatchTarget, load_settings
from bot.service.judging import Judge, judge_offline, open_judge
from bot.service.settlement import WatchContext
from bot.service.store import Store, connect


def open_context_factory(path: Path, access: Access, database: str) -> tuple[Settings, ContextFactory]:
    """Read the settings and open the store beside them. Raises CallError or MalformedDeclaration."""
    settings = load_settings(path)
    return settings, ContextFactory(access, Store(connect(database)), path.resolve().parent)


@dataclass
class ContextFactory:
    """Opens desks for one service; what can be kept between settlements is kept here.

    `folder` is that of the settings file: relative paths in it start there.
    """

    access: Access
    store: Store
    folder: Path
    blobs: MutableMapping[str, bytes] = field(default_factory=dict, repr=False)
    own_commits: set[str] = field(default_factory=set, repr=False)
    listings: dict[str, dict[str, Listing]] = field(default_factory=dict, repr=False)
    _client: HubClient | None = field(default=None, repr=False)

    @property
    def client(self) -> HubClient:
        """The one way to the Hub."""
        self._client = self._client or HubClient(self.access.hf_endpoint, self.access.hf_token)
        return self._client

    @property
    def known_account(self) -> Mapping[str, object] | None:
        """Who we are at the Hub, where that was asked already."""
        return None if self._client is None else self._client.__dict__.get("account")

    def open_context(self, watch: Watch, *, dry_run: bool = False) -> WatchContext:
        """Everything that one settlement of a watch needs. Raises CallError or MalformedDeclaration."""
        source = self.open_source(watch)
        says = watch.comments and isinstance(source, HubSource)
        return WatchContext(
            watch=watch,
            leaderboard=self.leaderboard(watch),
            source=source,
            targets=[(self.open_target(target), target) for target in watch.targets],
            store=self.store,
            judge=self.judge(watch),
            today=datetime.now(UTC).date(),
            talk=self.talk(source) if says and isinstance(source, HubSource) else None,
            dry_run=dry_run,
        )

    def leaderboard(self, watch: Watch) -> Leaderboard:
        """The declaration; a path is taken from the folder of the settings."""
        beside = self.folder / watch.leaderboard
        return load_leaderboard(str(beside) if beside.is_file() else watch.leaderboard)

    def judge(self, watch: Watch) -> Judge:
        """The judge, with or without GitHub to ask about harness commits."""
        return open_judge(self.access, AnswersInStore(self.store), print) if watch.look_up_commits else judge_offline

    def open_source(self, watch: Watch) -> Source:
        """A dataset on the Hub, or a local git repository."""
        if watch.source.startswith("hf://"):
            address = parse_address(watch.source)
            return HubSource(self.client, address, self.listings.setdefault(address.url, {}))
        return GitSource(self.folder / watch.source, watch.source)

    def talk(self, source: HubSource) -> HubDiscussions:
        """The discussions of a source."""
        return HubDiscussions(self.client, source.address, self.store.memory(source.address.url))

    def open_target(self, settings: WatchTarget) -> Target:
        """A target with what is remembered of it."""
        if settings.to.startswith("hf://"):
            address = parse_address(settings.to)
            return HubTarget(
                self.client,
                address,
                memory=self.store.memory(address.url),
                blobs=self.blobs,
                discussion=settings.discussion,
                has_notes=settings.form == "comment",
                own_commits=self.own_commits,
            )
        number = f"#{settings.discussion}" if settings.discussion else ""
        is_remote = "://" in settings.to
        return open_target(
            settings.to + number if is_remote else str(self.folder / settings.to), self.access, settings.form
        )


def watched_by(settings: Settings) -> list[dict[str, str]]:
    """The repositories on the Hub that the watches read or write, as the Hub names them."""
    addresses = [name for watch in settings.watches for name in (watch.source, *(t.to for t in watch.targets))]
    found = [parse_address(name) for name in addresses if name.startswith("hf://")]
    if not found:
        raise CallError("no watch has a source or target on the Hub, so there is nothing to be told of")
    return [dict(pair) for pair in dict.fromkeys((("type", a.kind), ("name", a.name)) for a in found)]
