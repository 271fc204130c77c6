"""Changes of the harness's tasks that kept the version of the task, from `data/harness.toml`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache, lru_cache

import msgspec

from bot.evaluation.benchmarks.harness import RELEASE, commit_of, known_commit, order_of, table
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.result import HarnessVersion


class SilentChange(msgspec.Struct, frozen=True, gc=False):
    """A change of tasks that kept their version.

    `release` is the first release with it, or `fork` the first commit of the leaderboard's fork. It concerns the leaves
    that match `leaves` and not `but`, only `versions` where there are any, and with `few_shot` only leaves that were
    run with examples.
    """

    what: str
    leaves: tuple[str, ...]
    release: str = ""
    fork: str = ""
    but: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    few_shot: bool = False

    @property
    def after(self) -> str:
        """The harness versions that have the change, in words."""
        return f"release {self.release} and later" if self.release else f"commit {self.fork} and later"

    def covers(self, key: str, num_fewshot: int | None, version: str | float | None) -> bool:
        """Tell whether the change concerns a leaf, by its key, its shots and the version of its task."""
        if not _matches(self.leaves, key) or _matches(self.but, key) or (self.few_shot and not num_fewshot):
            return False
        return not self.versions or (version is not None and canonical_version(version) in self.versions)

    def is_in(self, harness: HarnessVersion) -> bool:
        """Tell whether a result is known to have been measured after the change."""
        return _is_after(self.release, self.fork, harness.version or "", harness.git_hash or "")


@lru_cache(maxsize=4_096)
def _matches(patterns: tuple[str, ...], key: str) -> bool:
    """Tell whether a leaf's key matches one of these patterns, kept because all files have the same keys."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


@lru_cache(maxsize=256)
def _is_after(release: str, fork: str, version: str, git_hash: str) -> bool:
    if release and (match := RELEASE.fullmatch(version.strip())):
        return order_of(match["version"]) >= order_of(release)
    if release and (known := known_commit(git_hash)) is not None and known.version:
        return order_of(known.version) >= order_of(release)
    of_release = known_commit(release)
    first = commit_of(fork or (of_release.commit if of_release else ""))
    found = commit_of(git_hash)
    return bool(first and found and first.repository == found.repository and found.place >= first.place)


@cache
def silent_changes() -> tuple[SilentChange, ...]:
    """All silent changes that are known, in the order of the table."""
    return msgspec.convert(table()["silent_changes"], tuple[SilentChange, ...])
