"""Discussions and requests of the local Hub, with the events that the client reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Discussion:
    """One discussion, or one request with its ref."""

    num: int
    title: str
    author: str
    created: str
    pull_request: bool
    status: str = "open"
    events: list[Json] = field(default_factory=list)
    merge_commit: str | None = None
    is_locked: bool = False

    @property
    def ref(self) -> str:
        return f"refs/pr/{self.num}"

    def comments(self, author: str | None = None) -> list[str]:
        """The texts that stand, in order, hidden ones left out."""
        return [
            event["data"]["latest"]["raw"]
            for event in self.events
            if event["type"] == "comment" and not event["data"]["hidden"] and author in {None, event["author"]["name"]}
        ]

    @property
    def description(self) -> str:
        return self.comments()[0] if self.comments() else ""


class Discussions:
    """The discussions of one repository; numbers are shared with requests."""

    _ids = itertools.count(1)

    def __init__(self, clock: Callable[[], str]) -> None:
        self.clock = clock
        self.all: dict[int, Discussion] = {}
        self.pinned: set[int] = set()  # listed before all others
        self._groups: dict[tuple[bool, str, str], dict[int, Discussion]] = {}

    def open(self, title: str, text: str, author: str, *, pull_request: bool, status: str = "open") -> Discussion:
        made = Discussion(len(self.all) + 1, title, author, self.clock(), pull_request, status)
        self.all[made.num] = made
        self._group(made)[made.num] = made
        if text:
            self.comment(made, text, author)
        return made

    def event(self, discussion: Discussion, kind: str, author: str, data: Json) -> Json:
        event = {
            "id": f"{next(self._ids):024x}",
            "type": kind,
            "createdAt": self.clock(),
            "author": {"name": author},
            "data": data,
        }
        discussion.events.append(event)
        return event

    def comment(self, discussion: Discussion, text: str, author: str) -> Json:
        return self.event(discussion, "comment", author, self._said(text, author, edited=False))

    def _said(self, text: str, author: str, *, edited: bool) -> Json:
        latest = {"raw": text, "html": "", "updatedAt": self.clock(), "author": {"name": author}}
        return {"edited": edited, "hidden": False, "latest": latest, "history": []}

    def find_comment(self, discussion: Discussion, comment_id: str) -> Json | None:
        return next((e for e in discussion.events if e["id"] == comment_id and e["type"] == "comment"), None)

    def edit(self, event: Json, text: str, editor: str = "") -> Json:
        """Edit a comment; its author stays, whoever the editor is."""
        event["data"] = self._said(text, editor or event["author"]["name"], edited=True)
        return event

    def set_status(self, discussion: Discussion, status: str, author: str) -> Json:
        del self._group(discussion)[discussion.num]
        discussion.status = status
        self._group(discussion)[discussion.num] = discussion
        return self.event(discussion, "status-change", author, {"status": status})

    def _group(self, one: Discussion) -> dict[int, Discussion]:
        """Those that one filter of the list gives: a benchmark has very many."""
        status = "open" if one.status in {"open", "draft"} else "closed"
        return self._groups.setdefault((one.pull_request, status, one.author), {})

    def listed(self, kind: str, status: str, author: str) -> list[Discussion]:
        """Newest first, as the filters of the list say (open means drafts too, closed means merged too)."""
        found: list[int] = []
        for (is_request, state, name), group in self._groups.items():
            is_kind = kind in {"", "all"} or is_request == (kind == "pull_request")
            if is_kind and status in {"", "all", state} and author in {"", name}:
                found += group
        numbers = sorted(found, reverse=True)
        if self.pinned:
            numbers.sort(key=lambda num: num not in self.pinned)
        return list(map(self.all.__getitem__, numbers))
