"""One pass over a watch: observe the source, then bring every due item up to date.

What must be published follows from the source at its head, the declaration, and what people decided at the targets.
The state only says what may be out of step; emptied, it costs one full reading. A fault ends one item, never the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace

import msgspec

from bot.errors import LeaseLost, StateUnavailable
from bot.evaluation.finding import counted, examples
from bot.platforms.source import Source
from bot.publishing.decisions import NOTHING
from bot.publishing.plan import Plan
from bot.service.context import WatchContext
from bot.service.judge.reading import BATCH, judge_again, read_files, whys_of
from bot.service.publish.ledger import (
    Ledger,
    count_later,
    count_pause,
    ledgers_due,
    note_ledgers,
)
from bot.service.publish.targets import TARGET_ROWS, Targets
from bot.service.review.reviews import MergedReviews, Reviews
from bot.service.store.database import batches
from bot.service.store.items import Cause, Item, Kind, Mark, Priority, marks
from bot.service.store.memory import CLOCK, LEDGER, RECOUNT, SWEPT
from bot.service.store.sources import StoredSubmission
from bot.service.talk.folders import Folders, answer_folders
from bot.service.talk.waivers import keep_waivers, learn_waivers
from bot.service.waits import SWEEP_EVERY
from bot.service.watch.observe import observe
from bot.service.watch.outcome import Report, WatchPass

MOST_ROUNDS = 3  # of the kinds, for what one kind marks of an earlier one
SOURCE_KINDS: tuple[Kind, ...] = ("source", "file")
REVIEW_KINDS: tuple[Kind, ...] = ("reviews", "review")  # once the files are read with which a review compares
KINDS_OF_A_ROUND: tuple[Kind, ...] = (
    *SOURCE_KINDS,
    *REVIEW_KINDS,
    "judge",
    "row",
    "folder",
    "request",
)  # another round is for more of them
UNSURE: frozenset[Cause] = frozenset({"declaration", "lost"})  # causes that may be a changed declaration
FILES_OF_A_PART = 1000  # files that are read together
SKEW = 60.0  # seconds by which the clocks of two processes may differ


def run_pass(
    context: WatchContext, *, everything: bool = True, rescore: bool = False, counts: bool = False
) -> WatchPass:
    """Bring one watch in step; a second pass right after it does nothing.

    `everything` tries failed items before their time, `rescore` looks at every row again. Where it `counts`, the ledger
    of each target is made at the end. Raises StateUnavailable if the state cannot be used; all else is an outcome.
    """
    if rescore:
        targets = [settings.to for _, settings in context.targets]
        rows = marks("row", sorted(context.state.rows.all_keys()), targets, "declaration")
        context.mark([Mark("judge"), *rows])
    done = Pass(context)
    found = done.run(everything=everything)
    with context.state.phase():
        ledgers = done.count() if found.is_whole and (counts or done.must_count()) else []
    plans = [_without_declined(context, plan, ledgers) for plan in found.plans]
    return replace(found, plans=plans, ledgers=ledgers if counts else (), failure=done.report.failure)


def _without_declined(context: WatchContext, plan: Plan, ledgers: Sequence[Ledger]) -> Plan:
    """A plan of rows in which those that people declined are no unchanged ones."""
    if not context.dry_run or context.targets_by_address[plan.target][1].kind == "models":  # there, it counts models
        return plan
    moved = {row.key for row in plan.rows}
    declined = sum(key not in moved for one in ledgers if one.target == plan.target for key in one.declined)
    return msgspec.structs.replace(plan, unchanged=max(0, plan.unchanged - declined), declined=declined)


@dataclass
class Pass:
    """One pass over one watch."""

    context: WatchContext
    report: Report = field(init=False)
    targets: Targets = field(init=False)

    def __post_init__(self) -> None:
        self.report = Report(self.context)
        self.targets = Targets(self.context, self.report)

    def run(self, *, everything: bool) -> WatchPass:
        """Observe, then do what is due, kind after kind, until nothing of it marks anything new."""
        try:
            self._run(everything=everything)
        except LeaseLost as lost:
            self.report.say("failed", self.context.name, str(lost), lost.status)
            with suppress(StateUnavailable):  # the database may be away still
                self._keep_outcomes()
            return WatchPass(self.context.name, self.report.outcomes, self.report.plans, is_whole=False)
        self._keep_outcomes()
        return WatchPass(self.context.name, self.report.outcomes, self.report.plans)

    def must_count(self) -> bool:
        """Tell whether the ledgers are to be made again.

        They are while somebody has to act. Otherwise they are made at most once a minute, for at most a twentieth of
        the time, and only when no other process has rows.
        """
        state, targets = self.context.state, self.context.targets_by_address
        known = [state.recall(LEDGER, target=to) for to in targets]
        is_held = any(one.is_new and one.outcome == "held" for one in self.report.outcomes)
        is_moving = self.targets.are_with_workers()
        new = {one.outcome for one in self.report.outcomes if one.is_new}
        if is_moving or new:
            count_later(state, targets, is_over=bool(new - {"failed"}))
        if is_moving:
            return False
        return is_held or not all(known) or any(one and one.unexplained for one in known) or self._is_count_due()

    def _is_count_due(self) -> bool:
        """Tell whether it is time to make the ledgers again, or the clock was set back since that was noted."""
        state, now = self.context.state, self.context.clock()
        due, every = ledgers_due(state), count_pause(state, self.context.targets_by_address)
        return due is not None and not now < due <= now + max(every, self.context.watch.settle_every)

    def count(self) -> list[Ledger]:
        """The ledger of each target; none where a target cannot be looked at: a later pass tries again."""
        found, began = list[Ledger](), self.context.clock()
        self.report.attempt([], lambda: found.extend(self.targets.ledgers()), subject="ledger")
        if found:
            note_ledgers(self.context, found, self.context.clock() - began)
            self._mark_unexplained(found)
        else:
            again = self.context.clock() + self.context.watch.settle_every
            self.context.state.remember(RECOUNT, again)
        return found

    def _mark_unexplained(self, found: Sequence[Ledger]) -> None:
        """Have the next pass look at rows that nothing explains, and at those whose request proposes what main has."""
        context = self.context
        if self.targets.are_with_workers():
            return
        for one in found:
            waiting = {item.subject for item in context.state.items.at("row", one.target)}
            lost = {key for key, why in one.unexplained.items() if why == NOTHING}
            context.mark(marks("row", sorted(lost.union(one.moot) - waiting), [one.target]), context.watch.settle_every)

    def _keep_outcomes(self) -> None:
        found = [(one.outcome, one.subject, one.text) for one in self.report.outcomes if one.is_new]
        self.context.state.add_outcomes(found)

    def _run(self, *, everything: bool) -> None:
        context, state = self.context, self.context.state
        self.targets.are_with_workers()  # noted before anything is read of the targets
        for number in range(MOST_ROUNDS):
            with state.phase():
                if number == 0:
                    self._begin(everything=everything)
                elif not any(state.items.is_due(kind, context.clock()) for kind in KINDS_OF_A_ROUND):
                    break
                self._people()  # what people wait for comes first
                self._read_bulk()
                self._bulk()
        with state.phase():
            self.targets.derive()
            self._end_reviews()
            self.report.say_plans()
            if everything:
                self._say_uncommitted()
            with state.transaction():
                if context.has_waivers:
                    keep_waivers(context)
                state.remember(CLOCK, context.clock())

    def _begin(self, *, everything: bool) -> None:
        """Mark what every pass looks at. Where the clock was set back, every waiting item is moved back as far."""
        context, state = self.context, self.context.state
        now, last = context.clock(), state.recall(CLOCK) or 0.0
        with state.transaction():
            if last - now > SKEW:
                state.items.bring_forward(now, last - now)
                state.remember(CLOCK, now)
            if everything:
                state.items.retry_all(now)
            context.mark([Mark("source"), *self._always(everything=everything)])

    def _always(self, *, everything: bool = False) -> list[Mark]:
        """The marks of every pass, for what nothing reports. A long list of requests is not read in every pass."""
        reviews = self._reviews()
        is_listed = reviews is not None and (everything or reviews.must_be_listed())
        return [*([Mark("reviews")] if is_listed else []), *self._daily_marks()]

    def _daily_marks(self) -> list[Mark]:
        """Once a day, and after a loss of the state: the marks to look for duplicates of what the bot posted."""
        context, day = self.context, int(self.context.clock() // SWEEP_EVERY)
        if context.dry_run or context.state.recall(SWEPT) == day:
            return []
        context.state.remember(SWEPT, day)
        said = [Mark("sweep")] if context.discussions is not None else []
        return [*said, *(Mark("sweep", "", settings.to) for _, settings in context.targets)]

    def _people(self) -> None:
        """Do what people wait for: requests, commands, and pushes of a few files."""
        for kind in SOURCE_KINDS:
            self._do(kind, "people")
        if self.context.dry_run or self._is_lost():  # one plan shows all, and what was withdrawn must be known
            return
        for kind in REVIEW_KINDS:
            self._do(kind, "people")
        is_bulk = self._has_bulk()
        for to, (_, settings) in self.context.targets_by_address.items():
            if is_bulk or TARGET_ROWS[settings.kind].layout.sharing != "table":
                self.targets.rows(to, "people")
        self._do("folder", "people")

    def _has_bulk(self) -> bool:
        """Tell whether bulk files are still to be read."""
        return self.context.state.items.is_due("file", self.context.clock(), "bulk")

    def _is_lost(self) -> bool:
        """Tell whether the state was lost, and not everything is known again yet."""
        return self._is_unread() or self.context.state.items.is_lost(self.context.clock())

    def _is_unread(self) -> bool:
        """Tell whether the source was never read to its end: nobody knows then which rows were withdrawn."""
        return self.context.state.commit is None

    def _read_bulk(self) -> None:
        """Read the bulk files part by part.

        After each part comes another look at what people wait for, which is not bulk work.
        """
        context, people = self.context, copy_context()
        commit, count = None, context.state.items.count_due("file", context.clock(), "bulk")
        while count and commit != (commit := context.state.commit) and commit is not None:
            with context.source.in_bulk(commit, count) as source:
                while context.state.commit == commit and self._read_part(source):
                    people.run(self._look_again)

    def _read_part(self, source: Source) -> bool:
        """Read one part of the bulk files; tell whether more of them are left."""
        context = self.context
        items = context.due("file", FILES_OF_A_PART, priority="bulk")
        read_files(context, items, self.report.fail, source)
        self._tell_verdicts(items)
        return self._has_bulk()

    def _look_again(self) -> None:
        """Look at the source and its requests while bulk work goes on."""
        with self.context.state.phase():
            self.context.mark([Mark("source"), *self._always()])
            self._people()

    def _bulk(self) -> None:
        """Do everything else. Rows wait for the last file, for approval depends on all."""
        if self._is_unread() or self._has_bulk():
            return
        self._do("judge")
        if self._is_lost():
            self._answer_folders()
        for to in self.context.targets_by_address:
            self.targets.rows(to)
        self._do("folder")

    def _do(self, kind: Kind, priority: Priority | None = None) -> None:
        """Do the due items of one kind."""
        items = self.context.due(kind, priority=priority)
        if items:
            match kind:
                case "source":
                    self.report.attempt(items, self._observe)
                case "reviews":
                    self._list_requests(items)
                case "review":
                    self._with_reviews(lambda reviews: reviews.settle(items), items)
                case "judge":
                    self.report.attempt(items, lambda: judge_again(self.context, items[0]))
                case "file":
                    read_files(self.context, items, self.report.fail, self.context.source)
                    self._tell_verdicts(items)
                case "folder":
                    self._folders(items)
                case _:
                    raise AssertionError(kind)

    def _list_requests(self, items: Sequence[Item]) -> None:
        """List the requests, unless the only mark asks to go on with the known reviews."""
        self.context.finish([item for item in items if item.subject])
        asked = [item for item in items if not item.subject]
        if asked:
            self._with_reviews(lambda reviews: reviews.list_requests(asked[0]), asked)

    # the source

    def _observe(self) -> None:
        context = self.context
        self.report.attempt([], lambda: learn_waivers(context), subject="waivers")
        self._tell_rejected(observe(context))
        if not context.state.files.any():
            why = f"has no file that `paths` of the watch selects ({', '.join(context.watch.paths)})"
            self.report.say("unchanged", context.source.name, why, is_new=False)
        if not self._is_lost():  # else what a command is about was not read yet
            self._answer_folders()

    def _say_uncommitted(self) -> None:
        """Name the files that a person may have forgotten to commit in a source or a table on this machine."""
        for target, settings in self.context.targets:
            if settings.table and target.uncommitted(settings.table.path):
                why = (
                    f"{settings.table.path} is not committed as it is, and settle reads what is: `git commit` it there"
                )
                self.report.say("unchanged", target.name, why, is_new=False)
        source = self.context.source
        if left := source.uncommitted(self.context.watch.paths):
            are = "is not committed as it is" if len(left) == 1 else "are not committed as they are"
            why = f"{counted(len(left), 'file')} {are}, and settle reads what is: {examples(left)}; "
            why += "there: `git add … && git commit`"
            self.report.say("unchanged", source.name, why, is_new=False)

    def _answer_folders(self) -> None:
        folders = self._open_folders()
        if folders is not None:
            self.report.attempt([], lambda: answer_folders(folders), subject="discussions")

    def _tell_verdicts(self, items: Sequence[Item]) -> None:
        for some in batches(items, BATCH):
            found = self.context.state.submissions.of_files([item.subject for item in some])
            self._tell_rejected([one for one in found.values() if one.status == "rejected"])
            if foreign := sorted(one.path for one in found.values() if one.status == "accepted" and one.why):
                board = self.context.leaderboard
                without = f"without a number for a task of {board.id} ({examples([task.id for task in board.tasks])})"
                why = f"{counted(len(foreign), 'file')} {without}, so without a row: {examples(foreign)}"
                self.report.say("unchanged", self.context.source.name, why)

    def _tell_rejected(self, found: Sequence[StoredSubmission]) -> None:
        for path, why in whys_of(self.context, found).items():
            self.report.say("rejected", path, why)

    def _open_folders(self) -> Folders | None:
        discussions = self.context.discussions
        if discussions is None or self.context.dry_run:
            return None
        return Folders(self.context, discussions, self.report)

    def _folders(self, items: Sequence[Item]) -> None:
        """Say what is wrong with pushed files. What a changed declaration would say waits while a plan is held.

        After a loss of the state it is not known whether the files or the declaration changed. Where the waivers could
        not be read, it is not known what is wrong.
        """
        folders = self._open_folders()
        if folders is None:
            self.context.finish(items)
            return
        state, later = self.context.state, self.context.clock() + self.context.watch.settle_every
        is_held = bool(state.items.held())
        waiting = [one for one in items if not self.context.has_waivers or (is_held and one.cause in UNSURE)]
        for item in waiting:
            state.items.postpone(item, later)  # what is due would have the next pass begin at once
        if items := [one for one in items if one not in waiting]:
            self.report.attempt(items, lambda: folders.settle(items), finish=False)

    def _reviews(self) -> Reviews | None:
        context = self.context
        if context.discussions is None or context.dry_run:
            return None
        return Reviews(context, context.discussions, self.report)

    def _end_reviews(self) -> None:
        """Update the open reviews and those of merged requests. This comes last because it follows from all else."""
        reviews = self._reviews()
        if reviews is None:
            return
        self.report.attempt([], reviews.refresh, subject="reviews")
        merged = MergedReviews(self.context, reviews.discussions, self.report)
        merged.settle(self.context.due("merged"))

    def _with_reviews(self, call: Callable[[Reviews], object], items: Sequence[Item]) -> None:
        reviews = self._reviews()
        if reviews is None:
            self.context.finish(items)
        else:
            self.report.attempt(items, lambda: call(reviews), finish=False)
