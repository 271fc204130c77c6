"""The current and the desired state of a target, and the decision between them, as plain values."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from bot.errors import MalformedEntry
from bot.publishing.decisions import Decided, parse_decided
from bot.publishing.entry import Entry, digest_of, is_same_row, parse_entry
from bot.reporting.escape import plain_json, without_references

MarkerKind = Literal[
    "entry",
    "rolling",
    "migration",
    "plan",
    "verdict",
    "accepted",
    "reply",
    "board",
    "alarm",
    "model",
    "verify",
    "remeasured",
    "setup",
]
SHARED = frozenset({"rolling", "migration", "model"})  # marks of requests for more than one file
Form = Literal["pull-request", "commit", "comment"]
MOST_CLOSED = 20  # closed requests with one mark that are read: each costs some questions, or a process of git
CLOSED_BLOCKED = (
    "**This request no longer merged when it was closed**, because the main branch had changed. So its rows are not "
    "declined, and a new request proposes them."
)
STANDS = "The main branch already has what this request proposes."
REPLACED = (
    "The main branch has changed since this request was opened, and merging it now would fail or would not bring every "
    "row. A new request proposes the same rows; no row is declined because this one is closed."
)
NOTHING_LEFT = "No row is left in this request: each one was withdrawn, was declined, or is already on the main branch."
WITHDRAWN = "The submission behind this request was withdrawn from its source."
CLOSED_BEFORE = "a person closed the request with the same content"
WRITTEN_TWICE = "Two processes wrote this at the same time; {kept} stays."
PROPOSED_TWICE = "Two requests propose the same row; {kept} stays open."
BLOCK = re.compile(r"^```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)  # a row inside a comment
OPENING, CLOSING = "<!-- leaderboard-bot ", " -->"
ROW_MARK = 16  # hexadecimal digits of the mark of a row: 64 bits
MOST_MARKED = 2_000  # rows of a request that its text names by their marks
ROW_MARKS = re.compile(rf"([0-9a-f]{{{ROW_MARK}}})*")


def row_mark(name: str, digest: str) -> str:
    """The name of a row together with the digest of its content, "" where the row goes: 16 digits of a SHA-256."""
    return hashlib.sha256(msgspec.json.encode((name, digest))).hexdigest()[:ROW_MARK]


def file_marks(files: Mapping[str, bytes | None]) -> frozenset[str]:
    """The marks of the rows that are files of their own, by their paths, and of other files by their bytes."""
    return frozenset(row_mark(path, _content_digest(data)) for path, data in files.items())


def _content_digest(data: bytes | None) -> str:
    if data is None:
        return ""
    try:
        return digest_of(parse_entry(data))
    except MalformedEntry:
        return hashlib.sha256(data).hexdigest()


def parse_row_marks(text: object) -> tuple[str, ...] | None:
    """The marks of rows from one text that has them one after the other; None where it is no such text."""
    if not isinstance(text, str) or not ROW_MARKS.fullmatch(text):
        return None
    return tuple(text[at : at + ROW_MARK] for at in range(0, len(text), ROW_MARK))


@dataclass(frozen=True, slots=True)
class Marker:
    """The hidden line by which the bot recognises its own texts: their kind, and what they are about.

    In the text of a request `rows` are the marks of the rows that it proposes, None where it does not say them: closed
    by a person, they are what was declined. In an answer to a person `decided` is what it records. Neither makes
    another mark.
    """

    kind: MarkerKind
    key: str
    leaderboard: str = ""
    rows: tuple[str, ...] | None = field(default=None, compare=False)
    decided: Decided | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The line without what it records, by which a text is found."""
        return replace(self, rows=None, decided=None).render()

    def about(self, rows: Collection[str]) -> Marker:
        """The mark in the text of a request for these rows; very many are not said."""
        return replace(self, rows=tuple(sorted(rows)) if len(rows) <= MOST_MARKED else None)

    @property
    def is_shared(self) -> bool:
        """Tell whether it marks a request for more than one file: many rows, or all results of a model."""
        return self.kind in SHARED

    @property
    def has_own_discussion(self) -> bool:
        """Tell whether it marks a comment that has a discussion of its own in every form of publication."""
        return self.kind in {"alarm", "plan"}

    def render(self) -> str:
        """The mark as an HTML comment; no `>` or `-` inside can end it."""
        data: dict[str, Any] = {"kind": self.kind, "key": self.key, "leaderboard": self.leaderboard}
        data |= {} if self.rows is None else {"rows": "".join(self.rows)}
        data |= {} if self.decided is None else {"decided": msgspec.to_builtins(self.decided)}
        text = (
            json.dumps(data, sort_keys=True).replace(">", "\\u003e").replace("<", "\\u003c").replace("--", "-\\u002d")
        )
        return f"{OPENING}{text}{CLOSING}"


