"""Propose the set-up of a board in the repository of its table on GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from bot.cli.table_file import TableFile
from bot.errors import CallError, Gone, Refused
from bot.platforms.git.repository import Repository
from bot.platforms.github.platform import PLATFORM
from bot.platforms.github.wire import SERVICE
from bot.platforms.platform import Opener
from bot.publishing.publication import CurrentState, DesiredState
from bot.publishing.setup import WORKFLOW, setup_mark, setup_text, setup_workflow
from bot.reporting.draft import left_to_decide
from bot.reporting.escape import visible, without_commands
from bot.service.publish.reconcile import reconcile
from bot.service.settings.environment import read_access

FOLDER = "leaderboard"  # in the repository, where the caller names none
NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", re.ASCII)
ON_GITHUB = "--propose opens a pull request in the table's repository: give --table github://owner/name/PATH"
NO_SCOPE = "the token may not write a workflow: give it the scope `workflow` (fine-grained: Workflows, write)"
NO_ADDRESS = (
    "the bot there cannot read a folder of this machine: push the results, and add --source github://owner/name or "
    "--source hf://datasets/org/name"
)


def address_of_results(source: str) -> str:
    """The address at which others read the results: that of the clone in which they lie. Raises CallError for none."""
    found = source if "://" in source else Repository(Path(source)).address()
    if not found.startswith(("github://", "hf://")):
        raise CallError(f"{source}: {NO_ADDRESS}")
    return found


def folder_there(folder: Path) -> str:
    """The folder in the repository. Raises CallError for one that is not inside."""
    name = FOLDER if folder == Path() else folder.as_posix()
    if not NAME.fullmatch(name):
        raise CallError(f"{name}: with --propose FOLDER is a folder in the repository of the table, such as {FOLDER}")
    return name


def propose(table: TableFile, folder: str, source: str, texts: Mapping[str, str], said: Sequence[str]) -> None:
    """Open one pull request with these files and a workflow, or bring it up to date.

    `texts` are by the names of the files. Raises CallError, or Refused where we may not write.
    """
    if not table.target.startswith("github://"):
        raise CallError(ON_GITHUB)
    target = PLATFORM.open_target(table.target, Opener(read_access()), "pull-request", None)
    target.check()
    if not target.may_push():
        raise Refused(SERVICE, f"{table.target}: {target.client.user} may not write there: ask somebody who may")
    paths = {f"{folder}/{name}": text for name, text in texts.items()}
    files = {path: text.encode() for path, text in paths.items()}
    files[WORKFLOW] = setup_workflow(folder, source, table.target).encode()
    mark = setup_mark(folder)
    left = {path: left_to_decide(text) or "nothing" for path, text in paths.items()} | {WORKFLOW: "nothing"}
    text = setup_text(mark, table.path, source, said, left)

    def desire(current: CurrentState) -> DesiredState:
        others = [path for path, data in current.files.items() if data != files[path]]
        if others:
            raise CallError(f"{table.target}: {visible(others[0])} is there already, and is not changed")
        return DesiredState(text, files)

    try:
        done = reconcile(target, mark, tuple(files), desire, "pull-request")
    except Gone:  # GitHub's answer to a token that may write everything but workflows
        raise Refused(SERVICE, f"{table.target}: {NO_SCOPE}") from None
    typer.echo(without_commands(f"{done.decision.why}  {done.where}".rstrip()))
