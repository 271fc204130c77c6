"""Read the entries at a target, and give a reason for each file that is not the bot's entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.errors import MalformedEntry
from bot.publishing.entry import MAX_BYTES, Entry
from bot.publishing.layout import ENTRIES, RowFiles


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
        return f"{path} is larger than {MAX_BYTES:,} bytes, the most that an entry may have"
    return f"{path} is not an entry: its name does not end in {layout.suffix}"
