"""The command for the first filling of a board: import."""

from __future__ import annotations

import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.judging import DEFAULT, LEADERBOARD, NO_PROGRESS
from bot.cli.service import need_extra
from bot.errors import CallError
from bot.reporting.escape import visible
from bot.service.environment import database_url, read_access, settings_path


class ImportForm(StrEnum):
    """The two forms of an import: reviewed, and not."""

    PULL_REQUEST = "pull-request"
    COMMIT = "commit"


def import_board(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="hf://datasets/org/name, or a local git repository.")],
    to: Annotated[str, typer.Option("--to", help="The target: a folder, hf://datasets/org/name, github://owner/name.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[ImportForm, typer.Option("--as", help="How to publish.")] = ImportForm.PULL_REQUEST,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed without a terminal.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would cost, and do nothing.")] = False,
    quiet: NO_PROGRESS = False,
) -> None:
    """Fill a board from all results of a source. If it was interrupted, call it again: it continues."""
    need_extra("import")
    from bot.service.context import ContextFactory
    from bot.service.importing import Import, import_watch
    from bot.service.state_lock import StateInUse, state_lock
    from bot.service.store import Store, connect

    if not (yes or dry_run or sys.stdin.isatty()):
        raise CallError("import asks before it begins; without a terminal, add --yes")
    watch = import_watch(source, to, form.value, leaderboard)
    url = database_url(settings_path(None))
    with state_lock(url), closing(Store(connect(url))) as store, store.lease(f"import into {to}") as is_ours:
        if not is_ours:
            raise StateInUse(f"import into {to}", "another process imports into it now; wait until it ends")
        context = ContextFactory(read_access(), store, Path.cwd()).open_context(watch, dry_run=dry_run)
        run = Import(context, _no_progress if quiet or not sys.stderr.isatty() else _progress)
        for line in run.plan().lines(source, to):
            typer.echo(visible(line))
        if dry_run:
            return
        if not yes:
            typer.confirm(f"Import into {visible(to)}?", abort=True, err=True)
        result = run.run()
    for line in result.lines():
        typer.echo(visible(line))
    if result.unread or result.refused:
        raise typer.Exit(1)


def _no_progress(_: str, __: int, ___: int) -> None:
    """Say nothing."""


def _progress(what: str, done: int, total: int) -> None:
    """One line on the terminal that is written over; a wait is a line of its own."""
    end = "" if total and done < total else "\n"
    share = f" {done:,} of {total:,}" if total else ""
    sys.stderr.write(f"\r{visible(what)}{share}\033[K{end}")
    sys.stderr.flush()
