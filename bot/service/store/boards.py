"""The boards for the pages: the rows at each target when its table was last rebuilt.

A visitor costs no request to a service: the item that rebuilds a table leaves the rows here.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Table, delete, func, select

from bot.evaluation.row_key import reading_of
from bot.publishing.changes import BoardChange, additions, change_of
from bot.publishing.entry import Entry, digest_of, digest_of_raws, parse_entry, raws_of
from bot.service.store.engine import Database, batches
from bot.service.store.tables import board_changes, board_rows, boards

KEPT = 5_000  # changes of one board


@dataclass(frozen=True, slots=True)
class StoredBoard:
    """Which board stood at a target: its commit there, and the text of the declaration that it was made by.

    `models` says when anything new was last learned of its models.
    """

    head: str
    leaderboard: str
    declaration: str
    models: str = ""


class BoardStore(Database):
    """Rows and changes of each board."""

    def stored_board(self, watch: str, target: str) -> StoredBoard | None:
        """The board of a target, None if its table was never rebuilt."""
        found = select(boards).where(*_at(boards, watch, target))
        return next((StoredBoard(row.head, row.leaderboard, row.declaration) for row in self.rows(found)), None)

    def count_board_rows(self, watch: str, target: str) -> int:
        """The number of rows on a board."""
        return int(self.value(select(func.count()).where(*_at(board_rows, watch, target))))

    def board_entries(self, watch: str, target: str) -> list[Entry]:
        """The rows of a board."""
        found = select(board_rows.c.data).where(*_at(board_rows, watch, target))
        return [parse_entry(zlib.decompress(data)) for data in self.values(found)]

    def stored_rows(self, watch: str, target: str) -> dict[str, str]:
        """What makes each row of a board the same, by key: see `digest_of`."""
        found = select(board_rows.c.key, board_rows.c.row).where(*_at(board_rows, watch, target))
        return {row.key: row.row for row in self.rows(found)}

    def board_changes(self, watch: str, target: str) -> tuple[BoardChange, ...]:
        """The rows that were added, changed and removed since the board is kept, the newest first."""
        found = select(board_changes.c.data).where(*_at(board_changes, watch, target))
        newest = found.order_by(board_changes.c.id.desc()).limit(KEPT)
        return tuple(msgspec.json.decode(data, type=BoardChange) for data in self.values(newest))

    def keep_board(
        self,
        watch: str,
        target: str,
        board: StoredBoard,
        entries: Iterable[Entry],
        date: str,
        *,
        history: Sequence[BoardChange] = (),
    ) -> set[str]:
        """Keep the rows of a board, and note what came, changed and went; `date` is ISO 8601.

        The first time the changes are those of `history`, the newest first; without any, each row counts as added when
        it was measured. Returns the keys of the rows that came or went.
        """
        with self.transaction():
            is_first = self.stored_board(watch, target) is None
            known = self._digests(watch, target)
            wanted = {entry.key: entry for entry in entries}
            digests = {key: _digest(entry) for key, entry in wanted.items()}
            changed = [key for key, digest in digests.items() if known.get(key) != digest]
            gone = [key for key in known if key not in wanted]
            before = self._entries_at(watch, target, [key for key in (*changed, *gone) if key in known])
            moved = [change_of(before.get(key), wanted.get(key), date) for key in (*changed, *gone)]
            earlier = reversed(history or additions(wanted.values()))
            news = earlier if is_first else (one for one in moved if one is not None)
            self._write(watch, target, [(wanted[key], digests[key]) for key in changed], gone)
            self._note(watch, target, list(news))
            row = {"watch": watch, "target": target, "head": board.head, "leaderboard": board.leaderboard}
            self.upsert(boards, [{**row, "declaration": board.declaration}])
        return set(known) ^ set(wanted)

    def models_with(self, watch: str, raws: Iterable[str]) -> dict[str, str]:
        """The models of rows on the boards of a watch that have these raw values, by `digest_of_raws`; first by key."""
        columns = select(board_rows.c.raws, board_rows.c.key, board_rows.c.model).where(board_rows.c.watch == watch)
        found = sorted(self.rows_in(columns, board_rows.c.raws, raws), key=lambda row: row.key, reverse=True)
        return {row.raws: row.model for row in found}

    def board_spellings(self, watch: str, readings: Iterable[str]) -> list[tuple[str, str]]:
        """When the rows on the boards of a watch that have these readings were measured, and their keys."""
        columns = select(board_rows.c.measured, board_rows.c.key).where(board_rows.c.watch == watch)
        return [(row.measured, row.key) for row in self.rows_in(columns, board_rows.c.reading, readings)]

    def _digests(self, watch: str, target: str) -> dict[str, str]:
        found = select(board_rows.c.key, board_rows.c.digest).where(*_at(board_rows, watch, target))
        return {row.key: row.digest for row in self.rows(found)}

    def _entries_at(self, watch: str, target: str, keys: Iterable[str]) -> Mapping[str, Entry]:
        found = select(board_rows).where(*_at(board_rows, watch, target))
        return {row.key: parse_entry(zlib.decompress(row.data)) for row in self.rows_in(found, board_rows.c.key, keys)}

    def _write(self, watch: str, target: str, there: Iterable[tuple[Entry, str]], gone: Iterable[str]) -> None:
        self.delete_in(delete(board_rows).where(*_at(board_rows, watch, target)), board_rows.c.key, gone)
        for some in batches(there):
            self.upsert(board_rows, [_stored(watch, target, entry, digest) for entry, digest in some])

    def _note(self, watch: str, target: str, news: list[BoardChange]) -> None:
        where = _at(board_changes, watch, target)
        values = [{"watch": watch, "target": target, "data": msgspec.json.encode(one)} for one in news[-KEPT:]]
        if values:
            self.run(board_changes.insert(), values)
        newest = select(board_changes.c.id).where(*where).order_by(board_changes.c.id.desc())
        last = self.value(newest.offset(KEPT).limit(1))
        if last is not None:
            self.run(delete(board_changes).where(*where, board_changes.c.id <= last))


def _at(table: Table, watch: str, target: str) -> tuple[ColumnElement[bool], ...]:
    return table.c.watch == watch, table.c.target == target


def _digest(entry: Entry) -> str:
    return hashlib.sha256(msgspec.json.encode(entry)).hexdigest()[:32]


def _stored(watch: str, target: str, entry: Entry, digest: str) -> dict[str, Any]:
    raws = raws_of(entry)
    return {
        "watch": watch,
        "target": target,
        "key": entry.key,
        "digest": digest,
        "row": digest_of(entry),
        "reading": reading_of(entry.key),
        "raws": None if raws is None else digest_of_raws(raws),
        "model": entry.model.id,
        "measured": entry.date,
        "data": zlib.compress(msgspec.json.encode(entry)),
    }
