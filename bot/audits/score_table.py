"""Reads a board from CSV or Markdown: names of rows, columns of scores, and why each other column is left out."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import fsum, isclose, isfinite
from statistics import fmean

from bot.audits.ranks import spearman
from bot.errors import CallError
from bot.evaluation.metric_kinds import names_of_errors
from bot.reporting.escape import visible

NAME_HEADERS = ("fullname", "model", "model_name", "name")
# What boards call the columns that are numbers and no scores.
NO_SCORE = re.compile(
    r"^(unnamed.*|(.*[\W_])?ranks?|rank_best|rank_worst|#.*|param(s|eters?)?(\b|_count).*"
    r"|((model|image|img|batch)[\W_]+)?size.*|likes?|hub.*|downloads?|co2.*"
    r"|seed|n|samples|year|architecture|rows?|id|index|(.*[\W_])?(cost|price|latency|elapsed|duration|runtime)(?![^\W_]).*"
    r"|.*(stderr|standard[\W_]?(error|deviation)).*|±.*|.*±|.*[ _](std|se|q\d{3}|lower|upper)|.*[\W_]std[\W_].*"
    r"|.*([\W_]per[\W_]|/\s*)(s|sec|seconds?)"
    r"|(num|n)[\W_].*|(g|t)?(flops|macs)\b.*|(.*[\W_])?(diff|delta)|.*\u0394.*)$",
    re.IGNORECASE,
)
COUNTS = re.compile(r"(.*[\W_])?(counts?|depths?|layers?)", re.IGNORECASE)
AVERAGE = re.compile(
    r"^((average|avg|overall)\b.*|all|score|(average|avg|mean)(_without.*|[\W\d]*|\s*\(.*\))|overall_.*|total([\W_]*score)?"
    r"|平均.*|[总總](分|平均.*))$",
    re.IGNORECASE,
)
ERROR = re.compile(r"(?<=\S)\s*±.*\w.*")  # of a heading, what each cell has behind its value
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
TASKS = re.compile(
    r"(task|metric|benchmark|dataset|eval)s?([\W_]+(name|task|metric|benchmark|dataset)s?)?\W*", re.IGNORECASE
)
RANK = re.compile(r"rank(ing)?", re.IGNORECASE)
DECIMALS = re.compile(r"\d\.(\d+)")
MOST_BY_CHANCE = 0.5  # the rank correlation beyond which a board's ranks say that less is better
TEXT, MEAN = "holds text", "is an average or a total"
LONGEST_CELL = 500  # characters of a cell of Markdown that are parsed
MOST_HEADING = 1_000  # characters; patterns for headings would take minutes for very long ones
RAW = re.compile(r"[ _]raw$", re.IGNORECASE)
FEWEST_MEANS = 5  # rows, of which four in five say that a column is the mean or sum of others
FEWEST_PARTS = 3  # columns of which another may be the mean
Cells = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class WrongMean:
    """A row whose average is not that of its columns, although those of most rows are."""

    column: str
    row: str
    there: float
    computed: float


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """Rows by name and columns of scores (None if a cell is empty or no number), all of one length.

    `left_out` says for other columns why they are not scores, `place` which table of several of a file it is.
    `less_is_better` tells that the columns are errors; there is no table of both kinds. `wrong_means` are the rows
    whose average or total does not follow from their columns.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Cells]
    left_out: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    less_is_better: bool = False
    wrong_means: tuple[WrongMean, ...] = ()


@cache
def _less() -> re.Pattern[str]:
    """What finds headings of errors: a metric stands first or last in them, before a unit."""
    names = "|".join([*map(re.escape, names_of_errors()), "err", "errors?", r"(error|hallucination)[\W_]*rate"])
    last = rf"(^|[\W_])({names})[\W\d_]*([(\[].*[)\]])?$"
    return re.compile(rf"↓|{last}|^(wer|cer|ppl|perplexity)([\W_]|$)", re.IGNORECASE)


