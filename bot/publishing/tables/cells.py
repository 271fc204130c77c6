"""Fill the cells of one row by a mapping: numbers in the declared unit, texts escaped for the format."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from html import escape as html
from string import Formatter

from bot.errors import Unwritable
from bot.publishing.tables.mapping import NULL, OMIT, MappedColumn, TableFormat, TableOptions
from bot.publishing.tables.values import (
    OF,
    OWN,
    RIGHT,
    RowView,
    Scalar,
    Unit,
    count_of,
    in_unit,
    lookup,
    placeholders,
    rounded,
    unit_of,
)
from bot.reporting.escape import brief, no_formula, plain_in_link, plain_markup

NAMES = {"model.id", "model.org", "model.name"}
LONGEST_TEXT_OF_ENTRY = 200  # characters of one text of an entry; names on the Hub have at most 96
ColumnPath = tuple[
    str, ...
]  # the names that lead to a cell inside of a row: one for a column, several for a nested cell


class Absent(Enum):
    """Marks a cell that does not exist, as opposed to an empty cell."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
Cell = Scalar | Absent


@dataclass(frozen=True, slots=True)
class Number:
    """The one number of a cell: as it is, how many decimals the mapping asks for, and as the bot would write it."""

    exact: Decimal
    decimals: int | None
    written: Decimal


@dataclass(frozen=True, slots=True)
class WantedRow:
    """The wanted content of a row: key cells, all mapped cells, and the defaults of a new row.

    `units` gives the unit of each cell that holds a number with one, `numbers` the number of each cell that is one
    number, whatever stands around it. `names` are the key cells that name the model, `given` those whose text is one of
    the settings' own.
    """

    change_key: str
    key: Mapping[ColumnPath, str]
    cells: Mapping[ColumnPath, Cell]
    defaults: Mapping[ColumnPath, Cell] = field(default_factory=dict)
    units: Mapping[ColumnPath, Unit] = field(default_factory=dict)
    numbers: Mapping[ColumnPath, Number] = field(default_factory=dict)
    names: Collection[ColumnPath] = ()
    given: Collection[ColumnPath] = ()


def wanted_row(change_key: str, row: RowView, options: TableOptions) -> WantedRow:
    """Fill the columns of a mapping. Raises Unwritable if a value is missing or does not fit."""
    cells: dict[ColumnPath, Cell] = {}
    defaults: dict[ColumnPath, Cell] = {}
    units: dict[ColumnPath, Unit] = {}
    numbers: dict[ColumnPath, Number] = {}
    for label, column in options.columns.items():
        column_path = options.column_path(label)
        if column.default is not None:
            fixed = column.default
            defaults[column_path] = fixed if isinstance(fixed, bool | str) else Decimal(repr(fixed))
            continue
        cells[column_path] = _cell(label, column, row, options.table_format)
        unit = column.unit or unit_of(column.value or "", row)
        if unit is not None and cells[column_path] not in {None, ABSENT, "", column.missing}:
            units[column_path] = unit
        number = _number(column, row)
        if number is not None and cells[column_path] is not ABSENT:
            numbers[column_path] = number
    key = {options.column_path(label): _key_text(label, cells[options.column_path(label)]) for label in options.key}
    by_path = {options.column_path(label): options.columns[label] for label in options.key}
    names = [path for path, one in by_path.items() if NAMES & {one.value, *placeholders(one.template or "")}]
    given = [path for path, one in by_path.items() if one.names.keys() & {row.entry.key, row.entry.model.id}]
    return WantedRow(change_key, key, cells, defaults, units, numbers, names, given)


def _number(column: MappedColumn, row: RowView) -> Number | None:
    """The number of a cell that holds one and no other."""
    is_alone = column.template is None or {*placeholders(column.template)} - {RIGHT, OF} == {OWN}
    if column.value is None or not is_alone or column.names.keys() & {row.entry.key, row.entry.model.id}:
        return None
    exact = in_unit(column.value, row, column.unit)
    if not isinstance(exact, Decimal):
        return None
    return Number(exact, column.decimals, rounded(exact, column.decimals, column.rounding))


