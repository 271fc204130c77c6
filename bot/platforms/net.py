"""Calls to services: repeated after failures, ended in time, counted against the budget of their account.

All workers of a process share one budget for each service, account and kind of request. What other processes spend
shows in the next answer. Bulk work stops where half of a window is left, so that a person who waits for an answer gets
one. A write comes after a check that this process still may, and a note of the intention.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import msgspec

from bot.errors import Stale, Unavailable, Unsettled

if TYPE_CHECKING:
    from tenacity import RetryCallState  # imported where it is used: what is local calls no service

T = TypeVar("T")
CALL_TRIES = 4
LONGEST_WAIT = 120.0  # seconds that a service may ask us to wait; beyond, the call ends and names the time
UNKNOWN_FATE = 60.0  # seconds in which a write that may have landed shows, before it may be sent again
LOOK_IN_LINE = 3.0  # seconds of it in which a service looks at once; other work goes on in the rest
MOST_DIGITS = 12  # of a time in a header; GitHub names seconds since 1970
LONGEST_LOOK = 8.0  # seconds between two looks
LONGEST_PAUSE = 60.0  # seconds between two tries, where the service asks for no time
OnWait = Callable[[float, BaseException | None], None]
QUOTA_WAIT = 900.0  # seconds that a kind of write waits after a refusal that names no time
LONGEST_WINDOW = 3600.0  # seconds; a wrong clock or service blocks nobody for longer
BULK_SHARE = 0.5  # of a window that bulk work leaves to people
_is_bulk: ContextVar[bool] = ContextVar("is_bulk", default=False)
TIMEOUT = 30.0  # seconds for a connection, and for each read of an answer
DEADLINE = 300.0  # seconds for one operation with all its tries
SLOWEST = 200_000  # bytes a second at which a service may read our request
MOST_BYTES = 256_000_000  # of one answer of an API, unpacked; GitHub's largest has 100 MB in base64
LISTING = 1800.0  # seconds for a listing with all its pages


NO_CONNECTION = "no connection"  # to the service as a whole, whatever it was asked for

# By a part of the name that the libraries give to a failure, the first that fits; their names say nothing to a person.
IN_WORDS = (
    ("Timeout", "no answer in time"),
    ("Proxy", "the proxy let nothing through"),
    ("SSL", "no secure connection"),
    ("ConnectError", NO_CONNECTION),
    ("ConnectionError", NO_CONNECTION),
    ("LocalProtocol", "the request cannot be sent"),
    ("Redirects", "it redirects without an end"),
    ("", "the connection broke off"),
)


def in_words(failure: BaseException) -> str:
    """Why a call got no complete answer, in words."""
    return next(words for part, words in IN_WORDS if part in type(failure).__name__)


def is_outage(failure: BaseException) -> bool:
    """Tell whether a service failed, so that the same call may succeed later."""
    return isinstance(failure, Unavailable)


def wrote_nothing(failure: BaseException) -> bool:
    """Tell whether a service failed before it can have carried out what was sent."""
    return isinstance(failure, Unavailable) and not failure.may_have_landed


def is_overtaken(failure: BaseException) -> bool:
    """Tell whether a service failed, or somebody else was faster: it may help to look and decide again.

    A write that may still show is left to a later pass.
    """
    return isinstance(failure, Stale) or (isinstance(failure, Unavailable) and not failure.unknown_for)


@dataclass(frozen=True)
class Backoff:
    """Repeats a call that failed: after as long as the service asks, else `pause` seconds, doubled each time.

    It ends after `tries` failures, or where the service asks to wait for more than `longest` seconds.
    """

    pause: float = 0.5
    tries: int = CALL_TRIES
    longest: float = LONGEST_WAIT
    sleep: Callable[[float], None] = time.sleep

    def __call__(
        self,
        call: Callable[[], T],
        passes: Callable[[BaseException], bool] = is_outage,
        on_wait: OnWait = lambda *_: None,
    ) -> T:
        """Make a call, and repeat it after each failure that `passes`; raises the last failure.

        `on_wait` is told of each wait.
        """
        from tenacity import Retrying, retry_if_exception

        return Retrying(
            retry=retry_if_exception(passes),
            wait=lambda state: _seconds(state, min(self.pause * 2.0 ** (state.attempt_number - 1), LONGEST_PAUSE)),
            stop=lambda state: state.attempt_number >= self.tries or _seconds(state, 0.0) > self.longest,
            before_sleep=lambda state: on_wait(state.upcoming_sleep, _failure(state)),
            sleep=self.sleep,
            reraise=True,
        )(call)

    def poll(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """The result of `look`, which is called again and again for so many seconds; None if it finds nothing.

        A look that fails says nothing: the next one may find something.
        """
        from tenacity import Retrying, retry_if_exception, retry_if_result

        return Retrying(
            retry=retry_if_result(lambda found: found is None) | retry_if_exception(is_outage),
            wait=lambda state: min(LONGEST_LOOK, self.pause * 2.0 ** (state.attempt_number - 1)),
            stop=lambda state: state.idle_for >= seconds,
            sleep=self.sleep,
            retry_error_callback=lambda _: None,
        )(look)


def seconds_in(text: str) -> float | None:
    """The number of seconds in a header; None if it holds no such number."""
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _seconds(state: RetryCallState, seconds: float) -> float:
    """The seconds that the service asked for, else the given ones."""
    failure = _failure(state)
    asked = failure.retry_after if isinstance(failure, Unavailable | Unsettled) else None
    return seconds if asked is None else asked


@contextmanager
def bulk_work() -> Iterator[None]:
    """Requests in this block are bulk work: no person waits for them."""
    token = _is_bulk.set(True)
    try:
        yield
    finally:
        _is_bulk.reset(token)


class Window(msgspec.Struct, frozen=True, gc=False):
    """The budget in an answer: `remaining` of `limit` requests are left until `ends`, on the clock of the budgets."""

    limit: int
    remaining: int
    ends: float


class Hold(msgspec.Struct, frozen=True, gc=False):
    """A kind of write that a service refused: none is sent until `ends`, on the clock of the budgets; `why` says so."""

    ends: float
    why: str


@dataclass
class Budgets:
    """The windows of all services and accounts from their last answers; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _windows: dict[str, Window] = field(default_factory=dict, repr=False)
    _holds: dict[str, Hold] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def learn(self, key: str, limit: int | None, remaining: int, seconds: float) -> None:
        """Note the budget in an answer; where it names no limit, that is the most that was ever left."""
        with self._lock:
            known = self._windows.get(key)
            whole = limit or max(remaining, known.limit if known else 0)
            self._windows[key] = Window(whole, remaining, self.clock() + min(seconds, LONGEST_WINDOW))

    def hold(self, key: str, what: str, said: str, seconds: float | None) -> Hold:
        """Let no write of a kind be sent for so many seconds, QUOTA_WAIT where the service named no time.

        `what` names the kind, `said` is what the service said. Services have quotas for kinds of writes that no header
        shows: what was refused once is refused to everybody of this account.
        """
        left = min(QUOTA_WAIT if seconds is None else seconds, LONGEST_WINDOW)
        until = datetime.fromtimestamp(time.time() + left, UTC)
        hold = Hold(self.clock() + left, f"{what} wait until {until:%H:%M} UTC, because it said: {said}")
        with self._lock:
            self._holds[key] = hold
        return hold

    def check_hold(self, key: str, service: str) -> None:
        """Raise Unavailable with the seconds to wait where no write of this kind may be sent now."""
        with self._lock:
            hold = self._holds.get(key)
            left = hold.ends - self.clock() if hold else 0.0
            if hold is None or left <= 0:
                self._holds.pop(key, None)
                return
        raise Unavailable(service, hold.why, retry_after=max(left, 1.0))

    def spend(self, key: str, service: str) -> None:
        """Count one request. Raises Unavailable with the seconds to wait where none may be sent now."""
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


