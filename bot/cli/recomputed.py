"""Recompute the rows of a table from results under the drafts, and compare them cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import isfinite

import msgspec.structs

from bot.cli.table_file import TableFile
from bot.evaluation.draft.readings import TaskReading, by_leaf
from bot.evaluation.finding import counted, file_of, first_few, grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.reported import parse_reported, read_reported
from bot.evaluation.result import Result
from bot.evaluation.rounding import significant
from bot.evaluation.score import column_values
from bot.evaluation.verdict import Judgement, Row
from bot.publishing.entry import Entry, make_entries
from bot.publishing.layout import CellChange, Draft, RowChange
from bot.publishing.tables.find import FoundTable, ModelFiles
from bot.publishing.tables.fit import decimals_of, is_rounding, number_in
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.markdown_sheet import MarkdownSheet
from bot.publishing.tables.sheet import is_title
from bot.publishing.tables.table_layout import table_layout
from bot.publishing.tables.values import RowView, in_unit, split_task
from bot.reporting.escape import brief, visible

MOST_CELLS, MOST_NAMES = 40, 5  # cells that differ, and rows of a kind, that are listed
OF_NUMBERS = ("tasks.", "columns.", "average")  # how the values of columns of numbers begin
ALIKE = "whose digest is larger, for both have one date or none"
TELLING_DIGITS = 3  # that a number has which is no number of a file by chance


@dataclass(frozen=True)
class JudgedTable:
    """A table, the model files of its rows, and the verdict on all results under the drafted declaration."""

    table: TableFile
    found: FoundTable
    rows: Mapping[int, ModelFiles]
    judgement: Judgement
    names: Mapping[str, str]

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The entries by their keys."""
        return {entry.key: entry for entry in make_entries(self.judgement.rows, {}).entries}

    @cached_property
    def judged(self) -> dict[int, Row]:
        """The judged row of each row of the table, where the results make one."""
        by_path = {file.path: row for row in self.judgement.rows for file in row.files}
        found = {
            row: [by_path[file.path] for file in one.files if file.path in by_path] for row, one in self.rows.items()
        }
        return {row: judged[0] for row, judged in found.items() if judged}

    @cached_property
    def views(self) -> dict[int, RowView]:
        """What each row of the table can show, where the results make an entry of it."""
        rows = {row: entry for row, one in self.judged.items() if (entry := self.entries.get(one.key.text)) is not None}
        return {row: RowView(entry, self.judgement.leaderboard) for row, entry in rows.items()}

    @cached_property
    def new(self) -> list[Entry]:
        """The entries that no row of the table shows."""
        there = {row.key.text for row in self.judged.values()}
        return [entry for key, entry in self.entries.items() if key not in there]

    def named(self, one: ModelFiles) -> ModelFiles:
        """The files under the id that the declaration gives their model."""
        name = self.names.get(one.model.id)
        return one if name is None else replace(one, model=msgspec.structs.replace(one.model, id=name))


