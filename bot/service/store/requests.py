"""What was read at targets, so that nothing is asked twice, and writes in progress, so that nothing is sent twice."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Executable, and_, bindparam, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import BotError, Unavailable, Unsettled
from bot.platforms.caches import OPEN, Kind, KnownThreads, Row
from bot.platforms.row_index import IndexedRow, Moved, RowStore
from bot.service.store.database import Database, among, batches, same
from bot.service.store.tables import indexed_rows, intents, requests, row_indexes

LONGEST_UNSETTLED = 15.0  # seconds, at most, until it is looked whether the other one's write shows


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
            raise Unsettled(why, min(left, LONGEST_UNSETTLED))
        try:
            yield
        except BotError as failure:  # how the write ended is known; of an interrupted one it is not
            unknown_for = failure.unknown_for if isinstance(failure, Unavailable) else 0.0
            self._give_back(name, holder, until=time.time() + unknown_for if unknown_for else None)
            raise
        self._give_back(name, holder)

    def _give_back(self, name: str, holder: str, until: float | None = None) -> None:
        """Let other processes write; only after a time (Unix seconds) where the write may still show until then."""
        ours = {"at_name": name, "at_holder": holder}
        self.run(_GIVE_BACK if until is None else _KEEP_UNTIL, ours if until is None else ours | {"until": until})

    def _take(self, name: str, holder: str, seconds: float) -> float:
        """Take a name that is free or expired; else the seconds until it expires. All expired names are deleted."""
        now = time.time()
        values = {"name": name, "holder": holder, "until": now + seconds, "at_latest": now + 2 * seconds}
        with self.transaction():
            self.run(_EXPIRE, {"at_now": now})
            self.run(_take(self.engine.dialect.name), values)
            held = self.rows(_HELD, {"at_name": name})[0]
        return 0.0 if held.holder == holder else max(0.1, float(held.until) - now)


_GIVE_BACK = delete(intents).where(same(intents, "name", "holder"))
_KEEP_UNTIL = update(intents).where(same(intents, "name", "holder")).values(until=bindparam("until"))
_EXPIRE = delete(intents).where(intents.c.until <= bindparam("at_now"))
_HELD = select(intents).where(same(intents, "name"))


@cache
def _take(dialect: str) -> Executable:
    """Takes a name that is free, or whose holder had a clock that is wrong."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(intents)
    values = {"holder": insert.excluded.holder, "until": insert.excluded.until}
    was_wrong = intents.c.until > bindparam("at_latest")
    statement: Executable = insert.on_conflict_do_update(index_elements=["name"], set_=values, where=was_wrong)
    return statement


_KNOWN = select(requests.c.num, requests.c.data)
_KNOWN_ONE = _KNOWN.where(same(requests, "target", "num"))
_KNOWN_AT = _KNOWN.where(same(requests, "target"), among(requests.c.num))
_KNOWN_OF = _KNOWN.where(same(requests, "target", "kind")).order_by(requests.c.num)
_KNOWN_WITH = _KNOWN.where(same(requests, "target", "kind", "mark")).order_by(requests.c.num)
_OPEN = and_(same(requests, "target", "kind"), requests.c.is_open.is_(True))
_OPEN_SINCE = _KNOWN.where(_OPEN, requests.c.num >= bindparam("at_oldest")).order_by(requests.c.num)
_OPEN_COUNT = select(func.count()).where(_OPEN)
_FORGET_KNOWN = delete(requests).where(same(requests, "target"))