def holder_of(mark: Marker) -> Marker:
    """The mark of the discussion or issue that holds a comment: one for all rows, one for alarms, one for plans."""
    return Marker(mark.kind if mark.has_own_discussion else "board", mark.leaderboard, mark.leaderboard)


def rolling_mark(leaderboard: str) -> Marker:
    """The mark of the request that new rows share."""
    return Marker("rolling", f"rolling/{leaderboard}", leaderboard)


def migration_mark(leaderboard: str) -> Marker:
    """The mark of the request for rows that a changed declaration scores otherwise."""
    return Marker("migration", f"migration/{leaderboard}", leaderboard)


def commit_mark(leaderboard: str) -> Marker:
    """The mark of a commit of many rows that one call made; no request has it."""
    return Marker("rolling", f"commit/{leaderboard}", leaderboard)


def plan_mark(leaderboard: str, source: str) -> Marker:
    """The mark of the comment about a held plan: each source of a board has its own."""
    return Marker("plan", f"plan of {leaderboard} from {source}", leaderboard)


def find_marker(text: str) -> Marker | None:
    """The last mark that begins a line of a text of the bot, None if there is none; a damaged one does not count.

    No name of a stranger begins a line there.
    """
    _, opening, rest = f"\n{text}".rpartition(f"\n{OPENING}")
    body, closing, _ = rest.partition(CLOSING)
    if not opening or not closing:
        return None
    try:
        data = json.loads(body)
        mark = Marker(data["kind"], str(data["key"]), str(data.get("leaderboard", "")))
        mark = replace(mark, rows=parse_row_marks(data.get("rows")), decided=parse_decided(data.get("decided")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return mark if mark.kind in get_args(MarkerKind) else None


@dataclass(frozen=True, slots=True)
class PostText:
    """A text for people: a title of one line, a body of Markdown that ends in the mark."""

    title: str
    body: str

    def marks_of(self, files: Mapping[str, bytes | None]) -> frozenset[str]:
        """The marks of the rows that a request with this text proposes: the text says them, else `files` do."""
        mark = find_marker(self.body)
        return file_marks(files) if mark is None or mark.rows is None else frozenset(mark.rows)


class Push(NamedTuple):
    """A commit that somebody else pushed to a request of the bot: its id, and the account."""

    oid: str
    author: str


@dataclass(frozen=True, slots=True)
class Request:
    """An open request of the bot: its name at the target, the files it would change (None deletes), its text.

    The files are as merging it into main would leave them; at the paths of `conflicts` it does not merge, and they are
    as it has them. `url` is where people see it, "" if a target has no pages. `pushes` are the commits of others in it.
    """

    name: str
    files: Mapping[str, bytes | None]
    text: PostText
    url: str = ""
    pushes: tuple[Push, ...] = ()
    conflicts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PostedComment:
    """A comment of the bot: its name at the target, and its text."""

    name: str
    body: str


@dataclass(frozen=True, slots=True)
class ClosedRequest:
    """A request of the bot that a person closed, with the marks of the rows that it proposed.

    `rows` is None where nobody can read them any more: its text does not say them, and its commits are deleted.
    """

    name: str
    rows: frozenset[str] | None

    def has(self, row: str) -> bool:
        """Tell whether it proposed a row, by its mark; what nobody can read counts as having proposed it."""
        return self.rows is None or row in self.rows


@dataclass(frozen=True, slots=True)
class CurrentState:
    """The current state of a target for one mark: files at its main branch, an open request, a comment.

    `declined` are the requests that a person closed, the last one first: their rows are not proposed a second time; of
    very many, the last `MOST_CLOSED`. `merged` are those of the last merged request, where main does
    not have them all, and `merged_at` the commit that merged it, "" if that is not known. `duplicates` are further open
    requests with the same mark, which two processes opened at the same moment.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    request: Request | None = None
    duplicates: tuple[Request, ...] = ()
    declined: tuple[ClosedRequest, ...] = ()
    merged: Mapping[str, bytes | None] | None = None
    merged_at: str = ""
    comment: PostedComment | None = None

    def is_declined(self, path: str, data: bytes | None) -> bool:
        """Tell whether a person closed a request with this very row."""
        return bool(self.declined) and self.has_declined(row_mark(path, _content_digest(data)))

    def has_declined(self, row: str) -> bool:
        """Tell whether a person closed a request with the row of this mark."""
        return any(closed.has(row) for closed in self.declined)


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The desired state of a target: files (None: not there) and the text that proposes them.

    With `stays` the open request is left as it is: what main has now allows no new one.
    """

    text: PostText
    files: Mapping[str, bytes | None]
    stays: bool = False


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Propose files in a new request."""

    mark: Marker
    text: PostText
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """Replace what an open request proposes, so that it merges; where a service cannot do that, by a new request."""

    mark: Marker
    request: Request
    text: PostText
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class CloseRequest:
    """Close an open request, saying why."""

    mark: Marker
    request: Request
    reason: str


@dataclass(frozen=True, slots=True)
class Commit:
    """Write files without review."""

    mark: Marker
    text: PostText
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class PostComment:
    """Write a comment."""

    mark: Marker
    text: PostText


@dataclass(frozen=True, slots=True)
class EditComment:
    """Change a comment in its place."""

    mark: Marker
    comment: PostedComment
    text: PostText


Publication = OpenRequest | UpdateRequest | CloseRequest | Commit | PostComment | EditComment


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do (None: nothing), and why in a few words."""

    publication: Publication | None
    why: str


def entry_marker(entry: Entry) -> Marker:
    """The mark of everything that is about one row."""
    return Marker("entry", entry.key, entry.leaderboard.id)


def decide(
    mark: Marker, text: PostText, files: Mapping[str, bytes | None], current: CurrentState, form: Form
) -> Decision:
    """Decide the next step until `files` are published, or proposed, in the given form; None when all is done."""
    if form == "comment":
        return _decide_comment(mark, text, current)
    if current.duplicates and current.request is not None:
        reason = PROPOSED_TWICE.format(kept=current.request.name)
        return Decision(CloseRequest(mark, current.duplicates[0], reason), "a duplicate is closed")
    changed = {path: data for path, data in files.items() if not _is_there(path, data, current.files)}
    if not changed:
        return _decide_done(mark, current, _why_done(files, current))
    if form == "commit":
        return Decision(Commit(mark, text, changed), "a commit makes the change")
    return _decide_request(mark, text, changed, current)


def _why_done(files: Mapping[str, bytes | None], current: CurrentState) -> str:
    """Why nothing is to be proposed any more."""
    if files and all(data is None for data in files.values()):
        return WITHDRAWN
    proposed = current.request.files if current.request is not None else {}
    is_merged = all(_is_there(path, data, current.files) for path, data in proposed.items())
    return STANDS if is_merged else NOTHING_LEFT


def _is_there(path: str, data: bytes | None, files: Mapping[str, bytes]) -> bool:
    return is_same_row(files.get(path), data)


def _decide_comment(mark: Marker, text: PostText, current: CurrentState) -> Decision:
    if current.comment is None:
        return Decision(PostComment(mark, text), "a new comment shows it")
    if current.comment.body.strip() == text.body.strip():
        return Decision(None, "the comment shows it already")
    return Decision(EditComment(mark, current.comment, text), "the comment is edited")


def _decide_done(mark: Marker, current: CurrentState, reason: str) -> Decision:
    if current.request is not None:
        return Decision(CloseRequest(mark, current.request, reason), "the request is closed")
    return Decision(None, "the main branch has it already")


def _decide_request(mark: Marker, text: PostText, files: Mapping[str, bytes | None], current: CurrentState) -> Decision:
    rows = text.marks_of(files) if current.declined else frozenset[str]()
    is_closed = any(closed.rows in {None, rows} for closed in current.declined)
    if current.request is not None:
        if files == current.request.files and says(current.request.text, text) and not current.request.conflicts:
            return Decision(None, "the open request proposes it already")
        if is_closed:
            return _decide_done(mark, current, NOTHING_LEFT)
        if current.request.conflicts:
            return Decision(
                UpdateRequest(mark, current.request, text, files), "the open request did not merge any more"
            )
        return Decision(UpdateRequest(mark, current.request, text, files), "the open request is updated")
    if is_closed:
        return Decision(None, CLOSED_BEFORE)
    return Decision(OpenRequest(mark, text, files), "a new request proposes it")


def says(there: PostText, text: PostText) -> bool:
    """Tell whether a request's text is up to date; a process may have ended between files and text.

    Where a request is a commit, its text has lost what refers to issues and people.
    """
    one, other = (without_references(f"{it.title}\n{it.body.strip()}") for it in (there, text))
    return one == other


def word_for(publication: Publication) -> str:
    """A publication in one word for a terminal, such as `open-request`."""
    return "-".join(re.findall(r"[A-Z][a-z]+", type(publication).__name__)).lower()


def json_block(entry: Entry) -> list[str]:
    """The entry as lines of Markdown."""
    return ["```json", plain_json(entry.to_bytes().decode()).rstrip(), "```"]


def entry_in(body: str) -> Entry | None:
    """The entry in a comment's text, None if it has none that can be read."""
    for block in reversed(BLOCK.findall(body)):
        try:
            return parse_entry(block.encode())
        except MalformedEntry:
            continue
    return None
