"""The boards for the pages: the rows at each target when its table was last rebuilt.

Whoever rebuilds a table stores its rows here, so that a visitor costs no request to a service.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import BindParameter, Select, bindparam, case, delete, func, select

from bot.evaluation.likeness import MOST_SHARING, Peer
from bot.evaluation.row_key import model_in, reading_of
from bot.evaluation.rules.rule import KnownDocuments
from bot.publishing.board import TIE, LoggedKind, Standing, formats_of_leaves, is_ranked, kind_of_log, of_most
from bot.publishing.changes import BoardChange, additions, change_of
from bot.publishing.entry import Entry, digest_of, parse_entry
from bot.service.store.database import Part, among, batches, first_of_marks, older_than_newest, same
from bot.service.store.tables import board_changes, board_logs, board_marks, board_rows, boards

CHANGES_KEPT = 5_000  # changes of one board


@dataclass(frozen=True, slots=True)
class StoredBoard:
    """A board at a target: its commit there, and the text of the declaration that it was made with.

    `models` says when anything new was last learned of its models.
    """

    head: str
    leaderboard: str
    declaration: str
    models: str = ""


_AT = select(boards).where(same(boards, "watch", "target"))
_COUNT = select(func.count()).where(same(board_rows, "watch", "target"))
_ENTRIES = select(board_rows.c.data).where(same(board_rows, "watch", "target"))
_ROWS = select(board_rows.c.key, board_rows.c.row).where(same(board_rows, "watch", "target"))
_CHANGES = (
    select(board_changes.c.data)
    .where(same(board_changes, "watch", "target"))
    .order_by(board_changes.c.id.desc())
    .limit(CHANGES_KEPT)
)
_HAVING = select(board_rows.c.key).where(same(board_rows, "watch", "target"), among(board_rows.c.key))
_NEWEST = _CHANGES.limit(1)
_FIRST = (
    select(board_rows.c.data)
    .where(same(board_rows, "watch", "target"), board_rows.c.average.is_not(None))
    .order_by(board_rows.c.average.desc(), board_rows.c.key)
    .limit(bindparam("at_most"))
)
_SPELLINGS = select(board_rows.c.measured, board_rows.c.key).where(
    same(board_rows, "watch"), among(board_rows.c.reading)
)
_DIGESTS = select(board_rows.c.key, board_rows.c.digest).where(same(board_rows, "watch", "target"))
_ROWS_AT = select(board_rows).where(same(board_rows, "watch", "target"), among(board_rows.c.key))
_FORGET = delete(board_rows).where(same(board_rows, "watch", "target"), among(board_rows.c.key))
_FORGET_LOGS = delete(board_logs).where(same(board_logs, "watch", "target"), among(board_logs.c.key))
_LOGS = select(board_logs.c.sha256, board_logs.c.key).where(same(board_logs, "watch"), among(board_logs.c.sha256))
_FORGET_MARKS = delete(board_marks).where(same(board_marks, "watch", "target"), among(board_marks.c.key))
_PEERS = select(board_rows.c.key, board_rows.c.data).where(
    same(board_rows, "watch"), board_rows.c.key.in_(first_of_marks(board_marks, MOST_SHARING, "key"))
)
_KINDS = [board_logs.c[name] for name in LoggedKind._fields]
_DOCUMENTS = (
    select(*_KINDS, func.count(), func.min(board_logs.c.samples)).where(same(board_logs, "watch")).group_by(*_KINDS)
)
_FORGET_CHANGES = older_than_newest(board_changes, "watch", "target")


def _standing() -> Select[Any]:
    """How many other rows of a board are above and below an average beyond chance, have one, and are there."""
    error: BindParameter[float] = bindparam("at_stderr")
    of_row = func.coalesce(board_rows.c.stderr, 0.0)
    above = board_rows.c.average - bindparam("at_average")
    is_apart = above * above > TIE * TIE * (of_row * of_row + error * error)
    counts = [func.count(case((is_apart & where, 1))) for where in (above > 0, above < 0)]
    columns: list[Any] = [*counts, func.count(board_rows.c.average), func.count()]
    return select(*columns).where(same(board_rows, "watch", "target"), board_rows.c.key != bindparam("at_key"))


_STANDING = _standing()


class Boards(Part):
    """Rows and changes of each board."""

    def at(self, target: str) -> StoredBoard | None:
        """The board of a target, None if its table was never rebuilt."""

        def read() -> StoredBoard | None:
            found = self.select(_AT, target=target)
            return next((StoredBoard(row.head, row.leaderboard, row.declaration) for row in found), None)

        return self.db.once((self.watch, "boards", target), read)

    def count_rows(self, target: str) -> int:
        return int(self.value(_COUNT, target=target))

    def entries(self, target: str) -> list[Entry]:
        return [parse_entry(zlib.decompress(data)) for data in self.column(_ENTRIES, target=target)]

    def first(self, target: str, most: int) -> list[Entry]:
        """The rows with the highest averages of a board."""
        return [parse_entry(zlib.decompress(data)) for data in self.column(_FIRST, target=target, most=most)]

    def having(self, target: str, keys: Iterable[str]) -> set[str]:
        """Those of some keys that a board has a row of."""
        return {row.key for row in self.select_in(_HAVING, keys, target=target)}

    def rows(self, target: str) -> dict[str, str]:
        """The digest of each row of a board by key, see `digest_of`."""
        return {row.key: row.row for row in self.select(_ROWS, target=target)}

    def changes(self, target: str) -> tuple[BoardChange, ...]:
        """The rows that were added, changed and removed since the board was first stored, the newest first."""
        return tuple(msgspec.json.decode(data, type=BoardChange) for data in self.column(_CHANGES, target=target))

    def changed(self, target: str) -> str:
        """The date of the newest change of a board, ISO 8601; "" if none is known."""
        found = self.value(_NEWEST, target=target)
        return msgspec.json.decode(found, type=BoardChange).date if found else ""

    def keep(
        self,
        target: str,
        board: StoredBoard,
        entries: Iterable[Entry],
        date: str,
        *,
        history: Sequence[BoardChange] = (),
        why_gone: Callable[[Sequence[str]], Mapping[str, str]] | None = None,
    ) -> set[str]:
        """Store the rows of a board, and note which came, changed and went; `date` is ISO 8601.

        The first time the changes are those of `history`, the newest first; without a history each row counts as added
        when it was measured. `why_gone` gives the reasons of rows that went. Returns the keys of the rows that came or
        went.
        """
        with self.db.transaction():
            is_first = self.at(target) is None
            known = self._digests(target)
            wanted = {entry.key: entry for entry in entries}
            digests = {key: _digest(entry) for key, entry in wanted.items()}
            changed = [key for key, digest in digests.items() if known.get(key) != digest]
            gone = [key for key in known if key not in wanted]
            before = self._entries_at(target, [key for key in (*changed, *gone) if key in known])
            moved = [change_of(before.get(key), wanted.get(key), date) for key in (*changed, *gone)]
            reasons = why_gone(gone) if why_gone is not None and gone else {}
            moved = [one and replace(one, reason=reasons.get(one.key, one.reason)) for one in moved]
            earlier = reversed(history or additions(wanted.values()))
            news = earlier if is_first else (one for one in moved if one is not None)
            self._write(target, [(wanted[key], digests[key]) for key in changed], gone)
            self._note(target, list(news))
            row = {"head": board.head, "leaderboard": board.leaderboard, "declaration": board.declaration}
            self.upsert(boards, [{"target": target, **row}])
        self.db.forget_read(self.watch, "boards", target)
        return set(known) ^ set(wanted)

    def logs(self, digests: Iterable[str]) -> dict[str, str]:
        """The models of rows on the boards that name sample logs with these SHA-256; first by key."""
        found = sorted(self.select_in(_LOGS, digests), key=lambda row: row.key, reverse=True)
        return {row.sha256: model_in(row.key) for row in found}

    def peers(self, marks: Iterable[str]) -> list[Peer]:
        """The rows on the boards with one of these marks, of each mark the first by key."""
        found = {row.key: row.data for row in self.select_in(_PEERS, marks)}
        return [
            Peer(0.0, 0.0, key, parse_entry(zlib.decompress(data)).fingerprint, is_there=True)
            for key, data in found.items()
        ]

    def documents(self) -> dict[tuple[str, str], KnownDocuments]:
        """By leaf and format the documents of most rows on the boards, see `of_most`."""
        return of_most((LoggedKind(*kind), rows, samples) for *kind, rows, samples in self.select(_DOCUMENTS))

    def spellings(self, readings: Iterable[str]) -> list[tuple[str, str]]:
        """When the rows on the boards that have these readings were measured, and their keys."""
        return [(row.measured, row.key) for row in self.select_in(_SPELLINGS, readings)]

    def standing(self, target: str, entry: Entry) -> Standing:
        """The standing of an entry among the rows of a board, see `standing_among`."""
        own = {"average": entry.average or 0.0, "stderr": entry.stderr or 0.0}
        return Standing(*self.select(_STANDING, target=target, key=entry.key, **own)[0])

    def _digests(self, target: str) -> dict[str, str]:
        return {row.key: row.digest for row in self.select(_DIGESTS, target=target)}

    def _entries_at(self, target: str, keys: Iterable[str]) -> Mapping[str, Entry]:
        found = self.select_in(_ROWS_AT, keys, target=target)
        return {row.key: parse_entry(zlib.decompress(row.data)) for row in found}

    def _write(self, target: str, there: Iterable[tuple[Entry, str]], gone: Sequence[str]) -> None:
        named = list(there)
        self.change_in(_FORGET, gone, target=target)
        anew = [*gone, *(entry.key for entry, _ in named)]
        self.change_in(_FORGET_LOGS, anew, target=target)
        self.change_in(_FORGET_MARKS, anew, target=target)
        for some in batches(named):
            self.upsert(board_rows, [_stored(target, entry, digest) for entry, digest in some])
        for logs in batches(log for entry, _ in named for log in _logs_of(target, entry)):
            self.upsert(board_logs, logs)
        for marks in batches(mark for entry, _ in named for mark in _marks_of(target, entry)):
            self.upsert(board_marks, marks)

    def _note(self, target: str, news: list[BoardChange]) -> None:
        values = [
            {"watch": self.watch, "target": target, "data": msgspec.json.encode(one)} for one in news[-CHANGES_KEPT:]
        ]
        if values:
            self.db.run(board_changes.insert(), values)
            self.change(_FORGET_CHANGES, target=target, count=CHANGES_KEPT)


def _digest(entry: Entry) -> str:
    return hashlib.sha256(msgspec.json.encode(entry)).hexdigest()[:32]


def _stored(target: str, entry: Entry, digest: str) -> dict[str, Any]:
    return {
        "target": target,
        "key": entry.key,
        "digest": digest,
        "row": digest_of(entry),
        "reading": reading_of(entry.key),
        "measured": entry.date,
        "average": entry.average if is_ranked(entry) else None,
        "stderr": entry.stderr,
        "data": zlib.compress(msgspec.json.encode(entry)),
    }


def _marks_of(target: str, entry: Entry) -> Iterator[dict[str, Any]]:
    return ({"target": target, "key": entry.key, "mark": mark} for mark in dict.fromkeys(entry.fingerprint.marks))


def _logs_of(target: str, entry: Entry) -> Iterator[dict[str, Any]]:
    formats = formats_of_leaves(entry) if entry.samples else {}
    for one in entry.samples:
        log = {"sha256": one.sha256, "samples": one.samples, **kind_of_log(entry, one, formats)._asdict()}
        yield {"target": target, "key": entry.key, **log}
