"""The commands of `audit`; each imports its audit when it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot.cli.processes import JOBS, choose_jobs, run_jobs
from bot.errors import CallError
from bot.reporting.escape import plain_json, without_commands
from bot.reporting.prose import Section, markdown, text

if TYPE_CHECKING:
    from bot.audits.drop.audit import LogAudit, LogAuditor
    from bot.audits.results.audit import ExaminedFile
    from bot.audits.score_table import PublishedTable
    from bot.platforms.inputs import Place

WORTH = 4_000_000  # bytes of files that pay for one more process
PLACES_AT_ONCE = 32  # places that a process reads at once
FORMAT = Annotated[
    Literal["text", "json", "markdown"], typer.Option("--format", "-f", help="The format of the report.")
]


audit = typer.Typer(no_args_is_help=True)


@audit.callback()
def group() -> None:
    """Investigate a benchmark, a board, or result files."""


def _print_report(form: str, title: str, lead: str, sections: Sequence[Section], values: Any) -> None:
    """Print sections as text or as Markdown, or the values as JSON; the runner of a workflow hears no command."""
    if form == "json":
        written = plain_json(json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
    else:
        written = {"text": text, "markdown": markdown}[form](title, lead, sections)
    typer.echo(without_commands(written), nl=False)


@audit.command()
def board(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A CSV or Markdown table of scores, a folder with leaderboard.csv, or any target."
        ),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="A column of scores to audit; can be repeated. Default: all found."),
    ] = None,
    leaderboard: Annotated[
        str, typer.Option("--leaderboard", "-l", help="The id of the leaderboard, if the target holds several.")
    ] = "",
    form: FORMAT = "text",
) -> None:
    """Find broken columns of a board.

    Shows what they change in averages and ranks. Exit status 1 if a column is named.
    """
    from bot.audits.board.audit import audit_board
    from bot.audits.board.report import board_json, document

    found = audit_board(_read_scores(target, tuple(column or ()), leaderboard))
    _print_report(form, *document(found, target), board_json(found, target))
    raise typer.Exit(1 if found.named else 0)


def _read_scores(target: str, only: Sequence[str], leaderboard: str) -> PublishedTable:
    """Read a CSV or Markdown table, that of a folder, or a target's entries. Raises CallError if none is there."""
    from bot.audits.samples.records import is_own_file
    from bot.audits.score_table import read_score_table
    from bot.cli.judging import warn
    from bot.platforms.platform import open_target
    from bot.publishing.board import CSV_NAME, board_of
    from bot.service.settings.environment import read_access

    path = Path(target)
    if path.is_dir() and is_own_file(path / CSV_NAME):
        path /= CSV_NAME
    elif "://" in target or path.is_dir():
        return board_of(open_target(target, read_access()).scan_entries().entries, leaderboard, only)
    try:
        found = read_score_table(path.read_bytes(), target, only)
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None
    if found.place:
        warn(f"{target}: {found.place}")
    return found


@audit.command()
def drop(
    samples: Annotated[
        list[Path], typer.Argument(help="Sample logs of DROP, or folders of them: JSON lines or array, plain or gzip.")
    ],
    *,
    golds: Annotated[
        Path | None, typer.Option("--golds", help="A file of questions with answers, for logs without answers.")
    ] = None,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Examples to show of each flaw and log.")] = 3,
    form: FORMAT = "text",
    jobs: JOBS = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Score DROP samples again, and find flaws.

    Shows what the scorer did to each sample, and estimates what must be run again. Exit status 1 if the benchmark is
    broken, a logged score differs, or a record was skipped.
    """
    from bot.audits.drop.audit import audit_drop, find_logs
    from bot.audits.drop.golds import read_golds
    from bot.audits.drop.report import document, drop_json

    def audit_logs(auditor: LogAuditor, logs: Sequence[Path]) -> Iterator[LogAudit]:
        processes = choose_jobs(jobs, sum(log.stat().st_size for log in logs) // WORTH)
        return run_jobs(auditor, logs, processes, label="auditing", quiet=quiet)

    index = read_golds(golds) if golds else None
    found = audit_drop(find_logs(samples), golds=index, examples=examples, audit_logs=audit_logs)
    _print_report(form, *document(found), drop_json(found))
    raise typer.Exit(1 if found.has_errors else 0)


@audit.command()
def mmlu(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Result files, sample logs, HELM run folders, or folders of them; "
            "a CSV of models and implementations is compared."
        ),
    ],
    form: FORMAT = "text",
) -> None:
    """Find the implementation of each MMLU result.

    Shows what it scores, and which results can share a column.
    Exit status 1 if the results cannot share a column, or a path cannot be read.
    """
    from bot.audits.mmlu.audit import audit_mmlu
    from bot.audits.mmlu.report import document, mmlu_json

    found = audit_mmlu(paths)
    _print_report(form, *document(found), mmlu_json(found))
    raise typer.Exit(1 if found.problems or len(found.columns) > 1 else 0)


@audit.command()
def results(
    paths: Annotated[list[str], typer.Argument(help="Result files, or folders of them.")],
    form: FORMAT = "text",
    jobs: JOBS = 0,
) -> None:
    """Detect inconsistencies in result files.

    Compares sample counts, groups, hashes of samples, copies, and what was asked.
    Exit status 1 if a file contradicts itself or its samples, or repeats another model's values.
    """
    from bot.audits.results.audit import audit_of
    from bot.audits.results.report import document, results_json
    from bot.cli.judging import name_links
    from bot.platforms.inputs import local_places

    places = [place for name in paths for place in local_places(name)]
    name_links(places)
    jobs = choose_jobs(jobs, sum(file.size for place in places for file in place.candidate.files) // WORTH)
    found = audit_of(
        [file for files in run_jobs(_examined, places, jobs, part=PLACES_AT_ONCE, label="reading") for file in files]
    )
    if not found.files:
        raise CallError(f"there is no result in {', '.join(paths)}; leaderboard-bot check says what the files are")
    _print_report(form, *document(found), results_json(found))
    raise typer.Exit(0 if found.is_sound else 1)


def _examined(place: Place) -> list[ExaminedFile]:
    """Judge what a place holds, if that may be a result."""
    from bot.audits.results.audit import examine
    from bot.evaluation.submission import UnreadPath

    parsed = place.parse()
    return [] if isinstance(parsed, UnreadPath) else [examine(parsed)]
