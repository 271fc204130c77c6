"""Which result files are meant, and their bytes: inputs and the occasion in, submissions with their place out.

Files of a pull request or a push are read through the API at its commit; nothing needs to be checked out. Files that
a run has made are read in the workspace, where a link that leads outside is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bot.action.inputs import Inputs
from bot.action.occasion import Occasion
from bot.errors import BotError, CallError
from bot.forges.git import Repository
from bot.forges.github.blobs import blob_id
from bot.forges.github.source import GitHubSource
from bot.forges.paths import is_wanted
from bot.forges.places import hub_places
from bot.forges.source import Change, TooLarge
from bot.forges.targets import Access
from bot.formats import MAX_BYTES
from bot.pipeline import Submission
from bot.submissions import PATTERN, read_submission

MAGIC = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Found:
    """A submission and where its file lies: `commit` is "" for a file that a run has made, `path` "" as judged."""

    submission: Submission
    source: str
    commit: str = ""
    path: str = ""


def gather(inputs: Inputs, occasion: Occasion, source: GitHubSource, access: Access) -> list[Found]:
    """All submissions that the workflow means, in the order of their paths, each once."""
    for name in (text for text in inputs.results if "://" in text and not text.startswith("hf://")):
        raise CallError(f"the input `results` names {name[:80]!r}; it takes paths, globs and hf://… addresses")
    patterns = [as_pattern(text) for text in inputs.results if "://" not in text]
    found: dict[str, Found] = {}
    if inputs.changed_only and (occasion.is_proposal or occasion.kind == "push"):
        for one in read_changed(patterns, occasion, source):
            found.setdefault(one.submission.path, one)
    else:
        committed = committed_files(occasion.workspace)
        for path in workspace_files(patterns, occasion.workspace):
            submission = replace(read_submission(str(occasion.workspace / path)), path=path)
            is_committed = committed.get(path) == blob_id(submission.data or b"")
            found.setdefault(path, Found(submission, source.name, occasion.commit if is_committed else ""))
    for name in (text for text in inputs.results if text.startswith("hf://")):
        for place in hub_places(name, access):
            found.setdefault(place.name, Found(place.read(), place.source, place.commit, place.path))
    return [found[path] for path in sorted(found)]


def read_changed(patterns: list[str], occasion: Occasion, source: GitHubSource) -> Iterator[Found]:
    """The result files that a pull request or a push changed, read at its commit."""
    number, commit = occasion.proposal, occasion.commit
    if occasion.branch is not None:
        number = source.find_proposal(*occasion.branch, occasion.commit)
        if number is None:
            return  # pushed to or closed since: that has a run of its own
    changes: Iterable[Change]
    if number is not None:
        proposal = source.read_proposal(number)
        changes, commit = proposal.files, proposal.head
    else:
        changes = source.changes(occasion.before, commit)
    wanted = [change for change in changes if change.oid is not None and is_wanted(change.path, patterns)]
    source.fetch(change.oid or "" for change in wanted)
    for change in wanted:
        yield Found(_read(change, source), source.name, commit)


def _read(change: Change, source: GitHubSource) -> Submission:
    try:
        data = source.read_content(change.oid or "", MAX_BYTES)
    except TooLarge:
        return Submission(change.path, None, max(change.size, MAX_BYTES + 1))
    return Submission(change.path, data, len(data))


def committed_files(workspace: Path) -> dict[str, str]:
    """What is checked out in the workspace: the path of each file and its content's id; {} outside of a repository."""
    try:
        repository = Repository(workspace)
        return repository.files(repository.resolve("HEAD"))
    except BotError:
        return {}


def as_pattern(text: str) -> str:
    """A folder stands for the result files below it; anything else stands for itself."""
    plain = text.removeprefix("./").rstrip("/")
    is_folder = not MAGIC.intersection(plain) and not plain.endswith(".json")
    return f"{plain}/**/{PATTERN}" if is_folder else plain


def workspace_files(patterns: Iterable[str], workspace: Path) -> Iterator[str]:
    """The paths, below the workspace where they are, of the files that match a pattern."""
    for pattern in patterns:
        start = fixed_part(pattern)
        root = workspace / start
        if not start.startswith("/") and not root.resolve().is_relative_to(workspace.resolve()):
            continue  # a link in what was submitted must not lead out of it
        if root.is_file() and not root.is_symlink():
            yield start
        elif root.is_dir():
            yield from (path for path in walk(root, start) if is_wanted(path, [pattern]))


def fixed_part(pattern: str) -> str:
    """The folders of a pattern before its first wildcard."""
    parts = pattern.split("/")
    plain = next((index for index, name in enumerate(parts) if MAGIC.intersection(name)), len(parts))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else "")


def walk(root: Path, start: str) -> Iterator[str]:
    """Every file below a folder, without links and without git's own."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(folder, name)
            if not path.is_symlink():
                yield "/".join(part for part in (start.rstrip("/"), path.relative_to(root).as_posix()) if part)
