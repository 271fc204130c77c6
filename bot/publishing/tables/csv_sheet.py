"""Rows in a CSV file. The dialect of the file is kept: separator, quotes, line ends, final line end."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath
from bot.publishing.tables.sheet import LINE_END, MOST_CELLS, Grid, Splice, joined, line_comments, line_end, numbered

SEPARATORS = (",", ";", "\t", "|")
COMMA, POINT = (re.compile(rf"([-+]?\d+)\{mark}(\d+)(?=$|[\s%±(])") for mark in ",.")  # at the start of a cell
FIELD = {mark: re.compile(rf'"((?:[^"]|"")*)"|([^{re.escape(mark)}\r\n]*)') for mark in SEPARATORS}


@dataclass(frozen=True, slots=True)
class CsvField:
    """A cell: its position, its text, and whether it is quoted."""

    start: int
    end: int
    text: str
    is_quoted: bool


Fields = Sequence[CsvField]


def separator_of(text: str, names: Collection[str]) -> str:
    """The separator under which the first line has the most of these column names."""

    def known(mark: str) -> int:
        try:
            header = next(_records(text, mark), [])
        except Unwritable:
            return -1
        return len({field.text for field in header} & set(names))

    return max(SEPARATORS, key=known)


@dataclass(frozen=True)
class CsvSheet(Grid):
    """The rows below the header. A number with the mark `decimal` is read and written as one with a point."""

    text: str
    separator: str = ","
    decimal: str = "."

    @cached_property
    def records(self) -> Sequence[Fields]:
        """The header and the rows; blank lines are none."""
        found: list[Fields] = []
        cells = 0
        for record in _records(self.text, self.separator):
            found.append(record)
            cells += len(record)
            if cells > MOST_CELLS:
                raise Unwritable(f"it has more than {MOST_CELLS:,} cells")
        if not found:
            raise Unwritable("it is empty; a table needs a header")
        return found

    @cached_property
    def column_paths(self) -> Mapping[ColumnPath, int]:
        """The number of each column."""
        return numbered([field.text for field in self.records[0]])

    @property
    def may_be_short(self) -> bool:
        """Always: a line may have any number of fields."""
        return True

    def remarks(self) -> list[str]:
        """The lines at the top of the file that begin as comments do."""
        return line_comments(self.text)

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where each row begins and ends, its line end left out."""
        return [(row[0].start, row[-1].end) for row in self.records[1:]]

    def __len__(self) -> int:
        return len(self.records) - 1

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """The text of a cell, ABSENT where the row is too short."""
        fields, number = self.records[row + 1], self.column_paths[column_path]
        if number >= len(fields):
            return ABSENT
        text = fields[number].text
        return text if self.decimal == "." else COMMA.sub(r"\1.\2", text, count=1) if COMMA.match(text) else text

    def update(self, row: int, cells: Mapping[ColumnPath, Cell]) -> list[Splice]:
        """Replace cells; a cell that was quoted without need stays quoted."""
        fields, splices = self.records[row + 1], []
        if len(fields) != len(self.records[0]):
            raise Unwritable(f"the row has {len(fields)} cells, but the header has {len(self.records[0])}")
        for column_path, cell in cells.items():
            field = fields[self.column_paths[column_path]]
            splices.append(
                Splice(field.start, field.end, self._written(column_path, cell, quoted=self._likes_quotes(field)))
            )
        return splices

    def insert(self, before: int, rows: Sequence[Mapping[ColumnPath, Cell]]) -> list[Splice]:
        """Insert new rows; a cell is quoted where the cell above it is quoted without need."""
        model = self.records[min(before, len(self))]
        new = [self._row(cells, model) for cells in rows]
        lines = [(record[0].start, record[-1].end) for record in self.records]
        return [joined(lines, before + 1, new, line_end(self.text))]

    def _row(self, cells: Mapping[ColumnPath, Cell], model: Fields) -> str:
        names = [(field.text,) for field in self.records[0]]
        quoted = [self._likes_quotes(field) for field in model] + [False] * len(names)
        parts = (
            self._written(column_path, cells.get(column_path), quoted=q)
            for column_path, q in zip(names, quoted, strict=False)
        )
        return self.separator.join(parts)

    def _written(self, column_path: ColumnPath, cell: Cell, *, quoted: bool) -> str:
        text = self.spelled(column_path, cell)
        if self.decimal != "." and POINT.match(text):
            text = POINT.sub(r"\1,\2", text, count=1)
        return '"' + text.replace('"', '""') + '"' if quoted or self._needs_quotes(text) else text

    def _needs_quotes(self, text: str) -> bool:
        return text != text.strip() or bool(set(text) & {'"', "\r", "\n", self.separator})

    def _likes_quotes(self, field: CsvField) -> bool:
        """Tell whether a cell is quoted although its text does not need it, as in a file that quotes a whole column."""
        return field.is_quoted and not self._needs_quotes(field.text)

    def ordinary(self) -> list[Any]:
        """The rows as Python's own reader gives them."""
        try:
            read = csv.reader(io.StringIO(self.text, newline=""), delimiter=self.separator, strict=True)
            return [row for row in read if row][1:]
        except csv.Error as error:
            raise Unwritable(f"it is not valid CSV: {error}") from None


def _records(text: str, separator: str) -> Iterator[Fields]:
    """The lines of a CSV text, cell by cell. Raises Unwritable for text after a closing quote."""
    at, fields = 0, []
    while at <= len(text):
        found = FIELD[separator].match(text, at)
        if found is None:  # pragma: no cover - the second form takes nothing at all, too
            return
        quoted = found[1] is not None
        fields.append(CsvField(at, found.end(), found[1].replace('""', '"') if quoted else found[2], quoted))
        at = found.end()
        if text[at : at + 1] == separator:
            at += 1
            continue
        end = LINE_END.match(text, at)
        if end is None and at < len(text):
            raise Unwritable(f"line {text.count(chr(10), 0, at) + 1} has text after a closing quote")
        if len(fields) > 1 or fields[0].end > fields[0].start:
            yield fields
        fields = []
        if end is None:
            return
        at = end.end()
