"""Run a web application with limits on connections, and reload the settings when their file changes.

A client that opens many connections, or sends slowly, cannot block others for long. Uvicorn has no time-out for the
head of a request and takes every connection that the system gives it; with 256 descriptors, two hundred idle clients
would then stop the service.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.errors import BotError
from bot.reporting.escape import visible
from bot.service.waits import SETTINGS_EVERY, SETTINGS_RETRY

Loaded = TypeVar("Loaded")
Stamp = tuple[int, int, int]
log = logging.getLogger(__name__)


class Reloader(Generic[Loaded]):
    """Reads a file again when it changed, and hands on what it says.

    `load` reads and checks it, and raises a BotError for what is refused; `apply` takes the new state over, and may
    refuse it in the same way. A refusal is logged once and kept as `refusal`; the settings in force stay in force.
    `again` is after how many seconds a file that did not change is read all the same, None for never, and `refused`
    after how many seconds if it was refused.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[Path], Loaded],
        apply: Callable[[Loaded], None],
        again: float | None = None,
        refused: float = SETTINGS_RETRY,
    ) -> None:
        self.path, self.refusal = path, ""
        self._again, self._refused, self._read = again, refused, time.monotonic()
        self._load, self._apply = load, apply
        self._seen = stamp_of(path)
        self._asked, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def look(self, *, always: bool = False) -> bool:
        """Read the file again if it changed, if its time has come, or `always`; whether a new state is in force."""
        stamp, before = stamp_of(self.path), self.refusal
        is_asked = always or stamp != self._seen
        if not is_asked and not self._is_due():
            return False
        self._seen, self._read = stamp, time.monotonic()
        try:
            self._apply(self._load(self.path))
        except BotError as refused:
            self.refusal = visible(refused.in_one_line)
            if is_asked or self.refusal != before:
                log.error("the new settings are not used, the old ones stay in force: %s", self.refusal)  # noqa: TRY400
            return False
        except Exception:
            self.refusal = "internal error; the log has the traceback"
            log.exception("the new settings are not used, the old ones stay in force")
            return False
        self.refusal = ""
        log.info("the settings were read again")
        return True

    def _is_due(self) -> bool:
        """Tell whether the file is to be read again although it did not change."""
        wait = self._refused if self.refusal else self._again
        return wait is not None and time.monotonic() - self._read >= wait

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
            was_asked = self._asked.wait(SETTINGS_EVERY)
            self._asked.clear()
            if not self._stopping.is_set():
                self.look(always=was_asked)


def stamp_of(path: Path) -> Stamp | None:
    """A value that changes when the file changes; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


GRACE = 2  # seconds for answers that are being sent when the server stops
KEEP_ALIVE = 5  # seconds that a connection may be idle between two requests
BACKLOG = 128  # connections that wait at the system to be taken
HEAD_SECONDS = 10.0  # from the first byte of a request, or from the connection, to the end of its head
REQUEST_SECONDS = 60.0  # from there to the last byte of the answer
HEAD_BYTES = 16 * 1024
MOST_CONNECTIONS = 512  # connections, however many descriptors there are


def run(app: ASGIApp, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM.

    There is no access log: the secret may stand in a delivery's address. Above the limit of requests at once the answer
    is 503.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEEP_ALIVE,
        limit_concurrency=2 * connections_allowed(),  # those that were closed to make room end a moment later
        h11_max_incomplete_event_size=HEAD_BYTES,
        backlog=BACKLOG,
        http=PatientProtocol,
        ws="none",
    )
    # The server raises the signal that ended it once more, for a handler of the bot: the caller still has to tidy up.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        uvicorn.Server(config).run()
    finally:
        signal.signal(signal.SIGTERM, before)


def connections_allowed() -> int:
    """The limit of open connections; above it, the server closes idle ones, and at twice of it answers with 503.

    A third of the descriptors: as many again may be on their way, and the rest is for the database and services.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(8, min(MOST_CONNECTIONS, soft // 3))


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for each head and each request, and with room for new connections.

    Where all room is taken, the connection that has waited longest without a whole request (its head or its body), or
    with an answer that its client does not read, is closed for a new one; where none waits, more are taken, up to twice
    the room.
    """

    head_seconds = HEAD_SECONDS
    request_seconds = REQUEST_SECONDS

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None
        self._allowed = connections_allowed()

    @property
    def is_waiting(self) -> bool:
        """Tell whether no request has a complete head yet."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_unread(self) -> bool:
        """Tell whether the client has not read all of the last answer."""
        return self.transport.get_write_buffer_size() > 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and close an idle one where there are too many."""
        super().connection_made(transport)
        self._set_deadline(self.head_seconds)
        if len(self.connections) >= self._allowed:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        super().connection_lost(exc)
        self._drop_deadline()

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request that begins has its own deadline, and one whose head is whole a longer one."""
        was_waiting = self.is_waiting
        if was_waiting and (self._deadline is None or self.timeout_keep_alive_task is not None):
            self._set_deadline(self.head_seconds)
        super().data_received(data)
        if was_waiting and not self.is_waiting:
            self._set_deadline(self.request_seconds)

    def on_response_complete(self) -> None:
        """Leave an idle connection to the server's own time-out, but not an answer that nobody reads."""
        if not self.is_unread:
            self._drop_deadline()
        self.since = time.monotonic()
        super().on_response_complete()
        if not self.is_waiting:
            self._set_deadline(self.request_seconds)

    def _make_room(self) -> None:
        others = [one for one in self.connections if isinstance(one, PatientProtocol) and one is not self]
        # There is no whole request to answer: a head or a body is still to come.
        idle = [one for one in others if one.is_waiting or one.cycle.more_body]
        idle = [one for one in idle if one.is_unread or not one.transport.is_closing()]
        if idle:
            min(idle, key=lambda one: one.since).transport.abort()
        elif len(self.connections) > 2 * self._allowed:
            self.transport.abort()

    def _set_deadline(self, seconds: float) -> None:
        self._drop_deadline()
        self._deadline = self.loop.call_later(seconds, self._end)

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.abort()
