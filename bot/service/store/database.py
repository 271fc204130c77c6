"""Statements to the database of the state: transactions, what a phase reads once, upserts, conditions, and text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Delete,
    Dialect,
    Engine,
    Executable,
    Select,
    Table,
    Text,
    TypeDecorator,
    and_,
    bindparam,
    delete,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError
from sqlalchemy.types import TypeEngine

from bot.errors import BotError

VALUES_AT_ONCE = 500  # values of one statement; SQLite takes 32,766 variables
EVERY = 2**62  # the limit of a statement that gives all rows
T = TypeVar("T")
Values = Mapping[str, Any]


class Database:
    """One database. What is called inside `transaction` belongs to it; anything else is a transaction of its own.

    Statements are built once, with named parameters: SQLAlchemy takes longer to build one than SQLite to answer it.
    `asked` counts the statements of this thread, `asked_by_all` those of all threads.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self.asked_by_all = engine, 0
        self._local = threading.local()
        # The connection to a server may break between two statements; the pool notices that when it gives one.
        self._keeps = engine.dialect.name == "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """The connection of the running transaction of this thread, else that of a new one."""
        running: Connection | None = getattr(self._local, "connection", None)
        if running is not None:
            yield running
            return
        kept: Connection | None = getattr(self._local, "kept", None)
        try:
            with nullcontext(kept) if kept else self.engine.connect() as connection, connection.begin():
                self._local.connection = connection
                yield connection
        except BaseException:  # it was rolled back, and with it what the phase had noted
            self.forget_read()
            raise
        finally:
            self._local.connection = None

    @contextmanager
    def phase(self) -> Iterator[None]:
        """Let this thread read plans, boards and memories once in the block: what others write shows in the next.

        It keeps one connection to a SQLite file meanwhile: to take one for each statement costs a third of it.
        """
        outer = self._read
        self._local.read = {}
        try:
            if self._keeps and outer is None:
                with self.engine.connect() as self._local.kept:
                    yield
            else:
                yield
        finally:
            if outer is None:
                self._local.kept = None
            self._local.read = None if outer is None else {}  # an inner phase may have changed what the outer one read

    @property
    def _read(self) -> dict[Any, Any] | None:
        """What this thread read in the phase; None outside of one."""
        found: dict[Any, Any] | None = getattr(self._local, "read", None)
        return found

    @property
    def is_in_phase(self) -> bool:
        """Tell whether this thread is in a phase."""
        return self._read is not None

    def once(self, place: tuple[Any, ...], read: Callable[[], T]) -> T:
        """What `read` gives; in a phase it is called once for each place."""
        known = self._read
        if known is None:
            return read()
        if place not in known:
            known[place] = read()
        found: T = known[place]
        return found

    def forget_read(self, *where: str) -> None:
        """Have all places read again whose names begin so, also in this phase."""
        known = self._read or {}
        for place in [one for one in known if one[: len(where)] == where]:
            del known[place]

    @property
    def asked(self) -> int:
        """How many statements this thread ran."""
        return int(getattr(self._local, "asked", 0))

    def execute(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> CursorResult[Any]:
        """Carry out a statement in the running transaction."""
        self._local.asked = self.asked + 1
        self.asked_by_all += 1  # two threads at once may count one less
        connection: Connection = self._local.connection
        return connection.execute(statement, values)

    def run(self, statement: Executable, values: Values | Sequence[Values] | None = None) -> int:
        """Carry out a statement, once for each of several values: how many rows it changed."""
        with self.transaction():
            return int(self.execute(statement, values).rowcount)

    def rows(self, statement: Executable, values: Values | None = None) -> Sequence[Any]:
        """All rows of a statement."""
        with self.transaction():
            return self.execute(statement, values).all()

    def rows_in(self, statement: Executable, some: Iterable[Any], values: Values | None = None) -> list[Any]:
        """The rows of a statement that has a condition `among`, however many values there are."""
        parts = list(batches(some))
        with self.transaction() if len(parts) > 1 else nullcontext():
            return [row for part in parts for row in self.rows(statement, {**(values or {}), AMONG: part})]

    def run_in(self, statement: Executable, some: Iterable[Any], values: Values | None = None) -> None:
        """Carry out a statement that has a condition `among`, however many values there are."""
        parts = list(batches(some))
        with self.transaction() if len(parts) > 1 else nullcontext():
            for part in parts:
                self.run(statement, {**(values or {}), AMONG: part})

    def value(self, statement: Executable, values: Values | None = None) -> Any:
        """The first column of the first row, None if there is no row."""
        with self.transaction():
            return self.execute(statement, values).scalar()

    def upsert(self, table: Table, rows: Sequence[Values]) -> None:
        """Insert rows, or replace the rows with the same primary key."""
        if rows:
            self.run(_upsert(table, self.engine.dialect.name, tuple(rows[0])), [dict(row) for row in rows])

    def close(self) -> None:
        """Close the connections."""
        dispose(self.engine)


AMONG = "among"


def same(table: Table, *names: str) -> ColumnElement[bool]:
    """The condition on the rows whose columns have the values of the parameters `at_<name>`, see `Part`."""
    return and_(*(table.c[name] == bindparam(f"at_{name}") for name in names))


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """The condition on the rows that have one of the values of `rows_in` or `run_in`."""
    return column.in_(bindparam(AMONG, expanding=True))


def first_of_marks(table: Table, count: int, *order: str) -> Select[Any]:
    """The keys of the first rows of each of the marks in `rows_in`, so many at most, in the order of these columns."""
    place = func.row_number().over(partition_by=table.c.mark, order_by=[table.c[name] for name in order])
    found = select(table.c.key, place.label("place")).where(same(table, "watch"), among(table.c.mark)).subquery()
    return select(found.c.key).where(found.c.place <= count)


def older_than_newest(table: Table, *names: str) -> Delete:
    """Deletes all rows with these values but so many (`at_count`) with the highest ids."""
    ids = select(table.c.id).where(same(table, *names)).order_by(table.c.id.desc())
    last = ids.offset(bindparam("at_count")).limit(1).scalar_subquery()
    return delete(table).where(same(table, *names), table.c.id <= last)


class Part:
    """The base of the stores: one watch in one database.

    Each method takes the values of a statement's conditions by the names of their columns, see `same`; that
    of the watch is always there.
    """

    def __init__(self, db: Database, watch: str) -> None:
        self.db, self.watch = db, watch

    def where(self, **values: Any) -> dict[str, Any]:
        return {"at_watch": self.watch} | {f"at_{name}": value for name, value in values.items()}

    def select(self, statement: Executable, **values: Any) -> Sequence[Any]:
        return self.db.rows(statement, self.where(**values))

    def select_in(self, statement: Executable, some: Iterable[Any], **values: Any) -> list[Any]:
        return self.db.rows_in(statement, some, self.where(**values))

    def column(self, statement: Executable, **values: Any) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self.select(statement, **values)]

    def value(self, statement: Executable, **values: Any) -> Any:
        """The first column of the first row, None if there is no row."""
        return self.db.value(statement, self.where(**values))

    def change(self, statement: Executable, **values: Any) -> int:
        return self.db.run(statement, self.where(**values))

    def change_in(self, statement: Executable, some: Iterable[Any], **values: Any) -> None:
        self.db.run_in(statement, some, self.where(**values))

    def upsert(self, table: Table, rows: Iterable[Values]) -> None:
        """Insert rows of this watch, or replace those with the same primary key."""
        self.db.upsert(table, [{"watch": self.watch, **row} for row in rows])


@cache
def _upsert(table: Table, dialect: str, names: tuple[str, ...]) -> Executable:
    """The statement that inserts or replaces rows, kept because building it takes longer than running it."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    keys = [column.name for column in table.primary_key.columns]
    values = {name: insert.excluded[name] for name in names if name not in keys}
    is_there = insert.on_conflict_do_nothing(index_elements=keys)
    statement: Executable = insert.on_conflict_do_update(index_elements=keys, set_=values) if values else is_there
    return statement


def batches(values: Iterable[T], size: int = VALUES_AT_ONCE) -> Iterator[list[T]]:
    """Lists of at most `size` values."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some


class Words(TypeDecorator[str]):
    """A column of text for every database: PostgreSQL takes no NUL, and would sort by the rules of a language."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of one database."""
        return dialect.type_descriptor(Text(collation="C") if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The value as it is kept."""
        return None if value is None else value.replace("\0", "\ufffd")


def dispose(engine: Engine) -> None:
    """Close the connections."""
    with suppress(DatabaseError, BotError):
        engine.dispose()
