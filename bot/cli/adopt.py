"""Adopt a table that exists: draft its declaration and mapping, and recompute every row that the results cover."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Any

from bot.cli.judging import (
    LAYOUTS,
    WILD,
    Measured,
    endings,
    is_pattern,
    measured_ways,
    told_if_slow,
    warn,
    with_other_layout,
)
from bot.cli.recomputed import MOST_NAMES, JudgedTable, Recomputed
from bot.cli.table_file import TableFile
from bot.errors import CallError, MalformedResult, Unwritable
from bot.evaluation.draft.columns import DraftColumn
from bot.evaluation.draft.form_draft import DraftedForm
from bot.evaluation.draft.readings import TaskReading, declared_readings, task_readings
from bot.evaluation.draft.tasks import NO_RANK, draft_of, is_beside, is_mere_count
from bot.evaluation.finding import counted, examples, file_of, first_few, grouped
from bot.evaluation.formats import parse_parts
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.format import Format
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.identity import identified, is_hub_id, is_plain_name, why_unidentified
from bot.evaluation.leaderboard import Leaderboard, load_shipped, parse_leaderboard
from bot.evaluation.row_key import key_of
from bot.evaluation.submission import Parsed, believed_date, own_date
from bot.evaluation.task import Task
from bot.evaluation.toml_file import toml_key, toml_text
from bot.platforms.git.repository import root_of
from bot.platforms.inputs import GITHUB_FILE, Place, commit_dates, in_repositories, with_commits
from bot.publishing.layout import RowChange
from bot.publishing.tables.adopt import (
    NOT_GIVEN,
    MappingColumn,
    Matched,
    Matching,
    average_column,
    can_be_beside,
    draft_columns,
    is_near,
    leading,
    match_columns,
    mean_of,
    name_column,
    noted,
    one_row_each,
    printed,
    rows_by_numbers,
    rows_of_models,
    sorting,
    task_column,
    tasks_of_rows,
    text_columns,
    told_apart,
    with_rounding,
)
from bot.publishing.tables.cells import ColumnPath, as_text
from bot.publishing.tables.find import FoundTable, ModelFiles, find_tables, names_in
from bot.publishing.tables.fit import number_in
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.markdown_sheet import MarkdownSheet, named, tables_of
from bot.publishing.tables.rows import RANKS, MappedRows
from bot.publishing.tables.sheet import is_title
from bot.publishing.tables.table_layout import WORKFLOWS, check_not_generated
from bot.publishing.tables.values import RowView, lookup
from bot.reporting.draft import draft_text
from bot.reporting.escape import brief, visible
from bot.service.judge.facts import Judge

FEWEST_NAMED = 3  # models whose names begin alike, if others of the board will, too
NEARLY = 0.8  # of the cells that the best reading of the results gives
MOST_TRIED = 10  # tables of one file, the one that names most models first
UPDATE = '# Rows that are there may change; with "refuse" only those that the bot wrote itself.'
RECORDS = "# The entry of each row is stored beside the table, so that `site` and `verify` cover the row."
ELSEWHERE = "# Models of other tables of the file get no row here."
FIRST = "# The table shows so many rows: a new one gets a place among them, or none."
OF_FIRST = re.compile(r"(?i)\b(top|first|best|highest|leading)\b")
FEWEST_BELOW, MOST_BELOW = 3, 0.8  # models below the last row, and their share of those that have none
NOT_IN_FORMS = "none of the forms that were tried gives its numbers"
NO_HEADING = "(no heading)"
FILLED = "people fill it"  # the note of a column that needs no decision
# Words of a heading that name no board: "Results" stands above most tables.
UNNAMING = {
    *("all", "full", "main", "our", "overall", "the", "model", "models", "table", "summary", "performance"),
    *("benchmark", "benchmarks", "evaluation", "evaluations", "leaderboard", "leaderboards", "result", "results"),
    *("score", "scores"),
}
BEGINS_WITH_NUMBER = re.compile(r"[^\w]{0,3}(?!\d{4}-\d\d|\d{1,2}([./])\d{1,2}\1)\d")  # and with no date
NOT_A_NAME = re.compile(r"[^\w.-]+")
SPELL = ": spell the other names as the results do, or add a column with the models' ids"
MEAN = re.compile(r"\b(average|avg|mean)\b", re.IGNORECASE)
OWN_TABLE = (
    "the results are the table itself: that its numbers agree shows nothing; name the files that they were made from"
)
OWN_AVERAGE = "which task ranks the rows, or all: the average is the bot's own, no column of the table shows it"
BY_HAND = (
    "; let `init` without --table draft the form, and mend it by docs/forms.md: `value` is the place of a number, "
    "`trials` that of answers to questions"
)
MEANS_ALONE = "; a mean of tasks is known by the columns of these tasks, and none of them is here: add them"


@dataclass(frozen=True)
class Adopted:
    """The drafts: the declaration, the part of the settings that describes the table, and what recomputing gave.

    `title` is what the heading calls the table, "" if it has no name; `results` are the files that were read.
    """

    declaration: str
    mapping: str
    source: str
    paths: tuple[str, ...]
    title: str
    results: tuple[str, ...]
    report: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Tried:
    """One reading of the results, held against the tables of a file; `given` cells of the best table are its."""

    measured: Measured
    parsed: list[Parsed]
    models: list[ModelFiles]
    readings: Sequence[TaskReading]
    tables: Sequence[tuple[FoundTable, Matching]]

    @property
    def given(self) -> int:
        """How many cells of the table that it fits best it gives."""
        return max(sum(column.fitting for column in matching.matched) for _, matching in self.tables)

    @property
    def files(self) -> int:
        """How many files its form is of."""
        return self.measured.form.files if self.measured.form else 0


@dataclass(frozen=True)
class _Drafted:
    """A declaration, the table judged by it, and what each of the table's columns shows."""

    text: str
    board: JudgedTable
    columns: Sequence[MappingColumn]

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks that count."""
        return self.board.judgement.leaderboard.tasks

    @property
    def has_own_average(self) -> bool:
        """Tell whether the rows would be ranked by an average that no column of the table shows."""
        return len(self.tasks) > 1 and not any(_shows(one, "average") for one in self.columns)

    def scored(self, columns: Sequence[Matched]) -> list[Matched]:
        """Those of the columns that show tasks."""
        paths = {one.column_path for one in self.columns if _shows(one, "tasks.")}
        return [one for one in columns if one.column.column_path in paths]


def _shows(column: MappingColumn, what: str) -> bool:
    return column.keys is not None and column.keys.get("value", "").startswith(what)


def _try(table: TableFile, at: str, called: Mapping[str, str], known: Leaderboard | None, measured: Measured) -> _Tried:
    """Hold results against the tables of a file. Raises Unwritable where none names a model of them."""
    parsed = [identified(one, called) for one in measured.read]
    models = _models(parsed)
    tables = find_tables(table.data, table.written, models, at)[:MOST_TRIED]
    readings = declared_readings(known) if known else task_readings([one.result for one in parsed if one.result])
    matched = [(one, match_columns(_with_sure_rows(one), readings)) for one in tables]
    return _Tried(measured, parsed, models, readings, matched)


def _tried(
    table: TableFile, results: Sequence[str], at: str, called: Mapping[str, str], known: Leaderboard | None
) -> _Tried:
    """The reading of the results that gives most cells of the table. Raises CallError where none names its models.

    Of readings that give nearly as many that of most files counts: a file of all models is often made from theirs.
    """
    tried: list[_Tried] = []
    failed: list[Measured] = []
    names_model = None
    problem: Unwritable | None = None
    try:
        names_model = names_in(table.data, table.written, at)
        for measured in measured_ways(results, names_model, table.place, is_by_name=not called):
            try:
                files = counted(len({file_of(one.path) for one in measured.read}), "file")
                with told_if_slow(f"comparing the numbers of {files} with the table"):
                    tried.append(_try(table, at, called, known, measured))
                most = max(one.given for one in tried)  # the others are let go of: a form may read much
                tried = [one for one in tried if one.given >= NEARLY * most][: None if most else 1]
            except Unwritable as error:
                problem = problem or error
                failed.append(measured)
    except Unwritable as error:
        problem = error
    if not tried:
        for measured in failed[:1]:
            _say_form(measured)
        raise CallError(f"{table.shown}: {problem}")
    best = max(tried, key=lambda one: (one.files, one.given))
    both = with_other_layout(best.measured, names_model)
    if both is not best.measured and (more := _try(table, at, called, known, both)).given > best.given:
        best = more
    _say_form(best.measured)
    return best


def _say_form(measured: Measured) -> None:
    """Say what was understood of files that no format reads."""
    for line in measured.form.said if measured.form else ():
        warn(visible(line))


def adopt(table: TableFile, results: Sequence[str], like: str, at: str, called: Mapping[str, str]) -> Adopted:
    """Match a table to results, and draft what describes it. Raises CallError where nothing of it matches.

    `called` has the models by their folders or by what files call them.
    """
    known = load_shipped(like) if like else None
    best = _tried(table, results, at, called, known)
    measured, parsed, models, readings = best.measured, best.parsed, best.models, best.readings
    places, read = measured.places, measured.read
    found, matching = _best(table, best.tables)
    rows, keys, ambiguous = rows_of_models(found)
    rows = one_row_each(matching, rows)
    by_numbers = {} if keys else rows_by_numbers(matching, models, rows)
    rows |= by_numbers
    found = replace(matching.table, rows=dict(matching.table.rows) | {row: (one,) for row, one in by_numbers.items()})
    if by_numbers and matching.unsure:
        matching = match_columns(found, readings)
    if measured.form is not None:
        said = {path: NOT_IN_FORMS if why == NOT_GIVEN else why for path, why in matching.unsure.items()}
        matching = replace(matching, unsure=said)
    if not matching.matched:
        raise CallError(f"{table.shown}: {_nothing_matched(matching, rows, readings, measured)}")
    names = _names(rows, found, {one.model.id for one in models})
    naming = measured.form and _naming(measured.form, names, models)
    known_names = {**called, **names} if naming else called
    judged = {file_of(one.path) for one in read}
    dates = commit_dates(with_commits(in_repositories(one for one in places if file_of(one.name) in judged)))

    def drafted(shown: Matching, leads: Collection[Matched] = ()) -> _Drafted:
        text, accessors = _declared(shown, parsed, names, known, measured, naming=naming, leads=leads)
        declared = parse_leaderboard(text, "board", "board.toml")
        judgement = Judge(declared, datetime.now(UTC).date(), names=known_names).judge(read, dates)
        board = JudgedTable(table, found, rows, judgement, names)
        return _Drafted(text, board, _columns(board, shown, keys, accessors))

    draft, ranking = drafted(matching), ""
    if known is None and draft.has_own_average:
        leads, others = _leading(draft, matching)
        mean_of = replace(matching, matched=tuple(others))
        whole = drafted(mean_of) if leads and _is_mean(leads[0], draft.scored(others)) else draft
        if not whole.has_own_average and not _gives_more(leads[0], whole):
            draft, matching = whole, mean_of
        elif leads and all(can_be_beside(one.reading) for one in others):
            ranking = f"the board ranks by {leads[0].column.label} alone, as the table does: the others do not count"
            draft = drafted(matching, leads)
        else:
            ranking = f"TODO: {OWN_AVERAGE}"
            draft = replace(
                draft, text=_declared(matching, parsed, names, known, measured, naming=naming, todo=OWN_AVERAGE)[0]
            )
    text, board, columns = draft.text, draft.board, draft.columns
    declared = board.judgement.leaderboard
    elsewhere = _elsewhere(table, models, found, names)
    further, shared = told_apart(found, columns, [column_path for column_path, _ in keys])
    keys = (*keys, *((one.column_path, "") for one in further))
    apart = sorted({one.model.id for one in board.new} & elsewhere.keys())
    mapping, options = _mapping(board, columns, keys, apart)
    below = _below(board, options)
    if below:
        elsewhere = {name: where for name, where in elsewhere.items() if name not in below}
        apart = [name for name in apart if name not in below]
        mapping, options = _mapping(board, columns, keys, apart, first=len(found.grid))
    report = Recomputed(board, options, declared, len(matching.columns))
    source, paths = source_of(results, endings({one.path: one.result for one in parsed if one.result is not None}))
    unsure = [row for row in ambiguous if row not in by_numbers]
    new = _new_rows(board, columns, {*elsewhere, *below})
    notes = (*_notes(board, columns, unsure, by_numbers, elsewhere), *new)
    if below:
        first = f"the first {len(found.grid)} rows by {options.sorted_by}, as `first` says"
        notes = (*notes, visible(f"the table shows {first}: {counted(len(below), 'model')} below these get no row"))
    notes = (*notes, visible(ranking)) if ranking else notes
    notes = (*notes, visible(f"TODO {shared}")) if shared else notes
    notes = notes if at else (*notes, *_other_tables(found))
    if unused := _of_few_files(measured, rows, found):
        notes = (unused, *notes)
    if any(Path(one.name).resolve() == table.place for one in places):
        notes = (OWN_TABLE, *notes)
    target = 'kind = "table"\n\n' + re.sub(r"^\[table", "[watches.targets.table", mapping, flags=re.MULTILINE)
    title = _named_in_heading(found)
    return Adopted(text, target, source, paths, title, tuple(one.path for one in read), tuple(report.lines()), notes)


def _of_few_files(measured: Measured, rows: Mapping[int, ModelFiles], found: FoundTable) -> str:
    """Warn where a form reads few of the files, and most rows of the table have no result; "" otherwise."""
    every = dict.fromkeys(file_of(place.name) for place in measured.places)
    used = {file_of(one.path) for one in measured.read}
    unused = [name for name in every if name not in used and PurePosixPath(name).suffix.lower() in LAYOUTS]
    without = _without_result(found, rows)
    if measured.form is None or len(unused) <= len(used) or without <= len(rows):
        return ""
    return visible(
        f"{without} of its {counted(len(rows) + without, 'row')} have no result, and the numbers come from "
        f"{counted(len(used), 'file')} of {len(used) + len(unused)}; not used: {examples(unused)}"
    )


def _without_result(found: FoundTable, rows: Mapping[int, ModelFiles]) -> int:
    """How many rows of a table have no result."""
    return sum(row not in rows and not is_title(found.grid, row) for row in range(len(found.grid)))


def _other_tables(found: FoundTable) -> Iterator[str]:
    """What to write for another table of a Markdown file, if it has one of three rows or more."""
    grid = found.place.grid
    if not isinstance(grid, MarkdownSheet):
        return
    tables = tables_of(grid.text)
    others = [f"--at {quote(named(one, tables))}" for one in tables if one != grid.table and len(one.rows) > 2]
    if others:
        yield visible(f"the file has {counted(len(others), 'other table')}: {first_few(others, MOST_NAMES)}")


def _elsewhere(
    table: TableFile, models: Sequence[ModelFiles], found: FoundTable, names: Mapping[str, str]
) -> dict[str, str]:
    """The models that have a row in other tables of the file alone, and where."""
    here = {one.model.id for some in found.rows.values() for one in some}
    rows = [(other, one) for other in find_tables(table.data, table.written, models) for one in other.rows.values()]
    there = {one.model.id: other.place.at for other, some in rows for one in some}
    return {names.get(name, name): at for name, at in there.items() if name not in here}


def _named_in_heading(found: FoundTable) -> str:
    """What the innermost heading with a name calls the table, "" if none does."""
    grid = found.place.grid
    above = [grid.plain(one) for one in grid.table.above] if isinstance(grid, MarkdownSheet) else []
    return next((one for one in reversed(above) if set(re.findall(r"\w+", one.casefold())) - UNNAMING), "")


def _with_sure_rows(found: FoundTable) -> FoundTable:
    """The table with the rows of which it is sure which model each means, or with all where it is of none."""
    rows, _, _ = rows_of_models(found)
    return replace(found, rows={row: (one,) for row, one in rows.items()} or found.rows)


def _best(table: TableFile, tried: Sequence[tuple[FoundTable, Matching]]) -> tuple[FoundTable, Matching]:
    """The table of which the results give most cells. Raises CallError where two cannot be told apart."""
    given = [sum(column.fitting for column in matching.matched) for _, matching in tried]
    alike = [one for one, count in zip(tried, given, strict=True) if count == max(given)]
    if len(alike) > 1 and max(given):
        names = ", ".join(f"--at {quote(found.place.at)}" for found, _ in alike[:MOST_NAMES])
        raise CallError(
            f"{table.shown}: {len(alike)} of its tables show these results equally well; name one of them: {names}"
        )
    return alike[0]


def _nothing_matched(
    matching: Matching, rows: Mapping[int, ModelFiles], readings: Sequence[TaskReading], measured: Measured
) -> str:
    """Say why no column is known, which rows name a model where some do not, and what would make one known."""
    if (by := tasks_of_rows(matching.table, readings)) is not None:
        of, to = f"its rows are of one model and one {visible('.'.join(by))} each", "a column for each"
        return f"{of}: make it a table with a row for each model and {to}, or let `init` without --table make a board"
    columns = grouped((reason, ".".join(column_path)) for column_path, reason in matching.unsure.items())
    why = "; ".join(f"{examples(some)}: {reason}" for reason, some in columns.items())
    grid = matching.table.grid
    told = ""
    if columns and len(rows) < len(grid):
        named = examples([matching.table.text(row) for row in rows])
        verb = "names" if len(rows) == 1 else "name"
        whose = "the results" if measured.form is None else "the likeliest form"
        told = f"; {len(rows)} of its {counted(len(grid), 'row')} {verb} a model of {whose} ({named})"
        told += SPELL if is_near(matching, readings) else ""
    told += MEANS_ALONE if any(MEAN.search(one.label) for one in matching.columns if not one.fault) else ""
    told += BY_HAND if measured.form is not None else ""
    return f"no column shows a number of these results ({why or 'none has one number in each cell'}){told}"


def _models(parsed: Sequence[Parsed]) -> list[ModelFiles]:
    """The files of each model, revision, precision and chat template, newest first."""
    today = datetime.now(UTC).date()
    newest = sorted(parsed, key=lambda one: believed_date(own_date(one.result, one.path), None, today), reverse=True)
    by_key = grouped(
        (key_of("", one.result.model), (one.result.model, one)) for one in newest if one.result is not None
    )
    return [ModelFiles(files[0][0], tuple(one for _, one in files)) for files in by_key.values()]


def _names(rows: Mapping[int, ModelFiles], found: FoundTable, taken: Collection[str]) -> dict[str, str]:
    """The ids of models that their files do not name by one: from the table, else from its own text.

    None is another model's: two paths may end in the same name, and that may be what files call a third one.
    """
    names: dict[str, str] = {}
    for row, one in rows.items():
        if why_unidentified(one.model) and one.model.id:
            path, text = one.model.id.rstrip("/"), found.text(row)
            last, whole = (NOT_A_NAME.sub("-", part).strip("-.") or "model" for part in (path.rpartition("/")[2], path))
            if is_plain_name(one.model):
                last = one.model.id
            elif last in {*taken, *names.values()}:
                last = whole
            spelled = text if "/" in text and is_hub_id(text) else last
            names[one.model.id] = found.links.get(row) or spelled
    return names


def _naming(form: DraftedForm, names: Mapping[str, str], models: Sequence[ModelFiles]) -> DraftedForm | None:
    """The form that names models by its path as the table does, where all names begin alike: new ones need no line."""
    begins = {model.removesuffix(name) for name, model in names.items()}
    is_alike = len(begins) == 1 and len(names) >= FEWEST_NAMED and all(why_unidentified(one.model) for one in models)
    begin = min(begins, default="")
    if not is_alike or not begin or form.other is not None or form.keys.get("model") != "{model}":
        return None
    return replace(form, keys={**form.keys, "model": f"{begin}{{model}}"})


def _numbers_shown(matching: Matching, form: DraftedForm) -> set[tuple[str, str, str]]:
    """The numbers of a form that the columns of a table show, each by form, leaf and metric."""
    return {
        (one.keys["id"], leaf.key(one.keys["id"]), metric.key(one.keys["id"]))
        for one in form.both
        for column in matching.matched
        for leaf in column.reading.task.leaves
        for metric in column.reading.task.metrics
    }


def form_of(measured: Measured, form: DraftedForm, shown: Collection[tuple[str, str, str]]) -> str:
    """The table of the form that was drafted for files, with the values that give the numbers that a board shows."""
    telling = set(_telling(measured.read, shown))
    contents = [_content_of(place) for place in measured.places if place.name in telling]
    other = form.other and _shown_in(form.other, shown, contents)
    return replace(_shown_in(form, shown, contents), other=other).text


def _telling(read: Sequence[Parsed], shown: Collection[tuple[str, str, str]]) -> Iterator[str]:
    """The files that together have each of these numbers, which are given by form, leaf and metric."""
    left = set(shown)
    for one in read:
        leaves = one.result.leaves.items() if one.result is not None and left else ()
        found = left & {(one.format or "", leaf, metric) for leaf, has in leaves for metric in has.numbers}
        left -= found
        if found:
            yield one.path


def _shown_in(form: DraftedForm, shown: Collection[tuple[str, str, str]], contents: Sequence[Content]) -> DraftedForm:
    """The form with the values that the board shows."""
    kept = []
    for value in form.values:
        alone = DeclaredForm.model_validate({**form.table, "values": [dict(value.keys)]}).format
        if any(not _numbers_of(content, alone).isdisjoint(shown) for content in contents):
            kept.append(value)
    left = tuple(dict.fromkeys(one.place for one in form.values if one not in kept and not one.is_other))
    return replace(form, values=tuple(kept or form.values), left_out=(*form.left_out, *left) if kept else ())


def _content_of(place: Place) -> Content:
    """The file of a form at a place, empty where there is none."""
    files = place.candidate.files
    return Content({"": (place.read(files[0].path, files[0].size) if files else b"") or b""}, place.name)


def _numbers_of(content: Content, form: Format) -> set[tuple[str, str, str]]:
    """The leaves and metrics that a form reads in a file, each with the form."""
    try:
        parts = parse_parts(content, [form])
    except MalformedResult:
        return set()
    of_form = [one.result for one in parts if one.result.format == form.id]
    return {(form.id, key, metric) for one in of_form for key, leaf in one.leaves.items() for metric in leaf.numbers}


def _declared(
    matching: Matching,
    parsed: Sequence[Parsed],
    names: Mapping[str, str],
    known: Leaderboard | None,
    measured: Measured,
    *,
    naming: DraftedForm | None = None,
    leads: Collection[Matched] = (),
    todo: str = "",
) -> tuple[str, dict[int, str]]:
    """The declaration, and the task or column that each matched column shows, by the number of the column's reading.

    `naming` is the form where it gives models these names itself. Where a column `leads`, it alone counts; `todo` is to
    be decided of all tasks.
    """
    if known is not None:
        return known.text, {id(one.reading): f"tasks.{one.reading.task.id}" for one in matching.matched}
    columns = draft_columns(matching)
    beside = [one for one in columns if one[1][0].is_beside or _is_no_score(*one, measured)]
    beside = [one for one in columns if not any(shown in leads for shown in one[1])] if leads else beside
    scores = [one for one in columns if one not in beside]
    tasks = scores or [one for one in columns if not is_mere_count(one[0])]
    if not tasks:
        raise CallError(f"{NO_RANK}: {examples([column.title or column.name for column, _ in columns])}")
    beside = [one for one in columns if one not in tasks]
    results = [one.result for one in parsed if one.result is not None]
    draft = replace(draft_of(results, [column for column, _ in tasks], [column for column, _ in beside]), todo=todo)
    made = [f"tasks.{task.keys['id']}" for task in draft.tasks] + [f"columns.{one['id']}" for one in draft.columns]
    shown = zip(made, (*tasks, *beside), strict=True)
    drafted = naming or measured.form
    form = form_of(measured, drafted, _numbers_shown(matching, drafted)) if drafted else ""
    return draft_text(draft, {} if naming else names, form), {
        id(one.reading): accessor for accessor, (_, matched) in shown for one in matched
    }


def _is_mean(lead: Matched, others: Sequence[Matched]) -> bool:
    """Tell whether the table's numbers of a column are the mean of those of other columns, to about a digit."""
    numbers = [one.column.numbers for one in others]
    rows = [row for row in lead.column.numbers if all(row in one for one in numbers)]
    means = {row: sum(float(one[row]) for one in numbers) / len(numbers) for row in rows} if len(numbers) > 1 else {}
    return bool(means) and all(
        abs(mean - float(lead.column.numbers[row])) <= lead.column.unit for row, mean in means.items()
    )


