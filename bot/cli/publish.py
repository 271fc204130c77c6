"""The command that checks, scores and publishes rows: publish."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.judging import (
    DEFAULT,
    FILE_LIMIT,
    LEADERBOARD,
    MODEL_NAME,
    ONLINE,
    PATHS,
    QUIET,
    end,
    ink,
    judge_paths,
    warn,
)
from bot.errors import Refused
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.verdict import Judgement
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import evidence_of, in_repositories, reader_of
from bot.platforms.registry import open_target
from bot.publishing.made_entries import make_entries
from bot.reporting.escape import without_commands
from bot.reporting.lines import with_lines
from bot.reporting.text import files_by_key, terminal_row, unreadable_text
from bot.service.settings.environment import read_access

if TYPE_CHECKING:  # a command imports its own modules late, so that `check` starts fast
    from bot.platforms.target import Target
    from bot.service.publish.reconcile import PublishResult


VERIFY = "leaderboard-bot verify {to} --sources DIR"


class AsForm(StrEnum):
    """The three forms of publication."""

    PULL_REQUEST = "pull-request"
    COMMIT = "commit"
    COMMENT = "comment"


def publish(
    paths: PATHS,
    to: Annotated[str, typer.Option("--to", help="The target: a folder, hf://datasets/org/name, github://owner/name.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[AsForm, typer.Option("--as", help="How to publish.")] = AsForm.PULL_REQUEST,
    model_name: MODEL_NAME = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    online: ONLINE = False,
    quiet: QUIET = False,
    max_bytes: FILE_LIMIT = MAX_BYTES,
) -> None:
    """Publish the rows that are not rejected. The command checks and scores them first."""
    from bot.service.publish.desired import publish as publish_entries

    declared, target = open_leaderboard(leaderboard, read_access()), open_target(to, read_access(), form.value)
    target.check()
    judgement, places = judge_paths(
        paths, declared, to, names=model_name, quiet=quiet, online=online, max_bytes=max_bytes
    )
    counted = {file.path for row in judgement.rows for file in row.files}
    evidence = evidence_of(in_repositories(place for place in places if place.name in counted))
    made = make_entries(judgement.rows, evidence)
    for result in publish_entries(made.entries, target, form.value, dry_run=dry_run):
        _print_result(result, is_dry_run=dry_run)
    for key, why in made.refused.items():
        warn(f"not published: {key}: {why}")
    published = {entry.key for entry in made.entries} | made.refused.keys()
    for text in _not_published(with_lines(judgement, reader_of(places)), published):
        warn(text)
    if not quiet and any("://" not in found.source for found in evidence.values()):
        warn(f"evidence lies on this machine: whoever verifies needs it, and names its folder: {VERIFY.format(to=to)}")
    if not dry_run and may_rebuild(target, declared):
        typer.echo("rebuilt the board")
    raise typer.Exit(1) if made.refused else end(judgement)


def _print_result(result: PublishResult, *, is_dry_run: bool) -> None:
    """Print what was done for one row, or would be done."""
    from bot.publishing.publication import describe

    publication = result.decision.publication
    what = describe(publication)["do"] if publication else "unchanged"
    would = "would " if is_dry_run and publication else ""
    typer.echo(without_commands(f"{would}{what}  {result.subject}  {result.where}".rstrip()))
    warn(f"  {result.decision.why}")


def _not_published(judgement: Judgement, said: Collection[str]) -> Iterable[str]:
    """Yield each row and file with errors that is not published, or only in part.

    `said` are the keys of rows that were published, or refused with a message.
    """
    colours, files = ink(sys.stderr), files_by_key(judgement)
    for row in judgement.rows:
        faulty = [file for file in files[row.key] if file.status == "rejected"]
        if row.key.text not in said:
            yield f"\nnot published:\n{terminal_row(row, files[row.key], colours, quiet=True)}"
        elif faulty:
            yield f"\nnot published, or not all of it:\n{terminal_row(row, faulty, colours, quiet=True)}"
    yield from (f"\nnot published:\n{unreadable_text(verdict, colours)}" for verdict in judgement.unreadable)


def may_rebuild(target: Target, declared: Leaderboard) -> bool:
    """Rebuild the table if the token may commit: a token that may open a pull request may lack that right."""
    from bot.service.publish.reconcile import rebuild_board

    try:
        return rebuild_board(target, declared)
    except Refused as refusal:
        warn(f"the board was not rebuilt: {refusal}")
        return False
