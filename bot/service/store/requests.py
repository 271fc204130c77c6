"""What was read at targets, so that nothing is asked twice, and what is written, so that nothing is sent twice."""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import BotError, Unavailable, Unsettled
from bot.platforms.row_index import IndexedRow, Moved, RowStore
from bot.service.store.engine import Database, batches
from bot.service.store.tables import cursors, indexed_rows, intents, proposals, published, requests, row_indexes

LONGEST_LOOK = 15.0  # seconds, at most, until it is looked whether the other one's write shows


class Requests(Database):
    """Facts about requests and discussions, what was read of open requests at a source, and rows on main branches."""

    def memory(self, target: str) -> Memory:
        """The stored facts about a repository's requests, as a mapping that stores each new fact."""
        return Memory(self, target)

    def proposal(self, watch: str, num: int) -> bytes | None:
        """The kept content of a request; None if there is none."""
        data = self.value(select(proposals.c.data).where(proposals.c.watch == watch, proposals.c.num == num))
        return None if data is None else zlib.decompress(data)

    def set_proposal(self, watch: str, num: int, data: bytes | None) -> None:
        """Keep what was read of a request; None forgets it."""
        if data is not None:
            self.upsert(proposals, [{"watch": watch, "num": num, "data": zlib.compress(data, 1)}])
        else:
            self.run(delete(proposals).where(proposals.c.watch == watch, proposals.c.num == num))

    def row_index(self, target: str) -> StoredRowIndex:
        """The index of the rows on the main branch of a target."""
        return StoredRowIndex(self, target)

    # writes that may be done once

    @contextmanager
    def intend(self, name: str, seconds: float) -> Iterator[None]:
        """Say what is written in the block, for so many seconds at most. Raises Unsettled if another holds it.

        The fate of a write whose process was killed is not known before its time is over.
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
        """Let others write; only after a time (Unix seconds) where the write may show until then."""
        ours = (intents.c.name == name, intents.c.holder == holder)
        change = delete(intents) if until is None else update(intents).values(until=until)
        self.run(change.where(*ours))

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
        with self.transaction():
            self.run(delete(intents).where(intents.c.until <= now))
            self.run(statement)
            held = self.rows(select(intents).where(intents.c.name == name))[0]
        return 0.0 if held.holder == holder else max(0.1, held.until - now)


class Memory(MutableMapping[int, bytes]):
    """What is known of one repository's requests and discussions, by number, in all processes."""

    def __init__(self, store: Database, target: str) -> None:
        self._store, self._target = store, target

    def __getitem__(self, num: int) -> bytes:
        data: bytes | None = self._store.value(select(requests.c.data).where(*self._at(num)))
        if data is None:
            raise KeyError(num)
        return data

    def __setitem__(self, num: int, data: bytes) -> None:
        if self.get(num) != data:
            self._store.upsert(requests, [{"target": self._target, "num": num, "data": data}])

    def __delitem__(self, num: int) -> None:
        if not self._store.run(delete(requests).where(*self._at(num))):
            raise KeyError(num)

    def _at(self, num: int) -> tuple[ColumnElement[bool], ...]:
        return requests.c.target == self._target, requests.c.num == num

    def clear(self) -> None:
        """Forget everything."""
        self._store.run(delete(requests).where(requests.c.target == self._target))

    def items(self) -> ItemsView[int, bytes]:
        """All that is known, in one question."""
        found = self._store.rows(select(requests).where(requests.c.target == self._target))
        return {row.num: row.data for row in found}.items()

    def __iter__(self) -> Iterator[int]:
        return (num for num, _ in self.items())

    def __len__(self) -> int:
        return len(self.items())


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


Written = tuple[bytes, bytes | None]


class Published(Database):
    """Keeps for each row of a table the entry that was written last, and the one that stood there before, if any."""

    def published(self, watch: str, target: str) -> dict[str, Written]:
        """The rows of one watch in one table, by key."""
        found = self.rows(select(published).where(published.c.watch == watch, published.c.target == target))
        return {row.key: (row.entry, row.earlier) for row in found}

    def set_published(self, watch: str, target: str, rows: Mapping[str, Written]) -> None:
        """Remember what was written."""
        where = {"watch": watch, "target": target}
        self.upsert(published, [{**where, "key": key, "entry": e, "earlier": b} for key, (e, b) in rows.items()])

    def forget_published(self, watch: str, target: str, keys: Iterable[str]) -> None:
        """Forget rows that are not in the table any more."""
        where = (published.c.watch == watch, published.c.target == target)
        self.delete_in(delete(published).where(*where), published.c.key, keys)


