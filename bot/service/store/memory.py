"""The remembered requests and discussions of a repository, as a mapping."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, MutableMapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.service.store import Store


class Memory(MutableMapping[int, bytes]):
    """What is known of one repository's requests and discussions, by number; what is put in is kept at once.

    What another process put in is found when it is asked for by its number, and what is newer than all else whenever
    all of it is looked through.
    """

    def __init__(self, store: Store, target: str) -> None:
        self._store, self._target = store, target
        self._known = store.requests(target)
        self._newest = max(self._known, default=0)

    def __getitem__(self, num: int) -> bytes:
        if num not in self._known:
            data = self._store.request(self._target, num)
            if data is None:
                raise KeyError(num)
            self._known[num] = data
        return self._known[num]

    def __setitem__(self, num: int, data: bytes) -> None:
        if self._known.get(num) != data:
            self._known[num] = data
            self._store.set_request(self._target, num, data)

    def __delitem__(self, num: int) -> None:
        raise NotImplementedError  # nothing is forgotten one by one

    def __iter__(self) -> Iterator[int]:
        return iter(self._all())

    def keys(self) -> KeysView[int]:
        """The numbers of all that is known; one by one takes much longer."""
        return self._all().keys()

    def items(self) -> ItemsView[int, bytes]:
        """All that is known."""
        return self._all().items()

    def _all(self) -> dict[int, bytes]:
        found = self._store.requests(self._target, after=self._newest)
        self._known |= found
        self._newest = max(found, default=self._newest)
        return self._known.copy()  # another thread may add one meanwhile

    def __len__(self) -> int:
        return len(self._known)
