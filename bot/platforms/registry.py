"""The platforms by the scheme of their addresses, and the one opener of sources, targets and discussions.

A platform is one object. Nobody asks what kind of thing was opened: a platform without discussions returns None for
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, MutableSet
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bot.errors import CallError
from bot.platforms.caches import Contents, Latest
from bot.platforms.pasted import refuse_pasted
from bot.platforms.writes import Intend, nobody_else
from bot.reporting.escape import visible

if TYPE_CHECKING:  # `check` opens no target, and starts faster without what writes to them
    from bot.platforms.discussions import Discussions
    from bot.platforms.source import Source
    from bot.platforms.target import SiteHost, Target
    from bot.publishing.publication import Form

T = TypeVar("T")
GITHUB_API_URL = "https://api.github.com"
HF_ENDPOINT = "https://huggingface.co"
NO_ADDRESS = "the address of a proxy (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY) or of the service is not valid: set it again"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Modules whose PLATFORM is loaded when an address of its scheme is first opened; no scheme is a folder.
BUILT_IN = {
    "": "bot.platforms.git.platform",
    "hf": "bot.platforms.hub.platform",
    "github": "bot.platforms.github.platform",
}


@dataclass(frozen=True, slots=True)
class GitHubApp:
    """An app that we are at GitHub; `installation` is the number of one, None for the only one that there is."""

    app_id: str
    private_key: str = field(repr=False)
    installation: int | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Where the services are and who we are there; no token is ever shown. `cache` holds what only costs time."""

    github_token: str | None = field(default=None, repr=False)
    github_api_url: str = GITHUB_API_URL
    github_app: GitHubApp | None = None
    hf_token: str | None = field(default=None, repr=False)
    hf_endpoint: str = HF_ENDPOINT
    hf_keyless: bool = False
    cache: Path = field(default_factory=lambda: Path.home() / ".cache" / "leaderboard-bot")


def no_memory(_: str) -> MutableMapping[int, bytes]:
    """Remember nothing of the discussions of a repository: they are read again."""
    return {}


@dataclass
class Kept:
    """What one service keeps between two passes; a single command starts with nothing.

    `memory` gives, for a repository, what was read of its discussions before. `blobs` are contents by object id,
    `own_commits` the commits that we made, and `clients` and `listings` belong to the platforms. `intend` is held, by a
    name and for so many seconds at most, around a write that may be done once: it raises Unsettled where another
    process holds it, or was killed with it. `is_service` says that requests are looked for in every form of
    publication: a token of a single command may not be able to.
    """

    memory: Callable[[str], MutableMapping[int, bytes]] = no_memory
    blobs: MutableMapping[str, bytes] = field(default_factory=Contents)
    own_commits: MutableSet[str] = field(default_factory=Latest)
    listings: dict[str, Any] = field(default_factory=dict)
    clients: dict[str, Any] = field(default_factory=dict)
    intend: Intend = nobody_else
    is_service: bool = False


@dataclass(frozen=True, slots=True)
class GitRemote:
    """A repository that git can fetch: its address, and the token to read it with."""

    url: str
    token: str | None = field(default=None, repr=False)


class Platform(Protocol):
    """One kind of place for results and rows: `scheme` begins its addresses, `address` shows how one is written."""

    scheme: str
    address: str

    def open_source(self, name: str, opener: Opener) -> Source:
        """The source at an address; nothing is asked yet. Raises CallError for what is none."""
        ...

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> Target:
        """The target at an address, for one form of publication; `discussion` is the number of the one for comments."""
        ...

    def open_discussions(self, name: str, opener: Opener) -> Discussions | None:
        """The discussions of a source; None if it has none."""
        ...

    def open_site(self, name: str, opener: Opener) -> SiteHost | None:
        """The repository that shows a site, None if no site can be. Raises CallError for what is none."""
        ...

    def git_remote(self, name: str, access: Access) -> GitRemote | None:
        """Where git finds the repository at an address, None if there is none to fetch."""
        ...


@dataclass
class Opener:
    """Opens whatever an address names; relative folders start at `folder`."""

    access: Access
    folder: Path = field(default_factory=Path)
    kept: Kept = field(default_factory=Kept, repr=False)

    def source(self, name: str) -> Source:
        """A source. Raises CallError for an address of no platform, or that its platform cannot read."""
        return platform_of(name).open_source(name, self)

    def target(self, name: str, form: Form = "pull-request", discussion: int | None = None) -> Target:
        """A target for one form of publication. Raises CallError for what is none."""
        return platform_of(name).open_target(name, self, form, discussion)

    def discussions(self, name: str) -> Discussions | None:
        """The discussions of a source; None if it has none. Raises CallError."""
        return platform_of(name).open_discussions(name, self)

    def client(self, scheme: str, make: Callable[[], T]) -> T:
        """The one client of a platform, made when it is first needed."""
        if scheme not in self.kept.clients:
            self.kept.clients[scheme] = make()
        client: T = self.kept.clients[scheme]
        return client


def open_target(name: str, access: Access, form: Form = "pull-request") -> Target:
    """Open a target for one form of publication; nothing is asked yet. Raises CallError for what is none."""
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
    if scheme not in BUILT_IN:
        refuse_pasted(name)
        known = [_load(each).address for each in BUILT_IN]
        raise CallError(f"{name}: write {', '.join(known[:-1])} or {known[-1]}")
    return _load(scheme)


@cache
def _load(scheme: str) -> Platform:
    platform: Platform = import_module(BUILT_IN[scheme]).PLATFORM
    return platform
