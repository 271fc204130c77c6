"""A local git repository as a source: two commits in, the files that changed between them out; never a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Refused
from bot.platforms.git.repository import Repository
from bot.platforms.source import Change, TooLarge


@dataclass(frozen=True)
class GitSource:
    """Reads the repository in `folder`, bare or not, always at a named commit; `name` is how evidence names it."""

    folder: Path
    name: str = ""

    @property
    def _repository(self) -> Repository:
        return Repository(self.folder)

    def head(self) -> str:
        """The commit at the branch that stands checked out (in a bare repository, its main branch)."""
        commit = self._repository.resolve("HEAD") if self.folder.is_dir() else ""
        if not commit:
            raise Refused("git", f"{self.folder} is no git repository with a commit in it")
        return commit

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits; every file where there is no old one."""
        if old == new:
            return
        if old is None or not self.knows(old):
            yield from (Change(path, oid, size) for path, oid, size in self.files(new))
            return
        raw = self._repository.git("diff-tree", "-r", "-z", "--no-renames", old, new).decode(errors="surrogateescape")
        fields = raw.split("\0")
        moved = {path: meta.split()[3] for meta, path in zip(fields[::2], fields[1::2], strict=False)}
        sizes = self.sizes([oid for oid in moved.values() if set(oid) != {"0"}])
        for path, oid in moved.items():
            yield Change(path, oid, sizes[oid]) if oid in sizes else Change(path, None, 0)

    def knows(self, commit: str) -> bool:
        """Whether the commit is still there; a rewritten history may have lost it."""
        return bool(self._repository.resolve(commit))

    def files(self, commit: str) -> Iterator[tuple[str, str, int]]:
        """Every file: path, object id, bytes."""
        raw = self._repository.git("ls-tree", "-r", "-l", "-z", commit).decode(errors="surrogateescape")
        for line in filter(None, raw.split("\0")):
            meta, _, path = line.partition("\t")
            _, kind, oid, size = meta.split()
            if kind == "blob":
                yield path, oid, int(size)

    def sizes(self, oids: list[str]) -> dict[str, int]:
        """The bytes of each object that is a file."""
        if not oids:
            return {}
        given = "".join(f"{oid}\n" for oid in oids).encode()
        lines = self._repository.git("cat-file", "--batch-check", data=given).decode().splitlines()
        rows = [line.split() for line in lines]
        return {row[0]: int(row[2]) for row in rows if row[1] == "blob"}

    def touched(self, paths: list[str], commit: str) -> dict[str, str]:
        """For each path, the commit that last touched it, as of `commit`."""
        return {path: last for path in paths if (last := self.last_commit(path, commit))}

    def last_commit(self, path: str, commit: str) -> str:
        """The commit that last touched a path; "" where none did."""
        found = self._repository.git("--literal-pathspecs", "log", "-1", "--format=%H", commit, "--", path)
        return found.decode().strip()

    def read(self, path: str, commit: str, limit: int) -> bytes | None:
        """A file's bytes at a commit; None where it is not there. Raises TooLarge past the limit."""
        given = f"{commit}:{path}\0".encode(errors="surrogateescape")
        answer = self._repository.git("cat-file", "--batch-check", "-z", data=given).decode(errors="replace")
        if answer.endswith(" missing\n"):
            return None
        oid, kind, size = answer.split()[-3:]
        if kind != "blob":
            return None
        if int(size) > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        return self._repository.git("cat-file", "blob", oid)
