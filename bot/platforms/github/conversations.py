"""The conversations on the requests that the bot opened in one repository of GitHub."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import Gone, Refused, Unavailable
from bot.platforms.discussions import Conversation
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions
from bot.platforms.github.rights import is_ours
from bot.publishing.publication import find_marker


@dataclass(frozen=True)
class GitHubConversations:
    """The conversations on the requests that the bot opened in one repository.

    `written` has the commit that we wrote last for each of them, as far as that is remembered. `merged` is called after
    a merge.
    """

    discussions: GitHubDiscussions
    written: Mapping[int, bytes]
    merged: Callable[[], object]

    @property
    def us(self) -> str:
        """Our account."""
        return self.discussions.us

    @property
    def client(self) -> GitHubClient:
        """Who asks."""
        return self.discussions.client

    def counts(self) -> Mapping[str, int]:
        """How many comments the bot's open requests have, those in which something happened last."""
        creator: Any = self.us
        filters = {"state": "open", "creator": creator, "sort": "updated", "direction": "desc"}
        found = self.client(lambda: self.discussions.repo.get_issues(**filters).get_page(0))
        ours = [one for one in found if one.pull_request is not None and is_ours(one, self.client)]
        return {str(one.number): one.comments + 1 for one in ours}  # its text counts too, as elsewhere

    def shared(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        marks = [(num, find_marker(row["mark"])) for num, row in self.discussions.ours("pull_request")]
        return [str(num) for num, mark in marks if mark and mark.is_shared]

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's."""
        try:
            pull = self.client(lambda: self.discussions.repo.get_pull(int(name)))
        except Gone:
            return None
        if not is_ours(pull, self.client):
            return None
        head = pull.head.sha or ""
        is_newest = bool(head) and self.written.get(int(name)) == head.encode()
        since = self._pushed(head) if is_newest else None
        found = self.discussions.read(int(name)).replies
        said = [replace(one, saw_head=since is not None and one.at > since) for one in found]
        status: Any = "merged" if pull.merged_at is not None else pull.state
        return Conversation(name, find_marker(pull.body or ""), status, head, tuple(said), is_newest)

    def _pushed(self, head: str) -> float:
        """When a commit of the bot was made, in Unix seconds: GitHub gave it that date."""
        commit = self.client(lambda: self.discussions.repo.get_commit(head))
        return commit.commit.committer.date.timestamp()

    def answer(self, name: str, text: str) -> None:
        """Add a comment of the bot."""
        self.discussions.comment(int(name), text)

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