class Recomputed:
    """The rows of a table as the drafts compute them, compared cell by cell."""

    def __init__(self, board: JudgedTable, options: TableOptions, declared: Leaderboard, columns: int) -> None:
        """`columns` is how many columns of numbers the table has."""
        self.board, self.options, self.declared, self.columns = board, options, declared, columns
        self.entries = board.entries
        self.rows = {row.key.text: row for row in board.judged.values()}
        self.at = {row.key.text: number for number, row in board.judged.items()}
        self.draft = self._draft()

    def _draft(self) -> Draft:
        """What the bot would write of the rows that the table has."""
        changes = [RowChange(key, self.entries[key]) for key in self.rows if key in self.entries]
        free = self.options.model_copy(update={"hand_edited": True})
        files = {**self.board.table.around, self.options.path: self.board.table.data}
        layout = table_layout(free, self.declared)
        if self.options.table_format == "parquet":
            files = {path: data for path, data in files.items() if path in {self.board.table.path, "README.md"}}
        return layout.draft(changes, files)

    def lines(self) -> Iterator[str]:
        """The sentence, then each cell that differs, then the rows that were not compared."""
        complete = [key for key in self.rows if key in self.entries and self.entries[key].average is not None]
        compared = [key for key in complete if key not in self.draft.refused]
        cells = {key: list(self.draft.cells.get(key, ())) for key in compared}
        differing = {key: found for key, found in cells.items() if found}
        same = len(compared) - len(differing)
        written = [one for one in self.options.columns.values() if (one.value or "").startswith(OF_NUMBERS)]
        sentence = f"{same} of {counted(len(compared), 'row')} reproduced to the printed digit"
        sentence += f", in {len(written)} of {counted(max(self.columns, len(written)), 'column')}"
        if not compared:
            sentence = "no row could be recomputed completely, so nothing shows whether the mapping is right"
        sentence = f"{self._table_name()}: {sentence}"
        number = sum(map(len, differing.values()))
        verb = "differs" if number == 1 else "differ"
        cells_of_rows = f"{counted(number, 'cell')} of {counted(len(differing), 'row')}"
        yield f"{sentence}; {cells_of_rows} {verb}:" if differing else sentence
        listed = [(key, cell) for key, found in differing.items() for cell in found][:MOST_CELLS]
        for key, cell in listed:
            there = self.board.found.grid.plain(cell.before or "") or "nothing"
            values = f"there {visible(there)}, computed {visible(cell.after)}"
            yield f"  {self._name(key)}, {visible(cell.column)}: {values}: {self._why(key, cell)}"
        if number > len(listed):
            yield f"  and {counted(number - len(listed), 'more cell')}"
        yield from self._others()

    def _table_name(self) -> str:
        """The file, and which of its tables it is."""
        grid, at = self.board.found.grid, self.board.found.place.at
        if isinstance(grid, MarkdownSheet) and not at and grid.table.above:
            at = grid.table.above[-1]
        quoted = at if at.isdecimal() or at.startswith("/") else f'"{at}"'
        return f"{self.board.table.shown}, table {visible(quoted)}" if at else self.board.table.shown

    def _others(self) -> Iterator[str]:
        """The rows that were not compared, and why."""
        incomplete = [key for key in self.rows if key in self.entries and self.entries[key].average is None]
        for key in incomplete[:MOST_NAMES]:
            missing = first_few(self.entries[key].coverage.missing, MOST_NAMES)
            yield f"incomplete, not compared: {self._name(key)} lacks {visible(missing)}"
        if len(incomplete) > MOST_NAMES:
            yield f"incomplete, not compared: {counted(len(incomplete) - MOST_NAMES, 'more row')}"
        for key, why in [one for one in self.draft.refused.items() if one[0] not in incomplete][:MOST_NAMES]:
            yield f"not compared: {self._name(key)}: {visible(why)}"
        accepted = {row for row, one in self.board.judged.items() if one.key.text in self.entries}
        rejected = grouped((self._rejection(row), self._text(row)) for row in self.board.rows if row not in accepted)
        for why, names in list(rejected.items())[:MOST_NAMES]:
            yield f"their results are rejected: {first_few(names, MOST_NAMES)}: {why}"
        yield from self._chosen()
        grid = self.board.found.grid
        others = [row for row in range(len(grid)) if row not in self.board.rows and not is_title(grid, row)]
        without = [name for name in map(self._text, others) if name]
        if without:
            yield f"without a result: {first_few(without, MOST_NAMES)}"

    def _chosen(self) -> Iterator[str]:
        """The rows of which one file counts and others, of other settings, do not, and why it is that one."""
        dates = {verdict.path: verdict.date for verdict in self.board.judgement.verdicts}
        several = [(key, row) for key, row in self.rows.items() if row.left_out and key in self.entries]
        for key, row in several[:MOST_NAMES]:
            (other, unlike), ours = next(iter(row.left_out.items())), row.lead.path
            older = "which is newer" if dates[ours] > dates[other] else "which has more of the tasks"
            why = ALIKE if dates[ours] == dates[other] else older
            yield visible(f"of several files of {self._name(key)} counts {ours}, {why}; not {other} ({unlike})")
        in_other_files = any(file_of(path) != file_of(row.lead.path) for _, row in several for path in row.left_out)
        if in_other_files or any(row.repeats and self.draft.cells.get(key) for key, row in self.rows.items()):
            yield '  write those that the table does not show as "!PATH" into `paths` of bot.toml'

    def _rejection(self, row: int) -> str:
        """Why a row has no result that counts: the first error of its files, or of their row, with its rule."""
        files, judgement = {file.path for file in self.board.rows[row].files}, self.board.judgement
        found = [one for verdict in judgement.verdicts if verdict.path in files for one in verdict.findings]
        found += [one for judged in judgement.rows if judged.lead.path in files for one in judged.findings]
        return visible(next((f"{one.message} ({one.rule})" for one in found if one.is_error), "no file of it counts"))

    def _text(self, row: int) -> str:
        return visible(brief(self.board.found.text(row), 60))

    def _name(self, key: str) -> str:
        return self._text(self.at[key])

    def _why(self, key: str, cell: CellChange) -> str:
        """What may explain a cell: rounding, another reading of the files, or another file of the model."""
        label = next(one for one in self.options.columns if ".".join(self.options.column_path(one)) == cell.column)
        column = self.options.columns[label]
        there = number_in(cell.before or "")
        if column.value is None or there is None or not column.value.startswith(OF_NUMBERS):
            return "the results say otherwise"
        exact = in_unit(column.value, RowView(self.entries[key], self.declared), column.unit)
        if isinstance(exact, Decimal) and is_rounding(there, exact, decimals_of(there)):
            return f"rounding of {significant(float(exact))}"
        results = [file.result for file in self.rows[key].files if file.result is not None]
        other = self._other_file(key, column.value, there)
        if column.value.startswith("columns."):  # of one number each, which is read in one way
            beside = "" if other else _number_of(results, there)
            said = f"another file: {other}" if other else f"another number of its files: {beside}" if beside else ""
            return visible(said) or "the results say otherwise"
        task, _ = split_task(column.value) or ("average", "")
        reported = parse_reported(f"{there}{'%' if '%' in (cell.before or '') else ''}")
        named = {file.path: file.result for file in self.rows[key].files if file.result is not None}
        readings = read_reported(named, self.rows[key].scores, self.declared, reported, task)
        if readings.fitting:
            reading = readings.fitting[0]
            return visible(f"another reading: {'; '.join(reading.steps)}")
        if other:
            return f"another file: {visible(other)}"
        if beside := _number_of(results, there):
            return f"another number of its files: {visible(beside)}"
        nearest = next(iter(readings.whole or readings.nearest), None)
        return "no reading of its files gives it" + (
            f"; the nearest is {significant(nearest.value)}" if nearest else ""
        )

    def _other_file(self, key: str, accessor: str, there: Decimal) -> str:
        """A file of the same model whose own value is the one in the table, "" if there is none."""
        for verdict in self.board.judgement.verdicts:
            if verdict.result is not None and verdict.result.model.id == self.rows[key].model.id:
                value = self._value(accessor, verdict.result)
                scaled = [Decimal(repr(value)) * scale for scale in (1, 100)] if value is not None else []
                if any(is_rounding(there, one, decimals_of(there)) for one in scaled):
                    return verdict.path
        return ""

    def _value(self, accessor: str, result: Result) -> float | None:
        """The value of a task or column in one file alone, None if it has none."""
        if (parts := split_task(accessor)) is not None:
            task = next(one for one in self.declared.tasks if one.id == parts[0])
            return TaskReading(task, parts[1]).value(by_leaf([result]))
        columns = {f"columns.{one.id}.value": one.value for one in column_values(self.declared, {"/0": result})}
        return columns.get(accessor)


def _number_of(results: Sequence[Result], there: Decimal) -> str:
    """The only metric of a subtask that is this number, as a fraction or in percent; "" for none or several."""
    found = {
        f"{metric} of {leaf}"
        for result in results
        for leaf, one in result.leaves.items()
        for metric, value in one.numbers.items()
        if isinstance(value, float) and isfinite(value)
        for scale in (1, 100)
        if is_rounding(there, Decimal(repr(value)) * scale, decimals_of(there))
    }
    return found.pop() if len(found) == 1 and len(there.as_tuple().digits) >= TELLING_DIGITS else ""