def _gives_more(lead: Matched, whole: _Drafted) -> bool:
    """Tell whether a number of the files is the table's in each row, and the average that it may be is not."""
    average = next(one.keys for one in whole.columns if one.keys is not None and _shows(one, "average"))
    views = {row: view for row, view in whole.board.views.items() if row in lead.fits}
    means = {row: mean_of(view, average["value"], average.get("unit")) for row, view in views.items()}
    fits = (lead.column.fits(row, mean, is_fraction=False) for row, mean in means.items() if mean is not None)
    return lead.fitting == lead.covered and not all(fits)


def _leading(draft: _Drafted, matching: Matching) -> tuple[list[Matched], list[Matched]]:
    """The column that ranks the rows, if one does, and the others."""
    first = leading(draft.board.found, draft.columns, {one.id: one for one in draft.tasks})
    leads = [one for one in matching.matched if first and one.column.column_path == first.column_path]
    return leads, [one for one in matching.matched if one not in leads]


def _is_no_score(column: DraftColumn, shown: Sequence[Matched], measured: Measured) -> bool:
    """Tell whether less of a column is better, or the form found its numbers under keys of costs and counts."""
    if is_beside(column) and not any(one.reading.is_fraction for one in shown):
        return True
    forms = measured.form.both if measured.form else []
    values = [one.keys for form in forms for one in form.values if one.is_other]
    others = {(keys["leaf"], keys.get("metric", "score")) for keys in values}
    return any((leaf.key, leaf.metrics[0].name) in others for leaf in column.leaves)


