"""Discussions and requests of one repository on the Hub: found by their hidden marks, written once, never twice."""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count, takewhile
from typing import Any
from warnings import catch_warnings

from huggingface_hub.community import (
    DiscussionComment,
    DiscussionCommit,
    DiscussionEvent,
    DiscussionStatusChange,
    DiscussionWithDetails,
    deserialize_event,
)

from bot.errors import Gone, Refused, TooLong
from bot.platforms.caches import OPEN, Kind, KnownThreads, Row
from bot.platforms.discussions import (
    Comment,
    Duplicate,
    Listed,
    Pushed,
    Status,
    Thread,
    VerdictState,
    comment_with,
    open_duplicates,
)
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource
from bot.platforms.net import Intend, held, no_intent
from bot.publishing.publication import WRITTEN_TWICE, Marker, find_marker

DELETED = "deleted"  # what the client calls an account that was deleted
TITLE_LIMIT = 200  # characters; the Hub refuses more
SOMEBODY = "*"  # who closed what cannot be read; no account has this name


LIST_AGAIN = 900.0  # seconds between two whole lists for the sake of what nothing told the bot
KINDS: tuple[Kind, ...] = ("pull_request", "discussion")


def _rows_said(text: str) -> Row:
    """The marks of the rows that a request with this text proposes, to be remembered with it.

    Of a text that somebody damaged nothing new is learned.
    """
    mark = find_marker(text)
    return {} if mark is None else {"rows": "?" if mark.rows is None else "".join(mark.rows)}


