"""The command group `audit`: a call in, a report on standard output and an exit status out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from bot.errors import CallError

if TYPE_CHECKING:
    from bot.audit.table import Board

Record = TypeVar("Record")
audit = typer.Typer(no_args_is_help=True)


@audit.callback()
def group() -> None:
    """Investigate a benchmark, a board, or where numbers come from."""


class Form(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


FORM = Annotated[Form, typer.Option("--format", help="How the report is written.")]
HTML = Annotated[Path | None, typer.Option("--html", help="Write one self-contained page with charts there, too.")]


@audit.command("board")
def board(
    target: Annotated[str, typer.Argument(help="A CSV of scores, a folder with leaderboard.csv, or any target.")],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="A column of scores; give it once for each. Default: all found."),
    ] = None,
    leaderboard: Annotated[
        str, typer.Option("--leaderboard", "-l", help="The id of the entries' leaderboard, where there are several.")
    ] = "",
    form: FORM = Form.TEXT,
    html: HTML = None,
) -> None:
    """Name the columns of a board that do not follow the rest, and what they do to averages and ranks.

    Exit status 1 where a column is named.
    """
    from bot.audit.columns import audit_board
    from bot.render import audit_board as render

    found = audit_board(scores_at(target, tuple(column or ()), leaderboard))
    forms: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: render.board_text(found, target),
        Form.JSON: lambda: as_json(render.board_json(found, target)),
        Form.MARKDOWN: lambda: render.board_markdown(found, target),
    }
    report(forms[form], html, lambda: render.board_html(found, target))
    raise typer.Exit(1 if found.named else 0)


def scores_at(target: str, only: tuple[str, ...], leaderboard: str) -> Board:
    """Read a CSV, the table of a folder, or the entries of a target. Raises CallError where there is none of them."""
    from bot.audit.table import board_of, read_board
    from bot.board import CSV_NAME
    from bot.forges.targets import open_target
    from bot.settings import read_access

    path = Path(target)
    if "://" not in target and not path.is_dir():
        return read_board(read_bytes(path), target, only)
    if path.is_dir() and (path / CSV_NAME).is_file():
        return read_board(read_bytes(path / CSV_NAME), target, only)
    return board_of(open_target(target, read_access()).read_entries(), leaderboard, only)


@audit.command("drop")
def drop(
    samples: Annotated[
        list[Path], typer.Argument(help="Sample logs of DROP, or folders of them; JSON lines or array, plain or gzip.")
    ],
    *,
    golds: Annotated[
        Path | None, typer.Option("--golds", help="A file of questions with answers, for logs that hold none.")
    ] = None,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Samples shown of each flaw and log.")] = 3,
    form: FORM = Form.TEXT,
    html: HTML = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Score DROP samples again, show what the scorer did to them, and say what must be rerun.

    Exit status 1 where the benchmark is broken, a logged score differs, or a record had to be left out.
    """
    from bot.audit.drop.audit import audit_drop
    from bot.audit.drop.find import find_logs
    from bot.audit.drop.golds import read_golds
    from bot.render import audit_drop as render
    from bot.render.audit_drop_json import audit_drop_json
    from bot.render.audit_drop_page import audit_drop_page

    if html is not None:
        expect_page(html)
    index = read_golds(golds) if golds else None
    watch = None if quiet or not sys.stderr.isatty() else progress
    found = audit_drop(find_logs(samples), golds=index, examples=examples, watch=watch)
    forms: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: render.audit_drop_text(found),
        Form.JSON: lambda: audit_drop_json(found),
        Form.MARKDOWN: lambda: render.audit_drop_markdown(found),
    }
    report(forms[form], html, lambda: audit_drop_page(found))
    raise typer.Exit(1 if found.has_errors else 0)


@audit.command("results")
def results(
    paths: Annotated[list[str], typer.Argument(help="Result files, or folders of them.")],
    form: FORM = Form.TEXT,
) -> None:
    """Recover what result files give away: sample counts, groups, hashes of the samples beside them, copies.

    Exit status 1 where a file contradicts itself or its samples, or repeats another model's values.
    """
    from bot.audit.forensics.audit import audit_results
    from bot.render import audit_results as render
    from bot.submissions import find_files, read_submission

    read = (read_submission(name) for name in find_files(paths))
    found = audit_results([(one.path, one.data) for one in read])
    forms: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: render.results_text(found),
        Form.JSON: lambda: as_json(render.results_json(found)),
        Form.MARKDOWN: lambda: render.results_markdown(found),
    }
    report(forms[form], None, str)
    raise typer.Exit(0 if found.is_sound else 1)


