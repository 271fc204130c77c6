"""One account's way to the Hub: calls go in, answers or our own exceptions come out, within limits of time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeVar

import httpx2
from huggingface_hub import HfApi, hf_hub_url, set_client_factory
from huggingface_hub.errors import HfHubHTTPError, OIDCError, RemoteEntryNotFoundError
from huggingface_hub.utils._http import (  # its own hook and helpers: without the hook there is no offline mode
    get_session,
    hf_raise_for_status,
    hf_request_event_hook,
    parse_ratelimit_headers,
)

from bot import __version__
from bot.errors import BotError, CallError, Refused, Stale, Unavailable
from bot.platforms.digest import check_content
from bot.platforms.source import TooLarge

SERVICE = "the Hub"
ENDPOINT = "https://huggingface.co"
TIMEOUT = 30.0  # seconds for each read and write of one request; the client itself would wait for ever
LONGEST_WAIT = 120.0  # seconds that we wait when the Hub asks us to; beyond, the settle ends and comes again
TRIES = 4
KINDS = {"datasets": "dataset", "spaces": "space", "models": "model"}
T = TypeVar("T")
ADDRESS = re.compile(r"hf://(datasets|spaces|models)/([\w.-]+/[\w.-]+)(?:@([^/]+))?(?:/(.*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """What `hf://datasets/org/name[@revision][/path]` names; `kind` is the Hub's singular word."""

    kind: str
    name: str
    revision: str | None = None
    path: str = ""

    @property
    def url(self) -> str:
        """The repository's own address, without revision and path."""
        return f"hf://{self.kind}s/{self.name}"


def parse_address(text: str) -> Address:
    """Take an `hf://` address apart; a slash in a revision is written `%2F`.

    Raises CallError where it is none.
    """
    match = ADDRESS.fullmatch(text)
    if match is None:
        raise CallError(f"{text}: expected hf://datasets/org/name[@revision][/path]")
    kind, name, revision, path = match.groups()
    return Address(KINDS[kind], name, revision and revision.replace("%2F", "/"), (path or "").strip("/"))


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer asks us to wait: RateLimit where nothing is left, else Retry-After."""
    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = headers.get("retry-after", "")
    return float(after) if after.isdigit() else None


def refuse_long_waits(response: httpx2.Response) -> None:
    """End a call whose own retry would sleep longer than we allow; the client knows no limit."""
    if response.status_code in {429, 503} and (asked_wait(response.headers) or 0) > LONGEST_WAIT:
        raise translated_status(response, "it asks for a long pause")


@cache
def install_client_factory() -> None:
    """Give the process-wide client of huggingface_hub the time-outs that it lacks."""

    def factory() -> httpx2.Client:
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [hf_request_event_hook],
            "response": [refuse_long_waits],
        }
        return httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=httpx2.Timeout(TIMEOUT))

    set_client_factory(factory)


def translated_status(response: httpx2.Response, why: str) -> BotError:
    """Our exception for an answer that is no success."""
    status = response.status_code
    if status in {409, 412}:
        return Stale(f"{SERVICE}: {why}")
    if status >= 500 or status in {408, 429}:
        return Unavailable(SERVICE, f"{status}: {why}", retry_after=asked_wait(response.headers))
    return Refused(SERVICE, f"{status}: {why}")


def translated(error: Exception) -> BotError | None:
    """Our exception for one of the client's; None for what is not the Hub's doing."""
    if isinstance(error, HfHubHTTPError):
        message = error.server_message or type(error).__name__
        return translated_status(error.response, message.splitlines()[0][:300])
    if isinstance(error, httpx2.HTTPError | ConnectionError):
        return Unavailable(SERVICE, f"{type(error).__name__}: {str(error)[:200]}")
    return None


@contextmanager
def hub_errors() -> Iterator[None]:
    """Turn the client's exceptions into ours."""
    try:
        yield
    except OIDCError as error:
        raise Refused(SERVICE, f"trusted publishing: {' '.join(str(error).split())[:300]}") from error
    except (httpx2.HTTPError, OSError) as error:
        ours = translated(error)
        if ours is None:
            raise
        raise ours from error


