"""Read and write a Parquet file so that everything outside an edit stays the same."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from bot.errors import Unwritable
from bot.publishing.tables.edit import Insertion, Update
from bot.publishing.tables.proof import Slot

MOST_CELLS = 50_000_000
SCHEMA, CHUNKING = b"ARROW:schema", b"content_defined_chunking"
VERSIONS = ("1.0", "2.4", "2.6")
EXTRA = "Parquet tables need the extra `tables`: pip install 'leaderboard-bot[tables]'"


@dataclass(frozen=True, slots=True)
class Writing:
    """How a Parquet file was written, so that it can be written so again.

    `notes` are metadata of the file that are not metadata of its schema; `options` are arguments of pyarrow's writer;
    `groups` are the numbers of rows of the row groups.
    """

    options: Mapping[str, Any]
    notes: Mapping[bytes, bytes] = field(default_factory=dict)
    groups: Sequence[int] = ()

    def grown(self, slots: Sequence[Slot]) -> Writing:
        """The same with the row groups of an edited table.

        A new row joins the group of the row before it; of several groups, the last grows to the size of the largest.
        """
        starts = list(accumulate(self.groups, initial=0))[:-1]
        sizes, at = [0] * max(1, len(starts)), 0
        for slot in slots:
            if not isinstance(slot, Insertion):
                at = bisect_right(starts, slot.row if isinstance(slot, Update) else slot) - 1
            sizes[at] += 1
        if len(self.groups) > 1:
            most = max(self.groups)
            sizes[-1:] = [min(most, sizes[-1] - done) for done in range(0, sizes[-1], most)]
        return replace(self, groups=[size for size in sizes if size])


def write_file(table: Any, writing: Writing) -> bytes:
    """A table as a Parquet file."""
    import pyarrow.parquet as pq

    out, at = io.BytesIO(), 0
    with pq.ParquetWriter(out, table.schema, **writing.options) as writer:
        for size in writing.groups:
            writer.write_table(table.slice(at, size), row_group_size=size)
            at += size
        writer.add_key_value_metadata(writing.notes)
    return out.getvalue()


def read_file(data: bytes) -> tuple[Any, Writing]:
    """A Parquet file as a table, and how it was written.

    Raises Unwritable if it is not one, or if the extra is not installed.
    """
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
        own = pa.ipc.read_schema(pa.py_buffer(b64decode(stored))).metadata if stored else None
        notes = {name: value for name, value in said.items() if name not in (own or {})}
        writing = _writing(file.metadata, notes, stores_schema=stored is not None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Unwritable(f"it is not a Parquet file: {error}") from None
    return table.replace_schema_metadata(own), writing


def _writing(metadata: Any, notes: Mapping[bytes, bytes], *, stores_schema: bool) -> Writing:
    """The options with which a file was written, from its metadata."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    options: dict[str, Any] = {"store_schema": stores_schema}
    if metadata.format_version in VERSIONS:
        options["version"] = metadata.format_version
    if CHUNKING in notes:
        options["use_content_defined_chunking"] = json.loads(notes[CHUNKING])
    columns = [groups[0].column(number) for number in range(groups[0].num_columns)] if groups else []
    return Writing({**options, **_of_columns(columns)}, notes, [group.num_rows for group in groups])


def _of_columns(columns: Sequence[Any]) -> Mapping[str, Any]:
    """The options that the columns of the first row group show; pyarrow knows them by column."""
    if not columns:
        return {}
    codecs = {column.path_in_schema: _codec(column) for column in columns}
    return {
        "compression": next(iter(codecs.values())) if len(set(codecs.values())) == 1 else codecs,
        "use_dictionary": [column.path_in_schema for column in columns if column.has_dictionary_page],
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set],
        "write_page_index": any(column.has_offset_index for column in columns),
        "use_deprecated_int96_timestamps": any(column.physical_type == "INT96" for column in columns),
    }


def _codec(column: Any) -> str:
    codec = str(column.compression).lower()
    return "none" if codec == "uncompressed" else codec
