"""What is remembered of a service: contents within a bound, our discussions and requests, and the rows on main.

The index of rows has every file in the folder of rows on the main branch of a target, by path, with its object id. It
is updated with what differs between two commits, and made again from one listing where the old commit is gone. The
object ids are those of the service, and every content is checked against its id.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import UserDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from io import SEEK_END
from typing import IO, Any, Literal, Protocol, TypeVar

from bot.errors import Stale, Unavailable
from bot.platforms.source import Change
from bot.publishing.entry import FOLDER, Entry
from bot.publishing.layout import StoredEntries, is_entry_file, read_row, stored_entries

T = TypeVar("T")
MOST_CONTENTS = 256 * 1024 * 1024  # of contents that are kept


class lazy_property(cached_property[T]):  # noqa: N801 - a decorator, as `property` is
    """`functools.cached_property` without its lock; `del` of the attribute forgets the value.

    Python 3.11 has one lock for a property of all instances, so that threads wait for each other's requests; Python
    3.12 has none. Here two threads may both compute the value of one instance.
    """

    def __init__(self, method: Callable[[Any], T]) -> None:
        super().__init__(method)
        self.lock = nullcontext()


class Contents(UserDict[str, bytes]):
    """Contents by object id, up to so many bytes together: the oldest are dropped first, a larger one is not kept."""

    def __init__(self, most: int = MOST_CONTENTS) -> None:
        super().__init__()
        self._most, self._size = most, 0
        self._lock = threading.Lock()

    def __setitem__(self, oid: str, data: bytes) -> None:
        with self._lock:
            self._size -= len(self.data.pop(oid, b""))
            if len(data) <= self._most:
                self.data[oid] = data
                self._size += len(data)
            while self._size > self._most:
                self._size -= len(self.data.pop(next(iter(self.data))))

    def __delitem__(self, oid: str) -> None:
        with self._lock:
            self._size -= len(self.data.pop(oid))


Kind = Literal["discussion", "pull_request"]
OPEN = frozenset({"open", "draft"})  # what a list shows of the open ones
Row = dict[str, str]
TIMES = 0  # the number of the row with the times of the last whole lists; no discussion has it


class KnownThreads:
    """The remembered discussions and requests that we opened in one repository, by their numbers.

    A row has at least `kind`, `status` and `mark`. This class keeps them for one command; a service has a database.
    """

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}

    def find(self, num: int) -> Row | None:
        """The row of one number; None if it is not known."""
        return self._rows.get(num)

    def at(self, nums: Iterable[int]) -> dict[int, Row]:
        """The known rows of these numbers."""
        return {num: row for num in nums if (row := self.find(num)) is not None}

    def note(self, num: int, values: Row) -> None:
        """Add values to a row; a row that has them already is not written again."""
        before = self.find(num) or {}
        after = before | values
        if after != before:
            self.put(num, after)

    def put(self, num: int, row: Row) -> None:
        """Replace a row."""
        self._rows[num] = row

    def of(self, kind: Kind, mark: str | None = None) -> list[tuple[int, Row]]:
        """The rows of one kind, with one mark where it is given, oldest first."""
        found = sorted(self._rows.items())
        return [(num, row) for num, row in found if row["kind"] == kind and mark in {None, row["mark"]}]

    def open_since(self, kind: Kind, oldest: int = 0) -> list[tuple[int, Row]]:
        """The open ones of one kind whose number is at least `oldest`, oldest first."""
        return [(num, row) for num, row in self.of(kind) if row["status"] in OPEN and num >= oldest]

    def open_count(self, kind: Kind) -> int:
        """How many of one kind are open."""
        return len(self.open_since(kind))

    def clear(self) -> None:
        """Forget everything."""
        self._rows.clear()

    def listed_at(self, kind: Kind) -> float | None:
        """When the lists of one kind were last read to their ends (Unix seconds); None if they never were."""
        found = (self.find(TIMES) or {}).get(kind)
        return None if found is None else float(found)

    def set_listed(self, kind: Kind, now: float) -> None:
        """Note that the lists of one kind were read to their ends."""
        self.note(TIMES, {"kind": "", "status": "", "mark": "", kind: str(now)})


OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def blob_id(data: bytes) -> str:
    """The object id that git gives to a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_content(data: bytes, oid: str) -> bool:
    """Tell whether an object id names these bytes; 64 digits are a SHA-256, 40 are git's."""
    return (hashlib.sha256(data).hexdigest() if len(oid) == 64 else blob_id(data)) == oid


def check_file(file: IO[bytes], oid: str | None, service: str, where: str) -> None:
    """Raise Unavailable if the bytes of a file are not those of its object id; nothing is checked without one."""
    if oid is None or not OBJECT_ID.fullmatch(oid):
        return
    size = file.seek(0, SEEK_END)
    head = hashlib.sha256() if len(oid) == 64 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    file.seek(0)
    if hashlib.file_digest(file, lambda: head).hexdigest() != oid:  # type: ignore[arg-type]  # any file has readinto
        raise Unavailable(service, f"{where}: {size:,} bytes arrived that are not those of object {oid[:12]}")


