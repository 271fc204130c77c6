"""Rows of a table in a Markdown file; a Markdown parser finds the tables and their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath
from bot.publishing.tables.sheet import Grid, Splice, joined, line_end, lines, numbered

BAR = re.compile(r"(?:\\.|[^|\\])++|\\$")
LINK = re.compile(r"(?<!\\)!?\[((?:\\.|[^\[\]\\])*+)\]\((?:\\.|[^()\\])*+\)")
TAG = re.compile(r"<[^<>]*>")
BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
BARE_BAR = re.compile(r"((?:^|[^\\])(?:\\\\)*)\|")
HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
ANY_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
CODE = "`"
BOLD = ("**", "__")
STEP = " > "  # between a heading and one below it
MOST_NAMED, MOST_DIGITS = 8, 6  # tables that a message names, digits of a table's number
LARGEST, MOST_TABLES = 2_000_000, 200  # characters and tables of a file: its parser takes a second for 300 KB
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table of a Markdown file: the numbers of its lines from 0, and the cells as the parser reads them.

    `above` are the headings that it stands below, the outermost first, and `comment` is the HTML comment between the
    last of them and the table. `section` is the line of whichever of these comes last.
    """

    header: int
    rows: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    above: tuple[str, ...] = ()
    comment: str = ""
    section: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The names of its columns."""
        return frozenset(map(plain, self.cells[0]))


@dataclass(frozen=True)
class MarkdownSheet(Grid):
    """The rows of one table: that which `at` names, or else the only one with these columns.

    `at` is a heading above the table, headings from the outer to the inner one as in `Set A > eps 8`, the HTML comment
    above it, or the number of the table in its file, counted from 1.
    """

    text: str
    at: str = ""
    names: frozenset[str] = frozenset()

    @cached_property
    def lines(self) -> Sequence[Span]:
        """Where each line begins and ends."""
        return list(lines(self.text))

    @cached_property
    def table(self) -> MarkdownTable:
        """The table that is meant. Raises Unwritable if there is none, or more than one."""
        tables = tables_of(self.text)
        found = tables_at(tables, self.at, self.names)
        if len(found) != 1:
            raise Unwritable(self._which(tables, found))
        return found[0]

    def _which(self, tables: Sequence[MarkdownTable], found: Sequence[MarkdownTable]) -> str:
        """Why no table is meant, and how to name each of several."""
        columns = f"the columns {', '.join(sorted(self.names))}"
        where = f"at {self.at!r} with {columns}" if self.at else f"with {columns}"
        if found:
            return f"there is more than one table {where}{said_tables(found, tables)}"
        return f"there is no table {where}{said_tables(tables, tables) if self.at else ''}"

    @cached_property
    def places(self) -> Sequence[Sequence[Span]]:
        """The positions of the cells of the header and of each row, padding included."""
        found = []
        for number, read in zip((self.table.header, *self.table.rows), self.table.cells, strict=True):
            start, end = self.lines[number]
            cells = list(_cells(self.text, start, end))
            seen = tuple(self.text[slice(*cell)].strip().replace("\\|", "|") for cell in cells)
            if seen[: len(read)] != read[: len(seen)] or any(read[len(seen) :]):
                raise Unwritable(f"line {number + 1} is a row that Markdown readers split in different ways")
            found.append(cells)
        return found

    @cached_property
    def column_paths(self) -> Mapping[ColumnPath, int]:
        """The number of each column by its plain name."""
        return numbered([plain(cell) for cell in self.table.cells[0]])

    @property
    def above(self) -> str:
        """The text of the file down to the table's header."""
        return self.text[: self.lines[self.table.header][1]]

    @cached_property
    def spans(self) -> Sequence[Span]:
        """Where each row's line begins and ends."""
        return [self.lines[number] for number in self.table.rows]

    def __len__(self) -> int:
        return len(self.table.rows)

    def plain(self, text: str) -> str:
        """A cell's text as a reader sees it."""
        return plain(text)

    def unescaped(self, text: str) -> str:
        """A cell's text with its markup, and letters in the place of character references."""
        return unescape(text)

    def shown(self, text: str) -> str:
        """A cell's text without markup, but for the code marks around the whole of it."""
        return f"{CODE}{plain(text)}{CODE}" if is_bold(text.strip("*"), CODE) else plain(text)

    @property
    def may_be_short(self) -> bool:
        """Always: readers fill such a row with empty cells."""
        return True

    def remarks(self) -> Iterator[str]:
        """The HTML comments between the heading above the table and the table."""
        above = ANY_HEADING.split(self.above)[-1]
        yield from (part.partition("-->")[0] for part in above.split("<!--")[1:])

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell as it is written, bold included; ABSENT where the row is too short."""
        cells, number = self.places[row + 1], self.column_paths[column_path]
        return self.text[slice(*cells[number])].strip() if number < len(cells) else ABSENT

    def update(self, row: int, cells: Mapping[ColumnPath, Cell]) -> list[Splice]:
        """Replace cells; bold cells stay bold, and padded columns keep their width."""
        places, splices = self.places[row + 1], []
        for column_path, cell in cells.items():
            number = self.column_paths[column_path]
            if number >= len(places):
                raise Unwritable(f"the row has no cell for {column_path[0]}")
            old = self.text[slice(*places[number])]
            new = self._written(column_path, cell)
            mark = next((mark for mark in BOLD if is_bold(old.strip(), mark) and not is_bold(new, mark)), "")
            marked = f"{mark}{new}{mark}"
            splices.append(Splice(*places[number], _in_place(self._padded(number, marked, old), old)))
        return splices

    def insert(self, before: int, rows: Sequence[Mapping[ColumnPath, Cell]]) -> list[Splice]:
        """Insert new rows, with the outer bars and the padding of the row above."""
        new = [self._row(cells, min(before, len(self))) for cells in rows]
        rule = self.lines[self.table.header + 1]
        return [joined([rule, *self.spans], before + 1, new, line_end(self.text))]

    def _row(self, cells: Mapping[ColumnPath, Cell], model: int) -> str:
        """A new line in the layout of another one, the header where there is no row."""
        places = self.places[model]
        start, end = self.lines[self.table.rows[model - 1] if model else self.table.header]
        names = [(plain(name),) for name in self.table.cells[0]]
        parts = []
        for number, column_path in enumerate(names):
            old = self.text[slice(*places[number])] if number < len(places) else "   "
            parts.append(self._padded(number, self._written(column_path, cells.get(column_path)), old))
        return self.text[start : places[0][0]] + "|".join(parts) + self.text[places[-1][1] : end]

    def _padded(self, number: int, text: str, old: str) -> str:
        """The text with padding: to the width of the column where all cells of the column have the same width."""
        widths = {cells[number][1] - cells[number][0] for cells in self.places if number < len(cells)}
        lead, trail = (" ", " ") if not old.strip() else (old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :])
        room = min(widths) - 2
        if len(widths) > 1 or room < len(text) or not (lead and trail):
            return f"{lead[:1]}{text}{trail[:1]}"
        rule = self.text[slice(*self.lines[self.table.header + 1])].strip().strip("|").split("|")[number].strip()
        is_right = rule.endswith(":") and not rule.startswith(":")
        return f" {text.rjust(room) if is_right else text.ljust(room)} "

    def _written(self, column_path: ColumnPath, cell: Cell) -> str:
        return BARE_BAR.sub(r"\1\\|", self.spelled(column_path, cell))

    def ordinary(self) -> list[Any]:
        """The rows as the Markdown parser reads them."""
        return [list(row) for row in self.table.cells[1:]]


def _in_place(new: str, old: str) -> str:
    """A new cell at the place of the old one, padded to its width if that was padded."""
    is_padded = len(old) > len(old.strip()) + 2 > 2
    indent = old[: len(old) - len(old.lstrip())]
    return f"{indent}{new.strip()} ".ljust(len(old)) if is_padded and len(new) != len(old) else new


def tables_at(tables: Sequence[MarkdownTable], at: str, names: frozenset[str]) -> list[MarkdownTable]:
    """The tables with these columns that `at` may name: those directly below a heading before those of its parts."""
    below = [table for table in tables if not at or is_below(table, at)]
    if at.isdecimal() and not below:
        below = list(tables[int(at) - 1 : int(at)]) if len(at) < MOST_DIGITS and int(at) else []
    found = [table for table in below if names <= table.names] or (below if at else [])  # which then lacks a column
    least = min((len(table.above) for table in found), default=0)
    found = [table for table in found if len(table.above) == least] if at else found
    return found[:1] if at and len({table.section for table in found}) == 1 else found  # the first one below it


def is_below(table: MarkdownTable, at: str) -> bool:
    """Tell whether a table stands below a heading, below headings as in `A > B`, or below a comment."""
    title = _title(at)
    if title in table.above or (table.comment and table.comment == at.strip()):
        return True
    rest = iter(table.above)
    return STEP in title and all(_title(part) in rest for part in title.split(STEP))


def named(table: MarkdownTable, tables: Sequence[MarkdownTable]) -> str:
    """How `at` names a table: by no more headings than needed, by its number where headings do not tell it apart."""
    for count in range(1, len(table.above) + 1):
        at = STEP.join(table.above[-count:])
        if tables_at(tables, at, table.names) == [table]:
            return at
    return str(tables.index(table) + 1)


def said_tables(found: Sequence[MarkdownTable], tables: Sequence[MarkdownTable]) -> str:
    """The names of tables, each as `at` takes it, behind a colon."""
    names = [repr(named(table, tables)) for table in found[:MOST_NAMED]]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f": {', '.join(names)}{more}" if names else ""


def _title(line: str) -> str:
    """The text of a heading's line, without its marks; `#` may be a letter of it, as in `C#`."""
    found = HEADING.fullmatch(line.strip())
    if found is None:
        return line.strip()
    title = found[1].rstrip("#")  # a pattern for closing marks takes quadratic time on a line of spaces
    return title.rstrip() if title.endswith((" ", "\t")) else found[1]


