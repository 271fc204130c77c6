"""A kept property is worked out once, and by threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

from bot.platforms.caches import kept_property

TOGETHER = Barrier(2, timeout=20)


class Asked:
    """Answers when two threads ask at the same time."""

    numbers = count()

    @kept_property
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
