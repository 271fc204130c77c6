"""What a whole history tells, of a folder or fetched over git: the changes of a board, and files at any commit."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from bot.errors import MalformedEntry, Unavailable
from bot.evaluation.submission import iso_date
from bot.platforms.git.fetch import fetch_history
from bot.platforms.git.repository import Repository, logged_files
from bot.platforms.git.source import CopiedSource, GitSource
from bot.platforms.git.target import LocalRepository
from bot.platforms.platform import Access, Opener, platform_of
from bot.platforms.source import Source
from bot.publishing.changes import BoardChange, change_of
from bot.publishing.entry import FOLDER, MAX_BYTES, Entry, parse_entry

log = logging.getLogger(__name__)
LOG = ("log", "--first-parent", "-m", "--raw", "-z", "--no-renames", "--no-abbrev", "--format=%H %ct %s")

BRANCH_MERGED = re.compile(r"Merge (?:remote-tracking )?branch(?:es)? '")


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
        fetch_history(Path(folder), remote)
        return folder_history(folder, leaderboard)


@contextmanager
def with_history(name: str, opener: Opener) -> Iterator[Source]:
    """The source at an address with its whole history on the disk; unchanged where git cannot fetch that."""
    source, remote = opener.source(name), platform_of(name).git_remote(name, opener.access)
    with tempfile.TemporaryDirectory(prefix="leaderboard-bot-") as folder:
        try:
            if remote is not None:
                fetch_history(Path(folder), remote)
                source = CopiedSource(source, GitSource(Path(folder), name), "")
        except Unavailable as failure:
            log.warning("%s is read file by file: %s", name, failure)
        yield source


def folder_history(folder: str, leaderboard: str) -> Sequence[BoardChange]:
    """The changes of a leaderboard's rows in the commits of a local repository, the newest first.

    A commit that changes no number is left out.
    """
    repository = LocalRepository(folder, ())
    if not repository.main:
        return ()
    log = repository.walk(*LOG, repository.main, "--", f"{FOLDER}/{leaderboard}")
    steps = [(head, *line.split(" ")[2:4]) for head, line, _ in logged_files(log)]
    entries = _entries(repository, {oid for _, *oids in steps for oid in oids})
    changes = (_change(head, entries.get(old), entries.get(new)) for head, old, new in steps)
    return tuple(change for change in changes if change is not None)


def _entries(repository: Repository, oids: set[str]) -> Mapping[str, Entry]:
    """The entries among some objects, by object id; other objects, and too large ones, are left out."""
    real = sorted(oid for oid in oids if oid.strip("0"))
    small = [oid for oid, size in repository.sizes(real).items() if size <= MAX_BYTES]
    found = {}
    for oid, data in repository.read_all({oid: oid for oid in small}).items():
        try:
            found[oid] = parse_entry(data)
        except MalformedEntry:
            continue
    return found


def _change(head: str, before: Entry | None, after: Entry | None) -> BoardChange | None:
    commit, seconds, subject = head.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split(" ", 2)
    change = change_of(before, after, iso_date(int(seconds)))
    if change is not None and BRANCH_MERGED.match(subject):  # as git words it, which says nothing of the row
        subject = change.reason
    return change and replace(change, reason=subject, commit=commit)
