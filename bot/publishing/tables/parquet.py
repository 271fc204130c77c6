"""Rows of a table in Parquet files, with the dataset card that counts them.

A file is read, edited and written again with its schema, its metadata and its compression. The result is read back, and
every other cell must be equal. How the rows are grouped and encoded is the choice of the writer.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import isnan
from pathlib import PurePosixPath
from typing import Any

import yaml

from bot.errors import Unwritable
from bot.evaluation.finding import in_units
from bot.publishing.tables.cells import Cell, ColumnPath
from bot.publishing.tables.edit import Insertion, Slot, TableEdit, Update, says
from bot.publishing.tables.sheet import MOST_CELLS, Grid, Splice, numbered, spliced
from bot.publishing.yaml_text import compose, entries, front_matter

CARD = "README.md"
SCHEMA = b"ARROW:schema"  # where Arrow keeps its types in the metadata of a file
BATCH, LARGEST_READ = 64, 500 << 20  # rows that are looked at together, and bytes of all values of a table
EXTRA = "Parquet tables need the extra `tables`: pip install 'leaderboard-bot[tables]'"
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})")
NO_OBJECT = (ValueError, OverflowError, LookupError)  # bytes that are no text, the year 10,000, an unknown time zone
Compression = str | Mapping[str, str]


@dataclass(frozen=True)
class ParquetGrid(Grid):
    """One Parquet file: a table of pyarrow, the compression of its columns, and whether Arrow's types are in it."""

    table: Any
    compression: Compression = "snappy"
    stores_types: bool = True

    @cached_property
    def column_paths(self) -> Mapping[ColumnPath, int]:
        """The number of each column by its name."""
        return numbered(self.table.column_names)

    @cached_property
    def _values(self) -> dict[ColumnPath, list[Any]]:
        return {}

    def values(self, column_path: ColumnPath) -> list[Any]:
        """The values of a column; all are null where Python has no objects for one of them."""
        if column_path not in self._values:
            self._values[column_path] = [None] * len(self)
            with suppress(*NO_OBJECT):
                self._values[column_path] = _shortest(self.table.column(self.column_paths[column_path])).to_pylist()
        return self._values[column_path]

    def held(self, column_path: ColumnPath, cell: Cell) -> Cell:
        """A number as its column can hold it: one of 32 bits has seven digits."""
        field = self.table.schema.field(self.column_paths[column_path])
        if not isinstance(cell, Decimal) or str(field.type) != "float":
            return cell
        return _cell(_shortest(_array(field, float(cell)))[0].as_py())

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell; not a number counts as null, as pandas has it."""
        return _cell(self.values(column_path)[row])

    def edited(self, slots: Sequence[Slot]) -> ParquetGrid:
        """The file with its rows in the order of the slots. Raises Unwritable if a column cannot hold its cell."""
        import pyarrow as pa

        ours = [self.row(slot) for slot in slots if not isinstance(slot, int)]
        pool = pa.concat_tables([self.table, *ours]).unify_dictionaries()
        numbers = iter(range(len(self), len(pool)))
        order = [slot if isinstance(slot, int) else next(numbers) for slot in slots]
        return replace(self, table=_rows(pool, order))

    def row(self, slot: Update | Insertion) -> Any:
        """An old row with other cells, or a new row, of which unnamed cells are null.

        Raises Unwritable if a column cannot hold its cell.
        """
        import pyarrow as pa

        nulls = [pa.nulls(1, field.type) for field in self.table.schema]
        row = pa.Table.from_arrays(nulls, schema=self.table.schema)
        row = self.table.slice(slot.row, 1) if isinstance(slot, Update) else row
        for column_path, cell in slot.cells.items():
            field = self.table.schema.field(self.column_paths[column_path])
            row = row.set_column(self.column_paths[column_path], field, _array(field, _typed(field, cell)))
        for number, field in enumerate(row.schema):
            if not field.nullable and row.column(number).null_count:
                raise Unwritable(f"the column {field.name} cannot be empty, and the mapping does not fill it")
        return row

    def to_bytes(self) -> bytes:
        """The file, with the schema, the metadata and the compression that it had."""
        import pyarrow.parquet as pq

        out, options = io.BytesIO(), {"compression": self.compression, "store_schema": self.stores_types}
        with _readable(), pq.ParquetWriter(out, self.table.schema, **options) as writer:
            writer.write_table(self.table)
            if not self.stores_types:  # then the writer leaves out the metadata, too
                writer.add_key_value_metadata(self.table.schema.metadata or {})
        return out.getvalue()


def _cell(value: Any) -> Cell:
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return None if isnan(value) else Decimal(repr(value))
    return str(value)


def _shortest(column: Any) -> Any:
    """Numbers of 32 bits as they were meant: 71.23, and not 71.2300033569336."""
    return column.cast("string").cast("double") if str(column.type) == "float" else column


@contextmanager
def _readable() -> Iterator[None]:
    """Raise Unwritable for what pyarrow refuses."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unwritable(f"it is not a Parquet file that pyarrow reads and writes: {error}") from None


