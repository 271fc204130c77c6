"""The client of one account at the Hub: calls with time limits, repeated where that is safe."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from json import JSONDecodeError
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urljoin, urlsplit

import httpx2
from huggingface_hub import HfApi, hf_hub_url, set_client_factory
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OIDCError, RemoteEntryNotFoundError
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # they are loaded when asked for
    get_session,
    hf_raise_for_status,
    parse_ratelimit_headers,
)
from huggingface_hub.utils._http import (
    RateLimitInfo,
    hf_request_event_hook,  # without its hook there is no offline mode
)

from bot import __version__
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
    TooLong,
    Unavailable,
)
from bot.platforms.caches import check_file, lazy_property
from bot.platforms.hub.address import HubAddress, place_of, repository_of
from bot.platforms.net import (
    ANSWERS,
    BUDGETS,
    LISTING,
    LONGEST_WAIT,
    LONGEST_WINDOW,
    NO_CONNECTION,
    QUOTA_WAIT,
    TIMEOUT,
    UNKNOWN_FATE,
    Limits,
    ServiceClient,
    check_lease,
    current_limits,
    in_words,
    key_of,
    seconds_in,
    within,
)
from bot.platforms.platform import NO_ADDRESS, Access
from bot.platforms.source import TooLarge

SERVICE = "the Hub"
NO_HISTORY = "the token may not read the commits there; it needs the right repo.content.read"
MAY_WRITE = "see whether the bot's account and its token may write there"
TOKEN = (
    "the token is missing, wrong or no longer valid; set HF_TOKEN "
    + NEEDS_TOKEN
    + " (in a workflow, the input `hf-token`)"
)
MISSING = frozenset({"RepoNotFound", "RevisionNotFound", "EntryNotFound"})
ERROR_NUMBER = re.compile(r"\[Errno -?\d+\] ")
MOST_JSON = 32_000_000  # bytes of one answer of the API: its texts take fifteen times as much when they are read
READING_POSTS = ("/paths-info", "/preupload/", "/api/validate-yaml", "/git-upload-pack")  # that change nothing


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that an answer asks us to wait: RateLimit where nothing is left, else Retry-After."""
    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return float(min(limit.reset_in_seconds, LONGEST_WINDOW))
    return seconds_in(headers.get("retry-after", ""))


def is_write(request: httpx2.Request) -> bool:
    """Tell whether a request may change something."""
    return request.method not in {"GET", "HEAD"} and not any(part in request.url.path for part in READING_POSTS)


def about(request: httpx2.Request, why: str) -> str:
    """A reason after the place that a request is about."""
    place = place_of(request.url.raw_path.decode("ascii", "replace"))
    return f"{place}: {why}" if place else why


def translated_status(response: httpx2.Response, why: str) -> BotError:
    """The bot's exception for an answer that is not a success."""
    status, request = response.status_code, response.request
    is_missing = response.headers.get("x-error-code") in MISSING  # a 401 may say this, too
    said = about(request, f"{status}: {TOKEN if status == 401 and not is_missing else why}")
    if status in {409, 412}:
        return Stale(f"{SERVICE}: {said}")
    if status >= 500 or status in {408, 429}:
        wait = asked_wait(response.headers)
        shown = f"{said} (it asks to wait {wait:.0f} s)" if wait else said
        return Unavailable(SERVICE, shown, retry_after=wait, may_have_landed=status != 429 and is_write(request))
    kind = _refusal(response, why.lower())
    if status == 403 and "/commits/" in request.url.path:
        said = f"{said}; {NO_HISTORY}"
    return kind(SERVICE, f"{said}; {MAY_WRITE}" if kind is NoWriteAccess else said)


def _refusal(response: httpx2.Response, said: str) -> type[Refused]:
    """The kind of refusal that an answer is."""
    if "locked" in said:
        return Locked
    if "discussion" in said and "disabled" in said:
        return DiscussionsDisabled
    if response.headers.get("x-error-code") in MISSING or response.status_code in {404, 410}:
        return Gone
    is_commit = is_write(response.request) or "/preupload/" in response.request.url.path
    return NoWriteAccess if response.status_code == 403 and is_commit else Refused


