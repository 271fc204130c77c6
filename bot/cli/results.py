"""The commands on result files: check, score, explain."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from bot.cli.judging import (
    BOARD,
    DEFAULT,
    FILE_LIMIT,
    FORM,
    LEADERBOARD,
    MODEL_NAME,
    NO_PROGRESS,
    ONLINE,
    PATHS,
    QUIET,
    end,
    files_beside,
    fitting_leaderboard,
    ink,
    judge_paths,
    say,
    warn,
    warn_of_tables,
    warn_proposed,
)
from bot.cli.processes import JOBS
from bot.errors import CallError
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.identity import proposed_names
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import has_some_leaf
from bot.evaluation.rules.unverifiable_harness_commit import unverifiable_harness_commit
from bot.evaluation.score import Scores
from bot.evaluation.verdict import Judgement, only_rows_of
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import reader_of
from bot.platforms.platform import open_target
from bot.publishing.entry import Entry, Evidence
from bot.reporting.escape import brief
from bot.reporting.locate import with_lines
from bot.reporting.markdown import judgement_markdown
from bot.reporting.report import make_report, sample_logs, to_json
from bot.reporting.text import sample_markdown, sample_text, summary_text, terminal_text, unreadable_text
from bot.service.settings.environment import read_access


def check(
    context: typer.Context,
    paths: PATHS,
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[
        Literal["text", "json", "markdown", "github", "summary"],
        FORM,
    ] = "text",
    board: BOARD = "",
    *,
    model_name: MODEL_NAME = None,
    online: ONLINE = False,
    quiet: QUIET = False,
    samples: Annotated[
        bool,
        typer.Option("--samples", help="Also check the sample logs beside the files, whatever the leaderboard asks."),
    ] = False,
    beside: Annotated[
        bool, typer.Option("--beside", help="Join the files in the folders of these to rows that lack tasks.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--all", help="Show every finding of every file, however long the text is.")
    ] = False,
    max_bytes: FILE_LIMIT = MAX_BYTES,
    jobs: JOBS = 0,
) -> None:
    """Check result files. Each finding says what is wrong, where it is, and how to repair it."""
    declared = open_leaderboard(leaderboard, read_access())
    read = partial(
        judge_paths,
        leaderboard=declared,
        board=open_target(board, read_access()).scan_entries().entries if board else (),
        names=model_name,
        declared_in=leaderboard,
        quiet=quiet,
        online=online,
        max_bytes=max_bytes,
        jobs=jobs,
        samples=samples,
    )
    judgement, places = read(paths)
    if beside and any(row.status == "incomplete" for row in judgement.rows) and (others := files_beside(paths)):
        wider, places = read([*paths, *others], is_whole=False)
        judgement = only_rows_of(judgement, wider)
    is_refused = warn_of_tables(judgement, leaderboard)
    if not _names_leaderboard(context):
        _refuse_others(judgement, paths, "check")
        _warn_of_other(judgement)
    logs = sample_logs(judgement) if samples else []
    if form != "summary":
        judgement = with_lines(judgement, reader_of(places))
    written: dict[str, Callable[[], str]] = {
        "text": lambda: terminal_text(judgement, ink(), quiet=quiet, whole=whole) + sample_text(logs),
        "json": lambda: to_json(make_report(judgement) | ({"samples": logs} if samples else {})) + "\n",
        "markdown": lambda: judgement_markdown(judgement) + sample_markdown(logs),
        "github": lambda: _annotations(judgement, logs),
        "summary": lambda: summary_text(judgement, ink()) + sample_text(logs),
    }
    if form == "github":
        typer.echo(written[form](), nl=False)  # these lines are workflow commands, already escaped
    else:
        say(written[form]())
    asked = [
        verdict
        for verdict in judgement.verdicts
        if any(one.rule == unverifiable_harness_commit.id for one in verdict.findings)
    ]
    unknown = {verdict.result.harness.git_hash for verdict in asked if verdict.result is not None} - {None}
    if unknown and not online:
        warn(f"--online asks GitHub whether {counted(len(unknown), 'harness commit')} can be accepted")
    results = {verdict.path: verdict.result for verdict in judgement.verdicts if verdict.result is not None}
    if any(not one.model.id for one in results.values()):  # these share a row; their paths may tell whose they are
        warn_proposed(proposed_names(results), "check")
    is_contradicted = any(found["severity"] == "error" for one in logs for found in one["findings"])
    raise typer.Exit(1) if is_contradicted or is_refused else end(judgement)


def _names_leaderboard(context: typer.Context) -> bool:
    """Tell whether the call names a leaderboard, and does not leave it at the default."""
    source = context.get_parameter_source("leaderboard")
    return source is not None and source.name != "DEFAULT"


def _warn_of_other(judgement: Judgement) -> None:
    if other := _of_other(judgement):
        warn(other)


def _of_other(judgement: Judgement) -> str:
    """That the results are those of another shipped leaderboard than the default one, "" where they are not."""
    other = fitting_leaderboard(judgement)
    return f"these are tasks of {other} and not of {judgement.leaderboard.id}: add --leaderboard {other}" * bool(other)


def _refuse_others(judgement: Judgement, paths: list[str], command: str) -> None:
    """Raise CallError where nobody named a leaderboard to it, and the results have nothing of the default one."""
    read = [verdict for verdict in judgement.verdicts if verdict.result is not None]
    results = [verdict.result for verdict in read if verdict.result is not None]
    pairs = [(one.result, one.measurements) for one in read]
    if not read or any(result and measured and has_some_leaf(result, measured) for result, measured in pairs):
        return
    formats = ", ".join(dict.fromkeys(one.format for one in results))
    models = examples(list(dict.fromkeys(one.model.id or "a model without a name" for one in results)))
    tasks = examples(list(dict.fromkeys(key for one in results for key in one.leaves)))
    names, each = " ".join(map(shlex.quote, paths)), " ".join(f"--results {shlex.quote(path)}" for path in paths)
    found = f"{counted(len(results), 'result')} ({formats}) of {models}"
    faults = [f"{one.path}: {one.findings[0].message}" for one in judgement.verdicts if one.result is None]
    such = ", such as" if faults[1:] else ":"
    faulty = f"{counted(len(faults), 'file')} could not be read{such} {faults[0]}\n" if faults else ""
    if not tasks:
        raise CallError(f"{found}: without a score; let the harness run them to the end and score the answers")
    nothing = (
        f"{found}: {tasks}\n{faulty}nothing of {judgement.leaderboard.id} is in them, and no --leaderboard was given\n"
    )
    if other := fitting_leaderboard(judgement):
        raise CallError(
            f"{nothing}they have the tasks of {other}: leaderboard-bot {command} {names} --leaderboard {other}"
        )
    raise CallError(
        f"{nothing}to begin a leaderboard of these tasks: leaderboard-bot init ours {each}\n"
        f"then: leaderboard-bot {command} {names} --leaderboard ours/board.toml"
    )


def _annotations(judgement: Judgement, logs: Sequence[Mapping[str, Any]]) -> str:
    from bot.reporting.annotations import annotate, of_samples

    found = [verdict.findings for verdict in judgement.verdicts] + [row.findings for row in judgement.rows]
    lines = [line for findings in found for line in annotate(findings)]
    return "".join(f"{line}\n" for line in [*lines, *of_samples(logs)])


def score(
    context: typer.Context,
    paths: PATHS,
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[Literal["text", "json", "csv", "markdown"], FORM] = "text",
    model_name: MODEL_NAME = None,
    *,
    quiet: NO_PROGRESS = False,
    max_bytes: FILE_LIMIT = MAX_BYTES,
    jobs: JOBS = 0,
) -> None:
    """Calculate the scores of result files. All files of one model make one row."""
    from bot.reporting.scores import scores_csv, scores_markdown, scores_text

    declared = open_leaderboard(leaderboard, read_access())
    judgement, _ = judge_paths(
        paths, declared, names=model_name, declared_in=leaderboard, quiet=quiet, max_bytes=max_bytes, jobs=jobs
    )
    written: dict[str, Callable[[Judgement], str]] = {
        "text": scores_text,
        "json": lambda found: to_json(make_report(found)) + "\n",
        "csv": scores_csv,
        "markdown": scores_markdown,
    }
    say(written[form](judgement))
    if not _names_leaderboard(context):
        _warn_of_other(judgement)
    raise end(judgement)


def explain(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH... [TASK]",
            help="Result files or folders, with --model a target; then a column by id or title, or average.",
        ),
    ],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[Literal["text", "json"], FORM] = "text",
    *,
    model_name: MODEL_NAME = None,
    model: Annotated[str, typer.Option(metavar="ID", help="Explain the row of this model, or key, at a target.")] = "",
    reported: Annotated[
        str, typer.Option(metavar="VALUE", help="Find out which reading of the file gives this number, as printed.")
    ] = "",
    max_bytes: FILE_LIMIT = MAX_BYTES,
) -> None:
    """Explain each score, or a number that somebody reported.

    A score is explained from the raw value to the mean; a number by the readings of the file that give it.
    """
    from bot.reporting.explanation import column_named, explanation_text

    if model and (reported or form == "json"):
        other = f"--reported {reported}" if reported else "--format json"
        raise CallError(
            f"--model explains a row of a board, and {other} needs its result files: explain the row without it, which "
            f"names them, then: leaderboard-bot explain FILE {other}"
        )
    if model:
        target, named, *more = *words, ""
        if more[1:]:
            raise CallError(f"{more[0]}: one more argument than TARGET and TASK")
        say(_explained_row(target, model, named, leaderboard if _names_leaderboard(context) else ""))
        return
    declared = open_leaderboard(leaderboard, read_access())
    *paths, last = words
    is_task = bool(paths) and (bool(column_named(declared, last)) or not ("://" in last or Path(last).exists()))
    task = last if is_task else ""
    paths = paths if is_task else words
    if reported:
        judgement, places = judge_paths(paths, declared, names=model_name, declared_in=leaderboard, max_bytes=max_bytes)
        advice = "" if _names_leaderboard(context) else _of_other(judgement)
        column = column_named(declared, task) or task
        raise typer.Exit(_explain_reported(judgement, reader_of(places), reported, column, form, advice=advice))
    task = _column(declared, task)
    judgement, _ = judge_paths(paths, declared, names=model_name, declared_in=leaderboard, max_bytes=max_bytes)
    if not _names_leaderboard(context):
        _refuse_others(judgement, paths, "explain")
    say(explanation_text(judgement, task) if form == "text" else to_json(make_report(judgement)) + "\n")
    if not _names_leaderboard(context):
        _warn_of_other(judgement)
    for verdict in judgement.unreadable if form != "json" else ():
        warn(unreadable_text(verdict, ink()))
    raise end(judgement)


def _column(declared: Leaderboard, task: str) -> str:
    from bot.reporting.explanation import column_named

    found = column_named(declared, task)
    if task and not found:
        known = ", ".join(column.id for column in declared.tasks)
        raise CallError(f"{declared.id} has no task {task!r}; it has {known}")
    return found


def _explained_row(target: str, model: str, task: str, leaderboard: str) -> str:
    """The explanation of a row of a board, from the numbers that its entry records."""
    from bot.cli.leaderboards import declared_by, read_board
    from bot.publishing.board import disbelief
    from bot.reporting.explanation import Explained, explain

    board = read_board(target, leaderboard)
    rows = [row for row in board.rows if model in {row.entry.model.id, row.entry.key}]
    if len(rows) != 1:
        keys = f": name one by its key, such as {rows[0].entry.key}" if rows else ""
        raise CallError(f"{target} has {len(rows) or 'no'} {'rows' if rows else 'row'} of {model}{keys}")
    entry, declared = rows[0].entry, board.leaderboard
    if entry.leaderboard.scoring_digest != declared.scoring_digest:
        declared = declared_by(open_target(target, read_access()), target, entry.leaderboard)
    task = _column(declared, task)
    if why := rows[0].fault or _undeclared(entry, declared):
        raise CallError(disbelief(entry, why))
    missing, definitions = entry.coverage.missing, entry.definitions
    scores = entry.scores
    leaves = [leaf for column in scores.tasks for leaf in column.leaves]
    origins = {leaf.file: _origin(found) for leaf in leaves if (found := entry.evidence_of(leaf))}
    return explain(Explained(declared, scores, len(entry.evidence), missing, {}, definitions, {}, origins), task)


def _origin(file: Evidence) -> str:
    """Which bytes a file of a board's row was, and where: what a reader needs to fetch and compare it."""
    at = f", at {file.commit}" if file.commit else ""
    return f"{file.source}{file.source and '/'}{file.path}, sha256 {file.sha256}{at}"


