"""Find the rows of a table in a file, the column that names models, and the columns that hold numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from math import ceil
from typing import Any

from bot.audits.score_table import MOST_HEADING
from bot.errors import Unwritable
from bot.evaluation.draft.readings import ByLeaf, TaskReading, by_leaf
from bot.evaluation.finding import first_few, grouped
from bot.evaluation.identity import without_provider
from bot.evaluation.places import key_text
from bot.evaluation.result import Model
from bot.evaluation.submission import Parsed
from bot.publishing.tables.cells import ABSENT, ColumnPath, as_text
from bot.publishing.tables.csv_sheet import COMMA, SEPARATORS, CsvSheet
from bot.publishing.tables.fit import (
    NUMBER,
    UNSEEN,
    around_number,
    counts_in,
    number_in,
    share_with_counts,
    without_spread,
)
from bot.publishing.tables.json_sheet import JsonLinesSheet, JsonSheet
from bot.publishing.tables.json_sheet import load as load_json
from bot.publishing.tables.mapping import OMIT, TableFormat
from bot.publishing.tables.markdown_sheet import MarkdownSheet, named, plain, tables_at, tables_of
from bot.publishing.tables.parquet import ParquetGrid, read_parquet
from bot.publishing.tables.sheet import MOST_CELLS, Grid, check_bytes, is_heading, is_title, text_of
from bot.publishing.tables.values import COUNTED
from bot.publishing.tables.yaml_sheet import YamlSheet
from bot.publishing.yaml_text import load as load_yaml
from bot.reporting.escape import brief

MOST_TABLES, DEEPEST, FEW_ITEMS = 60, 6, 40
PRINTED_SO = 0.9  # the share of cells that says how many decimals a column has; zeros at the end may be left out
FEW_DECIMALS, MOST_DECIMALS = 6, 12  # more decimals, or as many digits as a double holds, are full doubles
THIRD = Decimal("0.333333333333333")
MIXED = "its cells hold more than one number, and the bot writes one"
LINKED = "its numbers are links, which the bot does not write"
ON_THE_HUB = re.compile(r"(?:huggingface|\bhf)\.co/([\w.-]+/[\w.-]+)")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
REMARK = re.compile(r"\([^()]*\)$")  # such as (5-shot) behind a name
FOOTNOTE = re.compile(r"\[\^[^\[\]]*\]")
LETTERS = re.compile(r"[^a-z0-9+]+")
LABELS = ("model", "name", "Model", "display_name", "row")  # what the names of a keyed table may be called
SELECTORS = ("name", "id", "title", "key", "split")
GAPS = frozenset({"", "-", "--", "–", "—", "n/a", "na", "nan", "none", "null", "?", "??", "x", "tbd", "tba", "/"})
FAILURES = frozenset({"err", "error", "fail", "failed", "oom", "timeout", "dnf", "skipped"})  # gaps that say why


@dataclass(frozen=True, eq=False)
class ModelFiles:
    """The results of one model, revision, precision and chat template, newest first."""

    model: Model
    files: tuple[Parsed, ...]
    _known: dict[int, float | None] = field(default_factory=dict, repr=False)
    _of_each: dict[int, list[float]] = field(default_factory=dict, repr=False)

    def value(self, reading: TaskReading) -> float | None:
        """What a reading gives for the files, computed once; None where it gives nothing."""
        if id(reading) not in self._known:
            self._known[id(reading)] = reading.value(self._by_leaf)
        return self._known[id(reading)]

    def values(self, reading: TaskReading) -> list[float]:
        """What a reading gives for each of the files alone, computed once."""
        if id(reading) not in self._of_each:
            each = (reading.value(one) for one in self._leaves_of_each)
            self._of_each[id(reading)] = [value for value in each if value is not None]
        return self._of_each[id(reading)]

    @cached_property
    def _leaves_of_each(self) -> list[ByLeaf]:
        return [by_leaf([file.result]) for file in self.files if file.result is not None]

    @cached_property
    def _by_leaf(self) -> ByLeaf:
        return by_leaf([file.result for file in self.files if file.result is not None])

    @cached_property
    def forms(self) -> frozenset[str]:
        """The ways to write the model's name, without spaces and marks; the parts of a path from its end."""
        parts = [part for part in self.model.id.rstrip("/").split("/") if part]
        names = {"/".join(parts[-count:]) for count in (1, 2, 3)} if parts else set()
        names |= {self.model.id, without_provider(self.model.id)}
        return frozenset(form for name in names if len(form := form_of(name)) > 1)


