"""The targets in one pass: what people decided there, the due rows, what follows from the rows, and links to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from bot.errors import DiscussionsDisabled, Refused
from bot.platforms.target import Target
from bot.publishing.board import own_sources
from bot.publishing.decisions import WAITS
from bot.publishing.repeat import label_of
from bot.reporting.escape import code
from bot.service.context import WatchContext
from bot.service.publish.boards import BoardUpdater
from bot.service.publish.entry_rows import EntryRows
from bot.service.publish.gate import narrow_approved
from bot.service.publish.ledger import (
    Ledger,
    count_later,
    follow_repository,
    make_ledger,
    observe_requests,
    row_statuses,
)
from bot.service.publish.model_rows import ModelRows
from bot.service.publish.publisher import TargetRows, due_rows
from bot.service.publish.table_rows import TableRows
from bot.service.settings.config import WatchTarget
from bot.service.store.items import Item, Kind, Mark, Priority, marks
from bot.service.store.memory import BOARD, MODELS_ASKED, PLAN_COMMENT, RECOUNT, SITE
from bot.service.talk.targets import TargetCommands, learn_approvals
from bot.service.waits import MODELS_EVERY
from bot.service.watch.outcome import Report

DERIVED: tuple[Kind, ...] = ("board", "alarm", "site", "plan")  # what follows from the rows at a target
MOST_LINKED = 20  # rows of which requests are looked for

TARGET_ROWS: dict[str, type[TargetRows[Any]]] = {
    "entries": EntryRows,
    "table": TableRows,
    "models": ModelRows,
}


def _perhaps_unread(settings: WatchTarget) -> AbstractContextManager[None]:
    """Go on without the requests where rows are commits, because the token may not be able to read requests."""
    return suppress(Refused) if settings.form == "commit" else nullcontext()


@dataclass
class Targets:
    """Brings the targets of one watch in step.

    `learned` are the targets of which the replies were read in this pass, and the plans of which the approvals were.
    `waiting` says of a dry run, which carries out in a copy of the state what waits, why each row waited, by target.
    """

    context: WatchContext
    report: Report
    learned: set[str] = field(default_factory=set)
    waiting: Mapping[str, Mapping[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        state = self.context.state
        dry = self.context.targets_by_address if self.context.dry_run else ()
        self.waiting = {to: {one.subject: one.reason or WAITS for one in state.items.at("row", to)} for to in dry}

    def rows(self, to: str, priority: Priority | None = None) -> bool:
        """Publish the rows of one target that are due, of one priority only; whether there was anything to do.

        Commands on requests come after the rows: what a newer push proposes, the maintainer has not seen.
        """
        target, settings = self.context.targets_by_address[to]
        narrow_approved(self.context, to)
        self._learn_approvals(to)
        rows = TARGET_ROWS[settings.kind](self.context, target, settings, self.report)
        if to not in self.learned:
            self.learned.add(to)
            self._observe_people(rows)
        items = due_rows(self.context, to, priority)

        def publish_rows() -> None:
            is_unread = settings.has_board and self.context.state.boards.at(to) is None
            if is_unread and not self.context.dry_run and target.head():
                BoardUpdater(self.context, target, to, self.report).learn()
            rows.publish(items)

        self.report.attempt(items, publish_rows, finish=False, subject=f"rows at {to}")
        asked = [item for item in self.context.due("request", target=to) if item.subject]
        self.report.attempt(asked, lambda: self._obey(target, settings, asked), finish=False)
        return bool(items or asked)

    def _observe_people(self, rows: TargetRows[Any]) -> None:
        """Look at what people did at a target since the last pass; at pushes to requests, once a day or when told."""
        context, target, settings = self.context, rows.target, rows.settings
        to = settings.to
        if settings.kind != "models":
            self._follow_repository(target, to)
        self._observe(target, settings)
        self.report.attempt([], rows.observe, subject=f"main of {to}")
        told = [item for item in self.context.due("request", target=to) if not item.subject]
        if settings.form != "comment" and (told or self.context.due("sweep", target=to)):

            def look() -> None:
                with _perhaps_unread(settings):
                    observe_requests(context, target, to)

            self.report.attempt(told, look, subject=f"requests of {to}")

    def _follow_repository(self, target: Target, to: str) -> None:
        def call() -> None:
            if follow_repository(self.context, target, to):
                text = "another repository has this name now; every row is proposed there anew"
                self.report.say("unchanged", to, text)

        self.report.attempt([], call, subject=f"repository of {to}")

    def _obey(self, target: Target, settings: WatchTarget, asked: Sequence[Item]) -> None:
        """Carry out the commands on these requests."""
        commands = self._commands(target, settings) if asked else None
        if commands is not None:
            commands.settle(asked)
        else:
            self.context.finish(asked)

    def _observe(self, target: Target, settings: WatchTarget) -> None:
        """Look for commands on the bot's requests."""

        def call() -> None:
            commands = self._commands(target, settings)
            if commands is not None:
                with _perhaps_unread(settings):
                    commands.observe()

        self.report.attempt([], call, subject=f"commands at {settings.to}")

    def _commands(self, target: Target, settings: WatchTarget) -> TargetCommands | None:
        """The commands that people write on the bot's requests, if there are any."""
        is_asked = settings.form != "comment" and not self.context.dry_run and bool(self.context.watch.maintainers)
        comments = target.comments if is_asked else None
        return TargetCommands(self.context, target, comments, settings.to, self.report) if comments else None

    def _learn_approvals(self, to: str) -> None:
        """Approve the plan that waits at a target where a maintainer wrote so in its discussion."""
        context = self.context
        plan = context.state.plans.at(to)
        if plan is None or plan.is_approved or f"{to} {plan.digest}" in self.learned:
            return
        self.learned.add(f"{to} {plan.digest}")
        target, _ = context.targets_by_address[to]
        self.report.attempt([], lambda: learn_approvals(context, target, to), subject=f"plan of {to}")

    def are_with_workers(self) -> bool:
        """Tell whether other processes have rows, or had some in this pass: such rows would count as unexplained."""
        context = self.context
        if context.queue is not None and not context.had_workers:
            context.had_workers = any(context.queue.rows_waiting(context.name, to) for to in context.targets_by_address)
        return context.had_workers

    def ledgers(self) -> list[Ledger]:
        """Where the accepted rows are, at every target."""
        found: list[Ledger] = []
        self.context.state.remember(RECOUNT, None)  # what happens from now on asks anew
        for target, settings in self.context.targets:
            head = target.head()
            rows = TARGET_ROWS[settings.kind](self.context, target, settings, Report(self.context))
            accepted = rows.accepted()
            placed = rows.places(accepted)
            refused = {**self.waiting.get(settings.to, {}), **placed.refused}
            shown = {key: digest for key, digest in accepted.items() if key not in placed.below}
            ledger = make_ledger(self.context, settings.to, shown, placed.places, refused)
            own: dict[str, str] = {}
            if self.context.dry_run and settings.kind == "entries":  # for people; a service looks at no row for it
                own = own_sources(target.scan_entries().of(self.context.leaderboard.id), {self.context.watch.source})
            found.append(
                replace(
                    ledger,
                    requests=placed.requests,
                    moot=placed.moot,
                    head=head,
                    own_sources=own,
                    notes=placed.notes,
                    older=placed.older,
                )
            )
        return found

    def derive(self) -> None:
        """Update at every target what follows from the rows; a dry run says what of it failed last time."""
        context = self.context
        if context.dry_run:
            for kind, to in product(DERIVED, context.targets_by_address):
                for item in context.state.items.at(kind, to):
                    if item.attempts:
                        self.report.say("failed", item.name, item.reason, status=1)
            return
        for item in self.context.due("sweep", target=""):
            self.report.attempt([item], self._remove_source_duplicates)
        for target, settings in context.targets:
            if "://" not in settings.to:  # its repository may have been made in this pass
                self._follow_repository(target, settings.to)
            boards = BoardUpdater(context, target, settings.to, self.report)
            if settings.has_board:
                self.report.attempt(
                    [], partial(self._mark_board, target, settings.to), subject=f"board of {settings.to}"
                )
                self._each_of("board", settings.to, boards.rebuild)
                self._each_of("alarm", settings.to, boards.watch)
                if models_are_due(context):
                    self.report.attempt([], boards.look_up_models, subject=f"models of {settings.to}")
                self._each_of("site", settings.to, boards.publish)
            narrow_approved(context, settings.to)  # what was carried out in this pass is said in this pass
            # A model has no discussion about plans.
            tell = boards.tell_plan if settings.kind != "models" else list
            self._mark_plan(settings.to)
            self._each_of("plan", settings.to, tell)
            if self._each_of("sweep", settings.to, boards.remove_duplicates):
                self._observe(target, settings)  # on requests that the sweep listed; they are for the next pass
                count_later(context.state, context.targets_by_address, is_over=True)

    def _mark_board(self, target: Target, to: str) -> None:
        """Mark the board where main moved since it was rebuilt last, and the web site where it is to be elsewhere."""
        context, state, head = self.context, self.context.state, target.head()
        if not head or state.boards.at(to) is None or state.recall(BOARD, target=to) != head:
            context.mark([Mark("board", "", to)])
        if context.is_site(to) and state.recall(SITE) != context.watch.site:
            context.mark([Mark("site", "", to)])

    def _mark_plan(self, to: str) -> None:
        """After each sweep, look at the comment about plans: the state may have been lost before it said so.

        Not until everything is read and published: an answer counts no longer where the comment above it changes.
        """
        state = self.context.state
        if self.context.due("sweep", target=to):
            state.remember(PLAN_COMMENT, self.context.clock(), target=to)
        elif state.recall(PLAN_COMMENT, target=to) is None:
            return
        unsettled = sum(state.items.count(kind) for kind in ("source", "judge", "file", "row"))
        if not unsettled and state.commit:
            if state.plans.at(to) is None:
                self.context.mark(marks("plan", [""], [to]))
            state.remember(PLAN_COMMENT, None, target=to)

    def _remove_source_duplicates(self) -> None:
        discussions = self.context.discussions
        if discussions is None:
            return
        with suppress(DiscussionsDisabled):  # without discussions there are no duplicates
            for duplicate in discussions.find_duplicates():
                discussions.remove_duplicate(duplicate)

    def _each_of(self, kind: Kind, to: str, do: Callable[[], object]) -> bool:
        """Do the due items of one kind at a target; tell whether there were any."""
        due = self.context.due(kind, target=to)
        for item in due:
            self.report.attempt([item], do)
        return bool(due)


