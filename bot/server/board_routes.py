"""The pages of each watch's board below `/board/<watch>/`: the bytes that `site` writes, but for comparing rows."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.server.answers import answer_page, type_of
from bot.server.boards import COMPARE, FIRST, BoardCache, Page

LONGEST = 2_000  # letters of a query that names rows


def board_routes(boards: BoardCache) -> list[Route]:
    """The routes of all boards."""

    def find(request: Request, watch: str, path: str) -> Page | None:
        if path == COMPARE and len(request.scope["query_string"]) <= LONGEST:
            return boards.compare(watch, asked_rows(request))
        return boards.page(watch, path)

    async def page(request: Request) -> Response:
        watch, path = request.path_params["watch"], request.path_params["path"]
        found = await run_in_threadpool(find, request, watch, path)
        if found is None:
            return PlainTextResponse("There is no such page on this board.\n", 404)
        return answer_page(request, found, type_of(path or FIRST))

    async def to_folder(request: Request) -> Response:
        # The dot keeps a name such as `http:evil.example` a name: alone it would be another site's address.
        return RedirectResponse(f"./{request.path_params['watch']}/", 308)

    return [Route("/board/{watch}", to_folder), Route("/board/{watch}/{path:path}", page)]


def asked_rows(request: Request) -> list[str]:
    """The rows that an address names: `?rows=a,b`, or the fields of the form, `?row=a&row=b`."""
    query = request.query_params
    return [*query.getlist("row"), *(name for text in query.getlist("rows") for name in text.split(","))]
