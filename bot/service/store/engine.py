"""Open the database of the state, of this version and sound; its errors as those of this package."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    Table,
    create_engine,
    event,
    func,
    inspect,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import (
    ArgumentError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import DropTable

from bot.errors import BotError, CallError, StateUnavailable
from bot.service.store.database import dispose
from bot.service.store.tables import VERSION, form, memories, metadata

BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# How SQLite says that a file system has no locks, or no memory that processes share: a write-ahead log needs both.
UNSHARED = frozenset(
    {
        sqlite3.SQLITE_IOERR_LOCK,
        sqlite3.SQLITE_IOERR_RDLOCK,
        sqlite3.SQLITE_IOERR_UNLOCK,
        sqlite3.SQLITE_IOERR_SHMLOCK,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_PROTOCOL,
    }
)
NO_SHARING = (
    "its file system has no locks or no shared memory, as a mounted bucket and some network drives have none; name a "
    "file on a disk of this machine, which may be lost, or a server: DATABASE_URL=postgresql://…"
)
FULL = 65_536  # bytes; with less on the disk SQLite cannot open a state
WHY = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_BUSY: "another process holds it; run one process for each state",
    sqlite3.SQLITE_LOCKED: "another process holds it; run one process for each state",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_PERM: "this user may not open it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that its folder exists and that this user may write there",
    sqlite3.SQLITE_IOERR: "the disk failed",
}
PRIVATE = 0o600  # the state holds what private repositories say
BESIDE = ("-wal", "-shm")  # endings of the files that SQLite keeps beside its own
LOCK = 7_235_120_614  # any number that no other program on the server takes
# A server that is gone without a word is noticed in 25 seconds, not after hours.
NOTICED = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}
# Errors of a server: it is gone or full, it only reads after a failover, or this account may not do that.
OUTAGES = (OperationalError, InterfaceError, InternalError, ProgrammingError)
OLDEST = ("memories", "cursors")  # a table that each version of the state has
IN_MEMORY = "sqlite://"  # for one process, and gone with it
SQLITE_HEADER = b"SQLite format 3\0"
OURS = frozenset({".db", ".sqlite", ".sqlite3"})  # a file that may be put aside if it is no longer a database
HOW_TO_WRITE = "write sqlite:///bot.db or postgresql://user:password@host:5432/name, with %40 for @ in a password"
log = logging.getLogger(__name__)


class BrokenState(BotError):
    """A SQLite file that holds no database any more."""


def connect(url: str) -> Engine:
    """An engine with our tables. A SQLite file that is broken is put aside and started again; a healthy one never is.

    Raises CallError for a URL that names no database, StateUnavailable where it cannot be used now.
    """
    engine = open_engine(url)
    try:
        _check_pages(engine)
        prepare(engine)
    except BrokenState:
        _put_aside(engine)
        prepare(engine)
    except StateUnavailable:
        dispose(engine)
        raise
    return engine


def parse_database(text: str) -> URL:
    """The address of a database. Raises CallError, which shows no password, for one that cannot be used.

    A file of another kind is refused: a typing error must put no other file aside.
    """
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise CallError(f"DATABASE_URL cannot be read: {HOW_TO_WRITE}") from None
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    is_printable = f"{text.strip()}{url.database}".isprintable()
    if url.get_backend_name() not in {"sqlite", "postgresql"} or "@" in (url.host or "") or not is_printable:
        raise CallError(f"DATABASE_URL cannot be used: {HOW_TO_WRITE}")
    path = sqlite_file(url)
    if path is not None and path.is_file() and path.suffix not in OURS and not _is_database(path):
        raise CallError(f"DATABASE_URL: {path} is a file of another kind; name a new one, such as bot.db")
    return url


def sqlite_file(url: URL) -> Path | None:
    """The file of a SQLite database, None for one in memory or on a server."""
    in_memory = url.database in {None, "", ":memory:"}
    return None if url.get_backend_name() != "sqlite" or in_memory else Path(str(url.database))


def copy_state(path: Path, folder: Path) -> str:
    """Copy a SQLite state for a look that must not change it, and give the copy's address; in memory if there is none.

    Another process may use the state meanwhile. Raises StateUnavailable where it is there and cannot be copied.
    """
    copy = folder / "state.db"
    if not path.exists() or not _is_database(path):
        return IN_MEMORY
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as state,
            closing(sqlite3.connect(copy)) as file,
        ):
            state.backup(file)
    except sqlite3.Error as error:
        raise StateUnavailable(str(path), f"it cannot be copied to {folder}: {error}") from None
    return f"sqlite:///{copy}"


def state_to_look_at(url: str, folder: Path) -> str:
    """The address for a look that must not change a state: that of a copy in a folder, where the state is a file.

    The address is one in memory where the tables are missing or of another version. Raises CallError and
    StateUnavailable.
    """
    if (path := sqlite_file(parse_database(url))) is not None:
        url = copy_state(path, folder)
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            return url if _form_of(connection) == VERSION else IN_MEMORY
    finally:
        dispose(engine)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEADER)) in {b"", SQLITE_HEADER}
    except OSError:
        return True  # opening it gives the reason why it cannot be read


def open_engine(url: str) -> Engine:
    """An engine without any connection yet. Raises CallError for a URL that names no database."""
    parsed = parse_database(url)
    given: dict[str, Any] = {}
    if parsed.get_driver_name() == "psycopg":
        given = {name: value for name, value in NOTICED.items() if name not in parsed.query}
        pool: dict[str, Any] = {"pool_pre_ping": True}  # the server may have been started again meanwhile
    elif sqlite_file(parsed) is None:
        given = {"check_same_thread": False}
        pool = {"poolclass": StaticPool}  # one connection for all threads
    else:
        pool = {"pool_size": 0}  # without a bound: each thread that is in a phase keeps a connection
    try:
        engine = create_engine(parsed, hide_parameters=True, connect_args=given, **pool)
    except ModuleNotFoundError as error:
        raise CallError(f"DATABASE_URL: {error}; pip install 'leaderboard-bot[postgres]'") from None
    except (ArgumentError, NoSuchModuleError) as error:  # another driver, such as sqlite+x
        raise CallError(f"DATABASE_URL names no database that can be used: {error}") from None
    event.listen(engine, "handle_error", _translate)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "do_connect", _keep_private)
        event.listen(engine, "connect", _set_up_sqlite)
    return engine


def is_made(engine: Engine) -> bool:
    """Tell whether the state exists: a SQLite file does not before the first settlement.

    Raises StateUnavailable if it cannot be made because its folder cannot be written.
    """
    path = Path(engine.url.database or "")
    if engine.dialect.name != "sqlite" or path.exists():
        return True
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise StateUnavailable(str(path), WHY[sqlite3.SQLITE_PERM])
    return False


def try_out(engine: Engine) -> str:
    """Read and write the state, and roll that back; says what was found.

    Raises StateUnavailable if it cannot be used now, BrokenState for a file that holds no database.
    """
    where = _shown(engine)
    try:
        with engine.connect() as connection:
            if (known := _form_of(connection)) is None:
                return f"{where} is empty; the first settlement makes its tables"
            if known != VERSION:
                return f"{where} has the tables of another version; the next settlement empties it and reads everything"
            connection.execute(memories.insert().values(watch="", kind="doctor", target="", subject="", value=""))
            connection.rollback()
    finally:
        dispose(engine)
    return f"{where} can be read and written"


def prepare(engine: Engine) -> None:
    """Make the tables, and empty those of another version first: all of it or nothing, as where the disk is full.

    Two processes that begin at once take turns.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver itself begins none before it makes a table
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
        if (known := _form_of(connection)) not in {None, VERSION}:
            where = _shown(engine)
            log.warning("%s has the tables of another version; it is emptied, and everything is read again", where)
            metadata.drop_all(connection)
            connection.execute(DropTable(Table("cursors", MetaData()), if_exists=True))  # of older versions
        if known != VERSION:
            metadata.create_all(connection, checkfirst=False)
            connection.execute(form.insert().values(version=VERSION))


