"""Decides what happens to a table: which rows are updated, which are inserted and where, and which are refused."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from math import isfinite

from bot.errors import Unwritable
from bot.publishing.layout import CellChange
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath, Number, WantedRow, as_text
from bot.publishing.tables.fit import (
    FilledColumn,
    check_columns,
    is_same_cell,
    is_shown,
    number_in,
    with_number,
    without_spread,
)
from bot.publishing.tables.sheet import Grid, Sheet, Splice, is_heading, is_title, spliced
from bot.reporting.escape import brief

CELLS_NAMED = 5  # cells that a refusal names
FEWEST_NUMBERS = 2  # equal numbers that show which model a renamed row is of
NEAR = 1e-9  # of a number, by which it differs at most from one of 12 equal digits
DISTINGUISH = "add a column to key that distinguishes them"
KeyTexts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """An existing row and its changed cells."""

    row: int
    wanted: WantedRow
    cells: Mapping[ColumnPath, Cell]


@dataclass(frozen=True, slots=True)
class Insertion:
    """A new row before row `before`, with all its cells."""

    before: int
    wanted: WantedRow
    cells: Mapping[ColumnPath, Cell]


@dataclass(frozen=True, slots=True)
class TableEdit:
    """All changes of one table; `refused` gives the reason for each row that is left out.

    `renamed` has, by the key of its change, the name that a person gave to a row, by its column. `below` are new rows
    that the table does not show, because it shows the first ones alone.
    """

    updates: Sequence[Update] = ()
    insertions: Sequence[Insertion] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    below: Sequence[str] = ()


class KeyIndex:
    """The rows of a table by the text of their key columns."""

    def __init__(self, grid: Grid, column_paths: Sequence[ColumnPath]) -> None:
        self.grid, self.column_paths = grid, column_paths
        self.exact: dict[KeyTexts, list[int]] = {}
        self.loose: dict[KeyTexts, str] = {}
        for row in range(len(grid)):
            key = self.key_of(row)
            if not is_heading(grid, row):
                self.exact.setdefault(key, []).append(row)
            self.loose.setdefault(_loosely(key), " ".join(key))

    def key_of(self, row: int) -> KeyTexts:
        """The texts by which a row of the table is found."""
        return _with_truth(self.grid.plain(as_text(self.grid.cell(row, path))) for path in self.column_paths)

    def key_for(self, wanted: WantedRow) -> KeyTexts:
        """The texts by which a wanted row is looked for."""
        return _with_truth(self.grid.plain(wanted.key[column_path]) for column_path in self.column_paths)

    def find(self, wanted: WantedRow) -> int | None:
        """The row with these keys, None if there is none. Raises Unwritable if several rows match."""
        key = self.key_for(wanted)
        rows = self.exact.get(key, [])
        if len(rows) > 1:
            rows = [row for row in rows if not is_title(self.grid, row)] or rows
        if len(rows) > 1:
            said = f"{len(rows)} rows have the key {brief(' '.join(key))!r}, so none of them is edited"
            raise Unwritable(f"{said}: {DISTINGUISH}")
        if not rows and _loosely(key) in self.loose:
            there = self.loose[_loosely(key)]
            raise Unwritable(f"a row has the key {brief(there)!r}, which may be the same row; a person has to decide")
        return rows[0] if rows else None


def _with_truth(key: Iterable[str]) -> KeyTexts:
    """The key with `True` and `FALSE` in small letters, as a text format may spell them."""
    return tuple(part.lower() if part.lower() in {"true", "false"} else part for part in key)


def _loosely(key: KeyTexts) -> KeyTexts:
    """The key without capitals and white space."""
    return tuple("".join(part.split()).casefold() for part in key)


class Planner:
    """The state of one table while its changes are decided one after the other.

    `sorted_by` gives the place of a new row. Without `may_update` an existing row is changed only where it is exactly
    what the bot published last. `others` gives the rows of all models that are known, and `taken` the names of the
    settings: what they claim is no renamed row of another model. `renamed` are the names that people gave.
    """

    def __init__(
        self,
        grid: Grid,
        sorted_by: ColumnPath | None,
        others: Callable[[], Iterable[WantedRow]] = tuple,
        taken: Collection[str] = (),
        *,
        may_update: bool,
    ) -> None:
        self.grid, self.sorted_by, self.may_update = grid, sorted_by, may_update
        self.others, self.taken = others, {grid.plain(name) for name in taken}
        self.renamed: dict[str, Mapping[str, str]] = {}
        self.seen: dict[KeyTexts, str] = {}
        self.columns: dict[ColumnPath, FilledColumn] = {}
        self.index: KeyIndex | None = None
        self.order: str | None = None
        self.numbers: list[Decimal | None] = []
        self.numbers_of: dict[ColumnPath, list[Decimal | None]] = {}
        self.sorted_of: dict[ColumnPath, list[tuple[float, int]]] = {}

    def decide(self, row: WantedRow, published: WantedRow | None) -> Update | Insertion | None:
        """Decide the change of one row; `published` is what the bot wrote last, None without a record.

        Raises Unwritable for this row alone.
        """
        index = self.look(row)
        for column_path, cell in row.cells.items():
            self.columns[column_path].check(cell, row.units.get(column_path))
        key = _loosely(tuple(row.key.values()))
        if key in self.seen:
            raise Unwritable(f"{self.seen[key]} has the same key columns: {DISTINGUISH}")
        self.seen[key] = row.change_key
        at = self.find(row, published)
        if at is None:
            cells = {column_path: self.columns[column_path].marked(cell) for column_path, cell in row.cells.items()}
            return Insertion(self.place(row), row, {**row.defaults, **cells})
        cells = self.differing(at, row)
        # A name that a person gave stays, unless the settings give another one.
        names = row.names if index.key_of(at) != index.key_for(row) else ()
        cells = {path: cell for path, cell in cells.items() if path not in names or path in row.given}
        if kept := [path for path in names if path not in cells]:
            self.renamed[row.change_key] = {".".join(path): as_text(self.grid.cell(at, path)) for path in kept}
        if cells and not self.may_update and (published is None or self.differing(at, published).keys() - {*names}):
            raise Unwritable(_conflict(self.grid, at, row, cells))
        return Update(at, row, cells) if cells else None

    def find(self, row: WantedRow, published: WantedRow | None) -> int | None:
        """The row of a model: the one with its key, else one that a person renamed. Raises Unwritable.

        That has all of its numbers, those of today or those that were published, no other row has them, and no other
        model claims it.
        """
        index = self.look(row)
        at = index.find(row)
        if at is not None or not len(self.grid):
            return at
        for version in (row, published):
            numbers = {} if version is None else version.numbers
            found = self.rows_with(row, numbers) if len(numbers) >= FEWEST_NUMBERS else []
            if len(found) == 1 and not self.is_claimed(found[0], row.change_key):
                return found[0]
        return None

    def rows_with(self, row: WantedRow, numbers: Mapping[ColumnPath, Number]) -> list[int]:
        """The rows that show these numbers, and whose key differs in the name of the model alone."""
        found = (self.near(path, number) for path, number in numbers.items())
        rows: Sequence[int] = sorted(min(found, key=len, default=range(len(self.grid))))
        for path, number in numbers.items():
            zeros, shown = self.columns[path].keeps_zeros, self.shown(path)
            rows = [at for at in rows if (one := shown[at]) is not None and is_shown(one, number, keeps_zeros=zeros)]
        others = [path for path in row.key if path not in row.names]
        return [
            at for at in rows if row.names and all(says(self.grid, self.grid.cell(at, p), row.cells[p]) for p in others)
        ]

    def near(self, column_path: ColumnPath, number: Number) -> list[int]:
        """The rows that may show a number in a column, and few others; `is_shown` tells of each."""
        if column_path not in self.sorted_of:
            shown = enumerate(self.shown(column_path))
            self.sorted_of[column_path] = sorted((float(one), at) for at, one in shown if one is not None)
        known, column, exact = self.sorted_of[column_path], self.columns[column_path], float(number.exact)
        coarsest = column.fewest_decimals if column.keeps_zeros else number.decimals
        margin = abs(exact) * NEAR + (0 if number.decimals is None or coarsest is None else 10.0**-coarsest)
        first, end = bisect_left(known, (exact - margin, 0)), bisect_left(known, (exact + margin, len(self.grid)))
        return [at for _, at in (known[first:end] if isfinite(margin) else known)]

    def shown(self, column_path: ColumnPath) -> list[Decimal | None]:
        """The numbers of a column, read once."""
        if column_path not in self.numbers_of:
            self.numbers_of[column_path] = [number_in(self.grid.cell(at, column_path)) for at in range(len(self.grid))]
        return self.numbers_of[column_path]

    @cached_property
    def claims(self) -> list[WantedRow]:
        """The rows of all models that are known."""
        return list(self.others())

    def is_claimed(self, at: int, change_key: str) -> bool:
        """Tell whether a row is of another model: by its name, or as much as of this one."""
        index = self.index
        if index is None or not self.taken.isdisjoint(index.key_of(at)):
            return True
        for other in self.claims:
            if other.change_key == change_key:
                continue
            key = index.key_for(other)
            if key == index.key_of(at) or (key not in index.exact and self.rows_with(other, other.numbers) == [at]):
                return True
        return False

    def differing(self, at: int, row: WantedRow) -> dict[ColumnPath, Cell]:
        """The cells that have to change, as they are written then: what stands around a number stays, no old spread."""
        found: dict[ColumnPath, Cell] = {}
        for column_path, wanted in row.cells.items():
            there, cell, number = self.grid.cell(at, column_path), self.grid.held(column_path, wanted), None
            if column_path in row.numbers:
                number, keeps_zeros = row.numbers[column_path], self.columns[column_path].keeps_zeros
                shown = number_in(there)
                if shown is not None and is_shown(shown, number, keeps_zeros=keeps_zeros):
                    continue
            if says(self.grid, there, cell):
                continue
            alone = without_spread(there) if number is not None and isinstance(there, str) else ""
            kept = with_number(alone, number.written) if number is not None else None
            found[column_path] = wanted if kept is None else kept
        return found

    def look(self, row: WantedRow) -> KeyIndex:
        """Read the columns and keys of the table once for all rows."""
        if self.index is None:
            check_columns(self.grid, [*row.cells, *row.defaults])
            self.columns = {column_path: FilledColumn(self.grid, column_path) for column_path in row.cells}
            if self.sorted_by is not None:
                self.order = order_of(self.grid, self.sorted_by)
                self.numbers = [number_in(self.grid.cell(each, self.sorted_by)) for each in range(len(self.grid))]
            self.index = KeyIndex(self.grid, tuple(row.key))
        return self.index

    def place(self, row: WantedRow) -> int:
        """Before which row a new one goes: after equal rows in a sorted table, else at the end."""
        ours = number_in(row.cells[self.sorted_by]) if self.sorted_by and self.order else None
        for number, there in enumerate(self.numbers if ours is not None else ()):
            if there is None or ours is None or (there < ours if self.order == "descending" else there > ours):
                return number
        return len(self.grid)

    def in_order(self, new: list[Insertion]) -> list[Insertion]:
        """New rows by position; those at one position in the order of the table, and without a number last."""
        column_path, sign = self.sorted_by, 1 if self.order == "ascending" else -1
        if column_path is None or self.order is None:
            return new
        numbers = {id(each): number_in(each.cells[column_path]) for each in new}
        return sorted(new, key=lambda each: (each.before, numbers[id(each)] is None, sign * (numbers[id(each)] or 0)))


def says(grid: Grid, there: Cell, wanted: Cell) -> bool:
    """Tell whether a cell already shows the wanted value."""
    return is_same_cell(there, wanted, grid.plain(there) if isinstance(there, str) else "")


def _conflict(grid: Grid, at: int, row: WantedRow, cells: Mapping[ColumnPath, Cell]) -> str:
    """Why an existing row is not changed, with both values of its cells."""
    name = brief(" ".join(row.key.values()))
    values = [(".".join(path), as_text(grid.cell(at, path)), as_text(cell)) for path, cell in cells.items()]
    shown = [f"{cell} is {brief(is_, 40) or '–'}, the files give {brief(new, 40) or '–'}" for cell, is_, new in values]
    more = [f"and {len(shown) - CELLS_NAMED} more"] if len(shown) > CELLS_NAMED else []
    return f'{name!r} has other values, and on_existing is "refuse": {"; ".join([*shown[:CELLS_NAMED], *more])}'


def order_of(grid: Grid, column_path: ColumnPath) -> str | None:
    """Tell whether a table is sorted by a column, `descending` or `ascending`; rows without a number come last.

    None if it is not sorted; a table that could be either counts as descending.
    """
    values = [number_in(grid.cell(row, column_path)) for row in range(len(grid))]
    numbers = [value for value in values if value is not None]
    if any(value is not None for value in values[len(numbers) :]):
        return None
    if numbers == sorted(numbers, reverse=True):
        return "descending"
    return "ascending" if numbers == sorted(numbers) else None


def changes_of(grid: Grid, edit: TableEdit) -> dict[str, tuple[CellChange, ...]]:
    """What a request shows of each row: the cells before and after, in the order of the table's columns."""
    shown, order = {}, {path: number for number, path in enumerate(grid.column_paths)}
    slots: list[Update | Insertion] = [*edit.updates, *edit.insertions]
    for slot in slots:
        cells = [(column_path, cell) for column_path, cell in slot.cells.items() if cell is not ABSENT]
        cells.sort(key=lambda each: order.get(each[0], len(order)))
        seen = grid.unescaped
        old = {path: seen(as_text(grid.cell(slot.row, path))) for path, _ in cells} if isinstance(slot, Update) else {}
        changes = (CellChange(".".join(path), old.get(path), seen(as_text(cell))) for path, cell in cells)
        shown[slot.wanted.change_key] = tuple(changes)
    return shown


