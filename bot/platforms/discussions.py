"""Discussions, requests and comments on any service: their values, how to read and write them, and our own comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from bot.errors import Gone, Stale
from bot.platforms.caches import OPEN, Kind, KnownThreads, Row
from bot.platforms.source import Source
from bot.publishing.publication import Marker, PostedComment, PostText, find_marker, holder_of
from bot.publishing.texts import board_text


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment; `id` is the service's.

    `at` is when it was written and `changed` when its text was last edited (Unix seconds); `changed` is infinite for a
    comment of ours that somebody else edited. `place` is its place among all events of the discussion. `edited` says
    that the text is not the one that was posted: others than the author may edit it. `saw_head` says that the newest
    commit of the bot's request was there when the comment was written.
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
    """One request of the bot with the comments on it, without the opening one.

    `head` is its newest commit (of a merged request the one that was merged), "" if it is not known. `is_ours` says
    that we wrote that commit: others who may push there can give a commit any author and date.
    """

    name: str
    mark: Marker | None
    status: Literal["open", "closed", "merged"]
    head: str
    comments: tuple[Comment, ...]
    is_ours: bool = False


Status = Literal["open", "closed"]
VerdictState = Literal["success", "failure"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A discussion or request as the list shows it: `status` is open, draft, closed or merged.

    `comments` changes when somebody comments, None if the list does not say.
    """

    num: int
    title: str
    status: str
    author: str
    comments: int | None = None


class Pushed(NamedTuple):
    """One commit of a request: its id, its place among all events, and the account that pushed it."""

    oid: str
    place: int
    author: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A discussion or request with its comments; `closed_by` is who closed it, "" while it is open.

    `opening` is the first comment, hidden or not; None if its author wrote nothing. `comments` are those that are
    visible, the opening one among them. `commits` are those of a request before its merge; none where the service does
    not tell the order of commits and comments. `merged_at` is the commit that merged it, "" if it is not merged, or the
    service does not say. `has_conflicts` is what the service last computed of an open request, `closed_at` when it was
    closed (Unix seconds).
    """

    num: int
    title: str
    status: str
    author: str
    pull_request: bool
    comments: tuple[Comment, ...]
    closed_by: str
    opening: Comment | None = None
    commits: tuple[Pushed, ...] = ()
    merged_at: str = ""
    has_conflicts: bool = False
    closed_at: float = 0.0

    @property
    def description(self) -> str:
        """The text of the first comment."""
        return self.opening.text if self.opening else ""

    @property
    def is_open(self) -> bool:
        """Tell whether it is neither closed nor merged."""
        return self.status in OPEN

    @property
    def replies(self) -> list[Comment]:
        """The comments after the opening one."""
        first = self.opening.id if self.opening else ""
        return [one for one in self.comments if one.id != first]

    def comments_of(self, author: str) -> Iterator[Comment]:
        """The comments of one account, without the opening one."""
        return (one for one in self.replies if one.author == author)


class ReviewedSource(Source, Protocol):
    """A source in which others open requests."""

    def refs(self, *, requests: bool = False) -> Mapping[str, str]:
        """The commits by ref: open requests as `refs/pr/7` if asked for, and `refs/heads/main` where it is known."""
        ...

    def closed_head(self, number: int) -> str | None:
        """The commit of a closed request, None if it is not known."""
        ...

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold."""
        ...


