"""Edges of Markdown: which table is meant, where its cells are, and how a new or changed cell is set out."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell
from bot.publishing.tables.markdown_sheet import MarkdownSheet, plain
from bot.publishing.tables.sheet import spliced

Row = Mapping[tuple[str, ...], Cell]
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"
OTHER = "| a | b |\n|---|---|\n| 3 | 4 |\n"


def sheet(text: str, at: str = "") -> MarkdownSheet:
    return MarkdownSheet(text, at, frozenset("ab"))


def row(*cells: Cell) -> Row:
    """The cells of the columns a, b, c … in order."""
    return {(name,): cell for name, cell in zip("abc", cells, strict=False)}


def new_line(text: str, *cells: Cell) -> str:
    """The line of a row that goes to the end of a table."""
    there = sheet(text)
    return spliced(text, there.insert(len(there), [row(*cells)])).splitlines()[-1]


def new_cell(old: str, cell: Cell, others: str = "") -> str:
    """What stands in the place of a cell after an update."""
    text = f"| a | b |\n|---|---|\n| 1 | {old} |\n{others}"
    line = spliced(text, sheet(text).update(0, {("b",): cell})).splitlines()[2]
    return line.removeprefix("| 1 | ").removesuffix(" |")


def cells(text: str) -> list[Cell]:
    """The cells of the first row."""
    there = sheet(text)
    return [there.cell(0, column_path) for column_path in there.column_paths]


# ---- which table is meant ----


@pytest.mark.parametrize(
    ("above", "at"),
    [
        ("# Xylo\n", "# Xylo"),  # the table comes at once
        ("# Xylo\n\n", "Xylo"),
        ("\t# Xylo\n\n## Xylo ##\n", "## Xylo"),  # the first one is code
        ("Xylo\n====\n\n", "Xylo"),
        ("## C\n\n## C#\n\n", "## C#"),  # the mark is a letter of the name
        ("# #1 of all #\n\n", "# #1 of all"),
        ("#   Xylo\t##  \n\n", "###### Xylo"),
        (f"# a{' ' * 500_000}x\n\n# Xylo\n\n", "# Xylo"),  # a pattern would need quadratic time
        ("<!-- board -->\n", "<!-- board -->"),
        ("<!-- other -->\n\nboard\n\n<!-- board -->\n\n", "<!-- board -->"),
    ],
)
def test_the_table_is_the_first_one_below_its_heading_or_comment(above: str, at: str) -> None:
    assert sheet(f"{OTHER}\n{above}{TABLE}\n{OTHER}", at).cell(0, ("a",)) == "1"


@pytest.mark.parametrize("at", ["# X", "<!-- X -->"])
def test_a_heading_or_comment_that_is_there_twice_names_no_table(at: str) -> None:
    with pytest.raises(Unwritable, match=f"^there is more than one table at '{at}' with the columns "):
        len(sheet(f"{at}\n{TABLE}\n{at}\n{TABLE}\n", at))


# ---- where the cells are ----


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1 | 2", ["1", "2"]),  # without outer bars
        ("| 1 | 2", ["1", "2"]),
        ("1 | 2 |", ["1", "2"]),
        ("  | 1 | 2 |  ", ["1", "2"]),
        ("||2|", ["", "2"]),
        ("| 1 ||", ["1", ""]),
        ("|", ["", ABSENT]),
        ("| 1 |", ["1", ABSENT]),
        (r"| 1 \| x | 2 |", [r"1 \| x", "2"]),
        (r"| \\1 | \*2 |", [r"\\1", r"\*2"]),
    ],
)
def test_the_cells_of_a_row_are_those_that_the_parser_sees(line: str, found: list[Cell]) -> None:
    assert cells(f"| a | b |\n|---|---|\n{line}\n") == found


def test_a_row_that_readers_split_in_different_ways_is_named_by_its_line() -> None:
    text = f"# Board\n\n{TABLE}| 1 \\\\| 2 | 3 |\n"
    with pytest.raises(Unwritable, match=r"^line 6 is a row that Markdown readers split in different ways$"):
        cells(text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[a](https://b.c)", "a"),
        ("[![a](b.png)](c)", "a"),
        (r"a\_b \[c\]", "a_b [c]"),
        ("a<b>c</b>", "ac"),
        ("a<br>b <BR/> c", "a b c"),
        ("**a**b", "ab"),
        ("`a` b", "a b"),
        (" *X a* ", "X a"),
        ("* a *", "a"),
        ("a &amp; b", "a & b"),
    ],
)
def test_a_name_is_what_a_reader_sees_of_a_cell(text: str, seen: str) -> None:
    assert plain(text) == seen


# ---- how a cell is set out ----


@pytest.mark.parametrize(
    ("above", "new"),
    [
        ("| 1 | 2 |", "| x | yy |"),
        ("|1|2|", "|x|yy|"),  # no padding
        ("|1 |2 |", "|x |yy |"),
        ("|  1 |  2 |", "| x | yy |"),
        ("1 | 2", "x | yy"),
        ("| 1 |", "| x | yy |"),  # a row that is too short
        ("|1|", "|x| yy |"),
        ("|1||", "|x| yy |"),  # an empty cell
        ("|1|  |", "|x| yy |"),
    ],
)
def test_a_new_row_has_the_bars_and_the_padding_of_the_row_above(above: str, new: str) -> None:
    assert new_line(f"|a|     b     |\n|---|---|\n| of | another width |\n{above}\n", "x", "yy") == new


@pytest.mark.parametrize(
    ("rule", "new"),
    [
        ("|-----|-----|", "| x   | y   |"),
        ("|----:|:---:|", "|   x | y   |"),
        ("|:----|----:|", "| x   |   y |"),
        ("| ---:| --- |", "|   x | y   |"),
    ],
)
def test_a_column_of_one_width_keeps_it_and_its_side(rule: str, new: str) -> None:
    assert new_line(f"| a   | b   |\n{rule}\n| 1   | 2   |\n", "x", "y") == new


@pytest.mark.parametrize(
    ("old", "new"),
    [("  82.80  ", "  81.14  "), ("  89.8  ", "  81.14 "), ("**5**     ", "**81.14** "), ("  5  ", "81.14")],
)
def test_a_padded_cell_keeps_its_place_and_width(old: str, new: str) -> None:
    """Like README.md of haonan-li/CMMLU `d6e7b716`: `|   82.80   |`, where the best are bold in cells of one space."""
    assert new_cell(old, Decimal("81.14"), "| 1 | **84.82** |\n") == new


def test_a_column_of_two_widths_is_not_padded_to_one() -> None:
    assert new_line("| a   | b   |\n|---|---|\n| 1     | 2   |\n", "x", "long text") == "| x | long text |"
    assert new_line("|a  |b  |\n|---|---|\n|1  |2  |\n", "x", "y") == "|x |y |"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("**5**", "**7**"),
        ("__50.5__", "__7__"),
        ("x **5**", "7"),
        ("**5** x", "7"),
        ("****", "7"),
        ("**", "7"),
        ("__", "7"),
    ],
)
def test_a_cell_that_is_bold_as_a_whole_stays_bold(old: str, new: str) -> None:
    assert new_cell(old, "7", "| 2 | another width |\n") == new


@pytest.mark.parametrize(("words", "yes"), [("no", "yes"), ("False", "True"), ("❌", "✅"), ("0", "1"), ("x", "true")])
def test_a_truth_value_is_in_the_words_of_its_column(words: str, yes: str) -> None:
    assert new_cell(words, True, "| 2 | |\n") == yes
    assert new_line(f"| a | b |\n|---|---|\n| 1 | {words} |\n", "2", True).split("|")[2].strip() == yes


@pytest.mark.parametrize(("text", "cell"), [("p|q", r"p\|q"), (r"p\|q", r"p\|q"), (r"p\\|q", r"p\\\|q"), ("|", r"\|")])
def test_a_bar_inside_of_a_cell_is_escaped(text: str, cell: str) -> None:
    assert new_cell("2", text) == cell


def test_a_cell_cannot_be_added() -> None:
    with pytest.raises(Unwritable, match=r"^the row has no cell for b$"):
        sheet("| a | b |\n|---|---|\n| 1 |\n").update(0, row("1", "2"))
