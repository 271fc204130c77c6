"""Reload the settings of a running service when their file changes or a SIGHUP arrives."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from bot.errors import BotError
from bot.reporting.escape import visible

EVERY = 5.0  # seconds between two looks at the file
Loaded = TypeVar("Loaded")
Stamp = tuple[int, int, int]
log = logging.getLogger(__name__)


class Reloader(Generic[Loaded]):
    """Reads a file again when it changed, and hands on what it says.

    `load` reads and checks it, and raises a BotError for what is refused; `apply` takes the new state over, and may
    refuse it in the same way. A refusal is logged once and kept as `refusal`; the settings in force stay in force.
    `again` is after how many seconds a file that did not change is read all the same, None for never.
    """

    def __init__(
        self, path: Path, load: Callable[[Path], Loaded], apply: Callable[[Loaded], None], again: float | None = None
    ) -> None:
        self.path, self.refusal = path, ""
        self._again, self._next = again, time.monotonic() + (again or 0.0)
        self._load, self._apply = load, apply
        self._seen = stamp_of(path)
        self._asked, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def look(self, *, always: bool = False) -> bool:
        """Read the file again where it changed, or `always`; whether a new state is in force."""
        stamp = stamp_of(self.path)
        if stamp == self._seen and not always:
            return False
        self._seen = stamp
        try:
            self._apply(self._load(self.path))
        except BotError as refused:
            self.refusal = " ".join(visible(line) for line in str(refused).splitlines())
            log.error("the new settings are not used, the old ones stay in force: %s", self.refusal)  # noqa: TRY400
            return False
        except Exception:
            self.refusal = "internal error; the log has the traceback"
            log.exception("the new settings are not used, the old ones stay in force")
            return False
        self.refusal = ""
        log.info("the settings were read again")
        return True

    def start(self) -> None:
        """Look every few seconds, and at once after a SIGHUP; only the main thread can take that signal."""
        if hasattr(signal, "SIGHUP"):
            with suppress(ValueError):
                signal.signal(signal.SIGHUP, lambda *_: self._asked.set())
        self._thread = threading.Thread(target=self._keep, name="settings", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a read that is under way is left alone."""
        self._stopping.set()
        self._asked.set()

    def _keep(self) -> None:
        while not self._stopping.is_set():
            was_asked = self._asked.wait(EVERY)
            self._asked.clear()
            is_due = self._again is not None and time.monotonic() >= self._next
            if is_due:
                self._next = time.monotonic() + (self._again or 0.0)
            if not self._stopping.is_set():
                self.look(always=was_asked or is_due)


def stamp_of(path: Path) -> Stamp | None:
    """A value that changes when the file changes; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