def _undeclared(entry: Entry, declared: Leaderboard) -> str:
    """What a row has and its declaration has not, or has otherwise, as a sentence; "" if there is nothing."""
    tasks = {task.id: task for task in declared.tasks}
    for score in entry.tasks:
        if (task := tasks.get(score.id)) is None:
            return f"its declaration has no task {brief(score.id)}"
        leaves, metrics = {leaf.id for leaf in task.leaves}, {metric.name for metric in task.metrics}
        for leaf in score.leaves:
            if leaf.id not in leaves or leaf.metric not in metrics:
                return f"its declaration of {task.id} has no {brief(leaf.metric)} of {brief(leaf.id)}"
    return ""


def _explain_reported(
    judgement: Judgement, read: Callable[[str], bytes | None], reported: str, task: str, form: str, *, advice: str
) -> int:
    """Say which readings of one row's files give a number, with an advice; the exit status is 1 where none does."""
    from bot.evaluation.reported import parse_reported, read_reported, with_settings
    from bot.evaluation.rules.chat_template_differs import chat_template_differs
    from bot.evaluation.rules.limited_run import limited_run
    from bot.evaluation.rules.not_comparable import not_comparable
    from bot.evaluation.unread_numbers import unread_places
    from bot.reporting.comparison import reported_json, reported_text

    if len(judgement.rows) > 1:
        called = examples([row.model.id or "one without a name" for row in judgement.rows])
        raise CallError(f"the files are of {len(judgement.rows)} rows, {called}: name those of one model")
    results = {verdict.path: verdict.result for verdict in judgement.verdicts if verdict.result is not None}
    if not results:
        faults = [(one.path, finding) for one in judgement.unreadable for finding in one.findings]
        why = [": ".join(filter(None, (path, one.message, one.hint))) for path, one in faults]
        raise CallError(next(iter(why), "no result file was found"))
    scores = judgement.rows[0].scores if judgement.rows else Scores(None, ())
    number = parse_reported(reported)
    found = read_reported(results, scores, judgement.leaderboard, number, task)
    if not found.fitting and not task:
        own = [one for one in judgement.verdicts if one.result and one.parsed.of == 1]
        unread = [
            f"{place} of {one.path}" if own[1:] else place
            for one in own
            for place in unread_places(read(one.path) or b"", one.path, results[one.path], number)
        ]
        found = replace(found, unread=tuple(unread))
    said = [one for verdict in judgement.verdicts for one in verdict.findings]
    causes = grouped(
        (one.task, one.message)
        for one in said
        if one.rule in {not_comparable.id, limited_run.id, chat_template_differs.id} or (one.is_error and one.task)
    )
    found = with_settings(found, results, causes)
    if form == "text":
        say(reported_text(found) + (f"\n{advice[0].upper()}{advice[1:]}\n" if advice else ""))
    else:
        say(to_json(reported_json(found)) + "\n")
        if advice:
            warn(advice)
    return 0 if found.fitting else 1
