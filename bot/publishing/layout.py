"""How targets keep rows as files: one JSON file each, a row of a table, or files in `.eval_results`.

A layout is pure: a caller reads files at one commit of the target, asks what they should be, and writes the answer with
that commit as parent. The order of the calls is `folders`, `paths`, `draft`; all three take the same changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import MalformedEntry
from bot.evaluation.finding import in_units
from bot.publishing.entry import FOLDER, MAX_BYTES, Entry, is_same_row, parse_entry


@dataclass(frozen=True, slots=True)
class Links:
    """Where people read a row's entry and its first evidence file: addresses at a commit, "" if there is none."""

    entry: str = ""
    evidence: str = ""


NO_LINKS = Links()


@dataclass(frozen=True, slots=True)
class RowChange:
    """The wanted state of one row: `entry`, or None if the row was withdrawn.

    `published` is the entry that the bot's own record says it published here last, None if there is no record. A
    table has no room for a mark, so a row counts as the bot's own if it equals that entry.
    """

    key: str
    entry: Entry | None
    published: Entry | None = None
    links: Links = NO_LINKS
    published_links: Links | None = None  # the links of `published`, None if they are the same


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell of a row before and after, as a person reads them; `before` is None in a new row."""

    column: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What the files should be.

    `files` holds only paths whose bytes change, None if the file goes; they belong into one commit. `refused` gives
    for each row that cannot be laid out the reason in one sentence; the other rows go on. `cells` is what a request
    shows of each row that changes. `remarks` are sentences about what a person has to bring up to date.
    """

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, tuple[CellChange, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class Layout(Protocol):
    """How rows lie in the files of one target."""

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folders whose file names must be known before `paths` can be asked; most layouts need none."""
        ...

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The files that must be read; `listed` are the paths of all files directly in the folders."""
        ...

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The desired files; `current` holds the files that exist. Never raises, whatever they hold."""
        ...

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether two versions of a file say the same about the rows of these changes, whatever else they hold."""
        ...

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """What the files say about one row, by column; None if they have no such row."""
        ...

    def count(self, current: Mapping[str, bytes]) -> int:
        """How many rows the files have, whoever wrote them; 0 where they cannot be read."""
        ...


class RowFiles:
    """A layout with one file for each row, from which the whole entry can be read back: what a target's own is.

    The file of a key is `<folder>/<key><suffix>`. Another target writes its own `to_bytes` and `parse`.
    """

    folder = "rows"
    suffix = ""

    def to_bytes(self, entry: Entry) -> bytes:
        """The file of an entry: the same bytes for the same entry."""
        raise NotImplementedError

    def parse(self, data: bytes, path: str) -> Entry:
        """The entry in a file. Raises MalformedEntry if there is none."""
        raise NotImplementedError

    def path_of(self, key: str) -> str:
        """The path of a row's file."""
        return f"{self.folder}/{key}{self.suffix}"

    def key_of(self, path: str) -> str | None:
        """The key of the row that a path is for, None for a path of something else."""
        is_row = path.startswith(f"{self.folder}/") and path.endswith(self.suffix)
        return path[len(self.folder) + 1 : len(path) - len(self.suffix)] if is_row else None

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """None: the path follows from the key."""
        del changes
        return ()

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The file of each row."""
        del listed
        return tuple(self.path_of(change.key) for change in changes)

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The entry's bytes, nothing if the target has the same row."""
        wanted = {
            self.path_of(change.key): None if change.entry is None else self.to_bytes(change.entry)
            for change in changes
        }
        return Draft(
            {path: data for path, data in wanted.items() if not self.is_same((), path, current.get(path), data)}
        )

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both are the same row; a file holds one."""
        del changes
        return one == other or is_same_row(self._canonical(one, path), self._canonical(other, path))

    def _canonical(self, data: bytes | None, path: str) -> bytes | None:
        """The row as an entry's own file; other files stay unchanged."""
        try:
            return None if data is None else self.parse(data, path).to_bytes()
        except MalformedEntry:
            return data

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The average and the scores of the entry. Raises MalformedEntry if the file holds none."""
        path = self.path_of(change.key)
        if path not in current:
            return None
        entry = self.parse(current[path], path)
        scores = {"average": entry.average, **{task.id: task.score for task in entry.tasks}}
        return {column: "" if score is None else repr(score) for column, score in scores.items()}

    def count(self, current: Mapping[str, bytes]) -> int:
        """The number of row files."""
        return sum(self.key_of(path) is not None for path in current)


class EntriesLayout(RowFiles):
    """The entry's canonical bytes, one JSON file for each row: the default layout."""

    folder = FOLDER
    suffix = ".json"

    def to_bytes(self, entry: Entry) -> bytes:
        """The canonical bytes."""
        return entry.to_bytes()

    def parse(self, data: bytes, path: str) -> Entry:
        """The entry. Raises MalformedEntry if the bytes are not an entry."""
        return parse_entry(data, path)


ENTRIES = EntriesLayout()


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """All entries of a target in the order of their paths; `skipped` gives the reason for each other file by path."""

    entries: tuple[Entry, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def is_entry_file(path: str, size: int = 0, layout: RowFiles = ENTRIES) -> bool:
    """Tell whether a file in the folder of rows is worth reading; `size` is in bytes, 0 if it is unknown."""
    return path.endswith(layout.suffix) and size <= MAX_BYTES


def parse_entries(files: Mapping[str, bytes], others: Iterable[str] = (), layout: RowFiles = ENTRIES) -> StoredEntries:
    """Read the files of the folder of rows; `others` are the paths of those that were not worth reading.

    A file that a person put there, or moved, stops nothing: it is skipped and named.
    """
    entries: list[Entry] = []
    skipped = {path: _why_unread(path, layout) for path in others}
    for path, data in sorted(files.items()):
        try:
            entry = layout.parse(data, path)
        except MalformedEntry as error:
            skipped[path] = str(error)
            continue
        if layout.path_of(entry.key) == path:
            entries.append(entry)
        else:
            skipped[path] = f"{path} holds the entry whose path is {layout.path_of(entry.key)}"
    return StoredEntries(tuple(entries), skipped)


def _why_unread(path: str, layout: RowFiles) -> str:
    if path.endswith(layout.suffix):
        return f"{path} is larger than {in_units(MAX_BYTES)}, the most that an entry may have"
    return f"{path} is not an entry: its name does not end in {layout.suffix}"
