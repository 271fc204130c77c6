"""The operator's pages: watches, items, submissions with their verdicts, plans and deliveries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.errors import BotError
from bot.pages.addresses import row_page, target_url
from bot.pages.environment import asset
from bot.pages.operator_page import SCRIPT, operator_page
from bot.server.access import refuse_change, who_may
from bot.server.answers import answer_page, page_of, read_body, type_of
from bot.server.models import VerdictView, WatchView, moment
from bot.server.views import PAGE, Views, place_of
from bot.service.store.views import STATES, Cause, ItemPlace, ItemState

LONGEST = 200  # letters that are searched for
FORM = 20_000  # bytes of a form
CAUSES = 20  # of failures, for each watch
STATUSES = ("accepted", "rejected", "unread")
PLAN_PAGE = 200  # rows of a plan on one page
HTML = type_of("index.html")
WHY = {
    401: "The operator token is missing.",
    403: "This needs the right operator token and a page of this service.",
    413: "The form is too large.",
}
Make = Callable[[Request], bytes | None]


@dataclass(frozen=True)
class OperatorRoutes:
    """The routes of the operator's pages; `hint` asks for a pass, `token` and `bound_to` say who may ask."""

    views: Views
    hint: Callable[[str], object]
    token: str | None
    bound_to: str

    def routes(self) -> list[Route]:
        """All of them, and the style and script that they share."""
        pages: Mapping[str, Make] = {
            "/": self._watches,
            "/items": self._items,
            "/submissions": self._submissions,
            "/submissions/{watch}/{path:path}": self._verdict,
            "/plans": self._plans,
            "/plans/{watch}/{digest}": self._plan,
            "/deliveries": self._deliveries,
        }
        shown = [Route(path, page_route(make)) for path, make in pages.items()]
        return [*shown, Route("/items/try", self.try_item, methods=["POST"]), *map(_asset_route, ("site.css", SCRIPT))]

    def _page(self, template: str, path: str, **values: Any) -> bytes:
        return operator_page(template, path, now=moment(self.views.clock()), **values)

    def _watches(self, _: Request) -> bytes:
        watches = self.views.overview()[1]
        causes = {watch.name: self.views.store.causes(watch.name, CAUSES) for watch in watches}
        return self._page(
            "watches.html",
            "",
            watches=watches,
            budgets=self.views.budgets(),
            causes=causes,
            sentences=list(self._situation(watches, causes)),
            may=who_may(self.token, self.bound_to),
            link=target_url,
            clock_of=moment,
            referrer="same-origin",
        )

    def _situation(self, watches: Sequence[WatchView], causes: Mapping[str, Sequence[Cause]]) -> Iterator[str]:
        """How things stand, in sentences: what waits for a person, what fails and when it is tried again."""
        plans = sum(held.waits for watch in watches for held in self.views.store.held_plans(watch.name))
        if plans:
            yield f"{counted_words(plans, 'plan')} for you."
        for watch in watches:
            if watch.failure:
                yield f"{watch.name}: {watch.failure.rstrip('.')}."
            for cause in causes[watch.name][:1]:
                others = len(causes[watch.name]) - 1
                rest = f" {others} more causes below." if others else ""
                due = (moment(cause.due) or "")[11:16]
                yield f"{cause.reason.rstrip('.')}; {counted_words(cause.count, 'item')}; next try {due} UTC.{rest}"
            if watch.settled is None:
                yield f"{watch.name} is looked at for the first time."

    def _items(self, request: Request) -> bytes | None:
        names, watch = self._chosen(request)
        asked = request.query_params.get("state", "")
        state: ItemState = next((one for one in STATES if one == asked), self.views.busiest_state(watch))
        after = place_of(request.query_params.get("after", ""))
        found = self.views.items(watch, state, after, PAGE + 1)
        last = found[PAGE - 1] if len(found) > PAGE else None
        return self._page(
            "items.html",
            "items",
            watches=names,
            watch=watch,
            states=STATES,
            state=state,
            items=found[:PAGE],
            note="The item is tried now." if request.query_params.get("tried") else "",
            may=who_may(self.token, self.bound_to),
            next=_address("items", watch=watch, state=state, after=last.id) if last else "",
            referrer="same-origin",
        )

    def _submissions(self, request: Request) -> bytes:
        names, watch = self._chosen(request)
        query = request.query_params
        text, status = query.get("q", "").strip()[:LONGEST], query.get("status", "")
        found = self.views.submissions(watch, status, text, query.get("after", ""), PAGE + 1)
        is_more = len(found) > PAGE
        following = {"watch": watch, "q": text, "status": status, "after": found[PAGE - 1].path} if is_more else {}
        return self._page(
            "submissions.html",
            "submissions",
            watches=names,
            watch=watch,
            q=text,
            status=status,
            statuses=STATUSES,
            submissions=found[:PAGE],
            next=_address("submissions", **following) if following else "",
        )

    def _verdict(self, request: Request) -> bytes | None:
        name, path = request.path_params["watch"], request.path_params["path"]
        verdict = self.views.verdict(name, path)
        if verdict is None:
            return None
        page = f"submissions/{name}/{path}"
        return self._page("verdict.html", page, verdict=verdict, page=self._row_page(name, verdict))

    def _row_page(self, watch: str, verdict: VerdictView) -> str:
        """The address of a submission's row on the first board that has the row, "" if none has."""
        settings = self.views.watch(watch)
        if settings is None or verdict.row is None:
            return ""
        for board in self.views.boards.names(settings).values():
            shown = self.views.boards.board(board)
            name = shown.site.content.names.get(verdict.row.key) if shown else None
            if name:
                return f"board/{board}/{row_page(name)}"
        return ""

    def _plans(self, _: Request) -> bytes:
        return self._page("plans.html", "plans", plans=self.views.plans())

    def _plan(self, request: Request) -> bytes | None:
        name, digest = request.path_params["watch"], request.path_params["digest"]
        found = self.views.plan(name, digest)
        if found is None:
            return None
        plan, rows = found
        first = number_in(request, "first")
        following = _address(digest, first=str(first + PLAN_PAGE)) if len(rows) > first + PLAN_PAGE else ""
        shown = rows[first : first + PLAN_PAGE]
        return self._page("plan.html", f"plans/{name}/{digest}", plan=plan, rows=shown, next=following)

    def _deliveries(self, _: Request) -> bytes:
        log = self.views.deliveries
        return self._page("deliveries.html", "deliveries", deliveries=log.newest(), refused=dict(log.refused))

    def _chosen(self, request: Request) -> tuple[list[str], str]:
        """The names of all watches, and the one that was asked for, else the first."""
        names = [watch.name for watch in self.views.watches()]
        asked = request.query_params.get("watch", "")
        return names, asked if asked in names else next(iter(names), "")

    async def try_item(self, request: Request) -> Response:
        """`POST /items/try`: let one item be tried at once, and ask for a pass over its watch."""
        try:
            body = await read_body(request, FORM)
        except ClientDisconnect:
            return Response(status_code=408)
        if body is None:
            return self._refusal(413)
        fields = _fields(body)
        refused = refuse_change(request, self.token, self.bound_to, fields.get("token"))
        if refused is not None:
            return self._refusal(refused.status_code)
        watch, place = fields.get("watch", ""), place_of(fields.get("item", ""))
        if "cause" in fields:
            return await self._try_cause(fields["cause"])
        if self.views.watch(watch) is None or place is None or not await run_in_threadpool(self._retry, watch, place):
            text = "There is no such item any more, or it waits for an approval."
            return self._message("items/try", 404, "Not there", text)
        self.hint(watch)
        return RedirectResponse(f"../{_address('items', watch=watch, state=fields.get('state', ''), tried='1')}", 303)

    async def _try_cause(self, text: str) -> Response:
        """Let all items that fail for one reason be tried; `text` is the watch, a space and the reason."""
        name, _, reason = text.partition(" ")
        store = self.views.store
        if self.views.watch(name) is None or not await run_in_threadpool(
            store.retry_cause, name, reason, self.views.clock()
        ):
            return self._message("items/try", 404, "Not there", "Nothing fails for this reason any more.")
        self.hint(name)
        return RedirectResponse("../", 303)

    def _retry(self, watch: str, place: ItemPlace) -> bool:
        return self.views.store.retry_item(watch, place, self.views.clock())

    def _refusal(self, status: int) -> Response:
        return self._message("items/try", status, "Refused", WHY[status])

    def _message(self, path: str, status: int, title: str, text: str) -> Response:
        return Response(self._page("message.html", path, title=title, text=text), status, media_type=HTML)


