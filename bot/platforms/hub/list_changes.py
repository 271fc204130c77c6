"""Find the changes in a long list of discussions by reading few of its pages.

The Hub lists the newest first. Where one of ten thousand open requests was closed, all pages before it are as they were
and none behind it is: the first one that changed is searched for as a word in a dictionary.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from operator import neg

from bot.platforms.discussions import Listed

ReadPage = Callable[[int], tuple[int, list[Listed]]]


class UnexpectedOrder(Exception):
    """The list is not the newest first, or it changed while it was read."""


@dataclass
class ListChanges:
    """The changes of one list; `read` gives how many rows the Hub counts, and those of one page.

    `found` has the status of each row that was read. `numbers` is the list as it must be by all that was read, newest
    first, and `total` how many it must hold.
    """

    read: ReadPage
    known: Collection[int]
    found: dict[int, str] = field(default_factory=dict)
    total: int = 0
    numbers: list[int] = field(default_factory=list, repr=False)
    _pages: dict[int, list[int]] = field(default_factory=dict, repr=False)

    def search(self) -> set[int]:
        """The known ones that are no longer listed. Raises UnexpectedOrder."""
        first = self._page(0)
        if len(self.known) + sum(num not in self.known for num in first) == self.total:
            return set()
        self.numbers = sorted(self.known, reverse=True)
        page = 0
        while True:
            self._take(page)
            if len(self.numbers) == self.total:
                return set(self.known).difference(self.numbers)
            page = self._next_changed(page)

    @property
    def _size(self) -> int:
        return len(self._pages[0])

    def _page(self, number: int) -> list[int]:
        """The numbers on one page, each page read once."""
        if number not in self._pages:
            self.total, rows = self.read(number)
            nums = [row.num for row in rows]
            if any(one <= other for one, other in pairwise(nums)):
                raise UnexpectedOrder
            self.found |= {row.num: row.status for row in rows}
            self._pages[number] = nums
        return self._pages[number]

    def _take(self, number: int) -> None:
        """Take over one page, before which nothing differs; what lies between its rows and was expected is gone."""
        rows, start = self._page(number), number * self._size
        is_last = start + len(rows) >= self.total
        if not is_last and (not rows or len(rows) < self._size):
            raise UnexpectedOrder
        end = len(self.numbers) if is_last else bisect_left(self.numbers, 1 - rows[-1], lo=start, key=neg)
        self.numbers[start:end] = rows
        if start and rows and rows[0] >= self.numbers[start - 1]:
            raise UnexpectedOrder

    def _next_changed(self, after: int) -> int:
        """The first page after this one that is not as expected: ever larger steps, then halves."""
        last = (max(self.total, len(self.numbers)) - 1) // self._size
        same, step = after, 1
        while same + step < last and not self._is_changed(same + step):
            same, step = same + step, 2 * step
        low, high = same + 1, min(same + step, last)
        if low > high:
            raise UnexpectedOrder
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_changed(middle) else (middle + 1, high)
        return low

    def _is_changed(self, number: int) -> bool:
        return self._page(number) != self.numbers[number * self._size : (number + 1) * self._size]
