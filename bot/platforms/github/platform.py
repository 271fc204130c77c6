"""GitHub as a platform."""

from __future__ import annotations

from dataclasses import replace

from bot.platforms.github.client import GitHubClient, parse_address
from bot.platforms.github.refs import RequestSource
from bot.platforms.github.source import GitHubSource
from bot.platforms.github.target import GitHubTarget
from bot.platforms.github.threads import GitHubDiscussions
from bot.platforms.registry import Opener
from bot.publishing.publication import Form


class GitHubPlatform:
    """Repositories of GitHub: results and rows in their files, requests and issues beside them."""

    scheme = "github"
    address = "github://owner/name"

    def open_source(self, name: str, opener: Opener) -> GitHubSource:
        """A repository of results."""
        address = parse_address(name)
        return GitHubSource(self.client(opener), address, opener.kept.listings.setdefault(f"github {address.name}", {}))

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> GitHubTarget:
        """A repository of rows; comments go to the issue of that number, or of the address."""
        address = parse_address(name)
        place = replace(address, number=discussion or address.number)
        kept = opener.kept
        written = kept.memory(f"written github://{address.name}")
        return GitHubTarget(self.client(opener), place, form, written, kept.intend)

    def open_discussions(self, name: str, opener: Opener) -> GitHubDiscussions | None:
        """The issues and pull requests of a repository of results; None without an account, which can say nothing."""
        client, address = self.client(opener), parse_address(name)
        if not client.has_account:
            return None
        source = RequestSource(client, address, self.open_source(name, opener).trees)
        kept = opener.kept
        return GitHubDiscussions(client, address, kept.memory(f"github://{address.name}"), source, kept.intend)

    @staticmethod
    def client(opener: Opener) -> GitHubClient:
        """The one way to GitHub."""
        access = opener.access
        return opener.client(
            "github", lambda: GitHubClient(access.github_token, access.github_api_url, app=access.github_app)
        )


PLATFORM = GitHubPlatform()
