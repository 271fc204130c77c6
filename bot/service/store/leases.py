"""What only one process may do at a time: a pass over a watch, or anything with a state in a file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from filelock import FileLock, Timeout
from sqlalchemy import Connection, func, select, text

from bot.errors import BotError, LeaseLost, StateUnavailable
from bot.platforms.net import checked_lease
from bot.service.settings.config import Watch
from bot.service.store.database import Database
from bot.service.store.engine import NO_SHARING, parse_database, sqlite_file
from bot.service.waits import LEASE_LOOK

# Where the machine itself is gone, the server finds out in 25 seconds.
ALIVE = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
# A pooler of connections may ask another session than the one that has the lock; then it does not count.
HELD = text(
    "select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted"
    " and pid = pg_backend_pid() and (classid::bigint << 32) | objid::bigint = :key)"
)


def lease_name(to: str, folder: Path) -> str:
    """The name of the lease on a target, the same for each form of its address; paths start at `folder`."""
    if "://" not in to:
        return f"import into {(folder / to).resolve()}"
    return f"import into {to.partition('#')[0].partition('@')[0].rstrip('/').casefold()}"


def pass_leases(watch: Watch, folder: Path) -> tuple[str, list[str]]:
    """The name of the lease that a pass over a watch holds alone, and the names that it shares with other passes."""
    return f"watch {watch.name}", [lease_name(one.to, folder) for one in watch.targets]


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """Whether a lease was taken; where not, `what` names the lease that another process has."""

    is_ours: bool
    what: str = ""


@dataclass
class Lease:
    """One lease of this process; `connection` is its own, and one thread at a time uses it."""

    connection: Connection
    key: int
    is_lost: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def check(self) -> None:
        """See that the server still keeps the lease for us. Raises LeaseLost if it does not, and from then on."""
        with self._lock:
            try:
                self.is_lost = self.is_lost or not self.connection.execute(HELD, {"key": self.key}).scalar_one()
            except BotError:
                self.is_lost = True
        if self.is_lost:
            raise LeaseLost


class Leases(Database):
    """Leases that the server holds for a connection, so that those of a killed process are free at once."""

    @contextmanager
    def lease(self, name: str, patience: float = 0.0, *, beside: Sequence[str] = ()) -> Iterator[LeaseClaim]:
        """Lease a name for the block, and say whether that succeeded within so many seconds.

        The names `beside` are leased in shared mode: others may share them, and nobody may lease them alone meanwhile.
        Where a lease is lost, because the server was started again or ended the connection, each write in the block
        raises LeaseLost. A SQLite state has one process, which leases everything.
        """
        if self.engine.dialect.name != "postgresql":
            yield LeaseClaim(is_ours=True)
            return
        end = time.monotonic() + patience
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection, ExitStack() as kept:
            connection.detach()  # it is closed in the end, and the lease with it
            for setting in ALIVE:
                connection.execute(text(f"set {setting}"))
            while not (claim := _claimed(connection, name, beside)).is_ours and time.monotonic() < end:
                time.sleep(LEASE_LOOK)
            if claim.is_ours:
                kept.enter_context(checked_lease(Lease(connection, _key_of(name)).check))
            yield claim

    def is_free(self, name: str) -> bool:
        """Tell whether no process holds this name alone."""
        if self.engine.dialect.name != "postgresql":
            return True
        with self.transaction() as connection:
            return bool(connection.execute(select(func.pg_try_advisory_xact_lock_shared(_key_of(name)))).scalar_one())


def _claimed(connection: Connection, name: str, beside: Sequence[str]) -> LeaseClaim:
    """Take all of these leases, or none."""
    wanted = [(name, func.pg_try_advisory_lock), *((one, func.pg_try_advisory_lock_shared) for one in beside)]
    for one, take in wanted:
        if not connection.execute(select(take(_key_of(one)))).scalar_one():
            connection.execute(select(func.pg_advisory_unlock_all()))
            return LeaseClaim(is_ours=False, what=one)
    return LeaseClaim(is_ours=True)


def _key_of(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


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
        why = (
            "another process uses it; if that is `serve`, it settles the watches of its settings, and its pages answer "
            "their plans; for anything else stop it first"
        )
        raise StateInUse(str(path), why) from None
    except NotImplementedError:  # so the library says that a file system has no locks
        raise StateUnavailable(str(path), NO_SHARING) from None
    except OSError as error:
        raise StateUnavailable(str(path), error.strerror or str(error)) from None
    try:
        yield
    finally:
        lock.release()
