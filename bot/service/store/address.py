"""Check DATABASE_URL, the address of the state, before anything is opened or locked."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.errors import CallError

SQLITE_HEADER = b"SQLite format 3\0"
OURS = frozenset({".db", ".sqlite", ".sqlite3"})  # a file that may be put aside if it is no longer a database
FORM = "write sqlite:///bot.db or postgresql://user:password@host:5432/name, with %40 for @ in a password"


def parse_database(text: str) -> URL:
    """The address of a database. Raises CallError, which shows no password, for one that cannot be used.

    A file of another kind is refused: a typing error must put no other file aside.
    """
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise CallError(f"DATABASE_URL cannot be read: {FORM}") from None
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    is_printable = f"{text.strip()}{url.database}".isprintable()
    if url.get_backend_name() not in {"sqlite", "postgresql"} or "@" in (url.host or "") or not is_printable:
        raise CallError(f"DATABASE_URL cannot be used: {FORM}")
    path = sqlite_file(url)
    if path is not None and path.is_file() and path.suffix not in OURS and not _is_database(path):
        raise CallError(f"DATABASE_URL: {path} is a file of another kind; name a new one, such as bot.db")
    return url


def sqlite_file(url: URL) -> Path | None:
    """The file of a SQLite database, None for one in memory or on a server."""
    in_memory = url.database in {None, "", ":memory:"}
    return None if url.get_backend_name() != "sqlite" or in_memory else Path(str(url.database))


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEADER)) in {b"", SQLITE_HEADER}
    except OSError:
        return True  # opening it gives the reason why it cannot be read