def read_score_table(data: bytes, path: str, only: Sequence[str] = ()) -> PublishedTable:
    """Read a CSV (comma, semicolon or tab) with one header line, or the table of a Markdown file with the most numbers.

    `only` names the score columns to take.

    Raises CallError if the bytes are not such a table, a named column is not in it, or the named ones are of two kinds.
    """
    header, rows, place = _cells(data, path)
    texts = {column: [row[i] for row in rows] for i, column in enumerate(header)}
    missing = [column for column in only if column not in texts]
    if missing:
        raise CallError(f"{path}: has no column {missing[0]!r}; its columns are {', '.join(header)}")
    columns: dict[str, Cells] = {}
    left_out: dict[str, str] = {}
    for column, cells in texts.items():
        values = tuple(map(_number, cells))
        why = _why_no_score(column, cells, values, header) if not only else "was not asked for"
        if column in only or not why:
            columns[column] = values
        else:
            left_out[column] = why
    if not only:
        _leave_counts_out(columns, left_out, texts)
        if (mean := _mean_among(columns, texts)) is not None:
            del columns[mean]
            left_out[mean] = MEAN
    named = _name_column(header, texts)
    if named is not None and TASKS.fullmatch(named):
        raise CallError(
            f"{path}: its rows are tasks, by the heading {visible(named)!r}; a row for each model is needed"
        )
    if named is not None and len(set(texts[named])) < len(rows):
        found = [column for column in header if TASKS.fullmatch(column) and len(set(texts[column])) > 1]
        tasks = [column for column in found if not _is_longer_name(texts[column], texts[named])]
        if tasks:
            raise CallError(
                f"{path}: its rows are models by {visible(tasks[0])!r}; a row for each model and a column for each "
                "of these is needed"
            )
    names = _names(texts, named, left_out) if named is not None else [f"row {i}" for i in range(1, len(rows) + 1)]
    wrong = tuple(_wrong_means(names, texts, columns, [one for one, why in left_out.items() if why == MEAN]))
    less = _errors_among(columns, header) or (list(columns) if _ranks_rise(columns, texts) else [])
    if only and 0 < len(less) < len(columns):
        other = next(column for column in columns if column not in less)
        raise CallError(f"{path}: less is better in {less[0]}, and more in {other}: name columns of one kind")
    is_less = bool(less) and 2 * len(less) > len(columns)
    for column in [column for column in columns if (column in less) != is_less]:
        del columns[column]
        left_out[column] = "more is better there, unlike in the others" if is_less else "less is better, by its name"
    return PublishedTable(tuple(names), columns, left_out, place, is_less, wrong)


def _is_longer_name(cells: Iterable[str], names: Iterable[str]) -> bool:
    """Tell whether each cell holds its row's name, as `eval_name` of the Open LLM Leaderboard v2 does."""
    return all(name.replace("/", "_") in cell.replace("/", "_") for cell, name in zip(cells, names, strict=True))


def _errors_among(columns: Iterable[str], header: Sequence[str]) -> list[str]:
    """The columns of which less is better by their names or that of their average; none beside raw values.

    Beside raw values are the scores of a declaration, of which more is better whatever they are called.
    """
    if any(RAW.search(column) for column in header):
        return []
    is_average_less = any(AVERAGE.match(column) and _less().search(column) for column in header)
    return [column for column in columns if _less().search(column) or (is_average_less and "↑" not in column)]


def _ranks_rise(columns: Mapping[str, Cells], texts: Mapping[str, list[str]]) -> bool:
    """Tell whether the table's own ranks rise with the values, so that the first row has the lowest."""
    ranks = next((list(map(_number, cells)) for column, cells in texts.items() if RANK.fullmatch(column)), [])
    rows = [(rank, row) for rank, row in zip(ranks, zip(*columns.values(), strict=True), strict=False) if rank]
    whole = [(rank, fmean(row)) for rank, row in rows if None not in row]
    found = spearman(*zip(*whole, strict=True)) if whole else None
    return found is not None and found > MOST_BY_CHANCE


def _names(texts: Mapping[str, list[str]], named: str, left_out: Mapping[str, str]) -> list[str]:
    """The names of the rows, of a link its text; where several rows have one, with the texts that tell them apart."""
    names = [found[1] if (found := LINK.fullmatch(cell.strip())) else cell for cell in texts[named]]
    for column in (column for column, why in left_out.items() if why == TEXT and column != named):
        longer = [f"{name} ({cell})" if cell else name for name, cell in zip(names, texts[column], strict=True)]
        if len(set(longer)) > len(set(names)):
            names = longer
    return names


