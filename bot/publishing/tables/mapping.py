"""The settings of a table: which value fills which column."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from bot.evaluation.places import parse_fixed
from bot.evaluation.toml_file import spelled
from bot.publishing.tables.values import OF, OWN, RIGHT, Rounding, Unit, check_accessor, placeholders, split_task

TableFormat = Literal["json", "jsonl", "csv", "yaml", "markdown", "parquet"]
SUFFIXES: dict[str, TableFormat] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
    ".parquet": "parquet",
}
NESTED = frozenset({"json", "jsonl", "yaml"})  # formats whose rows are objects
OMIT, NULL = "omit", "null"
NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*%?")
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ColumnName = Annotated[str, StringConstraints(max_length=200)]  # "" in files that pandas writes with the index
Decimals = Annotated[int, Field(ge=0, le=12, strict=True)]
Accessor = Annotated[str, AfterValidator(check_accessor)]
# Git takes no part of a path that is empty, a dot, two dots or its own folder.
INSIDE = spelled(
    r"|(?i:(?!/|.*//|(.*/)?(\.\.?|\.git)(/|$)))\S(.*\S)?",
    "write a path inside of the repository, such as data/board.csv",
)


class TargetOptions(BaseModel):
    """A table of the settings, in which unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _is_no_number(text: str) -> str:
    if NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is a number, which readers would take for a score")
    return text


def _is_one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds a line break, or a character that cannot be printed")
    return text


Line = Annotated[str, AfterValidator(_is_one_line)]


class MappedColumn(TargetOptions):
    """One column of a table, and what its cell holds.

    `name` is the column in the file where it is not the key of this mapping; a list of names leads to a nested cell.
    `value` is an accessor. `template` is a text in which `{accessor}` and `{value}` are replaced; without it a
    number is written as a number. With `of`, the value is a share of so many, and `{right}` the count. `rounding` says
    where a number in the middle goes: away from zero, to the even digit, or where its double lies. `missing` is what is
    written where the row has no such value: `omit` leaves the key out, `null` writes the format's null (an empty cell),
    anything else is written as it is. Without `missing` a row with a gap is refused. `default` is written into new rows
    only, and never changed later. `names` has the texts of rows whose cell is not what `value` or `template` gives, by
    the model's id or the row's key.
    """

    name: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    value: Accessor | None = None
    template: Line | None = None
    unit: Unit | None = None
    decimals: Decimals | None = None
    of: Annotated[int, Field(ge=1, le=10**9, strict=True)] | None = None
    rounding: Rounding = "half-up"
    missing: Annotated[Line, AfterValidator(_is_no_number)] | None = None
    default: bool | int | float | Line | None = None
    names: dict[Name, Line] = {}

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        filled = self.value is not None or self.template is not None
        if filled == (self.default is not None):
            raise ValueError("a column has a value, a template, or a default")
        names = placeholders(self.template) if self.template is not None else ()
        if OWN in names and self.value is None:
            raise ValueError("the template has {value}, so the column needs a value")
        if (self.of is not None) != bool({RIGHT, OF} & {*names}) or (self.of is not None and self.value is None):
            raise ValueError("of needs a value, and a template with {right} or {of}, which need of")
        if self.names and not filled:
            raise ValueError("names needs a value or a template, for the rows that it does not name")
        if self.rounding != "half-up" and self.decimals is None:
            raise ValueError("rounding needs decimals")
        if self.value is None and (self.unit is not None or self.decimals is not None):
            raise ValueError("unit and decimals need a value")
        return self


