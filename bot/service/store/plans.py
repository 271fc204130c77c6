"""Plans that wait for a person, and the person's answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select, update

from bot.publishing.plan import Plan
from bot.service.store.engine import Part, same
from bot.service.store.items import Items, Mark, held_by
from bot.service.store.memory import LEDGER, Memories
from bot.service.store.tables import plans


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


_AT = select(plans).where(same(plans, "watch", "target"))
_ALL = select(plans).where(same(plans, "watch")).order_by(plans.c.target)
_NARROW = update(plans).where(same(plans, "watch", "target")).values(data=bindparam("data"))
_FORGET = delete(plans).where(same(plans, "watch", "target"))
_NAMED = same(plans, "watch", "digest")
_ANSWERS = select(plans.c.target, plans.c.is_approved, plans.c.is_declined).where(_NAMED)
_ANSWER = update(plans).where(_NAMED).values(is_approved=bindparam("is_approved"), is_declined=bindparam("is_declined"))


class Plans(Part):
    """The plans that wait, one for each target at most."""

    def at(self, target: str) -> HeldPlan | None:
        """The plan that waits at a target."""
        if not self.db.is_in_phase:
            return next(map(_held, self.select(_AT, target=target)), None)
        return next((one for one in self.all() if one.target == target), None)

    def all(self) -> list[HeldPlan]:
        """The plans that wait, by target."""
        return self.db.once((self.watch, "plans"), lambda: list(map(_held, self.select(_ALL))))

    def hold(self, plan: Plan) -> None:
        """Hold a plan. It needs a new approval where its digest is new, or an earlier approval was used in part."""
        with self.db.transaction():
            known = next(map(_held, self.select(_AT, target=plan.target)), None)
            if known is not None and (known.digest, known.is_approved) == (plan.digest, False):
                return
            values = {"digest": plan.digest, "is_approved": False, "is_declined": False, "since": time.time()}
            self.upsert(plans, [{"target": plan.target, "data": msgspec.json.encode(plan), **values}])
        self._forget_read()

    def narrow(self, rest: Plan) -> None:
        """Reduce the plan at a target to what is left of it; its digest and its approval stay."""
        self.db.run(_NARROW, self.where(target=rest.target) | {"data": msgspec.json.encode(rest)})
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
            known = self.select(_ANSWERS, digest=digest)
            answer = {"is_approved": is_approved, "is_declined": not is_approved}
            self.db.run(_ANSWER, self.where(digest=digest) | answer)
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
        self.change(_FORGET, target=target)
        self._forget_read()

    def _forget_read(self) -> None:
        self.db.forget_read(self.watch, "plans")
