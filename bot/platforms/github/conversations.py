"""The conversations on the requests that the bot opened in one repository of GitHub: read, counted and merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import Gone, Refused, Unavailable
from bot.platforms.discussions import Conversation, Conversations
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions
from bot.platforms.github.rights import is_ours
from bot.publishing.publication import find_marker


@dataclass(frozen=True)
class GitHubConversations(Conversations):
    """The conversations on GitHub; `written` has our last commit of each request, as far as that is remembered."""

    discussions: GitHubDiscussions
    written: Mapping[int, bytes]

    @property
    def client(self) -> GitHubClient:
        """Who asks."""
        return self.discussions.client

    def counts(self) -> Mapping[str, int]:
        """How many comments the bot's open requests have."""
        creator: Any = self.us
        found = self.client(lambda: list(self.discussions.repo.get_issues(state="open", creator=creator)))
        ours = [one for one in found if one.pull_request is not None and is_ours(one, self.client)]
        return {str(one.number): one.comments + 1 for one in ours}  # its text counts too, as elsewhere

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's, or not for the default branch any more."""
        repo = self.discussions.repo
        try:
            pull = self.client(lambda: repo.get_pull(int(name)))
        except Gone:
            return None
        if not is_ours(pull, self.client) or pull.base.ref != repo.default_branch:
            return None
        head = pull.head.sha or ""
        is_newest = bool(head) and self.written.get(int(name)) == head.encode()
        commit = self.client(lambda: repo.get_commit(head)) if is_newest else None
        since = commit.commit.committer.date.timestamp() if commit else None  # GitHub gave our commit that date
        found = self.discussions.read(int(name)).replies
        said = [replace(one, saw_head=since is not None and one.at > since) for one in found]
        status: Any = "merged" if pull.merged_at is not None else pull.state
        return Conversation(name, find_marker(pull.body or ""), status, head, tuple(said), is_newest)

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale for another head, Refused where we may not.

        GitHub answers 405 where rules of the branch or its checks forbid it, and 409 for another head.
        """
        pull = self.client(lambda: self.discussions.repo.get_pull(int(name)))
        try:
            done = self.client(lambda: pull.merge(sha=head))
        except Unavailable as failure:
            self.client.landed(failure, lambda: self._is_merged(name))
        else:
            if not done.merged:
                raise Refused("GitHub", f"#{name}: {done.message}")
        finally:
            self.merged()
        self.answer(name, text)

    def _is_merged(self, name: str) -> bool | None:
        return True if self.client(lambda: self.discussions.repo.get_pull(int(name))).merged_at is not None else None