def page_route(make: Make) -> Callable[[Request], Any]:
    """An endpoint that answers with a page: 404 where there is none, 503 with the reason where it cannot be made."""

    async def endpoint(request: Request) -> Response:
        try:
            data = await run_in_threadpool(make, request)
        except BotError as error:
            return said_page(request, 503, "Not now", str(error))
        if data is None:
            return said_page(request, 404, "Not there", "There is no such page, or what it was about is gone.")
        return answer_page(request, page_of(data), HTML)

    return endpoint


def said_page(request: Request, status: int, title: str, text: str) -> Response:
    """A page of one sentence."""
    data = operator_page("message.html", request.scope["path"].removeprefix("/"), title=title, text=text)
    return Response(data, status, media_type=HTML)


def _asset_route(name: str) -> Route:
    path, data = asset(name)

    async def endpoint(request: Request) -> Response:
        return answer_page(request, page_of(data), type_of(path))

    return Route(f"/{path}", endpoint)


def counted_words(count: int, noun: str) -> str:
    """A number of things that wait: `1 plan waits`, `2 plans wait`."""
    return f"{count} {noun} waits" if count == 1 else f"{count} {noun}s wait"


def _address(path: str, **query: str) -> str:
    return f"{path}?{urlencode({name: value for name, value in query.items() if value})}"


def _fields(body: bytes) -> dict[str, str]:
    """The fields of a form; what is none is left out."""
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


def number_in(request: Request, name: str) -> int:
    """A number of the query, 0 if it is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
