"""What the service remembers, and that losing or breaking it costs no more than reading again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.service.store import HISTORY, Store, connect


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))
    yield store
    store.close()


def test_what_was_remembered_is_found_in_the_next_process(store: Store, tmp_path: Path) -> None:
    store.set_cursor("w", "source", "a" * 40)
    store.set_cursor("w", "source", "b" * 40)
    store.set_submissions("w", {"x.json": ("key", b"1"), "y.json": (None, b"2")})
    store.set_submissions("w", {"y.json": None, "x.json": ("key", b"3")})
    store.set_request("t", 4, b"5")
    again = Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))

    assert again.cursor("w", "source") == "b" * 40
    assert again.submissions("w") == {"x.json": b"3"}
    assert again.submissions_at("w", keys=["key"]) == again.submissions_at("w", paths=["x.json"]) == {"x.json": b"3"}
    assert again.requests("t") == {4: b"5"}
    again.close()


def test_the_files_of_a_folder_are_those_in_it_and_no_others(store: Store) -> None:
    paths = ["top.json", "a/1.json", "a/b/2.json", "a0/3.json", "a/4.json", "a-/5.json", "é/6.json"]
    store.set_submissions("w", {path: (None, path.encode()) for path in paths})

    assert sorted(store.submissions_in("w", "a")) == ["a/1.json", "a/4.json"]
    assert sorted(store.submissions_in("w", "")) == ["top.json"]
    assert sorted(store.submissions_in("w", "é")) == ["é/6.json"]
    assert store.submissions_in("w", "b") == {}


def test_a_forgotten_watch_leaves_the_others(store: Store) -> None:
    for watch in ("v", "w"):
        store.set_cursor(watch, "source", "a")
        store.set_submissions(watch, {"x.json": (None, b"1")})
    store.forget_watch("v")

    assert (store.cursor("v", "source"), store.submissions("v")) == (None, {})
    assert (store.cursor("w", "source"), store.submissions("w")) == ("a", {"x.json": b"1"})


def test_the_newest_outcomes_are_kept(store: Store) -> None:
    store.add_outcomes("w", [("published", f"s{n}", "") for n in range(HISTORY + 20)])
    shown = store.outcomes("w", limit=1000)

    assert len(shown) == HISTORY
    assert shown[0]["subject"] == f"s{HISTORY + 19}"


@pytest.mark.parametrize("content", [b"this is no database at all, whatever its name says", b"\x00" * 5000])
def test_a_broken_file_is_put_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    store = Store(connect(f"sqlite:///{path}"))

    assert store.cursor("w", "source") is None
    assert path.with_suffix(".db.broken").read_bytes() == content
    store.close()


def test_a_store_of_another_version_is_emptied(store: Store, tmp_path: Path) -> None:
    store.set_cursor("w", "source", "a")
    store.close()
    with sqlite3.connect(tmp_path / "state.db") as database:
        database.execute("update cursors set value = '0' where subject = 'version'")
    database.close()
    again = Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))

    assert again.cursor("w", "source") is None
    again.close()
