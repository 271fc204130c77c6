"""Edges of opening a text: its bytes and lines, the place of its rows, and an empty list."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from bot.errors import Unwritable
from bot.publishing.tables.json_sheet import JsonSheet, resolve
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.sheet import LARGEST, check_bytes, line_end, lines, rows_at
from bot.publishing.tables.table_layout import open_sheet
from tests.publishing.tables.boards import CSV, JSON, LINES, MARKDOWN, MODEL, YAML, edited, entry, why

MARK = "\ufeff"
SCORE = entry(scores={"bbh": 0.5}, average=50.0)

# ---- bytes and lines ----


def test_a_table_of_the_largest_size_is_read_and_one_byte_more_is_refused() -> None:
    check_bytes(bytes(LARGEST))
    with pytest.raises(Unwritable, match=r"^it has 20,000,001 bytes, and the limit is 20,000,000$"):
        check_bytes(bytes(LARGEST + 1))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a pointer of Git LFS, and not the table itself"),
        (b"Model,BBH\n\xff,1\n", "it is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_text_is_named(data: bytes, reason: str) -> None:
    assert why(CSV, data) == f"t.csv: {reason}"


def test_a_parquet_file_is_no_text() -> None:
    options = TableOptions.model_validate({"kind": "table", **CSV, "path": "t.parquet"})
    with pytest.raises(Unwritable, match=r"^parquet is not a format of text$"):
        open_sheet(b"", options)


@pytest.mark.parametrize(
    ("mapping", "after"),  # the new row is between the braces ⟨ and ⟩
    [
        (CSV, f"Model,BBH\nheron,0.25\n⟨{MODEL},0.5\n⟩"),
        (CSV, f"Model;BBH\nheron;0.25\n⟨{MODEL};0.5\n⟩"),
        (JSON, f'[{{"Model": "heron", "BBH": 0.25}}⟨,{{"Model": "{MODEL}", "BBH": 0.5}}⟩]'),
        (YAML, f"- Model: heron\n  BBH: 0.25\n⟨- Model: {MODEL}\n  BBH: 0.5\n⟩"),
        (MARKDOWN, f"| Model | BBH |\n|---|---|\n| heron | 0.25 |\n⟨| {MODEL} | 0.5 |\n⟩"),
        (LINES, f'{{"model": "heron", "acc": 0.25, "avg": 2}}\n⟨{{"model": "{MODEL}", "acc": 0.5, "avg": 50.0}}\n⟩'),
    ],
)
@pytest.mark.parametrize("mark", ["", MARK])
def test_a_byte_order_mark_stays_where_it_is_and_is_no_part_of_a_name(
    mark: str, mapping: dict[str, Any], after: str
) -> None:
    path, text = mapping["path"], mark + re.sub("⟨.*⟩", "", after, flags=re.DOTALL)
    files, draft = edited(mapping, {path: text.encode()}, SCORE)

    assert draft.refused == {}
    assert files[path].decode() == mark + after.replace("⟨", "").replace("⟩", "")


@pytest.mark.parametrize("path", ["t.json", "t.yml"])
def test_a_keyed_table_has_its_key_as_the_name_of_each_row(path: str) -> None:
    text = '{"heron": {"BBH": 0.25}}' if path == "t.json" else "heron:\n  BBH: 0.25\n"
    files, draft = edited({**CSV, "path": path, "keyed": True}, {path: text.encode()}, SCORE)

    assert draft.refused == {}
    assert yaml.safe_load(files[path]) == {"heron": {"BBH": 0.25}, MODEL: {"BBH": 0.5}}


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    text = "a\r\nb\u2028c\n\rd\x0be"
    assert [text[start:end] for start, end in lines(text)] == ["a", "b\u2028c", "", "d\x0be"]
    assert [list(lines(each)) for each in ("", "\n", "a\n", "a")] == [[], [(0, 0)], [(0, 1)], [(0, 1)]]
    assert [line_end(each) for each in ("a\rb\n", "a\n", "a\r\nb\n", "a")] == ["\r", "\n", "\r\n", "\n"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("t.jsonl", '⟨{"Model": "a/1", "BBH": 0.75}\n{"Model": "a/2", "BBH": 0.5}\n⟩{"Model": "b", "BBH": 0.25}\n'),
        (
            "t.json",
            '[\n ⟨{"Model": "a/1", "BBH": 0.75},\n {"Model": "a/2", "BBH": 0.5},\n ⟩{"Model": "b", "BBH": 0.25}\n]',
        ),
        ("t.yml", "# all\n⟨- Model: a/1\n  BBH: 0.75\n- Model: a/2\n  BBH: 0.5\n⟩- Model: b\n  BBH: 0.25\n"),
    ],
)
def test_better_rows_go_above_the_first_one(path: str, text: str, end: str) -> None:
    after = text.replace("\n", end)
    rows = entry("a/2", {"bbh": 0.5}, key="2"), entry("a/1", {"bbh": 0.75}, key="1")
    before = re.sub("⟨.*⟩", "", after, flags=re.DOTALL)

    files, draft = edited({**CSV, "path": path, "sorted_by": "BBH"}, {path: before.encode()}, *rows)

    assert draft.refused == {}
    assert files[path].decode() == after.replace("⟨", "").replace("⟩", "")


# ---- places ----


@pytest.mark.parametrize(
    ("place", "names", "found"),
    [
        ("", (), {"a/b": {"~1": [5]}, "c": [{"n": "x y", "r": 6}, {"n": "z", "r": 7}]}),
        ('"a/b".~1', ("a/b", "~1"), [5]),
        ("c[n=z].r", ("c", 1, "r"), 7),
        ("c[n=x y]", ("c", 0), {"n": "x y", "r": 6}),
        ("c.0.r", ("c", 0, "r"), 6),
        ("/c[0].r", ("c", 0, "r"), 6),
    ],
)
def test_a_place_leads_to_one_value(place: str, names: tuple[str | int, ...], found: Any) -> None:
    text = json.dumps({"a/b": {"~1": [5]}, "c": [{"n": "x y", "r": 6}, {"n": "z", "r": 7}]})
    value, column_path = resolve(text, place)
    assert (column_path, json.loads(text[value.start : value.end])) == (names, found)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("c[n]", "'c[n]' is no place: write a dot between two keys, and [*] or [name=text] after a list"),
        ("c[*]", "'c[*]' names several places: write keys, and [name=Verified] after a list"),
        ("/c/[n=x]/r", "'/c/[n=x]/r' is a JSON pointer: write the place c[n=x].r"),
        ("d", "'d' names nothing in the file, and not one list of rows"),
        ("c[n=q]", "'c[n=q]' names nothing in the file, and not one list of rows"),
        ("c[n=x]", "'c[n=x]' names 2 in the file, and not one list of rows"),
    ],
)
def test_a_place_that_does_not_lead_to_one_value_is_named(place: str, reason: str) -> None:
    with pytest.raises(Unwritable, match=f"^{re.escape(reason)}$"):
        resolve('{"c": [{"n": "x"}, {"n": "x"}]}', place)


def test_the_rows_of_an_object_have_their_names_and_their_cells() -> None:
    assert rows_at({"a": [{"b": {"c": 1}}]}, ("a", 0)) == [("b", {"c": 1})]
    assert rows_at({"a": [1, 2]}, ("a",)) == [1, 2]
    with pytest.raises(Unwritable, match=r"^the format's usual reader does not see rows there$"):
        rows_at({"a": 1}, ("a", "b"))


def test_an_empty_list_takes_no_first_row() -> None:
    with pytest.raises(Unwritable, match=r"^it has no row whose layout could be copied: write the first row by hand$"):
        JsonSheet("[]").insert(0, [{("m",): "x"}])
