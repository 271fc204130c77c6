"""The routes of one service: webhooks, health, metrics, and all pages over one view of the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.errors import BotError
from bot.server.access import Guarded, OwnNames, is_loopback
from bot.server.answers import answer_outage, answer_unrouted
from bot.server.api import Api
from bot.server.boards import BoardCache, board_routes
from bot.server.operator import OperatorRoutes
from bot.server.service import Service
from bot.server.views import Views
from bot.server.webhooks import Webhooks


def make_pages(service: Service, token: str | None, bound_to: str) -> list[BaseRoute]:
    """The routes of all pages of a service that listens on `bound_to`, behind a proxy where it has a public address."""
    store, hub = service.contexts.store, service.contexts.access.hf_endpoint
    boards = BoardCache(store, lambda: service.watches_settings)
    declared = service.contexts.known_leaderboard
    views = Views(store, lambda: service.watches_settings, service.health, declared, boards, service.clock, hub)
    operator = OperatorRoutes(views, service.hint, token, lambda: "" if service.contexts.public_url else bound_to)
    return [*operator.routes(), *Api(views).routes(), *board_routes(boards)]


def make_app(
    service: Service,
    *,
    secret: str | None,
    registry: CollectorRegistry,
    pages: Sequence[BaseRoute] = (),
    github_secret: str | None = None,
    bound_to: str = "",
    public_url: Callable[[], str] = str,
) -> ASGIApp:
    """The application; where it is `bound_to` loopback, names of loopback and that in `public_url` are answered only.

    The secrets are those of deliveries, see Webhooks. `pages` are the routes of all pages.
    """
    deliveries = Counter(
        "leaderboard_bot_deliveries",
        "Deliveries of webhooks, by HTTP status of the answer",
        ["answer"],
        registry=registry,
    )
    webhooks = Webhooks(service.take, deliveries, secret, github_secret, bound_to)

    async def healthz(_: Request) -> Response:
        """200 while anything moves, `degraded` where not everything does; 503 when nothing moves."""
        health = await run_in_threadpool(service.health)
        return JSONResponse(health, status_code=503 if health["status"] == "failed" else 200)

    async def metrics(_: Request) -> Response:
        text = await run_in_threadpool(generate_latest, registry)  # no delivery waits for the state
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    app = Starlette(
        routes=[
            *webhooks.routes(),
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            *pages,
        ],
        exception_handlers={HTTPException: answer_unrouted, BotError: answer_outage},
    )
    app.router.redirect_slashes = False  # it would send people to the address that a stranger's Host names
    return Guarded(OwnNames(app, public_url) if is_loopback(bound_to) else app)
