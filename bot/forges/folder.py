"""A folder as target: a local git repository in which a request is a branch; publications in, refs moved.

`leaderboard-bot/<key>` holds one commit on top of main with the request's text as its message. Beside each branch
`refs/leaderboard-bot/requests/<key>` remembers what was proposed last: where it is there and the branch is gone, a
person closed the request. Comments stand under `comments/` on main, for there is nowhere else to write them.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.board import CSV_NAME, PARQUET_NAME, Board, to_csv, to_parquet
from bot.entry import FOLDER, Entry, parse_entry
from bot.errors import BotError, CallError, MalformedEntry, Stale
from bot.forges.git import Repository
from bot.publication import (
    CloseRequest,
    Commit,
    EditNote,
    Mark,
    Note,
    OpenRequest,
    PostNote,
    Publication,
    Request,
    Standing,
    Text,
    UpdateRequest,
)

BRANCHES = "refs/heads/leaderboard-bot/"
MEMORY = "refs/leaderboard-bot/requests/"
COMMENTS = "comments"
ATTEMPTS = 5


class Folder:
    """The target in one folder."""

    def __init__(self, folder: str) -> None:
        self.name = folder
        self._path = Path(folder)
        self._repository = Repository(self._path)

    def check(self) -> None:
        """See that the folder can be a target. Raises CallError for a file, or for a folder that is no repository."""
        if self._path.exists() and not self._path.is_dir():
            raise CallError(f"{self.name} is a file; a target is a folder, or hf://datasets/…, or github://…")
        if self._is_started():
            return
        if self._path.is_dir() and any(self._path.iterdir()):
            raise CallError(f"{self.name} is no git repository and not empty: run git init in it, or name another")

    def _is_started(self) -> bool:
        return self._path.is_dir() and self._own_root() is not None

    def _own_root(self) -> str | None:
        """The repository's folder where it is this one, not one above it."""
        found = self._repository.try_git("rev-parse", "--absolute-git-dir")
        if found is None:
            return None
        git_dir = Path(found.decode().strip())
        is_own = self._path.resolve() in {git_dir, git_dir.parent}
        return str(git_dir) if is_own else None

    def _start(self) -> None:
        """Make the repository where there is none; main begins with an empty commit, so that requests have a base."""
        self.check()
        self._path.mkdir(parents=True, exist_ok=True)
        if not self._is_started():
            self._repository.git("init", "--quiet", "--initial-branch=main")
        if not self._repository.resolve("refs/heads/main"):
            first = self._repository.write_commit("", {}, "Start the leaderboard")
            with suppress(Stale):
                self._repository.move_refs([("refs/heads/main", "", first)])
        self._follow()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the repository against other bots; the lock ends with the process, however that ends."""
        git_dir = Path(self._own_root() or self._path / ".git")
        with (git_dir / "leaderboard-bot.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for stale in (git_dir / "refs" / "heads" / "leaderboard-bot").rglob("*.lock"):
                stale.unlink(missing_ok=True)  # only a bot writes there, and a living one would hold the lock
            yield

    @property
    def _main(self) -> str:
        return self._repository.resolve("refs/heads/main") if self._is_started() else ""

    def head(self) -> str:
        """The commit at the main branch, "" where there is none yet."""
        return self._main

    def read_entries(self) -> list[Entry]:
        """All entries on main. Raises MalformedEntry with the path of one that is none."""
        files = self._repository.read_all(self._main, FOLDER) if self._main else {}
        return [parse_entry(data, path) for path, data in sorted(files.items()) if path.endswith(".json")]

    def read_standing(self, mark: Mark, paths: tuple[str, ...]) -> Standing:
        """What stands there: files on main, the request of this mark, what a person closed, the comment."""
        main = self._main
        if not main:
            return Standing()
        files = {path: data for path in paths if (data := self._repository.read(main, path)) is not None}
        branch = self._repository.resolve(BRANCHES + mark.key)
        remembered = self._repository.resolve(MEMORY + mark.key)
        note = self._repository.read(main, _note_path(mark))
        return Standing(
            files=files,
            request=self._request(branch, mark) if branch and not self._is_merged(branch, main) else None,
            declined=self._proposed(remembered) if remembered and not branch else None,
            note=Note(_note_path(mark), note.decode("utf-8", "replace")) if note is not None else None,
        )

    def _is_merged(self, commit: str, main: str) -> bool:
        return self._repository.try_git("merge-base", "--is-ancestor", commit, main) is not None

    def _request(self, commit: str, mark: Mark) -> Request:
        message = self._repository.git("show", "-s", "--format=%B", commit).decode("utf-8", "replace")
        title, _, body = message.partition("\n\n")
        return Request(mark.key, self._proposed(commit), Text(title, body.strip()))

    def _proposed(self, commit: str) -> Mapping[str, bytes | None]:
        """What a request's commit changes against the commit it stands on."""
        changed = self._repository.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", f"{commit}^", commit)
        paths = [path for path in changed.decode("utf-8", "surrogateescape").split("\0") if path]
        return {path: self._repository.read(commit, path) for path in paths}

    def carry_out(self, publication: Publication) -> str:
        """Do it, and say where it can be seen. Where another process was faster, the state is read again by retry."""
        self._start()
        with self._alone():
            match publication:
                case OpenRequest() | UpdateRequest():
                    return self._propose(publication.mark, publication.text, publication.files)
                case CloseRequest():
                    return self._close(publication.mark)
                case Commit():
                    self._commit(publication.files, publication.text)
                    return f"{self.name}: main"
                case PostNote() | EditNote():
                    path = _note_path(publication.mark)
                    self._commit({path: publication.text.body.encode()}, publication.text)
                    return f"{self.name}: {path}"

    def _propose(self, mark: Mark, text: Text, files: Mapping[str, bytes | None]) -> str:
        branch, memory = BRANCHES + mark.key, MEMORY + mark.key
        commit = self._repository.write_commit(self._main, files, _message(text))
        olds = [(ref, self._repository.resolve(ref), commit) for ref in (branch, memory)]
        self._repository.move_refs(olds)
        return f"{self.name}: branch {branch.removeprefix('refs/heads/')}"

    def _close(self, mark: Mark) -> str:
        refs = ((ref, self._repository.resolve(ref)) for ref in (BRANCHES + mark.key, MEMORY + mark.key))
        self._repository.move_refs([(ref, old, "") for ref, old in refs if old])
        return f"{self.name}: closed {mark.key}"

    def _commit(self, files: Mapping[str, bytes | None], text: Text) -> None:
        for attempt in range(ATTEMPTS):
            main = self._main
            commit = self._repository.write_commit(main, files, _message(text))
            try:
                self._repository.move_refs([("refs/heads/main", main, commit)])
            except Stale:
                if attempt == ATTEMPTS - 1:
                    raise
                continue
            self._follow()
            return

    def _follow(self) -> None:
        """Let the work tree follow main, where main is checked out and nobody has changed it.

        Run at every start too, for a process may be killed between moving main and this. A work tree that somebody
        works in is left alone: git says there what is to be done.
        """
        git = self._repository
        head = git.try_git("symbolic-ref", "--quiet", "HEAD")
        is_bare = git.git("rev-parse", "--is-bare-repository").strip() == b"true"
        main = self._main
        if is_bare or head is None or head.strip() != b"refs/heads/main" or not main:
            return
        staged = git.try_git("write-tree")
        if staged is None or staged.decode().strip() == git.git("rev-parse", f"{main}^{{tree}}").decode().strip():
            return
        tree = staged.decode().strip()
        history = git.git("log", "-50", "--format=%T", main).decode().split()
        empty = git.git("hash-object", "-t", "tree", "--stdin", data=b"").decode().strip()
        if tree in {*history, empty}:
            with suppress(BotError):
                git.git("read-tree", "-m", "-u", tree, main)

    def rebuild_board(self, board: Board) -> bool:
        """Write the table where it is not what the entries on main give; says whether anything was written."""
        main, table = self._main, to_csv(board)
        parquet = self._repository.files(main, PARQUET_NAME) if main else {}
        if not main or (self._repository.read(main, CSV_NAME) == table and bool(parquet) == (_has_parquet())):
            return False
        files: dict[str, bytes | None] = {CSV_NAME: table}
        data = to_parquet(board)
        if data is not None or parquet:
            files[PARQUET_NAME] = data  # without the extra an older file would be stale, so it goes
        with self._alone():
            self._commit(files, Text("Rebuild the board", f"{len(board.rows)} rows, derived from {FOLDER}/"))
        return True


def _has_parquet() -> bool:
    from importlib.util import find_spec

    return find_spec("polars") is not None


def _note_path(mark: Mark) -> str:
    return f"{COMMENTS}/{mark.leaderboard}/{mark.key}.md"


def _message(text: Text) -> str:
    return f"{text.title}\n\n{text.body}\n"


__all__ = ["Folder", "MalformedEntry"]
