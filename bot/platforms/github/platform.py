"""GitHub as a platform: it opens sources, targets, discussions, and branches that hold a site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from bot.errors import CallError
from bot.platforms.caches import lazy_property
from bot.platforms.github.address import parse_address
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.platforms.github.source import GitHubSource
from bot.platforms.github.target import Branches, GitHubTarget
from bot.platforms.kept import Keeper
from bot.platforms.platform import Access, GitRemote, Opener
from bot.platforms.row_index import RowStore
from bot.platforms.target import SiteHost
from bot.publishing.publication import Form

BRANCH = re.compile(r"[A-Za-z0-9_][\w-]*(?:[./][\w-]+)*", re.ASCII)


class GitHubPlatform:
    """Repositories on GitHub: results and rows in their files, requests and issues beside them."""

    address = "github://owner/name"

    def open_source(self, name: str, opener: Opener) -> GitHubSource:
        """A repository of results."""
        address = parse_address(name)
        return GitHubSource(
            self.client(opener), address, opener.service_cache.listings.setdefault(f"github {address.name}", {})
        )

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> GitHubTarget:
        """A repository of rows. Comments go to the issue `discussion`, or to the one in the address."""
        address = parse_address(name)
        place = replace(address, number=discussion or address.number)
        service_cache, where = opener.service_cache, f"github://{address.name}"
        return GitHubTarget(
            self.client(opener),
            place,
            form,
            service_cache.intend,
            self.open_source(where, opener).trees,
            service_cache.rows(where) if service_cache.rows else RowStore(),
            service_cache.known(where),
            Keeper(opener),
        )

    def open_discussions(self, name: str, opener: Opener) -> GitHubDiscussions | None:
        """The issues and pull requests of a repository of results; None without an account, which could say nothing."""
        client, address = self.client(opener), parse_address(name)
        if not client.has_account:
            return None
        source, kept = RequestSource(client, address, self.open_source(name, opener).trees), opener.service_cache
        return GitHubDiscussions(source, kept.known(f"github://{address.name}"), kept.intend)

    def open_site(self, name: str, opener: Opener) -> GitHubSite:
        """The branch at `github://owner/name@branch`. Raises CallError for another address."""
        repository, _, branch = name.partition("@")
        address = parse_address(repository)
        if not BRANCH.fullmatch(branch) or address.number is not None:
            raise CallError(f"{name}: a site goes to a branch, github://owner/name@branch")
        source = GitHubSource(self.client(opener), address)
        return GitHubSite(f"{source.name}@{branch}", source, branch)

    def git_remote(self, name: str, access: Access) -> GitRemote:
        """The repository on the host of the API."""
        api = urlsplit(access.github_api_url)
        host = api.netloc if api.path.strip("/") else api.netloc.removeprefix("api.")  # a server's own API has a path
        return GitRemote(f"{api.scheme}://{host}/{parse_address(name).name}.git", access.github_token)

    @staticmethod
    def client(opener: Opener) -> GitHubClient:
        """The one client for GitHub."""
        access = opener.access
        return opener.client(
            "github",
            lambda: GitHubClient(
                access.github_token,
                access.github_api_url,
                app=access.github_app,
                look_in_line=opener.look_in_line,
                former_accounts=opener.service_cache.former_accounts["github"],
            ),
        )


PLATFORM = GitHubPlatform()


@dataclass
class GitHubSite(SiteHost):
    """One branch, which is made with the first commit."""

    source: GitHubSource
    branch: str

    @lazy_property
    def _branches(self) -> Branches:
        return Branches(self.source.client, self.source.client.repo(self.source.address.name))

    def current(self) -> str:
        """The commit at the branch, "" if there is no such branch yet."""
        ref = self._branches.ref(self.branch)
        return ref.object.sha if ref else ""

    def write(self, files: Mapping[str, bytes | None], title: str) -> None:
        """One commit. Raises Stale if the branch is no longer where it was."""
        self.head = self._branches.commit_to(self.branch, files, title, self.head)