def _columns(
    board: JudgedTable, matching: Matching, keys: Sequence[tuple[ColumnPath, str]], accessors: Mapping[int, str]
) -> list[MappingColumn]:
    """Every column of the table, mapped or left to a person."""
    found, declared = board.found, board.judgement.leaderboard
    labels, tasks = {one.column.label.lower() for one in matching.matched}, {task.id: task for task in declared.tasks}
    columns = [name_column(found, {row: board.named(one) for row, one in board.rows.items()}, board.table.written)]
    unseen = next((one for one in (columns[0].keys or {}).get("names", {}).values() if not one.isprintable()), None)
    if unseen is not None:
        raise CallError(
            f"{board.table.shown}: the name '{brief(unseen)}' has a mark that nobody sees: take it away first"
        )
    columns += [MappingColumn(column_path, {"value": accessor}) for column_path, accessor in keys]
    for one in matching.matched:
        kind, _, name = accessors[id(one.reading)].partition(".")
        if kind == "columns":
            value = {"value": f"columns.{name}.value"}
            if one.reading.is_fraction:
                value["unit"] = "percent" if one.column.is_percent else "proportion"
            shown = MappingColumn(one.column.column_path, value | printed(one.column, is_fine=one.is_fine), noted(one))
            columns.append(replace(shown, keys=None, proposed=shown.keys) if one.is_doubtful else shown)
        else:
            beside = f"{one.column.label.lower()} raw" in labels
            columns.append(task_column(one, tasks[name], beside_raw=beside))
    views = board.views
    average = average_column(matching, views, {column.column_path for column in columns})
    columns += [average] if average else []
    columns += text_columns(found, views, {column.column_path for column in columns})
    columns = [with_rounding(_without_gap(column, found, views), found.grid, views) for column in columns]
    columns += _left(found, {column.column_path for column in columns}, matching.unsure)
    order: dict[ColumnPath, int] = {}
    for number, column_path in enumerate(found.grid.column_paths):
        order |= {column_path: number, column_path[:1]: order.get(column_path[:1], number)}
    return sorted(columns, key=lambda column: order[column.column_path])


