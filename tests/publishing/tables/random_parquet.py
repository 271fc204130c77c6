"""Parquet files of somebody else: columns of every kind, written with every option, and as the bot may meet them."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

NAN = float("nan")
# Columns that no mapping names: what a library may change when it rewrites a file.
FOREIGN: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["", "heron\n🦅", "\x00", None]),
    "long text": (pa.large_string(), ["x" * 300, None, "ß"]),
    "words": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None]),
    "half": (pa.float16(), [1.5, None]),
    "single": (pa.float32(), [0.1, -0.0, NAN, None, float("inf")]),
    "double": (pa.float64(), [0.1, -0.0, NAN, None, 1e-300]),
    "small": (pa.int8(), [-128, 127, None]),
    "large": (pa.uint64(), [2**64 - 1, 0, None]),
    "flag": (pa.bool_(), [True, False, None]),
    "bytes": (pa.binary(), [b"\xff\x00", b"", None]),
    "fixed": (pa.binary(3), [b"abc", None]),
    "money": (pa.decimal128(12, 3), [Decimal("1.250"), Decimal("-0.001"), None]),
    "day": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    "clock": (pa.time64("us"), [time(23, 59, 59, 999999), None]),
    "seconds": (pa.timestamp("ms", tz="UTC"), [datetime(2024, 5, 1, tzinfo=UTC), None]),
    "moment": (pa.timestamp("ns"), [1_700_000_000_123_456_789, -1, None]),
    "beyond": (pa.timestamp("ms"), [2**52, None]),  # the year 144,683, for which Python has no date
    "span": (pa.duration("us"), [5, None]),
    "list": (pa.list_(pa.int32()), [[], [1, None], None]),
    "struct": (pa.struct([("a", pa.float32()), ("b", pa.list_(pa.string()))]), [{"a": 0.1, "b": ["x"]}, None]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1), ("k", 2)], [], None]),
    "nothing": (pa.null(), [None]),
}
CODECS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")
MODELS = ("heron", "wren", "finch", "o/egret", "o/ibis", "o/crane", "o/stork", "")


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table with the columns Model, BBH and n of the mapping, and others of any kind, one name maybe there twice."""
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=8, unique=True))
    shares = st.one_of(st.none(), st.integers(0, 1000).map(lambda share: share / 1000))
    arrays = {
        "Model": pa.array(models, draw(st.sampled_from([pa.string(), pa.large_string()]))),
        "BBH": pa.array([draw(shares) for _ in models], draw(st.sampled_from([pa.float64(), pa.float32()]))),
        "n": pa.array([draw(st.sampled_from([None, 1, 5761])) for _ in models], pa.int64()),
    }
    pairs = list(arrays.items())
    for name in draw(st.lists(st.sampled_from(list(FOREIGN)), max_size=5)):
        kind, values = FOREIGN[name]
        pairs.append((name, pa.array([draw(st.sampled_from(values)) for _ in models], kind)))
    pairs = draw(st.permutations(pairs))
    notes = st.none() | st.just({"unit": "share", "": "ß"})
    fields = [pa.field(name, array.type, metadata=draw(notes)) for name, array in pairs]
    metadata = draw(st.none() | st.just({"huggingface": '{"info": {"features": {}}}', "own": "\u2028 note"}))
    return pa.Table.from_arrays([array for _, array in pairs], schema=pa.schema(fields, metadata=metadata))


@st.composite
def written(draw: st.DrawFn, table: pa.Table) -> bytes:
    """A file of the table, written in some way."""
    one = st.sampled_from(CODECS)
    leaves = [column.path_in_schema for column in _columns(_bytes(table, {}, [len(table)], {}))]
    twice = len(set(leaves)) < len(leaves)
    codec = draw(one) if twice or draw(st.booleans()) else {name: draw(one) for name in leaves}
    options: dict[str, Any] = {
        "compression": codec,
        "use_dictionary": draw(st.booleans()),
        "write_statistics": draw(st.booleans()),
        "write_page_index": draw(st.booleans()),
        "store_schema": draw(st.integers(0, 4)) > 0,
    }
    if draw(st.integers(0, 4)) == 0:
        options["use_content_defined_chunking"] = True
    cuts = sorted(draw(st.sets(st.integers(1, len(table) - 1)))) if len(table) > 1 else []
    sizes = [end - start for start, end in zip([0, *cuts], [*cuts, len(table)], strict=True)]
    notes = draw(st.none() | st.just({"written by": "somebody", "b": ""}))
    return _bytes(table, options, sizes, notes or {})


def _bytes(table: pa.Table, options: dict[str, Any], sizes: list[int], notes: dict[str, str]) -> bytes:
    out, at = io.BytesIO(), 0
    with pq.ParquetWriter(out, table.schema, **options) as writer:
        for size in sizes:
            writer.write_table(table.slice(at, size), row_group_size=size)
            at += size
        writer.add_key_value_metadata(notes)
    return out.getvalue()


def _columns(data: bytes) -> list[Any]:
    group = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    return [group.column(number) for number in range(group.num_columns)]
