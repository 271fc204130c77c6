"""The parts that one pass over a watch needs: source, targets, declaration, state, and facts for judging."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from bot import __version__
from bot.errors import CallError
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.verdict import Judgement, Row
from bot.platforms.declarations import open_leaderboard
from bot.platforms.discussions import Discussions
from bot.platforms.hub.address import MODELS, parse_address
from bot.platforms.platform import Access, Opener, ServiceCache
from bot.platforms.source import Source
from bot.platforms.target import Target
from bot.publishing.addresses import target_url
from bot.publishing.entry import Declared, Evidence, MadeEntries, make_entries
from bot.publishing.repeat import declaration_name
from bot.reporting.escape import code
from bot.service.judge.commits import open_look_up
from bot.service.judge.facts import LookUp, StoredRows, judge_for, judge_stored, no_look_up, with_near
from bot.service.settings.config import Settings, Watch, WatchTarget, names_at, open_settings
from bot.service.settings.environment import space_url
from bot.service.store.database import EVERY
from bot.service.store.engine import connect
from bot.service.store.items import Item, Kind, Mark, Priority
from bot.service.store.memory import MOVED
from bot.service.store.sources import StoredSubmission
from bot.service.store.state import Store, WatchState
from bot.service.watch.event import account_id

if TYPE_CHECKING:  # only who shares a state with other processes needs the extra `postgres`
    from bot.service.jobs.queue import Jobs

MOST_NAMED = 5  # maintainers that a text names
MOVES = 10.0  # seconds for which it is not noted again that something moves


@dataclass
class WatchContext:
    """Everything that one watch needs. `discussions` is None if nothing can be said at the source.

    `waivers` are those that maintainers gave by comments; where `has_waivers` is False, they could not be read in this
    pass. `clock` gives Unix seconds. `queue` is where rows wait for other processes, None if there are none;
    `had_workers` says that some had rows in this pass, so that what it read of the targets may be old.
    """

    watch: Watch
    leaderboard: Leaderboard
    source: Source
    targets: Sequence[tuple[Target, WatchTarget]]
    state: WatchState
    today: date
    look_up: LookUp = no_look_up
    discussions: Discussions | None = None
    dry_run: bool = False
    clock: Callable[[], float] = time.time
    waivers: list[Waiver] = field(default_factory=list)
    has_waivers: bool = True
    queue: Jobs | None = None
    had_workers: bool = False
    public_url: str = ""
    opener: Opener = field(default_factory=lambda: Opener(Access()), repr=False)

    def page_link(self, words: str, page: str) -> str:
        """A link to a page of the service as Markdown, "" if nobody can reach it."""
        return f"[{words}]({self.public_url}/{page})" if self.public_url else ""

    def notes_at(self, to: str) -> list[str]:
        """Where else a row goes that is published at a target, and who looks after it, each as a sentence.

        They follow from the settings alone, so that no text changes when a request elsewhere is opened or merged.
        """
        others = [one for _, one in self.targets if one.to != to and one.kind != "models"]
        links = [link for one in others if (link := target_link(one))]
        people = [code(name) for name in self.watch.maintainers_at(to)[:MOST_NAMED]]
        notes = [f"The same rows go to {', '.join(links)}."] if links else []
        return [*notes, f"Questions go to the board's maintainers: {', '.join(people)}."] if people else notes

    @property
    def name(self) -> str:
        """The name of the watch."""
        return self.watch.name

    @property
    def maintainers(self) -> Sequence[str]:
        """The accounts whose commands at the source may do more than those of others."""
        return self.watch.maintainers_at(self.watch.source)

    @property
    def declaration(self) -> str:
        """The name of the declaration in a command: its address, its id, or its place at a target."""
        if "://" in self.watch.leaderboard:
            return self.watch.leaderboard
        declared = Declared(self.leaderboard.id, self.leaderboard.digest, self.leaderboard.scoring_digest)
        keepers = (one for one, how in self.targets if how.kind == "entries" or (how.table and how.table.records))
        return declaration_name(declared, [one.name for one in keepers])

    @property
    def targets_by_address(self) -> dict[str, tuple[Target, WatchTarget]]:
        """The targets by the addresses that the settings give them."""
        return {settings.to: (target, settings) for target, settings in self.targets}

    @property
    def first_board(self) -> tuple[Target, WatchTarget] | None:
        """The first target that has a board, which is published as the web site too; None if none has one."""
        return next((one for one in self.targets if one[1].has_board), None)

    def is_site(self, to: str) -> bool:
        """Tell whether the board at a target is published as the web site."""
        return bool(self.watch.site) and self.first_board is not None and self.first_board[1].to == to

    def definition(self) -> str:
        """A digest of everything that decides verdicts: if it changes, all files are judged again, none is read."""
        waived = [*self.leaderboard.waivers, *self.waivers]
        expired = sorted(f"{one.rule} {one.submission} {one.until}" for one in waived if one.until < self.today)
        identity = [(one.path, one.value) for one in self.watch.identity]
        decides = [
            __version__,
            self.leaderboard.judging_digest,
            self.watch.owners,
            identity,
            self.watch.look_up_commits,
            expired,
        ]
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def mark(self, found: Iterable[Mark], later: float = 0.0) -> None:
        """Mark items as out of step, due at once or `later` seconds from now."""
        self.state.items.mark(found, self.clock() + later)

    def due(
        self, kind: Kind, limit: int = EVERY, *, priority: Priority | None = None, target: str | None = None
    ) -> list[Item]:
        """The items of a kind that are due, the longest waiting first; of one priority or target only."""
        return self.state.items.due(kind, self.clock(), limit, priority=priority, target=target)

    def finish(self, done: Sequence[Item]) -> None:
        """Take items that are in step off the list, and note that something moves."""
        self.state.items.finish(done)
        now = self.clock()
        if done and not 0 <= now - (self.state.recall(MOVED) or 0.0) < MOVES:
            self.state.remember(MOVED, now)

    def submissions_of(self, keys: Iterable[str]) -> list[StoredSubmission]:
        """The submissions that measure these rows, with those that may stand in them, see `with_near`."""
        return list(self.state.submissions.of(with_near(keys, self.leaderboard, self.state)).values())

    def judge(self, found: Sequence[StoredSubmission], *, is_compared: bool = True) -> Judgement:
        """Judge submissions and join them into rows; files that are not results are left out.

        Unless `is_compared` is false they are compared with the other submissions of the watch and with its boards.
        """
        known = StoredRows(self.state, {one.path for one in found}) if is_compared else None
        judge = judge_for(self.watch, self.leaderboard, self.today, self.waivers, self.look_up, known=known)
        return judge_stored(judge, found)

    def made(self, found: Sequence[StoredSubmission]) -> MadeEntries:
        """The entries of the rows that submissions make, and the reasons for rows that cannot be written."""
        return self.made_of(self.judge(found).rows, found)

    def made_of(self, rows: Iterable[Row], found: Sequence[StoredSubmission]) -> MadeEntries:
        """The same for rows that were judged already."""
        kept: dict[str, str] | UnsetType = UNSET if self.source.has_commits else {}
        places = {one.path: Evidence(self.source.name, one.path, one.commit, kept=kept) for one in found}
        return make_entries(rows, places)


def target_link(settings: WatchTarget, path: str = "") -> str:
    """A target, or a file in it, as a link; "" for a folder of this machine."""
    path = settings.table.path if settings.table is not None and "*" not in settings.table.path else path
    url = target_url(settings.to, path)
    return f"[{code(f'{settings.to}/{path}' if path else settings.to)}]({url})" if url else ""


@contextmanager
def open_context_factory(path: Path, access: Access, database: str) -> Iterator[tuple[Settings, ContextFactory]]:
    """Read the settings, and keep the store beside them open. Raises CallError or MalformedDeclaration."""
    settings = open_settings(path, access)
    with closing(Store(connect(database))) as store:
        contexts = ContextFactory(access, store, path.resolve().parent)
        contexts.take(settings)
        yield settings, contexts


@dataclass
class ContextFactory:
    """Opens the contexts of one service; what can be kept between passes is kept here.

    `folder` is that of the settings file: relative paths in it start there.
    """

    access: Access
    store: Store
    folder: Path
    queue: Jobs | None = None
    public_url: str = ""
    opener: Opener = field(init=False, repr=False)
    _declared: dict[str, Leaderboard] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        service_cache = ServiceCache(
            self.store.known_threads, rows=self.store.row_index, intend=self.store.intend, is_service=True
        )
        self.opener = Opener(self.access, self.folder, service_cache)

    def take(self, settings: Settings) -> None:
        """Apply the settings that concern the whole service: the public address and the former accounts."""
        self.public_url = settings.public_url or space_url()
        for service, former in self.opener.service_cache.former_accounts.items():
            former.clear()
            for watch in settings.watches:
                former.update(names_at(watch.former_accounts, service) if watch.is_on(service) else ())

    @property
    def known_ids(self) -> set[str]:
        """The bot's account ids in deliveries, as far as they are known: no delivery waits for a request."""
        clients = self.opener.service_cache.clients
        account = clients["hf"].__dict__.get("account") if "hf" in clients else None
        login = clients["github"].__dict__.get("user") if "github" in clients else None
        return ({str(account["id"])} if account else set()) | ({account_id(login)} if login else set())

    def open_context(self, watch: Watch, *, dry_run: bool = False) -> WatchContext:
        """Everything that one pass over a watch needs. Raises CallError or MalformedDeclaration."""
        return WatchContext(
            watch=watch,
            leaderboard=self.leaderboard(watch),
            source=self.opener.source(watch.source),
            targets=[(self.opener.target(one.to, one.form, one.discussion), one) for one in watch.targets],
            state=(self.store.scratch() if dry_run else self.store).of(watch.name),
            look_up=open_look_up(self.access, self.store, print) if watch.look_up_commits else no_look_up,
            today=datetime.now(UTC).date(),
            discussions=self.opener.discussions(watch.source) if watch.comments else None,
            dry_run=dry_run,
            queue=None if dry_run else self.queue,
            public_url=self.public_url,
            opener=self.opener,
        )

    def leaderboard(self, watch: Watch) -> Leaderboard:
        """The declaration, as it stands now."""
        found = self._declared[watch.leaderboard] = open_declaration(watch.leaderboard, self.folder, self.access)
        return found

    def known_leaderboard(self, watch: Watch) -> Leaderboard:
        """The declaration as it was last read, so that a visitor costs no request. Raises as `open_context`."""
        return self._declared.get(watch.leaderboard) or self.leaderboard(watch)


def open_declaration(name: str, folder: Path, access: Access) -> Leaderboard:
    """Read the declaration of a watch; a path is taken from the folder of the settings.

    Raises CallError or MalformedDeclaration.
    """
    beside = folder / name
    return open_leaderboard(str(beside) if beside.is_file() else name, access)


def watched_by(settings: Settings) -> list[dict[str, str]]:
    """The repositories on the Hub that the watches read or write, as the Hub names them; a bucket sends no event."""
    addresses = [name for watch in settings.watches for name in watch.addresses]
    found = [parse_address(name) for name in addresses if name.startswith("hf://") and name != MODELS]
    found = [one for one in found if one.kind != "bucket"]
    if not found:
        raise CallError("no watch has a source or target on the Hub, so a webhook would have nothing to watch")
    return [dict(pair) for pair in dict.fromkeys((("type", a.kind), ("name", a.name)) for a in found)]
