"""What is remembered of a service: contents within a bound, and our discussions and requests."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import UserDict
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import cached_property
from io import SEEK_END
from typing import IO, Any, Literal, TypeVar

from bot.errors import Unavailable

T = TypeVar("T")
MOST_CONTENTS = 256 * 1024 * 1024  # of contents that are kept


class lazy_property(cached_property[T]):  # noqa: N801 - a decorator, as `property` is
    """`functools.cached_property` without its lock; `del` of the attribute forgets the value.

    Python 3.11 has one lock for a property of all instances, so that threads wait for each other's requests; Python
    3.12 has none. Here two threads may both compute the value of one instance.
    """

    def __init__(self, method: Callable[[Any], T]) -> None:
        super().__init__(method)
        self.lock = nullcontext()


class Contents(UserDict[str, bytes]):
    """Contents by object id, up to so many bytes together: the oldest are dropped first, a larger one is not kept."""

    def __init__(self, most: int = MOST_CONTENTS) -> None:
        super().__init__()
        self._most, self._size = most, 0
        self._lock = threading.Lock()

    def __setitem__(self, oid: str, data: bytes) -> None:
        with self._lock:
            self._size -= len(self.data.pop(oid, b""))
            if len(data) <= self._most:
                self.data[oid] = data
                self._size += len(data)
            while self._size > self._most:
                self._size -= len(self.data.pop(next(iter(self.data))))

    def __delitem__(self, oid: str) -> None:
        with self._lock:
            self._size -= len(self.data.pop(oid))


Kind = Literal["discussion", "pull_request"]
OPEN = frozenset({"open", "draft"})  # what a list shows of the open ones
Row = dict[str, str]
TIMES = 0  # the number of the row with the times of the last whole lists; no discussion has it


class KnownThreads:
    """The remembered discussions and requests that we opened in one repository, by their numbers.

    A row has at least `kind`, `status` and `mark`. This class keeps them for one command; a service has a database.
    """

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}

    def find(self, num: int) -> Row | None:
        """The row of one number; None if it is not known."""
        return self._rows.get(num)

    def at(self, nums: Iterable[int]) -> dict[int, Row]:
        """The known rows of these numbers."""
        return {num: row for num in nums if (row := self.find(num)) is not None}

    def note(self, num: int, values: Row) -> None:
        """Add values to a row; a row that has them already is not written again."""
        before = self.find(num) or {}
        after = before | values
        if after != before:
            self.put(num, after)

    def put(self, num: int, row: Row) -> None:
        """Replace a row."""
        self._rows[num] = row

    def of(self, kind: Kind, mark: str | None = None) -> list[tuple[int, Row]]:
        """The rows of one kind, with one mark where it is given, oldest first."""
        found = sorted(self._rows.items())
        return [(num, row) for num, row in found if row["kind"] == kind and mark in {None, row["mark"]}]

    def open_since(self, kind: Kind, oldest: int = 0) -> list[tuple[int, Row]]:
        """The open ones of one kind whose number is at least `oldest`, oldest first."""
        return [(num, row) for num, row in self.of(kind) if row["status"] in OPEN and num >= oldest]

    def open_count(self, kind: Kind) -> int:
        """How many of one kind are open."""
        return len(self.open_since(kind))

    def note_lost(self, is_lost: Callable[[str], bool]) -> None:
        """Remember of each open request whether the commit of main at which it began is lost."""
        for num, row in self.open_since("pull_request"):
            if row.get("base"):
                self.note(num, {"lost": "yes" if is_lost(row["base"]) else ""})

    def clear(self) -> None:
        """Forget everything."""
        self._rows.clear()

    def listed_at(self, kind: Kind) -> float | None:
        """When the lists of one kind were last read to their ends (Unix seconds); None if they never were."""
        found = (self.find(TIMES) or {}).get(kind)
        return None if found is None else float(found)

    def set_listed(self, kind: Kind, now: float) -> None:
        """Note that the lists of one kind were read to their ends."""
        self.note(TIMES, {"kind": "", "status": "", "mark": "", kind: str(now)})


OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def blob_id(data: bytes) -> str:
    """The object id that git gives to a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_content(data: bytes, oid: str) -> bool:
    """Tell whether an object id names these bytes; 64 digits are a SHA-256, 40 are git's."""
    return (hashlib.sha256(data).hexdigest() if len(oid) == 64 else blob_id(data)) == oid


def check_file(file: IO[bytes], oid: str | None, service: str, where: str) -> None:
    """Raise Unavailable if the bytes of a file are not those of its object id; nothing is checked without one."""
    if oid is None or not OBJECT_ID.fullmatch(oid):
        return
    size = file.seek(0, SEEK_END)
    head = hashlib.sha256() if len(oid) == 64 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    file.seek(0)
    if hashlib.file_digest(file, lambda: head).hexdigest() != oid:  # type: ignore[arg-type]  # any file has readinto
        raise Unavailable(service, f"{where}: {size:,} bytes arrived that are not those of object {oid[:12]}")
