"""What strangers write cannot move a cursor, open markup, or call a person."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from bot.reporting.escape import code, code_in_table, visible
from bot.reporting.table import Table, markdown_table, text_table

HOSTILE = [
    "plain",
    "",
    " ",
    "`",
    "``a`",
    "<script>alert(1)</script>",
    "[x](http://evil.example)",
    "@someone **bold** | cell",
    "\x1b[31mred\x1b[0m\r\n\u202eevil\u2028",
    "\ud800 half a surrogate",
    "\\|",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_one_printable_line(text: str) -> None:
    assert visible(text).isprintable()


def test_what_cannot_be_printed_is_shown_as_its_escape() -> None:
    assert visible("10\n\nPassage:\x1b[2J\u202e") == r"10\n\nPassage:\x1b[2J\u202e"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_holds_hostile_text_and_nothing_else(text: str) -> None:
    tokens = MarkdownIt().parseInline(code(text))[0].children or []

    assert [token.type for token in tokens] == ["code_inline"]
    assert tokens[0].content.strip() == visible(text).strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_stays_one_cell(text: str) -> None:
    table = Table(("name", "n"), ((text, 1.5),))

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown_table(table))

    assert [token.type for token in tokens].count("td_open") == 2
    assert not any(token.type in {"html_inline", "link_open"} for row in tokens for token in row.children or [])


def test_a_bar_in_a_table_is_escaped_outside_it_is_not() -> None:
    assert code("a|b") == "`a|b`"
    assert code_in_table("a|b") == "`a\\|b`"


def test_columns_are_aligned_and_numbers_stand_to_the_right() -> None:
    table = Table(("flaw", "samples", "share"), (("runs on", 12, 0.5), ("cut", 4, None)), "What was seen")

    assert text_table(table).splitlines() == [
        "What was seen",
        "flaw     samples  share",
        "runs on       12    0.5",
        "cut            4      -",
    ]
