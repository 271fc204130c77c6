"""One pass over a watch: observe, then bring every item that is due in step.

What must stand follows from the source at its head, the declaration, and what people decided at the targets. The store
only says what may be out of step; emptied, it costs one full reading. A fault ends one item, never the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from bot.errors import BotError, DiscussionsDisabled
from bot.platforms.target import Target
from bot.publishing.plan import Plan
from bot.publishing.publication import Marker
from bot.service.approvals import approved_by
from bot.service.boards import Boards
from bot.service.config import WatchTarget
from bot.service.context import WatchContext
from bot.service.declines import learn_declines
from bot.service.folders import Folders
from bot.service.items import Item, Kind, Mark, marks
from bot.service.merged_reviews import MergedReviews
from bot.service.model_rows import ModelPublisher
from bot.service.observe import observe
from bot.service.outcome import Outcome, Report
from bot.service.reading import judge_again, read_files, whys_of
from bot.service.reviews import Reviews
from bot.service.rows import RowPublisher, due_rows
from bot.service.store import StoredSubmission
from bot.service.table_rows import TablePublisher
from bot.service.template_rows import TemplatePublisher
from bot.service.waivers import answer_folders, dump_waivers, learn_waivers


class Publisher(Protocol):
    """Brings rows in step at one target, each kind of target in its own way."""

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the target to these rows."""


SWEEP_EVERY = 86_400.0  # seconds
MakePublisher = Callable[[WatchContext, Target, WatchTarget, Report], Publisher]
PUBLISHERS: dict[str, MakePublisher] = {
    "entries": RowPublisher,
    "table": TablePublisher,
    "template": TemplatePublisher,
    "models": ModelPublisher,
}
MOST_ROUNDS = 3  # of the kinds, for what one kind marks of an earlier one


def nothing(_: Item) -> None:
    """Do nothing for an item: it is finished."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a pass ended: the outcomes, and what was or would be done at each target."""

    outcomes: list[Outcome]
    plans: list[Plan]


def settle(context: WatchContext, *, everything: bool = True) -> list[Outcome]:
    """Bring one watch in step; done twice, the second does nothing. Failed items are tried again at once.

    Raises StateUnavailable where the state cannot be used; all else is an outcome.
    """
    return run_pass(context, everything=everything).outcomes


def run_pass(context: WatchContext, *, everything: bool = True, rescore: bool = False) -> Settlement:
    """One pass; `everything` tries failed items before their time, `rescore` looks at every row again."""
    if rescore:
        targets = [settings.to for _, settings in context.targets]
        rows = marks("row", sorted(context.store.row_keys(context.name)), targets, "declaration")
        context.store.mark(context.name, [Mark("judge"), *rows], context.clock())
    return Pass(context).run(everything=everything)


