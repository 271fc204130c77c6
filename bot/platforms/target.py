"""The interfaces of all targets of entries and of all places of a site: only these write, and they decide nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import Refused
from bot.platforms.discussions import Conversation, Duplicate, MarkedComments
from bot.platforms.source import Source
from bot.publishing.board import Board
from bot.publishing.entry import FOLDER
from bot.publishing.layout import StoredEntries
from bot.publishing.publication import Commit, CurrentState, Form, Marker, PostText, Publication


class Target(Protocol):
    """A place to which entries are published. The methods with a body suit a place without requests and comments."""

    @property
    def name(self) -> str:
        """Its address as people write it."""
        ...

    @property
    def comments(self) -> MarkedComments | None:
        """The bot's comments there; None where nobody can comment, so that people cannot reply."""
        return None

    def comment_counts(self) -> Mapping[str, int]:
        """The number of comments on the bot's open requests, as far as it is known without reading each of them."""
        return {}

    def shared_requests(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        return []

    def conversation(self, name: str) -> Conversation | None:
        """The conversation on a request; None if it is not the bot's."""
        return None

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale for another head, Refused where we may not.

        The comment may be missing where the call broke off. Where a service cannot be told the commit, one that arrives
        at that moment is merged too: `conversation` gives the head that was merged.
        """
        return

    def check(self) -> None:
        """See that the target can be one, and which account we have there. Raises CallError, Unavailable or Refused."""

    def check_readable(self) -> None:
        """See that the target is there; a public repository needs no account. Raises as `check` does."""
        self.check()

    def head(self) -> str:
        """The commit at the main branch, "" if there is none yet."""
        ...

    def uncommitted(self, path: str) -> bool:
        """Tell whether a file in a folder of this machine is not as the main branch has it."""
        del path
        return False

    def contains(self, commit: str) -> bool:
        """Tell whether the history of the main branch has a commit; if not, somebody rewrote the history."""
        ...

    def lost(self, commit: str) -> bool:
        """Tell whether main went back behind a commit that it had; not where the token may not read its history."""
        with suppress(Refused):
            return not self.contains(commit)
        return False

    def note_lost(self) -> None:
        """Remember which open requests began at a commit that main has no more."""
        return

    def identity(self) -> str:
        """The service's id of the repository, "" if there is none; one made again under its name has another."""
        return ""

    def forget(self) -> None:
        """Forget what was read or remembered of the repository: another one has its name now."""
        return

    def pushed_requests(self) -> list[Marker]:
        """The marks of the bot's open requests whose newest commit is not known as the bot's."""
        return []

    def scan_entries(self) -> StoredEntries:
        """All entries on the main branch, and the reason for each file among them that is no entry."""
        ...

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder on the main branch; none if there is no such folder."""
        return []

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that the bot's open requests or comments are about, except for those that share a request."""
        return set()

    def read_files(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """The files at these paths on the main branch, those that are there. A public one needs no account."""
        return {}

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state for one mark, and the files at these paths."""
        ...

    def settle_closed(self, name: str, rows: Collection[str]) -> None:
        """Remember by their marks which rows a closed request counts as having proposed, where nobody can read it."""
        return

    def apply(self, publication: Publication) -> str:
        """Carry a publication out; returns its URL. Raises Stale if the target changed since it was read."""
        ...

    def find_duplicates(self) -> list[Duplicate]:
        """Every later request, discussion or comment of the bot with the mark of an earlier one."""
        return []

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close or remove the later one and say why; the first stays."""
        return

    def bulk_writer(self, mark: Marker, form: Form) -> BulkWriter | None:
        """The cheaper writer for very many rows; None if only a publication that names all of them is possible."""
        return None

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The derived files that do not follow from the entries on main, as they should be."""
        return {}

    def rebuild_board(self, board: Board) -> bool:
        """Write the table where it does not follow from the entries on main; tell whether anything was written."""
        files = self.board_files(board)
        if files:
            self.apply(board_commit(board, files))
        return bool(files)


def board_commit(board: Board, files: Mapping[str, bytes | None]) -> Commit:
    """The commit of the files that are derived from the entries."""
    text = PostText("Rebuild the board", f"{len(board.rows)} rows, derived from {FOLDER}/")
    return Commit(Marker("board", board.leaderboard.id, board.leaderboard.id), text, files)


@dataclass
class SiteHost(ABC):
    """A branch in which a site is published, as it was when it was first looked at.

    `name` is its address as people write it, `oids` are the object ids of its files.
    """

    name: str
    source: Source
    head: str = field(default="", init=False)
    oids: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    @abstractmethod
    def current(self) -> str:
        """The commit at the branch, "" if there is no such branch yet."""

    def files(self) -> Mapping[str, str]:
        """The object ids of all files by path. Raises CallError if no site can be published here."""
        self.head = self.current()
        found = self.source.changes(None, self.head) if self.head else ()
        self.oids = {change.path: change.oid or "" for change in found}
        return self.oids

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of a file; None if there is none."""
        return self.source.read(path, self.head, limit, self.oids[path]) if path in self.oids else None

    @abstractmethod
    def write(self, files: Mapping[str, bytes | None], title: str) -> None:
        """One commit; None deletes. Raises Stale if somebody else wrote meanwhile."""


class BulkWriter(Protocol):
    """The writer for many new rows: to the main branch, or to the one request with a mark."""

    def paths(self) -> set[str]:
        """The paths of the entries that are there or proposed there."""
        ...

    def current(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current or proposed content at the paths of these files."""
        ...

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files; returns where. Raises Stale if somebody else wrote meanwhile."""
        ...
