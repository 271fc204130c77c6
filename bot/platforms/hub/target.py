"""A repository of the Hub as a target: its state, the carrying out of one publication, and the bot's requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bot.errors import BotError, Gone, Locked, Refused, Stale
from bot.platforms.caches import OPEN, Contents, KnownThreads, Row, blob_id, lazy_property
from bot.platforms.discussions import Conversation, Duplicate, MarkedComments, Pushed, Thread, shared_in
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import SERVICE, HubClient
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.files import FEW, HubBulkWriter, HubCommits, HubFiles
from bot.platforms.hub.source import FILE_LIMIT, HubSource, Listing
from bot.platforms.kept import Keeper
from bot.platforms.net import Intend, no_intent
from bot.platforms.row_index import RowIndex, RowStore
from bot.platforms.target import Target
from bot.publishing.board import Board
from bot.publishing.card import derived_files
from bot.publishing.entry import is_kept
from bot.publishing.layout import StoredEntries
from bot.publishing.merge import Merged, merge_files
from bot.publishing.publication import (
    CLOSED_BLOCKED,
    MOST_CLOSED,
    REPLACED,
    ClosedRequest,
    CloseRequest,
    Commit,
    CurrentState,
    EditComment,
    Form,
    Marker,
    OpenRequest,
    PostComment,
    PostText,
    Publication,
    Push,
    Request,
    UpdateRequest,
    file_marks,
    find_marker,
    parse_row_marks,
)


def _status(thread: Thread) -> Literal["open", "closed", "merged"]:
    if thread.is_open:
        return "open"
    return "merged" if thread.status == "merged" else "closed"


Files = Mapping[str, bytes | None]


@dataclass
class HubTarget(Target):
    """The target in one repository, as it stood when it was first looked at; a failed write makes it look again.

    `known` and `blobs` may have what was read before, by number and by object id; `rows` is the index of the rows on
    main, `listings` are folders. `intend` is held around each write that must happen once. `discussion` is the number
    of the discussion for rows of the form `comment`, None for one of ours for each leaderboard.
    """

    client: HubClient
    address: HubAddress
    known: KnownThreads = field(default_factory=KnownThreads, repr=False)
    blobs: MutableMapping[str, bytes] = field(default_factory=Contents, repr=False)
    rows: RowStore = field(default_factory=RowStore, repr=False)
    listings: dict[str, Listing] = field(default_factory=dict, repr=False)
    discussion: int | None = None
    has_comments: bool = False
    has_requests: bool = True
    own_commits: deque[str] = field(default_factory=deque, repr=False)
    intend: Intend = field(default=no_intent, repr=False)
    keeper: Keeper = field(default_factory=Keeper, repr=False)

    @property
    def name(self) -> str:
        """Its name in outcomes and on pages."""
        return self.address.url

    @lazy_property
    def source(self) -> HubSource:
        """The same repository, for reading."""
        return HubSource(self.client, self.address, self.listings)

    @lazy_property
    def files(self) -> HubFiles:
        """The contents of its files."""
        return HubFiles(self.source, RowIndex(self.source, self.rows, self.blobs), self.blobs)

    @lazy_property
    def discussions(self) -> HubDiscussions:
        """The same repository, for its requests and discussions."""
        return HubDiscussions(self.source, self.known, self.intend)

    @lazy_property
    def commits(self) -> HubCommits:
        """The same repository, for commits and requests with files."""
        return HubCommits(self.discussions, self.keeper)

    @lazy_property
    def comments(self) -> MarkedComments:
        """Our comments on rows, alarms and plans."""
        return MarkedComments(self.discussions, self.discussion)

    @lazy_property
    def branches(self) -> dict[str, str]:
        """The commits of the branches."""
        return self.source.refs()

    @lazy_property
    def refs(self) -> dict[str, str]:
        """The commits of branches and requests: a long list where many requests were ever opened."""
        found = self.source.refs(requests=True)
        self.__dict__.setdefault("branches", found)  # what was read before stays, so that all fits together
        return found

    @lazy_property
    def _looked(self) -> dict[Marker, list[tuple[int, Row]]]:
        """Our requests by mark, each as it was when it was first asked for after reading the list."""
        self.discussions.look("pull_request")
        return {}

    @lazy_property
    def requests(self) -> list[tuple[int, Row]]:
        """Our requests, oldest first; none if the form opens none: the token may then have no account."""
        if not self.has_requests:
            return []
        _ = self._looked
        return [(num, row) for num, row in self.known.of("pull_request") if row["mark"]]

    def requests_of(self, mark: Marker) -> list[tuple[int, Row]]:
        """Our requests with a mark, oldest first."""
        if not self.has_requests:
            return []
        if mark not in self._looked:
            self._looked[mark] = self.known.of("pull_request", mark.name)
        return self._looked[mark]

    def head(self) -> str:
        """The commit at main. Raises Refused if there is no such branch."""
        try:
            return self.branches["refs/heads/main"]
        except KeyError:
            raise Refused(SERVICE, f"{self.name} has no branch main") from None

    def contains(self, commit: str) -> bool:
        """Tell whether the history of main has a commit."""
        return self.source.contains(self.head(), commit)

    def note_lost(self) -> None:
        """Remember which open requests began at a commit that main has no more."""
        self.known.note_lost(self.lost)

    def identity(self) -> str:
        """The id of the repository. Raises Unavailable or Refused."""
        path = f"/api/{self.address.kind}s/{self.address.name}"
        return self.client.get_json(path, lambda found: str(found["_id"]), **{"expand[]": "createdAt"})

    def look_again(self) -> None:
        """Forget what was read of branches and requests."""
        for name in ("branches", "refs", "requests", "_looked"):
            self.__dict__.pop(name, None)

    def forget(self) -> None:
        """Forget all that was remembered of the rows, requests and discussions."""
        self.known.clear()
        self.rows.move(self.rows.commit(), "", {}, is_whole=True)
        for name in ("source", "files", "discussions", "commits", "comments"):
            self.__dict__.pop(name, None)
        self.look_again()

    def pushed_requests(self) -> list[Marker]:
        """The marks of our open requests whose newest commit is not known as ours."""
        known = {num: (row.get("head"), find_marker(row["mark"])) for num, row in self.open_requests}
        return [mark for num, (head, mark) in known.items() if mark and head != self.refs.get(f"refs/pr/{num}")]

    def check(self) -> None:
        """See that the repository is there and our token has an account. Raises Unavailable or Refused."""
        self.check_readable()
        if self.has_requests or self.has_comments:
            _ = self.client.user

    def check_readable(self) -> None:
        """See that the repository is there. Raises Unavailable or Refused."""
        self.source.head()

    # what stands there

    def read_files(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """The files at these paths on main, those that are there."""
        if len(paths) > FEW and self.rows.commit():  # the index has many rows, once it is brought to this commit
            self.files.rows.follow(self.head())
        return self.files.read(tuple(paths), self.head())

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state: files on main, the bot's open request, declined files, the bot's comment."""
        wanted = self.requests_of(mark)  # first: what is merged by then is in the head that is read next
        files = self.read_files(paths)
        is_open = [num for num, row in wanted if row["status"] in OPEN]
        found = [request for num in is_open if (request := self.read_request(num, mark, paths, files))]
        if len(found) < len(is_open):  # somebody closed one, and nothing told the bot: it is remembered by now
            self.look_again()
            if self.requests_of(mark) != wanted:
                return self.read_state(mark, paths)
        declined = self._declined(mark)
        merged = [num for num, row in wanted if row["status"] == "merged"]
        is_missing = bool(merged) and not mark.is_shared and len(files) < len(paths)
        return CurrentState(
            merged=self.proposed(max(merged), mark, paths, files) if is_missing else None,
            merged_at=self.discussions.read(max(merged)).merged_at if is_missing else "",
            files=files,
            request=found[0] if found else None,
            duplicates=tuple(found[1:]),
            declined=tuple(self._closed(num, mark, paths, files) for num in declined[: -MOST_CLOSED - 1 : -1]),
            comment=self.comments.find(mark) if self.has_comments or mark.has_own_discussion else None,
        )

    def _declined(self, mark: Marker) -> list[int]:
        """The requests of ours with a mark that people closed although they merged, oldest first."""
        closed = [(num, row) for num, row in self.requests_of(mark) if row["status"] == "closed"]
        by_people = [num for num, row in closed if row["closed_by"] not in {"", self.client.user}]
        return [num for num in by_people if not self._was_blocked(num)]

    def _was_blocked(self, num: int) -> bool:
        """Tell whether a request that people closed did not merge by then, so that nobody declined its rows.

        It is looked at when the closing is first seen; after a loss of the state the text says it, by naming no row.
        """
        row, ref = self.known.find(num) or {}, f"refs/pr/{num}"
        if "blocked" not in row and row.get("base") and row.get("rows") and ref in self.refs:
            with suppress(Refused):  # who may not see what main was counts what people closed as declined
                main = self.source.head_at(self.discussions.read(num).closed_at, self.head())
                changed = [change.path for change in self.source.changes(row["base"], self.refs[ref])]
                there = self.files.read(changed, self.refs[ref])
                merged = self._merge(row["base"], main, {path: there.get(path) for path in changed})
                self.known.note(num, {"blocked": "yes" if merged.conflicts else ""})
        row = self.known.find(num) or {}
        return bool(row.get("blocked")) or row.get("rows") == ""

    def _release_blocked(self, mark: Marker) -> None:
        """Have the text of each request that was closed while it did not merge say that it declines nothing."""
        for num, row in self.requests_of(mark):
            if row.get("blocked") and row.get("rows"):
                body = self.discussions.read(num).description
                said = find_marker(body)
                if said is not None:
                    text = body.replace(said.render(), said.about(()).render())
                    self.discussions.edit_description(num, f"{CLOSED_BLOCKED}\n\n{text}")
                    self.discussions.read(num)

    def _closed(self, num: int, mark: Marker, paths: tuple[str, ...], files: Mapping[str, bytes]) -> ClosedRequest:
        """What a closed request proposed: its text says it, else its commits do, while people have not deleted them."""
        if "rows" not in (self.known.find(num) or {}):
            self.discussions.read(num)
        rows = parse_row_marks((self.known.find(num) or {}).get("rows"))
        if rows is None and f"refs/pr/{num}" in self.refs:
            return ClosedRequest(str(num), file_marks(self.proposed(num, mark, paths, files)))
        return ClosedRequest(str(num), None if rows is None else frozenset(rows))

    def settle_closed(self, name: str, rows: Collection[str]) -> None:
        """Remember what a closed request counts as having proposed, which nobody can read any more."""
        self.known.note(int(name), {"rows": "".join(sorted(rows))})

    def closings(self, mark: Marker) -> int:
        """The number of our requests with a mark that people closed."""
        return len(self._declined(mark))

    def read_request(
        self, num: int, mark: Marker, paths: tuple[str, ...], files: Mapping[str, bytes]
    ) -> Request | None:
        """One of our requests; None if it is closed by now."""
        thread = self.discussions.read(num)
        if not thread.is_open:
            return None
        text = PostText(thread.title, thread.description)
        pushes = tuple(Push(one.oid, one.author) for one in thread.commits if one.author != self.client.user)
        self.discussions.note_head(num, self.refs.get(f"refs/pr/{num}", ""))
        if pushes or "base" not in (self.known.find(num) or {}):
            with suppress(Refused):  # then the Hub's own word about conflicts counts
                base = self._found_base(num, thread)
                self.known.note(num, {"base": base, "lost": "yes" if base and self.lost(base) else ""})
        proposed = self.proposed(num, mark, paths, files)
        merged = self._merged(num, proposed)
        conflicts = merged.conflicts
        if thread.has_conflicts and self._base(num) != self.head():  # of an older look of the Hub this may be
            conflicts = conflicts or frozenset(proposed)
        main = self.files.read(tuple(proposed), self.head())
        left = {path: data for path, data in merged.files.items() if data != main.get(path) or path in conflicts}
        return Request(str(num), left, text, self.url(num), pushes, conflicts)

    def _found_base(self, num: int, thread: Thread) -> str:
        """The commit of main at which a request began: the first in its history that is not its own; "" for none.

        The Hub itself merges main into no request, but people may push such a merge.
        """
        head = self.refs.get(f"refs/pr/{num}", "")
        own = {head, *(one.oid for one in thread.commits)}
        return next((one for one in self.source.history(head) if one not in own), "") if head else ""

    def _base(self, num: int) -> str:
        return (self.known.find(num) or {}).get("base", "")

    def _merged(self, num: int, files: Files) -> Merged:
        """These files of a request as merging it would leave them: it began at a commit that main may have left.

        Where main went back behind that commit, nothing merges: what main lost would come along.
        """
        if (self.known.find(num) or {}).get("lost"):
            return Merged(files, frozenset(files))
        return self._merge(self._base(num), self.head(), files)

    def _merge(self, base: str, main: str, files: Files) -> Merged:
        if base in {"", main} or not files:
            return Merged(files, frozenset())
        now = self.files.read(tuple(files), main)
        ids = self.source.object_ids(list(files), base)
        moved = [path for path in files if ids.get(path) != (blob_id(now[path]) if path in now else None)]
        there = self.files.read([path for path in moved if path in ids], base)
        return merge_files({path: there.get(path) if path in moved else now.get(path) for path in files}, now, files)

    def proposed(self, num: int, mark: Marker, paths: tuple[str, ...], files: Mapping[str, bytes]) -> dict[str, Any]:
        """The files that a request changes: those at `paths`, or all of them for a shared request."""
        head = self.refs.get(f"refs/pr/{num}")
        if head is None:
            return {}
        if mark.is_shared:
            paths = self._paths_of(num, head, paths)
            files = self.files.read(paths, self.head())
        there = self.files.read(paths, head)
        return {path: there.get(path) for path in paths if there.get(path) != files.get(path)}

    def _paths_of(self, num: int, head: str, paths: Collection[str]) -> tuple[str, ...]:
        """The paths that a shared request with this head changes.

        Where the history may not be read, so that nobody knows where it began: of those that main has otherwise, the
        given ones and those that its text names.
        """
        try:
            base = self._base(num) or self.source.fork_point(head, self.head())
        except Refused:
            changed = [one.path for one in self.source.changes(self.head(), head)]
            named = set(parse_row_marks((self.known.find(num) or {}).get("rows")) or ())
            there = self.files.read(changed, head)
            return tuple(one for one in changed if one in paths or file_marks({one: there.get(one)}) <= named)
        return tuple(one.path for one in self.source.changes(base, head) if not is_kept(one.path))

    def bulk_writer(self, mark: Marker, form: Form) -> HubBulkWriter:
        """The writer for very many rows."""
        return HubBulkWriter(self.commits, mark, form)

    def scan_entries(self) -> StoredEntries:
        """All entries on main, and the files among them that are not entries."""
        return self.files.rows.entries(self.head())

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder on main."""
        return self.files.listing(folder, self.head())

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that our open requests or comments are about, except for those that share a request."""
        marks = [find_marker(row["mark"]) for _, row in self.open_requests]
        keys = {mark.key for mark in marks if mark and mark.kind == "entry" and mark.leaderboard == leaderboard}
        return keys | self.comments.keys(leaderboard) if self.has_comments else keys

    # what people say on our requests

    def comment_counts(self) -> Mapping[str, int]:
        """The number of comments on each open request of ours, as far as lists that were read anyway tell it."""
        found = {num: self.discussions.counts.get(num) for num, _ in self.open_requests}
        return {str(num): count for num, count in found.items() if count is not None}

    def shared_requests(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        return shared_in(self.requests)

    def conversation(self, name: str) -> Conversation | None:
        """The conversation on a request; None if it is not the bot's."""
        try:
            thread = self.discussions.read(int(name))
        except Gone:
            return None
        if not thread.pull_request or thread.author != self.client.user:
            return None
        newest = thread.commits[-1] if thread.commits else Pushed("", 0, "")
        said = [replace(one, saw_head=bool(newest.oid) and newest.place < one.place) for one in thread.replies]
        mark, is_ours = find_marker(thread.description), newest.author == self.client.user
        return Conversation(name, mark, _status(thread), newest.oid, tuple(said), is_ours)

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request and say so, in one call.

        The Hub has no way to name the commit, so it is looked at just before. Raises Stale if the request has
        another head by now, Refused where the token may not.
        """
        discussions, num = self.discussions, int(name)
        if self.source.refs(requests=True).get(f"refs/pr/{num}") != head:
            raise Stale(f"{self.name}: request #{num} has another commit by now")
        discussions.merge(num, text)
        discussions.read(num)
        self.look_again()

    # what is written

    def apply(self, publication: Publication) -> str:
        """Carry a publication out; returns its URL. Raises Stale if the target changed since it was read."""
        try:
            match publication:
                case OpenRequest():
                    return self.url(self._open_request(publication))
                case UpdateRequest():
                    return self.url(self._update_request(publication))
                case CloseRequest(mark, request, reason):
                    self.discussions.set_status(int(request.name), "closed", reason)
                    self._looked.pop(mark, None)
                    self.__dict__.pop("requests", None)
                    return self.url(int(request.name))
                case Commit(_, text, files):  # raises Stale if main moved since it was read
                    oid, _ = self._write(files, text, parent=self.head())
                    self.look_again()
                    return f"{self.client.endpoint}/{self.address.kind}s/{self.address.name}/commit/{oid}"
                case PostComment():
                    comment = self.comments.post(publication.mark, publication.text)
                    return self.url(int(comment.name.partition(" ")[0]))
                case EditComment(_, comment, text):
                    return self.url(self.comments.edit(comment, text))
        except BotError:
            self.look_again()  # it may have landed all the same
            raise

    def _write(self, files: Files, text: PostText, **how: Any) -> tuple[str, int | None]:
        """Commit files, see `HubCommits.write`, and remember the commit and the contents as ours."""
        oid, num = self.commits.write(files, text.title, text.body, **how)
        self.own_commits.append(oid)
        self.blobs.update({blob_id(data): data for data in files.values() if data is not None})
        return oid, num

    def _open_request(self, publication: OpenRequest) -> int:
        """Open a request, after a last look for one that another process opened meanwhile; returns its number.

        The Hub has no key that would keep two processes from opening one each at the same moment: both look again, and
        close their own where it is the later one.
        """
        text, mark = publication.text, publication.mark
        with self.discussions.writing(text.body):
            before, parent = self.requests_of(mark), self.head()  # as they stood when this was decided
            self.look_again()
            if self.requests_of(mark) != before:
                raise Stale(f"{self.name}: the requests for this row are not the same as before")
            with suppress(Locked):  # people may have locked it
                self._release_blocked(mark)  # first: nobody looks at it again once the new one is open
            earlier = [f"refs/pr/{num}" for num, _ in before[-1:]]
            oid, made = self._write(publication.files, text, parent=parent, request=True, earlier=earlier)
            num = made or 0
            self.discussions.opened(num, mark, text.body, oid, parent)
            self.look_again()
            return self._keep_first(mark, num)

    def _keep_first(self, mark: Marker, num: int) -> int:
        """Close our new request where an earlier one has its mark; returns the number of the one that stays."""
        same = [other for other, row in self.requests_of(mark) if row["status"] in OPEN]
        first = min([num, *same])
        if first != num:
            self.discussions.remove_duplicate(Duplicate("request", mark, str(num), str(first)))
            self.look_again()
        return first

    def _update_request(self, publication: UpdateRequest) -> int:
        """Bring a request's files, title and description to what they should be, in this order; returns its number.

        Where a new request has to take its place, that one's number is returned.
        """
        request, files, text = publication.request, publication.files, publication.text
        num, body = int(request.name), publication.text.body
        changes = {path: data for path, data in files.items() if request.files.get(path, b"\0") != data}
        dropped = [path for path in request.files if path not in files]
        back = self.files.read(dropped, self.head())
        changes |= {path: back.get(path) for path in dropped}
        ref = f"refs/pr/{num}"
        if changes and ref not in self.refs:
            raise Gone(SERVICE, f"{self.name} {ref}: the ref of request #{num} is gone; close the request")
        kept = {path: request.files.get(path) for path in request.conflicts}
        if self._is_in_vain(num, kept | changes):
            self.apply(CloseRequest(publication.mark, request, REPLACED))
            return self._open_request(OpenRequest(publication.mark, text, files))
        if changes:
            oid, _ = self._write(changes, text, revision=ref, parent=self.refs[ref])
            self.discussions.note_head(num, oid)
            self.look_again()
        if request.text.title != text.title:
            self.discussions.rename(num, text.title)
        if request.text.body.strip() != body.strip():
            self.discussions.edit_description(num, body)
        return num

    def _is_in_vain(self, num: int, files: Files) -> bool:
        """Tell whether merging a request with these files would fail, or would not bring them to main."""
        merged = self._merged(num, files)
        return bool(merged.conflicts) or merged.files != files

    @property
    def open_requests(self) -> list[tuple[int, Row]]:
        """Our requests that are open."""
        return [(num, row) for num, row in self.requests if row["status"] in OPEN]

    def find_duplicates(self) -> list[Duplicate]:
        """Our later requests, discussions and comments with the mark of an earlier one."""
        self.look_again()
        return self.discussions.find_duplicates() if self.has_requests or self.has_comments else []

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close or hide the later one."""
        self.discussions.remove_duplicate(duplicate)
        self.look_again()

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The derived files that do not follow from the entries on main, as they should be: the CSV, and the card.

        The Hub makes a Parquet file from the CSV itself: a binary file would go through its large-file storage.
        """
        return {**derived_files(board, lambda path: self.source.read(path, self.head(), 100 * FILE_LIMIT))}

    def url(self, num: int) -> str:
        """The URL of a request or discussion."""
        return f"{self.client.web(self.address)}/discussions/{num}"
