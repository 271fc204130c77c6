"""The state of one watch: what is remembered, past outcomes, and one store for each duty."""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import bindparam, delete, select, update

from bot.evaluation.submission import iso_date
from bot.publishing.decisions import RowDecision
from bot.service.store.boards import Boards
from bot.service.store.engine import Database, Part, among, older_than_newest, same
from bot.service.store.items import Items
from bot.service.store.memory import DECIDED, SOURCE, Memories
from bot.service.store.plans import Plans
from bot.service.store.sources import Files, Rows, Submissions
from bot.service.store.tables import files, metadata, outcomes, proposals, published, submissions

HISTORY = 200  # outcomes kept for each watch
Written = tuple[bytes, bytes | None]


_PUBLISHED_AT = select(published).where(same(published, "watch", "target"))
_FORGET_PUBLISHED = delete(published).where(same(published, "watch", "target"), among(published.c.key))


class Published(Part):
    """Keeps for each row of a table the entry that was written last, and the entry that stood there before, if any."""

    def at(self, target: str) -> dict[str, Written]:
        """The rows in one table, by key."""
        return {row.key: (row.entry, row.earlier) for row in self.select(_PUBLISHED_AT, target=target)}

    def keep(self, target: str, rows: Mapping[str, Written]) -> None:
        """Remember what was written."""
        values = ({"target": target, "key": key, "entry": e, "earlier": b} for key, (e, b) in rows.items())
        self.upsert(published, values)

    def forget(self, target: str, keys: Iterable[str]) -> None:
        """Forget rows that are no longer in the table."""
        self.change_in(_FORGET_PUBLISHED, keys, target=target)


class WatchState(Memories):
    """The state of one watch."""

    def __init__(self, db: Database, watch: str) -> None:
        super().__init__(db, watch)
        self.transaction, self.phase = db.transaction, db.phase
        self.items = Items(db, watch)
        self.plans = Plans(db, watch)
        self.files = Files(db, watch)
        self.submissions = Submissions(db, watch)
        self.rows = Rows(db, watch)
        self.boards = Boards(db, watch)
        self.published = Published(db, watch)

    @property
    def commit(self) -> str | None:
        """The commit up to which the source was read; None if it never was, to its end."""
        known = self.recall(SOURCE)
        return None if known is None else known.commit

    def decided(self, target: str) -> dict[str, tuple[RowDecision, ...]]:
        """What people decided about rows at a target, by key."""
        return {key: tuple(found) for key, found in self.recall_all(DECIDED, target=target).items()}

    def decide(self, target: str, key: str, decisions: Collection[RowDecision]) -> None:
        """Replace what is known of people's decisions about a row."""
        self.remember(DECIDED, list(decisions) or None, key, target=target)

    def proposal(self, num: int) -> bytes | None:
        """The stored content of a request at the source; None if there is none."""
        data = self.value(_PROPOSAL, num=num)
        return None if data is None else zlib.decompress(data)

    def set_proposal(self, num: int, data: bytes | None) -> None:
        """Store what was read of a request; None forgets it."""
        if data is not None:
            self.upsert(proposals, [{"num": num, "data": zlib.compress(data, 1)}])
        else:
            self.change(_FORGET_PROPOSAL, num=num)

    def forget_target(self, target: str) -> None:
        """Forget what was written at a target, and what people decided there, but not its settings."""
        with self.transaction():
            for statement in _FORGET_TARGET:
                self.change(statement, target=target)
        self.db.forget_read(self.watch)

    def add_outcomes(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Remember outcomes as (outcome, subject, text); the oldest are forgotten."""
        now = time.time()
        values = [{"watch": self.watch, "at": now, "outcome": o, "subject": s, "text": t} for o, s, t in rows][
            -HISTORY:
        ]
        if values:
            with self.transaction():
                self.db.run(outcomes.insert(), values)
                self.change(_FORGET_OUTCOMES, count=HISTORY)

    def outcomes(self, limit: int = 20) -> list[dict[str, str]]:
        """The last outcomes, newest first: when (`at`, ISO 8601), outcome, subject, text."""
        return [
            {"at": iso_date(row.at), "outcome": row.outcome, "subject": row.subject, "text": row.text}
            for row in self.select(_OUTCOMES, limit=limit)
        ]

    def forget_contents(self) -> None:
        """Forget the listed and read contents, so that all files count as changed."""
        with self.transaction():
            for statement in _WITHOUT_CONTENT:
                self.change(statement)


_PROPOSAL = select(proposals.c.data).where(same(proposals, "watch", "num"))
_FORGET_PROPOSAL = delete(proposals).where(same(proposals, "watch", "num"))
_FORGET_TARGET = [
    delete(table).where(same(table, "watch", "target"))
    for table in metadata.sorted_tables
    if {"watch", "target"}.issubset(table.c.keys())
]
_FORGET_OUTCOMES = older_than_newest(outcomes, "watch")
_OUTCOMES = select(outcomes).where(same(outcomes, "watch")).order_by(outcomes.c.id.desc()).limit(bindparam("at_limit"))
_WITHOUT_CONTENT = [update(table).where(same(table, "watch")).values(oid="") for table in (files, submissions)]