@lru_cache(maxsize=1)
def tables_of(text: str) -> Sequence[MarkdownTable]:
    """The tables of a file, for all who look at it one after the other. Raises Unwritable."""
    if len(text) > LARGEST:
        raise Unwritable(f"it has {len(text):,} characters; of a Markdown file {LARGEST:,} are read")
    # Nobody asks for what is inside of a line, and that takes quadratic time on brackets.
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(text)
    tables = list(_tables(tokens))
    if len(tables) > MOST_TABLES:
        raise Unwritable(f"it has more than {MOST_TABLES} tables")
    return tables


def _tables(tokens: Sequence[Token]) -> Iterator[MarkdownTable]:
    rows: list[tuple[int, list[str]]] = []
    above: dict[int, str] = {}
    comment, level, section = "", 0, 0
    for token in tokens:
        if token.type in {"heading_open", "html_block"} and token.map:
            section = token.map[0]
        if token.type == "heading_open":
            level, comment = int(token.tag[1:]), ""
            above = {depth: title for depth, title in above.items() if depth < level} | {level: ""}
        elif token.type == "html_block":
            comment = token.content.strip()
        elif token.type == "tr_open" and token.map:
            rows.append((token.map[0], []))
        elif token.type == "inline" and rows:
            rows[-1][1].append(token.content)
        elif token.type == "inline" and level and not above[level]:
            above[level] = " ".join(token.content.split())
        elif token.type == "heading_close":
            level = 0
        elif token.type == "table_close":
            (header, _), *body = rows
            titles = tuple(title for _, title in sorted(above.items()) if title)
            cells = tuple(tuple(cells) for _, cells in rows)
            yield MarkdownTable(header, tuple(line for line, _ in body), cells, titles, comment, section)
            rows = []


def _cells(text: str, start: int, end: int) -> Iterator[Span]:
    """The positions of the cells between the bars of one line; an escaped bar does not separate cells."""
    line = text[start:end]
    first = start + len(line) - len(line.lstrip()) + line.lstrip().startswith("|")
    last = start + len(line.rstrip())
    at = first
    while at <= last:
        found = BAR.match(text, at, last)
        stop = found.end() if found else at
        if stop < last or stop > at or at == first:
            yield at, stop
        at = stop + 1


def is_bold(cell: Cell, mark: str) -> bool:
    """Tell whether a text is between two marks such as `**`."""
    return isinstance(cell, str) and len(cell) > 2 * len(mark) and cell.startswith(mark) and cell.endswith(mark)


def plain(text: str) -> str:
    """A cell's text as a reader sees it: links, tags, emphasis, code marks and escapes taken away, in one line."""
    text = " ".join(map(str.strip, BREAK.split(LINK.sub(r"\1", LINK.sub(r"\1", text)))))
    text = unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", TAG.sub("", text).replace("**", "").replace("`", "")))
    return text.strip().strip("*").strip()