# The rows on the main branch of a target.

INDEX_TRIES = 3  # of a look at the index while other processes move it


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A file in the folder of rows; `data` is None if it is too large, or its name is not that of an entry."""

    oid: str
    data: bytes | None = None


Moved = Mapping[str, IndexedRow | None]


@dataclass
class RowStore:
    """Keeps the index of one target; this class for the life of the process, a service in its database."""

    at: str = ""
    known: dict[str, IndexedRow] = field(default_factory=dict, repr=False)

    def commit(self) -> str:
        """The commit of the index, "" if there is none."""
        return self.at

    def rows(self, paths: Collection[str] | None = None) -> tuple[str, dict[str, IndexedRow]]:
        """The commit of the index, and all rows, or those at some paths, at that commit."""
        found = self.known if paths is None else {path: self.known[path] for path in paths if path in self.known}
        return self.at, dict(found)

    def move(self, old: str, new: str, moved: Moved, *, is_whole: bool) -> None:
        """Bring the index from one commit to another, unless it is no longer at the old one.

        None stands for a path that is gone. Where `moved` `is_whole`, every other path is gone, too.
        """
        if self.at == old:
            now = {**({} if is_whole else self.known), **moved}
            self.at, self.known = new, {path: row for path, row in now.items() if row is not None}


class IndexedSource(Protocol):
    """A repository whose folder of rows can be listed and compared."""

    @property
    def name(self) -> str:
        """Its name in errors."""
        ...

    def folder(self, folder: str, commit: str) -> Sequence[Change]:
        """Every file below a folder at a commit; none if there is no such folder."""
        ...

    def differences(self, folder: str, old: str, new: str) -> Sequence[Change] | None:
        """The files below a folder that differ between two commits; None if the old commit or folder is gone."""
        ...

    def contents(self, oids: Mapping[str, str], commit: str) -> Mapping[str, bytes]:
        """The bytes of files by path, given their object ids. Raises Unavailable if one is not there."""
        ...


@dataclass
class RowIndex:
    """The rows on the main branch of one target; parsed rows are kept as long as this object lives.

    `contents` are further known contents, by object id.
    """

    source: IndexedSource
    stored: RowStore
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    _at: str = ""
    _parsed: dict[str, Entry | str] = field(default_factory=dict, repr=False)

    def entries(self, commit: str) -> StoredEntries:
        """All entries at a commit of the main branch, and the reason for each file among them that is no entry."""
        for _ in range(INDEX_TRIES):
            if not self._at or self._at != commit:
                self.follow(commit)
            if self._at != commit:
                at, rows = self.stored.rows()
                if at == commit:
                    self._parsed, self._at = {path: read_row(path, row.data) for path, row in rows.items()}, at
            if self._at == commit:
                return stored_entries(self._parsed)
        raise Stale(f"{self.source.name}: other processes read other commits of it at the same moment")

    def follow(self, commit: str) -> None:
        """Bring the index to a commit of the main branch; the cost follows what differs."""
        old = self.stored.commit()
        if old == commit:
            return
        changes = self.source.differences(FOLDER, old, commit) if old else None
        is_whole = changes is None
        rows = self.stored.rows()[1].values() if old and is_whole else ()
        known = {row.oid: row.data for row in rows if row.data is not None}
        found = self.source.folder(FOLDER, commit) if changes is None else changes
        moved = self._read(found, commit, known)
        self.stored.move(old, commit, moved, is_whole=is_whole)
        if is_whole or old == self._at:
            stay = {} if is_whole else {path: row for path, row in self._parsed.items() if path not in moved}
            now = {path: read_row(path, row.data) for path, row in moved.items() if row is not None}
            self._parsed, self._at = stay | now, commit

    def _read(self, found: Sequence[Change], commit: str, known: Mapping[str, bytes]) -> dict[str, IndexedRow | None]:
        """The files as they are now; known contents are not requested."""
        there = [(item, item.oid) for item in found if item.oid is not None]
        worth = {item.path: oid for item, oid in there if is_entry_file(item.path, item.size) and not item.fault}
        here = {oid: data for oid in worth.values() if (data := known.get(oid, self.contents.get(oid))) is not None}
        new = self.source.contents({path: oid for path, oid in worth.items() if oid not in here}, commit)
        rows: dict[str, IndexedRow | None] = {item.path: None for item in found}
        for item, oid in there:
            data = new.get(item.path, here.get(oid)) if item.path in worth else None
            rows[item.path] = IndexedRow(oid, b"" if item.fault else data)
        return rows

    def read(self, paths: Collection[str], commit: str) -> dict[str, bytes | None]:
        """The files at the paths that the index covers, None where there is no file; nothing at another commit."""
        wanted = [path for path in paths if path.startswith(f"{FOLDER}/")]
        if not wanted or self.stored.commit() != commit:
            return {}
        at, rows = self.stored.rows(wanted)
        unread = {path for path, row in rows.items() if row.data is None}
        known = {path: rows[path].data if path in rows else None for path in wanted if path not in unread}
        return known if at == commit else {}
