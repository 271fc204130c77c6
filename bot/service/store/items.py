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
from bot.service.store.engine import Database, batches
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

    `subject` is a path, a key, a folder or a number, by its kind; `target` is "" if it is about the source.
    `marked` counts how often it was marked, so that what was marked again meanwhile is not taken for done. Times are
    Unix seconds. `is_held` says that it waits for the approval of a plan, or stays as it is because one was declined.
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
        subject = self.subject or self.target or self.watch
        return f"{self.kind} {subject}" if self.kind not in {"row", "file"} else subject


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
    """One row at one target that may be published as it was looked at.

    `marked` is the count of its item, and `admitted` what the safety catch let through: where either is another by
    then, the row goes back to the next pass.
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
    """A reason for which items fail or are held, how many, since when, and when the first is tried again.

    In a reason that names the item itself, an ellipsis is in its place. `kind` is that of the items, "" for several.
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


class Items(Database):
    """Marks items, gives those that are due, notes how they ended, and shows them in pages."""

    def mark(self, watch: str, found: Iterable[Mark], now: float) -> None:
        """Mark things as out of step, due at once; one that is marked already is marked once more.

        A declaration's change never hides a push: the cause stays "push" where both came together.
        """
        with self.transaction():
            for some in batches(found):
                known = self._known(watch, some)
                rows = {
                    (one.kind, one.target, one.subject): _marked(
                        watch, one, known.get((one.kind, one.target, one.subject)), now
                    )
                    for one in some
                }
                self.upsert(items, list(rows.values()))

    def _known(self, watch: str, some: Sequence[Mark]) -> dict[tuple[str, str, str], Any]:
        """The rows of those that are marked already."""
        found: dict[tuple[str, str, str], Any] = {}
        for kind, target in {(one.kind, one.target) for one in some}:
            subjects = [one.subject for one in some if (one.kind, one.target) == (kind, target)]
            there = select(items).where(items.c.watch == watch, items.c.kind == kind, items.c.target == target)
            found |= {(kind, target, row.subject): row for row in self.rows_in(there, items.c.subject, subjects)}
        return found

    def due(
        self,
        watch: str,
        kind: Kind,
        now: float,
        limit: int = 10_000,
        *,
        priority: Priority | None = None,
        target: str | None = None,
    ) -> list[Item]:
        """The items of a kind that are due and not held, the longest waiting first; of one priority or target only."""
        where = _due(watch, kind, now, priority)
        return self._select(*where, *([] if target is None else [items.c.target == target]), limit=limit)

    def count_due(self, watch: str, kind: Kind, now: float, priority: Priority | None = None) -> int:
        """How many items of a kind are due."""
        return int(self.value(select(func.count()).select_from(items).where(*_due(watch, kind, now, priority))))

    def item(self, watch: str, kind: str, target: str, subject: str) -> Item | None:
        """One item, None if nothing of it is out of step."""
        return next(iter(self._select(*_of(watch, kind, target, subject), limit=1)), None)

    def held(self, watch: str, target: str = "") -> list[Item]:
        """The items that wait for the approval of a plan."""
        where = [items.c.watch == watch, items.c.is_held.is_(True)]
        return self._select(*where, *([items.c.target == target] if target else []), limit=1_000_000)

    def items_at(self, watch: str, kind: Kind, target: str) -> list[Item]:
        """The items of a kind at a target, whether they are due, held or neither."""
        return self._select(items.c.watch == watch, items.c.kind == kind, items.c.target == target, limit=1_000_000)

    def all(self, watch: str, limit: int = 1000) -> list[Item]:
        """The items that wait, the longest waiting first."""
        return self._select(items.c.watch == watch, limit=limit)

    def _select(self, *where: ColumnElement[bool], limit: int) -> list[Item]:
        statement = select(items).where(*where).order_by(items.c.since, items.c.subject).limit(limit)
        return _items(self.rows(statement))

    def finish(self, done: Iterable[Item]) -> None:
        """Forget items that are in step, but for those that were marked again meanwhile."""
        asked = [{name: getattr(one, name) for name in _KEY} for one in done]
        if asked:
            self.run(_FINISH, asked)

    def fail(self, one: Item, reason: str, due: float) -> None:
        """Note why an item failed, and when it is tried again."""
        self._change([one], attempts=items.c.attempts + 1, reason=reason, due=due)

    def refuse(self, one: Item, reason: str, due: float) -> None:
        """Note why a row cannot be written; its item stays, although this pass finishes it, and is tried again."""
        self._change([one], marked=items.c.marked + 1, attempts=items.c.attempts + 1, reason=reason, due=due)

    def postpone(self, one: Item, due: float) -> None:
        """Let an item wait for something else, without counting a failure."""
        self._change([one], due=due)

    def is_waiting(self, watch: str, kind: Kind, subjects: Iterable[str], now: float | None = None) -> bool:
        """Tell whether one of these subjects is out of step still, and due by `now`; held ones are not counted."""
        where = [items.c.watch == watch, items.c.kind == kind, items.c.is_held.is_(False)]
        where += [] if now is None else [items.c.due <= now]
        found = select(items.c.subject).where(*where).limit(1)
        return any(self.rows(found.where(items.c.subject.in_(some))) for some in batches(subjects))

    def hold(self, found: Sequence[Item], reason: str) -> None:
        """Let items wait for the approval of a plan."""
        self._change(found, is_held=True, reason=reason)

    def say_why_held(self, watch: str, target: str, reason: str) -> None:
        """Note anew why the held items of a target are held."""
        where = (items.c.watch == watch, items.c.target == target, items.c.is_held.is_(True))
        self.run(update(items).where(*where).values(reason=reason))

    def release(self, found: Sequence[Item], now: float) -> None:
        """Let held items go on."""
        self._change(found, is_held=False, reason="", due=now)

    def retry_all(self, watch: str, now: float) -> None:
        """Let every failed item be tried at once."""
        self.run(update(items).where(items.c.watch == watch, items.c.is_held.is_(False)).values(due=now))

    def bring_forward(self, watch: str, now: float, seconds: float) -> None:
        """Let every item that waits be tried so many seconds sooner, at once at the earliest."""
        sooner = case((items.c.due - seconds < now, now), else_=items.c.due - seconds)
        self.run(update(items).where(items.c.watch == watch, items.c.due > now).values(due=sooner))

    def counts(self, watch: str) -> dict[tuple[str, str], int]:
        """How many items there are, by kind and state: waiting, failing, held, declined."""
        states = {
            "waiting": (items.c.is_held.is_(False), items.c.attempts == 0),
            "failing": (items.c.is_held.is_(False), items.c.attempts > 0),
            "held": (_in_state("held"),),
            "declined": (_in_state("declined"),),
        }
        counted = select(items.c.kind, func.count()).where(items.c.watch == watch).group_by(items.c.kind)
        with self.transaction():
            return {
                (kind, state): count
                for state, where in states.items()
                for kind, count in self.rows(counted.where(*where))
            }

    def count_items(self, watch: str, kind: Kind) -> int:
        """How many items of a kind there are."""
        found = select(func.count()).select_from(items).where(items.c.watch == watch, items.c.kind == kind)
        return int(self.value(found))

    def next_due(self, watch: str) -> float | None:
        """When the next item is due, None if none waits."""
        found = select(func.min(items.c.due)).where(items.c.watch == watch, items.c.is_held.is_(False))
        due: float | None = self.value(found)
        return due

    def _change(self, found: Sequence[Item], **values: Any) -> None:
        with self.transaction():
            for one in found:
                where = _of(one.watch, one.kind, one.target, one.subject)
                self.run(update(items).where(*where, items.c.marked == one.marked).values(**values))

    # pages for people: each costs the same, however large the state is

    def items_page(
        self,
        watch: str,
        state: ItemState,
        after: ItemPlace | None,
        limit: int,
        *,
        cause: str = "",
        without: Sequence[str] = (),
    ) -> list[Item]:
        """Items in one state after a place, in the order of kind, target and subject.

        Where `cause` is named, those of it; `without` are causes that are left out.
        """
        where = [items.c.watch == watch, _in_state(state)]
        where += [*([_cause == cause] if cause else []), *([_cause.not_in(without)] if without else [])]
        if after is not None:
            where.append(tuple_(items.c.kind, items.c.target, items.c.subject) > tuple_(*after))
        found = select(items).where(*where).order_by(items.c.kind, items.c.target, items.c.subject).limit(limit)
        return _items(self.rows(found))

    def causes(self, watch: str, limit: int, state: ItemState = "failing") -> list[FailureCause]:
        """Why items of a watch fail or are held, the most frequent cause first."""
        count = func.count()
        found = (
            select(
                _cause,
                count,
                func.min(items.c.due),
                func.min(items.c.since),
                func.min(items.c.kind),
                func.max(items.c.kind),
            )
            .where(items.c.watch == watch, _in_state(state))
            .group_by(_cause)
            .order_by(count.desc(), _cause)
            .limit(limit)
        )
        return [
            FailureCause(reason, number, due, since, first if first == last else "")
            for reason, number, due, since, first, last in self.rows(found)
        ]

    def retry_cause(self, watch: str, reason: str, now: float) -> int:
        """Let all items that fail for one reason be tried at once; how many there are."""
        where = (items.c.watch == watch, _cause == reason, _in_state("failing"))
        return self.run(update(items).where(*where).values(due=now))

    def retry_item(self, watch: str, place: ItemPlace, now: float) -> bool:
        """Let one item be tried at once; whether there is one that waits for nobody's approval."""
        where = (*_of(watch, *place), items.c.is_held.is_(False))
        return bool(self.run(update(items).where(*where).values(due=now)))


