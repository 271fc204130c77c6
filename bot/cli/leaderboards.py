"""The commands that show rules, declarations and boards: rules, leaderboards, board."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from textwrap import fill
from typing import Annotated

import typer

from bot.audits.output import default_to
from bot.cli.judging import DEFAULT, LEADERBOARD, results_at, say
from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.leaderboard import load_leaderboard, shipped
from bot.evaluation.rules import ALL_RULES
from bot.platforms.declarations import open_leaderboard
from bot.reporting.text import WIDTH
from bot.service.settings.environment import read_access


def rules(
    rule: Annotated[str, typer.Argument(metavar="[RULE]", help="The id of a rule. Default: list all rules.")] = "",
) -> None:
    """List the rules, or explain one."""
    if not rule:
        width = max(len(known.id) for known in ALL_RULES)
        for known in ALL_RULES:
            typer.echo(_item(f"{known.severity:8} {known.id:{width}}  ", known.title))
        return
    page = next((known for known in ALL_RULES if known.id == rule), None)
    if page is None:
        raise CallError(f"there is no rule {rule!r}; `leaderboard-bot rules` lists them")
    typer.echo(f"{page.id} ({page.severity}, since {page.since})\n\n{page.page}")


leaderboards = typer.Typer(
    cls=default_to("show"), invoke_without_command=True, add_completion=False, rich_markup_mode=None
)


@leaderboards.callback()
def list_leaderboards(ctx: typer.Context) -> None:
    """List, check, show or draft declarations. `leaderboards ID|FILE` checks and shows one."""
    if ctx.invoked_subcommand is None:
        for name in shipped():
            typer.echo(_item(f"{name:18} ", load_leaderboard(name).description))


@leaderboards.command("show")
def show(
    leaderboard: Annotated[
        str, typer.Argument(metavar="LEADERBOARD", help="An id, a TOML file, or its hf:// address.")
    ],
) -> None:
    """Check a declaration and show its columns."""
    from bot.reporting.declaration import describe_leaderboard

    declared = open_leaderboard(leaderboard, read_access())
    known = {rule.id for rule in ALL_RULES}
    faults = [
        (f"waivers.{number}.rule", f"there is no rule {waiver.rule!r}")
        for number, waiver in enumerate(declared.waivers)
        if waiver.rule not in known
    ]
    if faults:
        raise MalformedDeclaration(leaderboard, faults)
    typer.echo(describe_leaderboard(declared), nl=False)


@leaderboards.command("draft")
def draft(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Result files, or folders that hold them.")],
) -> None:
    """Draft a declaration from result files. Save it to a file, and complete each line that says TODO."""
    from bot.evaluation.draft.tasks import draft_of
    from bot.reporting.draft import draft_text

    results, faulty = results_at(files)
    say(draft_text(draft_of(results)))
    raise typer.Exit(1 if faulty else 0)


def _item(head: str, text: str) -> str:
    """An item of a list, its text wrapped beside its head."""
    return fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


class BoardFormat(StrEnum):
    """How `board` shows the table."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def board(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A target with entries.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[BoardFormat, typer.Option("--format", "-f", help="The output format.")] = BoardFormat.TEXT,
) -> None:
    """Show the table of a target, with its ranks."""
    from bot.cli.site import read_board
    from bot.publishing.board import to_csv
    from bot.publishing.board_table import board_json, board_markdown, board_text

    table = read_board(target, open_leaderboard(leaderboard, read_access()))
    written: dict[BoardFormat, Callable[[], str]] = {
        BoardFormat.TEXT: lambda: board_text(table),
        BoardFormat.JSON: lambda: board_json(table),
        BoardFormat.CSV: lambda: to_csv(table).decode(),
        BoardFormat.MARKDOWN: lambda: board_markdown(table),
    }
    say(written[form]())