def models_are_due(context: WatchContext) -> bool:
    """Tell whether the settings want look-ups of models, and the last look-up is old enough."""
    last = context.state.recall(MODELS_ASKED) or 0.0
    is_wanted = context.watch.look_up_heads or context.watch.look_up_models
    return is_wanted and not 0 <= context.clock() - last < MODELS_EVERY


def row_links(context: WatchContext, keys: Iterable[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Links as Markdown: to the open requests that propose these rows, and to where they are, or will be once merged.

    Only for the first ones of very many rows.
    """
    proposed: dict[str, None] = {}
    current: dict[str, None] = {}
    digests = context.state.rows.digests(list(keys)[:MOST_LINKED])
    wanted = {key: digest for key, digest in sorted(digests.items()) if digest}
    for target, settings in context.targets:
        rows = TARGET_ROWS[settings.kind](context, target, settings, Report(context))
        found = rows.find(wanted)
        places = {key: one.place for key, one in found.items() if one.place is not None}
        statuses = row_statuses(context, settings.to, wanted, places)
        for key, one in found.items():
            fate, request = statuses[key].fate, one.request
            if fate == "open" and request is not None:
                where = f"[request {request.name}]({request.url})" if request.url else f"request {code(request.name)}"
                proposed[f"{where} at {code(label_of(one.name))}"] = None
            if fate in {"main", "open"} and one.link:
                current[one.link] = None
    return tuple(proposed), tuple(current)
