"""Time limits: for one answer, and for a whole operation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

TIMEOUT = 30.0  # seconds for a connection, and for each read of an answer
DEADLINE = 300.0  # seconds for one operation with all its tries
SLOWEST = 200_000  # bytes a second at which a service may read our request
LISTING = 1800.0  # seconds for a listing with all its pages


@dataclass(frozen=True, slots=True)
class Limits:
    """`timeout` is in seconds, `end` on the monotonic clock."""

    timeout: float = TIMEOUT
    end: float = float("inf")

    @property
    def left(self) -> float:
        """The seconds that are left, never below zero."""
        return max(0.0, self.end - time.monotonic())

    def answer_seconds(self, sent: int) -> float:
        """How long the answer to so many bytes may take to begin: a large commit takes its time."""
        return max(0.05, min(self.timeout + sent / SLOWEST, self.left))


NO_LIMITS = Limits()
_current: ContextVar[Limits] = ContextVar("limits", default=NO_LIMITS)


def current_limits() -> Limits:
    """The limits of the call that runs."""
    return _current.get()


@contextmanager
def within(seconds: float, timeout: float | None = None) -> Iterator[None]:
    """Let what is called in this block end within so many seconds; an outer block that ends before still counts."""
    outer = _current.get()
    limits = Limits(outer.timeout if timeout is None else timeout, min(outer.end, time.monotonic() + seconds))
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)