def form_of(text: str) -> str:
    """A name without capitals, spaces and marks."""
    return LETTERS.sub("", text.lower())


@dataclass(frozen=True)
class TablePlace:
    """The rows of one table in a file: `at`, `key` (the label of a keyed table) and `decimal` as in a mapping."""

    grid: Grid
    at: str = ""
    key: str | None = None
    decimal: str = "."


@dataclass(frozen=True)
class FoundTable:
    """The table of a board: the column of names, and for each row the model files that its name may mean."""

    place: TablePlace
    name: ColumnPath
    rows: Mapping[int, tuple[ModelFiles, ...]]
    links: Mapping[int, str] = field(default_factory=dict)

    @property
    def grid(self) -> Grid:
        """The rows."""
        return self.place.grid

    def text(self, row: int) -> str:
        """The name in a row as people read it, without links and other HTML."""
        return plain(self.grid.plain(as_text(self.grid.cell(row, self.name))))


def find_tables(data: bytes, written: TableFormat, models: Sequence[ModelFiles], at: str = "") -> list[FoundTable]:
    """The tables of a file whose rows name models, those of most models first; `at` as in a mapping takes that one.

    Raises Unwritable if no row names a model.
    """
    found: list[FoundTable] = []
    seen: list[str] = []
    by_form = grouped((form, one) for one in models for form in one.forms)
    for place in _places(data, written, at):
        columns = list(place.grid.column_paths if place.key is None else [(place.key,)])
        found.append(max((_named(place, column_path, by_form) for column_path in columns), key=_rank))
        seen = seen or [as_text(place.grid.cell(row, columns[0])) for row in range(min(2, len(place.grid)))]
    if not found:
        others = ", ".join(dict.fromkeys(place.at for place in _places(data, written, "") if place.at)) if at else ""
        where = f"at {at} in it" if at else "in it; one of HTML is not read" if written == "markdown" else "in it"
        raise Unwritable(f"no table was found {where}{others and f'; it has {others}'}")
    named = sorted((one for one in found if one.rows), key=_rank, reverse=True)
    if not named:
        names = first_few(sorted({one.model.id or "a model without a name" for one in models}), 5)
        there = ", ".join(text[:40] for text in seen[:2] if text)
        said = f"no row names a model of the results ({names}); its first cells are {there or 'empty'}"
        tasks = {form_of(key) for one in models for file in one.files if file.result for key in file.result.leaves}
        what = "these are tasks, and a row is of a model; " if tasks & set(map(form_of, seen)) else ""
        raise Unwritable(f"{said}: {what}name another table of the file with --at, or the models with --model-name")
    return named


def names_in(data: bytes, written: TableFormat, at: str = "") -> Callable[[str], bool]:
    """What tells whether a text is what a cell of a table with numbers says, with or without organization and provider.

    Raises Unwritable if the file cannot be read.
    """
    said: set[str] = set()
    for place in _places(data, written, at):
        cells = [place.grid.cell(row, path) for row in range(len(place.grid)) for path in place.grid.column_paths]
        if any(number_in(cell) is not None for cell in cells):
            for cell in cells:
                if isinstance(cell, str) and not NUMBER.fullmatch(cell.strip()):
                    text = plain(place.grid.plain(cell))
                    said |= {form_of(text), form_of(text.rpartition("/")[2]), form_of(REMARK.sub("", text))}
                    said |= {form_of(link[1].rpartition("/")[2]) for link in [ON_THE_HUB.search(cell)] if link}
    said = {one for one in said if len(one) > 1}

    def is_said(text: str) -> bool:
        short = text.rstrip("/").rpartition("/")[2].rpartition("__")[2]
        return any(form_of(one) in said for one in (text, short, without_provider(text)))

    return is_said


