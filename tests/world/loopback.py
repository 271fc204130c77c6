"""The HTTP server below each service of the tests."""

from __future__ import annotations

import sys
from http.server import ThreadingHTTPServer


class LoopbackServer(ThreadingHTTPServer):
    """A server to whose client anything may happen: one that is killed or hangs up is no error of the server."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the traceback of an error, but for a connection that the other side ended."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
