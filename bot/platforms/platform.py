"""What a platform is, and what opens its addresses: with which accounts, and with what is kept between passes.

The address of a page in a browser, or for `git clone`, is refused with the address to write.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bot.errors import CallError
from bot.platforms.caches import Contents, KnownThreads
from bot.platforms.net import LOOK_IN_LINE, UNKNOWN_FATE, Intend, no_intent
from bot.reporting.escape import visible

if TYPE_CHECKING:  # `check` opens no target, and starts faster without what writes to them
    from bot.platforms.discussions import Discussions
    from bot.platforms.row_index import RowStore
    from bot.platforms.source import Source
    from bot.platforms.target import SiteHost, Target
    from bot.publishing.publication import Form

HUB_PAGE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<kind>datasets/|spaces/)?(?P<name>[\w.-]+/[\w.-]+)"
    r"(?:/(?:blob|raw|resolve|tree)/(?P<revision>[^/]+)(?P<path>/[^?#]*)?)?(?:[/?#].*)?",
    re.ASCII,
)
GITHUB_PAGE = re.compile(
    r"(?:https?://|ssh://|git@)*(?:www\.)?github\.com[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?"
    r"(?:/blob/[^/]+(?P<path>/[^?#]*))?(?:[/?#].*)?",
    re.ASCII,
)
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)  # a name on the Hub or on GitHub has this form


def address_of_page(text: str) -> str:
    """The address here of a page of the Hub or of GitHub, "" for any other text."""
    if page := HUB_PAGE.fullmatch(text):
        revision = "" if page["revision"] in {None, "main"} else f"@{page['revision']}"
        return f"hf://{page['kind'] or 'models/'}{page['name']}{revision}{page['path'] or ''}".rstrip("/")
    page = GITHUB_PAGE.fullmatch(text)
    return f"github://{page['name']}{page['path'] or ''}" if page else ""


def refuse_pasted(text: str) -> None:
    """Raise CallError with the address to write where a text is the address of a page."""
    if address := address_of_page(text):
        raise CallError(f"{text}: write {address}")


def refuse_forgotten_scheme(text: str) -> None:
    """Raise CallError for a page and for `org/name`: without `hf://` it would name a folder on this machine."""
    refuse_pasted(text)
    if REPOSITORY.fullmatch(text):
        raise CallError(f"{text}: write hf://datasets/{text}, github://{text}, or ./{text} for a folder")


T = TypeVar("T")
GITHUB_API_URL = "https://api.github.com"
HF_ENDPOINT = "https://huggingface.co"
MOST_COMMITS = 10_000  # commits of the bot that are remembered
NO_ADDRESS = "the address of a proxy (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY) or of the service is not valid: set it again"


@dataclass(frozen=True, slots=True)
class GitHubApp:
    """An app as which the bot acts at GitHub; `installation` is the number of one, None for the only one."""

    app_id: str
    private_key: str = field(repr=False)
    installation: int | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """The addresses of the services and our credentials, which are never shown. `cache` holds what only costs time."""

    github_token: str | None = field(default=None, repr=False)
    github_api_url: str = GITHUB_API_URL
    github_app: GitHubApp | None = None
    hf_token: str | None = field(default=None, repr=False)
    hf_endpoint: str = HF_ENDPOINT
    hf_keyless: bool = False
    cache: Path = field(default_factory=lambda: Path.home() / ".cache" / "leaderboard-bot")


@dataclass
class ServiceCache:
    """What a service keeps between two passes; a single command starts with nothing.

    `known` gives, for a repository, what was read of its discussions, `rows` the index of the rows on its main branch.
    `blobs` are contents by object id, `own_commits` the commits that we made, `former_accounts` our former names at
    each service; `clients` and `listings` belong to the platforms. `intend` is held, by a name and for so many seconds
    at most, around each write that must happen once: it raises Unsettled where another process holds it, or was killed
    with it. `is_service` says that requests are looked for in every form of publication: the token of a single command
    may not be able to read them.
    """

    known: Callable[[str], KnownThreads] = lambda _: KnownThreads()
    blobs: MutableMapping[str, bytes] = field(default_factory=Contents)
    rows: Callable[[str], RowStore] | None = None
    own_commits: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_COMMITS))
    former_accounts: dict[str, set[str]] = field(default_factory=lambda: {"hf": set(), "github": set()})
    listings: dict[str, Any] = field(default_factory=dict)
    clients: dict[str, Any] = field(default_factory=dict)
    intend: Intend = no_intent
    is_service: bool = False


@dataclass(frozen=True, slots=True)
class GitRemote:
    """A repository that git can fetch: its address, and the token to read it."""

    url: str
    token: str | None = field(default=None, repr=False)


@dataclass
class Opener:
    """Opens what an address names, with our accounts and with what is kept; relative folders start at `folder`."""

    access: Access
    folder: Path = field(default_factory=Path)
    service_cache: ServiceCache = field(default_factory=ServiceCache, repr=False)

    @property
    def look_in_line(self) -> float:
        """Seconds to wait at once for a write that may show later: a service has other work, a command none."""
        return LOOK_IN_LINE if self.service_cache.is_service else UNKNOWN_FATE

    def client(self, scheme: str, make: Callable[[], T]) -> T:
        """The only client of a platform, made when it is first needed."""
        if scheme not in self.service_cache.clients:
            self.service_cache.clients[scheme] = make()
        client: T = self.service_cache.clients[scheme]
        return client

    def source(self, name: str) -> Source:
        """The source at an address. Raises CallError for an address of no platform, or that its platform refuses."""
        return platform_of(name).open_source(name, self)

    def target(self, name: str, form: Form = "pull-request", discussion: int | None = None) -> Target:
        """The target at an address, for one form of publication. Raises CallError for an address of none."""
        return platform_of(name).open_target(name, self, form, discussion)

    def discussions(self, name: str) -> Discussions | None:
        """The discussions of a source; None if it has none. Raises CallError."""
        return platform_of(name).open_discussions(name, self)


class Platform(Protocol):
    """One kind of place for results and rows; `address` shows the form of its addresses."""

    address: str

    def open_source(self, name: str, opener: Opener) -> Source:
        """The source at an address; nothing is requested yet. Raises CallError for an address of none."""
        ...

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> Target:
        """The target at an address, for one form of publication; `discussion` is the number of the one for comments."""
        ...

    def open_discussions(self, name: str, opener: Opener) -> Discussions | None:
        """The discussions of a source; None if it has none."""
        return None

    def open_site(self, name: str, opener: Opener) -> SiteHost | None:
        """The repository that shows a site, None if none can. Raises CallError for another address."""
        return None

    def git_remote(self, name: str, access: Access) -> GitRemote | None:
        """The remote of the repository at an address, None if git cannot fetch it."""
        return None


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Modules whose PLATFORM is loaded when an address of its scheme is first opened; no scheme is a folder.
BUILT_IN_PLATFORMS = {
    "": "bot.platforms.git.source",
    "hf": "bot.platforms.hub.platform",
    "github": "bot.platforms.github.platform",
}


def open_target(name: str, access: Access, form: Form = "pull-request") -> Target:
    """The target at an address, for one form of publication; nothing is requested yet. Raises CallError for none."""
    return Opener(access).target(name, form)


def platform_of(name: str) -> Platform:
    """The platform that an address belongs to. Raises CallError if there is none."""
    if not name.strip():
        raise CallError("the address is empty: name a folder, hf://datasets/org/name, or github://owner/name")
    if CONTROL.search(name):
        raise CallError(f"{visible(name)}: an address has no line break and no other control character")
    scheme, separator, _ = name.partition("://")
    if not separator:
        return _load("")
    if scheme not in BUILT_IN_PLATFORMS:
        refuse_pasted(name)
        known = [_load(each).address for each in BUILT_IN_PLATFORMS]
        raise CallError(f"{name}: write {', '.join(known[:-1])} or {known[-1]}")
    return _load(scheme)


@cache
def _load(scheme: str) -> Platform:
    platform: Platform = import_module(BUILT_IN_PLATFORMS[scheme]).PLATFORM
    return platform