def _check_pages(engine: Engine) -> None:
    """Raise BrokenState for a SQLite file of which one page is broken; 400 MB take a fifth of a second."""
    if engine.dialect.name != "sqlite":
        return
    with engine.connect() as connection:
        said = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if said != "ok":
        raise BrokenState(f"{_shown(engine)} is broken, and the next settlement renames it: {said}")


def _form_of(connection: Connection) -> int | None:
    """The version of the tables, 0 if they have none; None where there are no tables."""
    tables = inspect(connection)
    if tables.has_table(form.name):
        version = connection.execute(select(form.c.version)).scalar()
        return version if isinstance(version, int) else 0
    return 0 if any(map(tables.has_table, OLDEST)) else None


def _keep_private(_: object, __: object, args: Sequence[Any], ___: object) -> None:
    """Make the file of a SQLite state with rights for its owner alone; the files that SQLite adds get the same."""
    path = Path(str(args[0])) if args and args[0] != ":memory:" else None
    if path is None:
        return
    with suppress(OSError):  # opening it says why it cannot be used
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
        for one in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
            if one.exists() and one.stat().st_mode & ~PRIVATE & 0o777:
                one.chmod(PRIVATE)


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Let readers and one writer work at once; a power cut may lose the last transactions."""
    [mode] = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode not in {"wal", "memory"}:
        raise StateUnavailable(connection.execute("PRAGMA database_list").fetchone()[2], NO_SHARING)
    for pragma in ("synchronous=NORMAL", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")


def _put_aside(engine: Engine) -> None:
    path = Path(engine.url.database or "")
    log.warning("%s is broken; it is renamed to %s.broken, and everything is read again", path, path.name)
    engine.dispose()
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.rename(f"{path}.broken")


def _translate(context: ExceptionContext) -> None:
    if context.is_pre_ping:  # a connection that broke while nobody used it is opened again
        return
    error = context.original_exception
    where = _shown(context.engine)
    if isinstance(error, sqlite3.Error):
        said = getattr(error, "sqlite_errorcode", 0)
        code = said & 0xFF
        if code == sqlite3.SQLITE_IOERR and _is_full(context.engine):
            code = sqlite3.SQLITE_FULL
        elif said in UNSHARED:
            raise StateUnavailable(where, NO_SHARING) from error
        if code in BROKEN:
            raise BrokenState(f"{where} is broken, and the next settlement renames it: {error}") from error
        if isinstance(error, sqlite3.OperationalError):
            raise StateUnavailable(where, WHY.get(code, str(error))) from error
    elif isinstance(context.sqlalchemy_exception, ProgrammingError) and context.connection is None:
        raise CallError(f"DATABASE_URL: {' '.join(str(error).split())[:200]}") from error
    elif isinstance(context.sqlalchemy_exception, OUTAGES):
        raise StateUnavailable(where, " ".join(str(error).split())[:200]) from error


def _is_full(engine: Engine | None) -> bool:
    """Tell whether the disk of a SQLite state has no room: SQLite does not name that in each of its errors."""
    path = sqlite_file(engine.url) if engine is not None else None
    with suppress(OSError):
        return path is not None and shutil.disk_usage(path.absolute().parent).free < FULL
    return False


def _shown(engine: Engine | None) -> str:
    if engine is None:
        return "the database"
    return shown_address(engine.url)


def shown_address(url: URL) -> str:
    """The address of a database without its password, also where that stands in the query."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    return url.set(drivername="postgresql", query={}).render_as_string()
