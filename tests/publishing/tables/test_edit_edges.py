"""Edges of one edit: the place of new rows, rows that may be the same, and what a request shows of the cells."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from bot.publishing.layout import CellChange
from bot.publishing.tables.cells import Number, WantedRow
from bot.publishing.tables.csv_sheet import CsvSheet
from bot.publishing.tables.edit import Planner
from bot.publishing.tables.fit import is_shown, number_in
from tests.publishing.tables.boards import CSV, JSON, MARKDOWN, edited, entry, refusal

SORTED: dict[str, Any] = {
    **CSV,
    "columns": {"Model": "model.id", "Avg": {"value": "average", "missing": "null"}},
    "sorted_by": "Avg",
}
TWO: dict[str, Any] = {**CSV, "columns": {"Model": "model.id", "Precision": "model.precision", "BBH": "tasks.bbh.raw"}}
TWO["key"] = ["Model", "Precision"]


def order(there: str, *new: float | None, **settings: Any) -> str:
    """The numbers of a table after rows with these averages went in; a new one has a star."""
    cells = there.split()
    text = "".join(["Model,Avg\n", *(f"m{at},{cell.strip('-')}\n" for at, cell in enumerate(cells))])
    rows = [entry(f"new{at}", average=number, key=f"new{at}") for at, number in enumerate(new)]
    after, draft = edited(SORTED | settings, {"t.csv": text.encode()}, *rows)
    assert draft.refused == {}
    lines = [line.split(",") for line in after["t.csv"].decode().splitlines()[1:]]
    return " ".join((cell or "-") + "*" * name.startswith("new") for name, cell in lines)


@pytest.mark.parametrize(
    ("there", "new", "after"),
    [
        ("9 5 5 2", [5.0], "9 5 5 5.0* 2"),  # behind its equals
        ("9 5 2", [1.5, 9.5], "9.5* 9 5 2 1.5*"),
        ("2 5 5 9", [5.0], "2 5 5 5.0* 9"),
        ("2 5 9", [9.5, 1.5], "1.5* 2 5 9 9.5*"),
        ("5", [9.0, 1.0], "9.0* 5 1.0*"),  # one row falls
        ("5 5", [9.0, 1.0], "9.0* 5 5 1.0*"),
        ("", [1.5, 9.5], "9.5* 1.5*"),
        ("9 1", [2.0, 3.0, 2.5], "9 3.0* 2.5* 2.0* 1"),  # several at one position
        ("1 9", [3.0, 2.0, 2.5], "1 2.0* 2.5* 3.0* 9"),
        ("9 5", [0.0, 0.5], "9 5 0.5* 0.0*"),
        ("1 9 5", [7.0, 2.0, 8.0], "1 9 5 7.0* 2.0* 8.0*"),  # not sorted: at the end, as they come
        ("9 5 - -", [7.0, 2.0], "9 7.0* 5 2.0* - -"),  # rows without a number come last
        ("5 9 -", [7.0, 10.0], "5 7.0* 9 10.0* -"),
        ("9 - 5", [7.0], "9 - 5 7.0*"),
    ],
)
def test_a_new_row_goes_where_the_order_of_the_table_has_it(there: str, new: list[float], after: str) -> None:
    assert order(there, *new) == after


@pytest.mark.parametrize(
    ("there", "new", "after"),
    [
        ("9 5", [None, 7.0], "9 7.0* 5 -*"),
        ("9 5 -", [None, 7.0], "9 7.0* 5 - -*"),
        ("9 5", [None, -1.0, 2.0], "9 5 2.0* -1.0* -*"),
        ("5 9", [None, 10.0, 9.5], "5 9 9.5* 10.0* -*"),
    ],
)
def test_a_new_row_without_a_number_goes_behind_all_others(there: str, new: list[float | None], after: str) -> None:
    assert order(there, *new) == after


def test_without_an_order_in_the_settings_new_rows_go_to_the_end_as_they_come() -> None:
    assert order("9 1", 5.0, 7.0, 3.0, sorted_by=None) == "9 1 5.0* 7.0* 3.0*"


# ---- rows that may be the same ----


def test_a_key_of_several_columns_is_named_whole() -> None:
    def why(text: str, model: str = "a/b") -> str:
        return refusal(TWO, {"t.csv": f"Model,Precision,BBH\n{text}".encode()}, entry(model))

    assert (
        why("a/b,bfloat16,0.5\n" * 2)
        == "2 rows have the key 'a/b bfloat16', so none of them is edited: add a column to key that distinguishes them"
    )
    assert why("A/b,BFloat16,0.5\n") == (
        "a row has the key 'A/b BFloat16', which may be the same row; a person has to decide"
    )
    assert why("a/b,bfloat16,0.5\n").startswith(
        "'a/b bfloat16' has other values, and on_existing is \"refuse\": BBH is 0.5,"
    )


@pytest.mark.parametrize("name", ["a / b", " a/b ", "A/B"])
def test_white_space_and_capitals_make_no_other_row(name: str) -> None:
    text = f"Model,BBH\n{name},0.5\n"
    assert "which may be the same row" in refusal(CSV, {"t.csv": text.encode()}, entry("a/b"))
    assert "which may be the same row" in refusal(CSV, {"t.csv": text.replace(name, "a/b").encode()}, entry(name))


@pytest.mark.parametrize("names", [("a/b", "A/B"), ("A/B", "a/b"), ("a/b ", "A/B", "a/b")])
def test_beside_a_near_twin_the_row_with_the_very_key_is_edited(names: tuple[str, ...]) -> None:
    text = "".join(f"{name},0.25\n" for name in names)
    after, draft = edited(CSV | {"on_existing": "update"}, {"t.csv": f"Model,BBH\n{text}".encode()}, entry("a/b"))

    assert draft.refused == {}
    cells = dict(line.split(",") for line in after["t.csv"].decode().splitlines()[1:])
    assert [name for name, cell in cells.items() if cell != "0.25"] == ["a/b"]


def test_of_two_new_rows_with_one_key_the_first_is_written() -> None:
    rows = [entry("a/b", key="one"), entry("a/b", key="other"), entry("a/c", key="third")]
    after, draft = edited(CSV, {"t.csv": b"Model,BBH\nheron,0.5\n"}, *rows)

    assert draft.refused == {"other": "one has the same key columns: add a column to key that distinguishes them"}
    assert [line.split(b",")[0] for line in after["t.csv"].splitlines()] == [b"Model", b"heron", b"a/b", b"a/c"]


@pytest.mark.parametrize("twin", ["A/B", "a/ b"])
def test_of_two_new_rows_whose_keys_differ_by_capitals_or_white_space_the_first_is_written(twin: str) -> None:
    rows = [entry("a/b", key="one"), entry(twin, key="other")]
    after, draft = edited(CSV, {"t.csv": b"Model,BBH\nheron,0.5\n"}, *rows)

    assert draft.refused.keys() == {"other"}
    assert [line.split(b",")[0] for line in after["t.csv"].splitlines()] == [b"Model", b"heron", b"a/b"]


# ---- what a request shows ----


def test_a_row_that_already_says_it_is_not_shown_beside_a_new_one() -> None:
    there = {"t.csv": b"Model,BBH\na/b,0.50\n"}
    _, draft = edited(CSV, there, entry("a/b", {"bbh": 0.5}, key="old"), entry("a/c", {"bbh": 0.5}, key="new"))

    assert draft.cells.keys() == {"new"}


def test_a_nested_cell_is_shown_by_its_way_and_one_that_is_left_out_is_not() -> None:
    columns = {
        "Model": "model.id",
        "BBH": {"name": ["run", "BBH"], "value": "tasks.bbh.raw"},
        "GPQA": {"name": ["run", "GPQA"], "value": "tasks.gpqa.raw", "missing": "omit"},
        "checked": {"default": False},
    }
    there = json.dumps([{"Model": "a/b", "run": {"BBH": 0.25, "GPQA": 0.5}, "checked": True}])
    rows = entry("a/b", {"bbh": 0.5, "gpqa": 0.5}, key="old"), entry("a/c", {"bbh": 0.75, "gpqa": None}, key="new")

    _, draft = edited(JSON, {"t.json": there.encode()}, *rows, columns=columns, on_existing="update")

    assert draft.refused == {}
    assert draft.cells["old"] == (CellChange("run.BBH", "0.25", "0.5"),)
    assert sorted(draft.cells["new"], key=lambda cell: cell.column) == [
        CellChange("Model", None, "a/c"),
        CellChange("checked", None, "false"),
        CellChange("run.BBH", None, "0.75"),
    ]


def test_a_cell_that_a_row_of_markdown_lacks_is_not_added() -> None:
    table = "| Model | BBH |\n|---|---|\n| a/b |\n| a | 0.5 |\n"
    assert refusal(MARKDOWN, {"t.md": table.encode()}, entry("a/b"), on_existing="update") == (
        "the row has no cell for BBH"
    )


def test_a_line_of_emphasised_text_gets_no_second_row_of_its_name() -> None:
    """It may be a line between rows, or a row whose numbers are to come."""
    text = "| Model | BBH |\n| --- | --- |\n| **a/b** | |\n| heron | 0.5 |\n"
    assert "which may be the same row" in refusal(MARKDOWN, {"t.md": text.encode()}, entry("a/b"))


@pytest.mark.parametrize("decimals", [None, 0, 1, 2])
@pytest.mark.parametrize(
    "cells", ["5 5.5 6 5.50 -", "0.12 0.1 0.123 1", "1e20 99 0 100000000000000000001", "7 7.0 6.96"]
)
def test_the_rows_that_show_a_number_are_all_that_any_comparison_finds(cells: str, decimals: int | None) -> None:
    table = CsvSheet("Model,A\n" + "".join(f"m{at},{cell}\n" for at, cell in enumerate(cells.split())), ",")
    planner = Planner(table, None, may_update=True)
    numbers = [one for at in range(len(table)) if (one := number_in(table.cell(at, ("A",)))) is not None]
    near = [one + one * step for one in numbers for step in map(Decimal, ("0", "1e-13", "-1e-8", "0.009", "-0.0101"))]
    for exact in [*near, *(one + step for one in numbers for step in map(Decimal, ("0.5", "-0.05", "0.49")))]:
        number = Number(exact, decimals, exact)
        row = WantedRow("new", {("Model",): "new"}, {("A",): exact}, numbers={("A",): number}, names=[("Model",)])
        planner.look(row)
        zeros = planner.columns["A",].keeps_zeros
        shown = [at for at, one in enumerate(planner.shown(("A",))) if one is not None]
        every = [at for at in shown if is_shown(numbers[shown.index(at)], number, keeps_zeros=zeros)]
        assert planner.rows_with(row, row.numbers) == every