BUDGETS = Budgets()


def key_of(host: str, secret: str, kind: str) -> str:
    """The name of a budget, from which the secret cannot be read."""
    return f"{host} {hashlib.sha256(secret.encode()).hexdigest()[:12]} {kind}"


class Limits(msgspec.Struct, frozen=True, gc=False):
    """The limits of a call: `timeout` in seconds for each answer, `end` on the monotonic clock for all."""

    timeout: float = TIMEOUT
    end: float = float("inf")

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self.end - time.monotonic())

    def answer_seconds(self, sent: int) -> float:
        """The seconds in which the answer to so many bytes must begin: a large commit takes its time."""
        return max(0.05, min(self.timeout + sent / SLOWEST, self.left))


NO_LIMITS = Limits()
_current: ContextVar[Limits] = ContextVar("limits", default=NO_LIMITS)


def current_limits() -> Limits:
    """The limits of the running call."""
    return _current.get()


@contextmanager
def within(seconds: float, timeout: float | None = None) -> Iterator[None]:
    """Limit the time of all calls in this block; an outer block that ends sooner still counts."""
    outer = _current.get()
    limits = Limits(outer.timeout if timeout is None else timeout, min(outer.end, time.monotonic() + seconds))
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


@dataclass(kw_only=True)
class ServiceClient:
    """The base of the clients of services: how long they wait, and which accounts are ours.

    All times are in seconds: `pause` before the second try, `timeout` for each answer to begin, `deadline` for one
    operation with all its tries, `unknown_fate` until a write shows that may have landed, of which `look_in_line` are
    waited for at once. What `former_accounts` wrote counts as ours.
    """

    pause: float = 0.5
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    timeout: float = TIMEOUT
    deadline: float = DEADLINE
    unknown_fate: float = UNKNOWN_FATE
    look_in_line: float = UNKNOWN_FATE
    former_accounts: AbstractSet[str] = frozenset()

    @property
    def user(self) -> str:
        """Our account's name; requests and comments are ours only when it wrote them."""
        raise NotImplementedError

    @property
    def accounts(self) -> list[str]:
        """Our account, and those that we had before."""
        return [self.user, *sorted(self.former_accounts)]

    def as_ours(self, name: str) -> str:
        """The name of an account, where our own name stands for a former account of ours."""
        return self.user if name in self.former_accounts else name

    @property
    def backoff(self) -> Backoff:
        """The policy for repeated calls."""
        return Backoff(self.pause, sleep=self.sleep)

    @property
    def unknown_until(self) -> float:
        """Seconds after which a small write that somebody began either shows or never will."""
        return self.timeout + self.unknown_fate

    def sent_once(self, send: Callable[[], T], find: Callable[[], T | None]) -> T:
        """The result of a write that is sent once; where its answer was lost, what `find` finds of it.

        A service may work on a large commit for `unknown_fate` seconds after it, or something in between, gave up
        waiting. After `look_in_line` of them the failure is raised, with the rest as `unknown_for`.
        """
        try:
            return send()
        except Unavailable as failure:
            at_once = min(self.unknown_fate, self.look_in_line)
            found = self.backoff.poll(find, at_once) if failure.may_have_landed else None
            if found is None:
                failure.unknown_for = self.unknown_fate - at_once if failure.may_have_landed else 0.0
                raise
            return found