class JudgeByDefault(TyperGroup):
    """A group whose first word may be a path: what names no command is judged."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default command before a path or an option of its own."""
        if args and args[0] not in {*self.commands, "--help"}:
            args.insert(0, "judge")
        return super().parse_args(ctx, args)


mmlu = typer.Typer(cls=JudgeByDefault, no_args_is_help=True)
audit.add_typer(mmlu, name="mmlu")


@mmlu.callback()
def mmlu_group() -> None:
    """Say which implementation of MMLU a result comes from: `audit mmlu PATH...`; or build the prompts of each."""


@mmlu.command("judge")
def mmlu_judge(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Result files, sample logs, HELM run folders, or folders of them; "
            "a CSV of models and implementations is compared."
        ),
    ],
    form: FORM = Form.TEXT,
    html: HTML = None,
) -> None:
    """Say which implementation produced each result, what it scores, and which results may stand in one column.

    Exit status 1 where results do not stand in one column, or a path could not be read.
    """
    from bot.audit.mmlu.audit import audit_mmlu
    from bot.render import audit_mmlu as render

    if html is not None:
        expect_page(html)
    found = audit_mmlu(paths)
    forms: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: render.mmlu_text(found),
        Form.JSON: lambda: as_json(render.mmlu_json(found)),
        Form.MARKDOWN: lambda: render.mmlu_markdown(found),
    }
    report(forms[form], html, lambda: render.mmlu_html(found))
    raise typer.Exit(1 if found.problems or len(found.columns) > 1 else 0)


@mmlu.command("prompts")
def mmlu_prompts(
    questions: Annotated[
        Path | None, typer.Argument(help="Questions as JSON lines (question, choices, answer, subject).")
    ] = None,
    *,
    family: Annotated[list[str] | None, typer.Option("--family", help="An implementation. Default: all.")] = None,
    subject: Annotated[str, typer.Option("--subject", help="The subject of questions that name none.")] = "anatomy",
    shots: Annotated[Path | None, typer.Option("--shots", help="A file of questions to show as shots.")] = None,
    num_fewshot: Annotated[int, typer.Option("--num-fewshot", "-k", min=0, help="How many shots to show.")] = 5,
    form: Annotated[Form, typer.Option("--format", help="`json` is exact; `text` for reading.")] = Form.TEXT,
) -> None:
    """Build the prompt of each implementation, byte for byte. Without a file, for a made-up question."""
    from bot.audit.mmlu.prompt_sheet import prompt_sheet, sheet_text

    sheet = prompt_sheet(questions, shots, families=family or (), subject=subject, num_fewshot=num_fewshot)
    typer.echo(as_json(sheet) if form is Form.JSON else sheet_text(sheet), nl=False)


def expect_page(html: Path) -> None:
    """Raise CallError before long work whose page could not be drawn or written at its end."""
    from bot.render.chart import altair

    altair()
    if not html.parent.is_dir():
        raise CallError(f"{html}: cannot be written: there is no folder {html.parent}")


def progress(path: Path, records: Iterable[Record]) -> Iterator[Record]:
    """Pass records on, and count them on a terminal."""
    with typer.progressbar(records, label=path.name, file=sys.stderr, show_pos=True, update_min_steps=1000) as bar:
        yield from bar


def report(written: Callable[[], str], html: Path | None, page: Callable[[], str]) -> None:
    """Print a report, and write its page where one is asked for."""
    if html is not None:
        write_text(html, page())
    typer.echo(written(), nl=False)


def as_json(value: Any) -> str:
    """Return JSON for people and programs alike, with a line break at its end."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_bytes(path: Path) -> bytes:
    """Read a file that the call names. Raises CallError where that fails."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file that the call names. Raises CallError where that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CallError(f"{path}: cannot be written: {error.strerror}") from None
