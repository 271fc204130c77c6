"""Edges of one cell: gaps, keys, units, roundings and lengths, each as the row that the mapping makes."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import Unwritable
from bot.publishing.entry import Entry
from bot.publishing.tables.cells import ABSENT, Cell, WantedRow, as_text, wanted_row
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.values import RowView
from tests.evaluation.judging import declared
from tests.publishing.tables.boards import entry


def wanted(columns: dict[str, Any], row: Entry | None = None, written: str = "csv", key: str = "Model") -> WantedRow:
    settings = {"path": "t", "format": written, "key": [key], "columns": {"Model": "model.id", **columns}}
    return wanted_row("x", RowView(row or entry(), declared()), TableOptions.model_validate(settings))


def cell(column: Any, row: Entry | None = None, written: str = "csv") -> Cell:
    return wanted({"A": column}, row, written).cells[("A",)]


def named(text: str) -> Entry:
    row = entry()
    return replace(row, model=replace(row.model, id=text))


# ---- gaps and keys ----


@pytest.mark.parametrize(("written", "empty"), [("csv", ""), ("markdown", ""), ("json", None), ("yaml", None)])
def test_a_null_is_an_empty_cell_where_the_format_has_only_texts(written: str, empty: str | None) -> None:
    gap = entry(average=None)
    assert cell({"value": "average", "missing": "null"}, gap, written) == empty
    assert cell({"value": "average", "missing": "N/A"}, gap, written) == "N/A"


def test_a_gap_that_is_omitted_is_no_cell_at_all() -> None:
    assert cell({"value": "average", "missing": "omit"}, entry(average=None), "json") is ABSENT


def test_the_mean_of_raw_values_is_taken_of_all_tasks_in_one_unit_and_direction() -> None:
    raw = {"ifeval": 0.1, "bbh": 0.2, "math": 0.3, "gpqa": 0.4, "musr": 0.5, "mmlu_pro": 0.7}
    column = {"value": "average_raw", "unit": "percent", "decimals": 2}
    assert cell(column, entry(scores=raw), "json") == Decimal("36.67")
    assert cell("average_raw", entry(scores=raw), "json") == Decimal("0.36666666666666664")  # as a double is written
    assert cell({**column, "missing": "null"}, entry(scores={**raw, "bbh": None}), "json") is None
    rates = declared().model_copy(deep=True)
    less = rates.tasks[0].model_copy(update={"higher_is_better": False})
    mixed = rates.model_copy(update={"tasks": (less, *rates.tasks[1:])})
    with pytest.raises(Unwritable, match="average_raw needs tasks of one unit"):
        RowView(entry(), mixed).mean()


def test_a_share_is_written_with_its_counts() -> None:
    column: dict[str, Any] = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1, "of": 400}
    column["template"] = "{right}/{of} ({value}%)"
    assert cell(column, entry(scores={"bbh": 0.9825})) == "393/400 (98.3%)"
    assert cell({**column, "missing": "-"}, entry(scores={"bbh": None})) == "-"
    with pytest.raises(Unwritable, match=re.escape("98.13 is no share that makes a whole number of 400")):
        cell(column, entry(scores={"bbh": 0.9813}))


@pytest.mark.parametrize(
    "column", ["evidence.url", {"template": "at {evidence.url}"}, {"value": "evidence.url", "template": "{value}"}]
)
def test_an_empty_text_is_a_gap(column: Any) -> None:
    with pytest.raises(
        Unwritable, match=re.escape("it has no value for A (evidence.url); measure it, or give the column a `missing`")
    ):
        cell(column, entry(evidence=()))


@pytest.mark.parametrize(
    ("written", "missing"),
    [("csv", "null"), ("markdown", "null"), ("json", "null"), ("yaml", "null"), ("json", "omit")],
)
def test_a_gap_in_a_key_column_is_refused(written: str, missing: str) -> None:
    column = {"value": "evidence.url", "missing": missing}
    with pytest.raises(Unwritable, match=r"^the row has no Link, which the table needs to tell rows apart$"):
        wanted({"Link": column}, entry(evidence=()), written, "Link")


def test_a_key_is_the_text_of_its_cell() -> None:
    assert wanted({"Chat": "model.chat_template"}, key="Chat").key == {("Chat",): "false"}
    assert wanted({"BBH": "tasks.bbh.raw"}, entry(scores={"bbh": 0.5}), key="BBH").key == {("BBH",): "0.5"}


# ---- numbers ----


def test_a_number_with_a_unit_says_which() -> None:
    row = entry(scores={"gpqa": None})
    columns = {
        "BBH": {"value": "tasks.bbh.raw", "unit": "percent"},
        "IFEval": "tasks.ifeval.raw",
        "GPQA": {"value": "tasks.gpqa.raw", "missing": "null"},
        "MUSR": {"value": "tasks.gpqa.raw", "missing": "omit"},
        "MATH": {"value": "tasks.gpqa.raw", "missing": "–"},
        "MMLU": {"value": "tasks.gpqa.raw", "missing": ""},
        "n": "tasks.bbh.samples",
        "Average": "average",
    }
    units = {("BBH",): "percent", ("IFEval",): "proportion", ("Average",): "percent"}
    assert wanted(columns, row, "json").units == units
    assert wanted({"GPQA": columns["GPQA"]}, row, "csv").units == {}


def test_a_number_is_in_the_unit_of_its_column() -> None:
    row = entry(scores={"bbh": 0.46659})  # the score is a hundred times the raw value
    assert str(cell({"value": "tasks.bbh.raw", "unit": "percent"}, row)) == "46.659"
    assert str(cell({"value": "tasks.bbh.score", "unit": "proportion"}, row)) == "0.46659"
    assert str(cell("tasks.bbh.raw", row)) == "0.46659"


@pytest.mark.parametrize(
    ("number", "decimals", "shown"),
    [(0.125, 2, "0.13"), (0.375, 2, "0.38"), (2.5, 0, "3"), (50.0, 1, "50.0"), (-0.004, 2, "0.00"), (-0.4, 0, "0")],
)
def test_a_number_is_rounded_half_up_and_is_never_minus_zero(number: float, decimals: int, shown: str) -> None:
    found = cell({"value": "average", "decimals": decimals}, entry(average=number))
    assert isinstance(found, Decimal)
    assert str(found) == shown


def test_a_number_that_has_too_many_digits_is_named() -> None:
    with pytest.raises(Unwritable, match=r"^1E\+300 is too large for 2 decimals$"):
        cell({"value": "average", "decimals": 2}, entry(average=1e300))


@pytest.mark.parametrize(
    ("default", "written"), [(0.1, Decimal("0.1")), (3, Decimal(3)), (1e-7, Decimal("1E-7")), (True, True), ("x", "x")]
)
def test_a_default_is_a_number_as_it_is_declared(default: float | str, written: Cell) -> None:
    row = wanted({"Set": {"default": default}, "BBH": "tasks.bbh.raw"})
    assert row.defaults == {("Set",): written}
    assert type(row.defaults[("Set",)]) is type(written)
    assert row.cells.keys() == {("Model",), ("BBH",)}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1E+399"), "1" + "0" * 399),
        (Decimal("1E+400"), "1E+400"),
        (Decimal("-1E-399"), f"-0.{'0' * 398}1"),
        (Decimal("1E-400"), "1E-400"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        (ABSENT, ""),
    ],
)
def test_a_cell_is_read_as_a_person_reads_it(value: Cell, text: str) -> None:
    assert as_text(value) == text


# ---- texts ----


def test_the_longest_text_has_200_characters() -> None:
    assert cell("model.id", named("X" * 200)) == "X" * 200
    shown = f"^'{'x' * 60}…' cannot be written into a cell: it is too long, not printable, or has < or >$"
    with pytest.raises(Unwritable, match=shown):
        cell("model.id", named("x" * 201))


def test_two_braces_in_a_template_are_one_in_the_cell() -> None:
    assert cell({"template": "{{{model.id}}}"}, named("a/b")) == "{a/b}"


def test_a_template_that_begins_like_a_formula_is_quoted_in_a_csv_file_alone() -> None:
    column, row = {"template": "{model.id}+1"}, named("=1")
    assert cell(column, row, "csv") == "'=1+1"
    assert cell(column, row, "json") == "=1+1"
