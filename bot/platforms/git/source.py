"""Local git repositories: the platform, and one of them as a source, which is never checked out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from os.path import normpath
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bot.errors import BotError, CallError, Refused, Unavailable
from bot.platforms.caches import check_file, lazy_property
from bot.platforms.git.repository import Repository, checked_name, find_layout, logged_files
from bot.platforms.platform import Opener, Platform, refuse_forgotten_scheme
from bot.platforms.source import Change, LastCommit, Source, TooLarge, is_wanted, named_change
from bot.reporting.escape import brief

if TYPE_CHECKING:
    from bot.platforms.git.target import Folder
    from bot.publishing.publication import Form

LOG = ("log", "-c", "--raw", "-z", "--no-renames", "--no-abbrev", "--format=%H %ct")
SINGLE = 3  # questions, after which a history is read once for all files
History = dict[str, dict[str, LastCommit]]  # by path the commits that touched it, the newest first
GIT_ID = 40  # digits of the object id of a file that git has itself; others are kept outside of git
POINTER = b"version https://git-lfs.github.com/spec/v1\n"  # the beginning of a pointer to such a file in git
TOGETHER = 100  # paths that one git looks for: it compares each file with each of them


@dataclass(frozen=True)
class GitSource(Source):
    """Reads the repository in `folder`, bare or not, always at a named commit; `name` is its name in evidence.

    `label` is what people call it, the folder where it is "".
    """

    folder: Path
    name: str = ""
    label: str = ""

    @lazy_property
    def _asked(self) -> Counter[str]:
        """The number of questions about the last commits of files, by commit."""
        return Counter()

    @lazy_property
    def _histories(self) -> dict[str, History]:
        return {}

    @lazy_property
    def _ancestors(self) -> dict[str, frozenset[str]]:
        return {}

    @lazy_property
    def _repository(self) -> Repository:
        return Repository(self.folder, self.label)

    def head(self) -> str:
        """The commit of the branch that is checked out; of a bare repository that of its main branch."""
        repository = self._repository
        if repository.layout is None:
            raise Refused("git", f"{repository.label} {_why_none(self.folder)}")
        commit = repository.resolve(repository.head())
        if not commit:
            raise Refused("git", f"{repository.label} is a git repository without a commit")
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

    def uncommitted(self, patterns: Collection[str]) -> list[str]:
        """The wanted files in the folder that its commit has not, or not as they are; none where git cannot tell."""
        with suppress(BotError):
            found = self._repository.uncommitted(self.head())
            return sorted(path for path in found if is_wanted(path, patterns))
        return []

    def knows(self, commit: str) -> bool:
        """Tell whether the commit is still there; a rewritten history may have lost it."""
        return bool(self._repository.resolve(commit))

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether the history of `head` has a commit; the history is kept for the many files of a board."""
        if head not in self._ancestors:
            self._ancestors.clear()
            self._ancestors[head] = frozenset(self._repository.walk("rev-list", checked_name(head)).split())
        return commit in self._ancestors[head]

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`.

        Many questions, or a question about many files, are answered from a whole history that is read once: that of the
        branch, which knows every commit that touched a file, or that of a commit that is asked about often.
        """
        self._asked[commit] += 1
        found: dict[str, LastCommit] = {}
        if self._asked.total() > SINGLE or len(paths) > TOGETHER:
            with suppress(BotError):
                known = self._history(self.head())  # which may be longer than that of `commit`
                found = {path: known[path][commit] for path in paths if commit in known.get(path, {})}
        left = [path for path in paths if path not in found]
        if self._asked[commit] > SINGLE or len(left) > TOGETHER:
            every = self._history(commit) if left else {}
            return found | {path: next(iter(every[path].values())) for path in left if path in every}
        some = self._log(left, commit) if left else {}
        return found | {path: next(iter(some[path].values())) for path in left if path in some}

    def _history(self, commit: str) -> History:
        """The whole history of a commit; two histories are kept."""
        if commit not in self._histories:
            while len(self._histories) > 1:
                del self._histories[list(self._histories)[-1]]
            self._histories[commit] = self._log([], commit)
        return self._histories[commit]

    def _log(self, paths: list[str], commit: str) -> History:
        log = self._repository.walk("--literal-pathspecs", *LOG, checked_name(commit), "--", *paths)
        found: History = {}
        for head, _, path in logged_files(log):
            oid, _, date = head.partition(" ")
            found.setdefault(path, {}).setdefault(oid, LastCommit(oid, float(date) if date else None))
        return found

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes at a commit to an open one; False if it is not there. Raises TooLarge past the limit."""
        if {"", ".", ".."}.intersection(path.split("/")):
            return False  # git would end
        found = self._repository.find(commit, path)
        if found is None:
            return False
        if found.size > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        self._repository.save_blob(found.oid, file)
        check_file(file, oid, "git", f"{self._repository.label}: {path}")
        return True

    def read_content(self, oid: str, limit: int) -> bytes | None:
        """The content of an object id, None if it is not there; git need not look through folders for it.

        Raises as `read` does.
        """
        kind, data = self._repository.content(oid, limit) or ("", b"")
        if kind != "blob":
            return None
        check_file(BytesIO(data), oid, "git", self._repository.label)
        return data

    def close(self) -> None:
        """End the git processes."""
        self._repository.close()


@dataclass(frozen=True)
class CopiedSource(Source):
    """A source with a copy of one commit, or of its whole history where `commit` is "".

    What the copy does not have is asked of the source.
    """

    source: Source
    copy: GitSource
    commit: str

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        return self.source.name

    def head(self) -> str:
        """The commit at main; with a whole history, as it was when it was fetched."""
        return self.source.head() if self.commit else self.copy.head()

    def _has(self, commit: str) -> bool:
        """Tell whether the copy has a commit; for a commit that was fetched alone, git is not asked."""
        return commit == self.commit if self.commit else self.copy.knows(commit)

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is still there."""
        return self._has(commit) or self.source.knows(commit)

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether the history of `head` has a commit; the copy of a whole history answers for main."""
        is_fetched = not self.commit and head == self.copy.head()
        return (self.copy if is_fetched else self.source).contains(head, commit)

    def changes(self, old: str | None, new: str) -> Iterable[Change]:
        """The files that differ between two commits."""
        return self.source.changes(old, new)

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`."""
        if not self.commit and self.copy.knows(commit):
            with suppress(Unavailable):  # of a very long history, git may take too long
                return self.copy.touched(paths, commit)
        return self.source.touched(paths, commit)

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None if it is not there. Raises TooLarge past the limit."""
        if (oid is None or len(oid) == GIT_ID) and self._has(commit):
            data = self.copy.read_content(oid, limit) if oid else self.copy.read(path, commit, limit)
            is_pointer = data is not None and data.startswith(POINTER)
            if not is_pointer and (data is not None or oid is None):
                return data
        return self.source.read(path, commit, limit, oid)

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes at a commit to an open one; False if it is not there. Raises as `read` does."""
        return self.source.save(path, commit, limit, file, oid)


def _why_none(folder: Path) -> str:
    """Why a folder is no source; for one inside a repository, with the root to name: git lists files from there."""
    root = (
        next((parent for parent in folder.resolve().parents if find_layout(parent)), None) if folder.is_dir() else None
    )
    if root is None:
        return "is not a git repository with a commit in it"
    return f"is a folder inside the git repository {root}; name {root} instead"


def checked_folder(name: str, start: Path = Path()) -> str:
    """The name of a folder as it was given; relative ones begin at `start`.

    Raises CallError for `org/name`, the address of a page and a branch of a folder, where there is no such folder: a
    forgotten `hf://` would otherwise make a new, empty board on this machine.
    """
    try:
        is_there = (start / name).exists()
        of_branch, _, _ = name.rpartition("@")
        has_branch = not is_there and bool(of_branch) and find_layout(start / of_branch) is not None
    except OSError as error:
        raise CallError(f"{brief(name)}: {error.strerror}") from None
    if has_branch:
        why = f"a folder has no @branch: write {of_branch}, and rows go to main, else master, else what is checked out"
        raise CallError(f"{brief(name)}: {why}")
    if not is_there:
        refuse_forgotten_scheme(name)
    return name


class GitPlatform(Platform):
    """Local git repositories: a request is a branch, nobody can be told anything, and nothing is fetched.

    The files of a site lie in a folder as they are, without a commit.
    """

    address = "a folder"

    def open_source(self, name: str, opener: Opener) -> GitSource:
        """A repository of results. Raises CallError for `org/name` where there is no such folder."""
        return GitSource(opener.folder / checked_folder(name, opener.folder), name, name)

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> Folder:
        """A repository of rows; it is made when something is first written. Raises CallError as open_source does."""
        from bot.platforms.git.target import Folder  # a command that reads only starts faster without these
        from bot.platforms.kept import Keeper

        checked_folder(name, opener.folder)
        folder = name if opener.folder == Path() else normpath(opener.folder.resolve() / name)
        return Folder(folder, Keeper(opener), name)


PLATFORM = GitPlatform()
