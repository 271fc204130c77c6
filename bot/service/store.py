"""What the service remembers between settles; all of it can be lost, and is found again by reading everything.

Cursors say how far a watch was read, submissions what each file came to, requests which marks stand at
a target under which number, outcomes what happened, for the page.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    DateTime,
    Engine,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DatabaseError

VERSION = 1  # a store of another version is emptied: that costs one full reading
HISTORY = 200  # outcomes kept for each watch
log = logging.getLogger(__name__)
metadata = MetaData()

cursors = Table(
    "cursors",
    metadata,
    Column("watch", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("value", Text, nullable=False),
)
submissions = Table(
    "submissions",
    metadata,
    Column("watch", String, primary_key=True),
    Column("path", String, primary_key=True),
    Column("key", String, index=True),
    Column("data", LargeBinary, nullable=False),
)
requests = Table(
    "requests",
    metadata,
    Column("target", String, primary_key=True),
    Column("num", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
outcomes = Table(
    "outcomes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("watch", String, index=True, nullable=False),
    Column("at", DateTime, server_default=func.now(), nullable=False),
    Column("outcome", String, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
)
answers = Table(
    "answers",
    metadata,
    Column("question", String, primary_key=True),
    Column("answer", Text, nullable=False),
    Column("until", Float),
)


def connect(url: str) -> Engine:
    """An engine with our tables; a broken or foreign SQLite file is put aside and begun anew."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", set_up_sqlite)
    try:
        prepare(engine)
    except DatabaseError:
        path = engine.url.database
        if engine.dialect.name != "sqlite" or not path or not Path(path).is_file():
            raise
        log.warning("%s is broken; it is put aside, and everything is read anew", path)
        engine.dispose()
        Path(path).rename(f"{path}.broken")
        prepare(engine)
    return engine


