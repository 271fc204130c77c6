"""Watches that several processes share through PostgreSQL: passes, rows, due items, and each watch's state."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from bot.server.health import State, state_from, state_text
from bot.service.config import Watch
from bot.service.import_lease import pass_leases
from bot.service.jobs.budgets import SharedBudgets
from bot.service.jobs.cluster import Cluster
from bot.service.jobs.queue import PASS, ROW, Jobs, Timing
from bot.service.jobs.rows import RowJobs
from bot.service.row_jobs import RowJob

if TYPE_CHECKING:
    from bot.server.service import Service

LEASE_WAIT = 10.0  # seconds that a pass waits for a command that keeps its watch
SHORTEST_WAIT = 5.0  # seconds between two passes without a hint
log = logging.getLogger(__name__)


class Sharing:
    """The part of one process in the work on all watches."""

    def __init__(self, service: Service, jobs: Jobs, timing: Timing | None = None) -> None:
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

    def share_state(self, name: str) -> None:
        """Tell the other processes how a watch stands, and when the last pass over it ended."""
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
        if since >= watch.settle_every:
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
            self.share_state(name)

    def _publish(self, job: RowJob) -> None:
        """One row as a job."""
        watch = self._named(job.watch)
        for outcome in () if watch is None else self._rows.publish(watch, job):
            self._service.record_outcome(job.watch, outcome)
