"""The HTTP connections of PyGithub, with the deadlines and checks of answers that it lacks.

Each request of a call is noted, so that a failure can name what it is about, and a write is never repeated blindly.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import requests
from github import GithubException
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester, RequestsResponse

from bot.errors import (
    NEEDS_TOKEN,
    BotError,
    CallError,
    DiscussionsDisabled,
    Gone,
    Locked,
    NoWriteAccess,
    Refused,
    Stale,
    Unavailable,
)
from bot.platforms.github.address import place_of
from bot.platforms.net import BUDGETS, LONGEST_WAIT, MOST_BYTES, check_lease, current_limits, key_of, seconds_in

ASKED_IN_VAIN = 400  # how PyGithub calls an answer of GraphQL that holds errors; its own status was 200
SECONDARY_WAIT = 60.0  # GitHub's advice if an answer names no time
LIMITED = ("rate limit", "abuse detection")
TOO_QUICK = "submitted too quickly"  # how a 422 says that an account opens requests or comments too fast
# How a 422 says that somebody was faster: the ref is there, has moved, is gone, or has a request already.
MOVED = ("already exists", "not a fast forward", "does not exist", "no commits between", "badobjectstate")
# How a rule keeps everybody, or us, from writing to a branch: a 422 says so, and sometimes a 409.
RULES = ("rule violations", "protected branch", "approving review", "required status check")
REVIEWED = 'publish with `as = "pull-request"`, or let the bot pass the rule'
# What to do about a rule, by words of it; of any other GitHub's own sentence says what it wants.
RULE_ADVICE = {
    "through a pull request": REVIEWED,
    "approving review": REVIEWED,
    "status check": REVIEWED,
    "protected branch": REVIEWED,
    "creations being restricted": "let the bot pass the rule, or leave out of it the branches leaderboard-bot/*",
}
TOKEN = f"the token is wrong or has expired; set GITHUB_TOKEN {NEEDS_TOKEN} (in a workflow, the input `github-token`)"
RIGHT = "the token may not do this; give it the right (in a workflow, under `permissions:`)"
# What to do about a 403, by a word of it; "" where GitHub's own sentence says it.
FORBIDDEN = {
    "archived": "unarchive it, or name another repository",
    "not permitted to create": 'switch on "Allow GitHub Actions to create and approve pull requests" in the settings',
    "saml enforcement": "",
    "ip allow list": "",
    "token's lifetime": "",
    "": RIGHT,
}
GONE = "it is not there, or the token may not see it"
ELSEWHERE = "it was moved, renamed or deleted"
REPOSITORY = re.compile(r"/repos/[^/?]+/[^/?]+$")
EMPTY = "make a first commit in it, for example a README"


def rate_limit_wait(error: GithubException) -> float | None:
    """Seconds that GitHub asks to wait; None if the error is about something else.

    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    said = error_message(error).lower()
    is_limit = error.status in {403, 429, ASKED_IN_VAIN} and (
        "retry-after" in headers or any(words in said for words in LIMITED)
    )
    if not is_limit and not (error.status in {422, ASKED_IN_VAIN} and TOO_QUICK in said):
        return None
    after, reset = (seconds_in(headers.get(name, "")) for name in ("retry-after", "x-ratelimit-reset"))
    if after is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(0.0, reset - time.time()) + 1.0
    return SECONDARY_WAIT if after is None else after


def error_message(error: GithubException) -> str:
    """GitHub's message with the details of a failed validation, in one line of at most 300 characters."""
    data: Any = error.data if isinstance(error.data, dict) else {}
    errors = data.get("errors")
    details = errors if isinstance(errors, list) else []
    parts = [data.get("message"), *(part.get("message") for part in details if isinstance(part, dict))]
    said = ": ".join(str(part) for part in parts if part) or f"status {error.status}"
    return " ".join(said.split())[:300]


def translated(error: GithubException, wait: float | None, asked: Asked) -> BotError:
    """Our exception for one of PyGithub's; `wait` is the result of `rate_limit_wait`, `asked` is about the call."""
    said, status = error_message(error), error.status
    if wait is not None:
        return Unavailable(SERVICE, asked.about(f"{said} (try again in {wait:.0f} s)"), retry_after=wait)
    if status >= 500 or status == 408 or (status == ASKED_IN_VAIN and said.startswith("Something went wrong")):
        return Unavailable(SERVICE, asked.about(f"{status}: {said}"), may_have_landed=asked.is_write)
    if status == 409 and "is empty" in said:
        return Gone(SERVICE, asked.about(f"{said.rstrip('.')}: {EMPTY}"))
    is_rule = any(rule in said.lower() for rule in RULES)
    if (status == 409 and not is_rule) or (status == 422 and any(words in said.lower() for words in MOVED)):
        return Stale(f"{SERVICE}: {asked.about(said)}")
    return _refusal(status, said, asked)


def _refusal(status: int, said: str, asked: Asked) -> Refused:
    """The kind of refusal that an answer is."""
    said = said.rstrip(".")
    words = said.lower()
    if status == 404 or (status == 422 and "no commit found" in words):
        return Gone(SERVICE, asked.about(f"{said}: {GONE}"))
    if status in {409, 422} and any(rule in words for rule in RULES):
        return NoWriteAccess(SERVICE, asked.about(_with_advice(said, next(_matching(RULE_ADVICE, words), ""))))
    if status == 403 and "locked" in words:
        return Locked(SERVICE, asked.about(f"{status}: {said}"))
    if status == 410 and "disabled" in words:
        return DiscussionsDisabled(SERVICE, asked.about(f"{status}: {said}"))
    if 300 <= status < 400 or status == 410:
        return Gone(SERVICE, asked.about(f"{status}: {said}: {ELSEWHERE}"))
    kind = NoWriteAccess if status == 403 and asked.is_write else Refused
    if status in {401, 403}:
        said = _with_advice(said, TOKEN if status == 401 else next(_matching(FORBIDDEN, words)))
    return kind(SERVICE, asked.about(f"{status}: {said}"))