def _leave_counts_out(columns: dict[str, Cells], left_out: dict[str, str], texts: Mapping[str, list[str]]) -> None:
    """Leave out columns of whole numbers beside columns of scores, which have decimals: they are counts or depths.

    A column without a gap that is written with a point or a percent sign holds no counts.
    """
    whole = [column for column, cells in columns.items() if all(cell is None or cell.is_integer() for cell in cells)]
    if len(columns) - len(whole) < 2:
        return
    for column in whole:
        is_measured = None not in columns[column] and any("." in text or "%" in text for text in texts[column])
        if len({cell for cell in columns[column] if cell is not None}) > 1 and not is_measured:
            del columns[column]
            left_out[column] = "holds whole numbers only, as counts do; name it with --column if they are scores"


def _mean_among(columns: Mapping[str, Cells], texts: Mapping[str, list[str]]) -> str | None:
    """The column whose numbers are the mean of all others in nearly all rows, whatever it is called."""
    rows = [row for row in zip(*columns.values(), strict=True) if None not in row]
    if len(columns) <= FEWEST_PARTS or len(rows) < FEWEST_MEANS:
        return None
    totals, others = [fsum(row) for row in rows], len(columns) - 1
    gaps = {
        column: [abs(row[place] - (total - row[place]) / others) for row, total in zip(rows, totals, strict=True)]
        for place, column in enumerate(columns)
    }
    near = [column for column, some in gaps.items() if _are_nearly_all(some, 1.0)]  # no digit is coarser
    steps = {column: _last_digit(texts[column]) for column in columns} if near else {}
    for column in near:
        coarsest = max(step for other, step in steps.items() if other != column)
        varies = len({*columns[column]} - {None}) >= FEWEST_MEANS
        if varies and _are_nearly_all(gaps[column], (coarsest + steps[column]) / 2):
            return column
    return None


def _are_nearly_all(gaps: Sequence[float], step: float) -> bool:
    """Tell whether four in five are at most a step."""
    return 5 * sum(gap <= step + 1e-9 for gap in gaps) >= 4 * len(gaps)


def _wrong_means(
    names: Sequence[str], texts: Mapping[str, list[str]], columns: Mapping[str, Cells], means: Sequence[str]
) -> Iterator[WrongMean]:
    """The rows whose average or sum differs from that of all columns of scores, where those of most rows agree."""
    if not means:
        return
    full = [row for row in range(len(names)) if columns and all(cells[row] is not None for cells in columns.values())]
    coarsest = max((_last_digit(texts[column]) for column in columns), default=1.0)
    for column in means:
        there = {row: value for row in full if (value := _number(texts[column][row])) is not None}
        for combine, spread in ((fmean, coarsest), (fsum, coarsest * len(columns))):
            computed = {row: combine(cells[row] or 0.0 for cells in columns.values()) for row in there}
            steps = {row: spread / 2 + _last_digit([texts[column][row]]) for row in there}
            wrong = [row for row in there if not isclose(there[row], computed[row], rel_tol=1e-12, abs_tol=steps[row])]
            if len(there) >= FEWEST_MEANS and len(wrong) * 5 <= len(there):
                yield from (WrongMean(column, names[row], there[row], computed[row]) for row in wrong)
                break


def _last_digit(cells: Iterable[str]) -> float:
    """One step of the last digit of numbers as they are printed."""
    return 10.0 ** -max((len(found[1]) for cell in cells if (found := DECIMALS.search(cell))), default=0)


