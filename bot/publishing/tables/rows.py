"""Turn changes into rows of a table by a mapping, for every format, and find rows that are out of date.

What an edit leaves out of date (order, ranks, bold marks) is in rows of others: the request names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from bot.audits.score_table import AVERAGE
from bot.errors import CallError, Unwritable
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry
from bot.publishing.layout import RowChange
from bot.publishing.tables.cells import ABSENT, ColumnPath, WantedRow, as_text, wanted_row
from bot.publishing.tables.edit import Insertion, KeyIndex, Planner, Slot, TableEdit, Update, order_of, sequence
from bot.publishing.tables.fit import check_columns, number_in, without_spread
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.markdown_sheet import is_bold
from bot.publishing.tables.sheet import Grid
from bot.publishing.tables.values import RowView, placeholders, split_other, split_task
from bot.reporting.escape import brief, code

RANKS = frozenset({"rank", "#", "place", "position", "pos", "pos.", "no.", "nr."})
ROWS_NAMED, COLUMNS_NAMED = 5, 20  # rows and columns that a sentence names


def _named(grid: Grid, rows: Sequence[int], key: Sequence[ColumnPath]) -> str:
    names = (
        " ".join(grid.plain(as_text(grid.cell(row, column_path))) for column_path in key) for row in rows[:ROWS_NAMED]
    )
    more = f" and {len(rows) - ROWS_NAMED} more" if len(rows) > ROWS_NAMED else ""
    return ", ".join(code(name[:80]) for name in names) + more


def _places(grid: Grid, after: Grid, slots: Sequence[Slot], key: Sequence[ColumnPath], by: ColumnPath) -> Iterator[str]:
    moved = [row for row, slot in enumerate(slots) if isinstance(slot, Update)]
    if moved and len(grid) > 1 and order_of(grid, by) is not None and order_of(after, by) is None:
        kept = f"{_named(after, moved, key)} kept its place and may belong elsewhere"
        yield f"The table is sorted by {code('.'.join(by))}; {kept}."


def _wrong_ranks(
    grid: Grid, after: Grid, slots: Sequence[Slot], column_path: ColumnPath, by: ColumnPath
) -> Iterator[int]:
    """The rows whose rank was right before the edit and is wrong after it; an empty cell has none."""
    rising = order_of(grid, by) == "ascending" and len(grid) > 1
    shared, counted = (_true_ranks(grid, by, rising=rising, apart=apart) for apart in (False, True))
    stated_before = [number_in(grid.cell(row, column_path)) for row in range(len(grid))]
    apart = any(one == rank != tied for one, rank, tied in zip(stated_before, counted, shared, strict=True))
    before, now = counted if apart else shared, _true_ranks(after, by, rising=rising, apart=apart)
    for row, slot in enumerate(slots):
        stated = number_in(after.cell(row, column_path))
        was_right = not isinstance(slot, int) or stated_before[slot] == before[slot]
        if None not in {now[row], stated} and was_right and stated != now[row]:
            yield row


def _true_ranks(grid: Grid, by: ColumnPath, *, rising: bool, apart: bool) -> list[int | None]:
    """The rank of each row with a number: one more than the number of better rows, and `apart` of equal ones above."""
    values = [number_in(grid.cell(row, by)) for row in range(len(grid))]
    numbers = sorted((value for value in values if value is not None), reverse=not rising)
    first = {number: place for place, number in reversed(list(enumerate(numbers, start=1)))}
    seen: Counter[Decimal | None] = Counter()
    ranks: list[int | None] = []
    for value in values:
        ranks.append(None if value is None else first[value] + (seen[value] if apart else 0))
        seen[value] += 1
    return ranks


def _bold(grid: Grid, after: Grid, key: Sequence[ColumnPath], column_path: ColumnPath) -> Iterator[str]:
    """Name the best rows of a column in which the best was bold, where that has changed."""
    marked = {row for row in range(len(grid)) if is_bold(grid.cell(row, column_path), "**")}
    values = [number_in(grid.cell(row, column_path)) for row in range(len(grid))]
    numbers = [value for value in values if value is not None]
    for best in (max, min):
        if marked and numbers and {values[row] for row in marked} == {best(numbers)}:
            new = [number_in(after.cell(row, column_path)) for row in range(len(after))]
            top = best(value for value in new if value is not None)
            rows = [row for row, value in enumerate(new) if value == top]
            if rows != [row for row in range(len(after)) if is_bold(after.cell(row, column_path), "**")]:
                name = code(".".join(column_path))
                yield f"In the column {name} the best is bold; that is now {_named(after, rows, key)}."
            return


def _without_spread(grid: Grid, edit: TableEdit, column_path: ColumnPath) -> Iterator[str]:
    """Name the written rows of a column whose other cells say how far a number may be off, which the bot does not."""
    slots: list[Update | Insertion] = [*edit.updates, *edit.insertions]
    written = [slot for slot in slots if column_path in slot.cells]
    texts = (cell for row in range(len(grid) if written else 0) if isinstance(cell := grid.cell(row, column_path), str))
    spread = next((text for text in texts if without_spread(text) != text), "")
    if spread:
        names = ", ".join(code(" ".join(map(grid.plain, one.wanted.key.values()))[:80]) for one in written[:ROWS_NAMED])
        more = f" and {len(written) - ROWS_NAMED} more" if len(written) > ROWS_NAMED else ""
        name = code(".".join(column_path))
        there = f"numbers such as {code(brief(spread, 40))}"
        yield f"The column {name} has {there}; the bot writes the first one alone: {names}{more}."


def _stale_means(
    grid: Grid, after: Grid, slots: Sequence[Slot], key: Sequence[ColumnPath], known: Collection[ColumnPath]
) -> Iterator[str]:
    """Name the averages that the mapping does not write, in rows of which a number has changed."""
    changed = [row for row, slot in enumerate(slots) if isinstance(slot, Update)]
    for column_path in grid.column_paths:
        stale = [row for row in changed if number_in(after.cell(row, column_path)) is not None]
        if stale and column_path not in known and AVERAGE.match(column_path[-1]):
            rows = _named(after, stale, key)
            yield f"The bot does not write {code('.'.join(column_path))}; it may be out of date in {rows}."


def _unfilled(grid: Grid, after: Grid, slots: Sequence[Slot]) -> Iterator[str]:
    """Name the columns and nested cells of new rows for which neither the entry nor the mapping has a value."""
    objects = {column_path[:end] for column_path in grid.column_paths for end in range(1, len(column_path))}
    for row, new in enumerate(slots):
        if not isinstance(new, Insertion):
            continue
        filled = {column_path[:end] for column_path in new.cells for end in range(1, len(column_path) + 1)}
        empty: dict[ColumnPath, None] = {}
        for column_path in grid.column_paths:
            if column_path not in filled | objects and after.cell(row, column_path) in {ABSENT, None, ""}:
                first = next(end for end in range(1, len(column_path) + 1) if column_path[:end] not in filled)
                empty[column_path[:first]] = None  # an object of which no cell is filled is named as one
        if empty:
            names = ", ".join(code(".".join(path)) for path in list(empty)[:COLUMNS_NAMED])
            names += " and others" if len(empty) > COLUMNS_NAMED else ""
            name = code(" ".join(map(grid.plain, new.wanted.key.values()))[:80])
            yield f"Left empty in the new row {name}, for a person to fill: {names}."


WITHDRAWN = "no result file gives it any more; only people remove rows of this table"
UNKNOWN = "no result file gives it any more, and the bot has no record of its row"


@dataclass(frozen=True, slots=True)
class MappedRows:
    """A mapping and the leaderboard whose entries it maps.

    `others` are the entries of all rows that are known: where one claims a row of the table, no other model has it.
    """

    options: TableOptions
    leaderboard: Leaderboard
    others: Sequence[Entry] = ()

    def check(self) -> None:
        """Raise CallError where the mapping names a task that the leaderboard does not have."""
        known, board = {task.id for task in self.leaderboard.tasks}, self.leaderboard
        others = {"groups": set(board.groups), "columns": {one.id for one in board.columns}}
        for label, column in self.options.columns.items():
            names = (column.value or "", *(placeholders(column.template) if column.template else ()))
            for task_id, _ in filter(None, map(split_task, names)):
                if task_id not in known:
                    tasks = ", ".join(sorted(known))
                    raise CallError(f"the column {label!r} names the task {task_id!r}; the leaderboard has {tasks}")
            for kind, name, _ in filter(None, map(split_other, names)):
                if name not in others[kind]:
                    has = ", ".join(sorted(others[kind])) or "none"
                    raise CallError(f"the column {label!r} names {name!r} of {kind}; the leaderboard has {has}")

    @property
    def key(self) -> tuple[ColumnPath, ...]:
        """The columns that identify a row."""
        return tuple(self.options.column_path(label) for label in self.options.key)

    def row(self, change: RowChange, entry: Entry) -> WantedRow:
        """An entry as a row. Raises Unwritable if it does not fit the mapping."""
        return wanted_row(change.key, RowView(entry, self.leaderboard), self.options)

    def withdrawn(self, planner: Planner, changes: Sequence[RowChange]) -> Iterator[tuple[str, str]]:
        """The withdrawn rows that the table still has, each with the reason why it stays."""
        for change in (change for change in changes if change.entry is None):
            try:
                if change.published is None:
                    yield change.key, UNKNOWN
                elif len(planner.grid) and planner.find(self.row(change, change.published), None) is not None:
                    yield change.key, WITHDRAWN
            except Unwritable as error:
                yield change.key, str(error)

    def edit(self, grid: Grid, changes: Sequence[RowChange]) -> TableEdit:
        """The changes of the table; a row that cannot be written is refused, and does not stop the others."""
        by, may_update = self.options.sorted_by, self.options.on_existing == "update"
        place, names = None if by is None else self.options.column_path(by), self.names
        planner = Planner(grid, place, lambda: self.claims(changes), names, may_update=may_update)
        decided: list[Update | Insertion | None] = []
        refused: dict[str, str] = {}
        for change in changes:
            if change.entry is None:
                continue
            try:
                published = None if change.published is None else self.row(change, change.published)
                decided.append(planner.decide(self.row(change, change.entry), published))
            except Unwritable as error:
                refused[change.key] = str(error)
        updates = [each for each in decided if isinstance(each, Update)]
        new = planner.in_order([each for each in decided if isinstance(each, Insertion)])
        most = self.options.first or len(grid) + len(new)
        shown = [each for number, each in enumerate(new) if each.before + number < most]
        below = tuple(each.wanted.change_key for each in new if each not in shown)
        refused |= dict(self.withdrawn(planner, changes))
        return TableEdit(updates, shown, refused, planner.renamed, below)

    @property
    def names(self) -> set[str]:
        """The names that the settings give to rows of the table."""
        return {name for label in self.options.key for name in self.options.columns[label].names.values()}

    def claims(self, changes: Sequence[RowChange]) -> Iterator[WantedRow]:
        """The rows of all models that are known, but for those that do not fit the mapping."""
        entries = {one.key: one for one in self.others}
        for key, entry in (entries | {one.key: one.entry for one in changes if one.entry is not None}).items():
            with suppress(Unwritable):
                yield self.row(RowChange(key, entry), entry)

    def remarks(self, grid: Grid, after: Grid, edit: TableEdit) -> Iterator[str]:
        """Sentences about what a person should look at after the edit; without `sorted_by` the average ranks rows."""
        slots, columns = sequence(len(grid), edit), self.options.columns.items()
        average = next((label for label, column in columns if column.value == "average"), None)
        label = self.options.sorted_by or average
        if label is not None:
            by = self.options.column_path(label)
            yield from _places(grid, after, slots, self.key, by)
            for column_path in grid.column_paths:
                if len(column_path) == 1 and column_path[0].strip().casefold() in RANKS:
                    wrong = list(_wrong_ranks(grid, after, slots, column_path, by))
                    if wrong:
                        rows = _named(after, wrong, self.key)
                        yield f"The column {code(column_path[0])} is not renumbered. Out of date: {rows}."
        if self.options.first is not None and len(after) > self.options.first and edit.insertions:
            last = _named(after, range(self.options.first, len(after)), self.key)
            yield f"The table shows the first {self.options.first} rows. For a person to remove below these: {last}."
        for column_path in grid.column_paths:
            yield from _without_spread(grid, edit, column_path)
            yield from _bold(grid, after, self.key, column_path)
        known = [self.options.column_path(label) for label in self.options.columns]
        yield from _stale_means(grid, after, slots, self.key, known)
        yield from _unfilled(grid, after, slots)

    def doubled(self, grid: Grid) -> list[str]:
        """The keys that several rows share. Raises Unwritable if the table lacks a column of the mapping."""
        check_columns(grid, [self.options.column_path(label) for label in self.options.columns])
        return [" ".join(key) for key, rows in self.index(grid).exact.items() if len(rows) > 1]

    def index(self, grid: Grid) -> KeyIndex:
        """The rows of a table by their keys. Raises Unwritable if it lacks a key column."""
        check_columns(grid, self.key)
        return KeyIndex(grid, self.key)