def _left(found: FoundTable, mapped: set[ColumnPath], unsure: Mapping[ColumnPath, str]) -> Iterator[MappingColumn]:
    """The columns that are left to a person; the nested ones of an object of which none is mapped are one."""
    objects = {column_path[:-1] for column_path in found.grid.column_paths}
    parts = {column_path[:1] for column_path in mapped}
    left: dict[ColumnPath, str] = {}
    for column_path in found.grid.column_paths:
        if column_path not in mapped | objects:
            shown = column_path if column_path[:1] in parts else column_path[:1]
            left[shown] = left.get(shown) or unsure.get(column_path, "")
    for column_path, why in left.items():
        is_rank = column_path[-1].strip().casefold() in RANKS
        yield MappingColumn(
            column_path, None, FILLED if is_rank else why or _no_plain_number(found, column_path) or FILLED
        )


def _no_plain_number(found: FoundTable, column_path: ColumnPath) -> str:
    """Why a column is not read whose cells begin with a digit and are no numbers, such as `9.0/10` and `24-48%`."""
    cells = [found.grid.plain(as_text(found.grid.cell(row, column_path))) for row in found.rows]
    odd = [one for one in cells if BEGINS_WITH_NUMBER.match(one) and number_in(one) is None]
    return (
        f"'{brief(odd[0], 40)}' is among its cells, and is no plain number" if odd and 2 * len(odd) > len(cells) else ""
    )