class TableOptions(TargetOptions):
    """`kind = "table"`: one row of a table that somebody keeps is edited in place.

    `path` is the file (for a table of several Parquet files a pattern such as `data/train-*.parquet`). `at` says where
    in it the rows are: a place (`leaderboards[name=Verified].results`), or the heading or the HTML comment above a
    Markdown table. `keyed` means that the rows are the members of an object, and the one column
    in `key` is the member's name. `key` are the columns that tell rows apart. `sorted_by` is the column by which a new
    row finds its place; without it the row goes to the end. With `first` the table shows so many rows, and a new row
    below these is left out. `decimal` is the decimal mark of a CSV file. `hand_edited`
    says that people edit the file, although it looks generated. `records` keeps the entry of each row that is written,
    and its declaration, beside the table. `without` are models whose results are read, and get no row here.
    """

    kind: Literal["table"] = "table"
    path: Annotated[Name, INSIDE]
    format: TableFormat | None = None
    at: str = ""
    keyed: StrictBool = False
    key: Annotated[tuple[ColumnName, ...], Field(min_length=1)]
    columns: Annotated[
        dict[
            ColumnName,
            Annotated[MappedColumn, BeforeValidator(lambda one: {"value": one} if isinstance(one, str) else one)],
        ],
        Field(min_length=1),
    ]
    on_existing: Literal["update", "refuse"] = "refuse"
    sorted_by: Name | None = None
    first: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    decimal: Literal[".", ","] = "."
    hand_edited: StrictBool = False
    records: StrictBool = False
    without: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _fits_the_format(self) -> Self:
        written = self.table_format
        nested = [label for label in self.columns if len(self.column_path(label)) > 1]
        if written not in NESTED and (self.keyed or nested or OMIT in (c.missing for c in self.columns.values())):
            raise ValueError(f"keyed, nested cells and missing = {OMIT!r} are for JSON and YAML, not for {written}")
        if self.keyed and (len(self.key) != 1 or written == "jsonl"):
            raise ValueError("keyed needs exactly one key column, in a JSON or YAML file")
        if written in {"json", "yaml"}:
            parse_fixed(self.at)
        if self.decimal != "." and written != "csv":
            raise ValueError(f"decimal is for CSV files; this is {written}")
        if written in {"csv", "jsonl", "parquet"} and self.at:
            raise ValueError(f"at is for JSON, YAML and Markdown; a {written} file is one table")
        return self

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        for label in (*self.key, *([self.sorted_by] if self.sorted_by else [])):
            if label not in self.columns:
                raise ValueError(f"the column {label!r} of key or sorted_by is not in columns")
        if self.first is not None and self.sorted_by is None:
            raise ValueError("first needs sorted_by, the column that says which rows are the first")
        if any(self.columns[label].default is not None for label in self.key):
            raise ValueError("a key column needs a value or a template; a default is the same in every row")
        if self.sorted_by and self.columns[self.sorted_by].default is not None:
            raise ValueError("sorted_by needs a column with a value")
        column_paths = [self.column_path(label) for label in self.columns]
        if len(set(column_paths)) < len(column_paths):
            raise ValueError("two columns of the mapping have the same name in the file")
        for label, column in self.columns.items():
            self._raw_is_raw(label, column)
        return self

    def _raw_is_raw(self, label: str, column: MappedColumn) -> None:
        """Refuse a normalized score in a column named Raw, and the reverse: nobody would notice."""
        field = (split_task(column.value or "") or ("", ""))[1]
        name = " ".join(self.column_path(label)).lower()
        if field == "score" and "raw" in re.findall(r"[a-z]+", name):
            raise ValueError(f"{label} is named raw, but {column.value} is the normalized score")
        if field == "raw" and any(" ".join(self.column_path(other)).lower() == f"{name} raw" for other in self.columns):
            raise ValueError(f"{label} has a column of raw values beside it, so it cannot hold {column.value}")

    @property
    def table_format(self) -> TableFormat:
        """The declared format, or else that of the file's name."""
        if self.format is not None:
            return self.format
        suffix = PurePosixPath(self.path).suffix.lower()
        if suffix not in SUFFIXES:
            raise ValueError(
                f"format: {self.path} does not say its format; write one of {', '.join(get_args(TableFormat))}"
            )
        return SUFFIXES[suffix]

    def column_path(self, label: str) -> tuple[str, ...]:
        """The way to a cell of this column inside a row: one name, or several for a nested cell."""
        name = self.columns[label].name
        return (label,) if name is None else (name,) if isinstance(name, str) else name
