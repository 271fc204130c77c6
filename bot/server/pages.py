"""All pages of one service: those of the operator, the boards, and the API, over one view of the state."""

from __future__ import annotations

from starlette.routing import BaseRoute

from bot.server.api import Api
from bot.server.board_routes import board_routes
from bot.server.boards import BoardCache
from bot.server.declarations import Declarations
from bot.server.deliveries import DeliveryLog
from bot.server.operator_routes import OperatorRoutes
from bot.server.service import Service
from bot.server.views import Views


def make_pages(service: Service, token: str | None, bound_to: str) -> tuple[DeliveryLog, list[BaseRoute]]:
    """The routes of a service that listens on `bound_to`, and the log of deliveries that they show."""
    store = service.contexts.store
    boards = BoardCache(store, lambda: service.watches_settings)
    declarations = Declarations(service.contexts.leaderboard, lambda name: service.states[name].settled)
    log = DeliveryLog(store, service.clock)
    views = Views(store, lambda: service.watches_settings, service.health, declarations.of, boards, service.clock, log)
    operator = OperatorRoutes(views, service.hint, token, bound_to)
    return log, [*operator.routes(), *Api(views).routes(), *board_routes(boards)]
