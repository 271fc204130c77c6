"""How targets keep rows as files: a row of a table, or files in `.eval_results`; and entries, one JSON file each.

A layout is pure: a caller reads files at one commit of the target, asks what they should be, and writes the answer with
that commit as parent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from bot.errors import MalformedEntry, MalformedResult
from bot.evaluation.finding import in_units, shown
from bot.evaluation.formats.content import parse_json
from bot.publishing.entry import MAX_BYTES, Entry, parse_entry

# What one request holds: a row, unless many new ones share it; all rows of a table; the rows of one model.
Sharing = Literal["row", "table", "model"]


@dataclass(frozen=True, slots=True)
class RowChange:
    """The wanted state of one row: `entry`, or None if the row was withdrawn.

    `published` is the entry that the bot published or proposed here last, None if that is not known. A table has no
    room for a mark, so a row counts as the bot's own if it equals that entry.
    """

    key: str
    entry: Entry | None
    published: Entry | None = None


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell of a row before and after, as a person reads them; `before` is None in a new row."""

    column: str
    before: str | None
    after: str


def is_absent(cells: Sequence[CellChange]) -> bool:
    """Tell whether the target has no row for these cells."""
    return all(cell.before is None for cell in cells)


@dataclass(frozen=True, slots=True)
class Draft:
    """What the files should be.

    `files` holds only paths whose bytes change, None if the file goes; they belong into one commit. `refused` gives
    for each row that cannot be laid out the reason in one sentence; the other rows go on. `cells` is what a request
    shows of each row that changes. `remarks` are sentences about what a person has to bring up to date. `renamed` has
    the names that people gave to rows, by their columns. `below` are rows that a table lacks because it shows
    the first ones alone.
    """

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, tuple[CellChange, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    below: Sequence[str] = ()


class Layout(Protocol):
    """How rows lie in the files of one target, and which of them share a request."""

    sharing: ClassVar[Sharing]

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The desired files; `current` holds the files that exist. Never raises, whatever they hold."""
        ...


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """All entries of a target in the order of their paths; `skipped` gives the reason for each other file by path."""

    entries: tuple[Entry, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)

    def of(self, leaderboard: str) -> list[Entry]:
        """Those of one leaderboard, by its id."""
        return [entry for entry in self.entries if entry.leaderboard.id == leaderboard]


SUFFIX = ".json"


def is_entry_file(path: str, size: int = 0) -> bool:
    """Tell whether a file in the folder of rows may be an entry; `size` is in bytes, 0 if it is unknown."""
    return path.endswith(SUFFIX) and size <= MAX_BYTES


def read_row(path: str, data: bytes | None) -> Entry | str:
    """The entry in a file of the folder of rows, or why it has none; `data` is None if the file was not read."""
    if data is None:
        if path.endswith(SUFFIX):
            return f"{path} is larger than {in_units(MAX_BYTES)}, the most that an entry may have"
        return f"{path} is not an entry: its name does not end in {SUFFIX}"
    try:
        entry = parse_entry(data, path)
        if (canonical := entry.to_bytes()) != data:
            value, twice = parse_json(data)
            if twice:
                return f"{path} has a key twice, so that programs read it differently"
            if name := _unknown_key(value, json.loads(canonical)):
                return f"{path} has the field {shown(name)}, which no entry has"
    except MalformedEntry as error:
        return str(error)
    except MalformedResult as error:
        return f"{path} {error.why}"
    return entry if entry.path == path else f"{path} holds the entry whose path is {entry.path}"


def _unknown_key(value: Any, canonical: Any) -> str:
    """The first key with a value in it that the entry of these bytes does not have, "" where there is none."""
    if isinstance(value, list) and isinstance(canonical, list):
        return next(filter(None, map(_unknown_key, value, canonical)), "")
    if not isinstance(value, dict) or not isinstance(canonical, dict):
        return ""
    unknown = (key for key, one in value.items() if key not in canonical and one not in (None, "", [], {}, False, 0))
    inner = (_unknown_key(one, canonical[key]) for key, one in value.items() if key in canonical)
    return next(unknown, "") or next(filter(None, inner), "")


def stored_entries(rows: Mapping[str, Entry | str]) -> StoredEntries:
    """The rows by path, as `read_row` gives them.

    A file that a person put there, or moved, stops nothing: it is skipped and named.
    """
    entries = tuple(row for _, row in sorted(rows.items()) if isinstance(row, Entry))
    return StoredEntries(entries, {path: row for path, row in rows.items() if isinstance(row, str)})
