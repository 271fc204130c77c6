"""Watches that several processes share through PostgreSQL: passes, rows, due items, budgets, and each watch's state."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import BotError
from bot.platforms.net import BUDGETS, Budgets
from bot.server.health import State, state_from, state_text
from bot.service.context import ContextFactory, WatchContext
from bot.service.jobs.cluster import Cluster
from bot.service.jobs.queue import PASS, ROW, Jobs, Timing
from bot.service.publish.entry_rows import EntryRows
from bot.service.publish.publisher import Publisher
from bot.service.settings.config import Watch
from bot.service.store import Store
from bot.service.store.items import RowJob
from bot.service.talk.waivers import stored_waivers
from bot.service.watch.outcome import Outcome, Report
from bot.service.watch.passes import lease_name, pass_leases
from bot.service.watch.workers import SHORTEST_WAIT

LEASE_WAIT = 10.0  # seconds that a pass waits for a command that keeps its watch
log = logging.getLogger(__name__)
FRESH = 60.0  # seconds for which a thread reuses what it read of the targets
EVERY = 1.0  # seconds between two exchanges; so much may be spent twice meanwhile


class WatchingService(Protocol):
    """The service of one process, as far as it shares its watches."""

    contexts: ContextFactory
    watches_settings: Sequence[Watch]
    states: dict[str, State]
    quiet: float

    @property
    def clock(self) -> Callable[[], float]:
        """Gives Unix seconds."""
        ...

    def settle(self, watch: Watch) -> bool:
        """Make a pass over a watch; False if it lost its lease."""
        ...

    def record_outcome(self, name: str, outcome: Outcome) -> None:
        """Count and log how something ended."""
        ...


class Scheduler:
    """What one process does of the work on all watches, which it shares with other processes."""

    def __init__(self, service: WatchingService, jobs: Jobs, timing: Timing | None = None) -> None:
        self._service, self._jobs = service, jobs
        self._store, self._rows = service.contexts.store, RowJobs(service.contexts)
        timing = timing or Timing()
        self.budgets = SharedBudgets(self._store)
        self.cluster = Cluster(jobs, self._settle, self._publish, self.due, service.quiet, timing=timing)

    def start(self) -> None:
        """Begin to share."""
        self.budgets.start()
        self.cluster.start()

    def stop(self, patience: float) -> bool:
        """Take no more work; whether what runs ended in time."""
        end = time.monotonic() + patience
        self.budgets.stop()
        has_ended = self.cluster.stop(patience)
        self.budgets.stop(max(0.0, end - time.monotonic()))
        return has_ended

    def publish_state(self, name: str) -> None:
        """Tell the other processes the state of a watch, and when the last pass over it ended."""
        with self._store.transaction():
            self._store.set_cursor(name, "pass", state_text(self._service.states[name]))
            self._store.set_cursor(name, "tried", str(self._service.clock()))

    def state(self, name: str) -> State:
        """The state of a watch, whoever made the last pass."""
        return state_from(self._store.cursor(name, "pass"), self._service.states[name])

    def due(self) -> list[str]:
        """The watches of which the time, or that of an item, has come, and over which no pass waits or runs."""
        undone = self._jobs.undone()
        idle = [watch for watch in self._service.watches_settings if (PASS, watch.name) not in undone]
        return [watch.name for watch in idle if self._is_due(watch, has_rows=(ROW, watch.name) in undone)]

    def _is_due(self, watch: Watch, *, has_rows: bool) -> bool:
        """Tell whether a pass is due; rows that workers have are no reason for one."""
        now = self._service.clock()
        since = now - float(self._store.cursor(watch.name, "tried") or 0.0)
        if not 0 <= since < watch.settle_every:  # or the clock was set back
            return True
        if has_rows or since < SHORTEST_WAIT:
            return False
        due = self._store.next_due(watch.name)
        return due is not None and due <= now

    def _named(self, name: str) -> Watch | None:
        return next((watch for watch in self._service.watches_settings if watch.name == name), None)

    def _settle(self, name: str) -> None:
        """A pass as a job; while a command keeps the watch, and where the lease was lost, it is asked for again."""
        watch = self._named(name)
        if watch is None:
            log.info("%s: the settings of this process have no such watch", name)
            return
        self._service.states[name] = self.state(name)
        lease, boards = pass_leases(watch, self._service.contexts.folder)
        with self._store.lease(lease, LEASE_WAIT, beside=boards) as claim:
            is_done = claim.is_ours and self._service.settle(watch)
        if claim.what in boards:
            self._put_off(name, f"an import fills its target now ({claim.rival}); the watch continues when it ends")
        if not is_done:
            self.cluster.hint(name)

    def _put_off(self, name: str, why: str) -> None:
        """Say on the page and once in the log why a watch waits."""
        state = self._service.states[name]
        if state.failure != why:
            state.failure = why
            log.info("%s: %s", name, why)
            self.publish_state(name)

    def _publish(self, job: RowJob) -> None:
        """One row as a job."""
        watch = self._named(job.watch)
        for outcome in () if watch is None else self._rows.publish(watch, job):
            self._service.record_outcome(job.watch, outcome)


@dataclass
class RowJobs:
    """Publishes rows; each thread keeps what it read of the targets for a while."""

    contexts: ContextFactory
    _local: threading.local = field(default_factory=threading.local, repr=False)

    def publish(self, watch: Watch, job: RowJob) -> Sequence[Outcome]:
        """Publish a row, where it is still what was let through; else the next pass looks at it.

        An import waits for the rows that workers have when it begins; those that they take later are left alone.
        """
        context = self._context(watch)
        store, target = context.store, context.targets_by_address.get(job.target)
        with store.transaction():
            item = store.item(watch.name, "row", job.target, job.subject)
            definition = store.cursor(watch.name, "definition")
            is_free = store.is_free(lease_name(job.target, self.contexts.folder))
        if target is None or not is_free or item is None or item.is_held or item.marked != job.marked:
            return []
        if item.due > context.clock() or definition != context.definition():
            return []
        report = Report(context)
        Publisher(EntryRows(context, *target, report)).publish_admitted(item, job.admitted)
        store.add_outcomes(watch.name, [(one.outcome, one.subject, one.text) for one in report.outcomes])
        return report.outcomes

    def _context(self, watch: Watch) -> WatchContext:
        """This thread's context of a watch, at most a minute old."""
        known: dict[str, tuple[float, Watch, WatchContext]] = self._local.__dict__.setdefault("known", {})
        at, of, context = known.get(watch.name, (0.0, None, None))
        if context is None or of != watch or time.monotonic() - at > FRESH:
            context = self.contexts.open_context(watch)
            known[watch.name] = (time.monotonic(), watch, context)
        context.waivers[:] = stored_waivers(context.store, watch)
        return context