def read_parquet(data: bytes) -> ParquetGrid:
    """A Parquet file. Raises Unwritable if it is not one, or if the extra is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise Unwritable(EXTRA) from None
    with _readable():
        file = pq.ParquetFile(pa.BufferReader(data))
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise Unwritable(f"it has more than {MOST_CELLS:,} cells")
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        _check_size(sum(group.total_byte_size for group in groups))  # a page is unpacked whole
        taken = 0
        for batch in file.iter_batches(BATCH):  # a file of 4 MB may hold one long text 20 million times
            taken += batch.nbytes
            _check_size(taken)
        return ParquetGrid(file.read(), _compression(file.metadata), SCHEMA in (file.metadata.metadata or {}))


def _check_size(size: int) -> None:
    if size > LARGEST_READ:
        raise Unwritable(f"it unpacks to more than {in_units(LARGEST_READ)}")


def _compression(metadata: Any) -> Compression:
    """The compression of each column in the first row group, one word where all have the same."""
    group = metadata.row_group(0) if metadata.num_row_groups else None
    columns = [group.column(number) for number in range(metadata.num_columns)] if group else []
    codecs = {column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE").lower() for column in columns}
    return codecs if len(set(codecs.values())) > 1 else next(iter(codecs.values()), "snappy")


def _array(field: Any, value: float | str | None) -> Any:
    import pyarrow as pa

    try:
        return pa.array([value], type=field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise Unwritable(f"the column {field.name} cannot hold {value!r}: {error}") from None


def _typed(field: Any, cell: Cell) -> bool | int | float | str | None:
    """A cell in the type of its column. Raises Unwritable if that would change it."""
    import pyarrow.types as kinds

    if cell is None:
        return None
    if isinstance(cell, bool) and kinds.is_boolean(field.type):
        return cell
    texts = field.type.value_type if kinds.is_dictionary(field.type) else field.type
    if isinstance(cell, str) and (kinds.is_string(texts) or kinds.is_large_string(texts)):
        return cell
    if isinstance(cell, Decimal) and kinds.is_floating(field.type):
        return float(cell)
    if isinstance(cell, Decimal) and kinds.is_integer(field.type) and cell == cell.to_integral_value():
        return int(cell)
    raise Unwritable(f"the column {field.name} is of type {field.type}, but the mapping gives {cell}")


def prove_parquet(before: ParquetGrid, after: ParquetGrid, slots: Sequence[Slot]) -> None:
    """Check a file that was written and read back. Raises Unwritable with what differs."""
    if not after.table.schema.equals(before.table.schema, check_metadata=True):
        raise Unwritable("its schema would change")
    if len(after) != len(slots):
        raise Unwritable(f"the edited file has {len(after)} rows, and not {len(slots)}")
    foreign = [(slot, at) for at, slot in enumerate(slots) if isinstance(slot, int)]
    _prove_same(before, after, foreign, range(before.table.num_columns))
    for at, slot in enumerate(slots):
        if isinstance(slot, int):
            continue
        for column_path, cell in slot.cells.items():
            if not says(after, after.cell(at, column_path), after.held(column_path, cell)):
                raise Unwritable(f"{column_path[0]} does not read back as it was written")
        if isinstance(slot, Update):
            ours = {before.column_paths[column_path] for column_path in slot.cells}
            others = [number for number in range(before.table.num_columns) if number not in ours]
            _prove_same(before, after, [(slot.row, at)], others)


def _rows(table: Any, order: Sequence[int]) -> Any:
    """The rows of a table with these numbers, in this order."""
    import pyarrow as pa

    return table.take(pa.array(order, pa.int64())).combine_chunks()


def _prove_same(
    before: ParquetGrid, after: ParquetGrid, pairs: Sequence[tuple[int, int]], columns: Sequence[int]
) -> None:
    """Rows are equal in these columns; where numbers are not equal to themselves, as texts."""
    old = _rows(before.table.select(columns), [row for row, _ in pairs])
    new = _rows(after.table.select(columns), [row for _, row in pairs])
    for one, other in zip(old.columns, new.columns, strict=True):
        with suppress(*NO_OBJECT):
            if one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist()):
                continue
        raise Unwritable("another row would change")


@dataclass(frozen=True)
class Shards(Grid):
    """The files of one table, in the order of their names."""

    grids: Mapping[str, ParquetGrid]

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """The number of the first row of each file."""
        starts, rows = {}, 0
        for path, grid in self.grids.items():
            starts[path] = rows
            rows += len(grid)
        return starts

    @cached_property
    def column_paths(self) -> Collection[ColumnPath]:
        """The columns that all files have."""
        first, *rest = self.grids.values()
        return [
            column_path for column_path in first.column_paths if all(column_path in grid.column_paths for grid in rest)
        ]

    def __len__(self) -> int:
        return sum(map(len, self.grids.values()))

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell of the row with this number in the whole table."""
        path = self.home(row)
        return self.grids[path].cell(row - self.starts[path], column_path)

    def held(self, column_path: ColumnPath, cell: Cell) -> Cell:
        """A number as its column can hold it."""
        return next(iter(self.grids.values())).held(column_path, cell)

    def home(self, row: int) -> str:
        """The file in which a row lies, the last one for a row at the end."""
        return [path for path in self.grids if self.starts[path] <= row][-1]

    def part(self, path: str, edit: TableEdit) -> TableEdit:
        """The part of an edit that concerns one file, with the row numbers of that file."""
        start = self.starts[path]
        updates = [replace(each, row=each.row - start) for each in edit.updates if self.home(each.row) == path]
        new = [replace(each, before=each.before - start) for each in edit.insertions if self.home(each.before) == path]
        return TableEdit(updates, new)


