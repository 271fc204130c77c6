"""What anybody finds who checks a table that people keep: an edited cell, and rows by the records beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.platforms.platform import Access, Opener
from bot.publishing.entry import declaration_path, entry_path
from bot.service.checks.verify import Verifier
from tests.command import bot
from tests.service.stories import KEY, TABLE_TARGET, settings_of
from tests.service.table_stories import BETTER, CHANGED, CONTENTS, NEW, TABLE, TableStory
from tests.world.hub import Hub

EDITS = {
    "edited": (NEW.replace(b"58.33", b"68.33"), "board.csv differs from the entry beside it"),
    "gone": (b"", "board.csv has no such row"),
    "twice": (NEW + NEW, "board.csv: 2 rows have the key 'acme/atlas-7b', so none of them is edited"),
    "no column": (None, "board.csv: the table does not have exactly one column 'Average'; its columns are "),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", EDITS)
def test_a_cell_that_somebody_edited_is_found(hub: Hub, tmp_path: Path, how: str) -> None:
    story = TableStory(hub, tmp_path, form="commit", options="records = true\n")
    story.push()
    story.settle()
    assert story.acts() == ["commit"]
    text = settings_of("hf://datasets/acme/results", CONTENTS, "commit", TABLE_TARGET)
    (tmp_path / "bot.toml").write_text(text)

    def verified() -> tuple[int, str]:
        told = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": story.token}
        status, out, _ = bot("verify", CONTENTS, "--config", str(tmp_path / "bot.toml"), env=told)
        return status, out

    status, out = verified()
    first, read, last = out.splitlines()
    assert (status, first, last) == (0, f"✓ follows (file)  {KEY}", "1 row: 1 follows")
    assert read.endswith(": the entries, and the cells of the table")
    rows, why = EDITS[how]
    edited = TABLE + rows if rows is not None else (TABLE + NEW).replace(b"Average", b"Mean")
    hub.push(story.target, {"board.csv": edited + b"olympus/ares,7,\r\n"})  # the rows of others do not count
    status, out = verified()
    assert (status, f"✗ table (file)  {KEY}: {why}" in out) == (1, True), out
    if how == "edited":
        assert "    Average: published 68.33, computed 58.33\n" in out
    story.end()


def test_records_beside_the_table_let_anybody_check_a_row_and_outlive_the_state(hub: Hub, tmp_path: Path) -> None:
    story = TableStory(hub, tmp_path, form="commit", options="records = true\n")
    story.push()
    story.settle()
    paths = [path for path, _ in story.target.main.tree.files()]
    declared = story.contexts.leaderboard(story.watch)
    assert paths == ["board.csv", declaration_path(declared.digest), entry_path(KEY)]
    assert story.acts() == ["commit"]

    def verified() -> list[tuple[str, str]]:
        opener = Opener(Access(hf_endpoint=hub.url, hf_token=story.token))
        target = opener.target("hf://datasets/acme/contents", "commit")
        return [(row.key, row.outcome) for row in Verifier(target, opener, sources=[opener.folder]).verify()]

    assert verified() == [(KEY, "follows")]
    hub.push(story.target, {entry_path(KEY): story.board_file(entry_path(KEY)).replace(b"0.7", b"0.8")})
    assert verified() == [(KEY, "differs")]
    hub.push(story.target, {entry_path(KEY): story.board_file(entry_path(KEY)).replace(b"0.8", b"0.7")})

    story.lose_state()
    story.push(right=BETTER)
    story.settle()
    assert story.board() == TABLE + CHANGED
    assert story.acts() == ["commit"]
    story.end()
