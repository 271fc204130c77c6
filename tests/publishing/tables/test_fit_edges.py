"""Edges of the check that a cell looks like its column: numbers in texts, kinds, shapes and units."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell
from bot.publishing.tables.csv_sheet import CsvSheet
from bot.publishing.tables.fit import FilledColumn, check_columns, is_same_cell, number_in, without_spread
from tests.publishing.tables.boards import CSV, JSON, MARKDOWN, YAML, edited, entry, why


def column(*cells: str) -> FilledColumn:
    """The column of a CSV file with these cells, one in each row."""
    return FilledColumn(CsvSheet("".join(["n,end\n", *(f'"{cell}",x\n' for cell in cells)])), ("n",))


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("97", "97"),
        ("**97.0 %**", "97.0"),
        ("`97.5`", "97.5"),
        ("-3±1", "-3"),
        ("+3 (4)", "+3"),
        ("3.5%", "3.5"),
        ("7b", None),
        (".5", None),
        ("v 3", None),
        ("", None),
        (True, None),
        (None, None),
        (ABSENT, None),
    ],
)
def test_the_number_that_a_cell_shows(cell: Cell, number: str | None) -> None:
    assert number_in(cell) == (None if number is None else Decimal(number))


@pytest.mark.parametrize(
    ("cell", "alone"),
    [
        ("0.482 ±0.024", "0.482"),
        ("48.2 (±1.2)", "48.2"),
        ("48.2% ± 1.2%", "48.2%"),
        ("**48.2 [46.0, 50.3]**", "**48.2**"),
        ("48.2 (46.0–50.3)", "48.2"),
        ("48.2 +/- 1.2", "48.2"),
        ("48.2 (5)", "48.2 (5)"),
        ("48.2 / 50.3", "48.2 / 50.3"),
        ("485/500 (97.00%)", "485/500 (97.00%)"),
        ("± 1.2", "± 1.2"),
    ],
)
def test_how_far_a_number_may_be_off_is_told_from_a_second_number(cell: str, alone: str) -> None:
    assert without_spread(cell) == alone


def test_cells_of_spaces_are_read_at_once() -> None:
    """Strangers write tables; fifty cells took half a minute with a pattern that begins anew at each space."""
    for cell in (f"1{' ' * count}" for count in range(400, 450)):
        assert without_spread(cell) == cell


# ---- columns ----


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    names = ["b" * 41, *(f"c{at:02}" for at in range(31))]
    with pytest.raises(Unwritable) as raised:
        check_columns(CsvSheet(",".join(names) + "\n"), [("c00",), ("run", "BBH")])
    names_there = ", ".join(["b" * 40 + "…", *names[1:30]])
    there = f"{names_there}; write one of these in `columns` of the table, or give the table this column"
    said = f"the table does not have exactly one column 'run.BBH'; its columns are {there}"
    assert str(raised.value) == said


def test_a_header_without_rows_is_a_table_without_the_column() -> None:
    assert "does not have exactly one column 'BBH'; its columns are MMLU, Model" in why(CSV, "Model,MMLU\n")


# ---- kinds ----


@pytest.mark.parametrize("cells", [("n/a", "n/a"), ("", ""), ("1", "n/a"), ("**1.5**", "2")])
def test_a_number_goes_into_a_column_that_has_some_or_only_one_word_for_a_gap(cells: tuple[str, ...]) -> None:
    column(*cells).check(Decimal("0.5"), "proportion")


@pytest.mark.parametrize("cells", [("yes", "no"), ("12 %", "13 %"), ("12 %", "n/a"), ("x" * 41, "y")])
def test_a_number_does_not_go_into_a_column_of_texts(cells: tuple[str, ...]) -> None:
    first = cells[0] if len(cells[0]) <= 40 else "x" * 40 + "…"
    said = f"^the column n holds texts such as '{first}', but the mapping gives a number$"
    with pytest.raises(Unwritable, match=said):
        column(*cells).check(Decimal("0.5"), None)


def test_a_text_does_not_go_into_a_nested_column_of_numbers() -> None:
    columns = {"Model": "model.id", "BBH": {"name": ["run", "BBH"], "template": "{model.name} {model.id}"}}
    for gap in ("null", '""'):  # an empty cell says nothing about its column, and no more does a row without the key
        rows = f'[{{"Model": "a", "run": {{"BBH": 0.5}}}}, {{"Model": "b", "run": {{}}}}, {{"run": {{"BBH": {gap}}}}}]'
        reason = why(JSON, rows, entry("acme/" + "x" * 30), columns=columns)
        assert reason == f"the column run.BBH holds numbers, but the mapping gives the text '{'x' * 30} acme/xxxx…'"


# ---- shapes ----

PERCENT = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1}


def test_a_text_with_a_unit_looks_like_the_others() -> None:
    filled = column("12.5 %", "**70 %**", "")
    filled.check("33.6 %", "percent")
    filled.check("about the same", None)
    with pytest.raises(Unwritable, match=r"^the cells of n look like '12\.5 %', not like '33\.6%'$"):
        filled.check("33.6%", "percent")
    with pytest.raises(Unwritable, match=f"not like '{'1' * 40}…'"):
        filled.check("1" * 41, "percent")


@pytest.mark.parametrize("missing", ["null", ""])
def test_a_gap_goes_into_a_column_that_looks_alike(missing: str) -> None:
    gap = entry("a/b", {"bbh": None})
    for mapping, text, cell in (
        (CSV, "Model,BBH\na,12.5 %\n", {**PERCENT, "template": "{value} %"}),
        (JSON, '[{"Model": "a", "BBH": 12.5}]', PERCENT),
    ):
        columns = {"Model": "model.id", "BBH": {**cell, "missing": missing}}
        assert edited(mapping, {mapping["path"]: text.encode()}, gap, columns=columns)[1].refused == {}


@pytest.mark.parametrize(
    ("mapping", "text", "template"),
    [
        (CSV, "Model,BBH\na,97.0 %\nb,40.5 %\n", "{value} %"),
        (CSV, "Model,BBH\na,0.5\nb,0.25\nc,0.75\n", "{value}"),
        (MARKDOWN, "| Model | BBH |\n|---|---|\n| a | **97.0 %** |\n| b | 40.5 % |\n", "{value} %"),
        (YAML, "- Model: a\n  BBH: 97.0 %\n", "{value} %"),
    ],
)
def test_the_first_gap_of_a_column_is_written_as_the_settings_say(
    mapping: dict[str, Any], text: str, template: str
) -> None:
    columns = {"Model": "model.id", "BBH": {**PERCENT, "template": template, "missing": "–"}}
    gap = entry("a/b", {"bbh": None})

    after, draft = edited(mapping, {mapping["path"]: text.encode()}, gap, columns=columns)

    assert draft.refused == {}
    assert "–" in after[mapping["path"]].decode().splitlines()[-1]
    assert "holds numbers" in why(JSON, '[{"Model": "a", "BBH": 0.5}]', gap, columns=columns)


# ---- units ----


@pytest.mark.parametrize(
    ("cells", "ours", "unit", "reason"),
    [
        (
            "0.2 0.4 1",
            "1.5",
            "percent",
            'no value of n is above 1, but the mapping gives 1.5: write unit = "proportion"',
        ),
        (
            "1.5 20 40",
            "0",
            "proportion",
            'every value of n is above 1, but the mapping gives 0: write unit = "percent"',
        ),
        (
            "1.5 20 40",
            "1",
            "proportion",
            'every value of n is above 1, but the mapping gives 1: write unit = "percent"',
        ),
    ],
)
def test_a_unit_is_refused_that_the_numbers_of_the_column_speak_against(
    cells: str, ours: str, unit: str, reason: str
) -> None:
    with pytest.raises(Unwritable, match=re.escape(reason)):
        column(*cells.split()).check(Decimal(ours), unit)


@pytest.mark.parametrize(
    ("cells", "ours", "unit"),
    [
        ("0.2 0.4 1", "1", "percent"),
        ("0.2 0.4 1.5", "1.5", "percent"),
        ("0.2 0.4", "1.5", "percent"),  # two values show nothing
        ("0.2 0.4 n/a", "1.5", "percent"),
        ("1.5 20 40", "1.5", "proportion"),
        ("1.5 20 40", "-0.5", "proportion"),
        ("1 20 40", "0.5", "proportion"),
    ],
)
def test_a_unit_is_taken_that_the_numbers_of_the_column_may_have(cells: str, ours: str, unit: str) -> None:
    column(*cells.split()).check(Decimal(ours), unit)


# ---- the same cell ----


@pytest.mark.parametrize(
    ("there", "wanted", "same"),
    [
        ("**0.50**", Decimal("0.5"), True),
        ("0.5 %", Decimal("0.5"), False),
        (Decimal("1.50"), Decimal("1.5"), True),
        (True, Decimal(1), False),
        (None, Decimal(0), False),
        (ABSENT, Decimal(0), False),
        ("**x**", "x", True),
        (" x", "x", True),
        ("x", "y", False),
        (Decimal("1.5"), "1.5", True),
        (Decimal("1.5"), "1.6", False),
        (Decimal("1.5"), None, False),
        (None, "", False),
        (ABSENT, "", False),
        ("", None, False),
        (None, None, True),
        (True, True, True),
        (True, False, False),
    ],
)
def test_a_cell_that_has_the_value_is_not_written_again(there: Cell, wanted: Cell, same: bool) -> None:
    assert is_same_cell(there, wanted, there if isinstance(there, str) else "") is same
