"""Publishing rows on a board made from the demo-leaderboard template: result files, then the status of the requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.errors import CallError
from bot.platforms.target import Target
from bot.publishing.layout import Draft, Layout, RowChange
from bot.publishing.publication import CurrentState, Marker
from bot.publishing.tables.mapping import TemplateOptions
from bot.publishing.tables.template import RequestFiles, ResultFiles
from bot.publishing.tables.texts import table_text
from bot.service.desired import rolling_mark
from bot.service.items import Item
from bot.service.reconcile import DesiredState, reconcile
from bot.service.table_desired import DesiredTable, WrittenRow
from bot.service.table_rows import TablePublisher


@dataclass
class TemplatePublisher(TablePublisher):
    """Publishes the rows of one watch in the two repositories of a template board.

    A request is finished once its result stands on the main branch of the results: earlier, a board whose maintainer
    declines the result would have a finished request and nothing to show.
    """

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the result files to these rows, and then the status of the requests to what is merged."""
        super().publish(items)
        if self._requests is not None:
            subject = f"requests of {self.settings.to}"
            self.report.attempt([], lambda: self._follow_moved(is_touched=bool(items)), subject=subject)

    def _follow_moved(self, *, is_touched: bool) -> None:
        """Bring the requests in step where a row was touched or withdrawn, or where the results moved since."""
        store, name = self.context.store, self.context.name
        withdrawn = self._written(self._cursor)
        head = self.target.head()
        if withdrawn or is_touched or store.cursor(name, self._cursor) != head:
            self._follow(withdrawn, head)

    @property
    def _options(self) -> TemplateOptions:
        if self.settings.template is None:
            raise CallError(f"{self.settings.to}: there are no settings of a template")
        return self.settings.template

    @property
    def _requests(self) -> Target | None:
        """The repository of the requests, None if the board has none."""
        return self.context.requests.get(self.settings.to)

    @property
    def _cursor(self) -> str:
        """Under this name the state keeps the commit that was followed, and the rows whose requests are to be ended."""
        return f"requests {self.settings.to}"

    def _layout(self) -> Layout:
        return ResultFiles(self._options, self.context.leaderboard)

    def _follow(self, withdrawn: dict[str, WrittenRow], head: str) -> None:
        """Finish the requests of rows that stand on main, and end those of rows that are withdrawn."""
        if self._requests is None:
            return
        target, layout, mark = self._requests, RequestFiles(self._options), rolling_mark(self.context.leaderboard.id)
        gone = [RowChange(key, None, row.entry) for key, row in sorted(withdrawn.items())]
        status = DesiredStatus(layout, mark, [*self._standing(), *gone])
        listed = [path for folder in layout.folders(status.changes) for path in target.list_folder(folder)]
        paths = layout.paths(status.changes, listed)
        done = reconcile(target, mark, paths, status.at, self.settings.form, dry_run=self.context.dry_run)
        for key, why in sorted(status.refused.items()):
            self.report.say("rejected", key, why)
        if done.decision.publication is not None:
            self.report.say("published", f"requests of {self.settings.to}", f"{done.decision.why}: {done.where}")
        if not self.context.dry_run:
            store, name = self.context.store, self.context.name
            with store.transaction():
                store.set_cursor(name, self._cursor, head)
                store.forget_published(name, self._cursor, withdrawn)

    def _remember(self, table: DesiredTable) -> None:
        """Remember withdrawn rows too, until their requests say so."""
        store, name, known = self.context.store, self.context.name, self._known()
        withdrawn = {key: (known[key].entry.to_bytes(), None) for key in table.gone & known.keys()}
        with store.transaction():
            super()._remember(table)
            store.set_published(name, self._cursor, withdrawn)
            store.forget_published(name, self._cursor, table.written)

    def _standing(self) -> list[RowChange]:
        """The rows that were written and stand on the main branch of the results."""
        layout, known = self._layout(), self._known()
        changes = [RowChange(key, row.entry, row.entry) for key, row in sorted(known.items())]
        listed = [path for folder in layout.folders(changes) for path in self.target.list_folder(folder)]
        state = self.target.read_state(rolling_mark(self.context.leaderboard.id), layout.paths(changes, listed))
        draft = layout.draft(changes, state.files)
        differing = draft.cells.keys() | draft.refused.keys()
        return [change for change in changes if change.key not in differing]


@dataclass
class DesiredStatus:
    """The wanted state of the requests repository: `changes` are rows that are finished, or withdrawn."""

    layout: RequestFiles
    mark: Marker
    changes: Sequence[RowChange]
    refused: dict[str, str] = field(default_factory=dict)

    def at(self, state: CurrentState) -> DesiredState:
        """The request files with their status; what a person declined is not proposed again."""
        draft: Draft = self.layout.draft(self.changes, state.files)
        self.refused = dict(draft.refused)
        proposed = state.request.files if state.request is not None else {}
        files = {**{path: data for path, data in state.files.items() if path in proposed}, **draft.files}
        return DesiredState(table_text(draft, [], self.mark), files)
