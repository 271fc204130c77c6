"""The remaining requests of one account: learned from answers, with a reserve for people before bulk work.

All workers of a process share one budget for each service, account and kind of request. What other processes spend
shows in the next answer; those of one database also tell each other. Bulk work stops where half of a window is left, so
that whoever waits for an answer gets one.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from bot.errors import Unavailable

LONGEST_WINDOW = 3600.0  # seconds; a wrong clock or service blocks nobody for longer
BULK_SHARE = 0.5  # of a window that bulk work leaves to people
SAME_WINDOW = 5.0  # seconds by which two processes may see the end of one window apart
_is_bulk: ContextVar[bool] = ContextVar("is_bulk", default=False)


@contextmanager
def bulk_work() -> Iterator[None]:
    """Requests in this block are bulk work: they can wait, because no person waits for them."""
    token = _is_bulk.set(True)
    try:
        yield
    finally:
        _is_bulk.reset(token)


@dataclass(frozen=True, slots=True)
class Window:
    """What an answer says: so many requests of `limit` are left until `ends`, on the clock of the budgets."""

    limit: int
    remaining: int
    ends: float


@dataclass
class Budgets:
    """The windows of all services and accounts, as their last answers told; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _windows: dict[str, Window] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def learn(self, key: str, limit: int | None, remaining: int, seconds: float) -> None:
        """Note what an answer says; without a limit, the most that was ever left counts as the whole of it."""
        with self._lock:
            known = self._windows.get(key)
            whole = limit or max(remaining, known.limit if known else 0)
            self._windows[key] = Window(whole, remaining, self.clock() + min(seconds, LONGEST_WINDOW))

    def take_over(self, key: str, limit: int, remaining: int, seconds: float) -> None:
        """Note what another process knows of one that ends in so many seconds; of the same one the least is left."""
        with self._lock:
            known, ends = self._windows.get(key), self.clock() + seconds
            if known is None or known.ends < ends - SAME_WINDOW:
                self._windows[key] = Window(limit, remaining, ends)
            elif abs(known.ends - ends) <= SAME_WINDOW:
                self._windows[key] = Window(known.limit, min(remaining, known.remaining), known.ends)

    def spend(self, key: str, service: str) -> None:
        """Count one request. Raises Unavailable, with the seconds to wait, where none may be sent now."""
        with self._lock:
            known = self._windows.get(key)
            left = known.ends - self.clock() if known else 0.0
            if known is None or left <= 0:
                self._windows.pop(key, None)
                return
            floor = int(known.limit * BULK_SHARE) if _is_bulk.get() else 0
            if known.remaining <= floor:
                why = "bulk work used its half of the requests" if floor else "all requests of this window are used"
                raise Unavailable(service, f"{why}; the next window begins in {left:.0f} s", retry_after=max(left, 1.0))
            self._windows[key] = Window(known.limit, known.remaining - 1, known.ends)

    def left(self) -> dict[str, Window]:
        """The windows as they are now."""
        with self._lock:
            return {key: one for key, one in self._windows.items() if one.ends > self.clock()}


BUDGETS = Budgets()


def key_of(host: str, secret: str, kind: str) -> str:
    """The name of one budget; nothing of the secret can be read in it."""
    return f"{host} {hashlib.sha256(secret.encode()).hexdigest()[:12]} {kind}"
