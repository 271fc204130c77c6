"""The layout of a table that somebody else maintains: JSON, JSONL, CSV, YAML or Markdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from bot.errors import Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.layout import Draft, Layout, RowChange
from bot.publishing.tables.edit import TableEdit, changes_of
from bot.publishing.tables.generated import WORKFLOWS, check_not_generated
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.open import open_sheet, to_bytes
from bot.publishing.tables.parquet import ParquetLayout
from bot.publishing.tables.proof import prove
from bot.publishing.tables.rows import MappedRows
from bot.publishing.tables.sheet import Sheet, Splice, spliced


def table_layout(options: TableOptions, leaderboard: Leaderboard) -> Layout:
    """The layout for a target of `kind = "table"`. Raises CallError if the mapping names an unknown task."""
    rows = MappedRows(options, leaderboard)
    rows.check()
    return ParquetLayout(rows) if options.table_format == "parquet" else TableLayout(rows)


class TableLayout:
    """A table in one text file."""

    def __init__(self, rows: MappedRows) -> None:
        self.rows, self.options = rows, rows.options

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of the workflows, one of which may write the table; it may be missing."""
        del changes
        return () if self.options.hand_edited else (WORKFLOWS,)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The table, and the workflows."""
        del changes
        return (self.options.path, *(path for path in sorted(listed) if path.startswith(f"{WORKFLOWS}/")))

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The table with the rows of the changes; where the file cannot be edited, every row is refused."""
        try:
            return self._draft(changes, current)
        except Unwritable as error:
            return Draft(refused=dict.fromkeys((change.key for change in changes), f"{self.options.path}: {error}"))

    def _draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        data = self._file(current)
        sheet = open_sheet(data, self.options)
        if not self.options.hand_edited:
            workflows = {path: text for path, text in current.items() if path.startswith(f"{WORKFLOWS}/")}
            check_not_generated(self.options.path, sheet, self.options.table_format, workflows)
        edit = self.rows.edit(sheet, changes)
        splices, edit = self._splices(sheet, edit)
        if not splices:
            return Draft(refused=edit.refused)
        after = to_bytes(spliced(sheet.text, splices), data)
        prove(sheet, open_sheet(after, self.options), edit)
        remarks = tuple(self.rows.remarks(sheet, edit))
        return Draft({self.options.path: after}, edit.refused, changes_of(sheet, edit), remarks)

    def _file(self, current: Mapping[str, bytes]) -> bytes:
        if self.options.path not in current:
            raise Unwritable("there is no such file at the target")
        return current[self.options.path]

    def _splices(self, sheet: Sheet, edit: TableEdit) -> tuple[list[Splice], TableEdit]:
        """The characters that change, and the edit without the rows that cannot be written."""
        splices, refused = [], dict(edit.refused)
        updates, insertions = [], []
        for update in edit.updates:
            try:
                splices += sheet.update(update.row, update.cells)
                updates.append(update)
            except Unwritable as error:
                refused[update.wanted.change_key] = str(error)
        for before, group in groupby(edit.insertions, key=lambda new: new.before):
            rows = list(group)
            try:
                splices += sheet.insert(before, [new.cells for new in rows])
                insertions += rows
            except Unwritable as error:
                refused |= {new.wanted.change_key: str(error) for new in rows}
        return splices, TableEdit(updates, insertions, refused)

    def is_same(self, changes: Sequence[RowChange], path: str, one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both versions of the table have the same rows for these changes; other rows do not count."""
        del path
        if one is None or other is None or one == other:
            return one == other
        try:
            return self.rows.say_the_same(changes, open_sheet(one, self.options), open_sheet(other, self.options))
        except Unwritable:
            return False

    def read(self, change: RowChange, current: Mapping[str, bytes]) -> Mapping[str, str] | None:
        """The mapped cells of one row. Raises Unwritable if the file cannot be read."""
        if self.options.path not in current:
            return None
        return self.rows.read(self.rows.index(open_sheet(current[self.options.path], self.options)), change)
