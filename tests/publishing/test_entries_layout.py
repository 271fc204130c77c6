"""The default layout: one file for each row, which holds the whole entry."""

from __future__ import annotations

import json

import msgspec
import pytest

from bot.errors import MalformedEntry
from bot.publishing.entry import entry_path
from bot.publishing.layout import ENTRIES, RowChange
from tests.platforms.git.publisher import entry

ROW = entry()
PATH, DATA = entry_path(ROW.key), ROW.to_bytes()
ADD, REMOVE = RowChange(ROW.key, ROW), RowChange(ROW.key, None)
PRETTY = json.dumps(json.loads(DATA), indent=2).encode()


def test_the_path_follows_from_the_key_and_back() -> None:
    assert ENTRIES.path_of(ROW.key) == PATH
    assert ENTRIES.key_of(PATH) == ROW.key
    assert [ENTRIES.key_of(path) for path in ("README.md", "results/a.json", f"{PATH}.txt", f"x{PATH}")] == [None] * 4
    assert (ENTRIES.folders([ADD]), ENTRIES.paths([ADD, REMOVE], ())) == ((), (PATH, PATH))


@pytest.mark.parametrize(
    ("change", "current", "files"),
    [
        (ADD, {}, {PATH: DATA}),
        (ADD, {PATH: DATA}, {}),
        (ADD, {PATH: PRETTY}, {}),
        (ADD, {PATH: entry(day=2, right=(60, 60, 70)).to_bytes()}, {PATH: DATA}),
        (ADD, {PATH: b"not an entry"}, {PATH: DATA}),
        (REMOVE, {PATH: DATA}, {PATH: None}),
        (REMOVE, {}, {}),
    ],
)
def test_a_file_is_written_where_its_row_is_another(
    change: RowChange, current: dict[str, bytes], files: dict[str, bytes | None]
) -> None:
    assert ENTRIES.draft([change], current).files == files


def test_a_row_is_read_back_by_its_columns() -> None:
    assert ENTRIES.read(ADD, {}) is None
    scores = {task.id: repr(task.score) for task in ROW.tasks}
    assert ENTRIES.read(ADD, {PATH: PRETTY}) == {"average": repr(ROW.average), **scores}
    without = msgspec.structs.replace(ROW, average=None).to_bytes()
    assert ENTRIES.read(ADD, {PATH: without}) == {"average": "", **scores}
    with pytest.raises(MalformedEntry, match=PATH):
        ENTRIES.read(ADD, {PATH: b"not an entry"})