def _rank(found: FoundTable) -> tuple[int, float, int, int]:
    """The sort key of tables: more models, all texts different, more rows, more cells with nothing but the name.

    A column of base models names each model many times.
    """
    grid = found.grid
    texts = {row: grid.plain(as_text(grid.cell(row, found.name))) for row in range(len(grid))}
    models = {id(one) for named in found.rows.values() for one in named}
    exact = sum(texts[row] in {one[0].model.id, one[0].model.id.rpartition("/")[2]} for row, one in found.rows.items())
    return len(models), len(set(texts.values())) / max(1, len(texts)), len(found.rows), exact


def _named(place: TablePlace, column_path: ColumnPath, by_form: Mapping[str, Sequence[ModelFiles]]) -> FoundTable:
    grid = place.grid
    rows: dict[int, tuple[ModelFiles, ...]] = {}
    links: dict[int, str] = {}
    by_whole: set[ModelFiles] = set()
    by_part: set[int] = set()
    for row in range(len(grid)):
        cell = grid.cell(row, column_path)
        if not isinstance(cell, str) or NUMBER.fullmatch(cell.strip()) or is_heading(grid, row):
            continue
        cell = FOOTNOTE.sub("", cell).strip()
        linked = ON_THE_HUB.search(cell) or (_linked_beside(grid, row) if place.key is not None else None)
        shown = [grid.plain(cell), plain(cell), *([linked[1]] if linked else [])]
        served = [without_provider(text) for text in shown]  # whose last part alone may be the model of another service
        whole = [*shown, *served]
        for texts in (shown, [REMARK.sub("", plain(cell)).rstrip()]):  # a name with its remark may be another model's
            parts = [text.rpartition("/")[2] for text in texts if HUB_ID.fullmatch(text)]
            names = [*texts, *served, *parts]
            found = dict.fromkeys(
                one for name in names for one in by_form.get(form_of(name), ()) if _may_be(one, [*whole, *texts])
            )
            if found:
                break
        if found:
            forms = set(map(form_of, whole))
            exact = [one for one in found if form_of(one.model.id) in forms]
            by_whole |= {*exact}
            by_part |= {row} if parts and not exact else set()
            rows[row] = tuple(found)
            links |= {row: linked[1]} if linked else {}
    for row in by_part:  # another row has the whole name of such a model
        rows[row] = tuple(one for one in rows[row] if one not in by_whole)
    return FoundTable(place, column_path, {row: found for row, found in rows.items() if found}, links)


def is_remarked(table: FoundTable, row: int, one: ModelFiles) -> bool:
    """Tell whether a row names a model only without the remark behind its name."""
    text = FOOTNOTE.sub("", table.text(row)).strip()
    return row not in table.links and REMARK.search(text) is not None and form_of(text) not in one.forms


def _linked_beside(grid: Grid, row: int) -> re.Match[str] | None:
    """The model in the first link of another cell: the name itself is often a display name."""
    cells = (grid.cell(row, column_path) for column_path in grid.column_paths)
    return next((link for cell in cells if isinstance(cell, str) and (link := ON_THE_HUB.search(cell))), None)


def _may_be(one: ModelFiles, texts: Sequence[str]) -> bool:
    """Tell whether a cell of whole ids can mean this model: one of another organization is another model."""
    ids = [text for text in texts if HUB_ID.fullmatch(text)]
    return not ids or not HUB_ID.fullmatch(one.model.id) or form_of(one.model.id) in map(form_of, ids)


