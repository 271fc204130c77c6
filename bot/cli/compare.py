"""The command `compare`: whether measurements differ by more than chance, and what differed in how they were made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from bot.cli.judging import (
    FORM,
    LEADERBOARD,
    MODEL_NAME,
    beside,
    check_sources,
    judge_paths,
    parse_names,
    parse_places,
    say,
    warn,
    warn_unused,
)
from bot.cli.leaderboards import declared_at
from bot.errors import CallError
from bot.evaluation.compare import MeasuredRun, Paired, compare, run_of_results
from bot.evaluation.finding import examples
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.formats.sameness import model_name
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.identity import identified, name_for
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Result
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import Place, find_places
from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.publishing.board import contradiction, disbelief
from bot.publishing.compared_rows import run_of_entry
from bot.publishing.entry import Entry, entry_of
from bot.reporting.comparison import comparison_json, comparison_markdown, comparison_text
from bot.reporting.escape import brief
from bot.reporting.report import to_json
from bot.service.checks.verify_evidence import UNREAD, EvidenceReader
from bot.service.settings.environment import read_access

MOST_MEASUREMENTS = 4  # measurements of one call
LONGEST_ERROR = 300  # characters of an error


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of the call: its run, and the results that may have sample logs beside them."""

    run: MeasuredRun
    results: Sequence[tuple[Place, Result]] = ()


def compare_measurements(
    measurements: Annotated[
        list[str],
        typer.Argument(metavar="A B [C D]", help="Result files or folders; with --board also rows or models."),
    ],
    board: Annotated[
        str,
        typer.Option(metavar="TARGET", help="The board whose rows may be named; one file is compared with its row."),
    ] = "",
    leaderboard: LEADERBOARD = "",
    task: Annotated[
        list[str] | None, typer.Option("--task", metavar="ID", help="Only this task; can be repeated.")
    ] = None,
    samples: Annotated[
        str,
        typer.Option(
            metavar="auto|none|DIR", help="Pair the answers of the sample logs beside the files, or below DIR."
        ),
    ] = "auto",
    *,
    model_name: MODEL_NAME = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option("--sources", metavar="DIR", help="A folder with the files of rows; can be repeated."),
    ] = None,
    form: Annotated[Literal["text", "json", "markdown"], FORM] = "text",
    fail_on: Annotated[
        Literal["lower"] | None,
        typer.Option(help="End with 1 if a task or the average is worse beyond chance (higher where less is better)."),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(min=0, max=100, metavar="POINTS", help="With --fail-on: only if worse by more than these points."),
    ] = 0.0,
) -> None:
    """Compare two to four measurements.

    Shows what differed in how they were measured, and which differences are more than chance.
    """
    names = list(measurements)
    if len(names) > MOST_MEASUREMENTS or (len(names) < 2 and not (board and len(names) == 1)):
        raise CallError("compare takes two to four measurements, or one file with --board")
    if sources and not board:
        raise CallError("--sources names the folders of the files of rows, and rows need --board")
    check_sources(sources or [])
    with closing(EvidenceReader(Opener(read_access()), sources or [])) as reader:
        sides = _sides(names, board, leaderboard, tuple(task or ()), ids=model_name or [], reader=reader)
    compared = [compare(sides[0].run, other.run, _pairs(sides[0], other, samples)) for other in sides[1:]]
    written: dict[str, Callable[[], str]] = {
        "text": lambda: "\n".join(map(comparison_text, compared, "BCD")),
        "json": lambda: to_json(comparison_json(compared[0], compared[1:])) + "\n",
        "markdown": lambda: "\n".join(map(comparison_markdown, compared, "BCD")),
    }
    say(written[form]())
    if fail_on and all(task.conclusion == "not comparable" for one in compared for task in one.tasks):
        raise CallError("nothing of the two can be compared, so nothing says whether one is lower")
    raise typer.Exit(1 if fail_on and any(one.worse(margin) for one in compared) else 0)


