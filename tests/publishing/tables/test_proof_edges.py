"""The proof of an edit: each change that nobody asked for is found, in a text and in a Parquet file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from bot.errors import Unwritable
from bot.publishing.tables.cells import Cell, WantedRow
from bot.publishing.tables.csv_sheet import CsvSheet
from bot.publishing.tables.edit import Insertion, TableEdit, Update, prove
from bot.publishing.tables.json_sheet import JsonSheet
from bot.publishing.tables.sheet import Sheet
from bot.publishing.tables.yaml_sheet import YamlSheet


def cells(said: Mapping[str, Any]) -> dict[tuple[str, ...], Cell]:
    """Cells by the dotted names that lead to them; numbers become decimals."""
    return {tuple(name.split(".")): Decimal(str(cell)) if type(cell) is float else cell for name, cell in said.items()}


def update(row: int, **said: Any) -> Update:
    return Update(row, WantedRow("x", {}, {}), cells(said))


def insertion(before: int, **said: Any) -> Insertion:
    return Insertion(before, WantedRow("x", {}, {}), cells(said))


TWO = "a,b\n1,2\n3,4\n"
KEYED = '{"p": {"b": 1}, "q": {"b": 2}}'
NESTED = '[{"a": {"b": 0.5}}, {"a": {"b": 2}}]'


def csv(before: str, after: str) -> tuple[Sheet, Sheet]:
    return CsvSheet(before), CsvSheet(after)


def json(before: str, after: str, key: str | None = None) -> tuple[Sheet, Sheet]:
    return JsonSheet(before, "", key), JsonSheet(after, "", key)


def yaml(before: str, after: str) -> tuple[Sheet, Sheet]:
    return YamlSheet(before), YamlSheet(after)


@pytest.mark.parametrize(
    ("sheets", "edit"),
    [
        (csv(TWO, "a,b\n1,9\n3,4\n"), update(0, b="9")),
        (csv(TWO, "a,b\n1,2\n5,6\n3,4\n"), insertion(1, a="5", b="6")),
        (csv(TWO, "a,b\n1,2\n3,4\n5,6\n"), insertion(2, a="5", b="6")),
        (csv("a,b\n1,0.5\n", "a,b\n1,0.50\n"), update(0, b=0.5)),  # another spelling of the number
        (csv(TWO, "a,b\n1,9\n3,4\n"), update(0, b="9", c="no such column")),
        (json(KEYED, '{"p": {"b": 1}, "r": {"b": 3}, "q": {"b": 2}}', "k"), insertion(1, k="r", b=3.0)),
        (json(NESTED, NESTED.replace("0.5", "1.5")), update(0, **{"a.b": 1.5})),
        (yaml("- n: &x 1\n- n: *x\n- n: 2\n", "- n: &x 1\n- n: *x\n- n: 3\n"), update(2, n=3.0)),
    ],
)
def test_an_edit_that_changed_its_rows_alone_is_proved(sheets: tuple[Sheet, Sheet], edit: Update | Insertion) -> None:
    prove(*sheets, TableEdit([edit] if isinstance(edit, Update) else [], [edit] if isinstance(edit, Insertion) else []))


@pytest.mark.parametrize(
    ("sheets", "edit", "reason"),
    [
        (csv(TWO, TWO), insertion(1, a="5"), "the edited table has 2 rows, and not 3"),
        (csv(TWO, "x,b\n1,9\n3,4\n"), update(0, b="9"), "the edit would change text outside of its rows"),
        (csv(TWO, "a,b\n1,9\n3,5\n"), update(0, b="9"), "the edit would change text outside of its rows"),
        (csv(TWO, "a,b\n1,9\n3,4\n\n"), update(0, b="9"), "the edit would change text outside of its rows"),
        (
            csv(TWO, "a,b\n5,6\n1,2\n3,4\n"),
            insertion(2, a="3", b="4"),
            "the edit would change text outside of its rows",
        ),
        (csv(TWO, "a,b\n1,8\n3,4\n"), update(0, b="9"), "b does not read back as it was written"),
        (csv(TWO, "a,b\n1,2\n3,4\n5,7\n"), insertion(2, a="5", b="6"), "b does not read back as it was written"),
        (
            json(NESTED, NESTED.replace("0.5", "1.5")),
            update(0, **{"a.b": 2.5}),
            "a.b does not read back as it was written",
        ),
        # the second of two members of one name is all that readers see
        (
            json(KEYED, '{"p": {"b": 1}, "p": {"b": 3}, "q": {"b": 2}}', "k"),
            insertion(1, k="p", b=3.0),
            "the format's usual reader sees other rows",
        ),
        (
            json('{"p": {"b": 1}, "p": {"b": 2}}', '{"p": {"b": 1}, "p": {"b": 3}}', "k"),
            update(1, b=3.0),
            "the format's usual reader sees other rows",
        ),
        # an alias says what its anchor says
        (
            yaml("- n: &x 1\n- n: *x\n", "- n: &x 2\n- n: *x\n"),
            update(0, n=2.0),
            "the format's usual reader would see a change in another row",
        ),
    ],
)
def test_an_edit_that_changed_anything_else_is_refused(
    sheets: tuple[Sheet, Sheet], edit: Update | Insertion, reason: str
) -> None:
    updates, new = ([edit], []) if isinstance(edit, Update) else ([], [edit])
    with pytest.raises(Unwritable, match=f"^{re.escape(reason)}$"):
        prove(*sheets, TableEdit(updates, new))
