"""The interface of tables in text files: what the rows hold, and which characters an edit changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from bot.errors import Unwritable
from bot.evaluation.places import parse_fixed
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath, as_text

LARGEST = 20_000_000  # bytes of a table
MOST_COLUMNS, MOST_CELLS = 2_000, 2_000_000  # of a table, those of nested objects counted, too
POINTER = b"version https://git-lfs.github.com/spec/"
HEAD = 2_000  # characters at the top of a file
LINE_COMMENT = re.compile(r"^[ \t]*#(.*)$", re.MULTILINE)
LINE_END = re.compile(r"\r\n|\n|\r")
TRUTH = (
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "FALSE"),
    ("yes", "no"),
    ("Yes", "No"),
    ("1", "0"),
    ("✅", "❌"),
)


EMPHASIS = re.compile(r"([*_])[^*_].*\1|([*_])\2.*\2\2")
Names = tuple[str | int, ...]
Node = TypeVar("Node")


class Grid(Protocol):
    """The rows of a table, whatever it is kept in."""

    @property
    def column_paths(self) -> Collection[ColumnPath]:
        """The columns, and the ways to nested cells, that at least one row has."""
        ...

    def __len__(self) -> int: ...

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell as the file has it: a text where the format knows only texts."""
        ...

    def plain(self, text: str) -> str:
        """A cell's text without the markup of the format, as used to compare keys; most formats have none."""
        return text

    def unescaped(self, text: str) -> str:
        """A cell's text with its markup, but without character references: for a code span, which shows these as is."""
        return text

    def shown(self, text: str) -> str:
        """A cell's text without its markup, but for marks around the whole of it that every row of a column has."""
        return self.plain(text)

    def remarks(self) -> Iterable[str]:
        """The comments of people or programs about the table, in a format that has some."""
        return ()

    @property
    def may_be_short(self) -> bool:
        """Tell whether a row may have fewer cells than there are columns, as a line between rows has."""
        return False

    def held(self, column_path: ColumnPath, cell: Cell) -> Cell:
        """A cell as its column can hold it; most formats hold any."""
        return cell

    def spelled(self, column_path: ColumnPath, cell: Cell) -> str:
        """A cell as a text of its column: a boolean is written as others there are."""
        if not isinstance(cell, bool):
            return as_text(cell)
        column = (self.cell(row, column_path) for row in range(len(self)))
        there = {text for text in column if isinstance(text, str) and text}
        words = next((pair for pair in TRUTH if there and there <= set(pair)), TRUTH[0])
        return words[0] if cell else words[1]

    def nearest(self, before: int, column_paths: Collection[ColumnPath]) -> Iterator[int]:
        """The rows that have all these cells, beginning with those nearest to the row before a place."""
        near = sorted(range(len(self)), key=lambda row: abs(row - before + 1))
        return (row for row in near if all(self.cell(row, path) is not ABSENT for path in column_paths))


def is_title(grid: Grid, row: int) -> bool:
    """Tell whether a row has one filled cell at most, as a line between rows has."""
    return next(islice(_filled(grid, row), 1, None), None) is None


def is_heading(grid: Grid, row: int) -> bool:
    """Tell whether a row is a line of emphasised text between rows, such as `**o3**` above the rows of its sizes."""
    filled = list(islice(_filled(grid, row), 2))  # reading on would take as long as the table is wide, for each cell
    return len(filled) == 1 and isinstance(filled[0], str) and EMPHASIS.fullmatch(filled[0]) is not None


def _filled(grid: Grid, row: int) -> Iterator[Cell]:
    cells = (grid.cell(row, column_path) for column_path in grid.column_paths)
    return (cell for cell in cells if cell not in {ABSENT, None, ""})