def set_up_sqlite(connection: Any, _: object) -> None:
    """Let readers and one writer work at once; what the last moment before a power cut wrote may be lost."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA busy_timeout=10000")


def prepare(engine: Engine) -> None:
    """Make the tables, and empty those of another version."""
    if inspect(engine).has_table("cursors") and Store(engine).cursor("", "version") != str(VERSION):
        metadata.drop_all(engine)
    metadata.create_all(engine)
    Store(engine).set_cursor("", "version", str(VERSION))


def pairs(rows: Iterable[Any]) -> dict[Any, bytes]:
    """Rows of two columns as a dictionary."""
    return {row[0]: row[1] for row in rows}


class Store:
    """Reads and writes of one database; each method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def cursor(self, watch: str, subject: str) -> str | None:
        """How far something was read; None where it never was."""
        found = select(cursors.c.value).where(cursors.c.watch == watch, cursors.c.subject == subject)
        with self.engine.connect() as connection:
            return connection.execute(found).scalar_one_or_none()

    def set_cursor(self, watch: str, subject: str, value: str) -> None:
        """Remember how far something was read."""
        old = delete(cursors).where(cursors.c.watch == watch, cursors.c.subject == subject)
        with self.engine.begin() as connection:
            connection.execute(old)
            connection.execute(insert(cursors).values(watch=watch, subject=subject, value=value))

    def submissions(self, watch: str) -> dict[str, bytes]:
        """What each file of the source came to, by path."""
        found = select(submissions.c.path, submissions.c.data).where(submissions.c.watch == watch)
        with self.engine.connect() as connection:
            return pairs(connection.execute(found))

    def submissions_at(self, watch: str, *, paths: Sequence[str] = (), keys: Sequence[str] = ()) -> dict[str, bytes]:
        """What the files at these paths, and those that measure these keys, came to."""
        found: dict[str, bytes] = {}
        with self.engine.connect() as connection:
            for column, values in ((submissions.c.path, paths), (submissions.c.key, keys)):
                for start in range(0, len(values), 500):
                    rows = select(submissions.c.path, submissions.c.data).where(
                        submissions.c.watch == watch, column.in_(values[start : start + 500])
                    )
                    found |= pairs(connection.execute(rows))
        return found

    def submissions_in(self, watch: str, folder: str) -> dict[str, bytes]:
        """What the files that lie in a folder, not below it, came to."""
        below, path = (f"{folder}/" if folder else ""), submissions.c.path
        # The character after "/" is "0": one range of the primary key, however many other folders there are.
        is_below = (path >= below) & (path < f"{folder}0") if folder else ~path.contains("/")
        rows = select(path, submissions.c.data).where(submissions.c.watch == watch, is_below)
        with self.engine.connect() as connection:
            found = pairs(connection.execute(rows))
        return {path: data for path, data in found.items() if "/" not in path.removeprefix(below)}

    def set_submissions(self, watch: str, rows: Mapping[str, tuple[str | None, bytes] | None]) -> None:
        """Remember what files came to, as key and data; None forgets one."""
        paths = list(rows)
        kept = [
            {"watch": watch, "path": path, "key": row[0], "data": row[1]}
            for path, row in rows.items()
            if row is not None
        ]
        with self.engine.begin() as connection:
            for start in range(0, len(paths), 500):
                gone = paths[start : start + 500]
                connection.execute(
                    delete(submissions).where(submissions.c.watch == watch, submissions.c.path.in_(gone))
                )
            if kept:
                connection.execute(insert(submissions), kept)

    def forget_watch(self, watch: str) -> None:
        """Forget what was read of a watch: everything is read again."""
        with self.engine.begin() as connection:
            connection.execute(delete(submissions).where(submissions.c.watch == watch))
            connection.execute(delete(cursors).where(cursors.c.watch == watch))

    def requests(self, target: str) -> dict[int, bytes]:
        """What is known of a target's requests and discussions, by number."""
        found = select(requests.c.num, requests.c.data).where(requests.c.target == target)
        with self.engine.connect() as connection:
            return pairs(connection.execute(found))

    def set_request(self, target: str, num: int, data: bytes) -> None:
        """Remember what is known of one request."""
        with self.engine.begin() as connection:
            connection.execute(delete(requests).where(requests.c.target == target, requests.c.num == num))
            connection.execute(insert(requests).values(target=target, num=num, data=data))

    def add_outcomes(self, watch: str, rows: Iterable[tuple[str, str, str]]) -> None:
        """Remember outcomes as (outcome, subject, text); the oldest are forgotten."""
        values = [{"watch": watch, "outcome": o, "subject": s, "text": t} for o, s, t in rows]
        if not values:
            return
        newest = select(outcomes.c.id).where(outcomes.c.watch == watch).order_by(outcomes.c.id.desc())
        with self.engine.begin() as connection:
            connection.execute(insert(outcomes), values)
            keep = connection.execute(newest.offset(HISTORY).limit(1)).scalar_one_or_none()
            if keep is not None:
                connection.execute(delete(outcomes).where(outcomes.c.watch == watch, outcomes.c.id <= keep))

    def outcomes(self, watch: str, limit: int = 20) -> list[dict[str, str]]:
        """The last outcomes, newest first: when, outcome, subject, text."""
        rows = select(outcomes).where(outcomes.c.watch == watch).order_by(outcomes.c.id.desc()).limit(limit)
        with self.engine.connect() as connection:
            return [
                {
                    "when": f"{row.at:%Y-%m-%d %H:%M:%S}",
                    "outcome": row.outcome,
                    "subject": row.subject,
                    "text": row.text,
                }
                for row in connection.execute(rows)
            ]

    def memory(self, target: str) -> Memory:
        """What is known of a target's requests, as a mapping that remembers what is put in."""
        return Memory(self, target)

    def answer(self, question: str, now: float) -> str | None:
        """What a service answered before; None where it never did, or too long ago. `now` is in seconds."""
        found = select(answers.c.answer, answers.c.until).where(answers.c.question == question)
        with self.engine.connect() as connection:
            row = connection.execute(found).one_or_none()
        return None if row is None or (row.until is not None and row.until < now) else str(row.answer)

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep what a service answered, for ever where `until` is None."""
        with self.engine.begin() as connection:
            connection.execute(delete(answers).where(answers.c.question == question))
            connection.execute(insert(answers).values(question=question, answer=answer, until=until))

    def close(self) -> None:
        """Give the connections back."""
        with suppress(DatabaseError):
            self.engine.dispose()


class Memory(MutableMapping[int, bytes]):
    """What is known of one target's requests and discussions, by number; what is put in is kept at once."""

    def __init__(self, store: Store, target: str) -> None:
        self._store, self._target = store, target
        self._known = store.requests(target)

    def __getitem__(self, num: int) -> bytes:
        return self._known[num]

    def __setitem__(self, num: int, data: bytes) -> None:
        if self._known.get(num) != data:
            self._known[num] = data
            self._store.set_request(self._target, num, data)

    def __delitem__(self, num: int) -> None:
        raise NotImplementedError  # nothing is forgotten one by one

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
