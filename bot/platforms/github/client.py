"""The client of one account at GitHub: calls with time limits, repeated where that is safe."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

import httpx
import jwt
from github import Auth, Github, GithubException
from github.Repository import Repository
from requests.exceptions import InvalidURL, RequestException
from urllib3.exceptions import LocationValueError

from bot.errors import CallError, Gone, Refused, Unavailable
from bot.platforms.caches import Contents, check_file, lazy_property
from bot.platforms.github.wire import SERVICE, install_connections, note, noted, rate_limit_wait, translated
from bot.platforms.net import NO_CONNECTION, Backoff, ServiceClient, current_limits, in_words, within, wrote_nothing
from bot.platforms.platform import GITHUB_API_URL, NO_ADDRESS, GitHubApp
from bot.platforms.source import TooLarge

T = TypeVar("T")
PATIENCE = 180.0  # seconds that one run may wait for rate limits in all; beyond, it ends and names the time
# Errors from invalid answers: PyGithub does not check them, and asserts the host of a next page.
ODD_ANSWERS = (ValueError, KeyError, TypeError, AttributeError, AssertionError, RuntimeError, OverflowError)
BAD_KEY = "GITHUB_APP_PRIVATE_KEY is not an RSA private key in PEM form; GitHub gives one in the settings of the app"
SHOWN = 5  # installations that a message names


def seconds_between_writes(api_url: str) -> float:
    """The pause that GitHub advises against secondary rate limits; an own server rarely has such limits."""
    host = urlsplit(api_url).hostname or ""
    return 1.0 if host == "api.github.com" or host.endswith(".ghe.com") else 0.0


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates of this machine, which take 20 ms to read."""
    return httpx.create_ssl_context()