def _without_gap(column: MappingColumn, found: FoundTable, views: Mapping[int, RowView]) -> MappingColumn:
    """The column without `missing` where an incomplete row would erase a number of the table."""
    if column.keys is None or "missing" not in column.keys:
        return column
    erased = any(
        lookup(column.keys["value"], view) is None and number_in(found.grid.cell(row, column.column_path)) is not None
        for row, view in views.items()
    )
    kept = {key: value for key, value in column.keys.items() if key != "missing"}
    return replace(column, keys=kept) if erased else column


def _mapping(
    board: JudgedTable,
    columns: Sequence[MappingColumn],
    keys: Sequence[tuple[ColumnPath, str]],
    without: Sequence[str],
    first: int | None = None,
) -> tuple[str, TableOptions]:
    """The tables of the settings that describe the table; what nobody is sure of is a comment with TODO."""
    place, name = board.found.place, next(one for one in columns if one.column_path == board.found.name)
    key = [name.label, *(".".join(column_path) for column_path, _ in keys)]
    by = sorting(board.found, columns)
    lines = ["[table]", f"path = {toml_text(board.table.path)}"]
    lines += [f"at = {toml_text(place.at)}"] if place.at else []
    lines += ["keyed = true"] if place.key is not None else []
    lines += [f"decimal = {toml_text(place.decimal)}"] if place.decimal != "." else []
    lines += [f"key = {toml_text(key)}"]
    lines += [f"sorted_by = {toml_text(by.label)}"] if by else []
    lines += [FIRST, f"first = {first}"] if first else []
    lines += [UPDATE, 'on_existing = "update"', RECORDS, "records = true"]
    lines += [ELSEWHERE, f"without = {toml_text(without)}"] if without else []
    if why := _why_generated(board):
        lines += [f"# {brief(why, 300)}", "# hand_edited = true"]
    lines += ["", "[table.columns]"]
    for column in columns:
        lines += _column_lines(column)
    for column in columns:
        if column.keys and "names" in column.keys:
            lines += ["", f"[table.columns.{toml_key(column.label)}]"]
            lines += [f"{key} = {toml_text(value)}" for key, value in _keys_of(column).items() if key != "names"]
            lines += [f"[table.columns.{toml_key(column.label)}.names]"]
            lines += [f"{toml_key(model)} = {toml_text(text)}" for model, text in column.keys["names"].items()]
    text = "\n".join(lines) + "\n"
    return text, TableOptions.model_validate({**tomllib.loads(text)["table"], "format": board.table.written})


