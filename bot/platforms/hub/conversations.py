"""Comments on the bot's requests in one repository of the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.errors import Gone, Stale, Unavailable
from bot.platforms.conversations import Conversation, RequestComment
from bot.platforms.discussions import Pushed
from bot.platforms.hub.discussions import Thread
from bot.publishing.publication import find_marker

if TYPE_CHECKING:
    from bot.platforms.hub.target import HubTarget


@dataclass(frozen=True)
class HubConversations:
    """The conversations on the requests that the bot opened at one target."""

    target: HubTarget

    @property
    def us(self) -> str:
        """Our account."""
        return self.target.client.user

    def counts(self) -> Mapping[str, int]:
        """The number of comments of each open request of the bot, taken from lists that were read for other reasons."""
        found = {num: self.target.discussions.counts.get(num) for num, _ in self.target.open_requests}
        return {str(num): count for num, count in found.items() if count is not None}

    def shared(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        marks = [(num, find_marker(row["mark"])) for num, row in self.target.requests]
        return [str(num) for num, mark in marks if mark is not None and mark.is_shared]

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's."""
        try:
            thread = self.target.discussions.read(int(name))
        except Gone:
            return None
        if not thread.pull_request or thread.author != self.us:
            return None
        newest = thread.commits[-1] if thread.commits else Pushed("", 0, "")
        said = [
            RequestComment(one.id, one.author, one.text, bool(newest.oid) and newest.place < one.place, one.edited)
            for one in thread.comments
            if thread.opening is None or one.id != thread.opening.id
        ]
        mark, is_ours = find_marker(thread.description), newest.author == self.us
        return Conversation(name, mark, _status(thread), newest.oid, tuple(said), is_ours)

    def answer(self, name: str, text: str) -> None:
        """Add a comment of the bot."""
        self.target.discussions.comment(int(name), text)

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request and say so, in one call.

        The Hub has no way to name the commit, so it is looked at just before. Raises Stale if the request has
        another head by now, Refused where the token may not.
        """
        discussions, num = self.target.discussions, int(name)
        self.target.look_again()
        if self.target.refs.get(f"refs/pr/{num}") != head:
            raise Stale(f"{self.target.name}: request #{num} has another commit by now")
        try:
            discussions.merge(num, text)
        except Unavailable as failure:
            discussions.client.landed(failure, lambda: True if discussions.read(num).status == "merged" else None)
        discussions.read(num)
        self.target.look_again()


def _status(thread: Thread) -> Literal["open", "closed", "merged"]:
    if thread.is_open:
        return "open"
    return "merged" if thread.status == "merged" else "closed"
