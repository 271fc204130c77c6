"""Rows of a table in one or several Parquet files; whole files are rewritten with their old schema and metadata."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isnan
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, Way
from bot.publishing.tables.edit import Insertion, Update, says
from bot.publishing.tables.proof import Slot
from bot.publishing.tables.sheet import Grid

MOST_CELLS = 50_000_000
SCHEMA, CHUNKING = b"ARROW:schema", b"content_defined_chunking"
EXTRA = "Parquet tables need the extra `tables`: pip install 'leaderboard-bot[tables]'"


@dataclass(frozen=True, slots=True)
class Writing:
    """How a Parquet file was written, so that it can be written so again.

    `notes` are metadata of the file that are not metadata of its schema; `options` are arguments of pyarrow's writer.
    """

    options: Mapping[str, Any]
    notes: Mapping[bytes, bytes]
    group_rows: int | None  # of the largest of several row groups, None where there is one


@dataclass(frozen=True)
class ParquetGrid:
    """One Parquet file: a table of pyarrow, and how the file was written."""

    table: Any
    writing: Writing

    @cached_property
    def columns(self) -> Mapping[Way, list[Any]]:
        """The values by column."""
        names = self.table.column_names
        return {(name,): self.table.column(name).to_pylist() for name in names if names.count(name) == 1}

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
        value = self.columns[way][row]
        if isinstance(value, bool | str) or value is None:
            return value
        if isinstance(value, int | float):
            return None if isnan(value) else Decimal(repr(value))
        return str(value)

    def edited(self, slots: Sequence[Slot]) -> ParquetGrid:
        """The file with its rows in the order of the slots. Raises Unwritable where a cell has another type."""
        import pyarrow as pa

        parts = [part for slot in _runs(slots) for part in [self._part(slot)] if part.num_rows]
        return ParquetGrid(pa.concat_tables(parts).combine_chunks(), self.writing)

    def _part(self, slot: tuple[int, int] | Update | Insertion) -> Any:
        if isinstance(slot, tuple):
            return self.table.slice(slot[0], slot[1] - slot[0])
        old = {} if isinstance(slot, Insertion) else {way: column[slot.row] for way, column in self.columns.items()}
        return self._row({**old, **{way: _Said(cell) for way, cell in slot.cells.items()}})

    def _row(self, cells: Mapping[Way, Any]) -> Any:
        """A table of one row; a column that the cells do not say is null."""
        import pyarrow as pa

        arrays = []
        for field in self.table.schema:
            value = cells.get((field.name,))
            if isinstance(value, _Said):
                value = _typed(field, value.cell)
            try:
                arrays.append(pa.array([value], type=field.type))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise Unwritable(f"the column {field.name} cannot hold {value!r}: {error}") from None
            if value is None and not field.nullable:
                raise Unwritable(f"the column {field.name} cannot be empty, and the mapping does not fill it")
        return pa.Table.from_arrays(arrays, schema=self.table.schema)

    def to_bytes(self) -> bytes:
        """The file, with the compression, the row groups and the metadata that it had."""
        import pyarrow.parquet as pq

        out = io.BytesIO()
        with pq.ParquetWriter(out, self.table.schema, **self.writing.options) as writer:
            writer.write_table(self.table, row_group_size=self.writing.group_rows)
            writer.add_key_value_metadata(self.writing.notes)
        return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Said:
    """A cell that is still to be given the type of its column."""

    cell: Cell


def _typed(field: Any, cell: Cell) -> bool | int | float | str | None:
    """A cell in the type of its column. Raises Unwritable where that would change it."""
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
    raise Unwritable(f"the column {field.name} is of type {field.type}, and the mapping gives {cell}")


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
    """A Parquet file. Raises Unwritable where it is none, or where the extra is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise Unwritable(EXTRA) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise Unwritable(f"it has more than {MOST_CELLS:,} cells")
        table, said = file.read(), dict(file.metadata.metadata or {})
        stored = said.pop(SCHEMA, None)
        own = pa.ipc.read_schema(pa.py_buffer(b64decode(stored))).metadata if stored else table.schema.metadata
        writing = _writing(file.metadata, {name: value for name, value in said.items() if name not in (own or {})})
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unwritable(f"it is not a Parquet file: {error}") from None
    return ParquetGrid(table.replace_schema_metadata(own), writing)


def _writing(metadata: Any, notes: Mapping[bytes, bytes]) -> Writing:
    """What the metadata of a file say about how it was written."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    options: dict[str, Any] = {}
    if groups and groups[0].num_columns:
        column = groups[0].column(0)
        codec = column.compression.lower()
        options = {"compression": "none" if codec == "uncompressed" else codec}
        options["write_page_index"] = bool(column.has_offset_index)
    if CHUNKING in notes:
        options["use_content_defined_chunking"] = json.loads(notes[CHUNKING])
    return Writing(options, notes, max(group.num_rows for group in groups) if len(groups) > 1 else None)


def prove_parquet(before: ParquetGrid, after: ParquetGrid, slots: Sequence[Slot]) -> None:
    """Check a file that was written and read back. Raises Unwritable with what differs."""
    same = after.table.schema.equals(before.table.schema, check_metadata=True)
    if not same or after.writing.notes != before.writing.notes:
        raise Unwritable("its schema would change")
    if len(after) != len(slots):
        raise Unwritable(f"the edited file has {len(after)} rows, and not {len(slots)}")
    for way, old in before.columns.items():
        new = after.columns[way]
        for number, slot in enumerate(slots):
            if isinstance(slot, int) and repr(old[slot]) != repr(new[number]):
                raise Unwritable("another row would change")
            if not isinstance(slot, int) and way in slot.cells and not _reads_back(after, number, way, slot.cells[way]):
                raise Unwritable(f"{way[0]} does not read back as it was written")


def _reads_back(grid: Grid, row: int, way: Way, cell: Cell) -> bool:
    there = grid.cell(row, way)
    if isinstance(there, Decimal) and isinstance(cell, Decimal):
        return float(there) == float(cell) or abs(float(there) - float(cell)) <= 1e-6 * abs(float(cell))  # float32
    return cell is not ABSENT and says(grid, there, cell)
