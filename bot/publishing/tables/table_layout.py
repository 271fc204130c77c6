"""The layout of a table that somebody else maintains: JSON, JSONL, CSV, YAML, Markdown or Parquet."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import ClassVar

from pathspec import PathSpec

from bot.errors import Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry, digest_of
from bot.publishing.layout import Draft, RowChange, Sharing
from bot.publishing.tables.cells import ABSENT, as_text
from bot.publishing.tables.csv_sheet import CsvSheet, separator_of
from bot.publishing.tables.edit import TableEdit, changes_of, prove, sequence
from bot.publishing.tables.json_sheet import JsonLinesSheet, JsonSheet
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.markdown_sheet import MarkdownSheet
from bot.publishing.tables.parquet import (
    CARD,
    Shards,
    check_names,
    counted_card,
    prove_parquet,
    read_parquet,
    without_unfit,
)
from bot.publishing.tables.rows import MappedRows
from bot.publishing.tables.sheet import Grid, Sheet, Splice, check_bytes, spliced, text_of
from bot.publishing.tables.yaml_sheet import YamlSheet
from bot.publishing.yaml_text import load

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WORKFLOWS = ".github/workflows"
SAID = re.compile(r"auto-?(matically )?generated|generated (by|from|automatically)|(do not|don't) edit", re.IGNORECASE)
TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
SORT_KEY = "@@"
PUSHES = re.compile(r"git\s+push|git-auto-commit|create-pull-request|add-and-commit|github-push")
MISSING = "there is no such file at the target"
HINT = "set hand_edited = true if people edit it all the same"


def table_layout(options: TableOptions, leaderboard: Leaderboard, others: Sequence[Entry] = ()) -> TableLayout:
    """The layout for a target of `kind = "table"`; `others` are the rows that are known.

    Raises CallError if the mapping names an unknown task.
    """
    rows = MappedRows(options, leaderboard, others)
    rows.check()
    return ParquetLayout(rows) if options.table_format == "parquet" else TextLayout(rows)


class TableLayout(ABC):
    """A table that somebody else keeps, in one text file or in Parquet files.

    The order of the calls is `folders`, `paths`, `draft`; all three take the same changes.
    """

    sharing: ClassVar[Sharing] = "table"

    def __init__(self, rows: MappedRows) -> None:
        self.rows, self.options = rows, rows.options

    @abstractmethod
    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folders whose files are listed; they may be missing."""

    @abstractmethod
    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The files that are read, of those listed and by their names."""

    def digest(self, entry: Entry) -> str:
        """A digest of the cells of a row: an entry with the same one changes nothing for readers.

        Where the row does not fit the mapping, it is that of the whole row.
        """
        try:
            cells = self.rows.row(RowChange(entry.key, entry), entry).cells
        except Unwritable:
            return digest_of(entry)
        said = [(".".join(column_path), as_text(cell)) for column_path, cell in cells.items() if cell is not ABSENT]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The table with the rows of the changes; where the file cannot be edited, every row is refused."""
        try:
            return self._draft(changes, current)
        except Unwritable as error:
            return Draft(refused=dict.fromkeys((change.key for change in changes), f"{self.options.path}: {error}"))

    def count(self, current: Mapping[str, bytes]) -> int:
        """The number of rows of the table, 0 where it cannot be read."""
        try:
            return len(self.grid(current))
        except Unwritable:
            return 0

    @abstractmethod
    def grid(self, current: Mapping[str, bytes]) -> Grid:
        """The table as it is. Raises Unwritable if the file cannot be read, or if a program writes it."""

    def remarks_on(
        self, changes: Sequence[RowChange], current: Mapping[str, bytes], after: Mapping[str, bytes]
    ) -> tuple[str, ...]:
        """What a person has to look at in files with the changes and with edits of people; nothing if rows moved."""
        before, now = self.grid(current), self.grid(after)
        edit = self.rows.edit(before, changes)
        slots = sequence(len(before), edit)
        old, new = self.rows.index(before), self.rows.index(now)
        is_alike = len(slots) == len(now) and all(
            old.key_of(slot) == new.key_of(row) for row, slot in enumerate(slots) if isinstance(slot, int)
        )
        return tuple(self.rows.remarks(before, now, edit)) if is_alike else ()

    @abstractmethod
    def _draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """As `draft`; raises Unwritable."""


