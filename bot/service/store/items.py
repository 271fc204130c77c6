"""Items: things that may be out of date, the time of their next try, and the rows among them that workers publish.

An item holds no instruction, only a name: whoever takes it looks at both sides and brings one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal, get_args

import msgspec
from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from bot.errors import NEEDS_TOKEN, OUTAGE, WAITS
from bot.service.store.database import EVERY, Part, among, batches, same
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

    @property
    def is_outage(self) -> bool:
        """Tell whether a service could not be reached, which ends without a person."""
        return OUTAGE in self.reason and not self.needs_token

    @property
    def has_to_wait(self) -> bool:
        """Tell whether a service asked not to be called before the next try."""
        return any(words in self.reason for words in WAITS)


def held_by(digest: str, *, is_declined: bool) -> str:
    """Why an item is held: by a plan that waits, or that a person declined."""
    return f"{'declined' if is_declined else 'held'} by plan {digest}"


# A reason that names its own item is one cause with those that name theirs.
_cause = case(
    (func.length(items.c.subject) > 8, func.replace(items.c.reason, items.c.subject, literal_column("'…'"))),
    else_=items.c.reason,
)

_PRIORITIES: dict[Priority | None, ColumnElement[bool]] = {
    None: true(),
    "people": items.c.cause == "push",
    "bulk": items.c.cause.in_(["declaration", "lost", "bulk"]),
}
_WAITS = and_(same(items, "watch"), items.c.is_held.is_(False))
_IS_DUE = and_(_WAITS, items.c.due <= bindparam("at_now"))
_ITEM = same(items, "watch", "kind", "target", "subject")
_AS_IT_WAS = and_(_ITEM, items.c.marked == bindparam("at_marked"))


def _listed(*where: ColumnElement[bool], order: Sequence[Any] = (items.c.since, items.c.subject)) -> Select[Any]:
    return select(items).where(*where).order_by(*order).limit(bindparam("at_limit"))


_DUE = {
    (name, at_target): _listed(_IS_DUE, same(items, "kind", *(["target"] if at_target else [])), priority)
    for name, priority in _PRIORITIES.items()
    for at_target in (False, True)
}
_COUNT_DUE = {
    name: select(func.count()).where(_IS_DUE, same(items, "kind"), priority) for name, priority in _PRIORITIES.items()
}
# The kinds and causes of which anything is due, and whether all of them is: each answer is one look into the index.
# It is a text because it is asked most: of as many parts SQLAlchemy makes more work than SQLite. IS leaves the second
# question to the index of its subjects.
_NAMES = ", ".join(f"('{kind}', '{cause}')" for kind, cause in product(get_args(Kind), get_args(Cause)))
_OF_KIND = "watch = :at_watch AND kind = named AND due <= :at_now"
_ANY_DUE = text(
    f"WITH names(named, because) AS (VALUES {_NAMES}) "  # noqa: S608 - all of it stands above
    f"SELECT named, because, EXISTS (SELECT 1 FROM items WHERE {_OF_KIND} AND is_held IS FALSE AND subject = '') "
    f"FROM names WHERE EXISTS (SELECT 1 FROM items WHERE {_OF_KIND} AND is_held = FALSE AND cause = because)"
)
_ONE = _listed(_ITEM)
_HELD = _listed(same(items, "watch"), items.c.is_held.is_(True))
_HELD_AT = _listed(same(items, "watch", "target"), items.c.is_held.is_(True))
_AT = _listed(same(items, "watch", "kind", "target"))
_IS_POSTPONED = and_(items.c.due > bindparam("at_now"), items.c.attempts == 0)
_OF_A_PLAN = _listed(
    same(items, "watch", "kind", "target"),
    items.c.subject != literal_column("''"),
    or_(items.c.is_held.is_(True), _IS_POSTPONED),
)
_ALL = _listed(same(items, "watch"))
_ANY_WAITING = select(items.c.subject).where(_WAITS, same(items, "kind"), among(items.c.subject)).limit(1)
_COUNT = select(func.count()).where(same(items, "watch", "kind"))
_NEXT_DUE = select(func.min(items.c.due)).where(_WAITS)
_FINISH = delete(items).where(_AS_IT_WAS)
_FAIL = (
    update(items)
    .where(_AS_IT_WAS)
    .values(attempts=items.c.attempts + 1, reason=bindparam("reason"), due=bindparam("due"))
)
_REFUSE = _FAIL.values(marked=items.c.marked + 1)
_POSTPONE = update(items).where(_AS_IT_WAS).values(due=bindparam("due"))
_HOLD = update(items).where(_AS_IT_WAS).values(is_held=True, reason=bindparam("reason"))
_RELEASE = update(items).where(_AS_IT_WAS).values(is_held=False, reason="", due=bindparam("due"))
_SAY_WHY_HELD = (
    update(items).where(same(items, "watch", "target"), items.c.is_held.is_(True)).values(reason=bindparam("at_reason"))
)
_RETRY_ALL = update(items).where(_WAITS).values(due=bindparam("at_now"))
_RETRY = update(items).where(_ITEM, items.c.is_held.is_(False)).values(due=bindparam("at_now"))
_SOONER = items.c.due - bindparam("at_seconds")
_BRING_FORWARD = (
    update(items)
    .where(same(items, "watch"), items.c.due > bindparam("at_now"))
    .values(due=case((bindparam("at_now") > _SOONER, bindparam("at_now")), else_=_SOONER))
)


@cache
def _mark(dialect: str) -> Executable:
    """Marks an item; one that is marked already is marked once more, and a declaration's change never hides a push."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(items)
    stays_push = and_(items.c.cause == "push", items.c.is_held.is_(False))
    again = {
        "cause": case((stays_push, "push"), else_=insert.excluded.cause),
        "is_held": False,
        "marked": items.c.marked + 1,
        "attempts": case(
            (items.c.kind == "source", items.c.attempts), else_=0
        ),  # each pass marks it: it fails until it was read
        "due": insert.excluded.due,
        "reason": case((items.c.kind == "source", items.c.reason), else_=""),
    }
    statement: Executable = insert.on_conflict_do_update(index_elements=items.primary_key.columns, set_=again)
    return statement


