"""Items: things that may be out of date, the time of their next try, and the rows among them that workers publish.

An item holds no instruction, only a name: whoever takes it looks at both sides and brings one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgspec
from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    select,
    tuple_,
    update,
)

from bot.errors import NEEDS_TOKEN
from bot.service.store.engine import Part, batches
from bot.service.store.tables import items, plans

Kind = Literal[
    "source",
    "judge",
    "reviews",
    "review",
    "merged",
    "file",
    "row",
    "folder",
    "request",
    "plan",
    "board",
    "alarm",
    "site",
    "sweep",
]
Cause = Literal["push", "declaration", "lost", "bulk"]
Priority = Literal["people", "bulk"]  # people wait for pushes of a few files; everything else comes later


class Item(msgspec.Struct, frozen=True):
    """One thing that may be out of step.

    `subject` is a path, a key, a folder or a number, by its kind; `target` is "" if the item is about the source.
    `marked` counts how often it was marked, so that what is marked again meanwhile does not count as done. Times are
    Unix seconds. `is_held` says that it waits for the approval of a plan, or stays as it is because a plan was
    declined.
    """

    watch: str
    kind: Kind
    target: str
    subject: str
    cause: Cause = "push"
    is_held: bool = False
    marked: int = 0
    attempts: int = 0
    since: float = 0.0
    due: float = 0.0
    reason: str = ""

    @property
    def name(self) -> str:
        """Its name in outcomes, on pages and in logs."""
        subject = self.subject or f"of {self.target or self.watch}"
        return subject if self.subject and self.kind in {"row", "file"} else f"{self.kind} {subject}"


class Mark(msgspec.Struct, frozen=True):
    """Something to be marked as out of step."""

    kind: Kind
    subject: str = ""
    target: str = ""
    cause: Cause = "push"


def marks(kind: Kind, subjects: Iterable[str], targets: Sequence[str] = ("",), cause: Cause = "push") -> list[Mark]:
    """A mark for each subject at each target."""
    return [Mark(kind, subject, target, cause) for subject in subjects for target in targets]


class RowJob(msgspec.Struct, frozen=True):
    """One row at one target that a worker may publish as it was looked at.

    `marked` is the count of its item, and `admitted` what the safety catch admitted: where either has changed by then,
    the row goes back to the next pass.
    """

    watch: str
    target: str
    subject: str
    marked: int
    admitted: str


ItemState = Literal["failing", "waiting", "held", "declined"]
STATES: tuple[ItemState, ...] = get_args(ItemState)
ItemPlace = tuple[str, str, str]  # kind, target and subject


@dataclass(frozen=True, slots=True)
class FailureCause:
    """A reason for which items fail or are held: how many, since when, and when the first is tried again.

    Where a reason names the item itself, "…" stands for it. `kind` is that of the items, "" for several.
    """

    reason: str
    count: int
    due: float
    since: float
    kind: str

    @property
    def needs_token(self) -> bool:
        """Tell whether a service refuses the bot's token, so that no other try helps."""
        return NEEDS_TOKEN in self.reason


def held_by(digest: str, *, is_declined: bool) -> str:
    """Why an item is held: by a plan that waits, or that a person declined."""
    return f"{'declined' if is_declined else 'held'} by plan {digest}"


# A reason that names its own item is one cause with those that name theirs.
_cause = case(
    (func.length(items.c.subject) > 8, func.replace(items.c.reason, items.c.subject, literal_column("'…'"))),
    else_=items.c.reason,
)

_LONGEST_FIRST = (items.c.since, items.c.subject)
_KEY = ("kind", "target", "subject", "marked")


