"""The common base of all parts of the state: one engine, nested transactions, and upserts."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite

AT_ONCE = 500  # values of one statement; SQLite takes 32,766 variables
T = TypeVar("T")


class Database:
    """One database; what is called inside `transaction` belongs to it, everything else is a transaction of its own."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """The connection of the running transaction of this thread, else that of a new one."""
        running: Connection | None = getattr(self._local, "connection", None)
        if running is not None:
            yield running
            return
        with self.engine.begin() as connection:
            self._local.connection = connection
            try:
                yield connection
            finally:
                self._local.connection = None

    def upsert(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows, or replace the rows with the same primary key."""
        if not rows:
            return
        statement = _upsert(table, self.engine.dialect.name, tuple(rows[0]))
        with self.transaction() as connection:
            connection.execute(statement, [dict(row) for row in rows])


@cache
def _upsert(table: Table, dialect: str, names: tuple[str, ...]) -> Executable:
    """The statement that inserts or replaces: to build one takes longer than to carry it out."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    keys = [column.name for column in table.primary_key.columns]
    values = {name: insert.excluded[name] for name in names if name not in keys}
    statement: Executable = insert.on_conflict_do_update(index_elements=keys, set_=values)
    return statement


def batches(values: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """Lists of at most `size` values."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some
