"""Rows in a YAML file: the items of a block list, or the members of a block mapping.

A file is never dumped again: a scalar is replaced at its position, and a new row consists of new lines, with the
indentation and the order of the keys of a neighbouring row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import yaml

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath, short
from bot.publishing.tables.sheet import (
    Grid,
    Names,
    Splice,
    check_columns_count,
    follow,
    joined,
    line_comments,
    line_end,
    rows_at,
)
from bot.publishing.yaml_text import compose, double_quoted, end_of, entries, is_flow, is_safe, load, single_quoted

Node = yaml.Node
DEEPEST = 4  # names on the way to a cell


PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class YamlRow:
    """A row: its mapping, the node of its name in a keyed table, and where its lines begin and end."""

    node: Node
    name: Node | None
    start: int
    end: int


@dataclass(frozen=True)
class YamlSheet(Grid):
    """The rows in a YAML text; `key` is the column that holds the member names of a keyed table."""

    text: str
    place: str = ""
    key: str | None = None

    def remarks(self) -> list[str]:
        """The comments at the top of the file."""
        return line_comments(self.text)

    @cached_property
    def resolved(self) -> tuple[Node, Names]:
        """The list, or the mapping, that holds the rows, and the way to it."""
        here, names = follow(compose(self.text), self.place, _children, lambda node: str(node.value))
        wanted = yaml.SequenceNode if self.key is None else yaml.MappingNode
        if not isinstance(here, wanted) or is_flow(here) or not here.value:
            raise Unwritable(f"there is no block of rows at {self.place or 'the top'}")
        return here, names

    @cached_property
    def rows(self) -> Sequence[YamlRow]:
        """The rows, first to last."""
        found: list[YamlRow] = []
        for value in self.resolved[0].value:
            name, node = (None, value) if self.key is None else value
            start = self.text.rfind("\n", 0, (name or node).start_mark.index) + 1
            end = end_of(self.text, node)
            if not isinstance(node, yaml.MappingNode) or (found and start < found[-1].end):
                raise Unwritable(f"row {len(found) + 1} is not a mapping of its own")
            found.append(YamlRow(node, name, start, self._line_end(end)))
        return found

    def _line_end(self, at: int) -> int:
        ends = [end for end in (self.text.find("\r", at), self.text.find("\n", at)) if end >= 0]
        return min(ends, default=len(self.text))

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where the lines of each row begin and end."""
        return [(row.start, row.end) for row in self.rows]

    @cached_property
    def column_paths(self) -> Collection[ColumnPath]:
        """All keys of all rows, and the keys of mappings in them."""
        found: dict[ColumnPath, None] = {} if self.key is None else {(self.key,): None}
        for row in self.rows:
            _collect(row.node, (), found)
        return found.keys()

    def __len__(self) -> int:
        return len(self.rows)

    def cell(self, row: int, column_path: ColumnPath) -> Cell:
        """A cell, ABSENT where the row has no such key."""
        name = self.rows[row].name
        if name is not None and column_path == (self.key,):
            return str(name.value)
        node = self._node(row, column_path)
        return ABSENT if node is None else value_of(node)

    def _node(self, row: int, column_path: ColumnPath) -> Node | None:
        here: Node | None = self.rows[row].node
        for name in column_path:
            here = dict(entries(here)).get(name)  # of a key that is there twice, readers take the last
        return here

    def update(self, row: int, cells: Mapping[ColumnPath, Cell]) -> list[Splice]:
        """Replace scalars at their positions; a key that the row does not have is added at its end."""
        return [
            self._write(row, column_path, cell) for column_path, cell in cells.items() if column_path != (self.key,)
        ]

    def _write(self, row: int, column_path: ColumnPath, cell: Cell) -> Splice:
        node = self._node(row, column_path)
        if node is None:
            return self._add(row, column_path, cell)
        *inside, last = column_path
        if sum(name == last for name, _ in entries(self._node(row, tuple(inside)))) > 1:
            raise Unwritable(f"the row has the key {last!r} twice")
        start, end, place = node.start_mark.index, node.end_mark.index, self.rows[row]
        is_plain = isinstance(node, yaml.ScalarNode) and node.style in {None, "", "'", '"'}
        if (
            not is_plain
            or not place.start <= start <= end <= place.end
            or self.text[start : start + 1] in {"&", "!", "*"}
        ):
            raise Unwritable(f"{'.'.join(column_path)} is not a plain value in this row")
        return Splice(start, end, (" " if start == end else "") + scalar(cell, node))

    def _add(self, row: int, column_path: ColumnPath, cell: Cell) -> Splice:
        inside = self._node(row, column_path[:-1])
        if not isinstance(inside, yaml.MappingNode) or not inside.value:
            raise Unwritable(f"the row has no object for {'.'.join(column_path)}")
        others = (self._node(number, column_path) for number in range(len(self)))
        model = next((node for node in others if isinstance(node, yaml.ScalarNode)), None)  # decides on the quotes
        new = f"{self._key(column_path, row)}: {scalar(cell, model)}"
        last = end_of(self.text, inside)
        if is_flow(inside):
            last = end_of(self.text, inside.value[-1][1])
            return Splice(last, last, f", {new}")
        last = self._line_end(last)
        return Splice(last, last, line_end(self.text) + " " * inside.start_mark.column + new)

    def insert(self, before: int, rows: Sequence[Mapping[ColumnPath, Cell]]) -> list[Splice]:
        """Insert new rows in the layout of a neighbouring row, with the blank lines that all rows have between."""
        new = [self._block(self._model(before, cells), cells) for cells in rows]
        end = line_end(self.text)
        gap = end * (1 + self._blank_lines())
        return [joined(self.spans, before, new, gap)]

    def _blank_lines(self) -> int:
        """How many blank lines follow every row, before the next row or a comment."""
        ends = [self.text[end : other[0]] for (_, end), other in zip(self.spans, self.spans[1:], strict=False)]
        blank = [len(gap) - len(gap.lstrip()) for gap in ends]
        return min((gap[:size].count("\n") - 1 for gap, size in zip(ends, blank, strict=True)), default=0)

    def _model(self, before: int, cells: Mapping[ColumnPath, Cell]) -> int:
        """The row to copy the layout of: the nearest one in block style that has all the keys."""
        for row in self.nearest(before, cells.keys()):
            if not is_flow(self.rows[row].node):
                return row
        raise Unwritable("no row in block style has all these keys, so there is no layout to copy")

    def _block(self, row: int, cells: Mapping[ColumnPath, Cell]) -> str:
        """A new row in the layout of another; cells without a value are null, or an empty list instead of a list."""
        place, node = self.rows[row], self.rows[row].node
        body = self._members(row, node, (), cells)
        first = " " * node.start_mark.column
        lead = self.text[place.start : node.start_mark.index]
        if place.name is None:
            if lead.strip() != "-":
                raise Unwritable("the neighbouring row does not begin on the line of its dash")
            return lead + body.removeprefix(first)
        name = scalar(cells[self.key or "",], place.name)
        return f"{lead[: place.name.start_mark.column]}{name}:{line_end(self.text)}{body}"

    def _members(self, row: int, node: Node, column_path: ColumnPath, cells: Mapping[ColumnPath, Cell]) -> str:
        indent, parts = " " * node.start_mark.column, []
        for name, value in dict(entries(node)).items():
            inner = (*column_path, name)
            if cells.get(inner) is ABSENT:
                continue
            head = f"{indent}{self._key(inner, row)}:"
            if inner in cells:
                parts.append(f"{head} {scalar(cells[inner], value)}")
            elif not any(key[: len(inner)] == inner for key in cells):
                parts.append(f"{head} {'[]' if isinstance(value, yaml.SequenceNode) else 'null'}")
            elif is_flow(value):
                parts.append(f"{head} {{{self._flow(row, value, inner, cells)}}}")
            else:
                parts.append(f"{head}{line_end(self.text)}{self._members(row, value, inner, cells)}")
        return line_end(self.text).join(parts)

    def _flow(self, row: int, node: Node, column_path: ColumnPath, cells: Mapping[ColumnPath, Cell]) -> str:
        models = {(*column_path, name): value for name, value in entries(node)}
        said = {inner: cells.get(inner) for inner in models if cells.get(inner) is not ABSENT}
        return ", ".join(f"{self._key(inner, row)}: {scalar(cell, models[inner])}" for inner, cell in said.items())

    def _key(self, column_path: ColumnPath, row: int) -> str:
        """A key as the row, or else another one, writes it."""
        for number in (row, *range(len(self))):
            node = self._node(number, column_path[:-1]) or self.rows[row].node
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key.value == column_path[-1]:
                    return self.text[key.start_mark.index : key.end_mark.index]
        return scalar(column_path[-1], None)

    def ordinary(self) -> list[Any]:
        """The rows as PyYAML gives them."""
        return rows_at(load(self.text), self.resolved[1])


