"""The commands on what is declared and what stands: rules, leaderboards, board."""

from __future__ import annotations

from textwrap import fill
from typing import Annotated

import typer

from bot.errors import CallError, MalformedDeclaration
from bot.leaderboard import load_leaderboard, shipped
from bot.render.text import WIDTH
from bot.rules import ALL_RULES


def rules(rule: Annotated[str, typer.Argument(help="A rule's id; all of them where none is named.")] = "") -> None:
    """List the rules, or show the page of one."""
    if not rule:
        width = max(len(known.id) for known in ALL_RULES)
        for known in ALL_RULES:
            typer.echo(_item(f"{known.severity:8} {known.id:{width}}  ", known.title))
        return
    page = next((known for known in ALL_RULES if known.id == rule), None)
    if page is None:
        raise CallError(f"there is no rule {rule!r}; leaderboard-bot rules lists them")
    typer.echo(f"{page.id} ({page.severity}, since {page.since})\n\n{page.page}")


def leaderboards(
    leaderboard: Annotated[str, typer.Argument(help="An id, or a TOML file, which is checked.")] = "",
) -> None:
    """List the declarations that are shipped, or check and show one."""
    from bot.render.explanation import describe_leaderboard

    if leaderboard:
        declared = load_leaderboard(leaderboard)
        known = {rule.id for rule in ALL_RULES}
        for number, waiver in enumerate(declared.waivers):
            if waiver.rule not in known:
                raise MalformedDeclaration(leaderboard, f"waivers.{number}.rule", f"there is no rule {waiver.rule!r}")
        typer.echo(describe_leaderboard(declared), nl=False)
        return
    for name in shipped():
        typer.echo(_item(f"{name:18} ", load_leaderboard(name).description))


def _item(head: str, text: str) -> str:
    """An item of a list, its text wrapped beside its head."""
    return fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def board(
    target: Annotated[str, typer.Argument(help="A target with entries.")],
    leaderboard: Annotated[str, typer.Option("--leaderboard", "-l", help="An id, or a TOML file.")] = "open-llm-v2",
) -> None:
    """Show the table that the entries at a target give, ranks and ties included."""
    from bot.board import make_board
    from bot.forges.targets import open_target
    from bot.render.board import board_text
    from bot.settings import read_access

    declared = load_leaderboard(leaderboard)
    entries = [
        entry for entry in open_target(target, read_access()).read_entries() if entry.leaderboard.id == declared.id
    ]
    if not entries:
        raise CallError(f"{target}: there is no entry of {declared.id}")
    typer.echo(board_text(make_board(entries, declared)), nl=False)
