"""What a harness wrote of its own version in, the commit it names out; the table of releases is harness.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

HASH = re.compile(r"(?:(?P<tag>.+)-(?P<ahead>\d+)-g)?(?P<sha>[0-9a-f]{7,40})")
RELEASE = re.compile(r"v?(?P<version>\d+\.\d+\.\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Described:
    """What `git describe --always` printed, taken apart.

    `sha` is a full or abbreviated commit ("" where only a tag stands), `tag` the tag before it, `ahead` the
    number of commits since that tag (0 where the text is a bare commit or a bare tag).
    """

    sha: str
    tag: str = ""
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """A commit of the shipped table: `version` is "" where no release carries it."""

    commit: str
    mmlu: str
    version: str = ""
    note: str = ""
    date: Any = None


def parse_git_hash(text: str) -> Described:
    """Take a `git_hash` apart: a short or full commit, `tag-N-gSHA`, or else a tag.

    The harness runs `git describe --always` in the working directory, so the commit may be of the user's own
    repository: the text alone proves nothing.
    """
    match = HASH.fullmatch(text.strip())
    if match is None:
        return Described("", text.strip())
    return Described(match["sha"], match["tag"] or "", int(match["ahead"] or 0))


def is_same_commit(one: str, other: str) -> bool:
    """Whether two hashes of at least 7 digits, abbreviated or not, name one commit."""
    return min(len(one), len(other)) >= 7 and (one.startswith(other) or other.startswith(one))


@cache
def _table() -> tuple[str, tuple[KnownCommit, ...]]:
    data = tomllib.loads(files("bot").joinpath("data", "harness.toml").read_text(encoding="utf-8"))
    return data["repository"], tuple(KnownCommit(**row) for row in data["releases"] + data["commits"])


def repository() -> str:
    """The repository that the table speaks of."""
    return _table()[0]


def known_commits() -> tuple[KnownCommit, ...]:
    """All rows of the table, releases first, oldest first."""
    return _table()[1]


@lru_cache(maxsize=256)
def known_commit(text: str) -> KnownCommit | None:
    """The row of the table that a `git_hash` or a release number ("0.4.9", "v0.4.9") names, None if none does."""
    release = RELEASE.fullmatch(text.strip())
    if release is not None:
        return next((row for row in known_commits() if row.version == release["version"]), None)
    sha = parse_git_hash(text).sha
    return next((row for row in known_commits() if sha and is_same_commit(sha, row.commit)), None)
