"""The state between two passes. If it is lost, the service rebuilds it by reading everything again."""

from __future__ import annotations

import sqlite3

from sqlalchemy import select

from bot.service.store.boards import StoredBoard
from bot.service.store.engine import IN_MEMORY, VALUES_AT_ONCE, batches, connect, open_engine, same
from bot.service.store.leases import Leases
from bot.service.store.plans import HeldPlan
from bot.service.store.requests import Intents, StoredRowIndex, StoredThreads
from bot.service.store.sources import IndexedFile, RowLine, StoredSubmission, folder_of
from bot.service.store.state import HISTORY, WatchState
from bot.service.store.tables import answers, metadata

__all__ = [
    "HISTORY",
    "HeldPlan",
    "IndexedFile",
    "RowLine",
    "Store",
    "StoredBoard",
    "StoredSubmission",
    "WatchState",
    "batches",
    "connect",
    "folder_of",
]


_ANSWER = select(answers.c.answer, answers.c.until).where(same(answers, "question"))


class Store(Intents, Leases):
    """One database: the state of each watch, and what all watches share."""

    def of(self, watch: str) -> WatchState:
        """The state of one watch."""
        return WatchState(self, watch)

    def known_threads(self, target: str) -> StoredThreads:
        """What is remembered of a repository's discussions and requests."""
        return StoredThreads(self, target)

    def row_index(self, target: str) -> StoredRowIndex:
        """The index of the rows on the main branch of a target."""
        return StoredRowIndex(self, target)

    def answer(self, question: str, now: float) -> str | None:
        """The kept answer of a service; None if there is none, or it is too old. `now` is in Unix seconds."""
        found = self.rows(_ANSWER, {"at_question": question})
        return next((str(row.answer) for row in found if row.until is None or row.until >= now), None)

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep the answer of a service, for ever where `until` is None."""
        self.upsert(answers, [{"question": question, "answer": answer, "until": until}])

    def scratch(self) -> Store:
        """A copy in memory, for a dry run."""
        engine = open_engine(IN_MEMORY)
        metadata.create_all(engine)
        with self.engine.connect() as ours, engine.begin() as copy:
            source, target = ours.connection.driver_connection, copy.connection.driver_connection
            if isinstance(source, sqlite3.Connection) and isinstance(target, sqlite3.Connection):
                source.backup(target)
                return Store(engine)
            for table in metadata.sorted_tables:
                for some in (
                    ours.execution_options(yield_per=VALUES_AT_ONCE).execute(select(table)).mappings().partitions()
                ):
                    copy.execute(table.insert(), [dict(row) for row in some])
        return Store(engine)
