"""The host names that a server on loopback accepts: another name that leads to this machine reads nothing."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.server.run import is_loopback

DELIVERIES = "/webhooks/"  # whose guard is their secret; a proxy hands them on under any name
REFUSED = (
    "This server listens on loopback only and does not know the name {name!r}. "
    "Ask for 127.0.0.1 or localhost; behind a proxy set public_url in bot.toml to the address that people use.\n"
)


def name_in(host: str) -> str:
    """The name in a Host header, "" if there is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class OwnNames:
    """An application that answers under names of loopback and under that of `public_url` only, 421 under others.

    A page elsewhere may let its own name lead to 127.0.0.1 (DNS rebinding) and read what a browser on this machine can;
    it cannot choose the Host that the browser sends.
    """

    def __init__(self, app: ASGIApp, public_url: Callable[[], str]) -> None:
        self.app = app
        self.public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse the name."""
        app = self.app
        if scope["type"] == "http" and not scope["path"].startswith(DELIVERIES):
            name = name_in(Headers(scope=scope).get("host", ""))
            if not is_loopback(name) and name != urlsplit(self.public_url()).hostname:
                app = PlainTextResponse(REFUSED.format(name=name), 421)
        await app(scope, receive, send)
