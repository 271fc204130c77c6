"""Publish rows into a table that people keep: those of one watch in one shared request or commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.errors import CallError
from bot.platforms.target import Target
from bot.publishing.card import declaration_path
from bot.publishing.entry import entry_path, parse_entry
from bot.publishing.layout import Layout, RowChange
from bot.publishing.tables.table_layout import table_layout
from bot.service.context import WatchContext
from bot.service.desired import rolling_mark
from bot.service.gate import Gate, with_held
from bot.service.items import Item
from bot.service.links import other_places
from bot.service.reconcile import parsed, reconcile
from bot.service.row_looks import RowLook, RowLooker, SharedStates, StandingRow
from bot.service.settings.config import WatchTarget
from bot.service.table_desired import DesiredTable, WrittenRow
from bot.service.talk.targets import declined_of
from bot.service.watch.outcome import Report


@dataclass
class TableLooker(RowLooker):
    """Looks at rows of a table: what stands there is what the record says was written last."""

    known: Mapping[str, WrittenRow] = field(default_factory=dict)

    def standing(self, key: str, shared: SharedStates) -> StandingRow:
        """The entry that was written last; whether it is merged is not known here."""
        del shared
        return StandingRow(self.known[key].entry if key in self.known else None)


@dataclass
class TablePublisher:
    """Publishes the rows of one watch into one table."""

    context: WatchContext
    target: Target
    settings: WatchTarget
    report: Report

    def publish(self, items: Sequence[Item]) -> None:
        """Bring the table to these rows; a row that cannot be written is rejected, and the others go on."""
        self.context.store.finish(
            [item for item in items if not item.subject]
        )  # without a record, no row is known to be ours
        if rows := with_held(self.context, self.settings.to, items):
            self.report.attempt(rows, lambda: self._publish_all(rows), finish=False)

    def _publish_all(self, items: Sequence[Item]) -> None:
        layout, known = self._layout(), self._known()
        known |= self._recorded([item.subject for item in items if item.subject not in known])
        looker = TableLooker(self.context, self.target, self.settings.form, self.report, known)
        looks = looker.look(items, SharedStates())
        entries = [row.entry for row in known.values()]
        admitted = Gate(self.context, self.settings.to, self.report, known.__len__, lambda: entries).admit(looks)
        if admitted:
            self.report.attempt([look.item for look in admitted], lambda: self._together(layout, admitted, known))

    def _layout(self) -> Layout:
        if self.settings.table is None:
            raise CallError(f"{self.settings.to}: there are no settings of a table")
        return table_layout(self.settings.table, self.context.leaderboard)

    def _known(self) -> dict[str, WrittenRow]:
        """The record of what was written."""
        return self._written(self.settings.to)

    def _written(self, name: str) -> dict[str, WrittenRow]:
        found = self.context.store.published(self.context.name, name)
        return {
            key: WrittenRow(parse_entry(entry, key), None if earlier is None else parse_entry(earlier, key))
            for key, (entry, earlier) in found.items()
        }

    @property
    def _keeps_records(self) -> bool:
        return self.settings.table is not None and self.settings.table.records

    def _recorded(self, keys: Sequence[str]) -> dict[str, WrittenRow]:
        """The written rows that the state does not know, from the records beside the table."""
        if not self._keeps_records or not keys:
            return {}
        paths = {entry_path(key): key for key in keys}
        files = self.target.read_state(rolling_mark(self.context.leaderboard.id), tuple(paths)).files
        found = {paths[path]: parsed(data) for path, data in files.items()}
        return {key: WrittenRow(entry) for key, entry in found.items() if entry is not None}

    def _together(self, layout: Layout, looks: Sequence[RowLook], known: Mapping[str, WrittenRow]) -> None:
        """Write all rows at once, and say which cannot be written."""
        changes = _changes(looks, known)
        listed = [path for folder in layout.folders(changes) for path in self.target.list_folder(folder)]
        mark = rolling_mark(self.context.leaderboard.id)
        declared = self.context.leaderboard if self._keeps_records else None
        table = DesiredTable(layout, mark, self.settings.form, looks, known, self._declined(looks), declared)
        table.places = other_places(self.context, self.settings.to)
        done = reconcile(
            self.target,
            mark,
            (*layout.paths(changes, listed), *self._record_paths(changes)),
            table.at,
            self.settings.form,
            dry_run=self.context.dry_run,
        )
        for key, why in sorted(table.refused.items()):
            self.report.say("rejected", key, why)
        if done.decision.publication is not None:
            self.report.say("published", done.subject, f"{done.decision.why}: {done.where}")
        if not self.context.dry_run:
            self._remember(table)

    def _record_paths(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The files that are kept beside the table."""
        if not self._keeps_records:
            return ()
        return (declaration_path(self.context.leaderboard.digest), *(entry_path(change.key) for change in changes))

    def _declined(self, looks: Sequence[RowLook]) -> set[str]:
        """The rows that a maintainer declined as they are now."""
        if self.settings.form != "pull-request":
            return set()
        return declined_of(self.context, self.settings.to, {look.key: look.entry for look in looks})

    def _remember(self, table: DesiredTable) -> None:
        store, name, to = self.context.store, self.context.name, self.settings.to
        rows = {
            key: (row.entry.to_bytes(), None if row.earlier is None else row.earlier.to_bytes())
            for key, row in table.written.items()
        }
        with store.transaction():
            store.set_published(name, to, rows)
            store.forget_published(name, to, table.gone)


def _changes(looks: Sequence[RowLook], known: Mapping[str, WrittenRow]) -> list[RowChange]:
    """The rows that are looked at, and those that were written: where their files lie depends on both."""
    wanted = {key: row.entry for key, row in known.items()} | {look.key: look.entry for look in looks}
    standing = {key: row.entry for key, row in known.items()}
    return [RowChange(key, entry, standing.get(key)) for key, entry in sorted(wanted.items())]