def _children(node: Node) -> Iterator[tuple[str | int, Node]]:
    if isinstance(node, yaml.SequenceNode):
        yield from enumerate(node.value)
    yield from entries(node)


def _collect(node: Node, column_path: ColumnPath, found: dict[ColumnPath, None]) -> None:
    for name, value in entries(node):
        inner = (*column_path, name)
        found[inner] = None
        check_columns_count(len(found))
        if len(inner) < DEEPEST:
            _collect(value, inner, found)


def value_of(node: yaml.Node) -> Cell:
    """A scalar as a cell: a number where both YAML dialects read the same decimal; a collection becomes its type."""
    if not isinstance(node, yaml.ScalarNode):
        return f"a {node.tag.removeprefix(TAG)}"
    if node.style in {"'", '"', "|", ">"}:
        return str(node.value)
    kind = node.tag.removeprefix(TAG)
    if kind == "null":
        return None
    if kind == "bool" and node.value.lower() in {"true", "false"}:
        return str(node.value).lower() == "true"
    return Decimal(node.value) if PLAIN_NUMBER.fullmatch(node.value) else str(node.value)


def scalar(cell: Cell, model: yaml.Node | None) -> str:
    """A cell as a YAML scalar: quoted like the model scalar, plain where the model is plain and the text is safe."""
    if cell is ABSENT:
        raise Unwritable("a cell that is there cannot be left out again")
    if cell is None:
        return "null"
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, Decimal):
        return short(cell)
    style = model.style or "" if isinstance(model, yaml.ScalarNode) else "'"
    is_date = model is not None and DATE.fullmatch(cell) and DATE.fullmatch(str(model.value))
    if not style and (is_date or is_safe(cell)):
        return cell
    return double_quoted(cell) if style == '"' else single_quoted(cell)
