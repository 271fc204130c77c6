"""What was added, changed and removed on the board, from the commits on main."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.platforms.git.target import MAIN, LocalRepository
from bot.platforms.history import folder_history
from bot.publishing.changes import MEASURED, BoardChange
from bot.publishing.entry import Entry, entry_path
from tests.pages.boards import generated

BOARD = "open-llm-v2"


class Story:
    """A repository in which each commit is told in one line."""

    def __init__(self, folder: Path) -> None:
        self.repository = LocalRepository(str(folder), ())
        self.repository.start()
        with self.repository.alone():
            pass

    def commit(self, subject: str, files: dict[str, bytes | None], *, merge: str = "") -> None:
        main = self.repository.main
        made = self.repository.write_commit(main, files, subject)
        if merge:
            tree = self.repository.git("rev-parse", f"{made}^{{tree}}").decode().strip()
            arguments = ("commit-tree", tree, "-p", main, "-p", made, "-F", "-")
            made = self.repository.git(*arguments, data=merge.encode()).decode().strip()
        self.repository.move_refs([(MAIN, main, made)])

    def put(self, subject: str, *entries: Entry, merge: str = "") -> None:
        self.commit(subject, {entry.path: entry.to_bytes() for entry in entries}, merge=merge)

    def changes(self) -> list[BoardChange]:
        return list(folder_history(str(self.repository.folder), BOARD))


def told(changes: list[BoardChange]) -> list[tuple[str, str, float | None, float | None, str]]:
    return [(change.kind, change.model, change.before, change.after, change.reason) for change in changes]


def test_rows_come_change_and_go_the_newest_first(tmp_path: Path) -> None:
    one, other = generated(2)
    story = Story(tmp_path)
    story.put("Add two\n\nwith a text", one, other)
    story.put("Measure again", replace(one, average=12.5))
    story.commit("Withdraw", {entry_path(other.key): None})
    changes = story.changes()
    assert told(changes) == [
        ("removed", other.model.id, other.average, None, "Withdraw"),
        ("changed", one.model.id, one.average, 12.5, "Measure again"),
        *(
            ("added", entry.model.id, None, entry.average, "Add two")
            for entry in sorted((one, other), key=lambda e: e.key)
        ),
    ]
    assert changes[0].commit == story.repository.main
    assert all(len(change.date) == 20 and change.date.endswith("Z") for change in changes)


@pytest.mark.parametrize(
    ("merge", "reason"),
    [("Merge a request", "Merge a request"), ("Merge branch 'leaderboard-bot/x'", f"{MEASURED}: ")],
)
def test_a_merged_request_is_one_change_of_its_merge(tmp_path: Path, merge: str, reason: str) -> None:
    story = Story(tmp_path)
    story.put("Propose", generated(1)[0], merge=merge)
    assert [change.reason[: len(reason)] for change in story.changes()] == [reason]


def test_a_commit_that_changes_no_number_is_no_change(tmp_path: Path) -> None:
    entry = generated(1)[0]
    story = Story(tmp_path)
    story.put("Add", entry)
    story.put("Write again by another version", replace(entry, tool="9.9"))
    assert len(story.changes()) == 1


def test_what_is_no_entry_and_what_is_another_boards_is_left_out(tmp_path: Path) -> None:
    story = Story(tmp_path)
    files = {f"entries/{BOARD}/a/b/c.json": b"{}", f"entries/{BOARD}/a/\xff.json": b"x" * 600_000}
    story.commit("Odd \x01 \x02 files", {**files, "entries/other/a/b/c.json": generated(1)[0].to_bytes()})
    assert story.changes() == []


def test_a_folder_without_rows_has_no_history(tmp_path: Path) -> None:
    assert Story(tmp_path).changes() == []
