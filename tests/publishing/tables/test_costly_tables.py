"""Tables that are made to cost as much time or memory as they can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from time import process_time

import pytest

from bot.audits.score_table import read_score_table
from bot.errors import Unwritable
from bot.evaluation.result import Model
from bot.publishing.tables.csv_sheet import CsvSheet
from bot.publishing.tables.find import ModelFiles, find_tables, number_columns
from bot.publishing.tables.json_sheet import JsonSheet
from bot.publishing.tables.mapping import TableFormat
from bot.publishing.tables.markdown_sheet import LARGEST, MOST_TABLES, MarkdownSheet
from bot.publishing.tables.sheet import MOST_CELLS, MOST_COLUMNS
from tests.variants import one_of

SECONDS = 15  # of the processor; each of these took minutes, or all memory
MODELS = [ModelFiles(Model("acme/atlas"), ())]
DEEP = 300


def names(count: int = 300_000) -> Iterator[str]:
    return (f"c{number}" for number in range(count))


TABLES: dict[str, tuple[Callable[[], str], TableFormat, str]] = {
    "columns": (lambda: ",".join(["Model", *names()]) + "\nacme/atlas,1\n", "csv", "no table was found in it"),
    "cells": (
        lambda: (
            '[{"Model":"acme/atlas",' + ",".join(f'"{each}":1' for each in names(1_900)) + "}," + "{}," * 2_000 + "{}]"
        ),
        "json",
        f"it has more than {MOST_CELLS:,} cells",
    ),
    "tables": (
        lambda: "| a | b |\n|-|-|\n| 1 | 2 |\n\n" * (MOST_TABLES + 1),
        "markdown",
        f"it has more than {MOST_TABLES} tables",
    ),
    "characters": (
        lambda: "x" * (LARGEST + 1),
        "markdown",
        f"it has {LARGEST + 1:,} characters; of a Markdown file {LARGEST:,} are read",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_no_table_takes_minutes_to_find(name: str) -> None:
    make, written, why = TABLES[name]
    data, began = make().encode(), process_time()
    with pytest.raises(Unwritable, match=f"^{why}"):
        find_tables(data, written, MODELS)
    assert process_time() - began < SECONDS


CELLS = {
    "links": ("[", 400_000, "](", 1_000),
    "escaped": ("[a\\", 300_000, "", 0),
    "backslashes": ("\\", 1_000_000, "", 0),
}


@pytest.mark.parametrize("name", one_of(CELLS))
def test_brackets_and_backslashes_take_no_time_in_a_table(name: str) -> None:
    first, count, second, more = CELLS[name]
    cell = first * count + second * more
    text = f"| Model | a | b |\n|-|-|-|\n| acme/atlas | 1 | 2 |\n| {cell} | 1 | 2 |\n"
    began = process_time()
    assert len(find_tables(text.encode(), "markdown", MODELS)[0].place.grid) == 2
    assert len(read_score_table(text.encode(), "a.md").names) == 2
    assert process_time() - began < SECONDS


@pytest.mark.parametrize("which", ["name", "heading"])
def test_a_long_name_or_heading_takes_no_time(which: str) -> None:
    head = "Model,a\nx" + " " * 500_000 + "y,1\n" if which == "name" else "Model," + "a " * 500_000 + "\n"
    began = process_time()
    [*columns] = number_columns(find_tables((head + "acme/atlas,1\n").encode(), "csv", MODELS)[0])
    assert len(columns) == head.count("\n") - 1
    assert process_time() - began < SECONDS


@pytest.mark.slow
def test_a_wide_table_of_texts_takes_no_time() -> None:
    """Whether a row is a heading was asked of all its cells, for each of its cells."""
    text = "\n".join(",".join(f"a{row}x{column}" for column in range(800)) for row in range(60))
    began = process_time()
    with pytest.raises(Unwritable, match=r"^no row names a model"):
        find_tables(text.encode(), "csv", MODELS)
    assert process_time() - began < SECONDS / 3


def test_marks_around_a_number_that_are_read_in_two_ways_take_no_time() -> None:
    """Each `:_:` is an emoji, or three marks."""
    sheet = MarkdownSheet(f"| Model | a |\n|-|-|\n| acme/atlas | {':_' * 60}5x |\n")
    began = process_time()
    sheet.update(0, {("a",): Decimal("54.1")})
    assert process_time() - began < SECONDS


@pytest.mark.slow
def test_many_tables_of_equal_columns_are_parsed_once() -> None:
    text = "# Ours\n\n" + "| a | b |\n|-|-|\n| 1 | 2 |\n\n" * MOST_TABLES
    began = process_time()
    with pytest.raises(Unwritable, match=r"^no "):
        find_tables(text.encode(), "markdown", MODELS)
    assert process_time() - began < SECONDS


@pytest.mark.slow
def test_the_paths_of_many_deep_columns_are_not_kept() -> None:
    text = "[" + '{"a":' * DEEP + "{" + ",".join(f'"{name}":1' for name in names()) + "}" + "}" * DEEP + "]"
    with pytest.raises(Unwritable, match=f"^it has more than {MOST_COLUMNS:,} columns$"):
        _ = JsonSheet(text).column_paths


@pytest.mark.slow
def test_no_more_cells_than_any_board_has_are_kept() -> None:
    with pytest.raises(Unwritable, match=f"^it has more than {MOST_CELLS:,} cells$"):
        _ = CsvSheet("a,b\n" + "1," * (MOST_CELLS + 1)).records


@pytest.mark.parametrize("number", ["1e200000000", "9" * 1_000_001], ids=["exponent", "digits"])
def test_a_number_that_no_arithmetic_takes_is_none(number: str) -> None:
    """It ended `init --table` in an internal error."""
    text = f'[{{"Model":"acme/atlas","a":{number},"b":0.5}}]'
    assert [column.label for column in number_columns(find_tables(text.encode(), "json", MODELS)[0])] == ["b"]
