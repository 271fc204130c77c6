"""Run a web application at an address until it is stopped, with limits on connections.

A client that opens many, or sends slowly, cannot block others for long. Uvicorn has no time-out for the head of a
request and takes every connection that the system gives it; with 256 descriptors, two hundred idle clients would then
stop the service.
"""

from __future__ import annotations

import asyncio
import resource
import signal
import time
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE = 2  # seconds for answers that are being sent when the server stops
KEEP_ALIVE = 5  # seconds that a connection may be idle between two requests
BACKLOG = 128  # connections that wait at the system to be taken
HEAD_SECONDS = 10.0  # from the first byte of a request, or from the connection, to the end of its head
REQUEST_SECONDS = 60.0  # from there to the last byte of the answer
HEAD_BYTES = 16 * 1024
MOST = 512  # connections, however many descriptors there are


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
        limit_concurrency=connections_allowed(),
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
    """The limit of open connections; above it, the server closes idle ones and answers requests with 503.

    A third of the descriptors: as many again may be on their way, and the rest is for the database and services.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(8, min(MOST, soft // 3))


class PatientProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for each head and each request, and with room for new connections.

    Where all room is taken, the connection that has waited longest without a whole request is closed for a new one;
    where none waits, the new one is answered with 503, and beyond twice the room not at all.
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
        """Tell whether there is no request of which the head is whole."""
        return self.cycle is None or self.cycle.response_complete

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
        if was_waiting and self._deadline is None:
            self._set_deadline(self.head_seconds)
        super().data_received(data)
        if was_waiting and not self.is_waiting:
            self._set_deadline(self.request_seconds)

    def on_response_complete(self) -> None:
        """Leave an idle connection to the server's own time-out."""
        self._drop_deadline()
        self.since = time.monotonic()
        super().on_response_complete()
        if not self.is_waiting:
            self._set_deadline(self.request_seconds)

    def _make_room(self) -> None:
        others = [one for one in self.connections if isinstance(one, PatientProtocol) and one is not self]
        idle = [one for one in others if one.is_waiting and not one.transport.is_closing()]
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