class Discussions(Protocol):
    """Reads and writes the discussions and requests of one source.

    What is written is sent once, and looked for where it may have landed. All methods raise Locked, DiscussionsDisabled
    or Gone where nothing can be written.
    """

    @property
    def us(self) -> str:
        """Our account's name."""
        ...

    @property
    def source(self) -> ReviewedSource:
        """The same repository, for reading."""
        ...

    @property
    def known(self) -> KnownThreads:
        """The remembered discussions and requests that the bot opened."""
        ...

    @property
    def counts(self) -> Mapping[int, int | None]:
        """By number of a listed discussion, a value that changes with each comment; None if the list has none."""
        ...

    def listed(self, kind: Kind, status: Status) -> list[Listed]:
        """The discussions of a kind and status."""
        ...

    def read(self, num: int) -> Thread:
        """One discussion or request as it is now."""
        ...

    def ours(self, kind: Kind, *, whole: bool = False) -> Iterable[tuple[int, Row]]:
        """All discussions of a kind that we opened, oldest first: the number, and the remembered row with its mark.

        `whole` reads the lists to their ends.
        """
        ...

    def may_have_answers(self) -> Iterable[int]:
        """The discussions and requests, open or closed, that may hold an answer of the bot to a command."""
        ...

    def open_discussion(self, title: str, text: str) -> int:
        """Open a discussion; returns its number."""
        ...

    def comment(self, num: int, text: str) -> None:
        """Add a comment."""
        ...

    def edit(self, num: int, comment_id: str, text: str) -> None:
        """Replace the text of a comment of the bot; the same text twice is harmless."""
        ...

    def edit_description(self, num: int, text: str) -> None:
        """Replace the opening text of a discussion of the bot."""
        ...

    def set_status(self, num: int, status: Status, reason: str | None = None) -> None:
        """Close or open a discussion, with a reason."""
        ...

    def find_duplicates(self) -> list[Duplicate]:
        """The open discussions of the bot, and the comments in those, that repeat an earlier mark."""
        ...

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Remove what repeats another."""
        ...

    def show_verdict(self, head: str, name: str, state: VerdictState, text: str) -> None:
        """Show a verdict named `name` beside a commit, where the service has that and the bot's account may."""
        ...


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A later text of the bot with the mark of an earlier one; `name` and `kept` are how the service names the two."""

    kind: Literal["request", "discussion", "comment"]
    mark: Marker
    name: str
    kept: str


def open_duplicates(discussions: Discussions, *kinds: Kind) -> list[Duplicate]:
    """Among the bot's open discussions of some kinds, and the comments there, those that repeat an earlier mark."""
    found: list[Duplicate] = []
    for kind in kinds:
        nums = [(num, row) for num, row in discussions.ours(kind, whole=True) if row["status"] in OPEN]
        marked = [(find_marker(row["mark"]), str(num)) for num, row in nums]
        word: Literal["request", "discussion"] = "request" if kind == "pull_request" else "discussion"
        found += later_ones(word, [(mark, name) for mark, name in marked if mark])
        for num, _ in nums if kind == "discussion" else ():
            found += repeated_comments(discussions.read(num), discussions.us)
    return found


def comment_with(thread: Thread, author: str, text: str) -> str | None:
    """The id of an account's comment with this text; None if there is none."""
    return next((one.id for one in thread.comments_of(author) if one.text.strip() == text.strip()), None)


def repeated_comments(thread: Thread, us: str) -> list[Duplicate]:
    """Our comments in a thread that repeat the mark of an earlier one there."""
    marked = [(find_marker(one.text), f"{thread.num} {one.id}") for one in thread.comments_of(us)]
    return later_ones("comment", [(mark, name) for mark, name in marked if mark])


def later_ones(
    kind: Literal["request", "discussion", "comment"], marked: Iterable[tuple[Marker, str]]
) -> list[Duplicate]:
    """All but the first of each mark; `marked` are open ones, oldest first, each with its name."""
    kept: dict[Marker, str] = {}
    found: list[Duplicate] = []
    for mark, name in marked:
        first = kept.setdefault(mark, name)
        if first != name:
            found.append(Duplicate(kind, mark, name, first))
    return found


def shared_in(requests: Iterable[tuple[int, Mapping[str, str]]]) -> list[str]:
    """The numbers of those requests of the bot that many rows share, in the given order."""
    marks = ((num, find_marker(row["mark"])) for num, row in requests)
    return [str(num) for num, mark in marks if mark is not None and mark.is_shared]


