"""The commits and releases of lm-evaluation-harness, and which one a text names.

The releases are in `data/harness.toml`. All commits of the default branch, and those that only the Open LLM
Leaderboard's fork has, are in `data/commits/` by their first eight digits; `.github/renew_commits.py` renews them.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

HASH = re.compile(r"(?:(?P<tag>.+)-\d+-g)?(?P<sha>[0-9a-f]{7,40})")
RELEASE = re.compile(r"v?(?P<version>\d+\.\d+\.\d+(?:\.\d+)?)")

FORK = "huggingface/lm-evaluation-harness"
FEWEST = 7  # digits that git abbreviates a commit to at least


class Described(NamedTuple):
    """What `git describe --always` printed: a full or abbreviated commit, and the tag before it; each "" if absent."""

    sha: str
    tag: str


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """A commit of the shipped table: `version` is "" if no release carries it."""

    commit: str
    mmlu: str
    version: str = ""
    note: str = ""


def parse_git_hash(text: str) -> Described:
    """Take a `git_hash` apart: a short or full commit, `tag-N-gSHA`, or else a tag.

    The harness runs `git describe --always` in the working directory, so the commit may be of the user's own
    repository: the text alone proves nothing.
    """
    match = HASH.fullmatch(text.strip())
    if match is None:
        return Described("", text.strip())
    return Described(match["sha"], match["tag"] or "")


def is_same_commit(one: str, other: str) -> bool:
    """Tell whether two hashes of at least 7 digits, abbreviated or not, name one commit."""
    return min(len(one), len(other)) >= 7 and (one.startswith(other) or other.startswith(one))


@dataclass(frozen=True, slots=True)
class DatedCommit:
    """A commit of the shipped lists: the repository, its first digits, its day, and its place, 0 for the oldest."""

    repository: str
    short: str
    day: str
    place: int


@cache
def table() -> dict[str, Any]:
    """The content of harness.toml."""
    return tomllib.loads(files("bot").joinpath("data", "harness.toml").read_text(encoding="utf-8"))


def repository() -> str:
    """The repository of the table's commits."""
    name: str = table()["repository"]
    return name


@cache
def known_commits() -> tuple[KnownCommit, ...]:
    """All rows of the table, releases first, oldest first."""
    return msgspec.convert(table()["releases"] + table()["commits"], tuple[KnownCommit, ...])


@cache
def _dated() -> dict[str, list[DatedCommit]]:
    """All commits of the lists by their first seven digits; several where these digits are the same."""
    found: dict[str, list[DatedCommit]] = {}
    for name in (repository(), FORK):
        text = files("bot").joinpath("data", "commits", f"{name.replace('/', '__')}.txt").read_text(encoding="ascii")
        place = 0
        for line in filter(lambda line: not line.startswith("#"), text.splitlines()):
            day, *shorts = line.split()
            for short in shorts:
                found.setdefault(short[:FEWEST], []).append(DatedCommit(name, short, day, place))
                place += 1
    return found


@lru_cache(maxsize=256)
def commit_of(git_hash: str) -> DatedCommit | None:
    """The commit of the shipped lists that a `git_hash` names, None if none or more than one fits."""
    sha = parse_git_hash(git_hash).sha
    fit = [one for one in _dated().get(sha[:FEWEST], ()) if sha.startswith(one.short) or one.short.startswith(sha)]
    return fit[0] if len(fit) == 1 else None


def order_of(release: str) -> tuple[int, ...]:
    """A sort key of a release number: 0.4.9.1 comes after 0.4.9 and before 0.4.10."""
    return tuple(map(int, release.split(".")))


@lru_cache(maxsize=256)
def known_commit(text: str) -> KnownCommit | None:
    """The row of the table that a `git_hash` or a release number ("0.4.9", "v0.4.9") names, None if none does."""
    release = RELEASE.fullmatch(text.strip())
    if release is not None:
        return next((row for row in known_commits() if row.version == release["version"]), None)
    sha = parse_git_hash(text).sha
    return next((row for row in known_commits() if sha and is_same_commit(sha, row.commit)), None)
