"""Rows of a table in a Parquet file, and the proof that an edit changed no other row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isnan
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, Way
from bot.publishing.tables.edit import Insertion, Update, says
from bot.publishing.tables.parquet_file import Writing, read_file, write_file
from bot.publishing.tables.proof import Slot
from bot.publishing.tables.sheet import Grid

NO_OBJECT = (ValueError, OverflowError, LookupError)  # bytes that are no text, the year 10,000, an unknown time zone


@dataclass(frozen=True)
class ParquetGrid:
    """One Parquet file: a table of pyarrow, and how the file was written."""

    table: Any
    writing: Writing

    @cached_property
    def columns(self) -> Mapping[Way, int]:
        """The number of each column by its name; a name that is there twice is left out."""
        names = self.table.column_names
        return {(name,): number for number, name in enumerate(names) if names.count(name) == 1}

    @cached_property
    def _values(self) -> dict[Way, list[Any]]:
        return {}

    def values(self, way: Way) -> list[Any]:
        """The values of a column; all are null where Python has no objects for one of them."""
        if way not in self._values:
            self._values[way] = [None] * len(self)
            with suppress(*NO_OBJECT):
                self._values[way] = self.table.column(self.columns[way]).to_pylist()
        return self._values[way]

    @property
    def ways(self) -> Collection[Way]:
        """The names of the columns; a name that is there twice is left out."""
        return self.columns.keys()

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def plain(self, text: str) -> str:
        """The text itself: Parquet has no markup."""
        return text

    def cell(self, row: int, way: Way) -> Cell:
        """A cell; not a number counts as null, as pandas has it."""
        value = self.values(way)[row]
        if isinstance(value, bool | str) or value is None:
            return value
        if isinstance(value, int | float):
            return None if isnan(value) else Decimal(repr(value))
        return str(value)

    def edited(self, slots: Sequence[Slot]) -> ParquetGrid:
        """The file with its rows in the order of the slots. Raises Unwritable if a cell has another type."""
        import pyarrow as pa

        parts = [part for run in _runs(slots) for part in [self._part(run)] if part.num_rows]
        return ParquetGrid(pa.concat_tables(parts).combine_chunks(), self.writing.grown(slots))

    def _part(self, run: tuple[int, int] | Update | Insertion) -> Any:
        """Rows as they are, an old row with other cells, or a new row, of which unnamed cells are null."""
        if isinstance(run, tuple):
            return self.table.slice(run[0], run[1] - run[0])
        row = self.table.slice(run.row, 1) if isinstance(run, Update) else self._empty()
        for way, cell in run.cells.items():
            field = self.table.schema.field(self.columns[way])
            row = row.set_column(self.columns[way], field, _array(field, _typed(field, cell)))
        _check_filled(row)
        return row

    def _empty(self) -> Any:
        """A row of nulls."""
        import pyarrow as pa

        schema = self.table.schema
        return pa.Table.from_arrays([pa.nulls(1, field.type) for field in schema], schema=schema)

    def to_bytes(self) -> bytes:
        """The file, with the compression, the row groups and the metadata that it had."""
        return write_file(self.table, self.writing)


def _array(field: Any, value: float | str | None) -> Any:
    import pyarrow as pa

    try:
        return pa.array([value], type=field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise Unwritable(f"the column {field.name} cannot hold {value!r}: {error}") from None


def _check_filled(row: Any) -> None:
    for number, field in enumerate(row.schema):
        if not field.nullable and row.column(number).null_count:
            raise Unwritable(f"the column {field.name} cannot be empty, and the mapping does not fill it")


def _typed(field: Any, cell: Cell) -> bool | int | float | str | None:
    """A cell in the type of its column. Raises Unwritable if that would change it."""
    import pyarrow.types as kinds

    if cell is None:
        return None
    if isinstance(cell, bool) and kinds.is_boolean(field.type):
        return cell
    if isinstance(cell, str) and (kinds.is_string(field.type) or kinds.is_large_string(field.type)):
        return cell
    if isinstance(cell, Decimal) and kinds.is_floating(field.type):
        return float(cell)
    if isinstance(cell, Decimal) and kinds.is_integer(field.type) and cell == cell.to_integral_value():
        return int(cell)
    raise Unwritable(f"the column {field.name} is of type {field.type}, but the mapping gives {cell}")


def _runs(slots: Sequence[Slot]) -> list[tuple[int, int] | Update | Insertion]:
    """The slots with foreign rows that follow each other as one run, from and to."""
    runs: list[tuple[int, int] | Update | Insertion] = []
    for slot in slots:
        last = runs[-1] if runs else None
        if isinstance(slot, int) and isinstance(last, tuple) and last[1] == slot:
            runs[-1] = (last[0], slot + 1)
        else:
            runs.append((slot, slot + 1) if isinstance(slot, int) else slot)
    return runs


def read_parquet(data: bytes) -> ParquetGrid:
    """A Parquet file. Raises Unwritable if it is not one, or if the extra is not installed."""
    return ParquetGrid(*read_file(data))


def prove_parquet(before: ParquetGrid, after: ParquetGrid, slots: Sequence[Slot]) -> None:
    """Check a file that was written and read back. Raises Unwritable with what differs."""
    same = after.table.schema.equals(before.table.schema, check_metadata=True)
    if not same or after.writing.notes != before.writing.notes:
        raise Unwritable("its schema would change")
    if len(after) != len(slots):
        raise Unwritable(f"the edited file has {len(after)} rows, and not {len(slots)}")
    at = 0
    for run in _runs(slots):
        if isinstance(run, tuple):
            _prove_same(before.table.slice(run[0], run[1] - run[0]), after.table.slice(at, run[1] - run[0]))
        else:
            _prove_row(before, after, at, run)
        at += run[1] - run[0] if isinstance(run, tuple) else 1


def _prove_row(before: ParquetGrid, after: ParquetGrid, at: int, run: Update | Insertion) -> None:
    """An edited row reads back as it was written, and its other cells are as they were."""
    for way, cell in run.cells.items():
        if not _reads_back(after, at, way, cell):
            raise Unwritable(f"{way[0]} does not read back as it was written")
    if isinstance(run, Update):
        ours = {before.columns[way] for way in run.cells}
        others = [number for number in range(before.table.num_columns) if number not in ours]
        _prove_same(*(grid.table.slice(row, 1).select(others) for grid, row in ((before, run.row), (after, at))))


def _prove_same(old: Any, new: Any) -> None:
    """Two parts are equal, column by column; where numbers are not equal to themselves, as texts."""
    for one, other in zip(old.columns, new.columns, strict=True):
        with suppress(*NO_OBJECT):
            if one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist()):
                continue
        raise Unwritable("another row would change")


def _reads_back(grid: Grid, row: int, way: Way, cell: Cell) -> bool:
    there = grid.cell(row, way)
    if isinstance(there, Decimal) and isinstance(cell, Decimal):
        return float(there) == float(cell) or abs(float(there) - float(cell)) <= 1e-6 * abs(float(cell))  # float32
    return cell is not ABSENT and says(grid, there, cell)