INFO = "dataset_info"
COUNT = re.compile(r"[0-9]{1,18}")
Counted = tuple[int, int, int]  # where a number begins and ends in the card, and the number


def counts_of(card: str, config: str, split: str) -> Mapping[str, Counted] | None:
    """The counts that a card gives for a split, None if it has no `dataset_info` at all.

    Raises Unwritable if it has one, and not `num_examples` for this split.
    """
    place = front_matter(card)
    if place is None:
        return None
    root = compose(card[slice(*place)])
    info = _inside(root, INFO)
    if info is None:
        return None
    if isinstance(info, yaml.SequenceNode):
        info = next((each for each in info.value if _text(_inside(each, "config_name"), "default") == config), None)
    splits = _inside(info, "splits")
    rows = splits.value if isinstance(splits, yaml.SequenceNode) else []
    ours = next((each for each in rows if _text(_inside(each, "name")) == split), None)
    places = {
        "num_examples": _inside(ours, "num_examples"),
        "num_bytes": _inside(ours, "num_bytes"),
        "download_size": _inside(info, "download_size"),
        "dataset_size": _inside(info, "dataset_size"),
    }
    counts = {name: _count(node, place[0]) for name, node in places.items() if node is not None}
    if "num_examples" not in counts:
        raise Unwritable(f"the card has {INFO} without num_examples for the split {split!r}: readers would fail")
    return counts


def _inside(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return next((value for key, value in entries(node) if key == name), None)


def _text(node: yaml.Node | None, default: str = "") -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else default


def _count(node: yaml.Node, start: int) -> Counted:
    if not isinstance(node, yaml.ScalarNode) or node.style or not COUNT.fullmatch(node.value):
        raise Unwritable(f"the card has a count in {INFO} that is not a plain number")
    return start + node.start_mark.index, start + node.end_mark.index, int(node.value)


def counted_card(card: bytes, shards: Shards, growth: Mapping[str, int]) -> dict[str, bytes]:
    """The card with the new counts of a table, nothing if it counts nothing.

    Raises Unwritable where it counts other rows than the table has, or none of a table of several files.
    """
    try:
        text = card.decode()
    except UnicodeDecodeError:
        raise Unwritable(f"{CARD} is not UTF-8 text") from None
    place = PurePosixPath(next(iter(shards.grids)))
    shard, folder = SHARD.fullmatch(place.stem), place.parent.name  # as `push_to_hub` names files and folders
    config, split = "default" if folder in {"", "data"} else folder, shard[1] if shard else place.stem
    counts = counts_of(text, config, split)
    if counts is None:
        if len(shards.grids) > 1:
            raise Unwritable(f"it has several files, and {CARD} does not say num_examples for {split!r}")
        return {}
    there = counts["num_examples"][2]
    if there != len(shards):
        raise Unwritable(f"{CARD} says num_examples {there}, and the files have {len(shards)} rows")
    splices = [Splice(start, end, str(count + growth[name])) for name, (start, end, count) in counts.items()]
    return {CARD: spliced(text, splices).encode()}


def without_unfit(shards: Shards, edit: TableEdit) -> TableEdit:
    """The edit without the rows that their file cannot hold."""
    refused = dict(edit.refused)
    for path, grid in shards.grids.items():
        part = shards.part(path, edit)
        slots: list[Update | Insertion] = [*part.updates, *part.insertions]
        for slot in slots:
            try:
                grid.row(slot)
            except Unwritable as error:
                refused[slot.wanted.change_key] = str(error)
    updates = [each for each in edit.updates if each.wanted.change_key not in refused]
    new = [new for new in edit.insertions if new.wanted.change_key not in refused]
    return replace(edit, updates=updates, insertions=new, refused=refused)


def check_names(paths: Sequence[str]) -> None:
    """Several files are one table only where each says which of how many it is."""
    found = [SHARD.fullmatch(PurePosixPath(path).stem) for path in paths]
    named = [(match[1], int(match[2]), int(match[3])) for match in found if match]
    if len(paths) == 1 and not named:
        return
    stems = {stem for stem, _, _ in named}
    numbers = [number for _, number, _ in named]
    if len(named) < len(paths) or len(stems) > 1 or numbers != list(range(len(paths))) or named[0][2] != len(paths):
        raise Unwritable(f"its {len(paths)} files are not numbered like train-00000-of-{len(paths):05}.parquet")
