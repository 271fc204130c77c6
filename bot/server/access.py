"""Who may ask and change what: names of loopback, the origin of a request, secrets, and what a page is allowed."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Sequence
from typing import Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.errors import CallError
from bot.pages.environment import POLICY

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
BODY_SECONDS = 10.0  # in which a body must be there
DELIVERIES = "/webhooks/"  # a proxy hands them on under any name; their own guard is in webhooks.py
POST_REFUSED = (
    "This server listens on loopback only and does not know the name {name!r}. "
    "Ask for 127.0.0.1 or localhost; behind a proxy set public_url in bot.toml to the address that people use.\n"
)
PROXIED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # headers of what came to this machine through a proxy
TWO_LENGTHS = frozenset({"content-length", "transfer-encoding"})
Who = Literal["token", "local", "nobody"]
# A browser names the origin of a post only where the page with the form lets it: to itself, and to nobody else.
POSTING = frozenset({"/", "/items"})
PLANS = "/plans/"
# A Space is shown inside of a page of the Hub; the pages of a board may be shown inside of any.
FRAMED = "frame-ancestors 'self' https://huggingface.co"
BOARDS = "/board/"


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


def same_secret(given: str, secret: str) -> bool:
    """Tell whether two secrets are the same, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode("utf-8", "surrogatepass"))


def who_may(token: str | None, bound_to: str) -> Who:
    """Who may make changes: whoever has the token, whoever sits at this machine, or nobody."""
    return "token" if token is not None else "local" if is_loopback(bound_to) else "nobody"


def refuse_change(request: Request, token: str | None, bound_to: str, given: str | None = None) -> Response | None:
    """The refusal of a request that would change the state; None if it is allowed.

    With `token` (OPERATOR_TOKEN) the request must carry it, as `Authorization: Bearer …` or in the form that was sent
    (`given`): 401 without, 403 with a wrong one. No cookie holds it, so no other page can send it along. Without a
    token changes are allowed only on a server that is bound to loopback (`bound_to`), and was asked by a name of
    loopback and through no proxy: a page elsewhere whose name resolves to 127.0.0.1 has another name. A browser's
    Origin must be the Host, whatever the token: no other page posts in an operator's name. A GET changes nothing: 405.
    """
    if request.method in SAFE:
        return Response(status_code=405)
    host = request.headers.get("host", "")
    if not _is_same_origin(request.headers.get("origin"), host):
        return Response(status_code=403)
    if token is None:
        is_handed_on = any(name in request.headers for name in PROXIED)
        is_ours = is_loopback(bound_to) and is_loopback(name_in(host)) and not is_handed_on
        return None if is_ours else Response(status_code=403)
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    sent = (value.strip() if kind.lower() == "bearer" else "") or given
    if not sent:
        return Response(status_code=401, headers={"www-authenticate": "Bearer"})
    return None if same_secret(sent, token) else Response(status_code=403)


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Tell whether a browser sent the request from a page of this host; other programs send no Origin."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and parts.netloc.lower() == host.lower()


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
                app = PlainTextResponse(POST_REFUSED.format(name=name), 421)
        await app(scope, receive, send)


async def read_body(request: Request, limit: int) -> bytes | None:
    """Read the body; None if it has more than `limit` bytes. No more than that is kept."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)


class Guarded:
    """An application whose every answer says what a page may do: no script, request or frame from elsewhere.

    A body of two lengths is refused: a proxy may end it elsewhere, and hand on what a stranger wrote behind it as a
    request of its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers."""
        path = scope.get("path", "")
        policy = POLICY if path.startswith(BOARDS) else f"{POLICY}; {FRAMED}"
        referrer = "same-origin" if path in POSTING or path.startswith(PLANS) else "no-referrer"

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = policy
                headers["x-content-type-options"] = "nosniff"
                headers["referrer-policy"] = referrer
            await send(message)

        app = self.app
        if scope["type"] == "http" and TWO_LENGTHS.issubset(Headers(scope=scope).keys()):
            app = Response(status_code=400, headers={"connection": "close"})
        await app(scope, receive, guarded)
