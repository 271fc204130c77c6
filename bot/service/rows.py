"""Publishing rows at one target: each in its own request, many in a shared one, as commits, or as comments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from bot.platforms.target import Target
from bot.publishing.entry import Entry, entry_path, is_same_row
from bot.publishing.publication import CurrentState, Form, Marker, OpenRequest, decide
from bot.service.context import WatchContext
from bot.service.desired import DesiredRow, desired_together, is_from, migration_mark, rolling_mark
from bot.service.gate import Gate, with_held
from bot.service.items import FIRST_WAIT, Item, RowJob, Share, marks
from bot.service.links import other_places
from bot.service.reconcile import PublishResult, entries_of, parsed, reconcile
from bot.service.row_looks import PlannedLook, RowLook, RowLooker, SharedStates
from bot.service.settings.config import WatchTarget
from bot.service.store import batches
from bot.service.talk.targets import declined_of
from bot.service.watch.outcome import Report

PART = 500  # rows that are looked at and published together
MOST_ROWS = 1_000_000  # of one target


@dataclass
class RowPublisher:
    """Publishes the rows of one watch at one target.

    A row at the target that came from the watch's source, and of which the source has nothing any more, was withdrawn;
    rows from elsewhere compete like any other submission.
    """

    context: WatchContext
    target: Target
    settings: WatchTarget
    report: Report

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the target to these rows; a row that fails is noted, and the others go on."""
        lost = [item for item in items if not item.subject]
        if lost:
            self.report.attempt(lost, lambda: self._mark_lost(lost), finish=False)
            items = due_rows(self.context, self.settings.to)
        rows = with_held(self.context, self.settings.to, items)
        if len(rows) > PART and not self.context.dry_run:
            self.report.attempt(rows, lambda: self._publish_parts(rows), finish=False)
        elif rows:
            self.report.attempt(rows, lambda: self._publish_all(rows), finish=False)

    def _publish_parts(self, items: Sequence[Item]) -> None:
        """Publish very many rows part by part, so that memory does not grow with them.

        All are looked at before the first is written: what a person must approve depends on all of them.
        """
        looks = [PlannedLook(look.item, look.planned) for some in batches(items, PART) for look in self._look(some)[0]]
        admitted = self._gate.admit(looks)
        is_bulk = sum(look.planned.action == "added" for look in looks) > self.context.watch.backfill_limit
        for some in batches([look.item for look in admitted], PART):
            self.report.attempt(some, partial(self._publish_part, some, is_bulk=is_bulk), finish=False)

    def _publish_part(self, items: Sequence[Item], *, is_bulk: bool) -> None:
        looks, shared = self._look(items)
        self._publish_looks(looks, shared, is_bulk=is_bulk)

    def _publish_all(self, items: Sequence[Item]) -> None:
        looks, shared = self._look(items)
        self._publish_looks(self._gate.admit(looks), shared)

    @property
    def _gate(self) -> Gate:
        return Gate(self.context, self.settings.to, self.report, self._board_size, self._entries)

    def _look(self, items: Sequence[Item]) -> tuple[list[RowLook], SharedStates]:
        """The present and the intended state of rows, and the requests that many rows share."""
        shared = self._shared(tuple(entry_path(item.subject) for item in items))
        return RowLooker(self.context, self.target, self.form, self.report).look(items, shared), shared

    def _publish_looks(self, admitted: Sequence[RowLook], shared: SharedStates, *, is_bulk: bool = False) -> None:
        if self.form == "comment":
            for look in admitted:
                self._each(look, self.form)
            return
        declined = self._declined(admitted)
        standing = shared.rolling.request.files if shared.rolling.request else {}
        left = declined - standing.keys()
        self.context.store.finish([look.item for look in admitted if look.path in left])
        wanted = [look for look in admitted if look.path not in left]
        single, rolling, migration = self._parted(wanted, shared, is_bulk=is_bulk)
        self._singly(single)
        if rolling or shared.rolling.duplicates:
            self._many(rolling_mark(self._board), rolling, shared.rolling, declined)
        if migration or shared.migration.duplicates:
            self._many(migration_mark(self._board), migration, shared.migration)

    # marks and what stands there

    def _declined(self, looks: Sequence[RowLook]) -> set[str]:
        """The paths of the rows that a maintainer declined as they are now."""
        if self.form != "pull-request":
            return set()
        keys = declined_of(self.context, self.settings.to, {look.key: look.entry for look in looks})
        return {look.path for look in looks if look.key in keys}

    @property
    def form(self) -> Form:
        """The form of publication at this target."""
        return self.settings.form

    @property
    def _board(self) -> str:
        return self.context.leaderboard.id

    def _row(self, look: RowLook) -> DesiredRow:
        """The row as it should be."""
        source = self.context.source.name
        name, places = self.target.name, other_places(self.context, self.settings.to)
        return DesiredRow(self._board, look.key, source, look.entry, look.before, look.contested, name, places)

    def _shared(self, paths: tuple[str, ...]) -> SharedStates:
        if self.form == "comment":
            return SharedStates()
        read = self.target.read_state
        return SharedStates(read(rolling_mark(self._board), paths), read(migration_mark(self._board), paths))

    def _entries(self) -> list[Entry]:
        return entries_of(self.target, self.context.leaderboard)

    def _board_size(self) -> int:
        """How many rows stand at the target, merged or proposed."""
        board = self._board
        merged = {entry.key for entry in self._entries()}
        shared = self._shared(())
        requests = [state.request for state in (shared.rolling, shared.migration) if state.request is not None]
        proposed = {path for request in requests for path in request.files}
        return len({*map(entry_path, merged), *map(entry_path, self.target.read_keys(board)), *proposed})

    def _mark_lost(self, items: Sequence[Item]) -> None:
        """Mark the rows of the bot at the target that the source has no longer, after the state was lost.

        While a file could not be read, nobody knows which row it makes.
        """
        context, store = self.context, self.context.store
        if store.count_items(context.name, "file"):
            for item in items:
                store.postpone(item, context.clock() + FIRST_WAIT)
            return
        gone = self._lost_keys() - store.row_keys(context.name)
        with store.transaction():
            store.set_row_digests(context.name, dict.fromkeys(gone, ""))
            store.mark(context.name, marks("row", sorted(gone), [self.settings.to]), context.clock())
            store.finish(items)

    def _lost_keys(self) -> set[str]:
        keys = self.target.read_keys(self._board)
        if self.form == "comment":
            return keys
        shared = self._shared(())
        requests = [shared.rolling.request, shared.migration.request]
        proposed = [parsed(data) for one in requests if one for data in one.files.values()]
        rows = [row for row in [*proposed, *self.target.read_entries()] if row is not None]
        board, source = self._board, self.context.source.name
        return keys | {row.key for row in rows if row.leaderboard.id == board and is_from(row, source)}

    # where each row goes

    def _parted(
        self, looks: Sequence[RowLook], shared: SharedStates, *, is_bulk: bool
    ) -> tuple[list[tuple[RowLook, Form]], list[RowLook], list[RowLook]]:
        """The rows that are published one by one, those of the rolling request, and those of the migration.

        A row stays in the request in which it stands. New ones share the rolling request beyond the limit.
        """
        single: list[tuple[RowLook, Form]] = []
        rolling: list[RowLook] = []
        migration: list[RowLook] = []
        new: list[RowLook] = []
        for look in looks:
            if shared.rolling.request and look.path in shared.rolling.request.files:
                rolling.append(look)
            elif look.is_migration or (shared.migration.request and look.path in shared.migration.request.files):
                migration.append(look)
            elif look.contested and look.planned.action != "unchanged":
                single.append((look, "pull-request"))
            elif self.form == "commit":
                rolling.append(look)
            else:
                self._sort_out(look, shared, single, new)
        is_bulk = is_bulk or len(new) > self.context.watch.backfill_limit
        if self.context.watch.pull_requests == "rolling" or is_bulk:
            return single, [*rolling, *new], migration
        return [*single, *((look, self.form) for look in new)], rolling, migration

    def _sort_out(
        self, look: RowLook, shared: SharedStates, single: list[tuple[RowLook, Form]], new: list[RowLook]
    ) -> None:
        """Put a row where it belongs: nowhere if nothing is to be done, or if a person declined this very row."""
        row = self._row(look)
        wanted = row.at(look.state, self.form)
        decision = decide(row.mark, wanted.text, wanted.files, look.state, self.form)
        declined = {**(shared.rolling.declined or {}), **(shared.migration.declined or {})}
        is_declined = look.path in declined and is_same_row(declined[look.path], wanted.files[look.path])
        if decision.publication is None or (isinstance(decision.publication, OpenRequest) and is_declined):
            self.context.store.finish([look.item])
        elif isinstance(decision.publication, OpenRequest):
            new.append(look)
        else:
            single.append((look, self.form))

    # doing it

    def publish_admitted(self, item: Item, admitted: str) -> None:
        """Publish one row as the safety catch let it through; one that is another by now waits for the next pass."""

        def call() -> None:
            shared = self._shared((entry_path(item.subject),))
            looks = RowLooker(self.context, self.target, self.form, self.report).look([item], shared)
            same = [look for look in looks if look.planned.action == "unchanged" or _admission(look) == admitted]
            for look, form in self._parted(same, shared, is_bulk=False)[0]:
                self._each(look, form)

        self.report.attempt([item], call, finish=False)

    def _singly(self, looks: Sequence[tuple[RowLook, Form]]) -> None:
        """Publish each row in a request of its own: here, or by the workers where there are some."""
        name, to, queue = self.context.name, self.settings.to, self.context.queue
        jobs = [RowJob(name, to, look.key, look.item.marked, _admission(look)) for look, _ in looks]
        if queue is not None and len(jobs) > 1 and queue.put_rows(jobs):
            return
        for look, form in looks:
            self._each(look, form)

    def _each(self, look: RowLook, form: Form) -> None:
        """Publish one row in a request or comment of its own."""

        def call() -> None:
            row = self._row(look)
            if form == "comment" and look.entry is None and look.state.comment is None:
                return
            result = reconcile(
                self.target,
                row.mark,
                (look.path,),
                lambda state: row.at(state, form),
                form,
                dry_run=self.context.dry_run,
            )
            self._say_published(result)

        self.report.attempt([look.item], call)

    def _many(self, mark: Marker, looks: Sequence[RowLook], state: CurrentState, without: Collection[str] = ()) -> None:
        """Publish rows together: in a shared request, or in one commit; `without` are paths of declined rows."""
        proposed = state.request.files if state.request else ()
        paths = tuple(dict.fromkeys([*(look.path for look in looks), *proposed]))
        rows, places = [self._row(look) for look in looks], other_places(self.context, self.settings.to)
        form: Form = "pull-request" if mark.kind == "migration" else self.form

        def call() -> None:
            result = reconcile(
                self.target,
                mark,
                paths,
                lambda state: desired_together(mark, rows, state, form, without=without, places=places),
                form,
                dry_run=self.context.dry_run,
            )
            self._say_published(result)

        self.report.attempt([look.item for look in looks], call)

    def _say_published(self, result: PublishResult) -> None:
        if result.decision.publication is not None:
            self.report.say("published", result.subject, f"{result.decision.why}: {result.where}")


def due_rows(context: WatchContext, to: str, share: Share | None = None) -> list[Item]:
    """The rows at one target that are due, of one share only, but for those that a worker has already."""
    found = context.store.due(context.name, "row", context.clock(), MOST_ROWS, share=share, target=to)
    waiting = context.queue.rows_waiting(context.name, to) if context.queue is not None and found else ()
    return [item for item in found if item.subject not in waiting]


def _admission(look: RowLook) -> str:
    """The change that the safety catch allows: the action on a row, and a digest of the row before and after."""
    return f"{look.planned.action} {look.planned.digest}"