def _cells(data: bytes, path: str) -> tuple[list[str], list[list[str]], str]:
    """Part the bytes into a header and rows of the same length, and say which table it is where there are several."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CallError(f"{path}: is not a table of scores: it is not UTF-8 text") from None
    is_markdown = path.lower().endswith((".md", ".markdown")) or text.lstrip().startswith("|")
    is_json = not is_markdown and text.lstrip().startswith(("{", "[{"))
    tables = list(_markdown_tables(text)) if is_markdown else [(1, [] if is_json else _csv_lines(text, path))]
    first, lines = max(tables, key=_numbers_in) if len(tables) > 1 else tables[0] if tables else (0, [])
    if len(lines) < 2 or len(lines[0]) < 2:
        needed = "a header line of at least two columns and rows below it are needed"
        raise CallError(f"{path}: is not a table in CSV or Markdown: {needed}")
    is_headless = _is_row(lines[0])
    header, *rows = [[f"column {place}" for place in range(1, len(lines[0]) + 1)], *lines] if is_headless else lines
    header = [name.strip() for name in header]
    if any(len(name) > MOST_HEADING for name in header):
        raise CallError(f"{path}: is not a table of scores: a heading has more than {MOST_HEADING:,} characters")
    uneven = next((i for i, row in enumerate(rows, start=2) if len(row) != len(header)), 0)
    if uneven:
        cells = len(rows[uneven - 2])
        raise CallError(
            f"{path}: row {uneven} has {cells} cells and the header {len(header)}: mend that row, or leave it out"
        )
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        named = f"have the name {visible(twice)[:40]!r}" if twice else "have no name"
        raise CallError(f"{path}: {header.count(twice)} columns of the header {named}; the header is its first line")
    place = f"of {len(tables)} tables the one with the most numbers, at line {first}" if len(tables) > 1 else ""
    return header, rows, "its first line is a row, as it holds numbers and no headings" if is_headless else place


def _is_row(line: Sequence[str]) -> bool:
    """Tell whether the first line of a table is a row: all but the name are numbers, one with decimals.

    Whole numbers may be headings, such as years or numbers of shots.
    """
    return all(_number(cell) is not None for cell in line[1:]) and any(DECIMALS.search(cell) for cell in line[1:])


def _numbers_in(table: tuple[int, list[list[str]]]) -> int:
    return sum(_number(cell) is not None for row in table[1] for cell in row)


def _csv_lines(text: str, path: str) -> list[list[str]]:
    """The rows by the separator that parts all of them alike, else by the one that the first line has most of.

    A separator may be part of the texts: HTML in a cell has semicolons.
    """
    first = text.partition("\n")[0]
    by_count = sorted(",;\t", key=first.count, reverse=True)
    for delimiter in (one for one in by_count if one in first):
        try:
            lines = _parted(text, delimiter)
        except csv.Error:
            continue
        if len({len(row) for row in lines}) == 1:
            return lines
    try:
        return _parted(text, by_count[0])
    except csv.Error as error:
        raise CallError(f"{path}: is not a CSV file: {error}") from None


def _parted(text: str, delimiter: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]


def _markdown_tables(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield the line and rows of each pipe table, the header first; of a cell its text, without links and emphasis."""
    from markdown_it import MarkdownIt

    line, rows, addresses = 0, list[list[str]](), dict[str, object]()
    parser = MarkdownIt("commonmark")
    for before, token in pairwise(MarkdownIt("commonmark").enable("table").disable("inline").parse(text, addresses)):
        if before.type == "table_open" and before.map:
            line, rows = before.map[0] + 1, []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and before.type in {"th_open", "td_open"}:
            cell = token.content
            # The parser takes quadratic time on brackets: a very long cell stays as it is.
            parts = parser.parseInline(cell, addresses)[0].children if len(cell) <= LONGEST_CELL else None
            shown = [part.content for part in parts or () if part.type != "html_inline"]
            rows[-1].append(cell if parts is None else "".join(shown).strip())
        elif token.type == "table_close":
            yield line, rows


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        try:
            value = float(cell.partition("±")[0].strip().removesuffix("%"))
        except ValueError:
            return None
    return value if isfinite(value) else None


def _why_no_score(column: str, cells: Sequence[str], values: Cells, header: Sequence[str]) -> str:
    """Say why a column holds no scores, "" if it does."""
    filled = sum(map(bool, map(str.strip, cells)))
    numbers = [value for value in values if value is not None]
    if 2 * len(numbers) < filled or not numbers:
        return TEXT if filled else "is empty"
    column = ERROR.sub("", column)
    if AVERAGE.match(column):
        return MEAN
    is_count = COUNTS.fullmatch(column) and all(value.is_integer() for value in numbers)
    if is_count or NO_SCORE.match(column):
        return "is not a score by its name"
    if RAW.search(column) and RAW.sub("", column) in header:
        return f"is the raw value of {RAW.sub('', column)}"
    if min(numbers) < 0 or (max(numbers) > 100 and not _less().search(column)):
        return "has values outside 0 to 100"
    return ""


def _name_column(header: Sequence[str], texts: Mapping[str, list[str]]) -> str | None:
    """The column that boards keep the names of rows in, else the first without a number, None if all have some."""
    by_lower = {column.lower(): column for column in header}
    known = next((by_lower[name] for name in NAME_HEADERS if name in by_lower), None)
    if known is not None:
        return known
    return next((column for column in header if all(_number(cell) is None for cell in texts[column])), None)
