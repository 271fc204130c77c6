"""Comments on the bot's pull requests in one repository of GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from github.Repository import Repository

from bot.errors import Refused, Unavailable
from bot.platforms.conversations import Conversation, RequestComment
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.errors import NotThere
from bot.platforms.github.rights import author_of, is_edited
from bot.platforms.intents import Intend, held, nobody_else
from bot.publishing.publication import find_marker

LISTED = 100  # requests, those in which something happened last, of which one list says how many comments they have


@dataclass(frozen=True)
class GitHubConversations:
    """The conversations on the requests that the bot opened in one repository.

    `written` has the commit that we wrote last for each of them, as far as that is remembered. `intend` is held around
    what must be written once, for the repository that `place` names.
    """

    client: GitHubClient
    repo: Repository
    written: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    intend: Intend = field(default=nobody_else, repr=False)
    place: str = ""

    @property
    def us(self) -> str:
        """Our account."""
        return self.client.login

    def counts(self) -> Mapping[str, int]:
        """How many comments the bot's open requests have, those in which something happened last."""
        creator: Any = self.us
        filters = {"state": "open", "creator": creator, "sort": "updated", "direction": "desc"}
        found = self.client(lambda: self.repo.get_issues(**filters).get_page(0))
        ours = [one for one in found if one.pull_request is not None and author_of(one) == self.us]
        return {str(one.number): one.comments + 1 for one in ours}  # its text counts too, as elsewhere

    def shared(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        creator: Any = self.us
        found = self.client(lambda: list(self.repo.get_issues(state="all", creator=creator)))
        marks = [(one.number, find_marker(one.body or "")) for one in found if one.pull_request is not None]
        return [str(number) for number, mark in sorted(marks, key=lambda one: one[0]) if mark and mark.is_shared]

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's."""
        try:
            pull = self.client(lambda: self.repo.get_pull(int(name)))
        except NotThere:
            return None
        if author_of(pull) != self.us:
            return None
        comments = self.client(lambda: list(self.repo.get_issue(int(name)).get_comments()))
        head = pull.head.sha or ""
        is_ours = bool(head) and self.written.get(int(name)) == head.encode()
        since = self._pushed(head) if is_ours else None
        said = [
            RequestComment(
                str(one.id),
                author_of(one),
                one.body or "",
                is_newest=since is not None and one.created_at.timestamp() > since,
                edited=is_edited(one),
            )
            for one in comments
        ]
        status: Any = "merged" if pull.merged_at is not None else pull.state
        return Conversation(name, find_marker(pull.body or ""), status, head, tuple(said), is_ours)

    def _pushed(self, head: str) -> float:
        """When a commit of the bot was made, in Unix seconds: GitHub gave it that date."""
        commit = self.client(lambda: self.repo.get_commit(head))
        return commit.commit.committer.date.timestamp()

    def answer(self, name: str, text: str) -> None:
        """Add a comment of the bot."""
        issue = self.client(lambda: self.repo.get_issue(int(name)))
        with held(self.intend, self.place, text, self.client.unknown_until):
            try:
                self.client(lambda: issue.create_comment(text))
            except Unavailable as failure:
                self.client.landed(failure, lambda: self._find(name, text))

    def _find(self, name: str, text: str) -> bool | None:
        """Tell whether a comment of the bot has this text; None if there is none."""
        comments = self.client(lambda: list(self.repo.get_issue(int(name)).get_comments()))
        return any(author_of(one) == self.us and (one.body or "").strip() == text.strip() for one in comments) or None

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale for another head, Refused where we may not.

        GitHub answers 405 where rules of the branch or its checks forbid it, and 409 for another head.
        """
        pull = self.client(lambda: self.repo.get_pull(int(name)))
        try:
            done = self.client(lambda: pull.merge(sha=head))
        except Unavailable as failure:
            self.client.landed(failure, lambda: self._is_merged(name))
        else:
            if not done.merged:
                raise Refused("GitHub", f"#{name}: {done.message}")
        self.answer(name, text)

    def _is_merged(self, name: str) -> bool | None:
        return True if self.client(lambda: self.repo.get_pull(int(name))).merged_at is not None else None