@dataclass
class MarkedComments:
    """Our comments in one repository; `discussion` is the number of the one for rows, None for one of ours."""

    discussions: Discussions
    discussion: int | None = None

    def find(self, mark: Marker) -> PostedComment | None:
        """The comment with a mark; its name is the discussion's number and the comment's id, as in `12 64f1…`."""
        thread = self._thread(mark)
        return self._find_in(thread, mark) if thread else None

    def _find_in(self, thread: Thread, mark: Marker) -> PostedComment | None:
        found = (one for one in self._ours(thread) if find_marker(one.text) == mark)
        return next((PostedComment(f"{thread.num} {one.id}", one.text) for one in found), None)

    def _ours(self, thread: Thread) -> list[Comment]:
        return [one for one in thread.comments if one.author == self.discussions.us]

    def keys(self, leaderboard: str) -> set[str]:
        """The rows of a leaderboard that the bot's comments are about."""
        thread = self._thread(Marker("entry", "", leaderboard))
        marks = [find_marker(one.text) for one in (self._ours(thread) if thread else ())]
        return {mark.key for mark in marks if mark and mark.kind == "entry" and mark.leaderboard == leaderboard}

    def replies(self, mark: Marker) -> list[Comment]:
        """The comments in the discussion that holds the comment of a mark, without the opening one."""
        thread = self._thread(mark)
        return thread.replies if thread else []

    def answer(self, mark: Marker, text: str) -> None:
        """Add a comment to the discussion that holds the comment of a mark."""
        thread = self._thread(mark)
        if thread is not None:
            self.discussions.comment(thread.num, text)

    def say(self, name: str, text: str) -> None:
        """Add a comment to a request of the bot."""
        self.discussions.comment(int(name), text)

    def _thread(self, mark: Marker) -> Thread | None:
        """The discussion for the comment of a mark; None if it is still to be opened."""
        if self.discussion is not None and not mark.has_own_discussion:
            return self.discussions.read(self.discussion)
        nums = self._holders(holder_of(mark))
        return self.discussions.read(nums[0]) if nums else None

    def _holders(self, holder: Marker, *, only_open: bool = False) -> list[int]:
        rows = [(num, row) for num, row in self.discussions.ours("discussion") if row["mark"] == holder.name]
        return [num for num, row in rows if not only_open or row["status"] == "open"]

    def post(self, mark: Marker, text: PostText) -> PostedComment:
        """Add a comment, and open its discussion if need be; returns the comment that stays.

        Where another process was faster, its comment stays and gets this text.
        """
        thread = self._thread(mark)
        num = thread.num if thread else self._open(holder_of(mark))
        self.discussions.comment(num, text.body)
        thread = self.discussions.read(num)
        for duplicate in repeated_comments(thread, self.discussions.us):
            if duplicate.mark == mark:
                self.discussions.remove_duplicate(duplicate)
        first = self._find_in(thread, mark)
        if first is None:
            raise Stale(f"the comment on discussion #{num} is not there any more")
        if first.body.strip() != text.body.strip():
            self.edit(first, text)
        return first

    def edit(self, comment: PostedComment, text: PostText) -> int:
        """Replace the text of a comment; returns its discussion's number. Raises Stale if the comment was deleted."""
        num, _, comment_id = comment.name.partition(" ")
        try:
            self.discussions.edit(int(num), comment_id, text.body)
        except Gone as gone:
            raise Stale(f"comment {comment_id} was deleted after it was read: {gone}") from gone
        return int(num)

    def set_open(self, mark: Marker, *, is_open: bool) -> None:
        """Open or close the discussion for the comment of a mark; one that has other marks, too, stays open."""
        thread = self._thread(mark)
        if thread is None or thread.is_open is is_open:
            return
        marks = [find_marker(one.text) for one in thread.replies if one.author == self.discussions.us]
        if is_open or not any(other.kind == mark.kind and other != mark for other in marks if other):
            self.discussions.set_status(thread.num, "open" if is_open else "closed")

    def _open(self, holder: Marker) -> int:
        """Open the discussion for comments; returns its number. Where another process was faster, ours is closed."""
        text = board_text(holder)
        num = self.discussions.open_discussion(text.title, text.body)
        first = min([num, *self._holders(holder, only_open=True)])
        if first != num:
            self.discussions.remove_duplicate(Duplicate("discussion", holder, str(num), str(first)))
        return first
