"""The commits and releases of lm-evaluation-harness, and which one a text names.

The releases are in `data/harness.toml`. All commits of the default branch, and those that only the Open LLM
Leaderboard's fork has, are in `data/commits/` by their first eight digits; `.github/renew_commits.py` renews them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
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


class KnownCommit(msgspec.Struct, frozen=True, gc=False):
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


class DatedCommit(msgspec.Struct, frozen=True, gc=False):
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
def _lists() -> dict[str, str]:
    """The list of each repository: in a line a day and, each after a space, the commits of it; the oldest first."""
    found = {}
    for name in (repository(), FORK):
        text = files("bot").joinpath("data", "commits", f"{name.replace('/', '__')}.txt").read_text(encoding="ascii")
        found[name] = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return found


def _beginning_with(digits: str) -> Iterator[DatedCommit]:
    """The commits of the lists whose first digits are these."""
    for name, text in _lists().items():
        for found in re.finditer(f" ({digits}[0-9a-f]*)", text):
            day = text[text.rfind("\n", 0, found.start()) + 1 :].partition(" ")[0]
            yield DatedCommit(name, found[1], day, text.count(" ", 0, found.start()))


@lru_cache(maxsize=256)
def commit_of(git_hash: str) -> DatedCommit | None:
    """The commit of the shipped lists that a `git_hash` names, None if none or more than one fits."""
    sha = parse_git_hash(git_hash).sha
    known = _beginning_with(sha[:FEWEST]) if sha else ()
    fit = [one for one in known if sha.startswith(one.short) or one.short.startswith(sha)]
    return fit[0] if len(fit) == 1 else None


@lru_cache(maxsize=256)
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