def translated(error: Exception) -> BotError | None:
    """Our exception for one of the client's; None for an error that the Hub did not cause."""
    if isinstance(error, HfHubHTTPError):
        message = error.server_message or error.response.reason_phrase or type(error).__name__
        return translated_status(error.response, message.splitlines()[0][:300])
    if isinstance(error, httpx2.HTTPError):
        request = getattr(error, "_request", None)
        # What cannot be sent is told with its headers, of which one is the token.
        why = in_words(error) if isinstance(error, httpx2.LocalProtocolError) else _with_reason(error)
        landed = request is not None and is_write(request) and not isinstance(error, httpx2.ConnectError)
        if request is not None and in_words(error) != NO_CONNECTION:
            why = about(request, why)
        return Unavailable(SERVICE, why, may_have_landed=landed)
    if isinstance(error, ConnectionError):
        return Unavailable(SERVICE, _with_reason(error), may_have_landed=True)
    return None


def _with_reason(error: Exception) -> str:
    said = ERROR_NUMBER.sub("", str(error))[:200]
    return f"{in_words(error)} ({said})" if said else in_words(error)


@contextmanager
def hub_errors(what: str = "") -> Iterator[None]:
    """Turn the client's exceptions into ours; `what` is named where an answer is not from the Hub."""
    try:
        yield
    except OIDCError as error:
        raise Refused(SERVICE, f"trusted publishing: {' '.join(str(error).split())[:300]}") from error
    except (httpx2.HTTPError, OSError) as error:
        ours = translated(error)
        if ours is None:
            raise
        raise ours from error
    except HFValidationError as error:
        raise Refused(SERVICE, " ".join(str(error).split())[:300]) from error
    except httpx2.InvalidURL as error:
        raise CallError(NO_ADDRESS) from error
    except (JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        why = f"{what}{': ' if what else ''}the answer is not from the Hub ({type(error).__name__})"
        raise Unavailable(SERVICE, why, may_have_landed=True) from error
    except ValueError as error:  # a card that the Hub finds invalid
        if "'idna'" in str(error):  # the host of a proxy
            raise CallError(NO_ADDRESS) from error
        raise Refused(SERVICE, " ".join(str(error).split())[:300]) from error


SMALL_FILES = "/api/resolve-cache/"  # where the Hub sends who asks for a small file of a public repository


@cache
def install_client_factory() -> None:
    """Give the process-wide client of huggingface_hub time limits, budgets and checks of its answers."""

    def factory() -> httpx2.Client:
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [hf_request_event_hook, limit_time, check_holds, spend_budget],
            "response": [count_answer, hold_writes, refuse_long_waits, refuse_moved, end_in_time, read_in_bounds],
        }
        try:
            return httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=httpx2.Timeout(TIMEOUT))
        except OSError as error:
            raise CallError(f"SSL_CERT_FILE or SSL_CERT_DIR names no certificates: {error}") from None
        except (httpx2.InvalidURL, ValueError):
            raise CallError(NO_ADDRESS) from None

    set_client_factory(factory)


def count_answer(response: httpx2.Response) -> None:
    """Count the answer for the metrics, and note what is left of the budget; a refusal itself says how long to wait."""
    limit = parse_ratelimit_headers(response.headers)
    ANSWERS.count("hub", response.status_code, None if limit is None else limit.remaining)
    if limit is not None and response.status_code < 400:
        key = budget_of(response.request, limit.resource_type)
        BUDGETS.learn(key, limit.limit, limit.remaining, limit.reset_in_seconds)


def is_api(path: str) -> bool:
    """Tell whether a path belongs to the API with its JSON answers; small files of public repositories do not."""
    return path.startswith("/api/") and not path.startswith(SMALL_FILES)


def spend_budget(request: httpx2.Request) -> None:
    """Count a request. Raises Unavailable if the account has none left, or bulk work used its half."""
    path = request.url.path
    is_file = "/resolve/" in path or path.startswith(SMALL_FILES)
    kind = "resolvers" if is_file else "api" if is_api(path) else "pages"
    BUDGETS.spend(budget_of(request, kind), SERVICE)


