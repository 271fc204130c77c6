"""Write the changes that deliveries report into the state in a thread: no delivery or page waits for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread

from bot.errors import StateUnavailable
from bot.service.items import Mark
from bot.service.store import Store

log = logging.getLogger(__name__)


@dataclass
class MarkWriter:
    """Marks what deliveries tell of, and then hints the watch; `add` returns at once.

    Marks that the state does not take are dropped: a later pass lists the requests, and the daily sweep finds all else.
    """

    store: Store
    hint: Callable[[str], None]
    clock: Callable[[], float] = time.time
    _waiting: dict[str, set[Mark]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)  # held for a moment only
    _thread: Thread | None = field(default=None, repr=False)

    def add(self, watch: str, found: Iterable[Mark]) -> None:
        """Have these marked, and the watch looked at after it."""
        with self._lock:
            self._waiting.setdefault(watch, set()).update(found)
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._write_all, name="marks", daemon=True)
                with suppress(RuntimeError):  # the system starts no thread now: the next delivery tries again
                    self._thread.start()

    def wait(self, patience: float) -> None:
        """Let what came before be written, for `patience` seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(patience)

    def _write_all(self) -> None:
        while came := self._next():
            for watch, found in came.items():
                self._write(watch, found)

    def _next(self) -> dict[str, set[Mark]]:
        """The marks that came in the meantime; if there are none, this thread ends."""
        with self._lock:
            came, self._waiting = self._waiting, {}
            if not came:
                self._thread = None
            return came

    def _write(self, watch: str, found: Iterable[Mark]) -> None:
        try:
            self.store.mark(watch, found, self.clock())
        except StateUnavailable as failure:
            log.warning("%s: a webhook's change is not noted now; the next full pass finds it: %s", watch, failure)
        except Exception:
            log.exception("%s: a webhook's change is not noted now; the next full pass finds it", watch)
        self.hint(watch)