def _sides(
    names: Sequence[str],
    board: str,
    leaderboard: str,
    only: tuple[str, ...],
    *,
    ids: list[str],
    reader: EvidenceReader,
) -> list[_Side]:
    """The measurements by their names: paths, and rows of the board where one is named."""
    if board and Path(board).is_file():
        raise CallError(f"{board} is a file; a board is a folder, or hf://datasets/…, or github://…")
    opened = reader.opener.target(board) if board else None
    entries = list(opened.scan_entries().entries) if opened else []
    rows = {name: _row(entries, name, board) for name in names if not (name.startswith("hf://") or Path(name).exists())}
    declared = open_leaderboard(leaderboard, read_access()) if leaderboard else None
    if opened and declared is None:
        declared = _declared_by(opened, board, list(rows.values()), entries)
    reader.forms, reader.target = declared.formats if declared else (), opened
    reader.expect(file for row in rows.values() for file in row.evidence)
    called, used = parse_names(ids), set[str | None]()
    named = beside(leaderboard).after(called)
    found: list[_Side] = []
    for name in names:
        if declared is None:
            found.append(_of_files(name, only, named, used))
            continue
        if name in rows:
            found.append(_of_row(name, rows[name], only, declared, reader))
            continue
        entry, results = _judged(name, declared, ids, leaderboard), _results_at(name, [], named, used, declared.formats)
        if len(names) == 1:
            other = _same_model(entries, entry, board)
            reader.expect(other.evidence)
            found.append(_of_row(f"{board}: {entry.model.id}", other, only, declared, reader))
        files = {place.name: result for place, result in results}
        found.append(_Side(run_of_entry(name, entry, only, files=files, declared=declared), results))
    warn_unused(called, used)
    return found


def _of_row(name: str, entry: Entry, only: tuple[str, ...], declared: Leaderboard, reader: EvidenceReader) -> _Side:
    """A row of a board, with what its files say of how they were measured, where they can be read."""
    files, why = reader.results(entry)
    run = run_of_entry(name, entry, only, files=files, declared=declared)
    return _Side(replace(run, model=entry.model.id, unread=f"{name}: {UNREAD}: {why}" if why else ""))


def _results_at(
    name: str,
    problems: list[str],
    ids: Mapping[str, str],
    used: set[str | None],
    forms: tuple[DeclaredForm, ...] = (),
) -> list[tuple[Place, Result]]:
    """The results at a path with their places; adds to `problems` why others are none, to `used` the names that fit."""
    found = find_places([name], read_access(), MAX_BYTES, forms)
    read = list(parse_places(found, [], quiet=True))
    places = {place.name: place for place in found}
    used |= {name_for(one, ids) for one in read}
    parsed = [identified(one, ids) for one in read]
    problems += [": ".join(filter(None, (one.problem.why, one.problem.hint))) for one in parsed if one.problem]
    return [(places[one.path], one.result) for one in parsed if one.result is not None]


def _row(entries: Sequence[Entry], name: str, board: str) -> Entry:
    """The row of a board that a key, a path or a model's id names."""
    named = [one for one in entries if name in {one.key, one.path, one.model.id}]
    if not named:
        raise CallError(f"{name} is no file, and no row{f' of {board}' if board else '; name the board with --board'}")
    if len(named) > 1:
        raise CallError(f"{board} has {len(named)} rows of {name}: name one by its key, such as {named[0].key}")
    return _told(named[0])


def _same_model(entries: Sequence[Entry], entry: Entry, board: str) -> Entry:
    found = [one for one in entries if one.key == entry.key] or [
        one for one in entries if one.model.id.lower() == entry.model.id.lower()
    ]
    if not found:
        raise CallError(f"{board} has no row of {entry.model.id}")
    return _told(found[0])


def _told(entry: Entry) -> Entry:
    """A row of the board, with a warning where its own numbers contradict each other."""
    if why := contradiction(entry):
        warn(disbelief(entry, why))
    return entry


