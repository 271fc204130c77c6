"""What is remembered of our discussions and requests: found by mark, and moved on by what is new."""

from __future__ import annotations

from bot.platforms.hub.known_threads import KnownThreads
from bot.service.store import Store, connect


def row(mark: str, status: str = "open", kind: str = "pull_request") -> dict[str, str]:
    return {"kind": kind, "status": status, "closed_by": "", "mark": mark}


def test_what_is_put_in_counts_from_the_next_look() -> None:
    known = KnownThreads({})
    known.put(7, row("a"))
    assert known.of("pull_request").with_mark("a") == []
    assert known.find(7) == row("a")
    assert known.now("pull_request") == [(7, row("a"))]
    assert known.take_in("pull_request").with_mark("a") == [(7, row("a"))]
    known.put(7, row("a", "closed"))
    assert known.of("pull_request").open == {7}
    assert known.find(7) == row("a", "closed")
    one = known.take_in("pull_request")
    assert (one.open, one.ended, one.with_mark("a")) == (set(), {7}, [(7, row("a", "closed"))])


def test_a_look_at_requests_leaves_the_discussions_as_they_were() -> None:
    known = KnownThreads({})
    known.put(3, row("a", kind="discussion"))
    known.take_in("pull_request")
    assert known.of("discussion").rows == {}
    assert known.take_in("discussion").marked() == [(3, row("a", kind="discussion"))]


def test_another_mark_and_a_reopened_one() -> None:
    known = KnownThreads({})
    known.put(9, row("b", "closed"))
    known.put(4, row("b"))
    known.put(5, row(""))
    one = known.take_in("pull_request")
    assert [num for num, _ in one.with_mark("b")] == [4, 9]
    assert [num for num, _ in one.marked()] == [4, 9]
    known.put(9, row("c", "draft"))
    one = known.take_in("pull_request")
    assert (one.with_mark("b"), one.with_mark("c")) == ([(4, row("b"))], [(9, row("c", "draft"))])
    assert (one.open, one.ended) == ({4, 5, 9}, set())


def test_what_another_process_remembered_is_learned() -> None:
    store = Store(connect("sqlite://"))
    ours, theirs = KnownThreads(store.memory("t")), store.memory("t")
    ours.put(2, row("a"))
    ours.ask_memory()
    theirs[5] = b'{"kind": "pull_request", "status": "open", "closed_by": "", "mark": "b"}'
    assert ours.take_in("pull_request").with_mark("b") == []
    ours.ask_memory()
    assert ours.take_in("pull_request").with_mark("b") == [(5, row("b"))]
    # An older number, remembered late: found by its number, as a list of the Hub names it.
    theirs[4] = b'{"kind": "pull_request", "status": "open", "closed_by": "", "mark": "c"}'
    assert ours.find(4) == row("c")
    assert ours.find(6) is None
    assert ours.take_in("pull_request").with_mark("c") == [(4, row("c"))]
