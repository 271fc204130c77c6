"""Leases on watches: with PostgreSQL, one pass over a watch at a time, whichever process makes it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from sqlalchemy import Connection, func, select, text

from bot.errors import BotError, LeaseLost
from bot.platforms.held import held_by
from bot.service.store.database import Database

LOOK = 0.25  # seconds between two tries
# Where the machine itself is gone, the server finds out in 25 seconds.
ALIVE = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
# A pooler of connections may ask another session than the one that has the lock; then it does not count.
HELD = text(
    "select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted"
    " and pid = pg_backend_pid() and (classid::bigint << 32) | objid::bigint = :key)"
)


@dataclass
class Lease:
    """One lease, as the process sees it that has it; `connection` is its own, and is asked by one thread at a time."""

    connection: Connection
    key: int
    is_lost: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def check(self) -> None:
        """See that the server keeps it for us still. Raises LeaseLost where it does not, and ever after."""
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
    def lease(self, watch: str, patience: float = 0.0) -> Iterator[bool]:
        """Keep a watch for the block, and say whether it could be had within so many seconds.

        Where it is lost meanwhile, because the server was started again or ended the connection, what is written in
        the block raises LeaseLost. A SQLite state has one process, which keeps all its watches.
        """
        if self.engine.dialect.name != "postgresql":
            yield True
            return
        key = int.from_bytes(hashlib.sha256(watch.encode()).digest()[:8], "big", signed=True)
        end = time.monotonic() + patience
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.detach()  # it is closed in the end, and the lease with it
            for setting in ALIVE:
                connection.execute(text(f"set {setting}"))
            while not (is_ours := bool(connection.execute(select(func.pg_try_advisory_lock(key))).scalar_one())):
                if time.monotonic() >= end:
                    break
                time.sleep(LOOK)
            if not is_ours:
                yield False
                return
            with held_by(Lease(connection, key).check):
                yield True
