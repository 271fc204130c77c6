"""A table in, the same as aligned text or as Markdown out; what strangers wrote in its cells is escaped."""

from __future__ import annotations

import re

from bot.render.chart import Cell, Table, short
from bot.render.escape import code_in_table, visible

# Text that Markdown leaves as it is wherever it stands in a line; anything else goes into a code span.
_WRITTEN = re.compile(r"[-+]?\d[\d,]*\.\d+")
_HARMLESS = re.compile(r"[A-Za-z0-9 ,.:;%'\"()-]*")


def text_table(table: Table) -> str:
    """Return aligned columns under their titles, numbers to the right; the caption stands above."""
    rows = [table.columns, *(tuple(map(_text, row)) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [any(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    lines = [_aligned(row, widths, right) for row in rows]
    return "\n".join([*([table.caption] if table.caption else []), *lines])


def _aligned(row: tuple[str, ...], widths: list[int], right: list[bool]) -> str:
    cells = zip(row, widths, right, strict=True)
    return "  ".join(cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in cells).rstrip()


def markdown_table(table: Table) -> str:
    """Return a table of GitHub's Markdown; what could be markup stands in code spans."""
    right = [any(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    rule = ["---:" if to_right else "---" for to_right in right]
    rows = [table.columns, rule, *([_markdown(cell) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*([table.caption, ""] if table.caption else []), *lines])


def _is_number(cell: Cell) -> bool:
    """Whether a cell is a number, or one already written for people."""
    return isinstance(cell, (int, float)) or (isinstance(cell, str) and _WRITTEN.fullmatch(cell) is not None)


def _text(cell: Cell) -> str:
    if cell is None:
        return "-"
    return visible(cell) if isinstance(cell, str) else short(cell)


def _markdown(cell: Cell) -> str:
    is_plain = not isinstance(cell, str) or (_HARMLESS.fullmatch(cell) and "www." not in cell)
    return _text(cell) if is_plain else code_in_table(str(cell))