@lru_cache(maxsize=4)  # each way to read the results is held against the same tables
def _places(data: bytes, written: TableFormat, at: str) -> tuple[TablePlace, ...]:
    """Every table that a file may hold. Raises Unwritable if the file cannot be read."""
    if written == "parquet":
        check_bytes(data)
        return (TablePlace(read_parquet(data)),)
    text = text_of(data)
    makers: dict[str, Callable[[], Iterable[TablePlace]]] = {
        "csv": lambda: _csv(text),
        "markdown": lambda: _markdown(text, at),
        "json": lambda: _nested(text, load_json(text).value, JsonSheet),
        "yaml": lambda: _nested(text, load_yaml(text), YamlSheet),
        "jsonl": lambda: [TablePlace(JsonLinesSheet(text))],
    }
    found, cells = list[TablePlace](), 0
    for place in makers[written]():
        try:
            size = len(place.grid) * len(place.grid.column_paths)
        except Unwritable:
            continue
        if size and len(found) < MOST_TABLES and (written == "markdown" or at.removeprefix("/") in {"", place.at}):
            found.append(place)
            cells += size
            if cells > MOST_CELLS:
                raise Unwritable(f"it has more than {MOST_CELLS:,} cells")
    return tuple(found)


def _csv(text: str) -> Iterator[TablePlace]:
    """The file under the separator that gives all lines the same number of cells, and most of them."""

    def fitting(mark: str) -> tuple[float, int]:
        try:
            sizes = Counter(len(record) for record in CsvSheet(text, mark).records)
        except Unwritable:
            return 0.0, 0
        width, lines = max(sizes.items(), key=lambda each: (each[1], each[0]))
        return (lines / sizes.total() if width > 1 else 0.0), width

    mark = max(SEPARATORS, key=fitting)
    plain_sheet = CsvSheet(text, mark)
    cells = [field.text.strip() for record in plain_sheet.records[1:] for field in record]
    commas = sum(COMMA.match(cell) is not None for cell in cells) if mark != "," else 0
    points = sum("." in cell and number_in(cell) is not None for cell in cells)
    yield TablePlace(
        CsvSheet(text, mark, ",") if commas > points else plain_sheet, decimal="," if commas > points else "."
    )


def _markdown(text: str, at: str) -> Iterator[TablePlace]:
    """Each table, or those that `at` names, each by the headings above it, by its columns alone, or by its number."""
    tables = tables_of(text)
    for table in tables:
        if table in tables_at(tables, at, table.names):
            name = at if at and tables_at(tables, at, table.names) == [table] else named(table, tables)
            if not at and name.isdecimal() and sum(table.names <= one.names for one in tables) == 1:
                name = ""
            yield TablePlace(MarkdownSheet(text, name, table.names), name)


def _nested(text: str, value: Any, sheet: type[JsonSheet | YamlSheet]) -> Iterator[TablePlace]:
    for at, keys in _places_of_rows(value):
        key = None if keys is None else next((one for one in LABELS if one not in keys), "model id")
        yield TablePlace(sheet(text, at, key), at, key)


def _places_of_rows(value: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, Collection[str] | None]]:
    """Where lists of objects are, and objects of objects: a place, and the keys of the inner objects or None."""
    if depth > DEEPEST:
        return
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield place, None
        if len(value) <= FEW_ITEMS:
            key = next((key for key in SELECTORS if _selects(value, key)), None)
            for number, item in enumerate(value):
                step = f"[{key}={item[key]}]" if key else f"[{number}]"
                yield from _places_of_rows(item, place + step, depth + 1)
    elif isinstance(value, dict) and value:
        if all(isinstance(item, dict) for item in value.values()):
            yield place, {str(key) for item in value.values() for key in item}
        for name, item in list(value.items())[:FEW_ITEMS] if len(value) <= FEW_ITEMS else ():
            if isinstance(item, dict | list) and str(name):
                step = key_text(str(name))
                yield from _places_of_rows(item, f"{place}.{step}" if place else step, depth + 1)


