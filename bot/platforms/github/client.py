"""One token's way to GitHub: calls go in, answers or our own exceptions come out, waits have a limit."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import httpx
from github import Auth, Github, GithubException
from github.Repository import Repository
from requests.exceptions import RequestException
from urllib3.util.retry import Retry

from bot.errors import CallError, Refused, Unavailable
from bot.platforms.github.errors import SERVICE, rate_limit_wait, translated
from bot.platforms.source import TooLarge

T = TypeVar("T")
API_URL = "https://api.github.com"
TRIES = 3
PAUSE = 0.15  # seconds before the second try; doubled each time
TIMEOUT = 20  # seconds for each connection and read of one request
PATIENCE = 180.0  # seconds that one run may wait for rate limits in all; beyond, it ends and names the time
# Names as GitHub allows them; a name of dots would walk up the API's path.
ADDRESS = re.compile(
    r"github://(?P<name>[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}(?:[#/]|$))[\w.-]+)(?:#(?P<number>[1-9]\d*))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Address:
    """What `github://owner/name[#number]` names; `number` is the issue that comments go to, None for our own."""

    name: str
    number: int | None = None

    @property
    def owner(self) -> str:
        """The account that the repository belongs to."""
        return self.name.partition("/")[0]


def parse_address(text: str) -> Address:
    """Take a `github://` address apart. Raises CallError where it is none."""
    match = ADDRESS.fullmatch(text)
    if match is None:
        raise CallError(f"{text}: expected github://owner/name, or github://owner/name#number for comments there")
    return Address(match["name"], int(match["number"]) if match["number"] else None)


def only_reads() -> Retry:
    """Try a read again after a 5xx or a lost line; a write may have landed, and only its caller can look."""
    return Retry(
        total=3,
        backoff_factor=0.3,
        status_forcelist=(500, 502, 503, 504),
        allowed_methods=("GET",),
        raise_on_status=False,
        respect_retry_after_header=False,  # how long to wait is decided here, with a limit
    )


@dataclass
class GitHubClient:
    """Calls of one token to one GitHub; without a token it is anonymous, with 60 requests an hour.

    `seconds_between_writes` is GitHub's advice against secondary rate limits; `patience` is in seconds.
    """

    token: str | None = field(default=None, repr=False)
    api_url: str = API_URL
    patience: float = PATIENCE
    seconds_between_writes: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    blobs: dict[str, bytes] = field(default_factory=dict, init=False, repr=False)
    _repos: dict[str, Repository] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def github(self) -> Github:
        """PyGithub; it opens its line with the first call."""
        return Github(
            auth=Auth.Token(self.token) if self.token else None,
            base_url=self.api_url.rstrip("/"),
            timeout=TIMEOUT,
            user_agent="leaderboard-bot",
            per_page=100,
            retry=only_reads(),
            seconds_between_requests=0,
            seconds_between_writes=self.seconds_between_writes,
        )

    def __call__(self, call: Callable[[], T]) -> T:
        """Give what `call` gives, waiting for rate limits while patience lasts.

        A call that met a rate limit has done nothing, so it may be made again. Raises Unavailable, Refused, NotThere,
        Stale.
        """
        while True:
            try:
                return call()
            except GithubException as error:
                wait = rate_limit_wait(error)
                if wait is None or wait > self.patience:
                    raise translated(error, wait) from error
                self.patience -= max(wait, 1.0)
                self.sleep(wait)
            except RequestException as error:
                raise Unavailable(SERVICE, f"no answer ({type(error).__name__})") from error

    def get(self, route: str, **parameters: Any) -> Any:
        """What a GET below the API's URL answers, for what PyGithub's objects would ask in several calls."""
        return self(lambda: self.github.requester.requestJsonAndCheck("GET", route, parameters=parameters)[1])

    def download(self, path: str, limit: int, check: Callable[[bytes], bytes] = bytes) -> bytes:
        """The raw bytes of a blob, read piece by piece; raises TooLarge past `limit`, of which nothing is kept.

        `check` gives the bytes back, or raises Unavailable where others came: they are asked for again.

        PyGithub would hold the whole answer, base64 and all, before it could be measured.
        """

        def call() -> bytes:
            for left in reversed(range(TRIES)):
                try:
                    return check(self._stream(path, limit))
                except Unavailable:
                    if not left:
                        raise
                except (httpx.TransportError, GithubException) as error:
                    if not left and isinstance(error, httpx.TransportError):
                        raise Unavailable(SERVICE, f"no answer ({type(error).__name__})") from error
                    if not left or (isinstance(error, GithubException) and error.status < 500):
                        raise
            raise AssertionError  # the loop returns or raises

        return self(call)

    def _stream(self, path: str, limit: int) -> bytes:
        headers = {"Accept": "application/vnd.github.raw+json", "Accept-Encoding": "identity"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        body = bytearray()
        with httpx.stream("GET", self.api_url.rstrip("/") + path, headers=headers, timeout=TIMEOUT) as answer:
            if answer.status_code != 200:
                raise GithubException(answer.status_code, said_in(answer.read()), dict(answer.headers))
            for piece in answer.iter_raw():
                body += piece
                if len(body) > limit:
                    raise TooLarge(f"more than {limit:,} bytes")
        return bytes(body)

    def repo(self, name: str) -> Repository:
        """A repository; asked for once."""
        if name not in self._repos:
            self._repos[name] = self(lambda: self.github.get_repo(name))
        return self._repos[name]

    @cached_property
    def login(self) -> str:
        """Who the token speaks for: comments and requests are ours only when this account wrote them.

        Asked by GraphQL, because a workflow's token may not `GET /user`. Raises Refused without a token.
        """
        if not self.token:
            raise Refused(SERVICE, "writing needs a token; set GITHUB_TOKEN")
        return str(self.ask_graphql("query { viewer { login } }", {})["viewer"]["login"])

    def ask_graphql(self, query: str, variables: dict[str, Any]) -> Any:
        """What a GraphQL query answers; it is a POST that only reads, so it is tried again after a failure."""
        for left in reversed(range(TRIES)):
            try:
                return self(lambda: self.github.requester.graphql_query(query, variables))[1]["data"]
            except Unavailable as error:
                if not left or error.retry_after is not None:
                    raise
                self.sleep(PAUSE * 2 ** (TRIES - left))
        raise AssertionError  # the loop returns or raises


def said_in(body: bytes) -> Any:
    """The JSON of a refusal, None where it is something else."""
    try:
        return json.loads(body)
    except ValueError:
        return None
