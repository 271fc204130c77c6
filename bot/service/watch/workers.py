"""The threads of one process: one for each watch, so that none is settled twice at once, and one that writes marks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread

from bot.errors import BotError, StateUnavailable, Unavailable
from bot.service.store.items import Mark
from bot.service.store.state import Store
from bot.service.waits import AFTER_HINT, AFTER_OUTAGE

log = logging.getLogger(__name__)


@dataclass
class WatchWorker:
    """Keeps one watch settled: at the start, after hints, every `every` seconds, and soon after an outage.

    `settle` makes one pass; its failures are logged, and end with the next pass. All hints that come during a pass lead
    to one more pass.
    """

    name: str
    settle: Callable[[], object]
    every: float
    quiet: float = AFTER_HINT
    _hinted: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin with a pass, which finds what was pushed while nobody listened."""
        self._thread = threading.Thread(target=self._keep, name=f"watch {self.name}", daemon=True)
        self._thread.start()

    def hint(self) -> None:
        """Note that something may have changed; returns at once."""
        self._hinted.set()

    def stop(self, patience: float) -> bool:
        """Ask the thread to end, and wait `patience` seconds for a running pass; tell whether it ended in time."""
        self._stopping.set()
        self._hinted.set()
        if self._thread is not None:
            self._thread.join(patience)
        return self._thread is None or not self._thread.is_alive()

    def _keep(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            if self._hinted.wait(pause):
                self._stopping.wait(self.quiet)
            if self._stopping.is_set():
                return
            self._hinted.clear()
            pause = self._settle_once()

    def _settle_once(self) -> float:
        """Make one pass; returns the seconds until the next one without a hint."""
        try:
            self.settle()
        except (Unavailable, StateUnavailable) as failure:
            log.warning("%s: %s", self.name, failure)
            asked = getattr(failure, "retry_after", None)
            return min(self.every, AFTER_OUTAGE if asked is None else asked)
        except BotError as failure:
            log.error("%s: %s", self.name, failure.in_one_line)  # noqa: TRY400 - one line for what has one cause
        except Exception:
            log.exception("%s: internal error", self.name)
        return self.every


@dataclass
class MarkWriter:
    """Writes the marks of deliveries, and then hints the watch; `add` returns at once.

    Marks that the state does not take are dropped: a later pass lists the requests, and the daily sweep finds all else.
    """

    store: Store
    hint: Callable[[str], None]
    clock: Callable[[], float] = time.time
    _waiting: dict[str, set[Mark]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)  # held for a moment only
    _thread: Thread | None = field(default=None, repr=False)

    def add(self, watch: str, found: Iterable[Mark]) -> None:
        """Queue marks for a watch, which is hinted once they are written."""
        with self._lock:
            self._waiting.setdefault(watch, set()).update(found)
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._write_all, name="marks", daemon=True)
                with suppress(RuntimeError):  # the system starts no thread now: the next delivery tries again
                    self._thread.start()

    def wait(self, patience: float) -> None:
        """Wait `patience` seconds for all queued marks to be written."""
        with self._lock:
            thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(patience)

    def _write_all(self) -> None:
        while came := self._next():
            for watch, found in came.items():
                self._write(watch, found)

    def _next(self) -> dict[str, set[Mark]]:
        """The marks that were queued meanwhile; if there are none, the thread ends."""
        with self._lock:
            came, self._waiting = self._waiting, {}
            if not came:
                self._thread = None
            return came

    def _write(self, watch: str, found: Iterable[Mark]) -> None:
        try:
            self.store.of(watch).items.mark(found, self.clock())
        except StateUnavailable as failure:
            log.warning("%s: a webhook's change is not noted now; the next full pass finds it: %s", watch, failure)
        except Exception:
            log.exception("%s: a webhook's change is not noted now; the next full pass finds it", watch)
        self.hint(watch)