def _matching(advice: Mapping[str, str], said: str) -> Iterator[str]:
    return (do for word, do in advice.items() if word in said)


def _with_advice(said: str, advice: str) -> str:
    return f"{said}: {advice}" if advice else said


SERVICE = "GitHub"
PIECE = 65_536  # bytes that are read between two looks at the clock


@dataclass
class Asked:
    """The requests of one call: the place of the last one, whether it was a write, and the pages that were read."""

    place: str = ""
    is_write: bool = False
    pages: set[str] = field(default_factory=set)

    def note(self, method: str, url: str) -> None:
        """Note a request. Raises Unavailable for a page that names itself as the next, and as `check_lease`."""
        self.place = place_of(url)
        self.is_write = method not in {"GET", "HEAD"} and not url.endswith(("/graphql", "/access_tokens"))
        if self.is_write:
            check_lease()
        if method == "GET" and url in self.pages:
            raise Unavailable(SERVICE, f"{self.place}: its list of pages does not end")
        self.pages.add(url)

    def about(self, why: str) -> str:
        """A reason after the place of the last request."""
        return f"{self.place}: {why}" if self.place else why


_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)


@contextmanager
def noted() -> Iterator[Asked]:
    """Note the requests of this block."""
    asked = Asked()
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)


def note(method: str, url: str) -> None:
    """Note a request that PyGithub does not make."""
    (_asked.get() or Asked()).note(method, url)


def _certificates() -> str:
    """The file that the Hub's client and git's take, and requests does not; "" without one. Raises CallError."""
    path = os.environ.get("SSL_CERT_FILE", "")
    if path and not Path(path).is_file():
        raise CallError(f"SSL_CERT_FILE names no certificates: there is no file {path}")
    return path


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
        if asked.is_write:
            BUDGETS.check_hold(self._budget("writes"), SERVICE)
        BUDGETS.spend(self._budget("graphql" if self.url.endswith("/graphql") else "core"), SERVICE)
        answer = self.session.request(
            self.verb,
            f"{self.protocol}://{self.host}:{self.port}{self.url}",
            headers=self.headers,
            data=self.input,
            timeout=limits.answer_seconds(len(self.input or "")),
            verify=_certificates() or self.verify,
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
        if asked.is_write and answer.status_code in {403, 422, 429}:
            self._hold_writes(answer)
        if answer.is_redirect and not REPOSITORY.search(self.url):  # PyGithub would ask there without the query
            raise Gone(SERVICE, asked.about(f"{answer.status_code}: {ELSEWHERE}"))
        _check_json(answer, asked)
        return RequestsResponse(answer)

    def _budget(self, kind: str) -> str:
        names = {name.lower(): value for name, value in self.headers.items()}
        return key_of(f"{self.host}:{self.port}", str(names.get("authorization", "")), kind)

    def _hold_writes(self, answer: requests.Response) -> None:
        """After a limit that ends for later than a call waits, hold all writes of this account."""
        try:
            data = answer.json()
        except ValueError:
            data = None
        error = GithubException(answer.status_code, data, dict(answer.headers))
        wait = rate_limit_wait(error)
        if wait is not None and wait > LONGEST_WAIT:
            BUDGETS.hold(self._budget("writes"), "writes", error_message(error), wait)

    def _learn(self, answer: requests.Response) -> None:
        """Note what an answer says of the budget; a refusal itself says how long to wait."""
        said = {name: answer.headers.get(f"x-ratelimit-{name}", "") for name in ("limit", "remaining", "reset")}
        if answer.status_code < 400 and all(seconds_in(value) is not None for value in said.values()):
            kind = answer.headers.get("x-ratelimit-resource", "core")
            seconds = float(said["reset"]) - time.time()
            BUDGETS.learn(self._budget(kind), int(said["limit"]), int(said["remaining"]), seconds)


def _unpacked(answer: requests.Response, asked: Asked) -> bytes:
    """The body of an answer. Raises ReadTimeout if no time is left, Unavailable for more than GitHub ever sends."""
    limits, body = current_limits(), bytearray()
    for piece in answer.raw.stream(PIECE, decode_content=True):
        body += piece
        if not limits.left:
            raise requests.ReadTimeout("the answer takes too long")
        if len(body) > MOST_BYTES:
            raise Unavailable(SERVICE, asked.about("the answer is too large"), may_have_landed=asked.is_write)
    return bytes(body)


def _check_json(answer: requests.Response, asked: Asked) -> None:
    """Raise Unavailable for a web page that comes with a status of success instead of JSON."""
    kind, body = answer.headers.get("content-type", ""), answer.content.strip()
    if answer.status_code in {200, 201} and body and ("json" not in kind or not body.startswith((b"{", b"["))):
        what = "nothing" if body == b"null" else kind.partition(";")[0] if "json" not in kind else "something else"
        why = f"{what or 'something'} came instead of an answer"
        raise Unavailable(SERVICE, asked.about(why), may_have_landed=asked.is_write)


class _LimitedHTTP(_Limited, HTTPRequestsConnectionClass):
    """For a GitHub on loopback."""


class _LimitedHTTPS(_Limited, HTTPSRequestsConnectionClass):
    """For GitHub."""


@cache
def install_connections() -> None:
    """Make PyGithub use these connections in the whole process, and write nothing of its own to standard error."""
    log = logging.getLogger("github")
    log.handlers.clear()
    log.setLevel(logging.WARNING)
    Requester.injectConnectionClasses(_LimitedHTTP, _LimitedHTTPS)
