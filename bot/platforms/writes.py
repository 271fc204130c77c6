"""What comes before a write: a check that this process still may, a note of the intention, a split into commits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())
Intend = Callable[[str, float], AbstractContextManager[object]]
FILES, BYTES = 100, 20_000_000  # of one commit; a single larger file is a commit of its own


@contextmanager
def checked_lease(check: Callable[[], None]) -> Iterator[None]:
    """Have `check` called before each write in this block; it raises LeaseLost where another process may write."""
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)


def check_lease() -> None:
    """See that this process may still write. Raises LeaseLost."""
    for check in _checks.get():
        check()


def no_intent(_: str, __: float) -> AbstractContextManager[object]:
    """Allow the write: there is one process only, and it remembers nothing."""
    return nullcontext()


def held(intend: Intend, place: str, text: str, seconds: float) -> AbstractContextManager[object]:
    """Keep other processes from writing about the mark of a text while it is written at a place.

    Raises Unsettled where another process writes about it. A process that was killed meanwhile counts for `seconds`:
    what it sent shows by then, or never.
    """
    from bot.publishing.publication import find_marker  # only who writes loads it: it takes most of a command's start

    mark = find_marker(text)
    return nullcontext() if mark is None else intend(f"{place} {mark.name}", seconds)


def in_chunks(
    files: Iterable[tuple[str, bytes | None]], most: int = FILES, most_bytes: int = BYTES
) -> Iterator[dict[str, bytes | None]]:
    """The files (None deletes one) in their order, at most `most` and `most_bytes` in each part; no part is empty."""
    part: dict[str, bytes | None] = {}
    size = 0
    for path, data in files:
        more = len(data or b"")
        if part and (len(part) == most or size + more > most_bytes):
            yield part
            part, size = {}, 0
        part[path] = data
        size += more
    if part:
        yield part


def part_title(title: str, number: int, of: int) -> str:
    """The title of one part's commit."""
    return title if of == 1 else f"{title} ({number} of {of})"
