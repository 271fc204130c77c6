"""Discussions and requests of the Hub as values: what the list shows, and what one of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from huggingface_hub.community import (
    DiscussionComment,
    DiscussionCommit,
    DiscussionStatusChange,
    DiscussionWithDetails,
)

Kind = Literal["discussion", "pull_request"]
Status = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment; `id` is the Hub's.

    `at` is when it was written and `changed` when its text was last edited, in Unix seconds; `place` is its place among
    all events of the discussion.
    """

    id: str
    author: str
    text: str
    at: float = 0.0
    changed: float = 0.0
    place: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A discussion or request as the list shows it: `status` is open, draft, closed or merged.

    `comments` counts them, None where the list does not say.
    """

    num: int
    title: str
    status: str
    author: str
    pull_request: bool
    comments: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return self.status in {"open", "draft"}


@dataclass(frozen=True, slots=True)
class Thread:
    """A discussion or request with what was said; `closed_by` is who closed it last, "" while it is open.

    `opening` is the first comment, hidden or not: what it was opened with, None where its author said nothing.
    `comments` are those that stand, the first among them. `commits` are those of a request, as pairs of commit id and
    place among all events.
    """

    num: int
    title: str
    status: str
    author: str
    pull_request: bool
    comments: tuple[Comment, ...]
    closed_by: str
    opening: Comment | None = None
    commits: tuple[tuple[str, int], ...] = ()

    @property
    def description(self) -> str:
        """What it was opened with."""
        return self.opening.text if self.opening else ""

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return self.status in {"open", "draft"}

    def comments_of(self, author: str) -> Iterator[Comment]:
        """The comments of one account after the opening one: only in those of ours a mark of ours counts."""
        first = self.opening.id if self.opening else ""
        return (one for one in self.comments if one.author == author and one.id != first)


def as_thread(details: DiscussionWithDetails) -> Thread:
    """What the client read, in our words; of hidden comments only the first is kept."""
    events = list(enumerate(details.events))
    comments = [(place, e) for place, e in events if isinstance(e, DiscussionComment)]
    changes = [e for _, e in events if isinstance(e, DiscussionStatusChange)]
    closed = details.status == "closed" and changes
    first = next((_as_comment(event, place) for place, event in comments), None)
    return Thread(
        details.num,
        details.title,
        details.status,
        details.author,
        details.is_pull_request,
        tuple(_as_comment(e, place) for place, e in comments if not e.hidden),
        changes[-1].author if closed else "",
        first if first is not None and first.author == details.author else None,
        tuple((e.oid, place) for place, e in events if isinstance(e, DiscussionCommit)),
    )


def _as_comment(event: DiscussionComment, place: int) -> Comment:
    """A comment; the Hub may leave the text of a hidden one out."""
    latest = event._event["data"].get("latest") or {}  # noqa: SLF001 - the client's properties fail where it is absent
    at = event.created_at.timestamp()
    changed = event.last_edited_at.timestamp() if latest.get("updatedAt") else at
    return Comment(event.id, event.author, latest.get("raw") or "", at, changed, place)


def as_page(answer: dict[str, Any]) -> tuple[int, list[Listed]]:
    """How many rows a list has, and those of one page."""
    return int(answer["count"]), [as_listed(row) for row in answer["discussions"]]


def as_listed(row: dict[str, Any]) -> Listed:
    """A row of the list."""
    author = (row.get("author") or {}).get("name", "")
    comments = row.get("numComments")
    count = comments if isinstance(comments, int) else None
    return Listed(row["num"], row["title"], row["status"], author, row["isPullRequest"], count)