def quota_of(request: httpx2.Request) -> str:
    """The kind of write for which the Hub has a quota of its own that a request counts for; "" for a read."""
    path = request.url.path
    if request.method in {"GET", "HEAD"} or not is_api(path):
        return ""
    if "/commit/" in path or "/preupload/" in path:  # the second only prepares a commit
        return "commits"
    if not is_write(request):
        return ""
    if "/comment" in path:
        return "comments"
    return "pull requests and discussions" if "/discussions" in path else "changes"


def check_holds(request: httpx2.Request) -> None:
    """Raise Unavailable for a write of a kind that the Hub refused to this account, until its time is over."""
    if kind := quota_of(request):
        BUDGETS.check_hold(budget_of(request, kind), SERVICE)


def hold_writes(response: httpx2.Response) -> None:
    """After a 429 hold all writes of this kind: the client would send each again and again, as long as it has items.

    https://github.com/huggingface/datasets/issues/6257 has such an answer; its RateLimit header shows plenty.
    """
    kind, wait = quota_of(response.request), asked_wait(response.headers)
    if response.status_code != 429 or not kind or wait == 0:
        return
    response.read()
    said = f"429: {_said(response)}"
    hold = BUDGETS.hold(budget_of(response.request, kind), kind, said, wait)
    raise Unavailable(SERVICE, hold.why, retry_after=QUOTA_WAIT if wait is None else wait)


def _said(response: httpx2.Response) -> str:
    try:
        return " ".join(str(response.json()["error"]).split())[:300]
    except (ValueError, KeyError, TypeError):
        return response.reason_phrase or "a refusal"


def budget_of(request: httpx2.Request, kind: str) -> str:
    """The name of the budget that a request counts for."""
    return key_of(request.url.netloc.decode("ascii", "replace"), request.headers.get("authorization", ""), kind)


