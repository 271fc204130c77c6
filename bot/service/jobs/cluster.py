"""One process among many: it requests the passes that are due or hinted at, and takes its share of the jobs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bot.errors import StateUnavailable
from bot.service.items import RowJob
from bot.service.jobs.queue import PASS, ROW, Jobs, Timing
from bot.service.jobs.worker import JobWorker

THREADS = 2  # jobs that one process does at once
log = logging.getLogger(__name__)


@dataclass
class Cluster:
    """The jobs of one process.

    `settle` makes a pass over the watch of that name, `publish` publishes one row, and `due` gives the watches whose
    time has come. `quiet` is in seconds: hints of one burst of pushes become one pass.
    """

    jobs: Jobs
    settle: Callable[[str], object]
    publish: Callable[[RowJob], object]
    due: Callable[[], Iterable[str]]
    quiet: float
    threads: int = THREADS
    timing: Timing = field(default_factory=Timing)
    _hinted: set[str] = field(default_factory=set, repr=False)
    _woken: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        tasks: dict[str, Callable[..., object]] = {PASS: self._pass, ROW: self._row}
        self.worker = JobWorker(self.jobs.conninfo, tasks, self.threads, self.timing)

    def start(self) -> None:
        """Begin to ask for passes, and to do jobs."""
        self._thread = threading.Thread(target=self._keep, name="passes", daemon=True)
        self._thread.start()
        self.worker.start()

    def hint(self, watch: str) -> None:
        """A watch may be out of step; returns at once."""
        with self._lock:
            self._hinted.add(watch)
        self._woken.set()

    def watch(self, name: str) -> SharedWatch:
        """One watch, as this process keeps it."""
        return SharedWatch(name, self)

    def stop(self, patience: float) -> bool:
        """Take no more jobs; whether those that run ended in time, and no thread of the bot holds a connection."""
        end = time.monotonic() + patience
        self._stopping.set()
        self._woken.set()
        has_ended = self.worker.stop(patience)
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))
        return has_ended and (self._thread is None or not self._thread.is_alive())

    def _pass(self, watch: str) -> None:
        self.settle(watch)

    def _row(self, **values: str | int) -> None:
        self.publish(RowJob(**values))  # type: ignore[arg-type]

    def _keep(self) -> None:
        while not self._stopping.is_set():
            self._woken.wait(self.timing.look)
            self._woken.clear()
            with self._lock:
                wanted, self._hinted = self._hinted, set()
            try:
                for name in wanted:
                    self.jobs.want_pass(name, self.quiet)
                for name in self.due():
                    self.jobs.want_pass(name)
            except StateUnavailable as failure:
                log.warning("passes are not requested now, trying again: %s", failure)
                with self._lock:
                    self._hinted |= wanted
            except Exception:
                log.exception("passes are not requested now, trying again")


@dataclass(frozen=True)
class SharedWatch:
    """One watch as a process sees it that shares it with others."""

    name: str
    cluster: Cluster

    def start(self) -> None:
        """Ask for a pass: what was pushed while nobody listened is found now."""
        self.cluster.hint(self.name)

    def hint(self) -> None:
        """Something may have changed; returns at once."""
        self.cluster.hint(self.name)

    def stop(self, patience: float) -> bool:
        """Others go on."""
        del patience
        return True
