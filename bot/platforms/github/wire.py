"""The HTTP connections of PyGithub, with the deadlines and checks of answers that it lacks.

What one call asked is noted, so that a failure can name what it is about, and a write is never repeated blindly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import requests
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester, RequestsResponse

from bot.errors import Unavailable
from bot.platforms.github.address import place_of
from bot.platforms.net import BUDGETS, MOST_BYTES, current_limits, key_of, seconds_in
from bot.platforms.writes import check_held

SERVICE = "GitHub"
PIECE = 65_536  # bytes that are read between two looks at the clock


@dataclass
class Asked:
    """What one call asked: what its last request was about, whether it was a write, and the pages it read."""

    place: str = ""
    is_write: bool = False
    pages: set[str] = field(default_factory=set)

    def note(self, method: str, url: str) -> None:
        """Note a request. Raises Unavailable for a page that names itself as the next, LeaseLost as `check_held`."""
        self.place = place_of(url)
        self.is_write = method not in {"GET", "HEAD"} and not url.endswith(("/graphql", "/access_tokens"))
        if self.is_write:
            check_held()
        if method == "GET" and url in self.pages:
            raise Unavailable(SERVICE, f"{self.place}: its list of pages does not end")
        self.pages.add(url)

    def about(self, why: str) -> str:
        """A reason with what the last request was about in front of it."""
        return f"{self.place}: {why}" if self.place else why


_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)


@contextmanager
def noted() -> Iterator[Asked]:
    """Note what is asked in this block."""
    asked = Asked()
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)


def note(method: str, url: str) -> None:
    """Note a request that is not PyGithub's."""
    (_asked.get() or Asked()).note(method, url)


class _Limited:
    """A connection whose answers begin and end in time, and are JSON."""

    verb: str
    url: str
    input: Any
    headers: dict[str, str]
    session: requests.Session
    protocol: str
    host: str
    port: int
    verify: Any

    def getresponse(self) -> RequestsResponse:
        """Send the request and read the whole answer."""
        asked, limits = _asked.get() or Asked(), current_limits()
        asked.note(self.verb, self.url)
        if not limits.left:
            raise Unavailable(SERVICE, asked.about("no time is left for this operation"))
        BUDGETS.spend(self._budget("graphql" if self.url.endswith("/graphql") else "core"), SERVICE)
        answer = self.session.request(
            self.verb,
            f"{self.protocol}://{self.host}:{self.port}{self.url}",
            headers=self.headers,
            data=self.input,
            timeout=limits.answer_seconds(len(self.input or "")),
            verify=self.verify,
            allow_redirects=False,
            stream=True,
        )
        try:
            body = _unpacked(answer, asked)
        except BaseException:
            answer.close()  # the rest of it is still on the line
            raise
        answer._content = body  # noqa: SLF001 - where requests keeps what it read itself
        self._learn(answer)
        _check_json(answer, asked)
        return RequestsResponse(answer)

    def _budget(self, kind: str) -> str:
        names = {name.lower(): value for name, value in self.headers.items()}
        return key_of(f"{self.host}:{self.port}", str(names.get("authorization", "")), kind)

    def _learn(self, answer: requests.Response) -> None:
        """Note what an answer says of the budget; a refusal says itself how long to wait."""
        said = {name: answer.headers.get(f"x-ratelimit-{name}", "") for name in ("limit", "remaining", "reset")}
        if answer.status_code < 400 and all(seconds_in(value) is not None for value in said.values()):
            kind = answer.headers.get("x-ratelimit-resource", "core")
            seconds = float(said["reset"]) - time.time()
            BUDGETS.learn(self._budget(kind), int(said["limit"]), int(said["remaining"]), seconds)


def _unpacked(answer: requests.Response, asked: Asked) -> bytes:
    """The body of an answer. Raises ReadTimeout if no time is left, Unavailable for far more than GitHub gives."""
    limits, body = current_limits(), bytearray()
    for piece in answer.raw.stream(PIECE, decode_content=True):
        body += piece
        if not limits.left:
            raise requests.ReadTimeout("the answer takes too long")
        if len(body) > MOST_BYTES:
            raise Unavailable(SERVICE, asked.about("the answer is too large"), may_have_landed=asked.is_write)
    return bytes(body)


def _check_json(answer: requests.Response, asked: Asked) -> None:
    """Take a page for people with a status of success instead of an answer for the outage that it is."""
    kind = answer.headers.get("content-type", "")
    is_empty = answer.content.strip() == b"null"
    if answer.status_code in {200, 201} and answer.content and ("json" not in kind or is_empty):
        why = f"{'nothing' if is_empty else kind.partition(';')[0] or 'something'} came instead of an answer"
        raise Unavailable(SERVICE, asked.about(why), may_have_landed=asked.is_write)


class _LimitedHTTP(_Limited, HTTPRequestsConnectionClass):
    """For a GitHub on loopback."""


class _LimitedHTTPS(_Limited, HTTPSRequestsConnectionClass):
    """For GitHub."""


@cache
def install_connections() -> None:
    """Let PyGithub use these connections, in the whole process."""
    Requester.injectConnectionClasses(_LimitedHTTP, _LimitedHTTPS)
