"""The rows on the main branch of a target, by path, with the object id of each file in their folder.

The index is updated with what differs between two commits, and made again from one listing where the old commit is
gone. The object ids are those of the service, and every content is checked against its id.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import Stale
from bot.platforms.source import Change
from bot.publishing.entry import FOLDER, Entry
from bot.publishing.layout import StoredEntries, is_entry_file, read_row, stored_entries

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