@dataclass
class Pass:
    """One pass over one watch."""

    context: WatchContext
    report: Report = field(init=False)

    def __post_init__(self) -> None:
        self.report = Report(self.context)

    def run(self, *, everything: bool) -> Settlement:
        """Observe, then do what is due, kind after kind, until nothing of it marks anything new."""
        context, store, name = self.context, self.context.store, self.context.name
        if everything:
            store.retry_all(name, context.clock())
        store.mark(name, [Mark("source"), *self._always()], context.clock())
        for _ in range(MOST_ROUNDS):
            if not self._round():
                break
        self._attempt_boards()
        self._end_reviews()
        store.set_cursor(name, "waivers", dump_waivers(context.waivers))
        store.add_outcomes(name, [(one.outcome, one.subject, one.text) for one in self.report.outcomes])
        return Settlement(self.report.outcomes, self.report.plans)

    def _always(self) -> list[Mark]:
        """What every pass looks at, for nobody tells of it."""
        found = [Mark("reviews")] if self._reviews() is not None else []
        return [*found, *self._sweeps()]

    def _sweeps(self) -> list[Mark]:
        """Once a day, and after a loss of the state, everything of ours is looked at for what stands twice."""
        context, day = self.context, str(int(self.context.clock() // SWEEP_EVERY))
        if context.dry_run or context.store.cursor(context.name, "swept") == day:
            return []
        context.store.set_cursor(context.name, "swept", day)
        said = [Mark("sweep")] if context.discussions is not None else []
        return [*said, *(Mark("sweep", "", settings.to) for _, settings in context.targets)]

    def _round(self) -> bool:
        """Do what is due of every kind; whether there was anything."""
        kinds: tuple[Kind, ...] = ("source", "reviews", "review", "judge", "file")
        done = [self._do(kind) for kind in kinds]
        done += [self._rows(to) for to in self.context.targets_by_address]
        return any([*done, self._do("folder")])

    def _due(self, kind: Kind) -> list[Item]:
        return self.context.store.due(self.context.name, kind, self.context.clock(), 1_000_000)

    def _do(self, kind: Kind) -> bool:
        """Do the items of one kind that are due."""
        items = self._due(kind)
        if items:
            match kind:
                case "source":
                    self.report.attempt(items, self._observe)
                case "reviews":
                    self._with_reviews(lambda reviews: reviews.list_requests(items[0]), items)
                case "review":
                    self._with_reviews(lambda reviews: reviews.settle(items), items)
                case "judge":
                    self.report.attempt(items, lambda: judge_again(self.context, items[0]))
                case "file":
                    read_files(self.context, items, self.report.fail)
                    self._tell_verdicts(items)
                case "folder":
                    self._folders(items)
                case _:
                    raise AssertionError(kind)
        return bool(items)

    # the source

    def _observe(self) -> None:
        context = self.context
        learn_waivers(context)
        self._tell_rejected(observe(context))
        folders = self._folder_keeper()
        if folders is not None:
            answer_folders(folders)

    def _tell_verdicts(self, items: Sequence[Item]) -> None:
        found = self.context.store.submissions_at(self.context.name, [item.subject for item in items])
        self._tell_rejected([one for one in found.values() if one.status == "rejected"])

    def _tell_rejected(self, found: Sequence[StoredSubmission]) -> None:
        for path, why in whys_of(self.context, found).items():
            self.report.say("rejected", path, why)

    def _folder_keeper(self) -> Folders | None:
        discussions = self.context.discussions
        if discussions is None or self.context.dry_run:
            return None
        return Folders(self.context, discussions, self.report)

    def _folders(self, items: Sequence[Item]) -> None:
        """Say what is wrong with pushed files; what a changed declaration would say waits while a plan is held."""
        keeper = self._folder_keeper()
        if keeper is None:
            self.context.store.finish(items)
            return
        waiting = bool(self.context.store.held(self.context.name))
        items = [item for item in items if not (waiting and item.cause == "declaration")]
        if items:
            keeper.settle(items)

    def _reviews(self) -> Reviews | None:
        context = self.context
        if context.discussions is None or context.dry_run:
            return None
        return Reviews(context, context.discussions.source, context.discussions, self.report)

    def _end_reviews(self) -> None:
        """Last, for it follows from all else: what open reviews compare with, and the last word of merged ones."""
        reviews = self._reviews()
        if reviews is None:
            return
        self.report.attempt([], reviews.refresh, subject="reviews")
        merged = MergedReviews(self.context, reviews.source, reviews.discussions, self.report)
        merged.settle(self._due("merged"))

    def _with_reviews(self, call: Callable[[Reviews], object], items: Sequence[Item]) -> None:
        reviews = self._reviews()
        if reviews is None:
            self.context.store.finish(items)
        else:
            self.report.attempt(items, lambda: call(reviews), finish=False)

    # the targets

    def _rows(self, to: str) -> bool:
        items = due_rows(self.context, to)
        target, settings = self.context.targets_by_address[to]
        self._learn_approvals(to)
        if settings.form == "pull-request" and not self.context.dry_run:
            self.report.attempt([], lambda: learn_declines(self.context, target, to), subject=f"declined rows of {to}")
            items = due_rows(self.context, to)
        PUBLISHERS[settings.kind](self.context, target, settings, self.report).publish(items)
        return bool(items)

    def _learn_approvals(self, to: str) -> None:
        """Approve the plan that waits at a target where a maintainer wrote so in its discussion."""
        context = self.context
        plan = context.store.plan(context.name, to)
        if plan is None or plan[1]:
            return
        board = context.leaderboard.id
        mark = Marker("plan", f"plan of {board}", board)
        target, _ = context.targets_by_address[to]

        def call() -> None:
            if plan[0] in approved_by(target.read_replies(mark), context.watch.maintainers):
                context.store.approve_plan(context.name, plan[0])

        self.report.attempt([], call, subject=f"plan of {to}")

    def _attempt_boards(self) -> None:
        """Bring what is derived from the rows in step, at every target."""
        context = self.context
        if context.dry_run:
            return
        for item in self._due("sweep"):
            if not item.target and context.discussions is not None:
                self.report.attempt([item], self._sweep_source)
        for target, settings in context.targets:
            boards = Boards(context, target, settings.to, self.report)
            if settings.form != "comment" and settings.kind == "entries":
                self._each_of("board", settings.to, boards.observe, boards.rebuild)
                self._each_of("alarm", settings.to, None, boards.watch)
            # On the page of a model nothing is said about plans.
            self._each_of("plan", settings.to, None, boards.tell_plan if settings.kind != "models" else nothing)
            self._each_of("sweep", settings.to, None, boards.sweep)

    def _sweep_source(self) -> None:
        discussions = self.context.discussions
        if discussions is None:
            return
        with suppress(DiscussionsDisabled):  # where nothing can be said, nothing is said twice
            for duplicate in discussions.find_duplicates():
                discussions.remove_duplicate(duplicate)

    def _each_of(self, kind: Kind, to: str, mark: Callable[[], object] | None, do: Callable[[Item], object]) -> None:
        if mark is not None:
            try:
                mark()
            except BotError as failure:
                self.report.say("failed", f"{kind} of {to}", str(failure), failure.status)
        for item in self._due(kind):
            if item.target == to:
                self.report.attempt([item], lambda item=item: do(item))  # type: ignore[misc]
