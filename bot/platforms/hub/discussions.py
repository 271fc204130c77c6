"""Discussions and requests of one repository on the Hub: found by their hidden marks, written once, never twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from huggingface_hub import CommitOperationAdd, CommitOperationDelete
from huggingface_hub.community import DiscussionComment, DiscussionStatusChange, DiscussionWithDetails

from bot.errors import Stale
from bot.platforms.hub.client import Address, HubClient
from bot.publishing.publication import find_marker

TITLE_LIMIT = 200  # characters; the Hub refuses more
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


@dataclass
class HubDiscussions:
    """Reads and writes the discussions of one repository.

    `memory` may remember, by number, the mark and state of what was read before: whatever is not in it is
    read again, so it can be empty.
    """

    client: HubClient
    address: Address
    memory: MutableMapping[int, bytes]

    @property
    def _where(self) -> dict[str, Any]:
        return {"repo_id": self.address.name, "repo_type": self.address.kind}

    def listed(self, kind: Kind, status: Status, author: str = "", *, enough: int | None = None) -> list[Listed]:
        """The discussions that the filters name; [] where the Hub counts exactly `enough` of them.

        The client's own list does not tell how many there are.
        """
        found: list[Listed] = []
        filters = {"type": kind, "status": status} | ({"author": author} if author else {})
        path = f"/api/{self.address.kind}s/{self.address.name}/discussions"
        for page in count():
            total, rows = self.client.get_json(path, as_page, **filters, p=page)
            if page == 0 and total == enough:
                return []
            known = {row.num for row in found}
            found += [row for row in rows if row.num not in known]
            if len(found) >= total or len(found) == len(known):  # a page that brings nothing new is the last
                break
        return found

    def read(self, num: int) -> Thread:
        """One discussion or request, now; what it is and how it stands is remembered."""
        details = self.client.read(self.client.api.get_discussion_details, discussion_num=num, **self._where)
        talk = as_thread(details)
        self.remember(talk)
        return talk

    def remember(self, talk: Thread) -> None:
        """Keep what finds it again, where it is ours."""
        if talk.author != self.client.user:
            return
        mark = find_marker(talk.description)
        known = {
            "kind": "pull_request" if talk.pull_request else "discussion",
            "status": talk.status,
            "closed_by": talk.closed_by,
            "mark": mark.render() if mark else "",
        }
        self.memory[talk.num] = json.dumps(known).encode()

    def ours(self, kind: Kind) -> Iterator[tuple[int, dict[str, str]]]:
        """Every discussion of that kind that we opened, oldest first: its number, and what finds it again.

        Only what is new, or changed since it was last seen, is read.
        """
        known = {num: json.loads(data) for num, data in self.memory.items()}
        known = {num: row for num, row in known.items() if row["kind"] == kind}
        listed = {row.num: row.status for row in self.listed(kind, "open", self.client.user)}
        closed = {num for num, row in known.items() if row["status"] in {"closed", "merged"}} - listed.keys()
        unlisted = {num for num, row in known.items() if row["status"] in {"open", "draft"}} - listed.keys()
        # What was open and is no longer listed has been closed or merged: it counts among the closed.
        enough = len(closed) + len(unlisted)
        listed |= {row.num: row.status for row in self.listed(kind, "closed", self.client.user, enough=enough)}
        for num, status in listed.items():
            if num not in known or known[num]["status"] != status:
                self.read(num)
        for num in unlisted - listed.keys():
            self.read(num)
        rows = {num: json.loads(self.memory[num]) for num in listed.keys() | known.keys()}
        yield from ((num, rows[num]) for num in sorted(rows) if rows[num]["mark"])

    def ours_known(self, kind: Kind) -> Iterator[tuple[int, dict[str, str]]]:
        """What is remembered of the discussions that we opened; nothing is asked."""
        rows = ((num, json.loads(data)) for num, data in sorted(self.memory.items()))
        return ((num, row) for num, row in rows if row["kind"] == kind)

    # what is written; each call is sent once

    def commit(
        self,
        changes: dict[str, bytes | None],
        title: str,
        text: str,
        *,
        revision: str = "main",
        parent: str | None = None,
        request: bool = False,
    ) -> tuple[str, int | None]:
        """Commit files (None deletes) to a revision, or as a new request: the commit, and the request's number.

        The number is None where the files are as they were: then nothing was written.
        Raises Stale where the revision is no longer at `parent`.
        """
        operations = [
            CommitOperationDelete(path) if data is None else CommitOperationAdd(path, data)
            for path, data in changes.items()
        ]
        made = self.client.write(
            self.client.api.create_commit,
            operations=operations,
            commit_message=title[:TITLE_LIMIT],
            commit_description=text,
            revision=revision,
            parent_commit=parent,
            create_pr=request,
            **self._where,
        )
        if request and made.pr_num is None:
            raise Stale(f"{self.address.url}: the files stand there already")
        return made.oid, made.pr_num

    def open_discussion(self, title: str, text: str) -> int:
        """Open a discussion; its number."""
        made = self.client.write(
            self.client.api.create_discussion, title=title[:TITLE_LIMIT], description=text, **self._where
        )
        self.remember(as_thread(made))
        return made.num

    def comment(self, num: int, text: str) -> None:
        """Add a comment."""
        self.client.write(
            self.client.api.comment_discussion, discussion_num=num, comment=text, **self._where
        )  # fmt: skip

    def edit(self, num: int, comment_id: str, text: str) -> None:
        """Put another text in the place of a comment of ours; the same text twice is no harm."""
        self.client.read(
            self.client.api.edit_discussion_comment,
            discussion_num=num,
            comment_id=comment_id,
            new_content=text,
            **self._where,
        )

    def rename(self, num: int, title: str) -> None:
        """Give a discussion another title."""
        self.client.read(
            self.client.api.rename_discussion, discussion_num=num, new_title=title[:TITLE_LIMIT], **self._where
        )

    def set_status(self, num: int, status: Status, reason: str | None = None) -> None:
        """Close or open a discussion or request, with a reason."""
        self.client.write(
            self.client.api.change_discussion_status,
            discussion_num=num,
            new_status=status,
            comment=reason,
            **self._where,
        )


def as_page(answer: dict[str, Any]) -> tuple[int, list[Listed]]:
    """How many rows a list has, and those of one page."""
    return int(answer["count"]), [as_listed(row) for row in answer["discussions"]]


def as_listed(row: dict[str, Any]) -> Listed:
    """A row of the list."""
    author = (row.get("author") or {}).get("name", "")
    return Listed(row["num"], row["title"], row["status"], author, row["isPullRequest"])
