"""The command that fills a new board: import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.judging import DEFAULT, LEADERBOARD, NO_PROGRESS
from bot.cli.service import need_extra, open_jobs
from bot.errors import CallError
from bot.reporting.escape import visible, without_commands
from bot.service.settings.environment import database_url, read_access, settings_path

if TYPE_CHECKING:  # modules that need an extra are imported only when it is known to be installed
    from bot.service.fill.importing import ImportResult
    from bot.service.settings.config import Watch


class ImportForm(StrEnum):
    """The two forms of an import: with review, and without."""

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
    from bot.service.fill.importing import import_watch

    if not (yes or dry_run or sys.stdin.isatty()):
        raise CallError("import asks before it begins; without a terminal, add --yes")
    watch = import_watch(source, to, form.value, leaderboard)
    tell = _no_progress if quiet or not sys.stderr.isatty() else _progress
    result = _import(watch, source, to, tell, yes=yes, dry_run=dry_run)
    if result is None:
        return
    for line in result.lines():
        typer.echo(without_commands(visible(line)))
    if result.unread or result.refused:
        raise typer.Exit(1)


def _import(
    watch: Watch, source: str, to: str, tell: Callable[[str, int, int], None], *, yes: bool, dry_run: bool
) -> ImportResult | None:
    """Show the plan, ask where nobody said yes, and import; None for a dry run."""
    from bot.service.context import ContextFactory
    from bot.service.fill.importing import Import
    from bot.service.store import Store, connect
    from bot.service.store.lock import state_lock
    from bot.service.watch.leases import import_lease

    url = database_url(settings_path(None))
    with state_lock(url), closing(Store(connect(url))) as store, _row_targets(url) as row_targets:
        context = ContextFactory(read_access(), store, Path.cwd()).open_context(watch, dry_run=dry_run)
        run = Import(context, tell)
        with nullcontext() if dry_run else import_lease(store, to, Path.cwd(), row_targets):
            for line in run.plan().lines(source, to):
                typer.echo(without_commands(visible(line)))
            result = run.run() if yes and not dry_run else None
        if result is None and not dry_run:  # others may write to the board while a person decides: read it again
            typer.confirm(f"Import into {visible(to)}?", abort=True, err=True)
            with import_lease(store, to, Path.cwd(), row_targets):
                result = Import(context, tell).run()
        return result


@contextmanager
def _row_targets(database: str) -> Iterator[Callable[[], Iterable[str]]]:
    """Yield a function that lists the targets where workers publish rows; none if the state is a file."""
    jobs = open_jobs(database, takes_rows=False)
    if jobs is None:
        yield tuple
        return
    with closing(jobs):
        yield jobs.row_targets


def _no_progress(_: str, __: int, ___: int) -> None:
    """Say nothing."""


def _progress(what: str, done: int, total: int) -> None:
    """Show progress on one line of the terminal, which each call overwrites; a wait gets its own line."""
    end = "" if total and done < total else "\n"
    share = f" {done:,} of {total:,}" if total else ""
    sys.stderr.write(f"\r{visible(what)}{share}\033[K{end}")
    sys.stderr.flush()