class Items(Part):
    """Marks items, gives those that are due, notes how they ended, and lists them for pages."""

    def mark(self, found: Iterable[Mark], now: float) -> None:
        """Mark things as out of step, due at once; one that is marked already is marked once more.

        A declaration's change never hides a push: the cause stays "push" where both came together.
        """
        with self.db.transaction():
            for some in batches(found):
                known = self._known(some)
                marked = {(one.kind, one.target, one.subject): one for one in some}
                self.upsert(items, [_marked(one, known.get(place), now) for place, one in marked.items()])

    def _known(self, some: Sequence[Mark]) -> dict[ItemPlace, Any]:
        """The rows of those that are marked already."""
        found: dict[ItemPlace, Any] = {}
        for kind, target in {(one.kind, one.target) for one in some}:
            subjects = [one.subject for one in some if (one.kind, one.target) == (kind, target)]
            there = select(items).where(self.ours(items, kind=kind, target=target))
            found |= {(kind, target, row.subject): row for row in self.db.rows_in(there, items.c.subject, subjects)}
        return found

    def due(
        self,
        kind: Kind,
        now: float,
        limit: int | None = None,
        *,
        priority: Priority | None = None,
        target: str | None = None,
    ) -> list[Item]:
        """The items of a kind that are due and not held, the longest waiting first; of one priority or target only."""
        where = self._due(kind, now, priority)
        return self._select(*where, *([] if target is None else [items.c.target == target]), limit=limit)

    def _due(self, kind: Kind, now: float, priority: Priority | None) -> list[ColumnElement[bool]]:
        """The condition on the items of a kind that are due."""
        where = [self.ours(items, kind=kind, is_held=False), items.c.due <= now]
        if priority is not None:
            where.append(items.c.cause == "push" if priority == "people" else items.c.cause != "push")
        return where

    def count_due(self, kind: Kind, now: float, priority: Priority | None = None) -> int:
        """How many items of a kind are due."""
        return int(self.db.value(select(func.count()).where(*self._due(kind, now, priority))))

    def get(self, kind: str, target: str, subject: str) -> Item | None:
        """One item; None if it is in step."""
        return next(iter(self._select(self.ours(items, kind=kind, target=target, subject=subject), limit=1)), None)

    def held(self, target: str = "") -> list[Item]:
        """The items that wait for the approval of a plan."""
        return self._select(self.ours(items, is_held=True, **({"target": target} if target else {})))

    def at(self, kind: Kind, target: str) -> list[Item]:
        """The items of a kind at a target, whether they are due, held or neither."""
        return self._select(self.ours(items, kind=kind, target=target))

    def all(self, limit: int = 1000) -> list[Item]:
        """The waiting items, the longest waiting first."""
        return self._select(self.ours(items), limit=limit)

    def _select(
        self, *where: ColumnElement[bool], limit: int | None = None, order: Sequence[Any] = _LONGEST_FIRST
    ) -> list[Item]:
        found = self.db.rows(select(items).where(*where).order_by(*order).limit(limit))
        return [Item(**row._mapping) for row in found]  # noqa: SLF001 - so SQLAlchemy calls it

    def finish(self, done: Iterable[Item]) -> None:
        """Delete items that are in step, except for those that were marked again meanwhile."""
        asked = [{name: getattr(one, name) for name in _KEY} for one in done]
        if asked:
            same = (items.c[name] == bindparam(name) for name in _KEY)
            self.db.run(delete(items).where(self.ours(items), *same), asked)

    def fail(self, one: Item, reason: str, due: float) -> None:
        """Note why an item failed, and when it is tried again."""
        self._change([one], attempts=items.c.attempts + 1, reason=reason, due=due)

    def refuse(self, one: Item, reason: str, due: float) -> None:
        """Note why a row cannot be written. Its item stays after this pass, and is tried again."""
        self._change([one], marked=items.c.marked + 1, attempts=items.c.attempts + 1, reason=reason, due=due)

    def postpone(self, one: Item, due: float) -> None:
        """Let an item wait for something else, without counting a failure."""
        self._change([one], due=due)

    def is_waiting(self, kind: Kind, subjects: Iterable[str], now: float | None = None) -> bool:
        """Tell whether one of these subjects is out of step, and due by `now`; held items do not count."""
        where = [self.ours(items, kind=kind, is_held=False)]
        where += [] if now is None else [items.c.due <= now]
        found = select(items.c.subject).where(*where).limit(1)
        return any(self.db.rows(found.where(items.c.subject.in_(some))) for some in batches(subjects))

    def hold(self, found: Sequence[Item], reason: str) -> None:
        """Let items wait for the approval of a plan."""
        self._change(found, is_held=True, reason=reason)

    def say_why_held(self, target: str, reason: str) -> None:
        """Update the reason of the held items of a target."""
        self.db.run(update(items).where(self.ours(items, target=target, is_held=True)).values(reason=reason))

    def release(self, found: Sequence[Item], now: float) -> None:
        """Let held items go on."""
        self._change(found, is_held=False, reason="", due=now)

    def retry_all(self, now: float) -> None:
        """Let every failed item be tried at once."""
        self.db.run(update(items).where(self.ours(items, is_held=False)).values(due=now))

    def bring_forward(self, now: float, seconds: float) -> None:
        """Let every waiting item be tried so many seconds sooner, but not before now."""
        sooner = case((items.c.due - seconds < now, now), else_=items.c.due - seconds)
        self.db.run(update(items).where(self.ours(items), items.c.due > now).values(due=sooner))

    def counts(self) -> dict[tuple[str, str], int]:
        """How many items there are, by kind and state: waiting, failing, held, declined."""
        counted = select(items.c.kind, func.count()).where(self.ours(items)).group_by(items.c.kind)
        with self.db.transaction():
            return {
                (kind, state): count
                for state in STATES
                for kind, count in self.db.rows(counted.where(_in_state(state)))
            }

    def count(self, kind: Kind) -> int:
        """How many items of a kind there are."""
        return int(self.db.value(select(func.count()).where(self.ours(items, kind=kind))))

    def next_due(self) -> float | None:
        """When the next item is due, None if none waits."""
        found = select(func.min(items.c.due)).where(self.ours(items, is_held=False))
        due: float | None = self.db.value(found)
        return due

    def _change(self, found: Sequence[Item], **values: Any) -> None:
        with self.db.transaction():
            for one in found:
                where = self.ours(items, kind=one.kind, target=one.target, subject=one.subject)
                self.db.run(update(items).where(where, items.c.marked == one.marked).values(**values))

    # pages for people: each costs the same, however large the state is

    def page(
        self, state: ItemState, after: ItemPlace | None, limit: int, *, cause: str = "", without: Sequence[str] = ()
    ) -> list[Item]:
        """Items in one state after a place, in the order of kind, target and subject.

        Where `cause` is named, those of it; `without` are causes that are left out.
        """
        where = [self.ours(items), _in_state(state)]
        where += [*([_cause == cause] if cause else []), *([_cause.not_in(without)] if without else [])]
        if after is not None:
            where.append(tuple_(items.c.kind, items.c.target, items.c.subject) > tuple_(*after))
        return self._select(*where, limit=limit, order=(items.c.kind, items.c.target, items.c.subject))

    def causes(self, limit: int, state: ItemState = "failing") -> list[FailureCause]:
        """Why items fail or are held, the most frequent cause first."""
        count, kinds = func.count(), (func.min(items.c.kind), func.max(items.c.kind))
        found = select(_cause, count, func.min(items.c.due), func.min(items.c.since), *kinds).group_by(_cause)
        found = found.where(self.ours(items), _in_state(state)).order_by(count.desc(), _cause).limit(limit)
        return [
            FailureCause(reason, number, due, since, first if first == last else "")
            for reason, number, due, since, first, last in self.db.rows(found)
        ]

    def retry_cause(self, reason: str, now: float) -> int:
        """Let all items that fail for one reason be tried at once; how many there are."""
        where = (self.ours(items), _cause == reason, _in_state("failing"))
        return self.db.run(update(items).where(*where).values(due=now))

    def retry(self, place: ItemPlace, now: float) -> bool:
        """Let one item be tried at once; whether there is one that waits for nobody's approval."""
        kind, target, subject = place
        where = self.ours(items, kind=kind, target=target, subject=subject, is_held=False)
        return bool(self.db.run(update(items).where(where).values(due=now)))


def _marked(one: Mark, known: Any, now: float) -> dict[str, Any]:
    """The row of an item that is marked, once more where it is known."""
    is_push = known is not None and known.cause == "push" and not known.is_held
    return {
        **msgspec.structs.asdict(one),
        "cause": "push" if is_push else one.cause,
        "is_held": False,
        "marked": 0 if known is None else known.marked + 1,
        "attempts": 0,
        "since": now if known is None else known.since,
        "due": now,
        "reason": "",
    }


_is_declined = exists().where(
    plans.c.watch == items.c.watch, plans.c.target == items.c.target, plans.c.is_declined.is_(True)
)


def _in_state(state: ItemState) -> ColumnElement[bool]:
    if state == "held":
        return and_(items.c.is_held.is_(True), ~_is_declined)
    if state == "declined":
        return and_(items.c.is_held.is_(True), _is_declined)
    # Most items wait: the sum keeps the database from taking all of them by this, and sorting them.
    tried = items.c.attempts > 0 if state == "failing" else items.c.attempts + 0 == 0
    return and_(items.c.is_held.is_(False), tried)
