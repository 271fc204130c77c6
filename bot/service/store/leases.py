"""Leases on watches: with PostgreSQL, one pass over a watch at a time, whichever process makes it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func, select, text

from bot.service.store.database import Database

LOOK = 0.25  # seconds between two tries
# Where the machine itself is gone, the server finds out in 25 seconds.
ALIVE = ("tcp_keepalives_idle = 10", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")


class Leases(Database):
    """Leases that the server holds for a connection: those of a process that is killed are free at once."""

    @contextmanager
    def lease(self, watch: str, patience: float = 0.0) -> Iterator[bool]:
        """Keep a watch for the block, and say whether it could be had within so many seconds.

        A SQLite state has one process, which keeps all its watches.
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
            yield is_ours
