"""What a whole history says, of a folder or fetched over git: the changes of a board, and files at any commit."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.errors import MalformedEntry, Unavailable
from bot.platforms.git.fetch import fetch_history
from bot.platforms.git.repository import Repository
from bot.platforms.git.source import CopiedSource, GitSource
from bot.platforms.git.target import LocalRepository
from bot.platforms.platform import Access, Opener, platform_of
from bot.platforms.source import Source
from bot.publishing.changes import BoardChange
from bot.publishing.entry import FOLDER, MAX_BYTES, Entry, digest_of, parse_entry

log = logging.getLogger(__name__)
LOG = ("log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--format=%H %ct %s")


@dataclass(frozen=True, slots=True)
class Step:
    """A file that one commit added, changed or removed; an object id of zeros alone is not a file."""

    commit: str
    seconds: int
    subject: str
    path: str
    old: str
    new: str


def history_of(target: str, leaderboard: str, access: Access) -> Sequence[BoardChange] | None:
    """The changes of rows in a target's commits, the newest first; None for a target without commits to fetch.

    A repository of the Hub or of GitHub is fetched once over git. Raises Unavailable if that fails.
    """
    if "://" not in target:
        return folder_history(target, leaderboard)
    remote = platform_of(target).git_remote(target, access)
    if remote is None:
        return None
    with tempfile.TemporaryDirectory(prefix="leaderboard-bot-") as folder:
        fetch_history(Path(folder), remote.url, remote.token)
        return folder_history(folder, leaderboard)


@contextmanager
def with_history(name: str, opener: Opener) -> Iterator[Source]:
    """The source at an address with its whole history on the disk; as it is where git cannot bring that."""
    source, remote = opener.source(name), platform_of(name).git_remote(name, opener.access)
    with tempfile.TemporaryDirectory(prefix="leaderboard-bot-") as folder:
        try:
            if remote is not None:
                fetch_history(Path(folder), remote.url, remote.token)
                source = CopiedSource(source, GitSource(Path(folder), name), "")
        except Unavailable as failure:
            log.warning("%s is read file by file: %s", name, failure)
        yield source


def folder_history(folder: str, leaderboard: str) -> Sequence[BoardChange]:
    """The changes of a leaderboard's rows in the commits of a local repository, the newest first."""
    repository = LocalRepository(folder, ())
    main = repository.main
    return read_history(repository, main, leaderboard) if main else ()


def read_history(repository: Repository, main: str, leaderboard: str) -> tuple[BoardChange, ...]:
    """The changes of the rows of one leaderboard, the newest first; a commit that leaves every number is none."""
    steps = list(_steps(repository.git(*LOG, main, "--", f"{FOLDER}/{leaderboard}").decode("utf-8", "replace")))
    entries = _entries(repository, {oid for step in steps for oid in (step.old, step.new)})
    changes = (_change(step, entries.get(step.old), entries.get(step.new)) for step in steps)
    return tuple(change for change in changes if change is not None)


def _steps(log: str) -> Iterator[Step]:
    """Read what `git log --raw -z` prints: a head for each commit, then a line and a path for each file.

    A head begins with the commit's id, a line with a colon, and no text of a stranger can hold the NUL that ends both.
    """
    fields, commit, seconds, subject = iter(log.split("\0")), "", "0", ""
    for field in fields:
        line = field.lstrip("\n")
        if line.startswith(":"):
            _, _, old, new, _ = line.split(" ")
            yield Step(commit, int(seconds), subject, next(fields), old, new)
        elif line:
            commit, seconds, subject = line.split(" ", 2)


def _entries(repository: Repository, oids: set[str]) -> Mapping[str, Entry]:
    """The entries among some objects, by object id; objects that are not entries, or too large, are left out."""
    real = sorted(oid for oid in oids if oid.strip("0"))
    small = [oid for oid, size in repository.sizes(real).items() if size <= MAX_BYTES]
    found = {}
    for oid, data in repository.read_all({oid: oid for oid in small}).items():
        try:
            found[oid] = parse_entry(data)
        except MalformedEntry:
            continue
    return found


def _change(step: Step, before: Entry | None, after: Entry | None) -> BoardChange | None:
    entry = after or before
    if entry is None or (before and after and digest_of(before) == digest_of(after)):
        return None
    return BoardChange(
        date=datetime.fromtimestamp(step.seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        kind="removed" if after is None else "added" if before is None else "changed",
        key=entry.key,
        model=entry.model.id,
        before=before.average if before else None,
        after=after.average if after else None,
        reason=step.subject,
        commit=step.commit,
    )