DUE_FOR = 10.0  # seconds of a phase for which it is known what is due


class Items(Part):
    """Marks items, gives those that are due, notes how they ended, and lists them for pages."""

    def mark(self, found: Iterable[Mark], now: float) -> None:
        """Mark things as out of step, due at once; one that is marked already is marked once more."""
        marked = {(one.kind, one.target, one.subject): one for one in found}
        if not marked:
            return
        with self.db.transaction():
            for some in batches(marked[place] for place in sorted(marked)):
                values = [
                    {"watch": self.watch, **msgspec.structs.asdict(one), "since": now, "due": now} for one in some
                ]
                self.db.run(_mark(self.db.engine.dialect.name), values)
        self._forget_due()

    def due(
        self,
        kind: Kind,
        now: float,
        limit: int = EVERY,
        *,
        priority: Priority | None = None,
        target: str | None = None,
    ) -> list[Item]:
        """The items of a kind that are due and not held, the longest waiting first; of one priority or target only."""
        if self.db.is_in_phase and not self.is_due(kind, now, priority):
            return []
        at = {} if target is None else {"target": target}
        return self._list(_DUE[priority, bool(at)], limit, kind=kind, now=now, **at)

    def is_due(self, kind: Kind, now: float, priority: Priority | None = None) -> bool:
        """Tell whether any item of a kind is due."""
        _, kinds = self._any_due(now)
        return any((kind, one) in kinds for one in get_args(Priority) if priority in {None, one})

    def is_lost(self, now: float) -> bool:
        """Tell whether all rows or folders are due, as after a loss of the state."""
        return self._any_due(now)[0]

    def _any_due(self, now: float) -> tuple[bool, frozenset[tuple[str, str]]]:
        """Whether everything is due, and the kinds and priorities of which anything is.

        What is finished in a phase may be named until it ends, for that costs less than to ask again.
        """

        def read() -> tuple[float, bool, frozenset[tuple[str, str]]]:
            found = self.select(_ANY_DUE, now=now)
            is_lost = any(is_of_all and kind in {"row", "folder"} for kind, _, is_of_all in found)
            return now, is_lost, frozenset((kind, "people" if cause == "push" else "bulk") for kind, cause, _ in found)

        at, is_lost, kinds = self.db.once((self.watch, "due"), read)
        if not 0 <= now - at < DUE_FOR:
            self._forget_due()
            _, is_lost, kinds = self.db.once((self.watch, "due"), read)
        return is_lost, kinds

    def _forget_due(self) -> None:
        self.db.forget_read(self.watch, "due")

    def count_due(self, kind: Kind, now: float, priority: Priority | None = None) -> int:
        """How many items of a kind are due."""
        if self.db.is_in_phase and not self.is_due(kind, now, priority):
            return 0
        return int(self.value(_COUNT_DUE[priority], kind=kind, now=now))

    def get(self, kind: str, target: str, subject: str) -> Item | None:
        """One item; None if it is in step."""
        return next(iter(self._list(_ONE, kind=kind, target=target, subject=subject)), None)

    def held(self, target: str = "") -> list[Item]:
        """The items that wait for the approval of a plan."""
        return self._list(_HELD_AT, target=target) if target else self._list(_HELD)

    def of_a_plan(self, target: str, now: float) -> list[Item]:
        """The rows that a plan holds, and those that were postponed until their plan can be made whole."""
        return self._list(_OF_A_PLAN, kind="row", target=target, now=now)

    def at(self, kind: Kind, target: str) -> list[Item]:
        """The items of a kind at a target, whether they are due, held or neither."""
        return self._list(_AT, kind=kind, target=target)

    def all(self, limit: int = 1000) -> list[Item]:
        """The waiting items, the longest waiting first."""
        return self._list(_ALL, limit)

    def _list(self, statement: Executable, limit: int = EVERY, **values: Any) -> list[Item]:
        return [Item(*row) for row in self.select(statement, limit=limit, **values)]

    def finish(self, done: Iterable[Item]) -> None:
        """Delete items that are in step, except for those that were marked again meanwhile."""
        self._change(_FINISH, done)

    def fail(self, one: Item, reason: str, due: float) -> None:
        """Note why an item failed, and when it is tried again."""
        self._change(_FAIL, [one], reason=reason, due=due)

    def refuse(self, one: Item, reason: str, due: float) -> None:
        """Note why a row cannot be written. Its item stays after this pass, and is tried again."""
        self._change(_REFUSE, [one], reason=reason, due=due)

    def postpone(self, one: Item, due: float) -> None:
        """Let an item wait for something else, without counting a failure."""
        self._change(_POSTPONE, [one], due=due)

    def is_waiting(self, kind: Kind, subjects: Iterable[str]) -> bool:
        """Tell whether one of these subjects is out of step, due or not; held items do not count."""
        return bool(self.select_in(_ANY_WAITING, subjects, kind=kind))

    def hold(self, found: Sequence[Item], reason: str) -> None:
        """Let items wait for the approval of a plan."""
        self._change(_HOLD, found, reason=reason)

    def say_why_held(self, target: str, reason: str) -> None:
        """Update the reason of the held items of a target."""
        self.change(_SAY_WHY_HELD, target=target, reason=reason)

    def release(self, found: Sequence[Item], now: float) -> None:
        """Let held items go on."""
        self._change(_RELEASE, found, due=now)
        self._forget_due()

    def retry_all(self, now: float) -> None:
        """Let every failed item be tried at once."""
        self.change(_RETRY_ALL, now=now)
        self._forget_due()

    def bring_forward(self, now: float, seconds: float) -> None:
        """Let every waiting item be tried so many seconds sooner, but not before now."""
        self.change(_BRING_FORWARD, now=now, seconds=seconds)
        self._forget_due()

    def counts(self) -> dict[tuple[str, str], int]:
        """How many items there are, by kind and state: waiting, failing, held, declined."""
        with self.db.transaction():
            return {(kind, state): count for state in STATES for kind, count in self.select(_COUNTS[state])}

    def count(self, kind: Kind) -> int:
        """How many items of a kind there are."""
        return int(self.value(_COUNT, kind=kind))

    def next_due(self) -> float | None:
        """When the next item is due, None if none waits."""
        due: float | None = self.value(_NEXT_DUE)
        return due

    def _change(self, statement: Executable, found: Iterable[Item], **values: Any) -> None:
        """Change items, except for those that were marked again meanwhile."""
        places = [{name: getattr(one, name) for name in ("kind", "target", "subject", "marked")} for one in found]
        if places:
            self.db.run(statement, [self.where(**one) | values for one in places])

    # pages for people: each costs the same, however large the state is

    def page(
        self, state: ItemState, after: ItemPlace | None, limit: int, *, cause: str = "", without: Sequence[str] = ()
    ) -> list[Item]:
        """Items in one state after a place, in the order of kind, target and subject.

        Where `cause` is named, those of it; `without` are causes that are left out.
        """
        where = [same(items, "watch"), _in_state(state)]
        where += [*([_cause == cause] if cause else []), *([_cause.not_in(without)] if without else [])]
        if after is not None:
            where.append(tuple_(items.c.kind, items.c.target, items.c.subject) > tuple_(*after))
        return self._list(_listed(*where, order=(items.c.kind, items.c.target, items.c.subject)), limit)

    def causes(self, limit: int, state: ItemState = "failing") -> list[FailureCause]:
        """Why items fail or are held, the most frequent cause first."""
        return [
            FailureCause(reason, number, due, since, first if first == last else "")
            for reason, number, due, since, first, last in self.select(_CAUSES[state], limit=limit)
        ]

    def retry_cause(self, reason: str, now: float) -> int:
        """Let all items that fail for one reason be tried at once; how many there are."""
        return self.change(_RETRY_CAUSE, reason=reason, now=now)

    def retry(self, place: ItemPlace, now: float) -> bool:
        """Let one item be tried at once; whether there is one that waits for nobody's approval."""
        kind, target, subject = place
        return bool(self.change(_RETRY, kind=kind, target=target, subject=subject, now=now))


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


_COUNTS = {
    state: select(items.c.kind, func.count()).where(same(items, "watch"), _in_state(state)).group_by(items.c.kind)
    for state in STATES
}
_CAUSES = {
    state: select(
        _cause,
        func.count(),
        func.min(items.c.due),
        func.min(items.c.since),
        func.min(items.c.kind),
        func.max(items.c.kind),
    )
    .where(same(items, "watch"), _in_state(state))
    .group_by(_cause)
    .order_by(func.count().desc(), _cause)
    .limit(bindparam("at_limit"))
    for state in STATES
}
_RETRY_CAUSE = (
    update(items)
    .where(same(items, "watch"), _cause == bindparam("at_reason"), _in_state("failing"))
    .values(due=bindparam("at_now"))
)
