"""Deliveries of webhooks: each is checked, answered at once and passed to the watches.

https://huggingface.co/docs/hub/webhooks
https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import prometheus_client
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.server.access import BODY_SECONDS, read_body, refuse_change, same_secret
from bot.service.watch.event import ANY, Event, parse_event, parse_github_event

HUB_BYTES = 1_000_000  # the largest body of the Hub holds one comment of 65,536 characters
GITHUB_BYTES = 25_000_000  # GitHub sends no more
KEPT_BYTES = 1_000_000  # of a body of GitHub; a longer one is still checked by its signature, but not read
SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
TAKEN = 202
WHY = {401: "it shows no secret", 403: "its secret or signature is not ours, or it may not come from there"}
TELL_EVERY = 60.0  # seconds: strangers do not fill the log
log = logging.getLogger(__name__)


class Refusal(Exception):
    """The refusal of a delivery: only an HTTP status, so that strangers learn nothing."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Webhooks:
    """The routes of both services; `take` hints the watches that an event may concern, and says whether there was one.

    Where only one of the two secrets is set, it counts for both services. Where none is, a delivery is taken like
    any other change: only by a server that is bound to loopback (`bound_to`) and asked by a name of loopback, and
    from no page of another origin.
    """

    take: Callable[[Event], bool]
    counter: prometheus_client.Counter
    secret: str | None
    github_secret: str | None
    bound_to: str
    _told: float = field(default=-TELL_EVERY, repr=False)

    def routes(self) -> list[Route]:
        """`POST /webhooks/hub` and `POST /webhooks/github`."""
        readers = {"/webhooks/hub": self.read_hub, "/webhooks/github": self.read_github}
        return [Route(path, self._endpoint(read), methods=["POST"]) for path, read in readers.items()]

    def _endpoint(self, read: Callable[[Request], Awaitable[Event | None]]) -> Callable[[Request], Awaitable[Response]]:
        """Answer strangers with 413, 408, 401 or 403 and no text, and every authentic delivery with 202."""

        async def endpoint(request: Request) -> Response:
            status, event = TAKEN, None
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    event = await read(request)
            except Refusal as refusal:
                status = refusal.status
                self._tell(request.url.path, status)
            except (TimeoutError, ClientDisconnect):
                status = 408
            is_taken = event is not None and self.take(event)
            self.counter.labels(str(status)).inc()
            if status == TAKEN:
                return JSONResponse({"taken": is_taken}, status_code=TAKEN)
            # A connection of which the rest of a body may still come is of no further use.
            return Response(status_code=status, headers={"connection": "close"} if status in {408, 413} else None)

        return endpoint

    def _tell(self, path: str, status: int) -> None:
        """Tell the operator of a delivery that was refused for its secret; seldom, for anybody can cause it."""
        if status in WHY and (now := time.monotonic()) - self._told >= TELL_EVERY:
            self._told = now
            log.warning("a delivery at %s was refused with %d: %s", path, status, WHY[status])

    async def read_hub(self, request: Request) -> Event | None:
        """The event of a delivery of the Hub, None if it says nothing to us. Raises Refusal."""
        secret = self.secret or self.github_secret
        given = request.headers.get("x-webhook-secret") or request.query_params.get("secret")
        self._check(request, HUB_BYTES, secret, given)
        if secret is not None and not same_secret(given or "", secret):
            raise Refusal(403)
        body = await read_body(request, HUB_BYTES)
        if body is None:
            raise Refusal(413)
        return parse_event(body)

    async def read_github(self, request: Request) -> Event | None:
        """The event of a delivery of GitHub, None if it says nothing to us. Raises Refusal.

        One that comes again is taken again: people redeliver what went wrong, and to look once more costs little.
        """
        secret, given = self.github_secret or self.secret, request.headers.get("x-hub-signature-256")
        self._check(request, GITHUB_BYTES, secret, given)
        signed, start, size = hmac.new((secret or "").encode(), digestmod=hashlib.sha256), bytearray(), 0
        async for piece in request.stream():
            size += len(piece)
            if size > GITHUB_BYTES:
                raise Refusal(413)
            signed.update(piece)
            start += piece[: KEPT_BYTES - len(start)]
        is_signature = SIGNATURE.fullmatch(given or "") is not None
        if secret is not None and not (is_signature and same_secret(given or "", f"sha256={signed.hexdigest()}")):
            raise Refusal(403)
        if size > KEPT_BYTES:
            return ANY
        kind, content_type = request.headers.get("x-github-event", ""), request.headers.get("content-type", "")
        return parse_github_event(kind, bytes(start), content_type)

    def _check(self, request: Request, limit: int, secret: str | None, given: str | None) -> None:
        """Refuse, before its body is read, a delivery that is too long, shows no secret, or is of another page."""
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            raise Refusal(413)
        if secret is not None and given is None:
            raise Refusal(401)
        refused = refuse_change(request, None, self.bound_to) if secret is None else None
        if refused is not None:
            raise Refusal(refused.status_code)