def limit_time(request: httpx2.Request) -> None:
    """Give an answer more time, the more was sent. Raises Unavailable if no time is left."""
    limits = current_limits()
    if not limits.left:
        raise Unavailable(SERVICE, about(request, "no time is left for this operation"))
    sent = int(request.headers.get("content-length") or 0)
    seconds = limits.answer_seconds(sent)
    request.extensions = {**request.extensions, "timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)}


def refuse_long_waits(response: httpx2.Response) -> None:
    """End a call whose own retry would sleep longer than we allow: the client has no limit."""
    if response.status_code in {429, 503} and (asked_wait(response.headers) or 0) > LONGEST_WAIT:
        raise translated_status(response, response.reason_phrase or "a refusal")


def refuse_moved(response: httpx2.Response) -> None:
    """Raise Gone with the new name of a renamed repository: evidence and settings have to follow."""
    if not response.has_redirect_location:
        return
    old = repository_of(str(response.request.url))
    new = repository_of(str(response.request.url.join(response.headers["location"])))
    if old and new and old.lower() != new.lower():
        raise Gone(SERVICE, f"{old} was renamed to {new}: write the new name into the settings")


def end_in_time(response: httpx2.Response) -> None:
    """Make an answer that comes drop by drop end with the time of its operation."""
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Timed(response.stream, current_limits(), response.request)


def read_in_bounds(response: httpx2.Response) -> None:
    """Read an answer of the API here: the client would unpack any number of bytes.

    A web page with status 200 instead of an answer is an outage. Raises TooLong past MOST_JSON.
    """
    if not is_api(response.request.url.path) or response.has_redirect_location:
        return
    kind = response.headers.get("content-type", "")
    if response.status_code == 200 and "json" not in kind:
        why = about(response.request, f"{kind.partition(';')[0] or 'something'} came instead of an answer")
        raise Unavailable(SERVICE, why, may_have_landed=is_write(response.request))
    pieces, size = list[bytes](), 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > MOST_JSON:
            raise TooLong(SERVICE, about(response.request, f"the answer is too large: more than {MOST_JSON:,} bytes"))
        pieces.append(piece)
    response._content = b"".join(pieces)  # noqa: SLF001 - where the client keeps what it read itself


class Timed(httpx2.SyncByteStream):
    """The pieces of an answer, as long as the operation has time."""

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


ENDPOINT = "https://huggingface.co"
T = TypeVar("T")


@dataclass
class HubClient(ServiceClient):
    """Calls of one account to one Hub.

    `read` is for calls that may be repeated, `write` for those that may have landed although they failed: these are
    sent once, within `sent_once`. With `keyless` the client exchanges a workflow's identity for a token of one
    repository (trusted publishing, HF_OIDC_RESOURCE). `cache` is the folder for what git fetches.
    """

    endpoint: str = ENDPOINT
    token: str | None = field(default=None, repr=False)
    keyless: bool = False
    cache: Path = field(default_factory=Path, repr=False)
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
        """Make a call, and repeat it after a failure of the service as long as the waits stay short."""
        what = str(how.get("repo_id") or next(iter(args), ""))
        return self.patiently(lambda: call(*args, **how), what)

    def write(self, call: Callable[..., T], *args: Any, **how: Any) -> T:
        """Make a call once: a failed one may have landed. Raises LeaseLost if another process may write by now."""
        check_lease()
        with within(self.deadline, self.timeout), hub_errors(str(how.get("repo_id", ""))):
            return call(*args, **how)

    def patiently(self, call: Callable[[], T], what: str = "") -> T:
        """Repeat a call that changes nothing."""

        def once() -> T:
            with hub_errors(what):
                return call()

        with within(self.deadline, self.timeout):
            return self.backoff(once)

    @lazy_property
    def account(self) -> Mapping[str, Any]:
        """The bot's account with `name` and `id`, requested once, because the Hub limits this call hard."""
        if self.api.token is False:
            raise Refused(SERVICE, TOKEN)
        return self.read(lambda: {**self.api.whoami()})

    @property
    def user(self) -> str:
        """Our account's name; requests and comments are ours only when it wrote them."""
        return str(self.account["name"])

    def get_json(self, path: str, take: Callable[[Any], T], **params: Any) -> T:
        """The result of `take` on the answer to a GET below the endpoint, for data that the client's calls do not give.

        Where `take` fails on an answer, it is requested again.
        """
        return self.patiently(lambda: take(self.get(f"{self.endpoint}{path}", params).json()), place_of(path))

    def get_pages(self, path: str, take: Callable[[Any], T], **params: Any) -> Iterator[T]:
        """The result of `take` on each item of a list in pages; each page is requested when it is needed.

        The client's own lists wait a second or more after every failure, and as long as they are told to. Raises
        Unavailable where a page names itself, or an earlier one, as the next.
        """

        def page(url: str, params: Mapping[str, Any]) -> tuple[list[T], str]:
            response = self.get(url, params)
            items = response.json()
            if not isinstance(items, list):
                raise TypeError(type(items).__name__)
            return [take(item) for item in items], response.links.get("next", {}).get("url", "")

        url, end, seen, what = f"{self.endpoint}{path}", time.monotonic() + LISTING, set[str](), place_of(path)
        while url:
            if url in seen or time.monotonic() > end:
                raise Unavailable(SERVICE, f"{what}: its list of pages does not end")
            seen.add(url)
            items, following = self.patiently(partial(page, url, params), what)
            yield from items
            url, params = urljoin(url, following) if following else "", {}

    def get(self, url: str, params: Mapping[str, Any]) -> httpx2.Response:
        """The answer to one successful GET; hosts other than the Hub's get no token."""
        is_ours = urlsplit(url)[:2] == urlsplit(self.endpoint)[:2]
        headers = self.headers if is_ours else {}
        response = get_session().get(url, params=dict(params) or None, headers=headers)
        hf_raise_for_status(response)
        return response

    @property
    def headers(self) -> dict[str, str]:
        """The headers for requests that are not made by the client."""
        return dict(self.api._build_hf_headers())  # noqa: SLF001 - it alone knows about tokens by OIDC

    def save(
        self, address: HubAddress, path: str, revision: str, limit: int, into: IO[bytes], *, oid: str | None = None
    ) -> bool:
        """Write a file into an open one; False if it is not there.

        Raises TooLarge past `limit` bytes, before more than one piece beyond it is read. Raises Unavailable where the
        bytes are not those of the given object id, or of the one that the answer names.
        """
        url = hf_hub_url(address.name, path, repo_type=address.kind, revision=revision, endpoint=self.endpoint)
        where = f"{address.url} {path}"

        def call() -> bool:
            found = stream(url, self.headers, limit, into)
            if found is None:
                return False
            commit, named = found
            if not commit:
                raise Unavailable(SERVICE, f"{where}: the answer is not the file, and not from the Hub")
            for wanted in (oid, named):
                check_file(into, wanted, SERVICE, where)
            return True

        return self.patiently(call, where)

    def web(self, address: HubAddress) -> str:
        """The web address of the repository, which git uses too."""
        return f"{self.endpoint}/{'' if address.kind == 'model' else f'{address.kind}s/'}{address.name}"


def stream(url: str, headers: dict[str, str], limit: int, into: IO[bytes]) -> tuple[str, str | None] | None:
    """Read a file piece by piece, uncompressed, up to the limit.

    Returns the commit and the object id that the Hub's own answer names, "" and None where it names none.
    """
    with get_session().stream("GET", url, headers={**headers, "Accept-Encoding": "identity"}) as response:
        try:
            hf_raise_for_status(response)
        except RemoteEntryNotFoundError:
            return None
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Refused(SERVICE, "the server sent a compressed file, but the bot asked for a plain one")
        if int(response.headers.get("content-length") or 0) > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        into.seek(0)
        into.truncate()
        for piece in response.iter_raw():
            into.write(piece)
            if into.tell() > limit:
                raise TooLarge(f"more than {limit:,} bytes")
        # Small files are at another path of the Hub, large ones at another host, which does not say what they are.
        answers = [*response.history, response]
        fields = [one for one in answers if one.url.netloc == answers[0].url.netloc][-1].headers
        oid = (fields.get("x-linked-etag") or fields.get("etag") or "").removeprefix("W/").strip('"') or None
        return fields.get("x-repo-commit") or "", oid


def hub_client(
    access: Access, look_in_line: float = UNKNOWN_FATE, former_accounts: AbstractSet[str] = frozenset()
) -> HubClient:
    """The client of the account that `access` names."""
    return HubClient(
        access.hf_endpoint,
        access.hf_token,
        keyless=access.hf_keyless,
        cache=access.cache,
        look_in_line=look_in_line,
        former_accounts=former_accounts,
    )


def role_of(account: Mapping[str, Any]) -> str:
    """The role of our token: "read", "write", "fineGrained", or "" if the Hub does not say."""
    return str(_token_of(account).get("role") or "")


def has_right(account: Mapping[str, Any], right: str, address: HubAddress) -> bool | None:
    """Whether a fine-grained token has a right (`repo.write`, `discussion.write`) at a repository, its own or all.

    None for another token, or where the Hub does not list the rights of this one.
    """
    rights = _token_of(account).get("fineGrained")
    if not isinstance(rights, dict):
        return None
    owner = address.name.partition("/")[0]
    places = {(address.kind, address.name), ("user", owner), ("org", owner)}
    scoped = [
        one for one in rights.get("scoped") or () if isinstance(one, dict) and isinstance(one.get("entity"), dict)
    ]
    given = [one for one in scoped if (one["entity"].get("type"), one["entity"].get("name")) in places]
    return right in (rights.get("global") or ()) or any(right in (one.get("permissions") or ()) for one in given)


def _token_of(account: Mapping[str, Any]) -> Mapping[str, Any]:
    auth = account.get("auth")
    token = auth.get("accessToken") if isinstance(auth, dict) else None
    return token if isinstance(token, dict) else {}


def service_headers(client: HubClient, address: HubAddress) -> tuple[str | None, RateLimitInfo | None]:
    """The date and the limit in the headers of an answer about a repository, also of a refusal. Raises Unavailable."""
    url = f"{client.endpoint}/api/{address.kind}s/{address.name}"
    headers = client.patiently(lambda: get_session().get(url, headers=client.headers).headers, address.url)
    return headers.get("date"), parse_ratelimit_headers(headers)
