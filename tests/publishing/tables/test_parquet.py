"""Rows of Parquet tables: schema, metadata, the other rows and the counts of the card are what readers expect."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from bot.publishing.layout import Draft
from tests.publishing.tables.boards import Files, change, edited, entry, layout, refusal
from tests.publishing.tables.contents import CONTENTS, contents
from tests.publishing.tables.readers import load_contents

pytestmark = pytest.mark.usefixtures("datasets", "pandas")

FILE = "data/train-00000-of-00001.parquet"
SMALL: dict[str, Any] = {
    "path": "t.parquet",
    "key": ["Model"],
    "columns": {"Model": "model.id", "BBH": "tasks.bbh.raw", "n": {"value": "tasks.bbh.samples", "missing": "null"}},
}


def table(data: bytes) -> pa.Table:
    return pq.ParquetFile(io.BytesIO(data)).read()


def small(**columns: Any) -> Files:
    out = io.BytesIO()
    frame = {"Model": ["heron", "wren"], "BBH": [0.5, None], "n": [10, None], **columns}
    pq.write_table(pa.table(frame), out, compression="zstd", row_group_size=1)
    return {"t.parquet": out.getvalue()}


def test_a_row_of_contents_is_added_and_datasets_loads_all(tmp_path: Path) -> None:
    old = load_contents(contents(), tmp_path / "old")

    after, draft = edited(CONTENTS, contents(), entry())

    assert draft.refused == {}
    new = load_contents(after, tmp_path / "new")
    assert new[:3] == old
    assert len(new) == 4
    assert new[3]["fullname"] == "example-org/kestrel-7b"
    assert new[3]["GPQA Raw"] == pytest.approx(0.5906040268456376, abs=0)
    assert new[3]["GPQA"] == pytest.approx(45.41387024608501, abs=0)
    assert new[3]["Available on the hub"] is True
    assert new[3]["Hub License"] is None
    assert table(after[FILE]).schema.equals(table(contents()[FILE]).schema, check_metadata=True)


def test_without_the_counts_of_the_card_datasets_would_refuse_to_load(tmp_path: Path) -> None:
    from datasets.exceptions import NonMatchingSplitsSizesError

    after, _ = edited(CONTENTS, contents(), entry())

    with pytest.raises(NonMatchingSplitsSizesError):
        load_contents({**after, "README.md": contents()["README.md"]}, tmp_path)


def test_the_card_keeps_everything_but_four_numbers() -> None:
    after, _ = edited(CONTENTS, contents(), entry())
    old, new = (files["README.md"].decode().splitlines() for files in (contents(), after))

    differing = [(one.split(":")[0].strip(), other) for one, other in zip(old, new, strict=True) if one != other]
    assert [name for name, _ in differing] == ["num_bytes", "num_examples", "download_size", "dataset_size"]
    assert differing[1][1] == "    num_examples: 4"
    growth = len(after[FILE]) - len(contents()[FILE])
    sizes = [int(line.split(":")[1]) for files in (old, new) for line in files if "download_size" in line]
    assert sizes[1] - sizes[0] == growth


@pytest.mark.parametrize("named", ["- config_name: default\n  features: []", "- features: []"])
def test_of_several_configurations_the_one_of_the_files_is_counted(named: str) -> None:
    other = "- config_name: raw\n  splits:\n  - name: train\n    num_examples: 3\n"
    ours = f"{named}\n  splits:\n  - name: test\n    num_examples: 9\n  - name: train\n    num_examples: 3\n"
    card = f"---\ndataset_info:\n{other}{ours}---\n"

    def counted(place: str, text: str) -> tuple[str, Draft]:
        files = {place.replace("*", "train-00000-of-00001"): contents()[FILE], "README.md": text.encode()}
        after, draft = edited({**CONTENTS, "path": place}, files, entry())
        return after["README.md"].decode(), draft

    assert counted("data/*.parquet", card)[0] == card.replace(ours, ours.replace(": 3", ": 4"))
    assert counted("raw/*.parquet", card)[0] == card.replace(other, other.replace(": 3", ": 4"))
    [why] = counted("data/*.parquet", card.replace(ours, ""))[1].refused.values()
    assert "without num_examples for the split 'train'" in why


@pytest.mark.parametrize("info", ["[]", "7", "[7]", "{splits: 7}", "{splits: [7]}", "{splits: [{name: [train]}]}"])
def test_a_card_of_another_shape_counts_nothing_for_the_split(info: str) -> None:
    card = f"---\ndataset_info: {info}\n---\n"

    assert "without num_examples for the split 'train'" in refusal(CONTENTS, {**contents(), "README.md": card.encode()})


def test_a_row_of_contents_is_updated_in_its_place(tmp_path: Path) -> None:
    before, _ = edited(CONTENTS, contents(), entry())
    after, draft = edited(CONTENTS, before, entry(scores={"bbh": 0.25}), on_existing="update")

    assert [cell.column for cell in draft.cells["example-org/kestrel-7b/x"]] == ["BBH Raw", "BBH"]
    new = load_contents(after, tmp_path)
    assert (new[3]["BBH Raw"], new[3]["BBH"]) == (0.25, 25.0)
    assert b"num_examples: 4" in after["README.md"]
    twice, draft = edited(CONTENTS, after, entry(scores={"bbh": 0.25}), on_existing="update")
    assert twice == after


def test_another_revision_of_a_model_is_another_row() -> None:
    other = entry(key="other")
    other = replace(other, model=replace(other.model, revision="b" * 40))
    after, draft = edited(CONTENTS, contents(), entry(), other)

    assert draft.refused == {}
    assert len(table(after[FILE])) == 5


def test_a_row_goes_into_the_shard_that_has_it_or_into_the_last(tmp_path: Path) -> None:
    shards = contents(3)
    paths = [path for path in shards if path.endswith(".parquet")]
    sight = layout(CONTENTS)
    assert sight.folders([change(entry())]) == ("data",)
    assert sight.paths([change(entry())], [*paths, "data/test-00000-of-00001.parquet"]) == (*paths, "README.md")

    after, draft = edited(CONTENTS, shards, entry())
    assert draft.files.keys() == {paths[-1], "README.md"}
    assert len(load_contents(after, tmp_path / "new")) == 4
    again, draft = edited(CONTENTS, after, entry(scores={"bbh": 0.25}), on_existing="update")
    assert draft.files.keys() == {paths[-1], "README.md"}
    first = replace(entry(), model=replace(entry().model, id="acme/heron-1b", revision="a" * 40))
    _, draft = edited(CONTENTS, again, first, on_existing="update")
    assert draft.files.keys() == {paths[0], "README.md"}


def test_shards_that_do_not_say_how_many_they_are_are_refused() -> None:
    named = {
        "data/train-0.parquet": contents()[FILE],
        "data/train-1.parquet": contents()[FILE],
        "README.md": contents()["README.md"],
    }
    missing = {path: data for path, data in contents(3).items() if "00001-of" not in path}

    assert "not numbered like train-00000-of-00002.parquet" in refusal(CONTENTS, named)
    assert "not numbered" in refusal(CONTENTS, missing)


def test_a_card_that_does_not_count_the_rows_is_refused() -> None:
    two, one = contents(2), contents()
    uncounted = two["README.md"].replace(b"    num_examples: 3\n", b"")
    bare = {path: data for path, data in two.items() if path != "README.md"}

    assert "without num_examples for the split 'train'" in refusal(CONTENTS, {**two, "README.md": uncounted})
    assert "without num_examples" in refusal(CONTENTS, {**one, "README.md": uncounted})
    assert "README.md does not say num_examples for 'train'" in refusal(CONTENTS, bare)
    wrong = two["README.md"].replace(b"num_examples: 3", b"num_examples: 7")
    assert "README.md says num_examples 7, and the files have 3 rows" in refusal(CONTENTS, {**two, "README.md": wrong})
    for number in ("'3'", "3.0", "-3", "1_0", "[3]", "9" * 5_000):
        odd = two["README.md"].replace(b"num_examples: 3", f"num_examples: {number}".encode())
        assert "not a plain number" in refusal(CONTENTS, {**two, "README.md": odd})


def test_a_single_file_without_a_card_that_counts_is_edited_alone() -> None:
    import pandas as pd

    after, draft = edited(SMALL, small(), entry(scores={"bbh": 0.25}))

    assert draft.refused == {}
    assert draft.files.keys() == {"t.parquet"}
    frame = pd.read_parquet(io.BytesIO(after["t.parquet"]))
    assert list(frame["Model"]) == ["heron", "wren", "example-org/kestrel-7b"]
    assert list(frame["BBH"].dropna()) == [0.5, 0.25]
    metadata = pq.ParquetFile(io.BytesIO(after["t.parquet"])).metadata
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_a_frame_of_pandas_with_an_index_is_still_one(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "t.parquet"
    pd.DataFrame({"Model": ["heron"], "BBH": [0.5], "n": [10]}, index=["first"]).to_parquet(path)

    after, draft = edited(SMALL, {"t.parquet": path.read_bytes()}, entry(scores={"bbh": 0.25}))
    assert draft.refused == {}
    assert list(pd.read_parquet(io.BytesIO(after["t.parquet"]))["BBH"]) == [0.5, 0.25]


@pytest.mark.parametrize("decimals", [None, 2])
def test_a_number_of_32_bits_is_not_written_again(decimals: int | None) -> None:
    """As forecasts of SalesforceAIResearch/gift-eval, saved by a frame of float32."""
    columns = {"Model": "model.id", "BBH": {"value": "tasks.bbh.raw", "unit": "percent", "decimals": decimals}}
    files = small(BBH=pa.array([71.23, None], pa.float32()))
    rows = [entry("heron", {"bbh": 0.7123}), entry("wren", {"bbh": 0.084574390611}, key="wren")]

    after, draft = edited(SMALL, files, *rows, columns=columns, on_existing="update")
    assert list(draft.cells) == ["wren"]
    assert table(after["t.parquet"])["BBH"].to_pylist()[1] == pytest.approx(8.4574390611, abs=0.005)
    assert edited(SMALL, after, *rows, columns=columns, on_existing="update")[1] == Draft()


def test_a_new_row_goes_into_a_column_of_categories() -> None:
    """As pandas saves `astype("category")`."""
    names = pa.array(["heron", "wren"]).dictionary_encode()
    after, draft = edited(SMALL, small(Model=names), entry(scores={"bbh": 0.25}))
    assert draft.refused == {}
    new = table(after["t.parquet"])
    assert new["Model"].to_pylist() == ["heron", "wren", "example-org/kestrel-7b"]
    assert new.schema.field("Model").type == names.type


def test_a_cell_of_another_type_is_refused() -> None:
    assert "column n is of type int64" in refusal(
        SMALL, small(), columns={**SMALL["columns"], "n": "model.chat_template"}
    )
    assert "holds texts such as 'a 1'" in refusal(SMALL, small(BBH=["a 1", "a 2"]))
    assert "is of type bool" in refusal(SMALL, small(BBH=[True, False]))
    assert "there is no such file" in refusal(SMALL, {})
    assert "it is not a Parquet file" in refusal(SMALL, {"t.parquet": b"PAR1"})
    assert "a pointer of Git LFS" in refusal(SMALL, {"t.parquet": b"version https://git-lfs.github.com/spec/v1\n"})
    assert "not have exactly one column 'BBH'" in refusal(SMALL, {"t.parquet": _without_bbh()})


def test_a_row_that_the_file_cannot_hold_does_not_stop_the_others() -> None:
    """A column of whole percents."""
    columns = {"Model": "model.id", "BBH": {"value": "tasks.bbh.raw", "unit": "percent"}}
    files = small(BBH=pa.array([71, None], pa.int64()))
    rows = [entry("crane", {"bbh": 0.505}), entry("kite", {"bbh": 0.5})]

    after, draft = edited(SMALL, files, *rows, columns=columns)
    assert draft.refused == {"crane/x": "the column BBH is of type int64, but the mapping gives 50.5"}
    assert table(after["t.parquet"])["Model"].to_pylist() == ["heron", "wren", "kite"]


def _without_bbh() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"Model": ["heron"], "n": [1]}), out)
    return out.getvalue()


def test_without_the_extra_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    files = small()
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert "pip install 'leaderboard-bot[tables]'" in refusal(SMALL, files)


def test_an_updated_row_keeps_the_columns_that_no_mapping_can_name() -> None:
    out = io.BytesIO()
    beyond = pa.array([2**52, 1], pa.timestamp("ms"))  # the year 144,683, for which Python has no date
    lists: list[list[Any]] = [["heron", "wren"], [0.5, 0.25], [1, 2], ["a", "b"], ["a", "b"]]
    schema = pa.table([*map(pa.array, lists), beyond], ["Model", "BBH", "n", "note", "note", "seen"])
    pq.write_table(schema, out, row_group_size=1, compression={"Model": "gzip", "BBH": "zstd"}, version="1.0")

    after, draft = edited(SMALL, {"t.parquet": out.getvalue()}, entry("heron", {"bbh": 0.75}), on_existing="update")

    assert draft.refused == {}
    new = table(after["t.parquet"])
    assert [column.to_pylist() for column in new.columns[3:5]] == [["a", "b"], ["a", "b"]]
    assert new.column(5).cast(pa.int64()).to_pylist() == [2**52, 1]
    old, metadata = (pq.ParquetFile(io.BytesIO(data)).metadata for data in (out.getvalue(), after["t.parquet"]))
    codecs = [[each.row_group(0).column(at).compression for at in range(6)] for each in (old, metadata)]
    assert codecs[0] == codecs[1]
