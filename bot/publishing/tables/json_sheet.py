"""Rows in a JSON file: the items of a list, the members of an object, or the lines of a JSONL file.

A changed value is replaced at its position. A new row copies the layout of a neighbouring row (order of the keys, line
breaks, indentation), so the file may have any style.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath, as_text, short
from bot.publishing.tables.sheet import (
    Grid,
    Names,
    Splice,
    check_columns_count,
    follow,
    joined,
    line_end,
    lines,
    rows_at,
)
from bot.reporting.locate import JsonPlace, places, skip

Object = dict[str, Any]


def _refuse_constant(name: str) -> Any:
    raise Unwritable(f"it holds {name}, which is not valid JSON")


DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse_constant)


def load(text: str) -> JsonPlace:
    """Parse a JSON text; numbers become decimals. Raises Unwritable if it is not strict JSON."""
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise Unwritable("it is nested too deeply") from None
    except ValueError as error:
        raise Unwritable(f"it is not valid JSON: {error}") from None
    start = skip(text, 0)
    return JsonPlace("", start, start, start, len(text.rstrip(" \t\r\n")), value)


def children(text: str, here: JsonPlace) -> Iterator[JsonPlace]:
    """The members of an object, or the items of an array, of a text that `load` has read."""
    return places(text, here.start, DECODER)


def resolve(text: str, place: str) -> tuple[JsonPlace, Names]:
    """What a place refers to in a text, and the path to it. Raises Unwritable."""

    def named(here: JsonPlace) -> Iterator[tuple[str | int, JsonPlace]]:
        return ((each.name, each) for each in children(text, here))

    return follow(load(text), place, named, lambda here: as_text(here.value))


@dataclass(frozen=True)
class JsonSheet(Grid):
    """The rows in a JSON text; `key` is the column that holds the member names of a keyed table."""

    text: str
    place: str = ""
    key: str | None = None

    @cached_property
    def resolved(self) -> tuple[JsonPlace, Names]:
        """The list, or the object, that holds the rows, and the way to it."""
        found, names = resolve(self.text, self.place)
        if not isinstance(found.value, list if self.key is None else dict):
            what = "a list of rows" if self.key is None else "an object with one member for each row"
            raise Unwritable(f"{self.place or 'the top'} is not {what}")
        return found, names

    @cached_property
    def places(self) -> Sequence[JsonPlace]:
        """The rows with their positions."""
        found = list(children(self.text, self.resolved[0]))
        odd = next((number for number, row in enumerate(found) if not isinstance(row.value, dict)), None)
        if odd is not None:
            raise Unwritable(f"row {odd + 1} is not an object")
        return found

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where each row begins and ends, its name included."""
        return [(row.begin, row.end) for row in self.places]

    @cached_property
    def column_paths(self) -> Collection[ColumnPath]:
        """All keys of all rows, nested keys included; empty where there are no rows."""
        if not self.places:
            return ()
        found: dict[ColumnPath, None] = {} if self.key is None else {(self.key,): None}
        for row in self.places:
            _collect(row.value, (), found)
            if self.key in row.value:
                raise Unwritable(f"the rows have a key {self.key!r} too; choose another name for the key column")
        return found.keys()

    def __len__(self) -> int:
        return len(self.places)

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell, ABSENT where the row has no such key; a list or an object is its text."""
        place = self.places[row]
        if column_path == (self.key,):
            return str(place.name)
        value: Any = place.value
        for name in column_path:
            if not isinstance(value, dict) or name not in value:
                return ABSENT
            value = value[name]
        return value if value is None or isinstance(value, str | bool | Decimal) else json.dumps(value, default=str)

    def update(self, row: int, cells: Mapping[ColumnPath, Cell]) -> list[Splice]:
        """Replace values at their positions; a key that the row does not have is added at its end."""
        return [
            self._write(self.places[row], column_path, column_path, cell)
            for column_path, cell in cells.items()
            if column_path != (self.key,)
        ]

    def _write(self, place: JsonPlace, rest: ColumnPath, column_path: ColumnPath, cell: Cell) -> Splice:
        """Write one cell into an object."""
        there = list(children(self.text, place))
        found = [each for each in there if each.name == rest[0]]
        if len(found) > 1:
            raise Unwritable(f"the row has the key {rest[0]!r} twice")
        if found and len(rest) > 1 and isinstance(found[0].value, dict):
            return self._write(found[0], rest[1:], column_path, cell)
        if found and (len(rest) > 1 or isinstance(found[0].value, dict | list)):
            raise Unwritable(f"{'.'.join(column_path)} is not a plain value in this row")
        if found:
            return Splice(found[0].start, found[0].end, self._token(cell))
        if not there or len(rest) > 1:
            raise Unwritable(f"the row has no object for {'.'.join(column_path)}")
        shape = _layout_of(self.text, place, there)
        new = shape.between + self._token(rest[0]) + shape.colon + self._token(cell)
        return Splice(there[-1].end, there[-1].end, new)

    def _token(self, cell: Cell) -> str:
        return token(cell, ascii_only=self.text.isascii())

    def insert(self, before: int, rows: Sequence[Mapping[ColumnPath, Cell]]) -> list[Splice]:
        """Insert new rows, each in the layout of the nearest row that has all its keys, else of the row before."""
        if not self.places:
            raise Unwritable("it has no row whose layout could be copied: write the first row by hand")
        models = [next(self.nearest(before, cells.keys()), max(0, before - 1)) for cells in rows]
        new = [self._clone(model, cells) for model, cells in zip(models, rows, strict=True)]
        return [joined(self.spans, before, new, self._gap())]

    def _gap(self) -> str:
        """The text between two rows."""
        if len(self) > 1:
            return self.text[self.spans[-2][1] : self.spans[-1][0]]
        return "," + self.text[self.resolved[0].start + 1 : self.spans[0][0]]

    def _clone(self, row: int, cells: Mapping[ColumnPath, Cell]) -> str:
        """A new row in the shape of another; what no cell says is null, or an empty list instead of a list."""
        place = self.places[row]
        new = self._object(place, (), cells)
        if self.key is None:
            return new
        return self._token(cells[self.key,]) + self.text[place.key_end : place.start] + new

    def _object(self, place: JsonPlace, column_path: ColumnPath, cells: Mapping[ColumnPath, Cell]) -> str:
        there = list(children(self.text, place))
        if not there:
            raise Unwritable("the neighbouring row is empty, so there is no layout to copy")
        shape = _layout_of(self.text, place, there)
        names = dict.fromkeys(
            [str(each.name) for each in there]
            + [key[len(column_path)] for key in cells if key[: len(column_path)] == column_path]
        )
        models = {str(each.name): each for each in there}
        parts = []
        for name in names:
            inner = (*column_path, name)
            if inner == (self.key,) or cells.get(inner) is ABSENT:
                continue
            parts.append(self._token(name) + shape.colon + self._value(inner, models.get(name), cells))
        return shape.open + shape.between.join(parts) + shape.close

    def _value(self, column_path: ColumnPath, model: JsonPlace | None, cells: Mapping[ColumnPath, Cell]) -> str:
        if column_path in cells:
            return self._token(cells[column_path])
        if any(key[: len(column_path)] == column_path for key in cells):
            if model is None or not isinstance(model.value, dict):
                raise Unwritable(f"the neighbouring row has no {'.'.join(column_path)} whose layout could be copied")
            return self._object(model, column_path, cells)
        return "[]" if model is not None and isinstance(model.value, list) else "null"  # a page may loop over it

    def ordinary(self) -> list[Any]:
        """The rows as Python's own reader gives them."""
        return rows_at(ordinary(self.text), self.resolved[1])


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """How an object is written: its brace and the white space after it, between members, around the colon, its end."""

    open: str
    between: str
    colon: str
    close: str