@dataclass
class HubDiscussions:
    """Reads and writes the discussions of one repository.

    `known` may have what was read before; anything else is read again, so it may be empty. `intend` is held around each
    write that must happen once. `counts` has the number of comments that the list gave, None if it gave none.
    `unedited` are the ids of comments of our former accounts.
    """

    source: HubSource
    known: KnownThreads = field(default_factory=KnownThreads, repr=False)
    intend: Intend = field(default=no_intent, repr=False)
    counts: dict[int, int | None] = field(default_factory=dict, repr=False)
    unedited: set[str] = field(default_factory=set, repr=False)

    @property
    def client(self) -> HubClient:
        """The client for the Hub."""
        return self.source.client

    @property
    def address(self) -> HubAddress:
        """The repository."""
        return self.source.address

    @property
    def us(self) -> str:
        """Our account's name."""
        return self.client.user

    @property
    def _where(self) -> dict[str, Any]:
        return {"repo_id": self.address.name, "repo_type": self.address.kind}

    def listed(self, kind: Kind, status: Status, author: str = "") -> list[Listed]:
        """The discussions that the filters name; those of our former accounts count as ours."""
        accounts = self.client.accounts if author and author == self.us else [author]
        return [row for account in accounts for row in self._listed_by(kind, status, account)]

    def _listed_by(self, kind: Kind, status: Status, author: str) -> list[Listed]:
        found: dict[int, Listed] = {}
        for page in count():
            total, rows = self._page(kind, status, author, page)
            is_new = not found.keys() >= {row.num for row in rows}
            found |= {row.num: row for row in rows}
            if len(found) >= total or not is_new:  # a page that brings nothing new is the last
                break
        return list(found.values())

    def _page(self, kind: Kind, status: Status, author: str, page: int) -> tuple[int, list[Listed]]:
        """One page of a list, and the total number of rows, which the client's own list does not tell."""
        filters = {"type": kind, "status": status} | ({"author": author} if author else {})
        path = f"/api/{self.address.kind}s/{self.address.name}/discussions"
        total, rows = self.client.get_json(path, as_page, **filters, p=page)
        rows = [replace(row, author=self.client.as_ours(row.author)) for row in rows]
        self.counts |= {row.num: row.comments for row in rows}
        return total, rows

    def read(self, num: int) -> Thread:
        """Read one discussion or request; one of ours is remembered."""
        path = f"/api/{self.address.kind}s/{self.address.name}/discussions/{num}"
        details = self.client.get_json(path, partial(as_details, endpoint=self.client.endpoint))
        thread = self._as_ours(as_thread(details))
        self.remember(thread, details.author)
        return thread

    def _as_ours(self, thread: Thread) -> Thread:
        """The thread in which the texts of our former accounts are ours, except for those that we wrote again since."""
        former = self.client.former_accounts
        authors = {*(one.author for one in thread.comments), *(one.author for one in thread.commits)}
        if not former & {thread.author, thread.closed_by, *authors}:
            return thread
        us = self.us
        said = {find_marker(one.text) for one in thread.comments if one.author == us} - {None}
        theirs = {one.id for one in thread.comments if one.author in former}
        self.unedited |= theirs
        kept = {one.id for one in thread.comments if one.id in theirs and find_marker(one.text) not in said}
        opening = thread.opening
        return replace(
            thread,
            author=self.client.as_ours(thread.author),
            closed_by=self.client.as_ours(thread.closed_by),
            comments=tuple(replace(one, author=us) if one.id in kept else one for one in thread.comments),
            opening=opening and replace(opening, author=self.client.as_ours(opening.author)),
            commits=tuple(one._replace(author=self.client.as_ours(one.author)) for one in thread.commits),
        )

    def remember(self, thread: Thread, by: str = "") -> None:
        """Remember one of our discussions: its kind, mark and status, and the account that opened it."""
        if thread.author != self.us:
            return
        mark = find_marker(thread.description)
        before = self.known.find(thread.num)
        if mark is None and before is not None:  # of a hidden description the Hub may not give the text
            mark = find_marker(before["mark"])
        kind: Kind = "pull_request" if thread.pull_request else "discussion"
        row = {"kind": kind, "status": thread.status, "closed_by": thread.closed_by, "by": by or self.us}
        row |= _rows_said(thread.description)
        self._keep(thread.num, row, mark)

    def opened(self, num: int, mark: Marker, text: str, head: str, base: str) -> None:
        """Remember a request that we just opened at a commit of main, so that it need not be read."""
        row = {"kind": "pull_request", "status": "open", "closed_by": "", "by": self.us, "head": head, "base": base}
        self._keep(num, row | _rows_said(text), mark)

    def _keep(self, num: int, row: Row, mark: Marker | None) -> None:
        """Remember one. The head of a closed request is dropped, so that it is looked at again if people reopen it.

        Of an open one that is dropped what was found when it was closed.
        """
        before = self.known.find(num)
        kept = {**(before or {}), **row, "mark": mark.name if mark else ""}
        void = "blocked" if row["status"] in OPEN else "head"
        kept = {name: value for name, value in kept.items() if name != void}
        if kept != before:
            self.known.put(num, kept)

    def note_head(self, num: int, head: str) -> None:
        """Remember the newest commit of our request that the bot wrote or looked at."""
        row = self.known.find(num)
        if row is not None and row.get("head") != head:
            self.known.put(num, row | {"head": head})

    def writing(self, text: str) -> AbstractContextManager[object]:
        """Hold the mark of a text while it is written; raises Unsettled where another process may be writing it."""
        return held(self.intend, self.address.url, text, self.client.unknown_until)

    def ours(self, kind: Kind, *, whole: bool = False) -> list[tuple[int, Row]]:
        """All discussions of a kind that we opened, oldest first: the number, and the remembered row with its mark."""
        self.look(kind, whole=whole)
        return [(num, row) for num, row in self.known.of(kind) if row["mark"]]

    def look(self, kind: Kind, *, whole: bool = False) -> None:
        """Learn which discussions of a kind we opened; `whole` reads the lists to their ends.

        Otherwise only what is new is read, so that the cost does not grow with the open ones. The lists are read to
        their ends after a loss of the memory. They also are, at most every LIST_AGAIN seconds, where the Hub counts
        more or fewer open ones than are remembered: somebody closed or opened one, and no webhook told of it. Where
        it counts as many, what was read to its end that shortly before is not read again.
        """
        listed_at, now = self.known.listed_at(kind), time.time()
        is_recent = listed_at is not None and 0 <= now - listed_at < LIST_AGAIN
        if listed_at is not None and (is_recent or not whole):
            count = self._learn_new(kind)
            if count == self.known.open_count(kind) or (is_recent and not whole):
                return
        statuses: tuple[Status, ...] = ("open", "closed")
        found = {row.num: row.status for status in statuses for row in self.listed(kind, status, self.us)}
        self._read_changed(found, {num for num, _ in self.known.open_since(kind)} - found.keys())
        self.known.set_listed(kind, now)

    def _learn_new(self, kind: Kind) -> int:
        """Read the lists of open ones, newest first, down to a known one; returns how many the Hub counts."""
        counted, listed, gone = 0, dict[int, str](), set[int]()
        for account in self.client.accounts:
            total, found, oldest = self._newest(kind, account)
            ours = {num for num, row in self.known.open_since(kind, oldest) if row.get("by", account) == account}
            gone |= ours - found.keys()
            counted, listed = counted + total, listed | found
        self._read_changed(listed, gone)
        return counted

    def _newest(self, kind: Kind, account: str) -> tuple[int, dict[int, str], int]:
        """The number of an account's open ones, those down to a known one with their status, and the oldest."""
        found: dict[int, str] = {}
        page, total, rows = 0, *self._page(kind, "open", account, 0)
        while True:
            found |= {row.num: row.status for row in rows}
            if not rows or len(found) >= total:
                return total, found, 0
            if self.known.find(rows[-1].num) is not None:  # not the first row: pinned ones come before the newest
                return total, found, rows[-1].num
            page += 1
            total, rows = self._page(kind, "open", account, page)

    def _read_changed(self, listed: Mapping[int, str], gone: AbstractSet[int]) -> None:
        """Read the listed ones that are not remembered with this status, and those that are not listed any more."""
        before = self.known.at(listed)
        for num, status in sorted(listed.items()):
            if num not in before or before[num]["status"] != status:
                self._read_one(num, status)
        for num in sorted(gone):
            self._read_one(num, "closed")

    def _read_one(self, num: int, status: str) -> None:
        """Read one that changed. One that was deleted, or is too long to be read, does not stop the others.

        It keeps its mark if that is known; if it is not open, it counts as closed by somebody else.
        """
        try:
            self.read(num)
        except (Gone, TooLong):
            row = self.known.find(num)
            if row is not None:
                self.known.put(num, row | {"status": status, "closed_by": "" if status in OPEN else SOMEBODY})

    def may_have_answers(self) -> list[int]:
        """All discussions and requests, open or closed: the Hub does not tell in which of them we wrote."""
        statuses: tuple[Status, ...] = ("open", "closed")
        return [row.num for kind in KINDS for status in statuses for row in self.listed(kind, status)]

    # what is written: each call is sent once, and looked for where it may have landed

    def find_own(self, kind: Kind, title: str, text: str) -> int | None:
        """The number of an open discussion or request of ours with this text; None if there is none.

        A text with a mark is found by it, and only what is new is read.
        """
        mark = find_marker(text)
        if mark is not None:
            self.look(kind)
            return next((num for num, row in self.known.of(kind, mark.name) if row["status"] in OPEN), None)
        for row in sorted(self.listed(kind, "open", self.us), key=lambda row: row.num):
            if row.title == title[:TITLE_LIMIT] and self.read(row.num).description.strip() == text.strip():
                return row.num
        return None

    def open_discussion(self, title: str, text: str) -> int:
        """Open a discussion; returns its number."""

        def send() -> int:
            made = self.client.write(
                self.client.api.create_discussion, title=title[:TITLE_LIMIT], description=text, **self._where
            )
            self.remember(as_thread(made))
            return made.num

        with self.writing(text):
            return self.client.sent_once(send, lambda: self.find_own("discussion", title, text))

    def comment(self, num: int, text: str) -> None:
        """Add a comment."""
        write, comment = self.client.write, self.client.api.comment_discussion
        with self.writing(text):
            self.client.sent_once(
                lambda: write(comment, discussion_num=num, comment=text, **self._where).id,
                lambda: comment_with(self.read(num), self.us, text),
            )

    def hide(self, num: int, comment_id: str) -> None:
        """Hide a comment of the bot, for good."""
        with catch_warnings(action="ignore"):  # the client warns of the case in the line above
            self.client.read(
                self.client.api.hide_discussion_comment, discussion_num=num, comment_id=comment_id, **self._where
            )

    def edit(self, num: int, comment_id: str, text: str) -> None:
        """Replace the text of a comment of the bot; the same text twice is harmless.

        Texts of a former account cannot be edited: a comment is written anew, an opening text stays as it is.
        """
        if comment_id not in self.unedited:
            edit = self.client.api.edit_discussion_comment
            self.client.read(edit, discussion_num=num, comment_id=comment_id, new_content=text, **self._where)
            return
        opening = self.read(num).opening
        if opening is None or opening.id != comment_id:
            with suppress(Refused):  # not every account may hide what another wrote
                self.hide(num, comment_id)
            self.comment(num, text)

    def edit_description(self, num: int, text: str) -> None:
        """Replace the opening text of a discussion of the bot."""
        opening = self.read(num).opening
        if opening is not None:
            self.edit(num, opening.id, text)

    def find_duplicates(self) -> list[Duplicate]:
        """The open requests and discussions of the bot, and the comments in those, that repeat an earlier mark."""
        return open_duplicates(self, *KINDS)

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close a request or discussion that repeats another, or hide a comment."""
        num, _, comment_id = duplicate.name.partition(" ")
        if comment_id:
            self.hide(int(num), comment_id)
        else:
            self.set_status(int(num), "closed", WRITTEN_TWICE.format(kept=f"#{duplicate.kept}"))

    def rename(self, num: int, title: str) -> None:
        """Give a discussion another title."""
        self.client.read(
            self.client.api.rename_discussion, discussion_num=num, new_title=title[:TITLE_LIMIT], **self._where
        )

    def merge(self, num: int, text: str) -> None:
        """Merge a request, with a comment."""
        merge = self.client.api.merge_pull_request
        self.client.sent_once(
            lambda: bool(self.client.write(merge, discussion_num=num, comment=text, **self._where)),
            lambda: self.read(num).status == "merged" or None,
        )

    def set_status(self, num: int, status: Status, reason: str | None = None) -> None:
        """Close or open a discussion or request, with a reason."""
        change = {"discussion_num": num, "new_status": status, "comment": reason, **self._where}
        self.client.sent_once(
            lambda: bool(self.client.write(self.client.api.change_discussion_status, **change)),
            lambda: self.read(num).status == status or None,
        )
        row = self.known.find(num)
        if row is not None:
            by = self.us if status == "closed" else ""
            self._keep(num, row | {"status": status, "closed_by": by}, find_marker(row["mark"]))

    def show_verdict(self, head: str, name: str, state: VerdictState, text: str) -> None:
        """Nothing: the Hub shows no verdict beside a commit."""


def as_details(answer: dict[str, Any], endpoint: str) -> DiscussionWithDetails:
    """The answer about one discussion as the client's data.

    The client's own call fails where an account was deleted (null), and also requests the diff of every request.
    """
    written = [{**row, "author": row.get("author") or {}} for row in (answer, *answer["events"])]
    changes = answer.get("changes") or {}
    return DiscussionWithDetails(
        title=answer["title"],
        num=answer["num"],
        author=written[0]["author"].get("name", DELETED),
        created_at=datetime.fromisoformat(answer["createdAt"]),
        status=answer["status"],
        repo_id=answer["repo"]["name"],
        repo_type=answer["repo"]["type"],
        is_pull_request=answer["isPullRequest"],
        events=[deserialize_event(row) for row in written[1:]],
        conflicting_files=answer.get("filesWithConflicts"),
        target_branch=changes.get("base"),
        merge_commit_oid=changes.get("mergeCommitId"),
        diff=None,
        endpoint=endpoint,
    )


def as_thread(details: DiscussionWithDetails) -> Thread:
    """The client's data as a thread; a hidden comment is kept only if it is the first."""
    events = list(enumerate(details.events))
    comments = [(place, e) for place, e in events if isinstance(e, DiscussionComment)]
    changes = [e for _, e in events if isinstance(e, DiscussionStatusChange)]
    closing = _closing(changes) if details.status == "closed" else None
    first = next((_as_comment(event, place) for place, event in comments), None)
    return Thread(
        details.num,
        details.title,
        details.status,
        details.author,
        details.is_pull_request,
        tuple(_as_comment(e, place) for place, e in comments if not e.hidden),
        closing.author if closing else "",
        first if first is not None and first.author == details.author else None,
        _commits(events),
        details.merge_commit_oid or "",
        bool(details.conflicting_files),
        closing.created_at.timestamp() if closing else 0.0,
    )


