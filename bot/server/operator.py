"""Who may change the state: the one rule for every route that does not only read."""

from __future__ import annotations

import hmac
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from bot.server.hosts import name_in
from bot.server.run import is_loopback

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
Who = Literal["token", "local", "nobody"]


def same_secret(given: str, secret: str) -> bool:
    """Tell whether two secrets are the same, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode("utf-8", "surrogatepass"))


def who_may(token: str | None, bound_to: str) -> Who:
    """Who may change anything: whoever has the token, whoever sits at this machine, or nobody."""
    return "token" if token is not None else "local" if is_loopback(bound_to) else "nobody"


def refuse_change(request: Request, token: str | None, bound_to: str, given: str | None = None) -> Response | None:
    """Refuse a request that would change the state, None if it may.

    With `token` (OPERATOR_TOKEN) it must come with the request, as `Authorization: Bearer …` or in the form that was
    sent (`given`): 401 without, 403 with a wrong one. No cookie holds it, so no other page can send it along. Without a
    token only a server that is bound to loopback (`bound_to`), and was asked by a name of loopback, takes changes: a
    page elsewhere whose name resolves to 127.0.0.1 has another name. A browser's Origin must be the Host, whatever the
    token: no other page posts in an operator's name. A GET changes nothing: 405.
    """
    if request.method in SAFE:
        return Response(status_code=405)
    host = request.headers.get("host", "")
    if not _is_same_origin(request.headers.get("origin"), host):
        return Response(status_code=403)
    if token is None:
        is_ours = is_loopback(bound_to) and is_loopback(name_in(host))
        return None if is_ours else Response(status_code=403)
    sent = _token_in(request) or given
    if not sent:
        return Response(status_code=401, headers={"www-authenticate": "Bearer"})
    return None if same_secret(sent, token) else Response(status_code=403)


def _token_in(request: Request) -> str | None:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else None


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Tell whether a browser sent the request from a page of this host; other programs send no Origin."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and parts.netloc.lower() == host.lower()