_KEY = ("watch", "kind", "target", "subject", "marked")
_FINISH = delete(items).where(*(items.c[name] == bindparam(name) for name in _KEY))


def _due(watch: str, kind: Kind, now: float, priority: Priority | None) -> list[ColumnElement[bool]]:
    """What is so of the items of a kind that are due."""
    where = [items.c.watch == watch, items.c.kind == kind, items.c.due <= now, items.c.is_held.is_(False)]
    if priority is not None:
        where.append(items.c.cause == "push" if priority == "people" else items.c.cause != "push")
    return where


def _of(watch: str, kind: str, target: str, subject: str) -> tuple[ColumnElement[bool], ...]:
    return items.c.watch == watch, items.c.kind == kind, items.c.target == target, items.c.subject == subject


def _marked(watch: str, one: Mark, known: Any, now: float) -> dict[str, Any]:
    """The row of an item that is marked, once more where it is known."""
    is_push = known is not None and known.cause == "push" and not known.is_held
    return {
        "watch": watch,
        "kind": one.kind,
        "target": one.target,
        "subject": one.subject,
        "cause": "push" if is_push else one.cause,
        "is_held": False,
        "marked": 0 if known is None else known.marked + 1,
        "attempts": 0,
        "since": now if known is None else known.since,
        "due": now,
        "reason": "",
    }


def _items(rows: Iterable[Any]) -> list[Item]:
    return [Item(**row._mapping) for row in rows]  # noqa: SLF001 - so SQLAlchemy calls it


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
