"""Comments on the bot's requests at a target: commands of maintainers, and the bot's actions and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.publishing.publication import Marker


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment; `id` is the service's.

    `at` is when it was written and `changed` when its text was last edited, in Unix seconds; `place` is its place among
    all events of the discussion. `edited` says that the text is not the one that was posted: others than the author
    may edit it. `saw_head` says that the newest commit of the bot's request was there when the comment was written.
    """

    id: str
    author: str
    text: str
    at: float = 0.0
    changed: float = 0.0
    place: int = 0
    edited: bool = False
    saw_head: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request of the bot with the comments on it, but for the opening one.

    `head` is its newest commit, of a merged one that which was merged, "" if that is not known. `is_ours` says that
    we wrote it: whoever else may push there can give a commit any author and date.
    """

    name: str
    mark: Marker | None
    status: Literal["open", "closed", "merged"]
    head: str
    comments: tuple[Comment, ...]
    is_ours: bool = False


class Conversations(Protocol):
    """The conversations on the bot's requests in one repository."""

    @property
    def us(self) -> str:
        """Our account."""
        ...

    def counts(self) -> Mapping[str, int]:
        """How many comments the bot's open requests have, as far as that is known without asking for each of them."""
        ...

    def shared(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        ...

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's."""
        ...

    def answer(self, name: str, text: str) -> None:
        """Add a comment of the bot."""

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale if it has another by now, Refused where we may not.

        The comment may be missing where the call ended in between. Where a service cannot be told the commit, one that
        comes in that moment is merged too: `read` gives the head that was merged.
        """
