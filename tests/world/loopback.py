"""The HTTP server below each service of the tests."""

from __future__ import annotations

import sys
from contextlib import suppress
from http.server import ThreadingHTTPServer
from socket import SHUT_RDWR, create_connection, socket
from threading import Event
from typing import Any
from weakref import WeakSet


class LoopbackServer(ThreadingHTTPServer):
    """A server to whose client anything may happen: one that is killed or hangs up is no error of the server."""

    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        self.connections = WeakSet[socket]()
        self.is_over, self.has_ended = False, Event()
        self.has_ended.set()
        super().__init__(*args)

    def get_request(self) -> tuple[socket, Any]:
        connection, address = super().get_request()
        self.connections.add(connection)
        return connection, address

    def serve_forever(self, poll_interval: float = 0.0) -> None:
        """Wait for connections without a look at the time: hundreds of looks a second would cost more than a story."""
        self.has_ended.clear()
        try:
            while not self.is_over:
                self.handle_request()
        finally:
            self.has_ended.set()

    def shutdown(self) -> None:
        """End `serve_forever`, which a last connection wakes up; a test may have ended it before.

        It has ended then: if its socket were closed before, it might wait for whatever gets the number of that.
        """
        if not self.is_over:
            self.is_over = True
            create_connection(self.server_address[:2]).close()
        self.has_ended.wait()

    def verify_request(self, request: object, client_address: object) -> bool:
        return not self.is_over

    def server_close(self) -> None:
        """End the connections, too: a client that keeps one would keep its thread, and all that was served."""
        super().server_close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the traceback of an error, but for a connection that the other side ended."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
