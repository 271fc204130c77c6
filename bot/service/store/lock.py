"""One process for each SQLite state: a second one gets an error. A database server has its own locks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from bot.errors import StateUnavailable
from bot.service.store.engine import parse_database, sqlite_file


class StateInUse(StateUnavailable):
    """Another process uses the state."""


@contextmanager
def state_lock(database: str, *, patience: float = 0.0) -> Iterator[None]:
    """Hold the lock of the state for the block; it waits `patience` seconds for it, then raises StateInUse.

    Raises CallError for an address that names no database.

    The lock belongs to the process, so a killed one leaves none behind.
    """
    path = sqlite_file(parse_database(database))
    if path is None:
        yield
        return
    if not path.parent.is_dir():
        raise StateUnavailable(str(path), "its folder does not exist")
    lock = FileLock(f"{path}.lock", timeout=patience)
    try:
        lock.acquire()
    except Timeout:
        why = "another process uses it; let that one settle (`serve` does so by itself), or stop it first"
        raise StateInUse(str(path), why) from None
    except OSError as error:
        raise StateUnavailable(str(path), error.strerror or str(error)) from None
    try:
        yield
    finally:
        lock.release()
