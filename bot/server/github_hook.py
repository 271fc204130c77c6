"""Deliveries of GitHub: checked by signature, accepted once, and passed to the watches.

https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from bot.platforms.bounded import Latest
from bot.service.watch.event import ANY, Event, parse_github_event

KEPT_BYTES = 1_000_000  # of a body; a longer one is still checked by signature, but not read
BODY_LIMIT = 25_000_000  # bytes; GitHub sends no more
BODY_SECONDS = 10.0  # in which a body must be there
REMEMBERED = 10_000  # deliveries that are known again
SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")


@dataclass
class GitHubDeliveries:
    """Takes the deliveries of GitHub; `secret` None takes every one, or none where strangers can reach us.

    `take` hints the watches that an event may concern; a delivery that came before hints nobody.
    """

    take: Callable[[Event], bool]
    secret: str | None
    is_open: bool = False
    seen: Latest = field(default_factory=lambda: Latest(REMEMBERED))

    async def answer(self, request: Request) -> Response:
        """413, 408, 401 or 403 to strangers without a word, 202 to everything authentic."""
        length, given = request.headers.get("content-length", ""), request.headers.get("x-hub-signature-256")
        if length.isdigit() and int(length) > BODY_LIMIT:
            return Response(status_code=413)
        if self._refuses_unsigned(given):
            return Response(status_code=401)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_signed(request, self.secret or "")
        except (TimeoutError, ClientDisconnect):
            return Response(status_code=408, headers={"connection": "close"})
        if body is None:
            return Response(status_code=413, headers={"connection": "close"})
        if self.secret is not None and not is_signature(given or "", body.signature):
            return Response(status_code=403)
        return JSONResponse({"taken": self._take(request, body)}, status_code=202)

    def _refuses_unsigned(self, given: str | None) -> bool:
        return not self.is_open if self.secret is None else given is None

    def _take(self, request: Request, body: SignedBody) -> bool:
        # The signature does not cover the id: a replay may carry a new one, but has the same body.
        names = [f"id {request.headers.get('x-github-delivery', '')[:100]}", body.signature]
        if any(name in self.seen for name in names if name != "id "):
            return False
        for name in names:
            self.seen.add(name)
        kind = request.headers.get("x-github-event", "")
        if body.is_cut:
            return self.take(ANY)
        event = parse_github_event(kind, body.start, request.headers.get("content-type", ""))
        return event is not None and self.take(event)


@dataclass(frozen=True, slots=True)
class SignedBody:
    """A body that was read to its end: its first bytes, and the signature that it should have."""

    start: bytes
    signature: str
    is_cut: bool


async def read_signed(request: Request, secret: str) -> SignedBody | None:
    """Read a body and sign it; None past the limit. Of a long one no more than its start is kept."""
    signature, start, size = hmac.new(secret.encode(), digestmod=hashlib.sha256), bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size > BODY_LIMIT:
            return None
        signature.update(piece)
        start += piece[: KEPT_BYTES - len(start)]
    return SignedBody(bytes(start), f"sha256={signature.hexdigest()}", size > KEPT_BYTES)


def is_signature(given: str, right: str) -> bool:
    """Tell whether a signature is the right one, compared in constant time."""
    return SIGNATURE.fullmatch(given) is not None and hmac.compare_digest(given, right)
