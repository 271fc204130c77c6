"""Edges of CSV: quotes, separators, line ends, short rows and last cells, as the sheet itself reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.errors import Unwritable
from bot.publishing.tables.cells import Cell
from bot.publishing.tables.csv_sheet import CsvSheet, separator_of
from bot.publishing.tables.sheet import spliced
from tests.publishing.tables.boards import CSV, MODEL, edited, entry


def row(*cells: Cell) -> Mapping[tuple[str, ...], Cell]:
    """The cells of the columns a, b, c … in order."""
    return {(name,): cell for name, cell in zip("abc", cells, strict=False)}


def inserted(text: str, *cells: Cell, separator: str = ",") -> str:
    """The table with one more row at its end."""
    sheet = CsvSheet(text, separator)
    return spliced(text, sheet.insert(len(sheet), [row(*cells)]))


def updated(text: str, *cells: Cell) -> str:
    """The table with other cells in its first row."""
    return spliced(text, CsvSheet(text).update(0, row(*cells)))


# ---- quotes ----


@pytest.mark.parametrize(
    ("above", "new"),
    [
        ('x,"y"', 'p,"q"'),  # a column that is quoted without need
        ('x,"y ,"', "p,q"),  # a cell that needs its quotes says nothing about its column
        ('x,"y\nz"', "p,q"),
        ('x,"y\rz"', "p,q"),
        ('x,"y\r\nz"', "p,q"),
        ('x," y"', "p,q"),
        ('x,"y""z"', "p,q"),
        ('"x"', '"p",q'),  # a row that is too short
        ("x", "p,q"),
    ],
)
def test_a_new_cell_is_quoted_where_the_one_above_it_is_quoted_without_need(above: str, new: str) -> None:
    assert inserted(f"a,b\n{above}\n", "p", "q") == f"a,b\n{above}\n{new}\n"


def test_a_new_cell_is_quoted_where_it_needs_quotes() -> None:
    assert inserted("a,b\n1,2\n", ' "x"', "y,z") == 'a,b\n1,2\n" ""x""","y,z"\n'
    assert inserted("a;b\n1;2\n", "x;y", "y,z", separator=";") == 'a;b\n1;2\n"x;y";y,z\n'


def test_the_first_row_has_the_quotes_of_the_header() -> None:
    assert inserted('"a",b', "x", "y") == '"a",b\n"x",y'


def test_a_cell_that_changes_keeps_its_quotes() -> None:
    assert updated('a,b\n"x",y\n', "p", "q") == 'a,b\n"p",q\n'
    assert updated('a,b\n"x ,",y\n', "p", "q") == "a,b\np,q\n"


@pytest.mark.parametrize(("words", "yes"), [("yes,no", "yes"), ("FALSE,FALSE", "TRUE"), ("❌,", "✅"), (",", "true")])
def test_a_new_truth_value_is_in_the_words_of_its_column(words: str, yes: str) -> None:
    first, second = words.split(",")
    assert inserted(f"a,b\n1,{first}\n2,{second}\n", "3", True).splitlines()[-1] == f"3,{yes}"


# ---- rows and cells ----


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a,b\n1,", ["1", ""]),  # the file ends behind a separator
        ("a,b\n,2\n", ["", "2"]),  # the first of two cells is empty
        ("a,b\n,", ["", ""]),
        ('a,b\n"",""', ["", ""]),
        ('a\n\n""\n\n', [""]),  # blank lines are no rows, an empty cell between quotes is one
    ],
)
def test_empty_cells_are_cells_and_blank_lines_are_no_rows(text: str, cells: list[str]) -> None:
    sheet = CsvSheet(text)
    assert [[field.text for field in record] for record in sheet.records[1:]] == [cells]
    assert sheet.ordinary() == [cells]


def test_a_row_that_is_too_short_or_too_long_is_not_changed() -> None:
    with pytest.raises(Unwritable, match=r"^the row has 1 cells, but the header has 2$"):
        updated("a,b\n1\n", "2")
    with pytest.raises(Unwritable, match=r"^the row has 3 cells, but the header has 2$"):
        updated("a,b\n1,2,3\n", "2")


@pytest.mark.parametrize("text", ["", "\n", "\r\n\n"])
def test_a_file_without_a_header_is_no_table(text: str) -> None:
    with pytest.raises(Unwritable, match=r"^it is empty; a table needs a header$"):
        len(CsvSheet(text))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,2\n"x"y,1\n3,4\n"z"\n', 3),
        ('\na,b\n"x"y,1\n3,4\n', 3),  # a blank line counts
        ('a,b\n"x\n\nx"y,1\n3,4\n', 4),  # and a line end inside of a cell
        ('"a"x,b\n1,2\n', 1),
    ],
)
def test_text_after_a_closing_quote_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unwritable, match=rf"^line {line} has text after a closing quote$"):
        len(CsvSheet(text))


# ---- what the usual reader sees ----


@pytest.mark.parametrize(
    ("text", "separator", "rows"),
    [
        ("a;b\n1;2,3\n", ";", [["1", "2,3"]]),
        ("a\tb\r\n1\t2\r\n", "\t", [["1", "2"]]),
        ("a,b\r1,2\r3,4\r", ",", [["1", "2"], ["3", "4"]]),
        ('a,b\n"1\r\n2",3\n', ",", [["1\r\n2", "3"]]),
    ],
)
def test_the_usual_reader_has_the_separator_and_the_line_ends_of_the_file(
    text: str, separator: str, rows: list[list[str]]
) -> None:
    sheet = CsvSheet(text, separator)
    assert sheet.ordinary() == rows
    assert [[field.text for field in record] for record in sheet.records[1:]] == rows


@pytest.mark.parametrize(
    ("header", "separator"), [('"Model";n', ";"), ("Model|n", "|"), ("Model\tn,m", "\t"), ("Model,n", ","), ("x", ",")]
)
def test_the_separator_is_the_one_that_gives_the_known_names(header: str, separator: str) -> None:
    assert separator_of(f"{header}\n", ["Model", "Score"]) == separator


def test_a_row_goes_into_a_file_with_semicolons_whose_header_is_quoted() -> None:
    files = {"t.csv": b'"Model";"n, m"\n"heron";"1"\n'}

    after, draft = edited({**CSV, "columns": {"Model": "model.id"}}, files, entry())

    assert draft.refused == {}
    assert after["t.csv"].decode() == f'"Model";"n, m"\n"heron";"1"\n"{MODEL}";""\n'
