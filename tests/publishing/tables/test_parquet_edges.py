"""Edges of Parquet files: what a cell is, where new rows go, how the file is written, and what the proof finds."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bot.errors import Unwritable
from bot.publishing.tables import parquet
from bot.publishing.tables.cells import Cell, WantedRow
from bot.publishing.tables.edit import Insertion, Slot, Update
from bot.publishing.tables.parquet import ParquetGrid, prove_parquet, read_parquet

NAN = float("nan")
SCHEMA = b"ARROW:schema"
YEAR_10_000 = 253_402_300_800  # seconds; Python has no date from there on
NOBODY = WantedRow("x", {}, {})
INSERTED: Mapping[str, Any] = {"a": "new", "n": Decimal("0.5")}

pytestmark = pytest.mark.usefixtures("pyarrow")


@cache
def odd() -> dict[str, Any]:
    """Columns for which Python has no objects."""
    return {
        "late": pa.array([YEAR_10_000, None, 2, 3, 4, 5], pa.timestamp("s")),
        "raw": pa.array([b"\xff"] * 6).cast(pa.string(), safe=False),
        "zone": pa.array(range(6), pa.timestamp("s", "No/Where")),
    }


def grid(schema: Any = None, **columns: Any) -> ParquetGrid:
    return ParquetGrid(pa.table(columns, schema=schema))


def changed(row: int, **cells: Cell) -> Update:
    return Update(row, NOBODY, {(name,): cell for name, cell in cells.items()})


def added(before: int, **cells: Cell) -> Insertion:
    return Insertion(before, NOBODY, {(name,): cell for name, cell in cells.items()})


def file(table: pa.Table, notes: Mapping[str, str] | None = None, **options: Any) -> bytes:
    out = io.BytesIO()
    with pq.ParquetWriter(out, table.schema, **options) as writer:
        if len(table):
            writer.write_table(table)
        writer.add_key_value_metadata(notes or {})
    return out.getvalue()


# ---- cells ----


def test_a_cell_is_what_a_person_reads() -> None:
    there = grid(
        a=["x"],
        n=pa.array([NAN]),
        whole=[3],
        yes=[True],
        day=pa.array([19_000], pa.date32()),
        **{name: column.slice(0, 1) for name, column in odd().items()},
    )
    read = {name: there.cell(0, (name,)) for name in there.table.column_names}
    assert read == {"a": "x", "n": None, "whole": Decimal(3), "yes": True, "day": "2022-01-08"} | dict.fromkeys(odd())


@pytest.mark.parametrize(
    ("kind", "cell", "reason"),
    [
        (pa.int8(), Decimal(300), "the column n cannot hold 300: "),
        (pa.int8(), Decimal("0.5"), "the column n is of type int8, "),
        (pa.int8(), "1", "the column n is of type int8, "),
        (pa.float64(), "1.5", "the column n is of type double, "),
        (pa.float64(), True, "the column n is of type double, "),
        (pa.string(), Decimal("1.5"), "the column n is of type string, "),
        (pa.large_string(), False, "the column n is of type large_string, "),
        (pa.bool_(), "true", "the column n is of type bool, "),
    ],
)
def test_a_cell_that_does_not_fit_its_column_is_refused(kind: Any, cell: Cell, reason: str) -> None:
    with pytest.raises(Unwritable, match=f"^{reason}"):
        grid(n=pa.array([None], kind)).edited([0, added(1, n=cell)])


def test_a_column_that_must_be_filled_is_not_left_empty() -> None:
    schema = pa.schema([pa.field("a", pa.string()), pa.field("n", pa.int64(), nullable=False)])
    there = grid(schema, a=["x"], n=[1])

    assert there.edited([0, added(1, n=Decimal(2))]).table.to_pylist()[1] == {"a": None, "n": 2}
    with pytest.raises(Unwritable, match=r"^the column n cannot be empty, and the mapping does not fill it$"):
        there.edited([0, added(1, a="y")])


# ---- an edit and its proof ----

SLOTS: list[Slot] = [
    added(0, a="first"),
    changed(0, n=Decimal("0.1")),
    added(1, a="second", n=None),
    1,
    2,
    changed(3, a="w", n=None),
    4,
    5,
    added(6, n=Decimal(7)),
]


def six() -> ParquetGrid:
    return grid(
        a=list("pqrstu"),
        n=pa.array([NAN, 1.0, NAN, 3.0, None, 5.0], pa.float32()),
        **odd(),
        last=[1, 2, 3, 4, 5, 6],
    )


def test_rows_are_changed_and_put_in_where_the_edit_says() -> None:
    after = six().edited(SLOTS)

    assert after.table.column("a").to_pylist() == ["first", "p", "second", "q", "r", "w", "t", "u", None]
    assert after.table.column("last").to_pylist() == [None, 1, None, 2, 3, 4, 5, 6, None]
    assert str(after.table.column("n").to_pylist()) == str(
        [None, 0.10000000149011612, None, 1.0, NAN, None, None, 5.0, 7.0]
    )
    prove_parquet(six(), after, SLOTS)


def put(name: str, row: int, value: Any) -> Callable[[pa.Table], pa.Table]:
    """A change of one cell of the edited file."""

    def changes(table: pa.Table) -> pa.Table:
        at = table.column_names.index(name)
        column = table.column(at).combine_chunks()
        one = pa.array([value], column.type)
        return table.set_column(at, table.field(at), pa.chunked_array([column[:row], one, column[row + 1 :]]))

    return changes


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("a", 4, "z"), "another row would change"),
        (put("last", 4, 9), "another row would change"),
        (put("last", 7, None), "another row would change"),
        (put("n", 4, 2.0), "another row would change"),
        (put("n", 6, NAN), "another row would change"),
        (put("late", 4, 9), "another row would change"),
        (put("late", 4, YEAR_10_000), "another row would change"),  # Python cannot read it
        (put("raw", 4, "z"), "another row would change"),
        (put("zone", 4, 9), "another row would change"),
        (put("last", 1, 9), "another row would change"),  # another cell of a row of ours
        (put("late", 5, 9), "another row would change"),
        (put("late", 1, YEAR_10_000 + 1), "another row would change"),
        (put("n", 1, 0.100005), "n does not read back as it was written"),
        (put("n", 1, 0.0), "n does not read back as it was written"),
        (put("n", 1, None), "n does not read back as it was written"),
        (put("n", 2, 1.0), "n does not read back as it was written"),
        (put("n", 8, -7.0), "n does not read back as it was written"),
        (put("a", 0, "z"), "a does not read back as it was written"),
        (lambda table: table.slice(1), "the edited file has 8 rows, and not 9"),
        (lambda table: table.rename_columns(["b", "n", *odd(), "last"]), "its schema would change"),
        (lambda table: table.replace_schema_metadata({"a": "b"}), "its schema would change"),
        (lambda table: table.drop_columns(["last"]), "its schema would change"),
    ],
)
def test_the_proof_finds_each_change_that_nobody_asked_for(change: Callable[[pa.Table], pa.Table], reason: str) -> None:
    after = six().edited(SLOTS)
    with pytest.raises(Unwritable, match=f"^{reason}$"):
        prove_parquet(six(), ParquetGrid(change(after.table)), SLOTS)


# ---- how the file is written ----


def test_a_file_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST_CELLS", 6)

    assert len(read_parquet(file(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]})))) == 3
    with pytest.raises(Unwritable, match=r"^it has more than 6 cells$"):
        read_parquet(file(pa.table({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})))


def test_a_small_file_of_one_very_long_text_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGEST_READ", 1 << 20)
    data = file(pa.table({"a": ["long" * 2_000_000]}), compression="zstd", use_dictionary=False)
    assert len(data) < 40_000
    before, watched = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(watched)
    try:
        with pytest.raises(Unwritable, match=r"^it unpacks to more than 1 MB$"):
            read_parquet(data)
    finally:
        pa.set_memory_pool(before)
    assert watched.max_memory() < 5_000_000


def test_a_small_file_of_one_long_text_in_very_many_rows_is_refused() -> None:
    rows = 1_900_000
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["long" * 500]))
    data = file(pa.table({"a": texts}), store_schema=False)
    assert len(data) < 500_000
    with pytest.raises(Unwritable, match=r"^it unpacks to more than 500 MB$"):
        read_parquet(data)


@pytest.mark.parametrize("own", [None, {b"of": b"schema"}])
@pytest.mark.parametrize("stored", [True, False])
def test_a_file_keeps_its_metadata(own: Mapping[bytes, bytes] | None, stored: bool) -> None:
    notes = {"of": "file", "a": "note"}
    before = file(pa.table({"a": [1]}).replace_schema_metadata(own), notes, store_schema=stored)
    after = read_parquet(before).to_bytes()

    old, new = (dict(pq.read_metadata(io.BytesIO(data)).metadata) for data in (before, after))
    assert old.pop(SCHEMA, None) is None or new.pop(SCHEMA)  # Arrow writes its types anew
    assert new == old
    assert read_parquet(after) == read_parquet(before)


@pytest.mark.parametrize("compression", [{"a": "gzip", "t": "zstd"}, "none", "brotli"])
def test_a_file_keeps_its_compression(compression: Any) -> None:
    table = pa.table({"a": ["x"], "t": pa.array([2], pa.timestamp("us"))})
    before = file(table, compression=compression)
    old, new = (pq.read_metadata(io.BytesIO(data)) for data in (before, read_parquet(before).to_bytes()))

    codecs = [[each.row_group(0).column(at).compression for at in range(2)] for each in (old, new)]
    assert codecs[0] == codecs[1]


@pytest.mark.parametrize("options", [{"use_deprecated_int96_timestamps": True}, {"version": "1.0"}, {"version": "2.4"}])
def test_the_values_of_a_file_of_an_old_version_stay(options: Mapping[str, Any]) -> None:
    table = pa.table({"a": ["x"], "t": pa.array([2], pa.timestamp("us")), "u": pa.array([2**32 - 1], pa.uint32())})
    before = read_parquet(file(table, **options))
    prove_parquet(before, read_parquet(before.to_bytes()), [0])


def test_a_file_without_rows_takes_its_first_row() -> None:
    there = read_parquet(file(pa.table({"a": ["x"], "n": [0.5]}).slice(1)))
    slots: list[Slot] = [added(0, a="x", n=Decimal("0.5"))]

    after = read_parquet(there.edited(slots).to_bytes())

    assert after.table.to_pylist() == [{"a": "x", "n": 0.5}]
    prove_parquet(there, after, slots)
