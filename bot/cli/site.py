"""The command that makes a board's site: site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.judging import DEFAULT, LEADERBOARD, QUIET, warn
from bot.errors import CallError, Unavailable
from bot.evaluation.leaderboard import Leaderboard
from bot.platforms.declarations import open_leaderboard
from bot.platforms.history import history_of
from bot.platforms.registry import Opener, open_target
from bot.platforms.sites import publish_site
from bot.publishing.board import Board, make_board
from bot.publishing.changes import BoardChange
from bot.service.settings.environment import read_access

if TYPE_CHECKING:
    from bot.pages.write import Written


def site(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A target with entries: a folder, hf://…, github://….")
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="A folder, hf://spaces/org/name, or github://owner/name@branch.")
    ],
    leaderboard: LEADERBOARD = DEFAULT,
    *,
    heads: Annotated[bool, typer.Option("--heads", help="Ask the Hub which models have moved on.")] = False,
    quiet: QUIET = False,
) -> None:
    """Write the board of a target as a web site. It holds pages for readers, CSV, JSON and a feed."""
    board, done = put_site(target, out, leaderboard, heads=heads)
    if not quiet:
        warn(f"{len(board.rows)} rows: {done.changed} files written, {done.same} unchanged, {done.removed} removed")
    typer.echo(out if "://" in out else Path(out) / "index.html")


def put_site(target: str, out: str, leaderboard: str, *, heads: bool) -> tuple[Board, Written]:
    """Write the site of a target's board to a place. Return the board and the counts of files. Raises CallError."""
    from bot.pages.content import PageContent
    from bot.pages.site import Site

    board = read_board(target, open_leaderboard(leaderboard, read_access()))
    is_folder = "://" not in target  # a path on this machine stays private
    opener = Opener(read_access())
    known = _heads(board, opener) if heads else None
    content = PageContent(board, "" if is_folder else target, _history(target, board.leaderboard), known)
    return board, publish_site(Site(content), out, opener)


def _heads(board: Board, opener: Opener) -> Mapping[str, str]:
    """Read the commit at the main branch of each model."""
    from bot.platforms.hub.platform import HubPlatform
    from bot.platforms.hub.source import read_heads

    return read_heads(HubPlatform.client(opener), (row.entry.model.id for row in board.rows))


def _history(target: str, declared: Leaderboard) -> Sequence[BoardChange] | None:
    """Read the changes of rows from the commits of a target; None, with a warning, if they cannot be read."""
    try:
        return history_of(target, declared.id, read_access())
    except Unavailable as failure:
        warn(f"the history is left out: {failure}")
        return None


def read_board(target: str, declared: Leaderboard) -> Board:
    """Make the board from the entries at a target. Raises CallError if it has none of this leaderboard."""
    opened = open_target(target, read_access())
    opened.check_readable()
    entries = opened.read_entries()
    had = [entry for entry in entries if entry.leaderboard.id == declared.id]
    if not had:
        others = ", ".join(sorted({entry.leaderboard.id for entry in entries}))
        there = f"; there are entries of {others}" if others else ""
        raise CallError(f"{target}: there is no entry of {declared.id}{there}")
    return make_board(had, declared)
