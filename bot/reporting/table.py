"""Write a table as aligned text or as Markdown; what strangers wrote in its cells is escaped."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from unicodedata import combining, east_asian_width

import msgspec

from bot.evaluation.rounding import half_up, significant
from bot.reporting.escape import code_in_table, visible

WIDTH = 100
GAP = 2
# A column of text is not made narrower than this; what does not fit then continues in a second table below.
NARROWEST = 16
MARKS = "_/-"
# Text that Markdown leaves as it is wherever it is in a line; anything else goes into a code span.
_WRITTEN = re.compile(r"[-+]?\d[\d,]*\.\d+")
_HARMLESS = re.compile(r"[A-Za-z0-9 ,.:;%'\"()▲▼·≠?-]*")

Cell = str | int | float | None


class Table(msgspec.Struct, frozen=True, gc=False):
    """Rows of cells under column titles; `caption` says what they are.

    The first `names` columns say what a row is about: where a table is too wide, each part of it begins with them.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    names: int = 1


def table_width() -> int:
    """The columns that a table may take: those of the terminal, or 100 if there is none."""
    return min(WIDTH, get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH


def cut_front(name: str, room: int) -> str:
    """A name within some columns, cut from the front, for the end tells models apart; twelve are always left."""
    room = max(12, room)
    return name if len(name) <= room else f"…{name[1 - room :]}"


def short(value: float) -> str:
    """Return a number for a person: whole numbers whole, others with four significant digits."""
    return str(half_up(value, 0)) if float(value).is_integer() else significant(value, 4)


def text_table(table: Table, width: int | None = None) -> str:
    """Return aligned columns under their titles, numbers to the right; the caption is above.

    No line is wider than `width`, by default that of the terminal and 100 at most: long texts continue below each
    other, and columns that do not fit continue in another table that begins with the columns of names.
    """
    width = width or table_width()
    right = [any(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    columns = [(title, *(_text(row[i]) for row in table.rows)) for i, title in enumerate(table.columns)]
    parts = _parts(columns, width, table.names)
    blocks = [_block([columns[i] for i in part], [right[i] for i in part], width) for part in parts]
    return "\n".join([*(_wrapped(table.caption, width) if table.caption else []), "\n\n".join(blocks)])


def _parts(columns: Sequence[Sequence[str]], width: int, names: int) -> Iterator[list[int]]:
    """Yield the columns of each block: those of names, and as many others as fit beside them at their narrowest."""
    least = [min(NARROWEST, max(map(_width, column))) for column in columns]
    part = list(range(names))
    for i in range(names, len(columns)):
        if len(part) > names and sum(least[j] + GAP for j in part) + least[i] > width:
            yield part
            part = list(range(names))
        part.append(i)
    yield part


def _block(columns: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> str:
    widths = _fitted([max(map(_width, column)) for column in columns], width)
    lines = [
        _aligned(line, widths, right)
        for row in zip(*columns, strict=True)
        for line in zip_longest(*map(_wrapped, row, widths), fillvalue="")
    ]
    return "\n".join(lines)


def _fitted(widths: list[int], width: int) -> list[int]:
    """Take from the widest column until all fit."""
    widths = list(widths)
    while sum(widths) + GAP * (len(widths) - 1) > width and max(widths) > 1:
        widest = max(range(len(widths)), key=widths.__getitem__)
        over = sum(widths) + GAP * (len(widths) - 1) - width
        second = max((one for i, one in enumerate(widths) if i != widest), default=1)
        widths[widest] = max(1, widths[widest] - over, min(second, widths[widest] - 1))
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width`: at a space, else after a mark of a name, else where it must be."""
    lines = []
    while _width(text) > width:
        end = _end(text, width)
        space = text.rfind(" ", 1, end + 1)
        mark = max(text.rfind(mark, 1, end) for mark in MARKS) + 1
        end = space if space > 0 and text[:space].strip() else mark or end
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _end(text: str, width: int) -> int:
    """Return how many letters fit, one at least."""
    taken = 0
    for i, letter in enumerate(text):
        taken += _width(letter)
        if taken > width:
            return max(1, i)
    return len(text)


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal: letters of East Asia take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = (
        f"{' ' * (width - _width(cell))}{cell}" if to_right else f"{cell}{' ' * (width - _width(cell))}"
        for cell, width, to_right in zip(row, widths, right, strict=True)
    )
    return (" " * GAP).join(cells).rstrip()


def markdown_table(table: Table) -> str:
    """Return a table of GitHub's Markdown; what could be markup is in code spans."""
    right = [any(_is_number(row[i]) for row in table.rows) for i in range(len(table.columns))]
    rule = ["---:" if to_right else "---" for to_right in right]
    rows = [table.columns, rule, *([_markdown(cell) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*([table.caption, ""] if table.caption else []), *lines])


def _is_number(cell: Cell) -> bool:
    """Tell whether a cell is a number, or one already written for people."""
    return isinstance(cell, (int, float)) or (isinstance(cell, str) and _WRITTEN.fullmatch(cell) is not None)


def _text(cell: Cell) -> str:
    if cell is None:
        return "-"
    return visible(cell) if isinstance(cell, str) else short(cell)


def _markdown(cell: Cell) -> str:
    is_plain = _is_number(cell) or cell is None or (_HARMLESS.fullmatch(str(cell)) and "www." not in str(cell))
    return _text(cell) if is_plain else code_in_table(str(cell))
