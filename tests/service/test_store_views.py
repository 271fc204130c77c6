"""What the pages read of the state, a page at a time, on both databases."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.publishing.board import Standing, rank_entries, standing_among
from bot.publishing.changes import BoardChange
from bot.service.store.boards import StoredBoard
from bot.service.store.items import STATES, Item, Mark
from bot.service.store.state import Store, WatchState
from tests.pages.boards import examples, generated
from tests.service.test_store import shared, state, store, submission, url

__all__ = ["shared", "state", "store", "url"]
BOARD = StoredBoard("h" * 40, "open-llm-v2", "x")


def test_items_come_page_by_page_in_each_state(store: Store, state: WatchState) -> None:
    state.items.mark([Mark("row", f"k{i}", to) for i in range(5) for to in ("a", "b")], 1.0)
    state.items.mark([Mark("board", "", "a"), Mark("file", "% _\\.json")], 1.0)
    for one in [one for one in state.items.all() if one.target == "b"]:
        state.items.fail(one, "why", 9.0)
    state.items.hold([one for one in state.items.all() if one.kind == "file"], "held")
    seen = {}
    for each in STATES:
        found, after = [], None
        while some := state.items.page(each, after, 2):
            found += some
            after = (some[-1].kind, some[-1].target, some[-1].subject)
        seen[each] = [(one.kind, one.target, one.subject) for one in found]
    assert seen["failing"] == [("row", "b", f"k{i}") for i in range(5)]
    assert seen["waiting"] == [("board", "a", ""), *(("row", "a", f"k{i}") for i in range(5))]
    assert seen["held"] == [("file", "", "% _\\.json")]
    assert state.items.counts() == {
        ("row", "waiting"): 5,
        ("board", "waiting"): 1,
        ("row", "failing"): 5,
        ("file", "held"): 1,
    }
    assert state.items.retry(("row", "b", "k0"), 5.0)
    assert not state.items.retry(("file", "", "% _\\.json"), 5.0)
    assert not store.of("other").items.retry(("row", "b", "k0"), 5.0)
    assert [one.subject for one in state.items.due("row", 6.0) if one.target == "b"] == ["k0"]


def test_an_item_of_a_whole_target_or_source_is_called_as_in_other_lines() -> None:
    board = Item("ours", "board", "hf://datasets/acme/contents", "")
    assert [one.name for one in (board, Item("ours", "source", "", ""), Item("ours", "folder", "", "/acme"))] == [
        "board of hf://datasets/acme/contents",
        "source of ours",
        "folder /acme",
    ]
    assert Item("ours", "row", "hf://datasets/acme/contents", "tiny/acme/m").name == "tiny/acme/m"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["A/1.json", "a_b/2.json", "a%b/3.json", "z/4.json"]),
        ("a/1", ["A/1.json"]),
        ("_", ["a_b/2.json"]),
        ("%", ["a%b/3.json"]),
        ("KEY-Z", ["z/4.json"]),
        ("\\", []),
        ("'; drop table items; --", []),
    ],
)
def test_a_search_takes_every_letter_as_it_is(store: Store, state: WatchState, text: str, found: list[str]) -> None:
    keys = {"A/1.json": "key-a", "a_b/2.json": None, "a%b/3.json": None, "z/4.json": "key-z"}
    state.submissions.keep([submission(path, key, "rejected" if key else "unread") for path, key in keys.items()])
    store.of("other").submissions.keep([submission("A/9.json", "key-z")])
    assert sorted(one.path for one in state.submissions.page(text=text)) == sorted(found)
    rejected = [path for path in found if keys[path]]
    assert sorted(one.path for one in state.submissions.page("rejected", text)) == sorted(rejected)
    first = state.submissions.page(text=text, limit=1)
    if first:
        rest = state.submissions.page(text=text, after=first[0].path)
        assert [one.path for one in (*first, *rest)] == [one.path for one in state.submissions.page(text=text)]


def test_rejected_submissions_are_counted_and_found_by_their_reasons(store: Store, state: WatchState) -> None:
    reasons = ["limited-run", "limited-run", "limited-run, missing-task", "missing-task", ""]
    rejected = [replace(submission(f"{i}.json", "key", "rejected"), why=why)
                for i, why in enumerate(reasons)]  # fmt: skip
    state.submissions.keep([*rejected, submission("sound.json", "key")])
    counted = [("limited-run", 2), ("", 1), ("limited-run, missing-task", 1), ("missing-task", 1)]
    assert state.submissions.rejections(9) == counted
    assert state.submissions.rejections(1) == counted[:1]
    assert store.of("other").submissions.rejections(9) == []
    found = state.submissions.page("rejected", "missing-task")
    assert [(one.path, one.why) for one in found] == [("2.json", reasons[2]), ("3.json", reasons[3])]

    state.submissions.set_verdicts([replace(rejected[3], status="accepted", why="")])
    assert state.submissions.rejections(9) == counted[:3]


def test_a_board_is_kept_with_what_came_changed_and_went(state: WatchState) -> None:
    rows = (*examples(), *generated(3))
    assert state.boards.at("t") is None
    state.boards.keep("t", BOARD, rows, "2026-03-01T00:00:00Z")
    assert state.boards.at("t") == BOARD
    assert {entry.key: entry for entry in state.boards.entries("t")} == {entry.key: entry for entry in rows}
    assert len(state.boards.changes("t")) == len(rows)
    state.boards.keep("t", BOARD, rows, "2026-03-02T00:00:00Z")
    assert len(state.boards.changes("t")) == len(rows)
    state.boards.keep("t", BOARD, rows[1:], "2026-03-03T00:00:00Z")
    newest = state.boards.changes("t")[0]
    assert isinstance(newest, BoardChange)
    assert (newest.kind, newest.key, newest.date) == ("removed", rows[0].key, "2026-03-03T00:00:00Z")
    assert state.boards.count_rows("t")
    assert not state.boards.count_rows("other")


def test_a_board_says_where_a_row_would_stand(state: WatchState) -> None:
    rows = [one for one in (*examples(), *generated(60)) if one.average is not None]
    odd = [
        replace(rows[0], key="b/none", average=None, stderr=None),
        replace(rows[1], key="b/wrong", average=(rows[1].average or 0.0) + 1),
        replace(rows[2], key="b/exact", stderr=None, tasks=tuple(replace(one, stderr=None) for one in rows[2].tasks)),
    ]
    there = [*rows[1:], *odd]
    state.boards.keep("t", BOARD, there, "2026-03-01T00:00:00Z")
    asked = [*rows, odd[2]]  # the first is new, each other takes the place of the row of its key
    found = [state.boards.standing("t", row) for row in asked]
    ranked = [line.entry for line in rank_entries(there)]
    assert found == [standing_among(row, ranked) for row in asked]
    assert all(one.ranked < one.rows for one in found)
    assert {one.better + one.worse < one.ranked for one in found} == {True, False}  # chance explains some differences
    assert state.boards.standing("other", rows[0]) == Standing(0, 0, 0, 0)
