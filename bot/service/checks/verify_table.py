"""Compare the rows of a table that people keep with the entries beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import CallError
from bot.evaluation.leaderboard import Leaderboard
from bot.pages.addresses import evidence_links
from bot.platforms.target import Target
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Layout, RowChange
from bot.publishing.row_difference import Difference
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.table_layout import table_layout
from bot.service.settings.config import load_settings


@dataclass
class TableCells:
    """The cells of one table at a target, as its mapping describes them; its files are read once."""

    target: Target
    options: TableOptions
    _files: Mapping[str, bytes] | None = field(default=None, repr=False)

    def look(self, entry: Entry, leaderboard: Leaderboard) -> tuple[str, tuple[Difference, ...]]:
        """The problem with the row of an entry, "" if nothing is, and the cells that differ."""
        # What would be written over it, if everything might be, is what differs.
        options = self.options.model_copy(update={"on_existing": "update", "hand_edited": True})
        layout = table_layout(options, leaderboard)
        change = RowChange(entry.key, entry, links=evidence_links(entry))
        draft = layout.draft([change], self._read(layout, change))
        if why := draft.refused.get(entry.key):
            return why if why.startswith(f"{self.options.path}: ") else f"{self.options.path}: {why}", ()
        cells = draft.cells.get(entry.key, ())
        if cells and all(cell.before is None for cell in cells):
            return f"{self.options.path} has no such row", ()
        said = f"{self.options.path} differs from the entry beside it" if cells else ""
        return said, tuple(map(_difference, cells))

    def _read(self, layout: Layout, change: RowChange) -> Mapping[str, bytes]:
        if self._files is None:
            listed = [path for folder in layout.folders([change]) for path in self.target.list_folder(folder)]
            self._files = self.target.read_files(layout.paths([change], listed))
        return self._files


def _difference(cell: CellChange) -> Difference:
    return Difference(cell.column, cell.before, cell.after)


def table_at(target: Target, name: str, settings: Path) -> TableCells:
    """The table at a target that the settings of a service describe. Raises CallError if they describe none."""
    found = [one for watch in load_settings(settings).watches for one in watch.targets if one.to == name and one.table]
    if not found or found[0].table is None:
        raise CallError(f'{settings}: no target is {name} with kind = "table"')
    return TableCells(target, found[0].table)
