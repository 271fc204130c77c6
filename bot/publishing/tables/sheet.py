"""The interface of tables in text files: what the rows hold, and which characters an edit changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.publishing.tables.cells import Cell, Way

LINE_END = re.compile(r"\r\n|\n|\r")
TRUTH = (
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "FALSE"),
    ("yes", "no"),
    ("Yes", "No"),
    ("1", "0"),
    ("✅", "❌"),
)


class Grid(Protocol):
    """The rows of a table, whatever it is kept in."""

    @property
    def ways(self) -> Collection[Way]:
        """The columns, and the ways to nested cells, that at least one row has."""
        ...

    def __len__(self) -> int: ...

    def cell(self, row: int, way: Way) -> Cell:
        """A cell as the file has it: a text where the format knows only texts."""
        ...

    def plain(self, text: str) -> str:
        """A cell's text without the markup of the format, as used to compare keys."""
        ...


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace `text[start:end]` by `new`; positions are those before any splice."""

    start: int
    end: int
    new: str


class Sheet(Grid, Protocol):
    """A table in a text whose rows can be edited in place."""

    @property
    def text(self) -> str:
        """The whole file, without a byte order mark."""
        ...

    @property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where each row begins and ends."""
        ...

    def update(self, row: int, cells: Mapping[Way, Cell]) -> list[Splice]:
        """Write cells of an existing row. Raises Unwritable."""
        ...

    def insert(self, before: int, rows: Sequence[Mapping[Way, Cell]]) -> list[Splice]:
        """Insert rows before a row, `len(self)` for the end; the cells come in any order. Raises Unwritable."""
        ...

    def ordinary(self) -> list[Any]:
        """The rows as the format's usual reader returns them, for the proof. Raises Unwritable."""
        ...


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all splices; those at one place keep their order."""
    parts, at = [], 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        parts += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*parts, text[at:]])


def joined(spans: Sequence[tuple[int, int]], before: int, new: Sequence[str], gap: str) -> Splice:
    """Insert new rows after the previous row, so that a comment above the next row stays with it, or at the top."""
    if before:
        at = spans[before - 1][1]
        return Splice(at, at, "".join(gap + row for row in new))
    return Splice(spans[0][0], spans[0][0], "".join(row + gap for row in new))


def lines(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each line without its line end; only line feeds and carriage returns end a line."""
    start = 0
    for found in LINE_END.finditer(text):
        yield start, found.start()
        start = found.end()
    if start < len(text):
        yield start, len(text)


def line_end(text: str) -> str:
    """How the first line of a text ends."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def spelled(cell: bool, column: Collection[Cell]) -> str:  # noqa: FBT001 - it is the cell
    """A boolean in the spelling of its column."""
    there = {text for text in column if isinstance(text, str) and text}
    words = next((pair for pair in TRUTH if there and there <= set(pair)), TRUTH[0])
    return words[0] if cell else words[1]
