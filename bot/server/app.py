"""The routes: a webhook's delivery is checked, acknowledged and passed to the watches; others only read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.server.answers import Guarded, read_body
from bot.server.deliveries import DeliveryLog
from bot.server.github_hook import GitHubDeliveries
from bot.server.hosts import OwnNames
from bot.server.operator import same_secret
from bot.service.watch.event import Event, parse_event

BODY_LIMIT = 1_000_000  # bytes; the largest payload holds one comment of 65,536 characters
BODY_SECONDS = 10.0  # in which a body must be there
Endpoint = Callable[[Request], Awaitable[Response]]


class ServiceView(Protocol):
    """The service as the routes use it."""

    def take(self, event: Event) -> bool:
        """Hint the watches that an event may concern; whether there was one. Never waits."""
        ...

    def health(self) -> Mapping[str, Any]:
        """The state of all watches, `status`, and each of them, `watches`."""
        ...


def metrics_route(registry: CollectorRegistry) -> Endpoint:
    """The metrics, for Prometheus."""

    async def metrics(_: Request) -> Response:
        text = await run_in_threadpool(generate_latest, registry)  # no delivery waits for the state
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    return metrics


def make_app(
    service: ServiceView,
    *,
    secret: str | None,
    registry: CollectorRegistry,
    pages: Sequence[BaseRoute] = (),
    github_secret: str | None = None,
    is_loopback: bool = False,
    log: DeliveryLog | None = None,
    public_url: Callable[[], str] | None = None,
) -> ASGIApp:
    """The application; `secret` None takes every delivery, which only loopback may do.

    Without `github_secret` GitHub is heard on loopback only. `pages` are the routes of all pages, `log` remembers the
    deliveries for them. With `public_url` only names of loopback and the name in that address are answered.
    """
    log = log or DeliveryLog()
    take = log.listen(service.take)
    github = GitHubDeliveries(take, github_secret, is_open=is_loopback)
    answers: dict[str, Endpoint] = {
        "/webhooks/hub": lambda request: take_delivery(take, request, secret),
        "/webhooks/github": github.answer,
    }
    app = Starlette(
        routes=[
            *webhook_routes(answers, log, registry),
            Route("/healthz", health_route(service)),
            Route("/metrics", metrics_route(registry)),
            *pages,
        ]
    )
    app.router.redirect_slashes = False  # it would send people to the address that a stranger's Host names
    return Guarded(app if public_url is None else OwnNames(app, public_url))


def webhook_routes(answers: Mapping[str, Endpoint], log: DeliveryLog, registry: CollectorRegistry) -> Iterator[Route]:
    """A route for each path of deliveries; how each is answered is counted, and remembered in `log`."""
    deliveries = Counter("leaderboard_bot_deliveries", "Deliveries by answer", ["answer"], registry=registry)

    def counted(answered: Endpoint) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            answer = await answered(request)
            deliveries.labels(str(answer.status_code)).inc()
            log.note(answer.status_code)
            return answer

        return endpoint

    for path, answered in answers.items():
        yield Route(path, counted(answered), methods=["POST"])


async def take_delivery(take: Callable[[Event], bool], request: Request, secret: str | None) -> Response:
    """Answer a delivery: 413, 408, 401 or 403 to strangers without a word, 202 to everything authentic."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > BODY_LIMIT:
        return Response(status_code=413)
    refused = refuse_strangers(request, secret)
    if refused is not None:
        return refused
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await read_body(request, BODY_LIMIT)
    except (TimeoutError, ClientDisconnect):
        return Response(status_code=408, headers={"connection": "close"})
    if body is None:
        return Response(status_code=413, headers={"connection": "close"})
    event = parse_event(body)
    taken = event is not None and take(event)
    return JSONResponse({"taken": taken}, status_code=202)


def refuse_strangers(request: Request, secret: str | None) -> Response | None:
    """401 without the secret, 403 with a wrong one; compared in constant time."""
    if secret is None:
        return None
    given = request.headers.get("x-webhook-secret") or request.query_params.get("secret")
    if given is None:
        return Response(status_code=401)
    return None if same_secret(given, secret) else Response(status_code=403)


def health_route(service: ServiceView) -> Endpoint:
    """`GET /healthz`: 200 while anything moves, `degraded` where not everything does; 503 when nothing moves."""

    async def healthz(_: Request) -> Response:
        health = await run_in_threadpool(service.health)
        return JSONResponse(health, status_code=503 if health["status"] == "failed" else 200)

    return healthz