def _below(board: JudgedTable, options: TableOptions) -> set[str]:
    """The models of the results that have no row because the table shows the best ones alone; none where it shows all.

    So it is where most of many others would be below the last row, and the number of rows is a round one, or the
    heading says so.
    """
    count, grid = len(board.found.grid), board.found.grid
    if options.sorted_by is None or len(board.rows) < count:
        return set()
    rows = MappedRows(options, board.judgement.leaderboard)
    new = rows.edit(grid, [RowChange(one.key, one) for one in board.new]).insertions
    last = {one.wanted.change_key for one in new if one.before == count}
    above = [grid.plain(one) for one in grid.table.above] if isinstance(grid, MarkdownSheet) else []
    is_said = any(OF_FIRST.search(one) for one in above)
    is_short = is_said or (count in {3, *range(5, 105, 5)} and 2 * len(new) > count)
    is_most = len(last) >= FEWEST_BELOW and len(last) >= MOST_BELOW * len(new)
    return {one.model.id for one in board.new if one.key in last} if is_short and is_most else set()


def _keys_of(column: MappingColumn) -> dict[str, Any]:
    nested = {"name": list(column.column_path)} if len(column.column_path) > 1 else {}
    return {**nested, **(column.keys or {})}


def _column_lines(column: MappingColumn) -> Iterator[str]:
    name = toml_key(column.label) if column.label.isprintable() else toml_text(brief(column.label, 80))
    if column.keys is None:
        yield f"# {'TODO ' if column.note != FILLED else ''}{name}: {brief(column.note, 300)}"
        if column.proposed is not None:
            yield f"# {name} = {toml_text(column.proposed)}"
        return
    if column.note:
        yield f"# {brief(column.note, 300)}"
    keys = _keys_of(column)
    if "names" not in keys:
        yield f"{name} = {toml_text(keys['value'] if keys.keys() == {'value'} else keys)}"


