"""The Hub's answers about discussions and requests, as values."""

from __future__ import annotations

from typing import Any

from huggingface_hub.community import (
    DiscussionComment,
    DiscussionCommit,
    DiscussionEvent,
    DiscussionStatusChange,
    DiscussionWithDetails,
)

from bot.platforms.discussions import Comment, Listed, Pushed, Thread


def as_thread(details: DiscussionWithDetails) -> Thread:
    """The client's data as a thread of the bot; of hidden comments only the first is kept."""
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
        _commits(events),
    )


def _commits(events: list[tuple[int, DiscussionEvent]]) -> tuple[Pushed, ...]:
    """The commits of a request, but for those that came after its merge."""
    ends = [place for place, e in events if isinstance(e, DiscussionStatusChange) and e.new_status == "merged"]
    end = ends[0] if ends else len(events)
    return tuple(Pushed(e.oid, place, e.author) for place, e in events[:end] if isinstance(e, DiscussionCommit))


def _as_comment(event: DiscussionComment, place: int) -> Comment:
    """A comment; the Hub may leave the text of a hidden one out."""
    latest = event._event["data"].get("latest") or {}  # noqa: SLF001 - the client's properties fail where it is absent
    at = event.created_at.timestamp()
    changed = event.last_edited_at.timestamp() if latest.get("updatedAt") else at
    return Comment(event.id, event.author, latest.get("raw") or "", at, changed, place, edited=event.edited)


def as_page(answer: dict[str, Any]) -> tuple[int, list[Listed]]:
    """How many rows a list has, and those of one page."""
    return int(answer["count"]), [as_listed(row) for row in answer["discussions"]]


def as_listed(row: dict[str, Any]) -> Listed:
    """A row of the list."""
    author = (row.get("author") or {}).get("name", "")
    comments = row.get("numComments")
    count = comments if isinstance(comments, int) else None
    return Listed(row["num"], row["title"], row["status"], author, row["isPullRequest"], count)
