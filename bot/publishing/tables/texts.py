"""The text of a request that changes rows of a table: each cell before and after, and open tasks for people."""

from __future__ import annotations

from collections.abc import Sequence

from bot.evaluation.finding import counted
from bot.publishing.entry import Entry
from bot.publishing.layout import CellChange, Draft
from bot.publishing.publication import Marker, PostText
from bot.publishing.texts import FOOT, fitted
from bot.reporting.escape import brief, code, code_in_table

CELLS = 500  # of all rows that a text shows
REMARKS = 50


def table_text(draft: Draft, remarks: Sequence[str], mark: Marker) -> PostText:
    """The text for the rows of a draft; `remarks` are Markdown and stand first."""
    lines = [_line(key, cell) for key, cells in sorted(draft.cells.items()) for cell in cells]
    more = [f"… and {len(lines) - CELLS} more cells."] if len(lines) > CELLS else []
    rows = counted(len(draft.cells), "row")
    said = [*remarks, *(f"- {remark}" for remark in draft.remarks[:REMARKS])]
    if len(draft.remarks) > REMARKS:
        said.append(f"- and {len(draft.remarks) - REMARKS} more remarks")
    parts = [f"{rows} of {code(mark.leaderboard)}; all other rows keep every byte.", ""]
    parts += ["| Row | Cell | Before | After |", "| --- | --- | --- | --- |", *lines[:CELLS], "", *more]
    parts += [*(["**A person has to check:**", "", *said, ""] if said else []), FOOT]
    return fitted(f"Update {rows} of {mark.leaderboard}", "\n".join(parts), mark)


def contested_remark(entry: Entry, first: str) -> str:
    """The remark about a row that another folder submitted first."""
    name = code(entry.model.id)
    return f"- {name} was first submitted in {code(first)}, from other files than those of this change"


def _line(key: str, cell: CellChange) -> str:
    before = "new" if cell.before is None else code_in_table(brief(cell.before))
    shown = code_in_table(brief(cell.after))
    return f"| {code_in_table(key)} | {code_in_table(brief(cell.column))} | {before} | {shown} |"
