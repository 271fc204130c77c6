"""One policy for all platforms: how often and how fast a call to a service is repeated, with tenacity."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    retry_if_exception_type,
    retry_if_result,
)
from tenacity.retry import retry_base

from bot.errors import Stale, Unavailable, Unsettled

T = TypeVar("T")
TRIES = 4
LONGEST_WAIT = 120.0  # seconds that a service may ask us to wait; beyond, the call ends and names the time
UNKNOWN_FATE = 60.0  # seconds to look for a write that may have landed, before it may be sent again
MOST_DIGITS = 12  # of a time in a header; GitHub names seconds since 1970
LONGEST_LOOK = 8.0  # seconds between two looks
LONGEST_STALL = 60.0  # seconds between two tries of a long step, where the service asks for no time
Told = Callable[[float, BaseException | None], None]


@dataclass(frozen=True)
class Backoff:
    """Repeats a call that failed: after as long as the service asks, else `pause` seconds, doubled each time."""

    pause: float = 0.5
    tries: int = TRIES
    longest: float = LONGEST_WAIT
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, call: Callable[[], T]) -> T:
        """Call, and again while the failures pass; raises the last one."""
        return self._retrying(retry_if_exception_type(Unavailable))(call)

    def unless_landed(self, call: Callable[[], T]) -> T:
        """Call, and again while the failures pass, but not where a write may have landed; raises the last one."""
        return self._retrying(retry_if_exception(_may_be_repeated))(call)

    def until_settled(self, look_and_write: Callable[[], T]) -> T:
        """Look and write, and both again where the write failed or was overtaken; raises the last failure."""
        return self._retrying(retry_if_exception_type((Stale, Unavailable)))(look_and_write)

    def while_it_moves(self, step: Callable[[], T], left: Callable[[], object], told: Told) -> T:
        """Do a long step, and again what is left of it; raises the last failure.

        A failure counts only where `left` is what it was at the failure before. `told` hears of each wait.
        """
        stalls = Stalls(left)
        return Retrying(
            retry=retry_if_exception_type((Stale, Unavailable)),
            after=stalls.count,
            wait=lambda state: _retry_after_or(state, min(self.pause * 2.0**stalls.failures, LONGEST_STALL)),
            stop=lambda state: stalls.failures >= self.tries or state.upcoming_sleep > self.longest,
            before_sleep=lambda state: told(state.upcoming_sleep, _failure(state)),
            sleep=self.sleep,
            reraise=True,
        )(step)

    def _retrying(self, kind: retry_base) -> Retrying:
        return Retrying(retry=kind, wait=self.seconds, stop=self._is_over, sleep=self.sleep, reraise=True)

    def seconds(self, state: RetryCallState) -> float:
        """The wait before the next try."""
        return _retry_after_or(state, self.pause * 2.0 ** (state.attempt_number - 1))

    def _is_over(self, state: RetryCallState) -> bool:
        return state.attempt_number >= self.tries or (_retry_after(state) or 0.0) > self.longest

    def landed(self, failure: Unavailable, look: Callable[[], T | None], seconds: float) -> T:
        """The result, found by `look`, of a write whose answer was lost; raises the failure if none is found in time.

        A service may work on a large commit long after it, or something before it, gave up waiting.
        """
        found = self.look_until(look, seconds) if failure.may_have_landed else None
        if found is None:
            raise failure
        return found

    def look_until(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """The result of `look`, which is called repeatedly for so many seconds; None if it finds nothing.

        A look that fails says nothing: the next one may.
        """
        return Retrying(
            retry=retry_if_result(_is_none) | retry_if_exception_type(Unavailable),
            wait=lambda state: min(LONGEST_LOOK, self.pause * 2.0 ** (state.attempt_number - 1)),
            stop=lambda state: state.idle_for >= seconds,
            sleep=self.sleep,
            retry_error_callback=lambda _: None,
        )(look)


@dataclass
class Stalls:
    """Counts the failures one after the other between which nothing moved: `left` says how much is still to be done."""

    left: Callable[[], object]
    failures: int = 0
    known: object = None

    def count(self, _: RetryCallState) -> None:
        """Count one more failure, or start again at zero."""
        left = self.left()
        self.failures = self.failures + 1 if left == self.known else 0
        self.known = left


def seconds_in(text: str) -> float | None:
    """The number of seconds that a header names, None if it is not such a number."""
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _retry_after_or(state: RetryCallState, seconds: float) -> float:
    """The seconds that the service asked for, else these."""
    asked = _retry_after(state)
    return seconds if asked is None else asked


def _retry_after(state: RetryCallState) -> float | None:
    """The seconds that the service asked for."""
    failure = _failure(state)
    return failure.retry_after if isinstance(failure, Unavailable | Unsettled) else None


def _may_be_repeated(failure: BaseException) -> bool:
    return isinstance(failure, Unavailable) and not failure.may_have_landed


def _is_none(found: object) -> bool:
    return found is None
