"""`GET /api/v1/…`: what the pages show, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.errors import BotError
from bot.publishing.board import Board, records
from bot.publishing.entry import Entry
from bot.server.answers import answer_page, page_of
from bot.server.views import STATUSES, VerdictView, Views, place_of
from bot.service.store.items import STATES, ItemState

JSON = "application/json"
USUAL, MOST = 100, 1_000  # things in one answer
MOST_ENTRIES = 100  # of which each may have 512 KB
Answer = dict[str, Any]
Make = Callable[[Request], Any]
T = TypeVar("T")
BASE = "/api/v1"


class BadParameter(Exception):
    """A parameter that no answer can be made for."""


@dataclass(frozen=True)
class Api:
    """The answers, from what can be seen of a service."""

    views: Views

    def routes(self) -> list[Route]:
        """The routes; what makes an answer gives None for 404."""
        watch = f"{BASE}/watches/{{watch}}"
        makers: dict[str, Make] = {
            f"{BASE}/watches": self._watches,
            f"{watch}/board": self._board,
            f"{watch}/rows": self._rows,
            f"{watch}/rows/{{key:path}}": self._row,
            f"{watch}/submissions": self._submissions,
            f"{watch}/submissions/{{path:path}}": self._verdict,
            f"{watch}/items": self._items,
            f"{BASE}/plans": self._plans,
            f"{watch}/plans/{{digest}}": self._plan,
        }
        return [Route(path, _endpoint(make)) for path, make in makers.items()]

    def _watches(self, _: Request) -> Answer:
        status, watches, refused = self.views.overview()
        return {"status": status, "refused_settings": refused, "watches": watches, "budgets": self.views.budgets()}

    def _board(self, request: Request) -> Answer | None:
        name = request.path_params["watch"]
        found = self.views.boards.board(name)
        if found is None:
            return None
        board = found.site.content.board
        rows, following = _cut(request, board.rows)
        return {
            "watch": name,
            "target": found.target,
            "leaderboard": board.leaderboard.id,
            "head": found.kept.head,
            "count": len(board.rows),
            "rows": records(Board(board.leaderboard, tuple(rows)), found.site.content.facts or None),
            "next": following,
        }

    def _rows(self, request: Request) -> Answer | None:
        found = self.views.boards.board(request.path_params["watch"])
        if found is None:
            return None
        everything = found.site.content.board.rows
        rows, following = _cut(request, everything, MOST_ENTRIES)
        return {"count": len(everything), "rows": [row.entry for row in rows], "next": following}

    def _row(self, request: Request) -> Entry | None:
        found = self.views.boards.board(request.path_params["watch"])
        name = found.site.content.names.get(request.path_params["key"]) if found else None
        return found.site.content.rows[name].entry if found and name else None

    def _submissions(self, request: Request) -> Answer | None:
        name, limit = request.path_params["watch"], _limit(request)
        if self.views.watch(name) is None:
            return None
        query, status = request.query_params, _one_of(request, "status", STATUSES)
        found = self.views.submissions(name, status, query.get("q", "")[:200], query.get("after", ""), limit + 1)
        last = found[limit - 1].path if len(found) > limit else ""
        return {"submissions": found[:limit], "next": _next(request, after=last) if last else None}

    def _verdict(self, request: Request) -> VerdictView | None:
        return self.views.verdict(request.path_params["watch"], request.path_params["path"])

    def _items(self, request: Request) -> Answer | None:
        name, limit = request.path_params["watch"], _limit(request)
        if self.views.watch(name) is None:
            return None
        asked = _one_of(request, "state", STATES)
        state: ItemState = next((one for one in STATES if one == asked), self.views.busiest([name])[1])
        text = request.query_params.get("after", "")
        after = place_of(text) if text else None
        if text and after is None:
            raise BadParameter("after must be a value of `next`")
        found = self.views.items(name, state, after, limit + 1)
        last = found[limit - 1].id if len(found) > limit else ""
        return {"items": found[:limit], "next": _next(request, state=state, after=last) if last else None}

    def _plans(self, _: Request) -> Answer:
        return {"plans": self.views.plans()}

    def _plan(self, request: Request) -> Answer | None:
        found = self.views.plan(request.path_params["watch"], request.path_params["digest"])
        if found is None:
            return None
        rows, following = _cut(request, found[1])
        return {"plan": found[0], "rows": rows, "next": following}


def _cut(request: Request, everything: Sequence[T], most: int = MOST) -> tuple[Sequence[T], str | None]:
    """The part of a list that was asked for, and the query of the next part."""
    first, limit = _number(request, "first", 0, 10**9), min(most, _limit(request))
    end = first + limit
    return everything[first:end], _next(request, first=str(end)) if end < len(everything) else None


def _limit(request: Request) -> int:
    limit = _number(request, "limit", USUAL, MOST)
    if limit == 0:
        raise BadParameter("limit must be at least 1")
    return limit


def _number(request: Request, name: str, usual: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise BadParameter(f"{name} must be a number")
    return min(int(text), most)


def _one_of(request: Request, name: str, values: Sequence[str]) -> str:
    text = request.query_params.get(name, "")
    if text and text not in values:
        raise BadParameter(f"{name} must be one of {', '.join(values)}")
    return text


def _next(request: Request, **values: str) -> str:
    """The query of the next page: what was asked for, with these values."""
    return f"?{urlencode({**request.query_params, **values})}"


def _endpoint(make: Make) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        status = 200
        try:
            found = await run_in_threadpool(make, request)
        except BadParameter as wrong:
            status, found = 400, {"error": str(wrong)}
        except BotError as error:
            status, found = 503, {"error": str(error)}
        if found is None:
            status, found = 404, {"error": "not found"}
        return answer_page(request, page_of(msgspec.json.encode(found)), JSON, status)

    return endpoint