CursorKind = Literal[
    # of the watch
    "source",  # the commit up to which the source was read
    "selection",  # the files that the settings selected then
    "definition",  # a digest of everything that decided the verdicts
    "pass",  # how the last pass ended, for other processes
    "tried",  # when the last pass began, in Unix seconds
    "clock",  # when the last pass ended, in Unix seconds
    "recount",  # when the ledgers are made anew (Unix seconds), there if something happened since they were made
    "failures",  # the causes of the failures of the last pass, as JSON
    "swept",  # the day of the last search for duplicates
    "waivers",  # the waivers that the bot's answers record, as JSON
    "maintainers",  # the accounts that `waivers` was read for, as JSON
    "reviews",  # when the requests at the source were listed, and how many there were
    "site",  # where the web site was written last
    "models asked",  # when the Hub was last asked about models
    "models moved",  # when anything new was last learned of models, from the Hub or from result files
    # by subject
    "review",  # number of a request at the source: its ReviewState
    "discussion",  # number of a discussion about a push: how many comments were answered
    "commands",  # account: when its commands of the last hour were answered, as JSON
    "model",  # model: what the Hub said of it, and when, as JSON
    "model size",  # key of a row: the digest of its newest file, and the number of parameters that the file states
    # by target
    "target",  # a digest of the settings that decide about its rows
    "repository",  # the id of its repository, and the commit at its main branch, as JSON
    "board",  # the commit that the board was rebuilt from
    "template",  # the commit of main at which all rows were compared
    "place",  # by model: where its results were found at the last look
    "first write",  # whether a person approved the first write to models
    "declines",  # the accounts for which the declined rows were read, as JSON
    # by target and subject
    "request",  # number of a request of the bot: how many comments were read
    "declined",  # key of a row: the digests of what people declined, as JSON
    "removed",  # key of a row that people took from main: the digest that is not proposed again until main has the row
    "gone",  # key of a row that somebody took from main: its digest, and whether history was rewritten, as JSON
    "ledger",  # the last ledger of a target, as JSON (it has no subject)
    "plan discussion",  # where people answer the plan that waits at a target (no subject)
    "plan comment",  # whether the comment about plans at a target is still to be looked at after a sweep (no subject)
    "plan comments",  # the comments that approved or declined a plan at a target, as JSON (no subject)
]


class Cursors(Database):
    """One text for each watch, kind, target and subject; a kind that has no target or subject leaves them empty."""

    def cursor(self, watch: str, kind: CursorKind, subject: str = "", *, target: str = "") -> str | None:
        """What is remembered; None if nothing is."""
        found = select(cursors.c.value).where(*_place(watch, kind, target), cursors.c.subject == subject)
        value: str | None = self.value(found)
        return value

    def cursors(self, watch: str, kind: CursorKind, *, target: str = "") -> dict[str, str]:
        """All that is remembered of a kind, by subject."""
        found = self.rows(select(cursors.c.subject, cursors.c.value).where(*_place(watch, kind, target)))
        return {row.subject: row.value for row in found}

    def set_cursor(
        self, watch: str, kind: CursorKind, value: str | None, subject: str = "", *, target: str = ""
    ) -> None:
        """Remember a value; None forgets it."""
        if value is None:
            self.run(delete(cursors).where(*_place(watch, kind, target), cursors.c.subject == subject))
        else:
            place = {"watch": watch, "kind": kind, "target": target, "subject": subject}
            self.upsert(cursors, [{**place, "value": value}])

    def set_cursors(self, watch: str, kind: CursorKind, values: Mapping[str, str]) -> None:
        """Remember many values of one kind, by subject."""
        rows = [{"watch": watch, "kind": kind, "target": "", "subject": one, "value": values[one]} for one in values]
        with self.transaction():
            for some in batches(rows):
                self.upsert(cursors, some)

    def declined(self, watch: str, target: str) -> dict[str, set[str]]:
        """The digests of the rows that people declined at a target, or took from it, by key."""
        found = {key: {digest} for key, digest in self.cursors(watch, "removed", target=target).items()}
        for key, digests in self.cursors(watch, "declined", target=target).items():
            found.setdefault(key, set()).update(msgspec.json.decode(digests, type=list[str]))
        return found

    def set_declined(self, watch: str, target: str, key: str, digests: Collection[str]) -> bool:
        """Remember that a row is declined with these digests, too, with none that it is not; whether that is new."""
        text = self.cursor(watch, "declined", key, target=target)
        known = set(msgspec.json.decode(text, type=list[str])) if text else set[str]()
        wanted = known.union(digests) if digests else set[str]()
        if wanted != known:
            data = msgspec.json.encode(sorted(wanted)).decode() if wanted else None
            self.set_cursor(watch, "declined", data, key, target=target)
        return wanted != known


def _place(watch: str, kind: CursorKind, target: str) -> tuple[ColumnElement[bool], ...]:
    return cursors.c.watch == watch, cursors.c.kind == kind, cursors.c.target == target
