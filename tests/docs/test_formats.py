"""The page of the formats has a section for each, in the order in which they are tried, that says what must be said."""

from __future__ import annotations

import re

from bot.evaluation.formats import BUILT_IN_FORMATS
from bot.evaluation.formats.other_files import OTHER, kinds
from tests.docs.test_reference import first_cells
from tests.evaluation.judging import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## `(?P<id>[^`]+)`\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def test_every_kind_that_is_named_has_its_line() -> None:
    table = PAGE.partition("## Files that the bot names and does not read")[2].partition("\n## ")[0]
    named = first_cells(table)
    assert sorted(named) == sorted({kind.id for kind in (*kinds(), OTHER)})


def test_every_format_has_its_line_in_the_table_of_what_was_asked() -> None:
    table = PAGE.partition("## What a file records of the question")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == [known.id for known in BUILT_IN_FORMATS]


def test_every_format_has_its_section_in_the_order_of_recognition() -> None:
    sections = {found["id"]: found["text"] for found in SECTION.finditer(PAGE)}
    assert list(sections) == [known.id for known in BUILT_IN_FORMATS]
    for text in sections.values():
        assert re.findall(r"^- \*\*(.+?)\*\*", text, re.MULTILINE) == ["Gives", "Cannot be verified"]
