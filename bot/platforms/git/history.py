"""The history of a board in a folder: which rows each commit of main added, changed and removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.errors import MalformedEntry
from bot.platforms.git.repository import Repository
from bot.publishing.changes import BoardChange
from bot.publishing.entry import FOLDER, MAX_BYTES, Entry, digest_of, parse_entry

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
