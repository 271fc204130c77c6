"""Filling a folder with many rows: what a person writes meanwhile stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import Stale
from bot.platforms.git.target import Folder
from bot.publishing.entry import entry_path
from bot.publishing.publication import Form, rolling_mark
from bot.publishing.texts import import_text
from bot.service.fill.importing import PlainBulkWriter
from bot.service.publish.one_call import publish
from tests.platforms.git.publisher import entry

MARK = rolling_mark("tiny")
TEXT = import_text(2, "results", MARK)


@pytest.mark.parametrize("form", ["commit", "pull-request"])
def test_a_row_that_somebody_merged_after_the_look_is_not_written_over(tmp_path: Path, form: Form) -> None:
    target = Folder(str(tmp_path / "board"))
    bulk_writer = PlainBulkWriter(target, MARK, form)
    rows = [entry(), entry("acme/ceres-7b")]
    files = {entry_path(row.key): row.to_bytes() for row in rows}
    assert bulk_writer.current(files) == {}
    theirs = entry(right=(1, 60, 70))
    publish([theirs], target, "commit")

    with pytest.raises(Stale, match="1 row was written there meanwhile"):
        bulk_writer.write(files, TEXT)

    current = bulk_writer.current(files)
    assert current == {entry_path(theirs.key): theirs.to_bytes()}
    bulk_writer.write({path: data for path, data in files.items() if path not in current}, TEXT)
    assert bulk_writer.current(files) == {**files, **current}
