"""Paged reads for people: each page costs the same, however large the state is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import ColumnElement, and_, case, func, literal_column, or_, select, tuple_, update

from bot.service.store.engine import Database
from bot.service.store.items import Item
from bot.service.store.tables import items, submissions

ItemState = Literal["failing", "waiting", "held"]
STATES: tuple[ItemState, ...] = get_args(ItemState)
ItemPlace = tuple[str, str, str]  # kind, target and subject


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """A submission without what was read of it; `committed` is in Unix seconds, None if unknown."""

    path: str
    status: str
    key: str | None
    commit: str
    committed: float | None


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason for which items fail, how many do, since when, and when the first is tried again (Unix seconds).

    In a reason that names the item itself, an ellipsis is in its place. `kind` is that of the items, "" for several.
    """

    reason: str
    count: int
    due: float
    since: float
    kind: str


# A reason that names its own item is one cause with those that name theirs.
_cause = case(
    (func.length(items.c.subject) > 8, func.replace(items.c.reason, items.c.subject, literal_column("'…'"))),
    else_=items.c.reason,
)


class Listings(Database):
    """Pages of items and submissions."""

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
        with self.transaction() as connection:
            return [Item(**row) for row in connection.execute(found).mappings()]

    def causes(self, watch: str, limit: int) -> list[Cause]:
        """Why items of a watch fail, the most frequent cause first."""
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
            .where(items.c.watch == watch, _in_state("failing"))
            .group_by(_cause)
            .order_by(count.desc(), _cause)
            .limit(limit)
        )
        with self.transaction() as connection:
            return [
                Cause(reason, number, due, since, first if first == last else "")
                for reason, number, due, since, first, last in connection.execute(found)
            ]

    def retry_cause(self, watch: str, reason: str, now: float) -> int:
        """Let all items that fail for one reason be tried at once; how many there are."""
        where = (items.c.watch == watch, _cause == reason, _in_state("failing"))
        with self.transaction() as connection:
            return int(connection.execute(update(items).where(*where).values(due=now)).rowcount)

    def retry_item(self, watch: str, place: ItemPlace, now: float) -> bool:
        """Let one item be tried at once; whether there is one that waits for nobody's approval."""
        kind, target, subject = place
        where = (items.c.watch == watch, items.c.kind == kind, items.c.target == target, items.c.subject == subject)
        with self.transaction() as connection:
            done = connection.execute(update(items).where(*where, items.c.is_held.is_(False)).values(due=now))
            return bool(done.rowcount)

    def submissions_page(
        self, watch: str, status: str = "", text: str = "", after: str = "", limit: int = 50
    ) -> list[SubmissionLine]:
        """Submissions in the order of their paths, those after one; `text` is a part of the path or of the key."""
        where = [submissions.c.watch == watch, submissions.c.path > after]
        if status:
            where.append(submissions.c.status == status)
        if text:
            where.append(_has(text))
        # The index on watch, path, status and key answers this without the rows, which hold what was read.
        found = select(submissions.c.path).where(*where).order_by(submissions.c.path).limit(limit)
        with self.transaction() as connection:
            paths = list(connection.execute(found).scalars())
            return self._lines(watch, paths)

    def _lines(self, watch: str, paths: Sequence[str]) -> list[SubmissionLine]:
        columns = (submissions.c.path, submissions.c.status, submissions.c.key, submissions.c.commit)
        found = select(*columns, submissions.c.committed).where(submissions.c.watch == watch)
        with self.transaction() as connection:
            rows = connection.execute(found.where(submissions.c.path.in_(paths)).order_by(submissions.c.path))
            return [SubmissionLine(*row) for row in rows]


def _in_state(state: ItemState) -> ColumnElement[bool]:
    if state == "held":
        return items.c.is_held.is_(True)
    # Most items wait: the sum keeps the database from taking all of them by this, and sorting them.
    tried = items.c.attempts > 0 if state == "failing" else items.c.attempts + 0 == 0
    return and_(items.c.is_held.is_(False), tried)


def _has(text: str) -> ColumnElement[bool]:
    return or_(submissions.c.path.icontains(text, autoescape=True), submissions.c.key.icontains(text, autoescape=True))