@dataclass
class HubClient:
    """Calls of one account to one Hub.

    `read` is for calls that may be repeated, `write` for those that may have landed although they
    failed: those are sent once, and the caller reads the state again. `keyless` lets the client exchange a
    workflow's identity for a token of one repository (trusted publishing, HF_OIDC_RESOURCE).
    """

    endpoint: str = ENDPOINT
    token: str | None = field(default=None, repr=False)
    pause: float = 0.5
    keyless: bool = False
    api: HfApi = field(init=False, repr=False)

    def __post_init__(self) -> None:
        install_client_factory()
        # None lets the client look for a token in the environment, which keyless is for and nothing else.
        self.api = HfApi(
            self.endpoint,
            token=self.token or (None if self.keyless else False),
            library_name="leaderboard-bot",
            library_version=__version__,
        )

    def read(self, call: Callable[..., T], *args: Any, **how: Any) -> T:
        """Call, and again after a failure of the service, as long as the waits stay short."""
        return self.patiently(lambda: call(*args, **how))

    def write(self, call: Callable[..., T], *args: Any, **how: Any) -> T:
        """Call once: what failed may have landed."""
        with hub_errors():
            return call(*args, **how)

    def patiently(self, call: Callable[[], T]) -> T:
        """Repeat a call that changes nothing."""
        for attempt in range(TRIES):
            try:
                with hub_errors():
                    return call()
            except Unavailable as failure:
                wait = failure.retry_after if failure.retry_after is not None else self.pause * 2**attempt
                if attempt + 1 == TRIES or wait > LONGEST_WAIT:
                    raise
                time.sleep(wait)
        raise AssertionError  # the loop returns or raises

    @cached_property
    def account(self) -> Mapping[str, Any]:
        """Who we are: `name` and `id`; asked once, because the Hub limits this call hard."""
        return self.read(self.api.whoami)

    @property
    def user(self) -> str:
        """Our account's name; requests and comments are ours only when it wrote them."""
        return str(self.account["name"])

    def get_json(self, path: str, **params: Any) -> Any:
        """What a GET below the endpoint answers, for what the client's own calls do not show."""
        return self.patiently(lambda: self.get(f"{self.endpoint}{path}", params)).json()

    def get_pages(self, path: str, **params: Any) -> Iterator[Any]:
        """The items of a list that comes in pages, each page asked for when it is needed.

        The client's own lists wait a second or more after every failure, and as long as they are told to.
        """
        url: str | None = f"{self.endpoint}{path}"
        while url:
            response = self.patiently(lambda url=url, params=params: self.get(str(url), params))  # type: ignore[misc]
            yield from response.json()
            url, params = response.links.get("next", {}).get("url"), {}

    def get(self, url: str, params: Mapping[str, Any]) -> httpx2.Response:
        """One GET that ended well."""
        response = get_session().get(url, params=dict(params) or None, headers=self.headers)
        hf_raise_for_status(response)
        return response

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a call that we make ourselves."""
        return dict(self.api._build_hf_headers())  # noqa: SLF001 - it alone knows about tokens by OIDC

    def download(
        self, address: Address, path: str, revision: str, limit: int, oid: str | None = None
    ) -> tuple[bytes, str] | None:
        """The bytes of a file and the commit they come from; None where the file is not there.

        Raises TooLarge past `limit` bytes, of which no more than a chunk is read, and Unavailable where the bytes are
        not those of the object id: the given one, or the one that the answer names.
        """
        url, where = self.file_url(address, path, revision), f"{address.url} {path}"

        def call() -> tuple[bytes, str] | None:
            found = stream(url, self.headers, limit)
            if found is None:
                return None
            if not found.commit:
                raise Unavailable(SERVICE, f"{where}: what came instead of the file is not the Hub's answer")
            for wanted in (oid, found.oid):
                check_content(found.data, wanted, SERVICE, where)
            return found.data, found.commit

        return self.patiently(call)

    def file_url(self, address: Address, path: str, revision: str) -> str:
        """Where the raw file stands."""
        return hf_hub_url(address.name, path, repo_type=address.kind, revision=revision, endpoint=self.endpoint)


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file with what the Hub's own answer says of it: `commit` and `oid` are "" and None where it says nothing."""

    data: bytes
    commit: str
    oid: str | None


def stream(url: str, headers: dict[str, str], limit: int) -> Downloaded | None:
    """Read a file piece by piece, uncompressed, and stop at the limit."""
    with get_session().stream("GET", url, headers={**headers, "Accept-Encoding": "identity"}) as response:
        try:
            hf_raise_for_status(response)
        except RemoteEntryNotFoundError:
            return None
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Refused(SERVICE, "a file came compressed although we asked for it plain")
        if int(response.headers.get("content-length") or 0) > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > limit:
                raise TooLarge(f"more than {limit:,} bytes")
        first = response.history[0] if response.history else response  # large files come from another host
        tag = first.headers.get("x-linked-etag") or first.headers.get("etag") or ""
        oid = tag.removeprefix("W/").strip('"') or None
        return Downloaded(bytes(body), first.headers.get("x-repo-commit") or "", oid)