def _why_generated(board: JudgedTable) -> str:
    """Why a program seems to write the table, "" if none does: the bot refuses it until a person has decided."""
    if board.table.written == "parquet":
        return ""
    workflows = {path: data for path, data in board.table.around.items() if path.startswith(WORKFLOWS)}
    try:
        check_not_generated(board.table.path, board.found.grid, workflows)  # type: ignore[arg-type]
    except Unwritable as error:
        return str(error)
    return ""


def source_of(results: Sequence[str], names: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The repository of the results, and the patterns of their paths in it; in a folder, those with these names."""
    first = re.split(r"[^/]*[*?[]", results[0])[0] or "." if is_pattern(results[0]) else results[0]
    if first.startswith("hf://"):
        from bot.platforms.hub.address import parse_address

        address = parse_address(first)
        return address.url, _patterns([address.path], names)
    if there := GITHUB_FILE.fullmatch(first):
        also = [found for one in results if (found := GITHUB_FILE.fullmatch(one))]
        return there["repository"], _patterns([one["path"].strip("/") for one in also], names)
    root = root_of(Path(first).resolve() if Path(first).is_dir() else Path(first).resolve().parent)
    if root is None:
        return first if Path(first).is_dir() else os.path.relpath(Path(first).parent), _patterns([""], names)
    inside = [os.path.relpath(Path(one).resolve(), root) for one in results if "://" not in one]
    paths = ["" if one == "." else one for one in inside if not one.startswith("..")]
    return os.path.relpath(root), _patterns(paths, names)


def _patterns(paths: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The patterns of files and folders; of several files of one folder that of all of this kind: one may be added."""
    files = [
        PurePosixPath(path) for path in paths if any(fnmatchcase(PurePosixPath(path).name, name) for name in names)
    ]
    alike = Counter((one.parent, one.suffix) for one in files)
    found: list[str] = []
    for path in paths:
        one = PurePosixPath(path)
        if one in files:
            is_several = alike[one.parent, one.suffix] > 1
            found.append((one.parent / f"*{one.suffix}").as_posix() if is_several else path)
        elif WILD.search(path):
            found.append(path)
        else:
            found += [f"{path}/**/{name}" if path else f"**/{name}" for name in names]
    return tuple(dict.fromkeys(found))


def _notes(
    board: JudgedTable,
    columns: Sequence[MappingColumn],
    ambiguous: Sequence[int],
    by_numbers: Mapping[int, ModelFiles],
    elsewhere: Mapping[str, str],
) -> Iterator[str]:
    """What was mapped, and what is left to a person; `elsewhere` has the models of other tables, and where they are."""
    if why := _why_generated(board):
        yield visible(f"the bot will not write {board.table.shown}: {why}")
    mapped = {column.label or NO_HEADING: column.keys for column in columns if column.keys is not None}
    shown = ", ".join(f"{label} = {keys.get('value') or keys.get('template')}" for label, keys in mapped.items())
    yield f"{len(mapped)} of {counted(len(columns), 'column')} mapped: {visible(shown)}"
    left = ((one.note, one.label or NO_HEADING) for one in columns if one.keys is None and one.note != FILLED)
    for note, labels in grouped(left).items():
        yield visible(f"TODO {first_few(labels, MOST_NAMES)}: {note}")
    if by_numbers:
        pairs = first_few([f"{board.found.text(row)} = {one.model.id}" for row, one in by_numbers.items()], MOST_NAMES)
        yield visible(f"{counted(len(by_numbers), 'row')} found by the numbers, not by the name: {pairs}")
    if ambiguous:
        names = first_few([board.found.text(row) for row in ambiguous], MOST_NAMES)
        how = "add a column to `key` that tells them apart, or give --results without the others"
        yield visible(f"TODO several results may be meant by {names}: {how}")
    if others := [one.model.id for one in board.new if one.model.id in elsewhere]:
        tables = examples(list(dict.fromkeys(elsewhere[one] for one in others)))
        models = f"{counted(len(others), 'model')} of another table of the file ({tables})"
        yield visible(f"no row here, as `without` says, for {models}: {first_few(others, MOST_NAMES)}")


def _new_rows(board: JudgedTable, columns: Sequence[MappingColumn], left: Collection[str]) -> Iterator[str]:
    """Which models would be a new row, or have no value for one; those of `left` get none."""
    needed = [one.keys["value"] for one in columns if one.keys and "value" in one.keys and "missing" not in one.keys]
    views = {one.model.id: RowView(one, board.judgement.leaderboard) for one in board.new}
    free = {name: [lookup(value, view) for value in needed] for name, view in views.items() if name not in left}
    whole, incomplete = ([one for one in free if (None in free[one]) is is_gap] for is_gap in (False, True))
    if whole:
        said = f"{counted(len(whole), 'model')} of the results would be a new row: {first_few(whole, MOST_NAMES)}"
        if _without_result(board.found, board.rows):
            said += "; if a row without a result is one of these, write its name into `names` of its column"
        yield visible(said)
    if incomplete:
        names = first_few(incomplete, MOST_NAMES)
        yield visible(
            f"{counted(len(incomplete), 'model')} of the results would be incomplete, and no row yet: {names}"
        )
