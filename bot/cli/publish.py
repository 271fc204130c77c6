"""The commands that check, score and publish rows: publish, and import for a whole source."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from difflib import unified_diff
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec.structs import replace

from bot.cli.judging import (
    DEFAULT,
    FILE_LIMIT,
    LEADERBOARD,
    MODEL_NAME,
    NO_PROGRESS,
    ONLINE,
    PATHS,
    end,
    ink,
    judge_paths,
    warn,
)
from bot.cli.service import need_extra, open_jobs
from bot.errors import CallError, Refused
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.join import verdicts_by_key
from bot.evaluation.verdict import Judgement
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import evidence_of, reader_of
from bot.platforms.platform import open_target
from bot.publishing.entry import make_entries
from bot.publishing.publication import OPENING, CloseRequest, EditComment, Form, PostComment, word_for
from bot.reporting.escape import visible, without_commands
from bot.reporting.locate import with_lines
from bot.reporting.text import terminal_text
from bot.service.settings.environment import database_url, read_access, settings_path

if TYPE_CHECKING:  # what needs an extra, or takes long, is imported when it is called
    from bot.service.fill.importing import ImportResult
    from bot.service.publish.reconcile import PublishResult
    from bot.service.settings.config import Watch


DRAFTS_SHOWN, DIFF_SHOWN = 3, 60  # requests of a dry run that are shown, and lines of the change of a file
VERIFY = "leaderboard-bot verify {to} --sources DIR"


def publish(
    paths: PATHS,
    to: Annotated[str, typer.Option("--to", help="The target: a folder, hf://datasets/org/name, github://owner/name.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[Form, typer.Option("--as", help="How to publish.")] = "pull-request",
    model_name: MODEL_NAME = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    online: ONLINE = False,
    quiet: NO_PROGRESS = False,
    max_bytes: FILE_LIMIT = MAX_BYTES,
) -> None:
    """Publish the rows that are not rejected. The command checks and scores them first."""
    from bot.service.publish.one_call import publish as publish_entries
    from bot.service.publish.reconcile import rebuild_board

    declared, target = open_leaderboard(leaderboard, read_access()), open_target(to, read_access(), form)
    target.check()
    there = target.scan_entries().entries
    judgement, places = judge_paths(
        paths,
        declared,
        there,
        names=model_name,
        declared_in=leaderboard,
        quiet=quiet,
        online=online,
        max_bytes=max_bytes,
        as_committed=True,
    )
    counted = {file.path for row in judgement.rows for file in row.files}
    evidence = evidence_of(place for place in places if place.name in counted)
    made = make_entries(judgement.rows, evidence)
    results = publish_entries(made.entries, target, form, there, dry_run=dry_run)
    for result in results:
        _print_result(result, is_dry_run=dry_run)
    if dry_run and not quiet:
        _print_drafts(results)
    for key, why in made.refused.items():
        warn(f"not published: {key}: {why}")
    published = {entry.key for entry in made.entries} | made.refused.keys()
    if text := _not_published(with_lines(judgement, reader_of(places)), published):
        warn(f"\nnot published, or not all of it:\n{text}")
    if not quiet and any("://" not in found.source for found in evidence.values()):
        warn(f"evidence lies on this machine: whoever verifies needs it, and names its folder: {VERIFY.format(to=to)}")
    try:
        if not dry_run and rebuild_board(target, declared):
            typer.echo("rebuilt the board")
    except Refused as refusal:  # a token that may open a pull request may lack the right to commit
        warn(f"the board was not rebuilt: {refusal}")
    raise typer.Exit(1) if made.refused else end(judgement)


def _print_result(result: PublishResult, *, is_dry_run: bool) -> None:
    """Print what was done for one row, or would be done."""
    publication = result.decision.publication
    what = word_for(publication) if publication else "unchanged"
    would = "would " if is_dry_run and publication else ""
    typer.echo(without_commands(f"{would}{what}  {result.subject}  {result.where}".rstrip()))
    warn(f"  {result.decision.why}")


def _print_drafts(results: Iterable[PublishResult]) -> None:
    """Print what would be written for the first requests, commits or comments: title, text and changes of files."""
    drafts = {id(one.decision.publication): one for one in results if one.decision.publication is not None}
    for result in islice(drafts.values(), DRAFTS_SHOWN):
        publication = result.decision.publication
        if publication is None or isinstance(publication, CloseRequest):
            continue
        text = publication.text
        lines = [text.title, "", *text.body.rpartition(f"\n{OPENING}")[0].strip().split("\n"), ""]
        if not isinstance(publication, PostComment | EditComment):
            lines += [line for path, new in publication.files.items() for line in _change(path, result.before, new)]
        typer.echo(without_commands("\n" + "\n".join(f"  {visible(line)}".rstrip() for line in lines)))
    if len(drafts) > DRAFTS_SHOWN:
        warn(f"… and {len(drafts) - DRAFTS_SHOWN} more; name fewer files to read them")


def _change(path: str, before: Mapping[str, bytes], new: bytes | None) -> Iterator[str]:
    """The change of a file as a diff; of one that is new or large its size."""
    old = before.get(path)
    if old is None and new is not None:
        yield f"new file {path}, {len(new):,} bytes"
        return
    was, will = ((data or b"").decode(errors="replace").split("\n") for data in (old, new))
    names = path if old else "/dev/null", path if new else "/dev/null"
    diff = list(unified_diff(was, will, *names, lineterm="", n=1))
    yield from diff[:DIFF_SHOWN]
    if len(diff) > DIFF_SHOWN:
        yield f"… {len(diff) - DIFF_SHOWN} more lines"


def _not_published(judgement: Judgement, said: Collection[str]) -> str:
    """What `check` says of the rows and files that are not published, or not all of them; "" if there are none.

    `said` are the keys of rows that were published, or refused with a message.
    """
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    rows = tuple(row for row in judgement.rows if row.key.text not in said or row.status != "accepted")
    verdicts = (*chain.from_iterable(files[row.key] for row in rows), *judgement.unreadable)
    left = replace(judgement, rows=rows, verdicts=verdicts, unread=())
    return terminal_text(left, ink(sys.stderr), quiet=True).rstrip() if verdicts else ""


def import_board(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="hf://datasets/org/name, or a local git repository.")],
    to: Annotated[str, typer.Option("--to", help="The target: a folder, hf://datasets/org/name, github://owner/name.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[Literal["pull-request", "commit"], typer.Option("--as", help="How to publish.")] = "pull-request",
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
    watch = import_watch(source, to, form, leaderboard)
    tell = (lambda *_: None) if quiet or not sys.stderr.isatty() else _progress
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
    from bot.service.store.engine import connect, state_to_look_at
    from bot.service.store.leases import state_lock
    from bot.service.store.state import Store
    from bot.service.watch.passes import import_lease

    with TemporaryDirectory(prefix="leaderboard-bot-") as folder, ExitStack() as kept:
        url = database_url(settings_path(None))
        url = state_to_look_at(url, Path(folder)) if dry_run else url
        kept.enter_context(state_lock(url))
        store = kept.enter_context(closing(Store(connect(url))))
        row_targets = kept.enter_context(_row_targets(url))
        context = ContextFactory(read_access(), store, Path.cwd()).open_context(watch, dry_run=dry_run)
        kept.enter_context(closing(context.state.db))  # a dry run has a state of its own
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


def _progress(what: str, done: int, total: int) -> None:
    """Show progress on one line of the terminal, which each call overwrites; a wait gets its own line."""
    end = "" if total and done < total else "\n"
    share = f" {done:,} of {total:,}" if total else ""
    sys.stderr.write(f"\r{visible(what)}{share}\033[K{end}")
    sys.stderr.flush()
