"""Edges of JSON and JSONL: the row that is copied, white space of any kind, letters beyond ASCII, nested cells."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath
from bot.publishing.tables.json_sheet import JsonLinesSheet, JsonSheet
from bot.publishing.tables.sheet import spliced
from tests.publishing.tables.boards import JSON, edited, entry, why

NESTED = {"columns": {"Model": "model.id", "BBH": {"name": ["run", "BBH"], "value": "tasks.bbh.raw"}}}
DEEP = {"columns": {"Model": "model.id", "BBH": {"name": ["run", "deep", "BBH"], "value": "tasks.bbh.raw"}}}
ROW: Mapping[ColumnPath, Cell] = {("m",): "x", ("n",): Decimal("1.50")}


def inserted(text: str, before: int, *rows: Mapping[ColumnPath, Cell], key: str | None = None) -> str:
    """The text with new rows before a row."""
    return spliced(text, JsonSheet(text, key=key).insert(before, rows or [ROW]))


def lines_inserted(text: str, before: int) -> str:
    return spliced(text, JsonLinesSheet(text).insert(before, [ROW]))


# ---- the row that is copied ----

SHAPES = ('{"m":"a","n":1}', '{"n": 2, "m": "b"}', '{ "m" : "c", "n" : 3 }')
COPIES = ('{"m":"x","n":1.5}', '{"n": 1.5, "m": "x"}', '{ "m" : "x", "n" : 1.5 }')


@pytest.mark.parametrize(("before", "shape"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_a_new_row_has_the_shape_of_the_row_before_it(before: int, shape: int) -> None:
    rows = [*SHAPES[:before], COPIES[shape], *SHAPES[before:]]
    assert inserted(f"[{', '.join(SHAPES)}]", before) == f"[{', '.join(rows)}]"


def test_the_nearest_row_with_all_keys_is_copied_before_one_that_lacks_some() -> None:
    rows = '{"n":1, "m":"a"}, {"m": "b"}, {"m": "c"}'
    assert inserted(f"[{rows}]", 3) == f'[{rows}, {{"n":1.5, "m":"x"}}]'


def test_where_no_row_has_all_keys_the_row_before_is_copied_and_the_others_are_added() -> None:
    rows = '{"n":1}, { "m": "b" }'
    assert inserted(f"[{rows}]", 2) == f'[{rows}, {{ "m": "x", "n": 1.5 }}]'


def test_what_no_cell_says_is_null_or_an_empty_list() -> None:
    row = '{"m": "a", "tags": ["x"], "n": 2, "run": {"k": 1}, "ok": true, "more": []}'
    copy = '{"m": "x", "tags": [], "n": 1.5, "run": null, "ok": null, "more": []}'
    assert inserted(f"[{row}]", 1) == f"[{row},{copy}]"


@pytest.mark.parametrize(
    "text",
    [
        '[\n  {"m": "a", "n": 1}@\n]',  # one row
        '[\n{"m": "a", "n": 1},\n\n{"m": "a", "n": 1}@]',  # two, with a blank line between
        '[{"m": "a", "n": 1} , {"m": "a", "n": 1} , {"m": "a", "n": 1}@]',
    ],
)
def test_between_rows_stands_what_stood_between_them_before(text: str) -> None:
    gap = {1: ",\n  ", 2: ",\n\n", 3: " , "}[text.count("m")]
    new = gap + '{"m": "x", "n": 1.5}'
    assert inserted(text.replace("@", ""), text.count("m")) == text.replace("@", new)


@pytest.mark.parametrize(
    ("row", "copy"),
    [
        ('{ "m":"a","n":1 }', '{ "m":"x","n":1.5 }'),
        ('{\n "m" :"a"\n}', '{\n "m" :"x",\n "n" :1.5\n}'),
        ('{"m":"}" }', '{"m":"x", "n":1.5 }'),
        ('{"n": 1, "m": "a}" }', '{"n": 1.5, "m": "x" }'),
        ('{"n": {"k": {}}, "m": {"k": 1}\n}', '{"n": 1.5, "m": "x"\n}'),
    ],
)
def test_a_copy_has_the_white_space_of_its_row(row: str, copy: str) -> None:
    assert inserted(f"[{row}]", 1) == f"[{row},{copy}]"


def test_a_row_without_a_shape_to_copy_is_refused() -> None:
    assert why(JSON, '[{"Model": "a"}, {"BBH": 1}, {}]') == (
        "the neighbouring row is empty, so there is no layout to copy"
    )
    for run in ('{"n": 1}', '{"n": 1, "deep": 2}', '{"n": 1, "deep": [3]}'):
        rows = f'[{{"run": {{"deep": {{"BBH": 1}}}}}}, {{"Model": "a", "run": {run}}}]'
        assert why(JSON | DEEP, rows) == "the neighbouring row has no run.deep whose layout could be copied"


# ---- objects of rows ----


def test_the_members_of_an_object_are_rows_with_a_name() -> None:
    cells = {("k",): "β", **ROW}
    copy = '"\\u03b2" : {"n": 1.5, "m": "x"}'
    assert inserted('{"a" : {"n": 1, "m": 2}}', 1, cells, key="k") == '{"a" : {"n": 1, "m": 2},' + copy + "}"


def test_what_is_no_object_of_rows_is_refused() -> None:
    with pytest.raises(Unwritable, match=r"^the top is not an object with one member for each row$"):
        len(JsonSheet("[]", key="k"))
    with pytest.raises(Unwritable, match=r"^the rows have a key 'k' too; choose another name for the key column$"):
        list(JsonSheet('{"a": {"n": 1}, "b": {"k": 1}}', key="k").column_paths)
    assert why(JSON, "[" * 100_000) == "t.json: it is nested too deeply"


# ---- cells ----


def test_letters_beyond_ascii_are_written_as_the_file_writes_them() -> None:
    for there, name in (("a", '"\\u03b2"'), ("é", '"β"')):
        after, _ = edited(JSON, {"t.json": f'[{{"Model": "{there}", "BBH": 1}}]'.encode()}, entry("β", {"bbh": 0.5}))
        assert after["t.json"].decode().endswith(f',{{"Model": {name}, "BBH": 0.5}}]')


@pytest.mark.parametrize("run", ["5", "[]", '"x"', "null"])
def test_a_cell_inside_of_what_is_no_object_is_not_written(run: str) -> None:
    text = f'[{{"Model": "a/b", "run": {run}}}, {{"run": {{"BBH": 1}}}}]'
    assert why(JSON | NESTED, text, entry("a/b"), on_existing="update") == "run.BBH is not a plain value in this row"


def test_a_cell_that_is_there_is_not_left_out_again() -> None:
    columns = {"Model": "model.id", "BBH": {"value": "tasks.bbh.raw", "missing": "omit"}}
    text, gap = '[{"Model": "a/b", "BBH": 0.5}]', entry("a/b", {"bbh": None})
    reason = why(JSON, text, gap, columns=columns, on_existing="update")
    assert reason == "a cell that is there cannot be left out again"


def test_a_list_or_an_object_is_read_as_its_text() -> None:
    sheet = JsonSheet('[{"tags": ["x", 1.50], "run": {"n": null}, "n": 1.50, "ok": true, "no": null}]')
    cells = {column_path: sheet.cell(0, column_path) for column_path in [*sheet.column_paths, ("absent",), ("n", "n")]}
    assert cells == {
        ("tags",): '["x", "1.50"]',
        ("run",): '{"n": null}',
        ("run", "n"): None,
        ("n",): Decimal("1.50"),
        ("ok",): True,
        ("no",): None,
        ("absent",): ABSENT,
        ("n", "n"): ABSENT,
    }


# ---- lines ----


def test_blank_lines_between_objects_are_no_rows() -> None:
    text = '\n{"m": "a", "n": 1}\n\n \t\n{"m": "b", "n": 2}\n\n'
    assert [JsonLinesSheet(text).cell(row, ("m",)) for row in range(len(JsonLinesSheet(text)))] == ["a", "b"]
    assert lines_inserted(text, 2) == text[:-1].rstrip() + '\n{"m": "x", "n": 1.5}\n\n'


def test_a_line_may_begin_and_end_with_white_space() -> None:
    text = '{"m": "a", "n": 1}\r\n  {"n": 2, "m": "b"}\t\r\n'
    assert lines_inserted(text, 2) == '{"m": "a", "n": 1}\r\n  {"n": 2, "m": "b"}\r\n{"n": 1.5, "m": "x"}\t\r\n'
    assert spliced(text, JsonLinesSheet(text).update(1, {("m",): "x"})) == text.replace('"b"', '"x"')
