"""What one process may do alone: a pass over a watch, the state in a file, a write; and the windows that all share."""

from __future__ import annotations

import hashlib
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock

from filelock import FileLock, Timeout
from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import BotError, LeaseLost, StateUnavailable, Unavailable, Unsettled
from bot.platforms.writes import checked_lease
from bot.service.store.engine import Database, parse_database, sqlite_file
from bot.service.store.tables import allowances, intents

LOOK = 0.25  # seconds between two tries
# Where the machine itself is gone, the server finds out in 25 seconds.
ALIVE = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
# A pooler of connections may ask another session than the one that has the lock; then it does not count.
HELD = text(
    "select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted"
    " and pid = pg_backend_pid() and (classid::bigint << 32) | objid::bigint = :key)"
)


RIVAL = text(
    "select application_name from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory'"
    " and objsubid = 1 and granted and (classid::bigint << 32) | objid::bigint = :key and pid <> pg_backend_pid()"
    " limit 1"
)
SHOWN = 63  # bytes that PostgreSQL keeps of the name of a connection


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """Whether a lease could be had; where not, `what` is taken, and `rival` says by whom."""

    is_ours: bool
    what: str = ""
    rival: str = ""


@dataclass
class Lease:
    """One lease, as the process sees it that has it; `connection` is its own, and is asked by one thread at a time."""

    connection: Connection
    key: int
    is_lost: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def check(self) -> None:
        """See that the server keeps it for us still. Raises LeaseLost if it does not, and ever after."""
        with self._lock:
            self.is_lost = self.is_lost or not self._is_kept()
        if self.is_lost:
            raise LeaseLost

    def _is_kept(self) -> bool:
        try:
            return bool(self.connection.execute(HELD, {"key": self.key}).scalar_one())
        except BotError:
            return False


class Leases(Database):
    """Leases that the server holds for a connection: those of a process that is killed are free at once."""

    @contextmanager
    def lease(self, name: str, patience: float = 0.0, *, beside: Sequence[str] = ()) -> Iterator[LeaseClaim]:
        """Keep what has this name for the block, and say whether it could be had within so many seconds.

        What has the names `beside` is shared with others that do so, and kept from who leases it. Where a lease is lost
        meanwhile, because the server was started again or ended the connection, what is written in the block raises
        LeaseLost. A SQLite state has one process, which keeps all there is.
        """
        if self.engine.dialect.name != "postgresql":
            yield LeaseClaim(is_ours=True)
            return
        end = time.monotonic() + patience
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection, ExitStack() as kept:
            connection.detach()  # it is closed in the end, and the lease with it
            _introduce(connection, name)
            while not (claim := _claimed(connection, name, beside)).is_ours and time.monotonic() < end:
                time.sleep(LOOK)
            if claim.is_ours:
                kept.enter_context(checked_lease(Lease(connection, _key_of(name)).check))
            yield claim

    def is_free(self, name: str) -> bool:
        """Tell whether nobody leases what has this name now, but for those who share it."""
        if self.engine.dialect.name != "postgresql":
            return True
        with self.transaction() as connection:
            return bool(connection.execute(select(func.pg_try_advisory_xact_lock_shared(_key_of(name)))).scalar_one())


def _introduce(connection: Connection, name: str) -> None:
    """Tell the server when to take this machine for gone, and others who is here."""
    for setting in ALIVE:
        connection.execute(text(f"set {setting}"))
    who = f"process {os.getpid()} on {socket.gethostname()[:20]}, {name}"
    connection.execute(select(func.set_config("application_name", who[:SHOWN], False)))  # noqa: FBT003


def _claimed(connection: Connection, name: str, beside: Sequence[str]) -> LeaseClaim:
    """Take all or nothing."""
    wanted = [(name, func.pg_try_advisory_lock), *((one, func.pg_try_advisory_lock_shared) for one in beside)]
    for one, take in wanted:
        key = _key_of(one)
        if not connection.execute(select(take(key))).scalar_one():
            rival = connection.execute(RIVAL, {"key": key}).scalar_one_or_none()
            connection.execute(select(func.pg_advisory_unlock_all()))
            return LeaseClaim(is_ours=False, what=one, rival=rival or "another process")
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
        why = "another process uses it; `serve` settles by itself, and its pages answer plans; or stop it first"
        raise StateInUse(str(path), why) from None
    except OSError as error:
        raise StateUnavailable(str(path), error.strerror or str(error)) from None
    try:
        yield
    finally:
        lock.release()


LONGEST_LOOK = 15.0  # seconds, at most, until it is looked whether the other one's write shows


class Shared(Database):
    """The windows of services and accounts, as any process knew them last, and the writes that may be done once.

    A window has its limit, the requests that are left, and its end. The fate of a write whose process was killed is not
    known before its time is over.
    """

    def allowances(self, now: float) -> dict[str, tuple[int, int, float]]:
        """The windows that have not ended; ends are Unix seconds, as is `now`."""
        found = select(allowances).where(allowances.c.ends > now)
        with self.transaction() as connection:
            return {row.key: (row.limit, row.remaining, row.ends) for row in connection.execute(found)}

    def set_allowances(self, windows: Mapping[str, tuple[int, int, float]]) -> None:
        """Tell the other processes of these windows."""
        values = sorted(windows.items())  # in one order, so that two processes never wait for each other
        rows = [{"key": key, "limit": limit, "remaining": left, "ends": ends} for key, (limit, left, ends) in values]
        self.upsert(allowances, rows)

    # writes

    @contextmanager
    def intend(self, name: str, seconds: float) -> Iterator[None]:
        """Say what is written in the block, for so many seconds at most. Raises Unsettled if another holds it."""
        holder = uuid.uuid4().hex
        left = self._take(name, holder, seconds)
        if left:
            why = f"this or another process sent it, and it may still show; it is not sent again for {left:.0f} s"
            raise Unsettled(why, min(left, LONGEST_LOOK))
        try:
            yield
        except BotError as failure:  # how the write ended is known; of an interrupted one it is not
            unknown_for = failure.unknown_for if isinstance(failure, Unavailable) else 0.0
            self._give_back(name, holder, until=time.time() + unknown_for if unknown_for else None)
            raise
        self._give_back(name, holder)

    def _give_back(self, name: str, holder: str, until: float | None = None) -> None:
        """Let others write; only after a time (Unix seconds) where the write may show until then."""
        ours = (intents.c.name == name, intents.c.holder == holder)
        change = delete(intents) if until is None else update(intents).values(until=until)
        with self.transaction() as connection:
            connection.execute(change.where(*ours))

    def _take(self, name: str, holder: str, seconds: float) -> float:
        """Take a name that nobody holds, or whose time is over; else the seconds until it is.

        What is over is forgotten, whatever its name.
        """
        now = time.time()
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(intents)
        values = {"holder": holder, "until": now + seconds}
        was_wrong = intents.c.until > now + 2 * seconds  # the other one's clock
        statement = insert.values(name=name, **values).on_conflict_do_update(
            index_elements=["name"], set_=values, where=was_wrong
        )
        with self.transaction() as connection:
            connection.execute(delete(intents).where(intents.c.until <= now))
            connection.execute(statement)
            held = connection.execute(select(intents).where(intents.c.name == name)).one()
        return 0.0 if held.holder == holder else max(0.1, held.until - now)