@dataclass
class AnswerCounts:
    """Counts answers by service and status; `remaining` is the budget that the last answer named."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    remaining: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count(self, service: str, status: int, remaining: float | None = None) -> None:
        """Note one answer."""
        with self._lock:
            self.answers[service, str(status)] += 1
            if remaining is not None:
                self.remaining[service] = remaining

    def seen(self) -> tuple[dict[tuple[str, str], int], dict[str, float]]:
        """The counts, and what is left of the budgets."""
        with self._lock:
            return dict(self.answers), dict(self.remaining)


ANSWERS = AnswerCounts()


# Before a write: this process still may, no other one writes the same, and a large commit is several.

_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())
Intend = Callable[[str, float], AbstractContextManager[object]]
FILES, BYTES = 100, 20_000_000  # of one commit; a single larger file is a commit of its own


@contextmanager
def checked_lease(check: Callable[[], None]) -> Iterator[None]:
    """Have `check` called before each write in this block; it raises LeaseLost where another process may write."""
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)


def check_lease() -> None:
    """See that this process may still write. Raises LeaseLost."""
    for check in _checks.get():
        check()


def no_intent(_: str, __: float) -> AbstractContextManager[object]:
    """Allow the write: there is one process only, and it remembers nothing."""
    return nullcontext()


def held(intend: Intend, place: str, text: str, seconds: float) -> AbstractContextManager[object]:
    """Keep other processes from writing about the mark of a text while it is written at a place.

    Raises Unsettled where another process writes about it. A process that was killed meanwhile counts for `seconds`:
    what it sent shows by then, or never.
    """
    from bot.publishing.publication import find_marker  # only who writes loads it: it takes most of a command's start

    mark = find_marker(text)
    return nullcontext() if mark is None else intend(f"{place} {mark.name}", seconds)


def in_chunks(
    files: Iterable[tuple[str, bytes | None]], most: int = FILES, most_bytes: int = BYTES
) -> Iterator[dict[str, bytes | None]]:
    """The files (None deletes one) in their order, at most `most` and `most_bytes` in each part; no part is empty."""
    part: dict[str, bytes | None] = {}
    size = 0
    for path, data in files:
        more = len(data or b"")
        if part and (len(part) == most or size + more > most_bytes):
            yield part
            part, size = {}, 0
        part[path] = data
        size += more
    if part:
        yield part


def part_title(title: str, number: int, of: int) -> str:
    """The title of one part's commit."""
    return title if of == 1 else f"{title} ({number} of {of})"