def _key_text(label: str, cell: Cell) -> str:
    if cell in {None, ABSENT, ""}:
        raise Unwritable(f"the row has no {label}, which the table needs to tell rows apart")
    return as_text(cell)


def _cell(label: str, column: MappedColumn, row: RowView, written: TableFormat) -> Cell:
    """One cell; `missing` says how a gap is written."""
    named = column.names.get(row.entry.key, column.names.get(row.entry.model.id))
    if named is not None:
        return _formula_free(named, written)
    value = None if column.value is None else in_unit(column.value, row, column.unit)
    own: dict[str, Scalar] = {OWN: value}
    if isinstance(value, Decimal):
        own[OWN] = rounded(value, column.decimals, column.rounding)
    if column.of is not None:
        unit = column.unit or unit_of(column.value or "", row)
        own |= {OF: Decimal(column.of), RIGHT: None}
        own |= {RIGHT: count_of(value, unit, column.of)} if isinstance(value, Decimal) else {}
    needed = (OWN,) if column.template is None else placeholders(column.template)
    gaps = [name for name in needed if (own[name] if name in own else lookup(name, row)) in {None, ""}]
    if gaps:
        return _gap(f"{label} ({column.value if gaps[0] in own else gaps[0]})", column, written)
    if column.template is not None:
        return _formula_free(_filled(column.template, own, row, written), written)
    value = own[OWN]
    return _formula_free(_text(value, written, ""), written) if isinstance(value, str) else value


def _filled(template: str, own: Mapping[str, Scalar], row: RowView, written: TableFormat) -> str:
    """A template with its values, those of the column itself by their names."""
    parts = []
    for literal, name, _, _ in Formatter().parse(template):
        found = None if name is None else own[name] if name in own else lookup(name, row)
        parts += [literal, _text(found, written, template) if isinstance(found, str) else as_text(found)]
    return "".join(parts)


def _text(text: str, written: TableFormat, template: str) -> str:
    """A text of an entry, escaped for its format. Raises Unwritable if it must not go into a table."""
    is_markdown, is_html = written == "markdown" or "](" in template, "<" in template
    has_tags = bool(set("<>") & set(text)) and not is_markdown and not is_html
    if len(text) > LONGEST_TEXT_OF_ENTRY or not text.isprintable() or has_tags:
        raise Unwritable(
            f"{brief(text, 60)!r} cannot be written into a cell: it is too long, not printable, or has < or >"
        )
    if is_markdown:
        return plain_in_link(text) if "]" in template else plain_markup(text)
    return html(text) if is_html else text


def _formula_free(text: str, written: TableFormat) -> str:
    return no_formula(text) if written == "csv" else text


def _gap(label: str, column: MappedColumn, written: TableFormat) -> Cell:
    if column.missing is None:
        raise Unwritable(
            f"the row is incomplete: it has no value for {label}; measure it, or give the column a `missing` for gaps"
        )
    if column.missing == OMIT:
        return ABSENT
    if column.missing == NULL:
        return "" if written in {"csv", "markdown"} else None
    return column.missing


def as_text(cell: Cell) -> str:
    """A cell as a person reads it; numbers have no exponent, unless the file has one that is out of range."""
    if isinstance(cell, Decimal):
        return f"{cell:f}" if is_in_range(cell) else str(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell if isinstance(cell, str) else ""


def is_in_range(number: Decimal) -> bool:
    """Tell whether a number has few enough digits to be written out: a file may have 1e999999999."""
    return abs(number.adjusted()) < LONGEST_TEXT_OF_ENTRY * 2


def short(number: Decimal) -> str:
    """A number without trailing zeros, for formats that have a number type; `34.00` becomes `34.0`."""
    text = f"{number:f}"
    if "." not in text:
        return text
    text = text.rstrip("0")
    return f"{text}0" if text.endswith(".") else text
