"""The state between two passes. If it is lost, the service rebuilds it by reading everything again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import delete, select

from bot.evaluation.submission import iso_date
from bot.publishing.plan import Plan
from bot.service.store.boards import BoardStore, StoredBoard
from bot.service.store.engine import AT_ONCE, IN_MEMORY, batches, connect, dispose, open_engine
from bot.service.store.items import Items, Mark, held_by
from bot.service.store.leases import Leases
from bot.service.store.requests import Cursors, Memory, Published, Requests
from bot.service.store.sources import IndexedFile, Sources, StoredSubmission, folder_of
from bot.service.store.tables import (
    answers,
    board_changes,
    board_rows,
    boards,
    cursors,
    items,
    metadata,
    outcomes,
    plans,
    published,
)

__all__ = [
    "HISTORY",
    "HeldPlan",
    "IndexedFile",
    "Memory",
    "Store",
    "StoredBoard",
    "StoredSubmission",
    "batches",
    "connect",
    "folder_of",
]
HISTORY = 200  # outcomes kept for each watch


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


class Store(Cursors, Sources, Items, Published, BoardStore, Requests, Leases):
    """Reads and writes of one database."""

    # plans

    def plan(self, watch: str, target: str) -> HeldPlan | None:
        """The plan that waits at a target."""
        found = self.rows(select(plans).where(plans.c.watch == watch, plans.c.target == target))
        return next(map(_held, found), None)

    def set_plan(self, watch: str, plan: Plan) -> None:
        """Hold a plan. It needs a new approval where its digest is new, or an approved plan was carried out in part."""
        known = self.plan(watch, plan.target)
        if known is not None and (known.digest, known.is_approved) == (plan.digest, False):
            return
        values = {"digest": plan.digest, "is_approved": False, "is_declined": False, "since": time.time()}
        self.upsert(plans, [{"watch": watch, "target": plan.target, "data": msgspec.json.encode(plan), **values}])

    def narrow_plan(self, watch: str, rest: Plan) -> None:
        """Keep what is left of the plan at a target; its digest and its approval stay."""
        where = (plans.c.watch == watch, plans.c.target == rest.target)
        self.run(plans.update().values(data=msgspec.json.encode(rest)).where(*where))

    def approve_plan(self, watch: str, digest: str) -> bool:
        """Approve the plans of a watch that have this digest; whether there was one."""
        return self._answer_plan(watch, digest, is_approved=True)

    def decline_plan(self, watch: str, digest: str) -> bool:
        """Decline the plans of a watch that have this digest; whether there was one."""
        return self._answer_plan(watch, digest, is_approved=False)

    def _answer_plan(self, watch: str, digest: str, *, is_approved: bool) -> bool:
        answer = plans.update().values(is_approved=is_approved, is_declined=not is_approved)
        named = (plans.c.watch == watch, plans.c.digest == digest)
        with self.transaction():
            known = self.rows(select(plans.c.target, plans.c.is_approved, plans.c.is_declined).where(*named))
            self.run(answer.where(*named))
            for row in known:
                if (row.is_approved, row.is_declined) == (is_approved, not is_approved):
                    continue  # a declined plan is answered in every pass
                self.set_cursor(watch, "ledger", None, target=row.target)  # its rows are elsewhere now
                self.say_why_held(watch, row.target, held_by(digest, is_declined=not is_approved))
                if not is_approved:  # the text about it says so; that of an approved one follows when it is carried out
                    self.mark(watch, [Mark("plan", "", row.target)], time.time())
        return bool(known)

    def plans_named(self, watch: str, prefix: str) -> set[str]:
        """The digests of the plans of a watch that wait and begin with these digits."""
        found = select(plans.c.digest).where(plans.c.watch == watch, plans.c.digest.startswith(prefix, autoescape=True))
        return set(self.values(found))

    def held_plans(self, watch: str) -> list[HeldPlan]:
        """The plans of a watch that wait, by target."""
        return list(map(_held, self.rows(select(plans).where(plans.c.watch == watch).order_by(plans.c.target))))

    def forget_plan(self, watch: str, target: str) -> None:
        """Forget a plan that was carried out, or that nothing needs any more."""
        self.run(delete(plans).where(plans.c.watch == watch, plans.c.target == target))

    def forget_target(self, watch: str, target: str) -> None:
        """Forget what was written at a target, and what people decided there, but not its settings."""
        with self.transaction():
            for table in (cursors, published, items, plans, boards, board_rows, board_changes):
                where = [table.c.watch == watch, table.c.target == target]
                where += [table.c.kind != "target"] if table is cursors else []
                self.run(delete(table).where(*where))

    # what happened

    def add_outcomes(self, watch: str, rows: Iterable[tuple[str, str, str]]) -> None:
        """Remember outcomes as (outcome, subject, text); the oldest are forgotten."""
        now = time.time()
        values = [{"watch": watch, "at": now, "outcome": o, "subject": s, "text": t} for o, s, t in rows][-HISTORY:]
        if not values:
            return
        newest = select(outcomes.c.id).where(outcomes.c.watch == watch).order_by(outcomes.c.id.desc())
        with self.transaction():
            self.run(outcomes.insert(), values)
            keep = self.value(newest.offset(HISTORY).limit(1))
            if keep is not None:
                self.run(delete(outcomes).where(outcomes.c.watch == watch, outcomes.c.id <= keep))

    def outcomes(self, watch: str, limit: int = 20) -> list[dict[str, str]]:
        """The last outcomes, newest first: when (`at`, ISO 8601), outcome, subject, text."""
        found = select(outcomes).where(outcomes.c.watch == watch).order_by(outcomes.c.id.desc()).limit(limit)
        return [
            {"at": iso_date(row.at), "outcome": row.outcome, "subject": row.subject, "text": row.text}
            for row in self.rows(found)
        ]

    # answers of services

    def answer(self, question: str, now: float) -> str | None:
        """What a service answered before; None if it never did, or too long ago. `now` is in seconds."""
        found = self.rows(select(answers.c.answer, answers.c.until).where(answers.c.question == question))
        return next((str(row.answer) for row in found if row.until is None or row.until >= now), None)

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep what a service answered, for ever where `until` is None."""
        self.upsert(answers, [{"question": question, "answer": answer, "until": until}])

    # the whole

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
                for some in ours.execution_options(yield_per=AT_ONCE).execute(select(table)).mappings().partitions():
                    copy.execute(table.insert(), [dict(row) for row in some])
        return Store(engine)

    def close(self) -> None:
        """Give the connections back."""
        dispose(self.engine)
