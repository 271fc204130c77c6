"""A kept property is worked out once, and what is kept between two passes stays within its bounds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

from bot.platforms.caches import Contents, lazy_property

TOGETHER = Barrier(2, timeout=20)


class Asked:
    """Answers when two threads ask at the same time."""

    numbers = count()

    @lazy_property
    def answer(self) -> int:
        """Each answer is another."""
        TOGETHER.wait()
        return next(self.numbers)


def test_threads_do_not_wait_for_each_other() -> None:
    first, second = Asked(), Asked()

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: one.answer, (first, second)))

    assert sorted(found) == [0, 1]
    assert [first.answer, second.answer] == found  # nothing is asked again
    assert Asked.answer.__doc__ == "Each answer is another."


def test_contents_are_kept_up_to_so_many_bytes() -> None:
    kept = Contents(most=10)
    for name in "abc":
        kept[name] = name.encode() * 4
    kept["large"] = b"x" * 11
    kept["c"] = b"cc"

    assert dict(kept) == {"b": b"bbbb", "c": b"cc"}
    kept["d"] = b"dddd"
    assert list(kept) == ["b", "c", "d"]
    del kept["b"]
    assert (len(kept), kept.get("b"), kept["d"]) == (2, None, b"dddd")
