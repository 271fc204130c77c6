"""Edges of a table in Parquet files: their names, their card, what is read back, and files of other writers."""

from __future__ import annotations

import io
import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.publishing.tables.boards import MODEL, Files, change, edited, entry, layout, refusal
from tests.publishing.tables.contents import CONTENTS, contents

pytestmark = pytest.mark.usefixtures("datasets")

FILE = "data/train-00000-of-00001.parquet"
SMALL: dict[str, Any] = {
    "path": "t.parquet",
    "key": ["Model"],
    "columns": {"Model": "model.id", "BBH": "tasks.bbh.raw"},
}
HALF = entry(scores={"bbh": 0.5})


def small(metadata: dict[str, str] | None = None, more: dict[str, Any] | None = None, **options: Any) -> bytes:
    out = io.BytesIO()
    table = pa.table({"Model": ["heron", "wren"], "BBH": [0.25, 0.75], **(more or {})})
    with pq.ParquetWriter(out, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata or {})
    return out.getvalue()


# ---- files of other writers ----


def test_a_file_without_a_schema_of_arrow_keeps_its_metadata() -> None:
    said = {"org.apache.spark.version": "3.5.0", "org.apache.spark.sql.parquet.row.metadata": "{}"}
    before = small(said, store_schema=False)

    after, draft = edited(SMALL, {"t.parquet": before}, HALF)

    assert draft.refused == {}
    metadata = pq.read_metadata(io.BytesIO(after["t.parquet"])).metadata
    assert metadata == {name.encode(): value.encode() for name, value in said.items()}
    assert pq.read_table(io.BytesIO(after["t.parquet"])).column("BBH").to_pylist() == [0.25, 0.75, 0.5]


def test_a_column_that_python_cannot_read_stays_as_it_is() -> None:
    zone = pa.array([1, 2], pa.timestamp("s", "No/Where"))

    after, draft = edited(SMALL, {"t.parquet": small(more={"seen": zone})}, HALF)

    assert draft.refused == {}
    table = pq.ParquetFile(io.BytesIO(after["t.parquet"])).read()
    assert table.column("seen").cast(pa.int64()).to_pylist() == [1_000, 2_000, None]  # Parquet counts milliseconds


# ---- names ----


def test_a_file_at_the_top_needs_no_folder() -> None:
    assert layout(SMALL).folders([change(HALF)]) == ()
    assert layout(SMALL, path="a/b/*.parquet").folders([change(HALF)]) == ("a/b",)


@pytest.mark.parametrize(
    "names",
    [
        ("train-00000-of-00003", "train-00001-of-00003"),  # the last is missing
        ("train-00001-of-00002", "train-00002-of-00002"),
        ("test-00000-of-00002", "train-00001-of-00002"),
        ("train-00000-of-00001", "train"),
        ("one", "other"),
        ("train-00001-of-00002",),
    ],
)
def test_files_that_are_not_one_whole_table_are_refused(names: tuple[str, ...]) -> None:
    files = {f"data/{name}.parquet": small() for name in sorted(names)}
    reason = f"its {len(names)} files are not numbered like train-00000-of-0000{len(names)}.parquet"
    assert refusal({**SMALL, "path": "data/*.parquet"}, files) == f"data/*.parquet: {reason}"


@pytest.mark.parametrize("place", ["train.parquet", "data/train.parquet", "data/train-00000-of-00001.parquet"])
def test_the_default_configuration_counts_a_file_at_the_top_or_in_data(place: str) -> None:
    card = "---\ndataset_info:\n- config_name: raw\n- config_name: default\n  splits:\n  - name: train\n"
    card += "    num_examples: 2\n---\n"
    after, draft = edited({**SMALL, "path": place}, {place: small(), "README.md": card.encode()}, HALF)

    assert draft.refused == {}
    assert after["README.md"].decode() == card.replace("num_examples: 2", "num_examples: 3")


def test_a_file_that_is_not_there_is_named() -> None:
    assert refusal(SMALL, {}) == "t.parquet: there is no such file at the target"
    assert refusal(SMALL, {"README.md": b"# Board\n"}) == "t.parquet: there is no such file at the target"


# ---- the card, the request, and what is read back ----


def test_a_card_that_is_no_text_refuses_every_row() -> None:
    rows = entry(), entry("a/b", key="other")
    after, draft = edited(CONTENTS, {**contents(), "README.md": b"\xff"}, *rows)

    assert after == {**contents(), "README.md": b"\xff"}
    assert draft.refused == dict.fromkeys(
        [row.key for row in rows], "data/train-*.parquet: README.md is not UTF-8 text"
    )


def test_the_card_counts_the_bytes_of_the_rows() -> None:
    after, _ = edited(CONTENTS, contents(), entry(), entry("a/b", key="other"))

    def counted(files: Files, name: str) -> int:
        found = re.search(rf"{name}: (\d+)", files["README.md"].decode())
        assert found
        return int(found[1])

    def memory(files: Files) -> int:
        return int(pq.ParquetFile(io.BytesIO(files[FILE])).read().combine_chunks().nbytes)

    growth = memory(after) - memory(contents())
    assert counted(after, "num_bytes") - counted(contents(), "num_bytes") == pytest.approx(growth, abs=32)  # null marks
    assert counted(after, "download_size") - counted(contents(), "download_size") == len(after[FILE]) - len(
        contents()[FILE]
    )


def test_a_request_says_what_a_person_has_to_fill() -> None:
    _, draft = edited(SMALL, {"t.parquet": small(more={"Type": ["x", "y"]})}, HALF)

    assert draft.remarks == (f"Left empty in the new row `{MODEL}`, for a person to fill: `Type`.",)
