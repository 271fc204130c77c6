"""What was read at targets, so that nothing is asked twice, and writes in progress, so that nothing is sent twice."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import BotError, Unavailable, Unsettled
from bot.platforms.caches import OPEN, Kind, KnownThreads, Row
from bot.platforms.row_index import IndexedRow, Moved, RowStore
from bot.service.store.engine import Database, batches
from bot.service.store.tables import indexed_rows, intents, requests, row_indexes

LONGEST_LOOK = 15.0  # seconds, at most, until it is looked whether the other one's write shows


class Intents(Database):
    """Writes that must happen once, in all processes."""

    @contextmanager
    def intend(self, name: str, seconds: float) -> Iterator[None]:
        """Hold the name of a write for the block, for so many seconds at most. Raises Unsettled if another does.

        The name of a killed process stays held until its time is over: nobody knows before whether the write landed.
        """
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
        """Let other processes write; only after a time (Unix seconds) where the write may still show until then."""
        ours = (intents.c.name == name, intents.c.holder == holder)
        change = delete(intents) if until is None else update(intents).values(until=until)
        self.run(change.where(*ours))

    def _take(self, name: str, holder: str, seconds: float) -> float:
        """Take a name that is free or expired; else the seconds until it expires. All expired names are deleted."""
        now = time.time()
        insert = (postgresql if self.engine.dialect.name == "postgresql" else sqlite).insert(intents)
        values = {"holder": holder, "until": now + seconds}
        was_wrong = intents.c.until > now + 2 * seconds  # the other one's clock
        statement = insert.values(name=name, **values).on_conflict_do_update(
            index_elements=["name"], set_=values, where=was_wrong
        )
        with self.transaction():
            self.run(delete(intents).where(intents.c.until <= now))
            self.run(statement)
            held = self.rows(select(intents).where(intents.c.name == name))[0]
        return 0.0 if held.holder == holder else max(0.1, held.until - now)


class StoredThreads(KnownThreads):
    """What is remembered of one repository's discussions and requests, for all processes.

    Each question is one query, so that the cost does not grow with what is remembered.
    """

    def __init__(self, store: Database, target: str) -> None:
        self._store, self._target = store, target

    def _where(self, **values: str | int) -> ColumnElement[bool]:
        return and_(requests.c.target == self._target, *(requests.c[name] == value for name, value in values.items()))

    def _select(self, *where: ColumnElement[bool]) -> Select[tuple[int, str]]:
        return select(requests.c.num, requests.c.data).where(*where).order_by(requests.c.num)

    def _rows_at(self, *where: ColumnElement[bool]) -> list[tuple[int, Row]]:
        return [(row.num, json.loads(row.data)) for row in self._store.rows(self._select(*where))]

    def find(self, num: int) -> Row | None:
        """One of them."""
        return self.at([num]).get(num)

    def at(self, nums: Iterable[int]) -> dict[int, Row]:
        """Those of them with these numbers."""
        found = self._store.rows_in(self._select(self._where()), requests.c.num, nums)
        return {row.num: json.loads(row.data) for row in found}

    def put(self, num: int, row: Row) -> None:
        """Remember one as this, and forget what else was known of it."""
        found = {"kind": row["kind"], "mark": _digest(row["mark"]), "is_open": row["status"] in OPEN}
        self._store.upsert(requests, [{"target": self._target, "num": num, **found, "data": json.dumps(row)}])

    def of(self, kind: Kind, mark: str | None = None) -> list[tuple[int, Row]]:
        """Those of one kind, or those of them with one mark, oldest first."""
        return self._rows_at(self._where(kind=kind) if mark is None else self._where(kind=kind, mark=_digest(mark)))

    def open_since(self, kind: Kind, oldest: int = 0) -> list[tuple[int, Row]]:
        """The open ones of one kind from a number on, oldest first."""
        return self._rows_at(self._where(kind=kind, is_open=True), requests.c.num >= oldest)

    def open_count(self, kind: Kind) -> int:
        """How many of one kind are open."""
        return int(self._store.value(select(func.count()).where(self._where(kind=kind, is_open=True))))

    def clear(self) -> None:
        """Forget everything."""
        self._store.run(delete(requests).where(self._where()))


def _digest(mark: str) -> str:
    """The key by which a mark is looked up: an index does not take texts of any length."""
    return hashlib.sha256(mark.encode(errors="surrogatepass")).hexdigest()


class StoredRowIndex(RowStore):
    """The index of the rows on the main branch of one target, which all processes share."""

    def __init__(self, store: Database, target: str) -> None:
        self._store, self._target = store, target

    def commit(self) -> str:
        """The commit of the index, "" if there is none."""
        return str(self._store.value(select(row_indexes.c.at).where(row_indexes.c.target == self._target)) or "")

    def rows(self, paths: Collection[str] | None = None) -> tuple[str, dict[str, IndexedRow]]:
        """The commit, and all rows, or those at some paths, as they are at that commit."""
        while True:
            at, found = self.commit(), self._rows(paths)
            if at == self.commit():  # no other process moved it meanwhile
                return at, found

    def _rows(self, paths: Collection[str] | None) -> dict[str, IndexedRow]:
        store, every = self._store, select(indexed_rows).where(indexed_rows.c.target == self._target)
        found = store.rows(every) if paths is None else store.rows_in(every, indexed_rows.c.path, paths)
        return {row.path: IndexedRow(row.oid, None if row.data is None else zlib.decompress(row.data)) for row in found}

    def move(self, old: str, new: str, moved: Moved, *, is_whole: bool) -> None:
        """Bring the index from one commit to another, unless another process moved it meanwhile."""
        ours = delete(indexed_rows).where(indexed_rows.c.target == self._target)
        with self._store.transaction():
            if not self._set_commit(old, new):
                return
            if is_whole:
                self._store.run(ours)
            else:
                gone = (path for path, row in moved.items() if row is None)
                self._store.delete_in(ours, indexed_rows.c.path, gone)
            for some in batches((path, row) for path, row in moved.items() if row is not None):
                self._store.upsert(indexed_rows, [self._stored(path, row) for path, row in some])

    def _stored(self, path: str, row: IndexedRow) -> dict[str, Any]:
        data = None if row.data is None else zlib.compress(row.data, 1)
        return {"target": self._target, "path": path, "oid": row.oid, "data": data}

    def _set_commit(self, old: str, new: str) -> bool:
        """Set the commit where it is still the old one; whether it was."""
        if not old and not self.commit():
            self._store.upsert(row_indexes, [{"target": self._target, "at": new}])
            return True
        is_old = (row_indexes.c.target == self._target, row_indexes.c.at == old)
        return bool(self._store.run(row_indexes.update().where(*is_old).values(at=new)))