class TextLayout(TableLayout):
    """A table in one text file, of which a row is edited in its place."""

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of the workflows, one of which may write the table; it may be missing."""
        return () if self.options.hand_edited else (WORKFLOWS,)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """The table, and the workflows."""
        return (self.options.path, *(path for path in sorted(listed) if path.startswith(f"{WORKFLOWS}/")))

    def grid(self, current: Mapping[str, bytes]) -> Sheet:
        """The table as it is. Raises Unwritable if the file cannot be read, or if a program writes it."""
        if self.options.path not in current:
            raise Unwritable(MISSING)
        sheet = open_sheet(current[self.options.path], self.options)
        if not self.options.hand_edited:
            workflows = {path: text for path, text in current.items() if path.startswith(f"{WORKFLOWS}/")}
            check_not_generated(self.options.path, sheet, workflows)
        return sheet

    def _draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        sheet = self.grid(current)
        splices, edit = self._splices(sheet, self.rows.edit(sheet, changes))
        if not splices:
            return Draft(refused=edit.refused, renamed=edit.renamed, below=edit.below)
        new = to_bytes(spliced(sheet.text, splices), current[self.options.path])
        after = open_sheet(new, self.options)
        prove(sheet, after, edit)
        remarks = tuple(self.rows.remarks(sheet, after, edit))
        return Draft({self.options.path: new}, edit.refused, changes_of(sheet, edit), remarks, edit.renamed, edit.below)

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
        return splices, replace(edit, updates=updates, insertions=insertions, refused=refused)


class ParquetLayout(TableLayout):
    """The Parquet files of one split; the file with the row, or the last one, is rewritten.

    The caller must be able to write binary files, which the Hub keeps in its large-file storage.
    """

    def folders(self, changes: Sequence[RowChange]) -> tuple[str, ...]:
        """The folder of the files."""
        folder = str(PurePosixPath(self.options.path).parent)
        return () if folder == "." else (folder,)

    def paths(self, changes: Sequence[RowChange], listed: Collection[str]) -> tuple[str, ...]:
        """All files of the table, and the card."""
        return (*(self._shard_paths(listed) or [self.options.path]), CARD)

    def _shard_paths(self, paths: Collection[str]) -> list[str]:
        """Those of the paths that are files of the table: entries may lie beside it."""
        matching = PathSpec.from_lines("gitignore", [f"/{self.options.path}"])
        return sorted(matching.match_files(paths))

    def grid(self, current: Mapping[str, bytes]) -> Shards:
        """The files of the table. Raises Unwritable if there are none, or one of several is missing."""
        found = {path: current[path] for path in self._shard_paths(current)}
        if not found:
            raise Unwritable(MISSING)
        check_names(list(found))
        for data in found.values():
            check_bytes(data)
        return Shards({path: read_parquet(data) for path, data in found.items()})

    def _draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        shards = self.grid(current)
        edit = without_unfit(shards, self.rows.edit(shards, changes))
        files: dict[str, bytes | None] = {}
        after = dict(shards.grids)
        growth: Counter[str] = Counter()  # of what the card counts
        for path, grid in shards.grids.items():
            part = shards.part(path, edit)
            if not part.updates and not part.insertions:
                continue
            slots = sequence(len(grid), part)
            after[path] = edited = grid.edited(slots)
            files[path] = data = edited.to_bytes()
            prove_parquet(grid, read_parquet(data), slots)
            memory = edited.table.nbytes - grid.table.combine_chunks().nbytes
            growth.update(num_bytes=memory, dataset_size=memory, num_examples=len(edited) - len(grid))
            growth.update(download_size=len(data) - len(current[path]))
        if not files:
            return Draft(refused=edit.refused, renamed=edit.renamed, below=edit.below)
        files |= counted_card(current.get(CARD, b""), shards, growth)
        remarks = tuple(self.rows.remarks(shards, Shards(after), edit))
        return Draft(files, edit.refused, changes_of(shards, edit), remarks, edit.renamed, edit.below)


def open_sheet(data: bytes, options: TableOptions) -> Sheet:
    """The table in a text file. Raises Unwritable if it is none."""
    text = text_of(data)
    key = options.column_path(options.key[0])[0] if options.keyed else None
    names = frozenset(options.column_path(label)[0] for label in options.columns)
    match options.table_format:
        case "json":
            return JsonSheet(text, options.at, key)
        case "jsonl":
            return JsonLinesSheet(text)
        case "yaml":
            return YamlSheet(text, options.at, key)
        case "csv":
            return CsvSheet(text, separator_of(text, names), options.decimal)
        case "markdown":
            return MarkdownSheet(text, options.at, names)
        case other:
            raise Unwritable(f"{other} is not a format of text")


def to_bytes(text: str, before: bytes) -> bytes:
    """A text as a file, with a byte order mark where the file had one."""
    mark = BYTE_ORDER_MARK if before.startswith(BYTE_ORDER_MARK) else b""
    return mark + text.encode()


def check_not_generated(path: str, sheet: Sheet, workflows: Mapping[str, bytes]) -> None:
    """Raise Unwritable where a program seems to write the table.

    `workflows` are the files in `.github/workflows` of the repository, where it has any: one that names the file and
    pushes is taken for its writer.
    """
    said = next((found for found in sheet.remarks() if SAID.search(found)), None)
    if said is not None:
        raise Unwritable(f"it says that it is generated ({' '.join(said.split())[:80]!r}); {HINT}")
    if any(TAG.search(column_path[0]) for column_path in sheet.column_paths):
        raise Unwritable(f"it has HTML in the name of a column, as generated tables have; {HINT}")
    for column_path in sheet.column_paths:
        cells = (sheet.cell(row, column_path) for row in range(len(sheet)))
        if any(isinstance(cell, str) and SORT_KEY in cell for cell in cells):
            raise Unwritable(f"it has sort keys ({SORT_KEY}) in its cells, as generated tables have; {HINT}")
    writer = next((name for name, data in sorted(workflows.items()) if _writes(data, path)), None)
    if writer is not None:
        raise Unwritable(f"{writer} names {path} or adds its folder, and pushes, so it seems to write it; {HINT}")


def _writes(data: bytes, path: str) -> bool:
    """Tell whether the jobs of a workflow name a file, or add its folder, and push.

    What starts a workflow names files without writing them.
    """
    try:
        workflow = load(data.decode("utf-8", "replace"))
    except Unwritable:
        return False
    jobs = str(workflow.get("jobs", "")) if isinstance(workflow, dict) else ""
    name = re.escape(PurePosixPath(path).name)
    folders = "|".join(re.escape(str(folder)) for folder in PurePosixPath(path).parents if folder.name)
    adds = rf"|git\s+add\b[^;&|\\]{{0,500}}\s(?:\./)?(?:{folders})/?(?![\w./-])" if folders else ""
    return bool(re.search(rf"(?<![\w.-]){name}(?![\w-]){adds}", jobs) and PUSHES.search(jobs))
