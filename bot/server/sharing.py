"""Watches that several processes share through PostgreSQL: passes, rows, due items, and each watch's state."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from bot.server.health import PAUSED, State
from bot.server.service import Service
from bot.service.context import ContextFactory, WatchContext
from bot.service.jobs.queue import PASS, ROW, Cluster, Jobs, Timing
from bot.service.publish.entry_rows import EntryRows
from bot.service.publish.ledger import count_later, next_look
from bot.service.settings.config import Watch
from bot.service.store.items import RowJob
from bot.service.store.leases import lease_name, pass_leases
from bot.service.store.memory import LAST_PASS, SOURCE, PassEnd
from bot.service.talk.waivers import stored_waivers
from bot.service.waits import BETWEEN_PASSES, LEASE_PATIENCE
from bot.service.watch.outcome import Outcome, Report

log = logging.getLogger(__name__)
FRESH = 60.0  # seconds for which a thread reuses what it read of the targets


@dataclass(kw_only=True)
class SharedService(Service):
    """The watches in one process of many: passes and rows are jobs, which the processes share."""

    jobs: Jobs
    timing: Timing = field(default_factory=Timing)
    is_alone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rows = RowJobs(self.contexts)
        self._cluster = Cluster(self.jobs, self._pass, self._publish, self.due, self.quiet, timing=self.timing)

    def start(self) -> None:
        """Start to share the watches."""
        self._cluster.start()
        super().start()

    def _keep(self, watch: Watch) -> None:
        self._cluster.hint(watch.name)

    def hint(self, name: str) -> None:
        """Ask for a pass over a watch soon."""
        if self._named(name) is not None:
            self._cluster.hint(name)

    def stop(self, patience: float) -> bool:
        """Take no more work; tell whether the running work ended in time."""
        end = time.monotonic() + patience
        self.marking.wait(patience)
        has_ended = self._cluster.stop(max(0.0, end - time.monotonic()))
        if not has_ended:
            log.warning("other processes continue the jobs that still run")
        return has_ended

    def _end(self, watch: Watch, due: float | None = None) -> None:
        """Tell the other processes the state of a watch, and when the last pass over it ended."""
        stored, state = self.contexts.store.of(watch.name), self.states[watch.name]
        stored.remember(LAST_PASS, PassEnd(self.clock(), state.settled, state.failure, state.reached))

    def state(self, name: str) -> State:
        """The state of a watch, whoever made the last pass; `heard` and a database that fails are of this process."""
        known = self.contexts.store.of(name).recall(LAST_PASS) or PassEnd(0.0)
        return State(known.settled, self.states[name].heard, self._cluster.failure or known.failure, known.reached)

    def due(self) -> list[str]:
        """The watches that are due, or have a due item, and for which no pass waits or runs."""
        undone = self.jobs.undone()
        idle = [watch for watch in self.watches_settings if (PASS, watch.name) not in undone]
        return [watch.name for watch in idle if self._is_due(watch, has_rows=(ROW, watch.name) in undone)]

    def _is_due(self, watch: Watch, *, has_rows: bool) -> bool:
        """Tell whether a pass is due; rows that workers have do not count."""
        stored, now = self.contexts.store.of(watch.name), self.clock()
        known = stored.recall(LAST_PASS)
        since = now - (known.at if known else 0.0)
        if not 0 <= since < watch.settle_every:  # or the clock was set back
            return True
        if has_rows or since < BETWEEN_PASSES:
            return False
        due = next_look(stored)
        return due is not None and due <= now

    def _named(self, name: str) -> Watch | None:
        return next((watch for watch in self.watches_settings if watch.name == name), None)

    def _pass(self, name: str) -> None:
        """A pass as a job; while a command keeps the watch, and where the lease was lost, it is asked for again."""
        watch = self._named(name)
        if watch is None:
            log.info("%s: the settings of this process have no such watch", name)
            return
        self.states[name] = self.state(name)
        lease, boards = pass_leases(watch, self.contexts.folder)
        with self.contexts.store.lease(lease, LEASE_PATIENCE, beside=boards) as claim:
            is_done = claim.is_ours and self.settle(watch)
        state = self.states[name]
        if claim.what in boards and state.failure != PAUSED:  # on the page, and once in the log
            state.failure = PAUSED
            log.info("%s: %s", name, PAUSED)
            self._end(watch)
        if not is_done:
            self._cluster.hint(name)

    def _publish(self, job: RowJob) -> None:
        """One row as a job."""
        watch = self._named(job.watch)
        if watch is not None:
            self.record_outcomes(job.watch, self._rows.publish(watch, job))


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
        state, target = context.state, context.targets_by_address.get(job.target)
        with state.transaction():
            item = state.items.get("row", job.target, job.subject)
            known = state.recall(SOURCE)
            is_free = self.contexts.store.is_free(lease_name(job.target, self.contexts.folder))
        if target is None or not is_free or item is None or item.is_held or item.marked != job.marked:
            return []
        if item.due > context.clock() or known is None or known.definition != context.definition():
            return []
        report = Report(context)
        EntryRows(context, *target, report).publish_admitted(item, job.admitted)
        state.add_outcomes([(one.outcome, one.subject, one.text) for one in report.outcomes])
        if report.outcomes:
            count_later(state, context.targets_by_address)
        return report.outcomes

    def _context(self, watch: Watch) -> WatchContext:
        """This thread's context of a watch, at most a minute old."""
        known: dict[str, tuple[float, Watch, WatchContext]] = self._local.__dict__.setdefault("known", {})
        at, of, context = known.get(watch.name, (0.0, None, None))
        if context is None or of != watch or time.monotonic() - at > FRESH:
            context = self.contexts.open_context(watch)
            known[watch.name] = (time.monotonic(), watch, context)
        context.waivers[:] = stored_waivers(context.state, watch)
        return context