Slot = int | Update | Insertion  # a row of somebody else by its old number, or an edited row


def sequence(rows: int, edit: TableEdit) -> list[Slot]:
    """The rows of a table after an edit, in order; `rows` is their number before."""
    updated: dict[int, Slot] = {update.row: update for update in edit.updates}
    slots: list[Slot] = []
    for row in range(rows + 1):
        slots += [new for new in edit.insertions if new.before == row]
        slots += [updated.get(row, row)] if row < rows else []
    return slots


def prove(before: Sheet, after: Sheet, edit: TableEdit) -> None:
    """Check an edited table. Raises Unwritable with what differs.

    Every character outside of the edited rows must be unchanged, the format's usual reader must see the same other
    rows, and the edited rows must read back as they were written.
    """
    slots = sequence(len(before), edit)
    if len(after) != len(slots):
        raise Unwritable(f"the edited table has {len(after)} rows, and not {len(slots)}")
    foreign = spliced(before.text, [Splice(*before.spans[update.row], "") for update in edit.updates])
    if len(before) and foreign != _foreign_after(after, slots):
        raise Unwritable("the edit would change text outside of its rows")
    _prove_readers(before, after, slots)
    for number, slot in enumerate(slots):
        for column_path, cell in {} if isinstance(slot, int) else slot.cells.items():
            if column_path in after.column_paths and not says(after, after.cell(number, column_path), cell):
                raise Unwritable(f"{'.'.join(column_path)} does not read back as it was written")


def _foreign_after(sheet: Sheet, slots: Sequence[Slot]) -> str:
    """The text without updated rows, and without new rows and the text that joins them to the next row."""
    cuts = []
    for number, slot in enumerate(slots):
        start, end = sheet.spans[number]
        if isinstance(slot, Update):
            cuts.append(Splice(start, end, ""))
        elif isinstance(slot, Insertion) and slot.before:
            cuts.append(Splice(sheet.spans[number - 1][1], end, ""))
        elif isinstance(slot, Insertion):
            cuts.append(Splice(start, sheet.spans[number + 1][0], ""))
    return spliced(sheet.text, cuts)


def _prove_readers(before: Sheet, after: Sheet, slots: Sequence[Slot]) -> None:
    """The usual reader must see the same other rows; they are compared as text, where 1, 1.0 and true differ."""
    old, new = before.ordinary(), after.ordinary()
    if len(old) != len(before) or len(new) != len(slots):
        raise Unwritable("the format's usual reader sees other rows")
    if any(isinstance(slot, int) and repr(old[slot]) != repr(row) for slot, row in zip(slots, new, strict=True)):
        raise Unwritable("the format's usual reader would see a change in another row")
