"""The commands that show rules, declarations and boards: rules, leaderboards, board, site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal, Never

import typer
from typer.core import TyperGroup

from bot.cli.judging import DEFAULT, FORM, LEADERBOARD, measured_at, say, warn, warn_of_rejected
from bot.errors import CallError, Unavailable
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard, shipped
from bot.evaluation.rules import ALL_RULES
from bot.platforms.declarations import board_declaration, declaration_at, open_leaderboard
from bot.platforms.history import history_of
from bot.platforms.platform import Opener, open_target
from bot.platforms.sites import publish_site
from bot.publishing.board import Board, make_board
from bot.publishing.changes import BoardChange
from bot.publishing.entry import Declared, Entry, declaration_path, newest_declared
from bot.publishing.models import ModelFacts, Verified, read_verified
from bot.reporting.escape import brief, visible
from bot.reporting.text import WIDTH
from bot.service.publish.reconcile import words_at
from bot.service.settings.environment import read_access

MOST_SKIPPED = 10  # files that are no rows, and are named

if TYPE_CHECKING:
    from bot.platforms.target import Target


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


class ShownByDefault(TyperGroup):
    """A group that takes a first argument which names no command as one of `show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before an argument or an option of its own."""
        if args and args[0] not in {*self.commands, "--help", "-h"}:
            args.insert(0, "show")
        return super().parse_args(ctx, args)


leaderboards = typer.Typer(cls=ShownByDefault, invoke_without_command=True, add_completion=False, rich_markup_mode=None)


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
    from bot.reporting.draft import describe_leaderboard

    typer.echo(describe_leaderboard(open_leaderboard(leaderboard, read_access())), nl=False)


@leaderboards.command("draft")
def draft(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Result files, or folders that hold them.")],
) -> None:
    """Draft a declaration from result files. Save it to a file, and complete each line that says TODO."""
    from bot.evaluation.draft.tasks import draft_of
    from bot.reporting.draft import draft_text

    measured = measured_at(files)
    form = measured.form.text if measured.form else ""
    text = draft_text(draft_of(list(measured.results({}).values())), form=form)
    say(text)
    warn_of_rejected("the draft", text, measured, {})
    raise typer.Exit(1 if measured.is_faulty else 0)


def _item(head: str, text: str) -> str:
    """An item of a list, its text wrapped beside its head."""
    return fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def board(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A target with entries.")],
    leaderboard: LEADERBOARD = "",
    form: Annotated[Literal["text", "json", "csv", "markdown"], FORM] = "text",
) -> None:
    """Show the table of a target, with its ranks."""
    from bot.publishing.board import to_csv
    from bot.publishing.board_table import board_json, board_markdown, board_text

    table = read_board(target, leaderboard)
    written: dict[str, Callable[[], str]] = {
        "text": lambda: board_text(table),
        "json": lambda: board_json(table),
        "csv": lambda: to_csv(table).decode(),
        "markdown": lambda: board_markdown(table),
    }
    say(written[form]())


def site(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A target with entries: a folder, hf://…, github://….")
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="A folder, hf://spaces/org/name, or github://owner/name@branch.")
    ],
    leaderboard: LEADERBOARD = "",
    *,
    heads: Annotated[bool, typer.Option("--heads", help="Ask the Hub which models have moved on.")] = False,
    models: Annotated[
        bool, typer.Option("--models", help="Ask the Hub for size, licence and type of the models.")
    ] = False,
    verified: Annotated[
        Path | None,
        typer.Option("--verified", metavar="FILE", help="The record of verify --out: say which rows followed."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not say how many files were written.")] = False,
) -> None:
    """Write the board of a target as a web site. It holds pages for readers, CSV, JSON and a feed."""
    from bot.pages.content import PageContent
    from bot.pages.site import Site

    board, opener = read_board(target, leaderboard), Opener(read_access())
    newest, asked = _ask_hub(board, opener, heads=heads, models=models)
    entries = (row.entry for row in board.rows)
    facts = {entry.key: asked[entry.model.id] for entry in entries if entry.model.id in asked}
    shown = target if "://" in target else ""  # a path on this machine stays private
    known = _verified_in(verified) if verified else {}
    declared = board.leaderboard
    history = _history(target, declared)
    content = PageContent(board, shown, history, newest, facts=facts, verified=known)
    done = publish_site(Site(content), out, opener)
    if not quiet and not content.sources and not declared.homepage:
        how = f'write homepage = "https://…" in {declared.id}.toml'
        warn(f"the pages do not say where results are submitted: {how}")
    if not quiet:
        written = f"{counted(done.changed, 'file')} written, {done.same} unchanged, {done.removed} removed"
        warn(f"{counted(len(board.rows), 'row')}: {written}")
    typer.echo(out if "://" in out else Path(out) / "index.html")


def _ask_hub(
    board: Board, opener: Opener, *, heads: bool, models: bool
) -> tuple[Mapping[str, str] | None, Mapping[str, ModelFacts]]:
    """The commit at the main branch of each model, None if nobody asked for it, and what its page says."""
    if not heads and not models:
        return None, {}
    from bot.platforms.hub.platform import HubPlatform
    from bot.platforms.hub.source import read_facts, read_heads

    client, names = HubPlatform.client(opener), [row.entry.model.id for row in board.rows]
    return read_heads(client, names) if heads else None, read_facts(client, names) if models else {}


def _verified_in(file: Path) -> dict[str, Verified]:
    """What a record of `verify` says of rows, by their keys. Raises CallError if it cannot be read."""
    try:
        return read_verified(file.read_bytes())
    except OSError as error:
        raise CallError(f"{file}: cannot be read: {error.strerror}") from None
    except CallError as error:
        raise CallError(f"{file}: {error}") from None


def _history(target: str, declared: Leaderboard) -> Sequence[BoardChange] | None:
    """Read the changes of rows from the commits of a target; None, with a warning, if they cannot be read."""
    try:
        return history_of(target, declared.id, read_access())
    except Unavailable as failure:
        warn(f"the history is left out: {failure}")
        return None


def read_board(target: str, leaderboard: str) -> Board:
    """Make the board from the entries at a target; "" is its only leaderboard. Raises CallError if it has none."""
    opened = open_target(target, read_access())
    opened.check_readable()
    stored = opened.scan_entries()
    entries = stored.entries
    for path, why in list(stored.skipped.items())[:MOST_SKIPPED]:
        warn(f"{visible(path)} is no row of the board: {visible(why)}")
    if (more := len(stored.skipped) - MOST_SKIPPED) > 0:
        warn(f"and {counted(more, 'more file')} that are no rows")
    if not entries and not leaderboard:
        what = "check the address, or publish a row there and merge its request"
        raise CallError(f"{target}: there is no entry in it; {what}")
    declared = open_leaderboard(leaderboard, read_access()) if leaderboard else declared_at(opened, target, entries)
    had = [entry for entry in entries if entry.leaderboard.id == declared.id]
    if not had:
        others = ", ".join(sorted({entry.leaderboard.id for entry in entries}))
        there = f"; there are entries of {others}" if others else ""
        raise CallError(f"{target}: there is no entry of {declared.id}{there}")
    return make_board(had, declared, words_at(opened, had))


def declared_at(opened: Target, name: str, entries: Sequence[Entry]) -> Leaderboard:
    """The declaration of the only leaderboard at a target. Raises CallError if there are several, or if it lacks it."""
    ids = sorted({entry.leaderboard.id for entry in entries})
    if len(ids) > 1:
        raise CallError(f"{name}: there are entries of {', '.join(ids)}: name one with --leaderboard")
    if not ids:
        return load_leaderboard(DEFAULT)
    found = board_declaration(opened, ids[0], entries)
    return found or _missing(name, newest_declared(entries))


def declared_by(opened: Target, name: str, named: Declared) -> Leaderboard:
    """The declaration that rows at a target name. Raises CallError if what is kept there is not it."""
    return declaration_at(opened, named) or _missing(name, named)


def _missing(name: str, named: Declared) -> Never:
    how = "run `settle` once after a merge, or name the declaration with --leaderboard"
    raise CallError(f"{name}: {brief(declaration_path(named.digest))} is missing or different: {how}")
