"""Plans that wait for a person, and the person's answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import delete, select

from bot.publishing.plan import Plan
from bot.service.store.engine import Part
from bot.service.store.items import Items, Mark, held_by
from bot.service.store.tables import cursors, plans


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


class Plans(Part):
    """The plans that wait, one for each target at most."""

    def at(self, target: str) -> HeldPlan | None:
        """The plan that waits at a target."""
        found = self.db.rows(select(plans).where(self.ours(plans, target=target)))
        return next(map(_held, found), None)

    def hold(self, plan: Plan) -> None:
        """Hold a plan. It needs a new approval where its digest is new, or an earlier approval was used in part."""
        known = self.at(plan.target)
        if known is not None and (known.digest, known.is_approved) == (plan.digest, False):
            return
        values = {"digest": plan.digest, "is_approved": False, "is_declined": False, "since": time.time()}
        self.upsert(plans, [{"target": plan.target, "data": msgspec.json.encode(plan), **values}])

    def narrow(self, rest: Plan) -> None:
        """Reduce the plan at a target to what is left of it; its digest and its approval stay."""
        self.db.run(plans.update().values(data=msgspec.json.encode(rest)).where(self.ours(plans, target=rest.target)))

    def approve(self, digest: str) -> bool:
        """Approve the plans that have this digest; whether there was one."""
        return self._answer(digest, is_approved=True)

    def decline(self, digest: str) -> bool:
        """Decline the plans that have this digest; whether there was one."""
        return self._answer(digest, is_approved=False)

    def _answer(self, digest: str, *, is_approved: bool) -> bool:
        answer = plans.update().values(is_approved=is_approved, is_declined=not is_approved)
        named, items = self.ours(plans, digest=digest), Items(self.db, self.watch)
        with self.db.transaction():
            known = self.db.rows(select(plans.c.target, plans.c.is_approved, plans.c.is_declined).where(named))
            self.db.run(answer.where(named))
            for row in known:
                if (row.is_approved, row.is_declined) == (is_approved, not is_approved):
                    continue  # a declined plan is answered in every pass
                self.db.run(
                    delete(cursors).where(self.ours(cursors, kind="ledger", target=row.target))
                )  # its rows are elsewhere now
                items.say_why_held(row.target, held_by(digest, is_declined=not is_approved))
                if not is_approved:  # the text about it says so; that of an approved one follows when it is carried out
                    items.mark([Mark("plan", "", row.target)], time.time())
        return bool(known)

    def all(self) -> list[HeldPlan]:
        """The plans that wait, by target."""
        return list(map(_held, self.db.rows(select(plans).where(self.ours(plans)).order_by(plans.c.target))))

    def forget(self, target: str) -> None:
        """Forget a plan that was carried out or is no longer needed."""
        self.db.run(delete(plans).where(self.ours(plans, target=target)))
