"""Make the entries of many rows: one that cannot be made does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.errors import MalformedEntry
from bot.evaluation.verdict import Row
from bot.publishing.entry import Entry, Evidence, entry_of


@dataclass(frozen=True, slots=True)
class MadeEntries:
    """The entries of the rows that are not rejected; `refused` says, by key, why a row cannot be written down."""

    entries: tuple[Entry, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def make_entries(rows: Iterable[Row], evidence: Mapping[str, Evidence]) -> MadeEntries:
    """Make the entry of each row, see `entry_of`."""
    entries: list[Entry] = []
    refused: dict[str, str] = {}
    for row in rows:
        try:
            entry = entry_of(row, evidence)
        except MalformedEntry as error:
            refused[row.key.text] = str(error)
            continue
        entries += [] if entry is None else [entry]
    return MadeEntries(tuple(entries), refused)
