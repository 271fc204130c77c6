"""The row in a comment: a block of JSON that is read back from the comment's text."""

from __future__ import annotations

from msgspec.structs import replace

from bot.publishing.publication import entry_in, json_block
from tests.platforms.github.entries import entry

ROW = entry("acme/a", (10, 60, 70))


def test_the_row_of_a_comment_reads_back() -> None:
    fenced = replace(ROW, model=replace(ROW.model, precision="```\n<!-- x --> @all"))

    for row in (ROW, fenced):
        assert entry_in("\n".join(["Said before.", "", *json_block(row), "", "Said after."])) == row
    assert entry_in("No row.") is None


def test_the_last_block_that_is_a_row_counts() -> None:
    other = entry("acme/b", (10, 60, 70))
    blocks = ["\n".join(json_block(row)) for row in (ROW, other)]

    assert entry_in("\n\n".join(blocks)) == other
    assert entry_in("\n\n".join([*blocks, "```json\n{}\n```", "```json\n[1,\n```"])) == other
    assert entry_in("```json\n{}\n```") is None
