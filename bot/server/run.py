"""Run a web application at an address until it is stopped; refuse an address where strangers could write."""

from __future__ import annotations

import ipaddress
import signal
from collections.abc import Sequence

import uvicorn
from starlette.types import ASGIApp

from bot.errors import CallError
from bot.server.connections import HEAD_BYTES, PatientProtocol, connections_allowed

GRACE = 2  # seconds for answers that are being sent when the server stops
KEEP_ALIVE = 5  # seconds that a connection may be idle between two requests
BACKLOG = 128  # connections that wait at the system to be taken


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach what listens on host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_webhook_secret(host: str, secret: str | None) -> None:
    """Raise CallError where anybody could send deliveries."""
    if not secret and not is_loopback(host):
        raise CallError(
            f"WEBHOOK_SECRET is not set, so anybody could send deliveries to {host}: "
            "set it here and in the webhook, or listen on 127.0.0.1"
        )


def require_github_secret(host: str, secret: str | None, watched: Sequence[str]) -> None:
    """Raise CallError where anybody could send the deliveries of GitHub; `watched` are the addresses of all watches."""
    names = [name for name in watched if name.startswith("github://")]
    if names and not secret and not is_loopback(host):
        raise CallError(
            f"GITHUB_WEBHOOK_SECRET is not set, and {names[0]} is watched: "
            "set it here and in the webhook at GitHub, or listen on 127.0.0.1"
        )


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
