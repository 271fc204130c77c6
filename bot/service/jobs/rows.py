"""Publish one row as a job: the safety catch allowed it, and any process may take it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.service.config import Watch
from bot.service.context import ContextFactory, WatchContext
from bot.service.import_lease import lease_name
from bot.service.outcome import Outcome, Report
from bot.service.row_jobs import RowJob
from bot.service.rows import RowPublisher
from bot.service.waivers import parse_waivers

FRESH = 60.0  # seconds for which a thread reuses what it read of the targets


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
        RowPublisher(context, *target, report).publish_admitted(item, job.admitted)
        store.add_outcomes(watch.name, [(one.outcome, one.subject, one.text) for one in report.outcomes])
        return report.outcomes

    def _context(self, watch: Watch) -> WatchContext:
        """This thread's context of a watch, at most a minute old."""
        known: dict[str, tuple[float, Watch, WatchContext]] = self._local.__dict__.setdefault("known", {})
        at, of, context = known.get(watch.name, (0.0, None, None))
        if context is None or of != watch or time.monotonic() - at > FRESH:
            context = self.contexts.open_context(watch)
            known[watch.name] = (time.monotonic(), watch, context)
        context.waivers[:] = parse_waivers(context.store.cursor(watch.name, "waivers"))
        return context
