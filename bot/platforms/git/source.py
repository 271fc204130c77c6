"""A local git repository as a source: which files changed between two commits; it is never checked out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Refused
from bot.platforms.digest import check_content
from bot.platforms.git.repository import Repository
from bot.platforms.kept import kept_property
from bot.platforms.source import Change, LastCommit, Source, TooLarge, named_change


@dataclass(frozen=True)
class GitSource:
    """Reads the repository in `folder`, bare or not, always at a named commit; `name` is how evidence names it."""

    folder: Path
    name: str = ""

    @kept_property
    def _repository(self) -> Repository:
        return Repository(self.folder)

    def head(self) -> str:
        """The commit at the branch that stands checked out (in a bare repository, its main branch)."""
        found = (
            self._repository.try_git("rev-parse", "--show-prefix", "HEAD^{commit}") if self.folder.is_dir() else None
        )
        if found is None:
            why = self._repository.why_closed() if self.folder.is_dir() else ""
            raise Refused("git", f"{self.folder} {why or 'is not a git repository with a commit in it'}")
        inside, _, commit = found.decode("utf-8", "surrogateescape").rstrip("\n").rpartition("\n")
        if inside:  # git lists files below this folder, and reads them from the root
            root = self.folder.resolve().parents[inside.count("/") - 1]
            raise Refused("git", f"{self.folder} is a folder inside the git repository {root}; name {root} instead")
        return commit

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits; every file where there is no old one."""
        if old == new:
            return
        if old is None or not self.knows(old):
            for path, file in self._repository.listing(new).items():
                yield named_change(path, file.oid, file.size)
            return
        moved = self._repository.changed(old, new)
        sizes = self._repository.sizes(list(filter(None, moved.values())))
        for path, oid in moved.items():
            yield named_change(path, oid, sizes[oid]) if oid in sizes else named_change(path, None, 0)

    def knows(self, commit: str) -> bool:
        """Tell whether the commit is still there; a rewritten history may have lost it."""
        return bool(self._repository.resolve(commit))

    def in_bulk(self, commit: str, count: int) -> AbstractContextManager[Source]:
        """The same: it needs no preparation."""
        del commit, count
        return nullcontext(self)

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`."""
        return {path: last for path in paths if (last := self.last_commit(path, commit))}

    def last_commit(self, path: str, commit: str) -> LastCommit | None:
        """The commit that last touched a path, None if none did."""
        found = self._repository.git("--literal-pathspecs", "log", "-1", "--format=%H %ct", commit, "--", path)
        oid, _, date = found.decode().strip().partition(" ")
        return LastCommit(oid, float(date)) if oid else None

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None if it is not there. Raises TooLarge past the limit."""
        found = self._repository.find(commit, path)
        if found is None:
            return None
        if found.size > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        return check_content(self._repository.read_blob(found.oid), oid, "git", f"{self.folder}: {path}")
