"""Answers to a browser: content types, compression, and 304 for what the browser already has."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import parse_qs, urlencode

from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.pages.addresses import root_of
from bot.pages.environment import MISSING, asset, templates
from bot.reporting.escape import visible
from bot.server.access import DELIVERIES

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "toml": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "atom": "application/atom+xml",
}
Make = Callable[[Request], bytes | None]  # a page of the operator's
HTML = TYPES["html"]
API = "/api/"
SMALL = 500  # bytes that are not worth compressing


@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of a page, the same bytes in gzip (None where that saves little), and their ETag."""

    data: bytes
    packed: bytes | None
    etag: str


def page_of(data: bytes) -> Page:
    """A page of these bytes."""
    packed = gzip.compress(data, 6, mtime=0) if len(data) > SMALL else None
    return Page(data, packed, f'W/"{hashlib.sha256(data).hexdigest()[:32]}"')


def type_of(path: str) -> str:
    """The media type of a file of a site by its name."""
    return TYPES.get(path.rpartition(".")[2], "application/octet-stream")


def answer_page(request: Request, page: Page, media_type: str, status: int = 200) -> Response:
    """Answer with a page, in gzip where the browser takes that; 304 where the browser has it already."""
    headers = {"etag": page.etag, "cache-control": "no-cache", "vary": "accept-encoding", "content-type": media_type}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if status == 200 and known & {"*", page.etag.removeprefix("W/")}:
        return Response(status_code=304, headers=headers)
    if page.packed is not None and _takes_gzip(request.headers):
        return Response(page.packed, status, headers={**headers, "content-encoding": "gzip"})
    return Response(page.data, status, headers=headers)


def _takes_gzip(headers: Mapping[str, str]) -> bool:
    parts = [part.replace(" ", "") for part in headers.get("accept-encoding", "").lower().split(",")]
    return any(
        part == "gzip" or (part.startswith("gzip;q=") and part not in {"gzip;q=0", "gzip;q=0.0"}) for part in parts
    )


def page_route(make: Make) -> Callable[[Request], Any]:
    """An endpoint that answers with a page: 404 where there is none."""

    async def endpoint(request: Request) -> Response:
        data = await run_in_threadpool(make, request)
        if data is None:
            return unknown_page(request)
        return answer_page(request, page_of(data), HTML)

    return endpoint


def unknown_page(request: Request) -> Response:
    """The page for an address that does not exist."""
    return message_page(request, 404, "Not there", "There is no such page, or what it was about is gone.")


async def answer_unrouted(request: Request, error: Exception) -> Response:
    """Answer a request that no route takes: JSON to a program, words to a service, and a page to a person."""
    refused = cast("HTTPException", error)  # Starlette's types know no narrower handler
    path, status, headers = request.scope["path"], refused.status_code, refused.headers
    if path.startswith(API):
        return JSONResponse({"error": refused.detail.lower()}, status, headers)
    if path.startswith(DELIVERIES):
        return PlainTextResponse(refused.detail, status, headers)
    if status == 404:
        return unknown_page(request)
    page = message_page(request, status, "Nothing to read", "This address takes what a button sends.")
    page.headers.update(headers or {})
    return page


async def answer_outage(request: Request, error: Exception) -> Response:
    """Answer with the reason why a page cannot be made, or a button's order not be carried out, now."""
    return message_page(request, 503, "Not now", str(error))


def message_page(request: Request, status: int, title: str, text: str) -> Response:
    """A page of one sentence."""
    data = operator_page("message.html", request.scope["path"].removeprefix("/"), title=title, text=text)
    return Response(data, status, media_type=HTML)


def asset_route(name: str) -> Route:
    """The route of a style sheet or script."""
    path, data = asset(name)

    async def endpoint(request: Request) -> Response:
        return answer_page(request, page_of(data), type_of(path))

    return Route(f"/{path}", endpoint)


def address_of(path: str, **query: str) -> str:
    """A path with the fields of a query that are not empty."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value})}"


def form_fields(body: bytes) -> dict[str, str]:
    """The fields of a form; anything else in it is left out."""
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


def number_in(request: Request, name: str) -> int:
    """A number of the query, 0 if it is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 11 else 0


SCRIPT = "operator.js"
SHORT, SHORT_COMMIT = 12, 7  # digits of a digest, and of a commit, that people read
COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
LINK = re.compile(r"`(?P<code>[^`\s][^`]*)`|(?P<url>https?://[\w.:/~#%-]*[\w/])|(?<=plan )(?P<plan>[0-9a-f]{32})\b")
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def operator_page(template: str, path: str, **values: Any) -> bytes:
    """The bytes of the page at a path, from a template of the operator's.

    A page with a form lets its own origin see where a post comes from; else nobody does.
    """
    fixed = {
        "root": root_of(path),
        "style": asset("site.css")[0],
        "stamp": "",
        "here": path.partition("/")[0],
        "referrer": "no-referrer",
        "moment": moment,
        "span": span,
    }
    return templates().get_template(f"operator/{template}").render(**{**fixed, **values}).encode()


def linked(text: str, addresses: Sequence[str], plans: str) -> Markup:
    """A text of the service in which pages below these addresses, and plans, whose pages lie below `plans`, are links.

    Other addresses stay text: strangers wrote them. What stands between backticks is code.
    """

    def link(found: re.Match[str]) -> Markup:
        if found["code"]:
            return Markup("<code>{}</code>").format(visible(found["code"]))
        url = found[0] if found["url"] else f"{plans}/{found['plan']}"
        is_ours = bool(found["plan"]) or any(url == one or url.startswith(f"{one}/") for one in addresses)
        shown = escape(visible(found["plan"][:SHORT] if found["plan"] else shortened(found[0])))
        return Markup('<a href="{}" rel="noreferrer">{}</a>').format(url, shown) if is_ours else shown

    parts, last = [], 0
    for found in LINK.finditer(text):
        parts += [escape(visible(shortened(text[last : found.start()]))), link(found)]
        last = found.end()
    return Markup("").join([*parts, escape(visible(shortened(text[last:])))])


def shortened(text: str) -> str:
    """A text with short commits."""
    return COMMIT.sub(lambda found: found[0][:SHORT_COMMIT], text)


def moment(time: str | None) -> str:
    """A time (ISO 8601 in UTC) for people."""
    return MISSING if not time else f"{time[:10]} {time[11:16]} UTC"


def span(time: str | None, now: str) -> str:
    """How long ago a time is, in its largest unit: `3 min`, `2 h`; a clock that is ahead counts as now."""
    if not time:
        return MISSING
    seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(time)) // timedelta(seconds=1)
    return next((f"{seconds // length} {unit}" for length, unit in UNITS if seconds >= length), "under 1 min")
