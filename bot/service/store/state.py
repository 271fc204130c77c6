"""The state of one watch: small facts, past outcomes, and one store for each duty."""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec
from sqlalchemy import delete, select, update

from bot.evaluation.submission import iso_date
from bot.service.store.boards import Boards
from bot.service.store.engine import Database, Part, batches
from bot.service.store.items import Items
from bot.service.store.plans import Plans
from bot.service.store.sources import Files, Rows, Submissions
from bot.service.store.tables import cursors, files, metadata, outcomes, proposals, published, submissions

HISTORY = 200  # outcomes kept for each watch
Written = tuple[bytes, bytes | None]


class Published(Part):
    """Keeps for each row of a table the entry that was written last, and the entry that stood there before, if any."""

    def at(self, target: str) -> dict[str, Written]:
        """The rows in one table, by key."""
        found = self.db.rows(select(published).where(self.ours(published, target=target)))
        return {row.key: (row.entry, row.earlier) for row in found}

    def keep(self, target: str, rows: Mapping[str, Written]) -> None:
        """Remember what was written."""
        values = ({"target": target, "key": key, "entry": e, "earlier": b} for key, (e, b) in rows.items())
        self.upsert(published, values)

    def forget(self, target: str, keys: Iterable[str]) -> None:
        """Forget rows that are no longer in the table."""
        self.db.delete_in(delete(published).where(self.ours(published, target=target)), published.c.key, keys)


CursorKind = Literal[
    # of the watch
    "source",  # the commit up to which the source was read
    "selection",  # the files that the settings selected then
    "definition",  # a digest of everything that decided the verdicts
    "pass",  # how the last pass ended, for other processes
    "tried",  # when the last pass began, in Unix seconds
    "moved",  # when an item was last brought in step, in Unix seconds, give or take ten
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
    "target",  # address of a target of the settings: a digest of the settings that decide about its rows
    # by target
    "repository",  # the id of its repository, and the commit at its main branch in the last pass
    "board",  # the commit that the board was rebuilt from
    "table",  # the commit of main at which the written rows were compared
    "place",  # by model: where its results were found at the last look, or why they are nowhere
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


class WatchState(Part):
    """The state of one watch.

    A *cursor* is one text for each kind, target and subject; a kind that has no target or subject leaves them empty.
    """

    def __init__(self, db: Database, watch: str) -> None:
        super().__init__(db, watch)
        self.transaction = db.transaction
        self.items = Items(db, watch)
        self.plans = Plans(db, watch)
        self.files = Files(db, watch)
        self.submissions = Submissions(db, watch)
        self.rows = Rows(db, watch)
        self.boards = Boards(db, watch)
        self.published = Published(db, watch)

    def cursor(self, kind: CursorKind, subject: str = "", *, target: str = "") -> str | None:
        """What is remembered; None if nothing is."""
        found = select(cursors.c.value).where(self.ours(cursors, kind=kind, target=target, subject=subject))
        value: str | None = self.db.value(found)
        return value

    def cursors(self, kind: CursorKind, *, target: str = "") -> dict[str, str]:
        """All that is remembered of a kind, by subject."""
        found = self.db.rows(
            select(cursors.c.subject, cursors.c.value).where(self.ours(cursors, kind=kind, target=target))
        )
        return {row.subject: row.value for row in found}

    def set_cursor(self, kind: CursorKind, value: str | None, subject: str = "", *, target: str = "") -> None:
        """Remember a value; None forgets it."""
        if value is None:
            self.db.run(delete(cursors).where(self.ours(cursors, kind=kind, target=target, subject=subject)))
        else:
            self.upsert(cursors, [{"kind": kind, "target": target, "subject": subject, "value": value}])

    def set_cursors(self, kind: CursorKind, values: Mapping[str, str]) -> None:
        """Remember many values of one kind, by subject."""
        rows = [{"kind": kind, "target": "", "subject": one, "value": values[one]} for one in values]
        with self.transaction():
            for some in batches(rows):
                self.upsert(cursors, some)

    def declined(self, target: str) -> dict[str, set[str]]:
        """The digests of the rows that people declined at a target, or took from it, by key."""
        found = {key: {digest} for key, digest in self.cursors("removed", target=target).items()}
        for key, digests in self.cursors("declined", target=target).items():
            found.setdefault(key, set()).update(msgspec.json.decode(digests, type=list[str]))
        return found

    def set_declined(self, target: str, key: str, digests: Collection[str]) -> bool:
        """Add digests with which a row is declined; none of them forgets the row. Tell whether anything changed."""
        text = self.cursor("declined", key, target=target)
        known = set(msgspec.json.decode(text, type=list[str])) if text else set[str]()
        wanted = known.union(digests) if digests else set[str]()
        if wanted != known:
            data = msgspec.json.encode(sorted(wanted)).decode() if wanted else None
            self.set_cursor("declined", data, key, target=target)
        return wanted != known

    def proposal(self, num: int) -> bytes | None:
        """The stored content of a request at the source; None if there is none."""
        data = self.db.value(select(proposals.c.data).where(self.ours(proposals, num=num)))
        return None if data is None else zlib.decompress(data)

    def set_proposal(self, num: int, data: bytes | None) -> None:
        """Store what was read of a request; None forgets it."""
        if data is not None:
            self.upsert(proposals, [{"num": num, "data": zlib.compress(data, 1)}])
        else:
            self.db.run(delete(proposals).where(self.ours(proposals, num=num)))

    def forget_target(self, target: str) -> None:
        """Forget what was written at a target, and what people decided there, but not its settings."""
        with self.transaction():
            for table in metadata.sorted_tables:
                if {"watch", "target"}.issubset(table.c.keys()):
                    self.db.run(delete(table).where(self.ours(table, target=target)))

    def add_outcomes(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Remember outcomes as (outcome, subject, text); the oldest are forgotten."""
        now = time.time()
        values = [{"watch": self.watch, "at": now, "outcome": o, "subject": s, "text": t} for o, s, t in rows][
            -HISTORY:
        ]
        if not values:
            return
        with self.transaction():
            self.db.run(outcomes.insert(), values)
            self.keep_newest(outcomes, HISTORY)

    def outcomes(self, limit: int = 20) -> list[dict[str, str]]:
        """The last outcomes, newest first: when (`at`, ISO 8601), outcome, subject, text."""
        found = select(outcomes).where(self.ours(outcomes)).order_by(outcomes.c.id.desc()).limit(limit)
        return [
            {"at": iso_date(row.at), "outcome": row.outcome, "subject": row.subject, "text": row.text}
            for row in self.db.rows(found)
        ]

    def forget_contents(self) -> None:
        """Forget the listed and read contents, so that all files count as changed."""
        with self.transaction():
            for table in (files, submissions):
                self.db.run(update(table).where(self.ours(table)).values(oid=""))
