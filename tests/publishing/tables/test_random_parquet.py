"""Random edits of random Parquet files: all but the row stays."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tests.publishing.tables.boards import edited, entry
from tests.publishing.tables.contents import CONTENTS, contents
from tests.publishing.tables.random_parquet import MODELS, tables, written
from tests.publishing.tables.readers import load_contents
from tests.publishing.tables.test_random_edits import CALM, HOSTILE, LONG, PLAIN, SHARES, SHORT

pytestmark = pytest.mark.usefixtures("datasets")

PATH = "t.parquet"
MAPPING: dict[str, Any] = {
    "path": PATH,
    "key": ["Model"],
    "columns": {
        "Model": "model.id",
        "BBH": {"value": "tasks.bbh.raw", "missing": "null"},
        "n": {"value": "tasks.bbh.samples", "missing": "null"},
    },
    "on_existing": "update",
}
OURS = frozenset({"Model", "BBH", "n"})
MODEL = st.one_of(st.sampled_from([model for model in MODELS if model]), PLAIN, HOSTILE)
EDITS = st.lists(st.tuples(MODEL, SHARES), min_size=1, max_size=3, unique_by=lambda each: each[0])
COUNTS = (1, 2, 3)  # of files


def options(data: bytes) -> list[Any]:
    """The compression of each column."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    columns = [metadata.row_group(0).column(at) for at in range(metadata.num_columns)]
    names = ("path_in_schema", "compression")
    return [[getattr(column, name) for name in names] for column in columns]


def own_metadata(data: bytes) -> dict[bytes, bytes]:
    """The file's own words. Of the stored schema only that it is there: Arrow names the inside of a list anew."""
    said = dict(pq.ParquetFile(io.BytesIO(data)).metadata.metadata or {})
    return {name: b"" if name == b"ARROW:schema" else value for name, value in said.items()}


def row(table: pa.Table, at: int) -> list[str]:
    """The cells of a row as Arrow shows them, whatever the column's name and type."""
    return [f"{field.type} {_shown(table.column(number), at)}" for number, field in enumerate(table.schema)]


def _shown(column: pa.ChunkedArray, at: int) -> str:
    scalar = column[at]
    if pa.types.is_temporal(scalar.type):
        width = 32 if scalar.type.bit_width == 32 else 64
        return str(scalar.cast(pa.int32() if width == 32 else pa.int64()).as_py())
    return repr(scalar.as_py())


def foreign_cells(table: pa.Table, at: int) -> list[str]:
    cells = row(table, at)
    return [cell for field, cell in zip(table.schema, cells, strict=True) if field.name not in OURS]


def check(data: bytes, changes: list[tuple[str, float | None]]) -> None:
    rows = [entry(model, {"bbh": share}) for model, share in changes]
    files, draft = edited(MAPPING, {PATH: data}, *rows)
    after = files[PATH]
    if after == data:
        reject()  # it does not count among the thousand edits
    old, new = (pq.ParquetFile(io.BytesIO(each)).read() for each in (data, after))
    names = [each["Model"] for each in _plain(old)]
    done = [each.model.id for each in rows if each.key in draft.cells]
    assert new.schema.equals(old.schema, check_metadata=True)
    assert own_metadata(after) == own_metadata(data)
    assert options(after) == options(data)
    assert [each["Model"] for each in _plain(new)] == [*names, *(name for name in done if name not in names)]
    for at, name in enumerate(names):
        if name in done:
            assert foreign_cells(new, at) == foreign_cells(old, at)
        else:
            assert row(new, at) == row(old, at)


def _plain(table: pa.Table) -> list[dict[str, Any]]:
    return table.select(sorted(OURS)).to_pylist()


@settings(max_examples=SHORT, deadline=None, suppress_health_check=CALM)
@given(data=tables().flatmap(written), changes=EDITS)
def test_all_but_the_row_stays(data: bytes, changes: list[tuple[str, float | None]]) -> None:
    check(data, changes)


@pytest.mark.campaign
@settings(max_examples=LONG, deadline=None, suppress_health_check=CALM)
@given(data=tables().flatmap(written), changes=EDITS)
def test_all_but_the_row_stays_a_thousand_times(data: bytes, changes: list[tuple[str, float | None]]) -> None:
    check(data, changes)


def check_contents(shards: int, changes: list[tuple[str, float | None]]) -> None:
    """A `contents` dataset with its card: `datasets` loads it, and sees the same other rows."""
    board = contents(shards)
    files, draft = edited(CONTENTS, board, *(entry(model, {"bbh": share}) for model, share in changes))
    if files == board:
        reject()
    with TemporaryDirectory() as folder:
        old, new = load_contents(board, Path(folder, "old")), load_contents(files, Path(folder, "new"))
    assert new[: len(old)] == old
    assert [row["fullname"] for row in new[len(old) :]] == [
        model for model, _ in changes if f"{model}/x" not in draft.refused
    ]
    assert {path for path in board if files[path] != board[path]} <= {max(board.keys() - {"README.md"}), "README.md"}


@settings(max_examples=5, deadline=None, suppress_health_check=CALM)
@given(shards=st.sampled_from(COUNTS), changes=EDITS)
def test_datasets_loads_every_edit(shards: int, changes: list[tuple[str, float | None]]) -> None:
    check_contents(shards, changes)


@pytest.mark.campaign
@settings(max_examples=LONG, deadline=None, suppress_health_check=CALM)
@given(shards=st.sampled_from(COUNTS), changes=EDITS)
def test_datasets_loads_every_edit_a_thousand_times(shards: int, changes: list[tuple[str, float | None]]) -> None:
    check_contents(shards, changes)
