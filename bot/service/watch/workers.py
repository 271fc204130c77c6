"""One thread for each watch: it takes hints and calls `settle`, so a watch is never settled twice at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.errors import BotError, Unavailable

QUIET = 1.0  # seconds of collecting after a hint: a burst of pushes becomes one or two settles
SOON = 60.0  # seconds after an outage for which the service named no end
log = logging.getLogger(__name__)


@dataclass
class WatchWorker:
    """Keeps one watch settled: at the start, after hints, every `every` seconds, and soon after an outage.

    `settle` brings the watch to the state that its source implies; its failures are logged, and end
    with the next settle. Hints that come while it runs are one more run.
    """

    name: str
    settle: Callable[[], object]
    every: float
    quiet: float = QUIET
    _hinted: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin, with a settle: what was pushed while nobody listened is found now."""
        self._thread = threading.Thread(target=self._keep, name=f"watch {self.name}", daemon=True)
        self._thread.start()

    def hint(self) -> None:
        """Something may have changed; returns at once."""
        self._hinted.set()

    def stop(self, patience: float) -> bool:
        """Ask to end, and wait `patience` seconds for a settle that runs; whether it ended in time."""
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
        """Settle; the seconds until the next one that nobody asks for."""
        try:
            self.settle()
        except Unavailable as failure:
            log.warning("%s: %s", self.name, failure)
            return min(self.every, SOON if failure.retry_after is None else failure.retry_after)
        except BotError as failure:
            log.error("%s: %s", self.name, failure)  # noqa: TRY400 - one line for what has one cause
        except Exception:
            log.exception("%s: internal error", self.name)
        return self.every