@dataclass
class SharedBudgets:
    """Exchanges what is left of the windows with the other processes of one database.

    It has a thread of its own, so that no request waits for the database.
    """

    store: Store
    budgets: Budgets = field(default_factory=lambda: BUDGETS)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._keep, name="budgets", daemon=True)
        self._thread.start()

    def stop(self, patience: float = 0.0) -> None:
        """End, and wait so many seconds for an exchange that runs: it holds a connection."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(patience)

    def exchange(self) -> None:
        """Learn what the others know, and tell them what is known here. Raises StateUnavailable."""
        now, clock = time.time(), self.budgets.clock()
        known_elsewhere = self.store.allowances(now)
        for key, (limit, remaining, ends) in known_elsewhere.items():
            self.budgets.take_over(key, limit, remaining, ends - now)
        known = {key: (one.limit, one.remaining, now + one.ends - clock) for key, one in self.budgets.left().items()}
        self.store.set_allowances(
            {key: one for key, one in known.items() if one[:2] != known_elsewhere.get(key, ())[:2]}
        )

    def _keep(self) -> None:
        while not self._stopping.wait(EVERY):
            try:
                self.exchange()
            except BotError as failure:
                log.info("budgets are not shared now, trying again: %s", failure)
            except Exception:
                log.exception("budgets are not shared now, trying again")
