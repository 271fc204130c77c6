"""The one publisher: look at the rows of a target, let the safety catch decide, and write what it admits.

Each write is a reconciliation for one mark: look, decide, write once, and look again until nothing is left to do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from bot.platforms.target import Target
from bot.publishing.decisions import Place
from bot.publishing.entry import Entry
from bot.publishing.layout import Layout
from bot.publishing.publication import (
    ClosedRequest,
    CurrentState,
    DesiredState,
    Form,
    Marker,
    OpenRequest,
    Request,
    UpdateRequest,
)
from bot.service.context import WatchContext
from bot.service.publish.gate import Gate, Look, with_held
from bot.service.publish.ledger import OpenRequests
from bot.service.publish.made_rows import Rescored
from bot.service.publish.reconcile import PublishResult, reconcile
from bot.service.settings.config import WatchTarget
from bot.service.store.database import batches
from bot.service.store.items import Item, Priority
from bot.service.watch.outcome import OutcomeName, Report

ROWS_OF_A_PART = 500  # rows that are looked at and published together, where a target takes its rows in parts
T = TypeVar("T")


@dataclass(frozen=True)
class Proposal:
    """One request, commit or comment that brings rows in step.

    `items` wait for it, `paths` are the files that are read before `desire` says what they should be. `note` keeps what
    followed from the publication and returns what is added to its outcome. `subject` names the outcome, "" for the
    key of the mark. `is_restored` says that a person wants it although the same was closed once.
    """

    items: Sequence[Item]
    target: Target
    mark: Marker
    paths: tuple[str, ...]
    desire: Callable[[CurrentState], DesiredState]
    form: Form
    note: Callable[[PublishResult], str] = lambda _: ""
    subject: str = ""
    is_restored: bool = False


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Where a row is, the open request that proposes it, and the place as people call it, with a link in Markdown."""

    place: Place | None
    request: Request | None
    name: str
    link: str


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Where rows are, by key, and why the target cannot have some of those that are nowhere.

    `requests` are those that wait for a merge, `moot` the rows that one of them proposes as they are on main. `notes`
    are sentences for people about single rows. `below` are the rows that a table of the first ones does not show, and
    `older` counts those that main has with other numbers.
    """

    places: Mapping[str, Place]
    refused: Mapping[str, str] = field(default_factory=dict)
    requests: OpenRequests = field(default_factory=OpenRequests)
    moot: Collection[str] = ()
    notes: Sequence[str] = ()
    below: Collection[str] = ()
    older: int = 0


@dataclass
class TargetRows(ABC, Generic[T]):
    """The rows of one watch at one kind of target: where they are, what they should be, and how they are written.

    `layout` says how they lie in files, `is_bulk` that the rows are a part of very many new ones.
    """

    context: WatchContext
    target: Target
    settings: WatchTarget
    report: Report
    is_bulk: bool = False
    layout: ClassVar[type[Layout]]

    @abstractmethod
    def look(self, items: Sequence[Item]) -> list[Look[T]]:
        """The present and the intended state of the rows that wait; one that fails is noted, and the others go on."""

    @abstractmethod
    def size(self) -> int:
        """How many rows there are, for limits in percent."""

    @abstractmethod
    def entries(self) -> list[Entry]:
        """The entries that are there, for the ranks in a plan."""

    @abstractmethod
    def proposals(self, admitted: Sequence[Look[T]]) -> Iterable[Proposal]:
        """What is to be written for the rows that the safety catch admitted."""

    @abstractmethod
    def places(self, accepted: Mapping[str, str]) -> PlacedRows:
        """Where these rows are; `accepted` has their digests by key."""

    @abstractmethod
    def find(self, rows: Mapping[str, str]) -> Mapping[str, FoundRow]:
        """Where a few rows are, by key, with links; `rows` has their digests."""

    def accepted(self) -> dict[str, str]:
        """The digests of the accepted rows that this target is to have."""
        return self.context.state.rows.accepted()

    @property
    def takes_more(self) -> bool:
        """Whether more may be written in this pass."""
        return True

    @property
    def is_first(self) -> bool:
        """Tell whether nothing was written here yet, and even new rows wait for a person."""
        return False

    def observe(self) -> None:
        """Mark the rows that people changed or removed on main since it was compared last."""

    def restore(self, items: Sequence[Item]) -> None:
        """Find the rows of the bot after the state was lost; by default nobody can tell which these are."""
        self.context.finish(items)

    @cached_property
    def why(self) -> Rescored:
        """A function that says why rows have other numbers although their files are the same."""

        def remembered() -> str:
            kept = self.context.state.boards.at(self.settings.to)
            return kept.declaration if kept is not None else ""

        return Rescored(self.target, self.context.leaderboard, remembered)

    def with_closed(self, target: Target, state: CurrentState, rows: Callable[[], Iterable[str]]) -> CurrentState:
        """The state in which a closed request that nobody can read any more has the rows of today, by their marks.

        So it declines them until their content changes, and no row that is new later.
        """
        unread = [one for one in state.declined if one.rows is None]
        if not unread:
            return state
        marks = frozenset(rows())
        for one in unread if not self.context.dry_run else ():
            target.settle_closed(one.name, marks)
        declined = (ClosedRequest(one.name, marks if one.rows is None else one.rows) for one in state.declined)
        return replace(state, declined=tuple(declined))

    # looking, the safety catch, writing

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the target to these rows; a row that fails is noted, and the others go on."""
        context, to, report = self.context, self.settings.to, self.report
        lost = [item for item in items if not item.subject]
        if lost:
            report.attempt(lost, lambda: self.restore(lost), finish=False)
            items = [item for item in due_rows(context, to) if item.subject]
        # A dry run still has to show the changes here, or that there are none.
        is_shown = context.dry_run and all(plan.target != to for plan in report.plans)
        held = context.state.plans.at(to)
        is_asked = is_shown and not (held is not None and held.is_declined)
        due = with_held(context, to, items, is_shown=is_asked) if self.takes_more else []
        if due or is_shown:
            report.attempt(due, lambda: self._publish_due(due), finish=False)

    def _publish_due(self, items: Sequence[Item]) -> None:
        if len(items) > ROWS_OF_A_PART and self.layout.sharing == "row" and not self.context.dry_run:
            self._publish_parts(items)
        else:
            looks = self.look(items)
            self._write(self.proposals(self._gate.admit(looks)))

    def _publish_parts(self, items: Sequence[Item]) -> None:
        """Publish very many rows part by part, so that memory does not grow with them.

        All are looked at before the first is written: what a person must approve depends on all of them.
        """
        parts = batches(items, ROWS_OF_A_PART)
        looks = [Look(look.planned, look.items, None, None) for part in parts for look in self.look(part)]
        admitted = self._gate.admit(looks)
        self.is_bulk = sum(look.planned.action == "added" for look in looks) > self.context.watch.backfill_limit
        for part in batches([item for look in admitted for item in look.items], ROWS_OF_A_PART):
            self.report.attempt(part, partial(self._publish_part, part), finish=False)

    def _publish_part(self, items: Sequence[Item]) -> None:
        self._write(self.proposals(self.look(items)))

    @property
    def _gate(self) -> Gate:
        told = self.size, self.entries, self.accepted
        return Gate(self.context, self.settings.to, self.report, *told, is_first=self.is_first)

    def _write(self, proposals: Iterable[Proposal]) -> None:
        """Write the proposals one after the other; where one fails, its items are noted, and the others go on."""
        for one in proposals:
            self.report.attempt(one.items, partial(self._write_one, one), subject=one.subject or one.mark.key)

    def _write_one(self, one: Proposal) -> None:
        result = reconcile(
            one.target,
            one.mark,
            one.paths,
            one.desire,
            one.form,
            dry_run=self.context.dry_run,
            is_restored=one.is_restored,
        )
        more = one.note(result)
        publication = result.decision.publication
        if publication is not None:
            text = f"{result.decision.why}: {result.where}{more}"
            how: OutcomeName = "proposed" if isinstance(publication, OpenRequest | UpdateRequest) else "written"
            self.report.say(how, one.subject or result.subject, text)


def due_rows(context: WatchContext, to: str, priority: Priority | None = None) -> list[Item]:
    """The due rows of one target and priority, except those that a worker has already."""
    found = context.due("row", priority=priority, target=to)
    waiting = context.queue.rows_waiting(context.name, to) if context.queue is not None and found else ()
    return [item for item in found if item.subject not in waiting]


def admission(look: Look[Any]) -> str:
    """What the safety catch admits: the action on a row, and a digest of the row before and after."""
    return f"{look.planned.action} {look.planned.digest}"
