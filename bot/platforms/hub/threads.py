"""Discussions and requests of the Hub as values: what the list shows, and what one of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from huggingface_hub.community import DiscussionComment, DiscussionStatusChange, DiscussionWithDetails

Kind = Literal["discussion", "pull_request"]
Status = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment that stands; `id` is the Hub's."""

    id: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A discussion or request as the list shows it: `status` is open, draft, closed or merged."""

    num: int
    title: str
    status: str
    author: str
    pull_request: bool

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return self.status in {"open", "draft"}


@dataclass(frozen=True, slots=True)
class Thread:
    """A discussion or request with what was said; `closed_by` is who closed it last, "" while it is open."""

    num: int
    title: str
    status: str
    author: str
    pull_request: bool
    comments: tuple[Comment, ...]
    closed_by: str

    @property
    def description(self) -> str:
        """The first comment: what it was opened with."""
        return self.comments[0].text if self.comments else ""

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return self.status in {"open", "draft"}


def as_thread(details: DiscussionWithDetails) -> Thread:
    """What the client read, in our words; hidden comments are left out."""
    comments = [e for e in details.events if isinstance(e, DiscussionComment) and not e.hidden]
    changes = [e for e in details.events if isinstance(e, DiscussionStatusChange)]
    closed = details.status == "closed" and changes
    return Thread(
        details.num,
        details.title,
        details.status,
        details.author,
        details.is_pull_request,
        tuple(Comment(c.id, c.author, c.content) for c in comments),
        changes[-1].author if closed else "",
    )


def as_page(answer: dict[str, Any]) -> tuple[int, list[Listed]]:
    """How many rows a list has, and those of one page."""
    return int(answer["count"]), [as_listed(row) for row in answer["discussions"]]


def as_listed(row: dict[str, Any]) -> Listed:
    """A row of the list."""
    author = (row.get("author") or {}).get("name", "")
    return Listed(row["num"], row["title"], row["status"], author, row["isPullRequest"])
