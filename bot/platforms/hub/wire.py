"""The HTTP client of huggingface_hub, with the time-outs, deadlines and checks of answers that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import httpx2
from huggingface_hub import set_client_factory
from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]  # loaded when asked for
from huggingface_hub.utils._http import hf_request_event_hook  # without its hook there is no offline mode

from bot.errors import CallError, Gone, Unavailable
from bot.platforms.hub.address import repository_of
from bot.platforms.hub.errors import SERVICE, about, asked_wait, is_write, translated_status
from bot.platforms.net import ANSWERS, BUDGETS, LONGEST_WAIT, MOST_BYTES, TIMEOUT, Limits, current_limits, key_of
from bot.platforms.platform import NO_ADDRESS

SMALL_FILES = "/api/resolve-cache/"  # where the Hub sends who asks for a small file of a public repository


@cache
def install_client_factory() -> None:
    """Give the process-wide client of huggingface_hub what it lacks."""

    def factory() -> httpx2.Client:
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [hf_request_event_hook, limit_time, spend_budget],
            "response": [count_answer, refuse_long_waits, refuse_moved, refuse_pages, end_in_time, read_in_bounds],
        }
        try:
            return httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=httpx2.Timeout(TIMEOUT))
        except OSError as error:
            raise CallError(f"SSL_CERT_FILE or SSL_CERT_DIR names no certificates: {error}") from None
        except (httpx2.InvalidURL, ValueError):
            raise CallError(NO_ADDRESS) from None

    set_client_factory(factory)


def count_answer(response: httpx2.Response) -> None:
    """Note the answer for the metrics, and what is left for the budget; a refusal says itself how long to wait."""
    limit = parse_ratelimit_headers(response.headers)
    ANSWERS.count("hub", response.status_code, None if limit is None else limit.remaining)
    if limit is not None and response.status_code < 400:
        key = budget_of(response.request, limit.resource_type)
        BUDGETS.learn(key, limit.limit, limit.remaining, limit.reset_in_seconds)


def is_api(path: str) -> bool:
    """Tell whether a path is one of the API, whose answers are JSON, and not a small file of a public repository."""
    return path.startswith("/api/") and not path.startswith(SMALL_FILES)


def spend_budget(request: httpx2.Request) -> None:
    """Count a request. Raises Unavailable if the account has none left, or where bulk work used its half."""
    path = request.url.path
    is_file = "/resolve/" in path or path.startswith(SMALL_FILES)
    kind = "resolvers" if is_file else "api" if is_api(path) else "pages"
    BUDGETS.spend(budget_of(request, kind), SERVICE)


def budget_of(request: httpx2.Request, kind: str) -> str:
    """The budget that a request is counted in."""
    return key_of(request.url.netloc.decode("ascii", "replace"), request.headers.get("authorization", ""), kind)


def limit_time(request: httpx2.Request) -> None:
    """Let the answer take the longer, the more was sent. Raises Unavailable if no time is left."""
    limits = current_limits()
    if not limits.left:
        raise Unavailable(SERVICE, about(request, "no time is left for this operation"))
    sent = int(request.headers.get("content-length") or 0)
    seconds = limits.answer_seconds(sent)
    request.extensions = {**request.extensions, "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)}


def refuse_long_waits(response: httpx2.Response) -> None:
    """End a call whose own retry would sleep longer than we allow; the client knows no limit."""
    if response.status_code in {429, 503} and (asked_wait(response.headers) or 0) > LONGEST_WAIT:
        raise translated_status(response, "it asks for a long pause")


def refuse_moved(response: httpx2.Response) -> None:
    """Name the new name of a repository that was renamed: evidence and settings have to follow."""
    if not response.has_redirect_location:
        return
    old = repository_of(str(response.request.url))
    new = repository_of(str(response.request.url.join(response.headers["location"])))
    if old and new and old.lower() != new.lower():
        raise Gone(SERVICE, f"{old} was renamed to {new}: write the new name into the settings")


def refuse_pages(response: httpx2.Response) -> None:
    """Take a page for people with status 200 instead of an answer for the outage that it is."""
    kind = response.headers.get("content-type", "")
    if is_api(response.request.url.path) and response.status_code == 200 and "json" not in kind:
        why = about(response.request, f"{kind.partition(';')[0] or 'something'} came instead of an answer")
        raise Unavailable(SERVICE, why, may_have_landed=is_write(response.request))


def end_in_time(response: httpx2.Response) -> None:
    """Let an answer that comes drop by drop end with its operation."""
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Timed(response.stream, current_limits(), response.request)


def read_in_bounds(response: httpx2.Response) -> None:
    """Read an answer of the API here: the client would unpack any number of bytes."""
    if not is_api(response.request.url.path) or response.has_redirect_location:
        return
    pieces, size = list[bytes](), 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > MOST_BYTES:
            why = about(response.request, f"the answer is too large: more than {MOST_BYTES:,} bytes")
            raise Unavailable(SERVICE, why, may_have_landed=is_write(response.request))
        pieces.append(piece)
    response._content = b"".join(pieces)  # noqa: SLF001 - where the client keeps what it read itself


class Timed(httpx2.SyncByteStream):
    """The pieces of an answer, until the time of the operation is over."""

    def __init__(self, stream: httpx2.SyncByteStream, limits: Limits, request: httpx2.Request) -> None:
        self._stream, self._limits, self._request = stream, limits, request

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            if not self._limits.left:
                raise httpx2.ReadTimeout("the answer takes too long", request=self._request)
            yield piece

    def close(self) -> None:
        """Give the connection back."""
        self._stream.close()
