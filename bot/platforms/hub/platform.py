"""The Hugging Face Hub as a platform: it opens sources, targets, discussions, and Spaces that hold a site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import CallError
from bot.platforms.caches import lazy_property
from bot.platforms.hub.address import MODELS, HubAddress, parse_address
from bot.platforms.hub.client import HubClient, hub_client
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.files import HubCommits
from bot.platforms.hub.models import HubModels
from bot.platforms.hub.source import HubSource
from bot.platforms.hub.target import HubTarget
from bot.platforms.kept import Keeper
from bot.platforms.platform import Access, GitRemote, Opener
from bot.platforms.row_index import RowStore
from bot.platforms.target import SiteHost
from bot.publishing.publication import Form
from bot.publishing.yaml_text import front_matter

if TYPE_CHECKING:
    from bot.platforms.hub.bucket import BucketSource

CARD = "README.md"
CARD_LIMIT = 1_000_000  # bytes
STATIC = re.compile(r"^sdk:\s*[\"']?static[\"']?\s*$", re.MULTILINE)


class HubPlatform:
    """Repositories on the Hub: results and rows in their files, requests and discussions beside them."""

    address = "hf://datasets/org/name"

    def open_source(self, name: str, opener: Opener) -> HubSource | BucketSource:
        """A repository or a bucket of results."""
        address = whole_repository(name)
        listings = opener.service_cache.listings.setdefault(address.url, {})
        if address.kind == "bucket":
            from bot.platforms.hub.bucket import BucketSource  # not every machine has hf_xet, which it needs

            return BucketSource(self.client(opener), address, listings, opener.service_cache.blobs)
        return HubSource(self.client(opener), address, listings)

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> HubTarget | HubModels:
        """A repository of rows with what is remembered of it, or the repositories of all models."""
        if name == MODELS:
            return HubModels(self.client(opener), lambda each: self.repository(each, opener, form))
        return self.repository(name, opener, form, discussion)

    def repository(self, name: str, opener: Opener, form: Form, discussion: int | None = None) -> HubTarget:
        """One repository as a target."""
        address = whole_repository(name)
        if address.kind == "bucket":
            raise CallError(f"{name}: a bucket has no commits and no requests, so no rows go there")
        return HubTarget(
            self.client(opener),
            address,
            known=opener.service_cache.known(address.url),
            blobs=opener.service_cache.blobs,
            rows=opener.service_cache.rows(address.url) if opener.service_cache.rows else RowStore(),
            listings=opener.service_cache.listings.setdefault(address.url, {}),
            discussion=discussion,
            has_comments=form == "comment",
            has_requests=form == "pull-request" or opener.service_cache.is_service,
            own_commits=opener.service_cache.own_commits,
            intend=opener.service_cache.intend,
            keeper=Keeper(opener),
        )

    def open_discussions(self, name: str, opener: Opener) -> HubDiscussions | None:
        """The discussions and requests of a repository of results; None for a bucket, which has none."""
        source, kept = self.open_source(name, opener), opener.service_cache
        if not isinstance(source, HubSource):
            return None
        return HubDiscussions(source, kept.known(source.address.url), kept.intend)

    def open_site(self, name: str, opener: Opener) -> HubSite:
        """The Space at `hf://spaces/org/name`. Raises CallError for another address."""
        address = parse_address(name)
        if address.kind != "space" or address.path or address.revision:
            raise CallError(f"{name}: a site goes to a static Space, hf://spaces/org/name")
        return HubSite(address.url, HubSource(self.client(opener), address))

    def git_remote(self, name: str, access: Access) -> GitRemote | None:
        """A dataset; other repositories are not read over git."""
        if not name.startswith("hf://datasets/"):
            return None
        return GitRemote(f"{access.hf_endpoint}/{name.removeprefix('hf://')}", access.hf_token)

    @staticmethod
    def client(opener: Opener) -> HubClient:
        """The one client for the Hub."""
        access = opener.access
        return opener.client(
            "hf", lambda: hub_client(access, opener.look_in_line, opener.service_cache.former_accounts["hf"])
        )


def whole_repository(name: str) -> HubAddress:
    """The repository or bucket at an address. Raises CallError for a revision or a path, which nothing here reads."""
    address = parse_address(name)
    if address.path and address.kind == "bucket":
        raise CallError(f"{name}: name the whole bucket, {address.url}; `paths` selects files of it")
    if address.revision or address.path:
        raise CallError(f"{name}: name the whole repository, {address.url}; its main branch counts")
    return address


PLATFORM = HubPlatform()


@dataclass
class HubSite(SiteHost):
    """The main branch of one Space."""

    source: HubSource

    @lazy_property
    def _commits(self) -> HubCommits:
        return HubCommits(HubDiscussions(self.source))

    def current(self) -> str:
        """The commit at the main branch."""
        return self.source.head()

    def files(self) -> Mapping[str, str]:
        """The object ids of all files. Raises CallError if the Space runs a program instead of showing files."""
        found = super().files()
        card = (self.read(CARD, CARD_LIMIT) or b"").decode("utf-8", "replace")
        span = front_matter(card)
        if span is None or not STATIC.search(card[slice(*span)]):
            raise CallError(f"{self.name}: its README.md does not say `sdk: static`, so it cannot hold a site")
        return found

    def write(self, files: Mapping[str, bytes | None], title: str) -> None:
        """One commit. Raises Stale if the branch is no longer where it was."""
        self.head, _ = self._commits.write(files, title, "", parent=self.head)