def _selects(items: Sequence[Mapping[str, Any]], key: str) -> bool:
    """Tell whether a key has a different plain text in each item."""
    texts = [item.get(key) for item in items]
    return all(isinstance(text, str) and text and not set('[]="') & set(text) for text in texts) and len(
        set(texts)
    ) == len(texts)


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers as it is printed.

    `numbers` are those of rows that have one; where counts stand beside each, they are shares of `of`, and so they are
    where it `has_counts_alone`. `decimals` is None where the file has full doubles; some cells have more,
    `most_decimals`, as `92.86` beside `100.0`.
    `is_percent` says that its values reach above 1, or have a percent sign.
    `template` is what stands around the number, None where the cell is a number alone. `gaps` are the texts of rows
    without a number. `fault` says why the bot cannot write such cells, "" if it can.
    """

    column_path: ColumnPath
    numbers: Mapping[int, Decimal]
    decimals: int | None
    is_percent: bool
    template: str | None
    gaps: tuple[str, ...]
    fault: str = ""
    of: int | None = None
    most_decimals: int | None = None
    has_counts_alone: bool = False

    @property
    def label(self) -> str:
        """Its name for people."""
        return ".".join(self.column_path)

    @property
    def is_named_raw(self) -> bool:
        """Tell whether its heading says that it shows raw values."""
        return "raw" in re.findall(r"[a-z]+", self.label.lower())

    @property
    def unit(self) -> float:
        """One step of the last printed digit, or one of all; of full doubles a millionth of a millionth."""
        if self.of and self.has_counts_alone:
            return 1 / self.of
        return 1e-9 if self.decimals is None else 10.0**-self.decimals

    @property
    def top(self) -> float:
        """The most that a number of the column can be."""
        return 100.0 if self.is_percent else 1.0

    @property
    def missing(self) -> str:
        """How a missing value is written, "" if gaps differ, or say what only a person knows of a new row."""
        return self.gaps[0] if len(self.gaps) == 1 and _gap_word(self.gaps[0]) not in FAILURES else ""

    @cached_property
    def _doubles(self) -> Mapping[int, float]:
        return {row: float(number) for row, number in self.numbers.items()}

    def fits(self, row: int, value: float, *, is_fraction: bool = True, unit: float | None = None) -> bool:
        """Tell whether a value, 0 to 1 if it is a fraction, is the number of a row to its printed digits, or a step."""
        shown = value * 100 if is_fraction and self.is_percent else value
        there = self._doubles[row]
        if self.has_counts_alone:
            unit = 2 * COUNTED * self.unit  # files round shares
        return abs(shown - there) <= (unit or self.unit) / 2 + 1e-9 * max(1.0, abs(there))


def number_columns(table: FoundTable) -> list[NumberColumn]:
    """The columns whose filled cells are numbers in the rows that have a name: a second line of headings has none."""
    grid = table.grid
    column_paths = [one for one in grid.column_paths if one != table.name and sum(map(len, one)) <= MOST_HEADING]
    rows = [row for row in range(len(grid)) if as_text(grid.cell(row, table.name)).strip()]
    return [found for column_path in column_paths if (found := _number_column(grid, rows, column_path)) is not None]


def _number_column(grid: Grid, rows: Sequence[int], column_path: ColumnPath) -> NumberColumn | None:
    cells = {row: grid.cell(row, column_path) for row in rows}
    if grid.may_be_short:  # a row that is too short has no gap: it is a line between rows
        cells = {row: cell for row, cell in cells.items() if cell is not ABSENT}
    read = {row: number for row, cell in cells.items() if (number := number_in(cell)) is not None}
    counts = {} if read else {row: found for row, cell in cells.items() if (found := counts_in(cell)) is not None}
    gaps_at = [row for row in cells if row not in read and row not in counts]
    rest = [cells[row] for row in [row for row in gaps_at if not is_title(grid, row)] or gaps_at]
    if not (read or counts) or any(isinstance(cell, bool) for cell in rest):
        return None
    gaps = tuple(
        dict.fromkeys(
            "omit" if cell is ABSENT else "null" if cell is None or not str(cell).strip() else str(cell)
            for cell in rest
        )
    )
    odd = [gap for gap in gaps if _gap_word(gap) not in GAPS | FAILURES | {OMIT}]
    if odd and len(read) * 2 < len(cells):
        return None
    if counts:
        return None if odd else _column_of_counts(column_path, counts, gaps)
    places = sorted(max(0, -int(number.as_tuple().exponent)) for number in read.values())
    digits = places[ceil(len(places) * PRINTED_SO) - 1]
    texts = [without_spread(cell.strip(UNSEEN)) for row in read if isinstance(cell := cells[row], str)]
    of = _of_shares(texts)
    common = _shape_of_shares(texts) if of else _common_shape(grid, texts)
    is_native = any(isinstance(cells[row], Decimal) for row in read)
    template = common if of else None
    if (
        common.count("#") == 1
        and not of
        and (common != "#" or (not is_native and isinstance(grid, JsonSheet | YamlSheet | ParquetGrid)))
    ):
        template = common.replace("{", "{{").replace("}", "}}").replace("#", "{value}")
    is_percent = "%" in common or max(map(abs, read.values())) > 1
    longest = max(len(number.as_tuple().digits) for number in read.values())
    full = len(as_text(grid.held(column_path, THIRD))) - len("0.")  # digits; fewer in a column of 32 bits
    is_rounded = digits <= FEW_DECIMALS or (digits <= MOST_DECIMALS and longest < full)
    decimals = digits if is_rounded else None
    linked = sum("](" in cell for row in read if isinstance(cell := cells[row], str))
    fault = f"'{brief(odd[0], 40)}' is among its cells, and is no number" if odd else ""
    fault = fault or (MIXED if common.count("#") > 1 and not of else LINKED if linked * 2 >= len(read) else "")
    is_mixed = decimals is not None and decimals < places[-1] <= FEW_DECIMALS
    most = places[-1] if is_mixed else None
    return NumberColumn(column_path, read, decimals, is_percent, template, gaps, fault, of, most)


def _column_of_counts(
    column_path: ColumnPath, counts: Mapping[int, re.Match[str]], gaps: tuple[str, ...]
) -> NumberColumn | None:
    """The column of cells such as `7/15`, which are shares of one number; None where they are of several."""
    every = {int(found["of"]) for found in counts.values()}
    of = every.pop()
    if every or not of:
        return None
    shapes = Counter(found[0].strip().replace(f"{found['right']}", "{right}", 1) for found in counts.values())
    shape = shapes.most_common(1)[0][0]
    numbers = {row: Decimal(found["right"]) / of for row, found in counts.items()}
    template = f"{shape[: shape.rindex(str(of))]}{{of}}"
    counted = NumberColumn(column_path, numbers, None, is_percent=False, template=template, gaps=gaps)
    return replace(counted, of=of, has_counts_alone=True)


def _of_shares(texts: Sequence[str]) -> int | None:
    """Of how many each text is a share with its counts; None where one is none, or they differ."""
    found = [share_with_counts(text) for text in texts]
    every = {int(one["of"]) for one in found if one is not None}
    return every.pop() if len(every) == 1 and None not in found else None


def _shape_of_shares(texts: Sequence[str]) -> str:
    """The template of most texts that are a share with its counts, without bold marks, which are of the best row."""
    names = {"right": "{right}", "of": "{of}", "share": "{value}"}
    shapes = Counter[str]()
    for text in (text.replace("**", "").strip() for text in texts):
        if (found := share_with_counts(text)) is not None:
            cuts = sorted((*found.span(name), name) for name in names)
            ends = [0, *(end for _, end, _ in cuts)]
            before = [text[end:start] for end, (start, _, _) in zip(ends, cuts, strict=False)]
            fixed = [one.replace("{", "{{").replace("}", "}}") for one in (*before, text[ends[-1] :])]
            shapes["".join(map("".join, zip(fixed, (*(names[name] for _, _, name in cuts), ""), strict=True)))] += 1
    return shapes.most_common(1)[0][0]


def _gap_word(cell: str) -> str:
    return cell.strip("*_ ").lower()


def _common_shape(grid: Grid, texts: Sequence[str]) -> str:
    """What stands around the numbers of a column, `#` in the place of each.

    Tags and marks count where most cells have the same ones, but for bold, which is of the best row.
    """
    whole = Counter(around_number(text.replace("**", "")) for text in texts).most_common(1)
    if whole and whole[0][1] * 2 > len(texts) and not re.search(r"\d|\]\(|#.*#", whole[0][0]):
        return whole[0][0].strip()
    shapes = Counter(NUMBER.sub("#", grid.shown(text)).strip() for text in texts)
    return shapes.most_common(1)[0][0] if shapes else "#"
