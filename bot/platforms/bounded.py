"""A memory between two passes with bounds: the oldest entry is removed first."""

from __future__ import annotations

import threading
from collections.abc import Iterator, MutableMapping, MutableSet

MOST_BYTES = 256 * 1024 * 1024  # of contents that are kept
MOST_COMMITS = 10_000  # commits of the bot that are remembered


class Contents(MutableMapping[str, bytes]):
    """Contents by object id, of at most so many bytes in all; one that is larger is not kept."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._kept: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def __getitem__(self, oid: str) -> bytes:
        return self._kept[oid]

    def __setitem__(self, oid: str, data: bytes) -> None:
        with self._lock:
            self._drop(oid)
            if len(data) > self._most:
                return
            self._kept[oid] = data
            self._size += len(data)
            while self._size > self._most:
                self._drop(next(iter(self._kept)))

    def __delitem__(self, oid: str) -> None:
        with self._lock:
            self._drop(oid)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, oid: str) -> None:
        self._size -= len(self._kept.pop(oid, b""))


class Latest(MutableSet[str]):
    """The words that were added last, so many of them."""

    def __init__(self, most: int = MOST_COMMITS) -> None:
        self._most = most
        self._kept: dict[str, None] = {}

    def __contains__(self, word: object) -> bool:
        return word in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, value: str) -> None:
        """Remember a word."""
        self._kept[value] = None
        while len(self._kept) > self._most:
            self._kept.pop(next(iter(self._kept)), None)

    def discard(self, value: str) -> None:
        """Forget a word."""
        self._kept.pop(value, None)