def _layout_of(text: str, place: JsonPlace, there: Sequence[JsonPlace]) -> JsonLayout:
    """The layout of an object with these members; the colon is that of the first."""
    first, end = there[0], there[-1].end
    start = text[place.start : first.begin]
    between = text[first.end : there[1].begin] if len(there) > 1 else "," + (start[1:] or " ")
    return JsonLayout(start, between, text[first.key_end : first.start], text[end : text.index("}", end) + 1])


def _collect(row: Object, column_path: ColumnPath, found: dict[ColumnPath, None]) -> None:
    for name, value in row.items():
        found[*column_path, name] = None
        check_columns_count(len(found))
        if isinstance(value, dict):
            _collect(value, (*column_path, name), found)


@dataclass(frozen=True)
class JsonLinesSheet(JsonSheet):
    """The rows of a JSONL text."""

    @cached_property
    def places(self) -> Sequence[JsonPlace]:
        """The lines that are not blank."""
        found = []
        for number, (start, end) in enumerate(lines(self.text), start=1):
            line = self.text[start:end]
            if not line.strip():
                continue
            row = load(line)
            if not isinstance(row.value, dict):
                raise Unwritable(f"line {number} is not an object")
            begin = start + row.start
            found.append(JsonPlace(number, begin, begin, begin, start + row.end, row.value))
        return found

    def _gap(self) -> str:
        return line_end(self.text)

    def ordinary(self) -> list[Any]:
        """The rows as Python's own reader gives them, line by line."""
        return [ordinary(self.text[start:end]) for start, end in lines(self.text) if self.text[start:end].strip()]


def ordinary(text: str) -> Any:
    """The value as Python's own reader gives it. Raises Unwritable."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unwritable(f"Python's reader refuses it: {error}") from None


def token(cell: Cell, *, ascii_only: bool) -> str:
    """A cell as JSON. Raises Unwritable for one that is absent."""
    if cell is ABSENT:
        raise Unwritable("a cell that is there cannot be left out again")
    if isinstance(cell, Decimal):
        return short(cell)
    return json.dumps(cell, ensure_ascii=ascii_only)