def _closing(changes: list[DiscussionStatusChange]) -> DiscussionStatusChange | None:
    """How a discussion was closed: for the first time since it was last open."""
    last = list(takewhile(lambda change: change.new_status == "closed", reversed(changes)))
    return last[-1] if last else None


def _commits(events: list[tuple[int, DiscussionEvent]]) -> tuple[Pushed, ...]:
    """The commits of a request, without those after its merge."""
    ends = [place for place, e in events if isinstance(e, DiscussionStatusChange) and e.new_status == "merged"]
    end = ends[0] if ends else len(events)
    return tuple(Pushed(e.oid, place, e.author) for place, e in events[:end] if isinstance(e, DiscussionCommit))


def _as_comment(event: DiscussionComment, place: int) -> Comment:
    """A comment; of a hidden one the Hub may leave the text out."""
    data = event._event["data"]  # noqa: SLF001 - the client's properties fail where `latest` is absent
    latest = data.get("latest") or {}
    at = event.created_at.timestamp()
    changed = event.last_edited_at.timestamp() if latest.get("updatedAt") else at
    edited = bool(data.get("edited")) or (latest.get("author") or {}).get("name", event.author) != event.author
    return Comment(event.id, event.author, latest.get("raw") or "", at, changed, place, edited)


def as_page(answer: dict[str, Any]) -> tuple[int, list[Listed]]:
    """The number of rows in a list, and the rows of one page."""
    rows = []
    for row in answer["discussions"]:
        comments = row.get("numComments")
        author = (row.get("author") or {}).get("name", "")
        count = comments if isinstance(comments, int) else None
        rows.append(Listed(row["num"], row["title"], row["status"], author, count))
    return int(answer["count"]), rows
