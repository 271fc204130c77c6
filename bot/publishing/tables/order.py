"""What a table tells of a column of numbers: whether more or less of it is better."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from bot.evaluation.draft.columns import DraftColumn
from bot.evaluation.draft.scales import is_effort, is_less_better, is_more_better
from bot.evaluation.draft.tasks import UNNAMED, names_of
from bot.evaluation.metric_kinds import kind_of
from bot.publishing.tables.edit import order_of
from bot.publishing.tables.find import NumberColumn
from bot.publishing.tables.markdown_sheet import MarkdownSheet, is_bold
from bot.publishing.tables.sheet import Grid

Better = Literal["less", "more"]
FEWEST = 4  # different numbers whose order is no chance
LONGEST_TEXT = 2_000  # characters above a table that may speak of it
SAYS_LESS = re.compile(r"(?i)\b(lower|less|smaller|fewer) is better\b")
SAYS_MORE = re.compile(r"(?i)\b(higher|more|larger|greater|bigger) is better\b")


def directed(column: DraftColumn, shown: NumberColumn, columns: Sequence[NumberColumn], grid: Grid) -> DraftColumn:
    """The column of a board's own files with what is better, as names and table say, or with a TODO."""
    if not column.is_own:
        return column
    metric = column.leaves[0].metrics[0].name
    named, table = _by_name(column), dict(_by_table(shown, columns, grid))
    arrow: Better | None = "less" if "↓" in column.title else "more" if "↑" in column.title else None
    seen: set[Better] = {*table, *([named] if named else [])}
    better: Better | None = arrow or named or (next(iter(seen)) if len(seen) == 1 else None)
    todo = ""
    if not arrow and len(seen) > 1:
        said = [f"its name says that {named} is better"] if named else []
        said += [f"{why} that {one} is" for one, why in table.items() if one != named]
        todo = f"higher_is_better = {'false' if better == 'less' else 'true'}? {'; '.join(said)}"
    elif not seen and not arrow and (metric == UNNAMED or is_effort(*names_of(column))):
        todo = "higher_is_better = false, if less is better: neither its name nor the table tells"
    return replace(column, better=better or "", todo=(todo,) if todo else ())


def _by_name(column: DraftColumn) -> Better | None:
    metric = column.leaves[0].metrics[0].name
    names = names_of(column)
    if is_less_better(*names):
        return "less"
    kind = kind_of(metric) if metric != UNNAMED else None
    if kind is not None:
        return "more" if kind.higher_is_better else "less"
    return "more" if is_more_better(*names) else None


def _by_table(shown: NumberColumn, columns: Sequence[NumberColumn], grid: Grid) -> Iterator[tuple[Better, str]]:
    """What is better by the text above, the cells in bold if they are the best, and the order of the rows, with why.

    Rows in ascending order may go from small models to large ones: this counts where they are so by an error, too.
    """
    above = grid.above.rpartition("\n#")[2][-LONGEST_TEXT:] if isinstance(grid, MarkdownSheet) else ""
    said: dict[Better, bool] = {"less": bool(SAYS_LESS.search(above)), "more": bool(SAYS_MORE.search(above))}
    if said["less"] != said["more"]:
        yield "less" if said["less"] else "more", "the text above the table says"
    rows, numbers = [*shown.numbers], sorted(shown.numbers.values())
    others = [one for one in columns if one is not shown]
    bold = {row for row in rows if _is_bold(grid, row, shown)}
    bold -= {row for row in bold if others and all(_is_bold(grid, row, one) for one in others)}  # a row that stands out
    best = sorted(shown.numbers[row] for row in bold)
    least, most = numbers[: len(best)], numbers[len(numbers) - len(best) :]
    if least != most and best in (least, most):
        yield "less" if best == least else "more", "its bold cells say"
    order = order_of(grid, shown.column_path) if len(set(numbers)) >= FEWEST else ""
    if order == "descending":
        yield "more", "the order of the rows says"
    if order == "ascending" and any(
        is_less_better(one.label) and order_of(grid, one.column_path) == order for one in columns
    ):
        yield "less", "the order of the rows says"


def _is_bold(grid: Grid, row: int, column: NumberColumn) -> bool:
    cell = grid.cell(row, column.column_path)
    return isinstance(cell, str) and is_bold(cell.strip(), "**")