def _declared_by(opened: Target, board: str, rows: Sequence[Entry], entries: Sequence[Entry]) -> Leaderboard:
    """The leaderboard of the rows that are named, else the only one of a board, as the board keeps it."""
    if not entries:
        raise CallError(f"{board} has no row: publish one there and merge its request")
    wanted = {one.leaderboard.id for one in rows} or {one.leaderboard.id for one in entries}
    return declared_at(opened, board, [one for one in entries if one.leaderboard.id in wanted])


def _judged(name: str, declared: Leaderboard, ids: list[str], declared_in: str) -> Entry:
    """The row that the files at a path make, as an entry; the numbers of a rejected one are compared, too."""
    judgement, _ = judge_paths([name], declared, names=ids, declared_in=declared_in, quiet=True, is_whole=False)
    entries = [entry for row in judgement.rows if (entry := entry_of(row)) is not None]
    if not entries:
        average = declared.average.model_copy(update={"missing": "unranked"})
        lenient = declared.model_copy(update={"average": average})
        rows = judge_all([one.parsed for one in judgement.verdicts], lenient, rules=()).rows
        entries = [entry for row in rows if row.measurements.present and (entry := entry_of(row)) is not None]
        found = [*chain.from_iterable(row.findings for row in judgement.rows)]
        found += chain.from_iterable(verdict.findings for verdict in judgement.verdicts)
        errors = {one.rule: one.message for one in reversed(found) if one.is_error}  # the first of each rule
        if not entries:
            rules = f" ({examples(sorted(errors))})" if errors else ""
            raise CallError(f"{name}: no number of {declared.id}{rules}; `leaderboard-bot check` says more")
        warn(f"{name}: {declared.id} takes no such row; `leaderboard-bot check` says what to do")
        for rule, message in sorted(errors.items()):
            warn(f"  {rule}: {brief(message, LONGEST_ERROR)}")
    if len(entries) > 1:
        raise CallError(f"{name} holds {len(entries)} rows: name the files of one")
    findings = [one for verdict in judgement.verdicts for one in verdict.findings if one.is_error]
    for task in (one for one in entries[0].tasks if one.score is None):
        why = next((f"{one.message} ({one.rule})" for one in findings if one.task == task.id), "no file has all of it")
        warn(f"{name}: {task.title} is not compared, as it has no score: {brief(why, LONGEST_ERROR)}")
    return entries[0]


def _of_files(name: str, only: Sequence[str], ids: Mapping[str, str], used: set[str | None]) -> _Side:
    """A measurement of files as they are, of one model."""
    problems: list[str] = []
    found = [(place, result) for place, result in _results_at(name, problems, ids, used) if result.leaves]
    found.sort(key=lambda one: one[1].date or 0.0)
    results = [result for _, result in found]
    if not results:
        raise CallError(f"{name}: {next(iter(problems), 'no result is there')}")
    models: dict[tuple[str, str], str] = {}
    for one in (result.model for result in results):
        models.setdefault((model_name(one.id), one.revision), "@".join(filter(None, (one.id, one.revision))))
    if len(models) > 1:
        called = examples([model or "one without a name" for model in models.values()])
        raise CallError(
            f"{name} holds results of {len(models)} models, {called}: name the files of one, or say with --model-name "
            "that they are one"
        )
    return _Side(run_of_results(name, results, only), found)


def _pairs(first: _Side, second: _Side, samples: str) -> Paired:
    """The paired answers of both runs, where both have sample logs."""
    if samples == "none" or not first.results or not second.results:
        return {}
    folder = None if samples == "auto" else Path(samples)
    if folder is not None and not folder.is_dir():
        raise CallError(f"--samples {samples}: write auto, none, or a folder with sample logs")
    from bot.service.judge.samples import LogsBeside

    return LogsBeside(folder=folder).pairs((first.results, second.results), first.run, second.run)
