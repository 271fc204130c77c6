"""Edges of YAML: keyed rows, line ends, the form of a scalar, and the row whose layout a new one has."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell
from bot.publishing.tables.sheet import spliced
from bot.publishing.tables.yaml_sheet import YamlSheet, scalar
from tests.publishing.tables.boards import MODEL, YAML, edited, entry


def row(**cells: Cell) -> dict[tuple[str, ...], Cell]:
    """Cells by name; `__` stands between the names of a nested one."""
    return {tuple(name.split("__")): cell for name, cell in cells.items()}


def inserted(text: str, before: int | None = None, key: str | None = None, **cells: Cell) -> str:
    """The text with a new row, at the end where no place is given."""
    sheet = YamlSheet(text, "", key)
    return spliced(text, sheet.insert(len(sheet) if before is None else before, [row(**cells)]))


def updated(text: str, at: int = 0, key: str | None = None, **cells: Cell) -> str:
    return spliced(text, YamlSheet(text, "", key).update(at, row(**cells)))


def cell(text: str) -> Cell:
    return YamlSheet(f"- a: {text}\n").cell(0, ("a",))


# ---- cells ----


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x", "x"),
        ("'0.5'", "0.5"),
        ('"0.5"', "0.5"),
        ("'true'", "true"),
        ('"null"', "null"),
        ("|-\n    0.5", "0.5"),
        (">-\n    0.5", "0.5"),
        ("0.50", Decimal("0.50")),
        ("-3", Decimal(-3)),
        ("1e3", "1e3"),  # a text in one of the dialects
        ("010", "010"),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),  # true in one of the dialects
        ("null", None),
        ("~", None),
        ("", None),
        ("[1]", "a seq"),
        ("{b: 1}", "a map"),
    ],
)
def test_a_scalar_is_a_cell_that_both_dialects_read(text: str, value: Cell) -> None:
    read = cell(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "model", "text"),
    [
        (None, "x", "null"),
        (True, "x", "true"),
        (Decimal("0.50"), "'x'", "0.5"),
        ("a b", "x", "a b"),
        ("yes", "x", "'yes'"),  # true in one of the dialects
        ("it's: x", "x", "'it''s: x'"),
        ("a", "'x'", "'a'"),
        ("a", '"x"', '"a"'),
        ('a"b', '"x"', r'"a\"b"'),
        ("a", "|\n  x", "'a'"),
        ("a", "[x]", "'a'"),
        ("2026-01-02", "2025-03-04", "2026-01-02"),
        ("2026-01-02", "x", "'2026-01-02'"),
        ("2026-01", "2025-03-04", "'2026-01'"),
    ],
)
def test_a_new_scalar_has_the_form_of_its_model(value: Cell, model: str, text: str) -> None:
    assert scalar(value, yaml.compose(model)) == text


def test_a_new_scalar_without_a_model_is_quoted() -> None:
    assert scalar("a", None) == "'a'"
    with pytest.raises(Unwritable, match=r"^a cell that is there cannot be left out again$"):
        scalar(ABSENT, None)


# ---- keyed rows ----

KEYED = 'p:\n  b: 1\n"q r":\n  b: 2\n'


def test_the_name_of_a_keyed_row_is_a_cell_of_it() -> None:
    sheet = YamlSheet(KEYED, "", "k")
    assert list(sheet.column_paths) == [("k",), ("b",)]
    assert [[sheet.cell(at, column_path) for column_path in sheet.column_paths] for at in range(2)] == [
        ["p", 1],
        ["q r", 2],
    ]
    assert [KEYED[slice(*span)] for span in sheet.spans] == ["p:\n  b: 1", '"q r":\n  b: 2']


@pytest.mark.parametrize(
    ("before", "new"),
    [(0, "z:\n  b: 3\np:\n  b: 1\n"), (1, "p:\n  b: 1\nz:\n  b: 3\n"), (2, '"q r":\n  b: 2\n"z":\n  b: 3\n')],
)
def test_a_keyed_row_has_its_name_in_the_form_of_its_neighbour(before: int, new: str) -> None:
    assert new in inserted(KEYED, before, "k", k="z", b=Decimal(3))
    assert "'a: b':\n  b: 3\n" in inserted(KEYED, 1, "k", k="a: b", b=Decimal(3))


def test_a_keyed_row_below_a_place_keeps_its_indentation() -> None:
    text = "all:\n  rows:\n    p:\n      b: 1\nend: 1\n"
    files, draft = edited(
        {**YAML, "keyed": True, "columns": {"Model": "model.id", "b": "tasks.bbh.raw"}, "at": "all.rows"},
        {"t.yml": text.encode()},
        entry(scores={"bbh": 0.5}),
    )
    assert draft.refused == {}
    assert files["t.yml"].decode() == text.replace("end", f"    {MODEL}:\n      b: 0.5\nend")


def test_a_name_is_not_written_by_an_update() -> None:
    assert updated(KEYED, 1, "k", k="z", b=Decimal(3)) == KEYED.replace("b: 2", "b: 3")


# ---- rows and line ends ----


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_new_row_has_the_line_ends_and_the_blank_lines_of_the_others(end: str, last: bool) -> None:
    rows = ["- a: 1\n  b: x", "- a: 2  # best\n  b: y # z"]
    for gap in ("\n", "\n\n", "\n\n\n"):
        text, new = (gap.join(each).replace("\n", end) for each in (rows, [*rows, "- a: 3\n  b: w"]))
        tail = end if last else ""
        assert inserted(text + tail, a=Decimal(3), b="w") == new + tail
    text = "- a: 1\n\n\n- a: 2\n\n# c\n\n- a: 3\n".replace("\n", end)
    assert inserted(text, a=Decimal(4)) == f"{text}{end}- a: 4{end}"


def test_a_new_row_keeps_the_comment_above_the_next_one_with_it() -> None:
    assert inserted("- a: 1\n# of b\n- a: 2\n", 1, a=Decimal(5)) == "- a: 1\n- a: 5\n# of b\n- a: 2\n"
    assert inserted("\n- a: 1\n", 0, a=Decimal(5)) == "\n- a: 5\n- a: 1\n"


@pytest.mark.parametrize(
    ("text", "place", "key", "reason"),
    [
        ("a: 1\n", "", None, "there is no block of rows at the top"),
        ("a: []\n", "a", None, "there is no block of rows at a"),
        ("a: {b: {c: 1}}\n", "a", "k", "there is no block of rows at a"),
        ("- a: 1\n", "", "k", "there is no block of rows at the top"),
        ("- a: 1\n- 2\n", "", None, "row 2 is not a mapping of its own"),
        ("- a: 1\n- - 2\n", "", None, "row 2 is not a mapping of its own"),
        ("p:\n  a: 1\nq: 2\n", "", "k", "row 2 is not a mapping of its own"),
    ],
)
def test_what_is_no_block_of_rows_is_named(text: str, place: str, key: str | None, reason: str) -> None:
    with pytest.raises(Unwritable, match=f"^{reason}$"):
        len(YamlSheet(text, place, key))


def test_a_selector_compares_the_text_of_a_scalar() -> None:
    assert len(YamlSheet("- n: x\n  r:\n  - a: 1\n- n: y\n  r:\n  - a: 1\n  - a: 2\n", "[n=y].r")) == 2


def test_a_row_that_does_not_begin_on_the_line_of_its_dash_is_no_model() -> None:
    with pytest.raises(Unwritable, match=r"^the neighbouring row does not begin on the line of its dash$"):
        inserted("-\n  a: 1\n", a=Decimal(2))


def test_the_layout_is_that_of_the_row_above_which_has_all_keys() -> None:
    text = "- a: 1\n- b: 2\n  a: 2\n- a: 3\n  c: x\n  b: 3\n- a: 4\n"
    new = {"a": Decimal(5), "b": Decimal(6)}
    assert inserted(text, 2, **new).replace(text, "") == inserted(text, 2, **new)
    assert "a: 2\n- b: 6\n  a: 5\n- a: 3\n" in inserted(text, 2, **new)  # the row above
    assert "b: 3\n- a: 5\n  c: null\n  b: 6\n- a: 4\n" in inserted(text, 3, **new)
    assert inserted(text, 4, **new).endswith("- a: 4\n- a: 5\n  c: null\n  b: 6\n")  # the nearest that has both
    with pytest.raises(Unwritable, match=r"^no row in block style has all these keys, so there is no layout to copy$"):
        inserted(text, d="x")
    with pytest.raises(Unwritable, match=r"^no row in block style has all these keys"):
        inserted("- {a: 1}\n", a="x")


def test_a_cell_that_is_left_out_hides_no_cell_behind_it() -> None:
    text = "- a: 1\n  b: 2\n  c: 3\n  d: {e: 'x', f: 1, g: \"y\"}\n"
    new = inserted(text, a=Decimal(4), b=ABSENT, c=Decimal(6), d__e="p", d__f=ABSENT, d__g="q")
    assert new == text + "- a: 4\n  c: 6\n  d: {e: 'p', g: \"q\"}\n"


# ---- an update in place ----


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("a: 1 # note", "a: 7 # note"),
        ("a: '1'", "a: 7"),
        ('a: "x"', "a: 7"),
        ("a:", "a: 7"),  # an empty scalar
        ("a: # note", "a: 7 # note"),
    ],
)
def test_a_scalar_is_replaced_where_it_stands(line: str, new: str) -> None:
    assert updated(f"- {line}\n  b: 1\n", a=Decimal(7)) == f"- {new}\n  b: 1\n"


@pytest.mark.parametrize("old", ["&x 1", "!!str 1", "|\n      1", ">\n      1", "[1]", "{b: 1}"])
def test_a_value_of_another_form_is_not_replaced(old: str) -> None:
    with pytest.raises(Unwritable, match=r"^c\.a is not a plain value in this row$"):
        updated(f"- c:\n    a: {old}\n", c__a=Decimal(7))


def test_a_value_that_stands_in_another_row_is_not_replaced() -> None:
    for text in ("- a: &x 1\n- a: *x\n", "- c: &x\n    a: 1\n- c: *x\n"):
        names: dict[str, Any] = {"c__a" if "c:" in text else "a": Decimal(7)}
        with pytest.raises(Unwritable, match=r"a is not a plain value in this row$"):
            updated(text, 1, **names)


def test_a_key_that_a_row_lacks_is_added_in_the_form_of_another_row() -> None:
    assert updated("- a: 1\n- a: 2\n  'b': \"x\"\n", b="y") == "- a: 1\n  'b': \"y\"\n- a: 2\n  'b': \"x\"\n"
    assert updated("- c: {a: 1} # n\n- c: {b: 'x'}\n", c__b="y") == "- c: {a: 1, b: 'y'} # n\n- c: {b: 'x'}\n"
    assert updated("- a: 1\n- a: 2\n  b: [1]\n", b="y") == "- a: 1\n  b: 'y'\n- a: 2\n  b: [1]\n"
    assert updated("- a: 1\r\n- b: 2\r\n", b=Decimal(3)) == "- a: 1\r\n  b: 3\r\n- b: 2\r\n"
    assert updated("- c: {a: 1,\n    b: [2]} # n\n- d: {}\n  c: {e: 1}\n", c__e=Decimal(2)).startswith(
        "- c: {a: 1,\n    b: [2], e: 2} # n\n"
    )
    assert updated("- a: |\n    x\n# c\n- b: 2\n", b=Decimal(3)) == "- a: |\n    x\n  b: 3\n# c\n- b: 2\n"
    assert updated("- a: 1\n", b="y") == "- a: 1\n  'b': 'y'\n"  # no row has it
    with pytest.raises(Unwritable, match=r"^the row has no object for c\.b$"):
        updated("- a: 1\n- c: {b: 1}\n", c__b="y")


def test_a_cell_is_at_most_four_names_deep() -> None:
    assert list(YamlSheet("- a: {b: {c: {d: {e: 1}}}}\n").column_paths)[-1] == ("a", "b", "c", "d")