def line_comments(text: str) -> list[str]:
    """The comments in lines of their own at the top of a file, where it says where it comes from."""
    return LINE_COMMENT.findall(text[:HEAD])


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace `text[start:end]` by `new`; positions are those before any splice."""

    start: int
    end: int
    new: str


class Sheet(Grid, Protocol):
    """A table in a text whose rows can be edited in place."""

    @property
    def text(self) -> str:
        """The whole file, without a byte order mark."""
        ...

    @property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where each row begins and ends."""
        ...

    def update(self, row: int, cells: Mapping[ColumnPath, Cell]) -> list[Splice]:
        """Write cells of an existing row. Raises Unwritable."""
        ...

    def insert(self, before: int, rows: Sequence[Mapping[ColumnPath, Cell]]) -> list[Splice]:
        """Insert rows before a row, `len(self)` for the end; the cells come in any order. Raises Unwritable."""
        ...

    def ordinary(self) -> list[Any]:
        """The rows as the format's usual reader returns them, for the proof. Raises Unwritable."""
        ...


def numbered(names: Sequence[str]) -> Mapping[ColumnPath, int]:
    """The number of each column by its name; a name that is there twice is left out."""
    check_columns_count(len(names))
    times = Counter(names)
    return {(name,): number for number, name in enumerate(names) if times[name] == 1}


def check_columns_count(count: int) -> None:
    """Raise Unwritable for more columns than any table of people has."""
    if count > MOST_COLUMNS:
        raise Unwritable(f"it has more than {MOST_COLUMNS:,} columns")


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all splices; those at one place keep their order."""
    parts, at = [], 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        parts += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join([*parts, text[at:]])


def joined(spans: Sequence[tuple[int, int]], before: int, new: Sequence[str], gap: str) -> Splice:
    """Insert new rows after the previous row, so that a comment above the next row stays with it, or at the top."""
    if before:
        at = spans[before - 1][1]
        return Splice(at, at, "".join(gap + row for row in new))
    return Splice(spans[0][0], spans[0][0], "".join(row + gap for row in new))


def lines(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each line without its line end; only line feeds and carriage returns end a line."""
    start = 0
    for found in LINE_END.finditer(text):
        yield start, found.start()
        start = found.end()
    if start < len(text):
        yield start, len(text)


def line_end(text: str) -> str:
    """How the first line of a text ends."""
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def follow(
    root: Node,
    place: str,
    children: Callable[[Node], Iterable[tuple[str | int, Node]]],
    text_of: Callable[[Node], str | None],
) -> tuple[Node, Names]:
    """What a place refers to, and the keys on the way to it; `children` gives the keys and values of a node.

    Raises Unwritable if it is no place, or refers to nothing, or to more than one value.
    """
    try:
        steps = parse_fixed(place)
    except ValueError as error:
        raise Unwritable(str(error)) from None
    here, names = root, []
    for step in steps:
        rows = [each for each in children(here) if isinstance(each[0], int) or not step.is_element]
        if step.selects is None:
            from_end = {str(each[0] - len(rows)): each for each in rows if isinstance(each[0], int)}
            found = [each for each in rows if str(each[0]) == step.key or each is from_end.get(step.key)]
        else:
            column, wanted = step.selects
            said = [{str(name): text_of(value) for name, value in children(row)}.get(column) for _, row in rows]
            found = [row for row, text in zip(rows, said, strict=True) if text == wanted]
        key, here = _only(found, place)
        names.append(key)
    return here, tuple(names)


def _only(found: list[tuple[str | int, Node]], place: str) -> tuple[str | int, Node]:
    if len(found) != 1:
        raise Unwritable(f"{place!r} names {len(found) or 'nothing'} in the file, and not one list of rows")
    return found[0]


def rows_at(value: Any, names: Names) -> list[Any]:
    """The rows at the end of a path in a value from the usual reader; rows of an object with their names.

    Raises Unwritable if there are no rows.
    """
    try:
        for name in names:
            value = value[name]
    except (KeyError, IndexError, TypeError):
        raise Unwritable("the format's usual reader does not see rows there") from None
    return list(value.items()) if isinstance(value, dict) else list(value)


def text_of(data: bytes) -> str:
    """The text of a file, without a byte order mark. Raises Unwritable if it is none, or if it is too large."""
    check_bytes(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unwritable("it is not UTF-8 text") from None


def check_bytes(data: bytes) -> None:
    """Raise Unwritable for a file that is too large, or that is only a pointer to one."""
    if data.startswith(POINTER):
        raise Unwritable("it is a pointer of Git LFS, and not the table itself")
    if len(data) > LARGEST:
        raise Unwritable(f"it has {len(data):,} bytes, and the limit is {LARGEST:,}")
