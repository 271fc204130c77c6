"""Turns changes into rows by a mapping, for every format of table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.errors import CallError, Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry
from bot.publishing.layout import RowChange
from bot.publishing.tables.cells import ABSENT, WantedRow, Way, as_text, wanted_row
from bot.publishing.tables.edit import Proposed, RowIndex, TableEdit, plan_edit
from bot.publishing.tables.fit import check_columns
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.sheet import Grid
from bot.publishing.tables.staleness import odd_averages, remarks
from bot.publishing.tables.values import RowView, placeholders, split_task

WITHDRAWN = "its submission was withdrawn; only people remove rows of this table"
UNKNOWN = "its submission was withdrawn, and the bot has no record of its row"


@dataclass(frozen=True, slots=True)
class MappedRows:
    """A mapping and the leaderboard whose entries it maps."""

    options: TableOptions
    leaderboard: Leaderboard

    def check(self) -> None:
        """Raise CallError where the mapping names a task that the leaderboard does not have."""
        known = {task.id for task in self.leaderboard.tasks}
        for label, column in self.options.columns.items():
            names = (column.value or "", *(placeholders(column.template) if column.template else ()))
            for task_id, _ in filter(None, map(split_task, names)):
                if task_id not in known:
                    tasks = ", ".join(sorted(known))
                    raise CallError(f"the column {label!r} names the task {task_id!r}; the leaderboard has {tasks}")

    @property
    def key(self) -> tuple[Way, ...]:
        """The columns that identify a row."""
        return tuple(self.options.way(label) for label in self.options.key)

    def row(self, change: RowChange, entry: Entry) -> WantedRow:
        """An entry as a row. Raises Unwritable if it does not fit the mapping."""
        return wanted_row(change.key, RowView(entry, self.leaderboard, change.links), self.options)

    def _published(self, change: RowChange) -> WantedRow | None:
        """The row as the bot wrote it last, with the addresses that it had then."""
        if change.published is None:
            return None
        links = change.links if change.published_links is None else change.published_links
        return self.row(replace(change, links=links), change.published)

    def proposed(self, changes: Sequence[RowChange], refused: dict[str, str]) -> Iterator[Proposed]:
        """The rows that the table should have; those that do not fit are noted in `refused` with the reason."""
        for change in changes:
            if change.entry is None:
                continue
            try:
                yield Proposed(self.row(change, change.entry), self._published(change))
            except Unwritable as error:
                refused[change.key] = str(error)

    def withdrawn(self, grid: Grid, changes: Sequence[RowChange]) -> Iterator[tuple[str, str]]:
        """The withdrawn rows that the table still has, each with the reason why it stays."""
        gone = [change for change in changes if change.entry is None]
        index = self.index(grid) if gone else None
        for change in gone:
            try:
                if change.published is None:
                    yield change.key, UNKNOWN
                elif index is not None and self.read(index, change) is not None:
                    yield change.key, WITHDRAWN
            except Unwritable as error:
                yield change.key, str(error)

    def edit(self, grid: Grid, changes: Sequence[RowChange]) -> TableEdit:
        """The changes of the table; rows that cannot be written are refused one by one."""
        refused: dict[str, str] = {}
        by, may_update = self.options.sorted_by, self.options.on_existing == "update"
        way = None if by is None else self.options.way(by)
        edit = plan_edit(grid, self.proposed(changes, refused), may_update=may_update, sorted_by=way)
        return TableEdit(
            edit.updates, edit.insertions, {**refused, **edit.refused, **dict(self.withdrawn(grid, changes))}
        )

    def remarks(self, grid: Grid, edit: TableEdit) -> Iterator[str]:
        """The remarks that a person should read after the edit."""
        columns = self.options.columns.items()
        average = next((label for label, column in columns if column.value == "average"), None)
        by = self.options.sorted_by or average
        yield from remarks(grid, edit, self.key, None if by is None else self.options.way(by))
        fields = {label: split_task(column.value or "") for label, column in columns}
        parts = {found[0]: self.options.way(label) for label, found in fields.items() if found and found[1] == "score"}
        if average is not None and parts.keys() == {task.id for task in self.leaderboard.tasks}:
            yield from odd_averages(grid, self.key, self.options.way(average), list(parts.values()))

    def index(self, grid: Grid) -> RowIndex:
        """The rows of a table by their keys. Raises Unwritable if it lacks a key column."""
        check_columns(grid, self.key)
        return RowIndex(grid, self.key)

    def read(self, index: RowIndex, change: RowChange) -> Mapping[str, str] | None:
        """The mapped cells of one row by column, None if the table has no such row. Raises Unwritable."""
        entry, grid = change.entry or change.published, index.grid
        at = None if entry is None or not len(grid) else index.find(self.row(change, entry))
        if at is None:
            return None
        ways = {label: self.options.way(label) for label in self.options.columns}
        cells = {label: grid.cell(at, way) for label, way in ways.items() if way in grid.ways}
        return {label: grid.plain(as_text(cell)) for label, cell in cells.items() if cell is not ABSENT}

    def say_the_same(self, changes: Sequence[RowChange], one: Grid, other: Grid) -> bool:
        """Tell whether two versions of a table say the same in the rows of these changes. Raises Unwritable."""
        indexes = self.index(one), self.index(other)
        return all(self.read(indexes[0], change) == self.read(indexes[1], change) for change in changes)
