"""What strangers write cannot move a cursor, open markup, or call a person."""

from __future__ import annotations

import csv
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.platforms.github.discussions import COMMAND
from bot.reporting.escape import (
    code,
    code_in_table,
    in_title,
    inert,
    plain_json,
    visible,
    without_commands,
    without_references,
)
from bot.reporting.table import Table, markdown_table, text_table
from tests.texts import any_text

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


# ---- the runner of a workflow, and what GitHub does with a title or a commit message ----

PIECES = st.sampled_from([
    "::", ":", "#", "##[", "##[error]", "##vso[", "::error::x", "::set-output name=verdict::accepted", " ", "\t", "\n",
    "\r", "a", "\x1b[2J", "\u2028", "\u0085", "[", "]", "@", "fixes #1", "skip", " ci", "[skip ci]", "[ci-skip]",
    "@ann", "***NO_CI***", "skip-checks: true", "GH-", "1", "https://github.com/a/b/issues/1", "=1+1", "\uff1d", "'",
    '"', "|", "-",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=8).map("".join) | any_text(max_size=20)


def is_heard(line: str) -> bool:
    """Whether the runner takes a line for a command (actions/runner, ActionCommand.TryParseV2 and TryParse)."""
    return line.strip().startswith("::") or re.search(r"##\w*\[", line) is not None


@given(TEXTS)
def test_no_line_is_a_command_of_a_workflow(text: str) -> None:
    assert not any(is_heard(line) for line in re.split("[\r\n]", without_commands(text)))
    assert without_commands(without_commands(text)) == without_commands(text)


def test_a_million_empty_lines_before_a_command_are_read_at_once() -> None:
    lines = "\n" * 1_000_000
    assert without_commands(f"{lines} ::error::x") == f"{lines} \\::error::x"
    assert COMMAND.search(lines) is None


def test_a_text_without_commands_stays_as_it_is() -> None:
    text = "# Title\n## Part [1]\n  a::b\nhf://x#1\n"
    assert without_commands(text) == text


@given(TEXTS)
def test_a_cell_of_a_csv_file_is_one_line_that_neither_a_spreadsheet_nor_a_runner_obeys(text: str) -> None:
    cell = inert(text)
    assert cell.isprintable()
    assert not is_heard(cell)
    assert not cell.lstrip(" '\"").startswith(
        ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    ) or cell.startswith("'")
    assert next(csv.reader([",".join([cell.replace(",", ""), "x"]).replace('"', "")]))[-1] == "x"


CLOSES = re.compile(r"#\d|\bGH-\d|://\S*/(issues|pull)/\d", re.IGNORECASE)
CALLS = re.compile(r"(?<![A-Za-z0-9_])@\w")  # GitHub hears `é@octocat`
SKIPS = re.compile(
    r"\[(skip[ -]ci|ci[ -]skip|no ci|skip actions|actions skip)\]|skip-checks\s*:|\*NO_CI\*", re.IGNORECASE
)


@given(TEXTS)
def test_a_title_or_commit_message_closes_nothing_calls_nobody_and_skips_nothing(text: str) -> None:
    for safe in (without_references(text), in_title(text)):
        assert not CLOSES.search(safe)
        assert not CALLS.search(safe)
        assert not SKIPS.search(safe)
    assert without_references(without_references(text)) == without_references(text)


@pytest.mark.parametrize("before", ["é", "β", "名", " ", ".", "", "ª"])
def test_no_letter_before_a_mention_makes_it_heard(before: str) -> None:
    assert without_references(f"{before}@octocat") == f"{before}@ octocat"
    assert without_references("a@octocat") == "a@octocat"


def test_names_as_they_are_stay_readable_in_a_title() -> None:
    for name in ("acme/atlas-7b", "bfloat16", "4bit", "Qwen/Qwen2.5-7B", "acme__atlas/2026-01-01"):
        assert in_title(name) == without_references(name) == name
    assert in_title("fixes #1 [skip ci] @ann") == "fixes%20%231%20%5Bskip%20ci%5D%20%40ann"
    assert in_title("acme/gh-1") == "acme/gh%2D1"
    assert in_title("x" * 300) == "x" * 100 + "…"
    assert without_references("hf://datasets/a/b@c0ffee/x.json, #1") == "hf://datasets/a/b@c0ffee/x.json, # 1"


ADDRESSES = [
    ("https://ann:hf_secret@example.org/x", "https://***@example.org/x"),
    (
        "no: https://hf_secret@example.org, postgresql://u:p%40w@db/x",
        "no: https://***@example.org, postgresql://***@db/x",
    ),
    ("https:/ann:secret@example.org: no such folder", "https:/***@example.org: no such folder"),
    ("git+ssh://git@example.org/x", "git+ssh://***@example.org/x"),
]


@pytest.mark.parametrize(("text", "shown"), ADDRESSES)
def test_the_user_and_password_of_an_address_are_hidden_wherever_a_line_is_written(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert json.loads(plain_json(json.dumps({"a": text}))) == {"a": shown}


def test_addresses_without_a_user_stay_as_they_are() -> None:
    for text in ("hf://datasets/a/b@c0ffee/x.json", "acme/atlas-7b@main", "github://a/b@pages", "a://b c@d", "C:/x@y"):
        assert visible(text) == text
    compact = '{"a":"x://y","b":"@z"}'
    assert plain_json(compact) == compact