class StoredThreads(KnownThreads):
    """What is remembered of one repository's discussions and requests, for all processes.

    Each question is one query, so that the cost does not grow with what is remembered.
    """

    def __init__(self, store: Database, target: str) -> None:
        self._store, self._target = store, target

    def _rows_at(self, statement: Executable, **values: str | int) -> list[tuple[int, Row]]:
        at = {"at_target": self._target} | {f"at_{name}": value for name, value in values.items()}
        return [(row.num, json.loads(row.data)) for row in self._store.rows(statement, at)]

    def find(self, num: int) -> Row | None:
        """One of them."""
        return dict(self._rows_at(_KNOWN_ONE, num=num)).get(num)

    def at(self, nums: Iterable[int]) -> dict[int, Row]:
        """Those of them with these numbers."""
        found = self._store.rows_in(_KNOWN_AT, nums, {"at_target": self._target})
        return {row.num: json.loads(row.data) for row in found}

    def put(self, num: int, row: Row) -> None:
        """Remember one as this, and forget what else was known of it."""
        found = {"kind": row["kind"], "mark": _digest(row["mark"]), "is_open": row["status"] in OPEN}
        self._store.upsert(requests, [{"target": self._target, "num": num, **found, "data": json.dumps(row)}])

    def of(self, kind: Kind, mark: str | None = None) -> list[tuple[int, Row]]:
        """Those of one kind, or those of them with one mark, oldest first."""
        if mark is None:
            return self._rows_at(_KNOWN_OF, kind=kind)
        return self._rows_at(_KNOWN_WITH, kind=kind, mark=_digest(mark))

    def open_since(self, kind: Kind, oldest: int = 0) -> list[tuple[int, Row]]:
        """The open ones of one kind from a number on, oldest first."""
        return self._rows_at(_OPEN_SINCE, kind=kind, oldest=oldest)

    def open_count(self, kind: Kind) -> int:
        """How many of one kind are open."""
        return int(self._store.value(_OPEN_COUNT, {"at_target": self._target, "at_kind": kind}))

    def clear(self) -> None:
        """Forget everything."""
        self._store.run(_FORGET_KNOWN, {"at_target": self._target})


def _digest(mark: str) -> str:
    """The key by which a mark is looked up: an index does not take texts of any length."""
    return hashlib.sha256(mark.encode(errors="surrogatepass")).hexdigest()


_INDEX_AT = select(row_indexes.c.at).where(same(row_indexes, "target"))
_MOVE_INDEX = update(row_indexes).where(same(row_indexes, "target", "at")).values(at=bindparam("at"))
_INDEXED = select(indexed_rows).where(same(indexed_rows, "target"))
_INDEXED_AT = _INDEXED.where(among(indexed_rows.c.path))
_FORGET_INDEXED = delete(indexed_rows).where(same(indexed_rows, "target"))
_FORGET_INDEXED_AT = _FORGET_INDEXED.where(among(indexed_rows.c.path))


class StoredRowIndex(RowStore):
    """The index of the rows on the main branch of one target, which all processes share."""

    def __init__(self, store: Database, target: str) -> None:
        self._store, self._target, self._ours = store, target, {"at_target": target}

    def commit(self) -> str:
        """The commit of the index, "" if there is none."""
        return str(self._store.value(_INDEX_AT, self._ours) or "")

    def rows(self, paths: Collection[str] | None = None) -> tuple[str, dict[str, IndexedRow]]:
        """The commit, and all rows, or those at some paths, as they are at that commit."""
        at = self.commit()
        while True:
            with self._store.transaction():
                found, now = self._rows(paths), self.commit()
            if at == now:  # no other process moved it meanwhile
                return at, found
            at = now

    def _rows(self, paths: Collection[str] | None) -> dict[str, IndexedRow]:
        store, ours = self._store, self._ours
        found = store.rows(_INDEXED, ours) if paths is None else store.rows_in(_INDEXED_AT, paths, ours)
        return {row.path: IndexedRow(row.oid, None if row.data is None else zlib.decompress(row.data)) for row in found}

    def move(self, old: str, new: str, moved: Moved, *, is_whole: bool) -> None:
        """Bring the index from one commit to another, unless another process moved it meanwhile."""
        with self._store.transaction():
            if not self._set_commit(old, new):
                return
            if is_whole:
                self._store.run(_FORGET_INDEXED, self._ours)
            else:
                self._store.run_in(_FORGET_INDEXED_AT, (path for path, row in moved.items() if row is None), self._ours)
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
        return bool(self._store.run(_MOVE_INDEX, self._ours | {"at_at": old, "at": new}))
