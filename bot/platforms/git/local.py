"""The git repository of a folder: created if missing, locked against other bots, with an updated work tree.

Every step leaves a state that the next run can go on from, wherever the process is killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp

from bot.errors import BotError, CallError, Unavailable
from bot.platforms.git import program
from bot.platforms.git.repository import Repository
from bot.platforms.net import DEADLINE
from bot.platforms.writes import check_held

MAIN, OLD_MAIN = "refs/heads/main", "refs/heads/master"
LOCK = "leaderboard-bot.lock"
NEW = ".leaderboard-bot-"
INIT = ("init", "--quiet", "--initial-branch=main", "--template=")


class LocalRepository(Repository):
    """The repository whose root is one folder; `refs` are the namespaces that only bots write."""

    def __init__(self, folder: str, refs: tuple[str, ...]) -> None:
        super().__init__(Path(folder))
        self.name, self._refs = folder, refs
        self._followed: tuple[tuple[int, ...] | None, str] = (None, "")  # the index as we left it, and its tree

    def check(self) -> None:
        """See that the folder can be a target. Raises CallError for a file, or a folder that is not a repository."""
        if which("git") is None:
            raise CallError("git is not installed, and a target that is a folder needs it")
        if not program.is_recent():
            raise CallError("a target that is a folder needs git 2.34 or newer: install it")
        if self.folder.exists() and not self.folder.is_dir():
            raise CallError(f"{self.name} is a file; a target is a folder, or hf://datasets/…, or github://…")
        has_files = self.folder.is_dir() and any(map(_is_foreign, self.folder.iterdir()))
        if has_files and self.layout is None:  # asked last, for another process may just have made it
            is_none = "is not a git repository and not empty: run git init in it, or name another folder"
            raise CallError(f"{self.name} {is_none}")

    def start(self) -> None:
        """Make the repository where there is none. Raises CallError if the folder cannot be made."""
        self.check()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.layout is None:
                self._init()
            for left in self.folder.glob(f"{NEW}*"):  # by a process that was killed, or was slower than another
                rmtree(left, ignore_errors=True)
        except OSError as error:
            raise CallError(f"{self.name}: cannot be written: {error.strerror}") from None

    def _init(self) -> None:
        """Make a repository aside and move it in at once: a killed `git init` leaves one that git refuses."""
        aside = Path(mkdtemp(prefix=NEW, dir=self.folder))
        status, _, said = program.run(*INIT, str(aside.resolve()), git_dir=None, timeout=DEADLINE)
        if status:
            raise Unavailable("git", f"{self.name}: {said.decode('utf-8', 'replace').strip()}")
        with suppress(OSError):  # another process moved its own in before
            (aside / ".git").rename(self.folder / ".git")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the repository against other bots; the lock ends with the process, however that ends.

        While it is held the file says so. Where it says so when it is taken, a bot was killed in the middle, and what
        locks of git it may have left behind are removed: no living bot has them. Raises LeaseLost as `check_held`.
        """
        check_held()
        layout = self.layout
        root = layout.common if layout else self.folder / ".git"
        with open(root / LOCK, "a+", opener=_no_link, encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            was_killed = os.fstat(lock.fileno()).st_size > 0
            if was_killed:
                self._remove_locks()
            lock.write("held\n")
            lock.flush()
            try:
                self._begin()
                self.follow(was_killed=was_killed)
                yield
            finally:
                lock.truncate(0)

    def _remove_locks(self) -> None:
        layout = self.layout
        if layout is None:
            return
        root = layout.common
        private = (layout.git_dir / "HEAD.lock", layout.git_dir / "index.lock")
        heads = (root / f"{ref}.lock" for ref in (MAIN, OLD_MAIN))
        fixed = (*private, root / "packed-refs.lock", *heads)
        ours = (root.joinpath(*Path(refs).parts).rglob("*.lock") for refs in self._refs)
        for stale in (*fixed, *(lock for locks in ours for lock in locks)):
            stale.unlink(missing_ok=True)

    def _begin(self) -> None:
        """Let main begin with an empty commit, so that requests have a base."""
        if not self.main:
            first = self.write_commit("", {}, "Start the leaderboard")
            self.move_refs([(self.main_ref, "", first)])

    @property
    def main(self) -> str:
        """The commit of main, "" if there is no repository yet."""
        return self.resolve(self.main_ref) if self.layout is not None else ""

    @property
    def main_ref(self) -> str:
        """The main branch: `master` where there is one and no `main`."""
        is_old = self.layout is not None and self.resolve(OLD_MAIN) and not self.resolve(MAIN)
        return OLD_MAIN if is_old else MAIN

    def follow(self, *, was_killed: bool = False) -> None:
        """Let the work tree follow main, where main is checked out and nobody has changed it.

        Run whenever the lock is taken too, for a process may be killed between moving main and this. A work tree that
        somebody works in is left alone: git says there what is to be done.
        """
        layout = self.layout
        if layout is None or layout.tree is None or self.head() != self.main_ref:
            return
        index = layout.git_dir / "index"
        if index.is_symlink():
            return
        main = self.main
        wanted, seen = self.tree_of(main), _stamp(index)
        if self._followed == (seen, wanted):
            return
        if seen is not None and self._followed[0] == seen:
            tree, is_ours = self._followed[1], True
        else:
            try:
                tree = self.git("write-tree", index=index).decode().strip()
            except Unavailable:
                return
            history = self.git("log", "-50", "--format=%T", main).decode().split()
            is_ours = tree in {*history, self.empty_tree()}
        if tree != wanted and is_ours:
            if was_killed:
                self._remove_torn(tree, main)
            with suppress(BotError):
                self.git("read-tree", "-m", "-u", tree, main, index=index, more={"GIT_WORK_TREE": str(layout.tree)})
                self._followed = (_stamp(index), wanted)

    def _remove_torn(self, tree: str, main: str) -> None:
        """Remove what a killed bot had begun to check out: files that are the new ones, or the beginning of them."""
        changed = self.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", tree, main).decode().split("\0")
        for path in filter(None, changed):
            file, new = self.folder / path, self.read(main, path)
            if new is not None and file.is_file() and new.startswith(file.read_bytes()):
                file.unlink()


def _is_foreign(path: Path) -> bool:
    """Tell whether a file in a folder without a repository is not one that the bot left behind."""
    return not path.name.startswith(NEW)


def _no_link(path: str, flags: int) -> int:
    """Open a file that somebody else may have put there: a link would lead us to write elsewhere."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes whenever a file is written anew, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
