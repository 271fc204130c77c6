"""The safety catch: large removals and rewrites wait until a maintainer approves exactly that plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from bot.publishing.decisions import TAKEN
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.model_layout import model_of
from bot.publishing.plan import Plan, PlannedRow, is_beyond, with_ranks
from bot.service.context import WatchContext
from bot.service.publish.ledger import let_go
from bot.service.store.items import Item, Mark, held_by
from bot.service.waits import FIRST_RETRY
from bot.service.watch.outcome import Report

PLAN_WAITS_FOR = 3  # tries of a file or row that could not be read; then a plan is made without it
LET_GO = "somebody took the row from main; it is not proposed again with this content"


def with_held(context: WatchContext, target: str, items: Sequence[Item], *, is_shown: bool = False) -> list[Item]:
    """These items and those of a plan; none if no row is due and no plan is approved or has to be shown."""
    rows = [item for item in items if item.subject]
    plan = context.state.plans.at(target)
    if not rows and not (plan is not None and (plan.is_approved or is_shown)):
        return []
    return [*rows, *context.state.items.of_a_plan(target, context.clock())]


def narrow_approved(context: WatchContext, target: str) -> None:
    """Reduce an approved plan to the rows that are not done yet, and forget it where none is left.

    A row that is done needs another approval, so this comes before anything marks it again. A row that still waits was
    not written, or the process ended before it noted so.
    """
    state = context.state
    known = state.plans.at(target)
    if known is None or not known.is_approved:
        return
    plan = known.plan
    waiting = {item.subject for item in state.items.at("row", target)}
    if context.targets_by_address[target][1].kind == "models":  # there, a plan counts models
        waiting = {model_of(subject) for subject in waiting}
    rest = msgspec.structs.replace(plan, rows=tuple(row for row in plan.rows if row.key in waiting))
    if rest == plan:
        return
    with state.transaction():
        if rest.large:
            state.plans.narrow(rest)
        else:
            state.plans.forget(target)
        context.mark([Mark("plan", "", target)])


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look(Generic[T]):
    """One row, or all rows of one model, before anything is written: its planned change, and the items that wait.

    `entry` is what its submissions make, and `seen` what else its kind of target needs to write it.
    """

    planned: PlannedRow
    items: Sequence[Item]
    entry: Entry | None
    seen: T

    @property
    def key(self) -> str:
        return self.planned.key


@dataclass(frozen=True)
class Gate:
    """Decides which rows of one target may go on, and holds the others.

    `is_first` says that nothing was ever written there, and that even new rows wait for a person.
    """

    context: WatchContext
    target: str
    report: Report
    board_size: Callable[[], int]
    entries: Callable[[], list[Entry]]
    accepted: Callable[[], Mapping[str, str]]
    is_first: bool = False

    def admit(self, looks: Sequence[Look[T]]) -> list[Look[T]]:
        """The rows that may be published now.

        New rows always go on. Where more rows would be removed or changed than the watch allows, none is; they are held
        as one plan until its digest is approved. While only rows that people took from main wait, the others go on.
        """
        going, asked = self._parted(looks)
        if going:
            self.report.plans.append(self._shown(self.plan(going), looks))
            self._release(going)
        return [*going, *self._ask(asked)]

    def _parted(self, looks: Sequence[Look[T]]) -> tuple[list[Look[T]], Sequence[Look[T]]]:
        """The rows that may go on whatever people say of rows that they took from main, and the rows of one plan."""
        taken = [look for look in looks if look.planned.action == "restored"]
        others = [look for look in looks if look.planned.action != "restored"]
        return (others, taken) if taken and not self.is_large(self.plan(others)) else ([], looks)

    def _ask(self, looks: Sequence[Look[T]]) -> list[Look[T]]:
        """The rows of a plan that may be published now; the others are held."""
        state = self.context.state
        looks = self._without_taken(looks)
        plan = self.plan(looks)
        self.report.plans.append(self._shown(plan, looks))
        known, is_approved = state.plans.at(self.target), self._is_approved(plan)
        free = {"unchanged"} if self.is_first else {"unchanged", "added"}
        bound = [look for look in looks if look.planned.action not in free]
        waiting = [item for look in bound for item in look.items if not item.is_held]
        is_large = not is_approved and self.is_large(plan)
        # After a loss of the state nobody knows whether a larger plan waited; nor what becomes of rows that failed.
        failed = self._failed_there() if bound and not is_approved else []
        is_lost = not is_approved and any(item.cause == "lost" for item in waiting)
        may_be_part = is_large or is_lost or (bool(failed) and self.is_large(plan, len(failed)))
        if may_be_part and (until := self._incomplete_until([*waiting, *failed])) is not None:
            for item in waiting:
                state.items.postpone(item, until)
        elif is_large:
            self._hold(plan, bound)
        else:
            if known is not None and looks:  # without rows, a dry run shows that nothing else is to be done
                with state.transaction():
                    if not is_approved:
                        state.plans.forget(self.target)
                    self._release(looks)
                    self.context.mark([Mark("plan", "", self.target)])
            return list(looks)
        return [look for look in looks if look.planned.action in free]

    def _failed_there(self) -> list[Item]:
        """The rows on main that failed and are tried again later: nobody knows yet whether they change or go."""
        now, items = self.context.clock(), self.context.state.items.at("row", self.target)
        failed = [one for one in items if 0 < one.attempts <= PLAN_WAITS_FOR and one.due > now and not one.is_held]
        there = {entry.key for entry in self.entries()} if failed else set()
        return [item for item in failed if item.subject in there]

    def _incomplete_until(self, waiting: Sequence[Item]) -> float | None:
        """When a plan is made again because a file or row of it could not be read just now; None if it is whole.

        Without that the digest is another. What failed several times is left out, so that it stops no other row. Where
        some of the rows wait for that time already, the others wait as long.
        """
        now, items = self.context.clock(), self.context.state.items
        until = [item.due for item in waiting if item.due > now]
        failed = [item for item in self.report.failed if (item.kind, item.target) == ("row", self.target)]
        young = {item.subject for item in failed if item.attempts < PLAN_WAITS_FOR}
        until += [item.due for item in items.at("row", self.target) if item.subject in young]
        if any(item.attempts < PLAN_WAITS_FOR for item in items.at("file", "")):
            until.append(now + FIRST_RETRY)
        return max(until, default=None)

    def _release(self, looks: Sequence[Look[Any]]) -> None:
        held = [item for look in looks for item in look.items if item.is_held]
        self.context.state.items.release(held, self.context.clock())

    def _without_taken(self, looks: Sequence[Look[T]]) -> Sequence[Look[T]]:
        """The rows without those that people do not want: a few that they took from main, or a declined plan's."""
        taken, watch = [look for look in looks if look.planned.action == "restored"], self.context.watch
        known, plan = self.context.state.plans.at(self.target), self.plan(looks)
        if not taken or self._is_approved(plan):
            return looks
        if known is None or known.digest != plan.digest or not known.is_declined:
            removed = [look for look in taken if look.planned.reason == TAKEN]
            count = len(removed)
            taken = [] if is_beyond(count, watch.max_removed, lambda: self.board_size() + count) else removed
        let_go(self.context, self.target, [look.key for look in taken])  # the next look closes what is open of them
        for look in taken:
            self.report.say("unchanged", look.key, LET_GO)
        gone = {look.key for look in taken}
        return [look for look in looks if look.key not in gone]

    def _is_approved(self, plan: Plan) -> bool:
        """Tell whether a person approved this plan, or one of which it is the rest."""
        known = self.context.state.plans.at(self.target)
        return known is not None and known.is_approved and known.plan.covers(plan)

    def plan(self, looks: Sequence[Look[Any]]) -> Plan:
        """The plan for these rows at the target."""
        rows = [(look.planned, look.entry is not None) for look in looks]
        moved = tuple(row for row, _ in rows if row.action != "unchanged")
        # Not of files that make no row, nor a row that the target cannot have.
        stay = sum(row.action == "unchanged" and has_entry and not row.reason for row, has_entry in rows)
        return Plan(self.target, self.context.leaderboard.id, moved, stay, self.is_first)

    def _shown(self, plan: Plan, looks: Sequence[Look[Any]]) -> Plan:
        """The plan as a dry run shows it: with the rows that stay, and with ranks, which need every row of a board."""
        if not self.context.dry_run:
            return plan
        if self.context.targets_by_address[self.target][1].kind != "models":  # there, a plan counts models
            done = self.accepted().keys() - {look.key for look in looks}
            plan = msgspec.structs.replace(plan, unchanged=plan.unchanged + len(done))
        proposed = {look.key: look.entry for look in looks if look.planned.action != "unchanged"}
        return with_ranks(plan, self.entries(), proposed, self.context.leaderboard) if proposed else plan

    def is_large(self, plan: Plan, more: int = 0) -> bool:
        """Tell whether the plan, with some `more` rows, changes more than the watch allows without a person."""
        if self.is_first:
            return bool(plan.rows)
        if plan.having("restored"):
            return True
        if plan.having("removed") and not self.context.state.files.any():
            return True  # a source that lists nothing may be an outage of its service
        watch, size = self.context.watch, cache(self.board_size)
        removed, changed = len(plan.having("removed")) + more, len(plan.having("changed")) + more
        return is_beyond(removed, watch.max_removed, size) or is_beyond(changed, watch.max_changed, size)

    def _hold(self, plan: Plan, held: Sequence[Look[Any]]) -> None:
        state = self.context.state
        known = state.plans.at(self.target)
        bound = {look.key for look in held}  # the others go on meanwhile
        plan = msgspec.structs.replace(plan, rows=tuple(row for row in plan.rows if row.key in bound))
        with state.transaction():
            if self._is_approved(plan):  # just now: the next pass carries it out
                return
            state.plans.hold(plan)
            kept = state.plans.at(self.target)
            is_declined = kept is not None and kept.is_declined
            why = held_by(plan.digest, is_declined=is_declined)
            state.items.hold([item for look in held for item in look.items], why)
            self.context.mark([Mark("plan", "", self.target)])
        said = self.report.outcomes
        said[:] = [one for one in said if (one.outcome, one.subject) != ("held", self.target)]  # of fewer rows
        if not is_declined:
            is_new = known is None or (known.digest, known.is_approved) != (plan.digest, False)
            self.report.say_held(plan, is_new=is_new)
