"""What is remembered of our discussions and requests: found by number, kind, state and mark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.caches import KnownThreads
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.world.postgres import Cluster


def row(mark: str, status: str = "open", kind: str = "pull_request") -> dict[str, str]:
    return {"kind": kind, "status": status, "closed_by": "", "mark": mark}


def database(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'state.db'}"
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.database()


@pytest.fixture(params=["command", "sqlite", "postgresql"])
def known(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnownThreads]:
    if request.param == "command":
        yield KnownThreads()
        return
    store = Store(connect(database(request.param, request, tmp_path)))
    yield store.known_threads("t")
    store.close()


def test_each_kind_is_found_by_itself(known: KnownThreads) -> None:
    known.put(7, row("a"))
    known.put(3, row("a", kind="discussion"))
    assert known.of("discussion") == [(3, row("a", kind="discussion"))]
    assert known.of("pull_request", "a") == [(7, row("a"))]
    assert (known.open_since("pull_request"), known.open_count("discussion")) == ([(7, row("a"))], 1)
    known.clear()
    assert (known.find(7), known.of("pull_request"), known.open_count("discussion")) == (None, [], 0)


def test_a_mark_may_have_any_length_and_characters(known: KnownThreads) -> None:
    mark = "".join(map(chr, range(0, 55_000, 7))) + "\udcff"
    known.put(1, row(mark))
    known.put(2, row(mark[:-1]))
    assert known.of("pull_request", mark) == [(1, row(mark))]


def test_another_mark_and_a_reopened_one(known: KnownThreads) -> None:
    known.put(9, row("b", "closed"))
    known.put(4, row("b"))
    assert [num for num, _ in known.of("pull_request", "b")] == [4, 9]
    assert known.open_since("pull_request") == [(4, row("b"))]
    known.put(9, row("c", "draft"))
    assert known.of("pull_request", "b") == [(4, row("b"))]
    assert known.of("pull_request", "c") == [(9, row("c", "draft"))]
    assert (known.open_count("pull_request"), known.open_since("pull_request", 5)) == (2, [(9, row("c", "draft"))])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_another_process_remembered_is_known(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url = database(kind, request, tmp_path)
    ours, other = Store(connect(url)), Store(connect(url))
    ours.known_threads("t").put(2, row("a"))
    other.known_threads("t").put(5, row("b"))
    other.known_threads("another").put(7, row("b"))
    other.known_threads("t").put(2, row("a", "closed"))
    assert ours.known_threads("t").of("pull_request") == [(2, row("a", "closed")), (5, row("b"))]
    assert ours.known_threads("t").find(7) is None
    other.known_threads("t").clear()
    assert ours.known_threads("t").of("pull_request") == []
    assert ours.known_threads("another").open_count("pull_request") == 1
    ours.close()
    other.close()


def test_the_times_of_whole_lists_are_kept_and_are_no_discussion(known: KnownThreads) -> None:
    known.set_listed("discussion", 5.0)
    known.set_listed("pull_request", 7.5)
    assert (known.listed_at("discussion"), known.listed_at("pull_request")) == (5.0, 7.5)
    assert (known.of("discussion"), known.open_count("pull_request")) == ([], 0)
