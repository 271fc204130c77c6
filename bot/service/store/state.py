"""The state: of each watch what is remembered, plans, past outcomes and a store for each duty; and what all share."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from sqlalchemy import bindparam, delete, literal_column, select, update

from bot.evaluation.submission import iso_date
from bot.publishing.decisions import RowDecision
from bot.publishing.plan import Plan
from bot.service.store.boards import Boards
from bot.service.store.database import VALUES_AT_ONCE, Database, Part, among, batches, older_than_newest, same
from bot.service.store.engine import IN_MEMORY, open_engine
from bot.service.store.items import Items, Mark, held_by
from bot.service.store.leases import Leases
from bot.service.store.memory import DECIDED, LEDGER, SOURCE, Memory
from bot.service.store.requests import Intents, StoredRowIndex, StoredThreads
from bot.service.store.sources import Files, Rows, Submissions
from bot.service.store.tables import (
    answers,
    files,
    memories,
    metadata,
    outcomes,
    plans,
    proposals,
    published,
    submissions,
)

HISTORY = 200  # outcomes kept for each watch
Written = tuple[bytes, bytes | None]
T = TypeVar("T")


_MEMORIES = select(memories.c.kind, memories.c.target, memories.c.value).where(
    same(memories, "watch"), memories.c.subject == literal_column("''")
)
_MEMORY = select(memories.c.value).where(same(memories, "watch", "kind", "target", "subject"))
_MEMORIES_OF_KIND = select(memories.c.subject, memories.c.value).where(same(memories, "watch", "kind", "target"))
_FORGET_MEMORY = delete(memories).where(same(memories, "watch", "kind", "target", "subject"))


class Memories(Part):
    """Recalls and remembers. In a phase, all values without a subject are one read."""

    def recall(self, kind: Memory[T], subject: str = "", *, target: str = "") -> T | None:
        """What is remembered; None if nothing is."""
        if subject or not self.db.is_in_phase:
            text: str | None = self.value(_MEMORY, kind=kind.name, target=target, subject=subject)
        else:
            text = self._of_all().get((kind.name, target))
        return None if text is None else kind.decoder.decode(text)

    def _of_all(self) -> dict[tuple[str, str], str]:
        def read() -> dict[tuple[str, str], str]:
            return {(row.kind, row.target): row.value for row in self.select(_MEMORIES)}

        return self.db.once((self.watch, "memories", ""), read)

    def recall_all(self, kind: Memory[T], *, target: str = "") -> Mapping[str, T]:
        """All that is remembered of a kind, by subject."""

        def read() -> Mapping[str, T]:
            found = self.select(_MEMORIES_OF_KIND, kind=kind.name, target=target)
            return {row.subject: kind.decoder.decode(row.value) for row in found}

        return self.db.once((self.watch, "memories", kind.name, target), read)

    def remember(self, kind: Memory[T], value: T | None, subject: str = "", *, target: str = "") -> None:
        """Remember a value; None forgets it. In a phase, one that is known is not written again."""
        text = None if value is None else msgspec.json.encode(value).decode()
        is_of_all = not subject and self.db.is_in_phase
        if is_of_all and self._of_all().get((kind.name, target)) == text:
            return
        if text is None:
            self.change(_FORGET_MEMORY, kind=kind.name, target=target, subject=subject)
        else:
            self.upsert(memories, [{"kind": kind.name, "target": target, "subject": subject, "value": text}])
        self.db.forget_read(self.watch, "memories", kind.name, target)
        if is_of_all:
            known = self._of_all()
            known.pop((kind.name, target), None)
            if text is not None:
                known[kind.name, target] = text

    def remember_all(self, kind: Memory[T], values: Mapping[str, T]) -> None:
        """Remember many values of one kind, by subject."""
        rows = [
            {"kind": kind.name, "target": "", "subject": subject, "value": msgspec.json.encode(value).decode()}
            for subject, value in values.items()
        ]
        with self.db.transaction():
            for some in batches(rows):
                self.upsert(memories, some)
        self.db.forget_read(self.watch, "memories", kind.name, "")


@dataclass(frozen=True, slots=True)
class HeldPlan:
    """A plan that waits for a person since `since` (Unix seconds)."""

    target: str
    digest: str
    is_approved: bool
    since: float
    plan: Plan
    is_declined: bool = False

    @property
    def waits(self) -> bool:
        """Tell whether no person has answered yet."""
        return not (self.is_approved or self.is_declined)


def _held(row: Any) -> HeldPlan:
    plan = msgspec.json.decode(row.data, type=Plan)
    return HeldPlan(row.target, row.digest, row.is_approved, row.since, plan, row.is_declined)


_PLAN_AT = select(plans).where(same(plans, "watch", "target"))
_PLANS = select(plans).where(same(plans, "watch")).order_by(plans.c.target)
_NARROW_PLAN = update(plans).where(same(plans, "watch", "target")).values(data=bindparam("data"))
_FORGET_PLAN = delete(plans).where(same(plans, "watch", "target"))
_OF_DIGEST = same(plans, "watch", "digest")
_PLANS_OF_DIGEST = select(plans.c.target, plans.c.is_approved, plans.c.is_declined).where(_OF_DIGEST)
_ANSWER_PLAN = (
    update(plans).where(_OF_DIGEST).values(is_approved=bindparam("is_approved"), is_declined=bindparam("is_declined"))
)


class Plans(Part):
    """The plans that wait, one for each target at most."""

    def at(self, target: str) -> HeldPlan | None:
        """The plan that waits at a target."""
        if not self.db.is_in_phase:
            return next(map(_held, self.select(_PLAN_AT, target=target)), None)
        return next((one for one in self.all() if one.target == target), None)

    def all(self) -> list[HeldPlan]:
        """The plans that wait, by target."""
        return self.db.once((self.watch, "plans"), lambda: list(map(_held, self.select(_PLANS))))

    def hold(self, plan: Plan) -> None:
        """Hold a plan. It needs a new approval where its digest is new, or an earlier approval was used in part."""
        with self.db.transaction():
            known = next(map(_held, self.select(_PLAN_AT, target=plan.target)), None)
            if known is not None and (known.digest, known.is_approved) == (plan.digest, False):
                return
            values = {"digest": plan.digest, "is_approved": False, "is_declined": False, "since": time.time()}
            self.upsert(plans, [{"target": plan.target, "data": msgspec.json.encode(plan), **values}])
        self._forget_read()

    def narrow(self, rest: Plan) -> None:
        """Reduce the plan at a target to what is left of it; its digest and its approval stay."""
        self.db.run(_NARROW_PLAN, self.where(target=rest.target) | {"data": msgspec.json.encode(rest)})
        self._forget_read()

    def approve(self, digest: str) -> bool:
        """Approve the plans that have this digest; whether there was one."""
        return self._answer(digest, is_approved=True)

    def decline(self, digest: str) -> bool:
        """Decline the plans that have this digest; whether there was one."""
        return self._answer(digest, is_approved=False)

    def _answer(self, digest: str, *, is_approved: bool) -> bool:
        items = Items(self.db, self.watch)
        with self.db.transaction():
            known = self.select(_PLANS_OF_DIGEST, digest=digest)
            answer = {"is_approved": is_approved, "is_declined": not is_approved}
            self.db.run(_ANSWER_PLAN, self.where(digest=digest) | answer)
            for row in known:
                if (row.is_approved, row.is_declined) == (is_approved, not is_approved):
                    continue  # a declined plan is answered in every pass
                Memories(self.db, self.watch).remember(LEDGER, None, target=row.target)  # its rows are elsewhere now
                items.say_why_held(row.target, held_by(digest, is_declined=not is_approved))
                if not is_approved:  # the text about it says so; that of an approved one follows when it is carried out
                    items.mark([Mark("plan", "", row.target)], time.time())
        self._forget_read()
        return bool(known)

    def forget(self, target: str) -> None:
        """Forget a plan that was carried out or is no longer needed."""
        self.change(_FORGET_PLAN, target=target)
        self._forget_read()

    def _forget_read(self) -> None:
        self.db.forget_read(self.watch, "plans")


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


_KEPT_ANSWER = select(answers.c.answer, answers.c.until).where(same(answers, "question"))


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
        found = self.rows(_KEPT_ANSWER, {"at_question": question})
        return next((str(row.answer) for row in found if row.until is None or row.until >= now), None)

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep the answer of a service, for ever where `until` is None."""
        self.upsert(answers, [{"question": question, "answer": answer, "until": until}])

    def scratch(self) -> Store:
        """A copy in memory, for a dry run."""
        engine = open_engine(IN_MEMORY)
        with self.engine.connect() as ours, engine.begin() as copy:
            source, target = ours.connection.driver_connection, copy.connection.driver_connection
            if isinstance(source, sqlite3.Connection) and isinstance(target, sqlite3.Connection):
                source.backup(target)
                return Store(engine)
            metadata.create_all(copy)
            for table in metadata.sorted_tables:
                for some in (
                    ours.execution_options(yield_per=VALUES_AT_ONCE).execute(select(table)).mappings().partitions()
                ):
                    copy.execute(table.insert(), [dict(row) for row in some])
        return Store(engine)