@dataclass
class GitHubClient(ServiceClient):
    """Calls with one token, or as one app, to one GitHub; without either it is anonymous, with 60 requests an hour.

    `patience` is how many seconds all waits for rate limits together may last.
    """

    token: str | None = field(default=None, repr=False)
    api_url: str = GITHUB_API_URL
    patience: float = PATIENCE
    app: GitHubApp | None = None
    pause: float = field(default=0.15, kw_only=True)
    blobs: Contents = field(default_factory=Contents, init=False, repr=False)
    _auth: Auth.Auth | None = field(default=None, init=False, repr=False)
    _repos: dict[str, Repository] = field(default_factory=dict, init=False, repr=False)

    @lazy_property
    def github(self) -> Github:
        """PyGithub, which connects with the first call."""
        install_connections()
        options: dict[str, Any] = {
            "base_url": self.api_url.rstrip("/"),
            "user_agent": "leaderboard-bot",
            "per_page": 100,
            "retry": None,  # this class decides what may be repeated, with one limit for all
            "seconds_between_requests": 0,
            "seconds_between_writes": seconds_between_writes(self.api_url),
        }
        self._auth = account_of(self.token, self.app, **options)
        return Github(auth=self._auth, **options)

    @property
    def has_account(self) -> bool:
        """Tell whether calls are made as an account."""
        return bool(self.token) or self.app is not None

    @property
    def backoff(self) -> Backoff:
        """The policy for repeated calls."""
        return Backoff(self.pause, longest=self.patience, sleep=self.sleep)

    def __call__(self, call: Callable[[], T]) -> T:
        """The result of `call`, repeated where it wrote nothing, and after rate limits while `patience` lasts.

        Raises Unavailable, Refused, Gone, Stale.
        """
        return self.backoff(partial(self._once, call), wrote_nothing)

    def _once(self, call: Callable[[], T]) -> T:
        with noted() as asked, within(self.deadline, self.timeout):
            try:
                return call()
            except GithubException as error:
                wait = rate_limit_wait(error)
                if wait is not None and wait <= self.patience:
                    self.patience -= max(wait, 1.0)
                raise translated(error, wait, asked) from error
            except (InvalidURL, LocationValueError) as error:
                raise CallError(NO_ADDRESS) from error
            except (RequestException, httpx.TransportError, OSError) as error:
                why = in_words(error)
                why = why if why == NO_CONNECTION else asked.about(why)
                raise Unavailable(SERVICE, why, may_have_landed=asked.is_write) from error
            except ODD_ANSWERS as error:
                why = asked.about(f"the answer is not from GitHub ({type(error).__name__})")
                raise Unavailable(SERVICE, why, may_have_landed=asked.is_write) from error

    def get(self, route: str, **parameters: Any) -> Any:
        """The answer to a GET below the API's URL, for data that PyGithub's objects would request in several calls."""
        return self(lambda: self.github.requester.requestJsonAndCheck("GET", route, parameters=parameters)[1])

    def save_blob(self, repository: str, oid: str, limit: int, into: IO[bytes]) -> None:
        """Write the raw bytes of a blob into an open file, piece by piece; raises TooLarge past `limit`.

        Raises Unavailable where other bytes keep coming than those of the id. PyGithub would hold the whole answer in
        base64 before it could be measured.
        """
        where = f"github://{repository} object {oid[:12]}"

        def call() -> None:
            self._stream(f"/repos/{repository}/git/blobs/{oid}", limit, into)
            check_file(into, oid, SERVICE, where)

        self(call)

    def _stream(self, path: str, limit: int, into: IO[bytes]) -> None:
        headers = {"Accept": "application/vnd.github.raw+json", "Accept-Encoding": "identity"}
        _ = self.github  # it signs in
        if self._auth:  # the token of an app lasts an hour
            headers["Authorization"] = f"Bearer {self._auth.token}"
        note("GET", path)
        limits = current_limits()
        into.seek(0)
        into.truncate()
        seconds = limits.answer_seconds(0)
        url, verify = self.api_url.rstrip("/") + path, _certificates()
        with httpx.stream("GET", url, headers=headers, timeout=seconds, verify=verify) as answer:
            if answer.status_code != 200:
                raise GithubException(answer.status_code, error_json(answer.read()), dict(answer.headers))
            for piece in answer.iter_raw():
                into.write(piece)
                if into.tell() > limit:
                    raise TooLarge(f"more than {limit:,} bytes")
                if not limits.left:
                    raise httpx.ReadTimeout("the answer takes too long")

    def repo(self, name: str) -> Repository:
        """A repository, requested once. Raises Gone with the new name of one that was renamed."""
        if name not in self._repos:
            found = self(lambda: self.github.get_repo(name))
            new = found.full_name
            if new.lower() != name.lower():
                said = f"github://{name} was renamed to github://{new}: write the new name into the settings"
                raise Gone(SERVICE, said)
            self._repos[name] = found
        return self._repos[name]

    def forget_repo(self, name: str) -> None:
        """Request a repository again the next time: another one may have its name now."""
        self._repos.pop(name, None)

    @lazy_property
    def user(self) -> str:
        """The account of the token: comments and requests are ours only when it wrote them.

        Requested by GraphQL, because a workflow's token may not `GET /user`. Raises Refused without a token.
        """
        if not self.has_account:
            raise Refused(SERVICE, "writing needs a token; set GITHUB_TOKEN")
        return self.ask_graphql("query { viewer { login } }", {}, lambda data: str(data["viewer"]["login"]))

    def ask_graphql(self, query: str, variables: dict[str, Any], take: Callable[[Any], T]) -> T:
        """The result of `take` on the answer to a GraphQL query, which is a POST that only reads."""
        return self(lambda: take(self.github.requester.graphql_query(query, variables)[1]["data"]))


def error_json(body: bytes) -> Any:
    """The JSON of a refusal; None if it is not JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def account_of(token: str | None, app: GitHubApp | None, **options: Any) -> Auth.Auth | None:
    """The credentials of calls, None if there are none; an app has precedence over a token.

    `options` are PyGithub's own. Raises CallError for an invalid key, or if the app has not exactly one installation.
    """
    if app is None:
        return Auth.Token(token) if token else None
    account = Auth.AppAuth(app.app_id, app.private_key)
    try:
        _ = account.token
    except (ValueError, TypeError, jwt.PyJWTError):
        raise CallError(BAD_KEY) from None
    return account.get_installation_auth(app.installation or _only_installation(account, **options))


def _only_installation(account: Auth.AppAuth, **options: Any) -> int:
    """The number of the only installation of an app."""
    requester = Github(auth=account, **options).requester
    _, rows = requester.requestJsonAndCheck("GET", "/app/installations", parameters={"per_page": 100})
    if len(rows) == 1:
        return int(rows[0]["id"])
    known = ", ".join(f"{row['id']} at {row['account']['login']}" for row in rows[:SHOWN])
    raise CallError(
        f"the app has {len(rows)} installations{f' ({known})' if known else ''}: "
        + ("name one by GITHUB_APP_INSTALLATION_ID" if rows else "install it on the repositories of the settings")
    )
