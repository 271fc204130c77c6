"""A folder as target: a local git repository in which a request is a branch; publications in, refs moved.

`leaderboard-bot/<key>` holds one commit on top of main with the request's text as its message. Beside each branch
`refs/leaderboard-bot/requests/<key>` remembers what was proposed last: where it is there and the branch is gone, a
person closed the request. Comments stand under `comments/` on main, for there is nowhere else to write them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bot.errors import Stale
from bot.evaluation.row_key import key_start
from bot.platforms.discussions import Comment, Duplicate
from bot.platforms.git.local import LocalRepository
from bot.publishing.board import CSV_NAME, PARQUET_NAME, Board, to_parquet
from bot.publishing.card import derived_files
from bot.publishing.entry import FOLDER, Entry
from bot.publishing.layout import ENTRIES, RowFiles, StoredEntries, is_entry_file, parse_entries
from bot.publishing.publication import (
    SHARED,
    CloseRequest,
    Commit,
    CurrentState,
    EditComment,
    Form,
    Marker,
    OpenRequest,
    PostComment,
    PostedComment,
    PostText,
    Publication,
    Request,
    UpdateRequest,
)
from bot.publishing.texts import commit_message

BRANCHES = "refs/heads/leaderboard-bot/"
MEMORY = "refs/leaderboard-bot/requests/"
COMMENTS = "comments"


class Folder:
    """The target in one folder."""

    def __init__(self, folder: str) -> None:
        self.name = folder
        self._repository = LocalRepository(folder, (BRANCHES, MEMORY))
        self._seen: dict[Marker, tuple[tuple[str, ...], CurrentState]] = {}
        self._rows, self._entries_seen = FOLDER, ""

    def check(self) -> None:
        """See that the folder can be a target. Raises CallError for a file, or a folder that is not a repository."""
        self._repository.check()

    def check_readable(self) -> None:
        """The same: a folder has no account."""
        self.check()

    def head(self) -> str:
        """The commit at the main branch, "" if there is none yet."""
        return self._repository.main

    def read_entries(self) -> list[Entry]:
        """All entries on main."""
        return list(self.scan_entries().entries)

    def scan_entries(self, layout: RowFiles = ENTRIES) -> StoredEntries:
        """All entries on main, and the files among them that are not entries."""
        main = self._repository.main
        self._rows, self._entries_seen = layout.folder, self._entries_at(main, layout.folder)
        found = self._repository.listing(main, layout.folder)
        oids = {path: file.oid for path, file in found.items() if is_entry_file(path, file.size, layout)}
        others = [path for path in found if path not in oids]
        return parse_entries(self._repository.read_all(oids), others, layout)

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder on main."""
        return list(self._repository.listing(self._repository.main, folder))

    def _entries_at(self, main: str, folder: str) -> str:
        """The object id of the folder of rows."""
        found = self._repository.try_git("rev-parse", "--verify", "--quiet", f"{main}:{folder}") if main else None
        return found.decode().strip() if found else ""

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that our open requests, or our comments, are about; those that share a request are left out."""
        main = self._repository.main
        if not main:
            return set()
        branches = {ref.removeprefix(BRANCHES) for ref in self._repository.refs(BRANCHES)}
        ours = {key for key in branches if key.startswith(key_start(leaderboard))}
        comments = self._repository.listing(main, f"{COMMENTS}/{leaderboard}")
        said = {path.removeprefix(f"{COMMENTS}/{leaderboard}/").removesuffix(".md") for path in comments}
        return {key for key in ours | said if key.partition("/")[0] not in SHARED}

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state: files on main, the request of this mark, what a person closed, the comment."""
        standing = self._read_standing(mark, paths)
        self._seen[mark] = (paths, standing)
        return standing

    def _read_standing(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        main = self._repository.main
        if not main:
            return CurrentState()
        files = self.read_files(paths)
        branch = self._repository.resolve(BRANCHES + mark.key)
        remembered = self._repository.resolve(MEMORY + mark.key)
        comment = self._repository.read(main, _comment_path(mark))
        return CurrentState(
            files=files,
            request=self._request(branch, mark) if branch and not self._is_merged(branch, main) else None,
            declined=self._proposed(remembered) if remembered and not branch else None,
            comment=PostedComment(_comment_path(mark), comment.decode("utf-8", "replace"))
            if comment is not None
            else None,
        )

    def read_files(self, paths: Collection[str]) -> dict[str, bytes]:
        """The files at these paths on main, those that are there."""
        main = self._repository.main
        found = {path: self._repository.read(main, path) for path in paths} if main else {}
        return {path: data for path, data in found.items() if data is not None}

    def _is_merged(self, commit: str, main: str) -> bool:
        return self._repository.try_git("merge-base", "--is-ancestor", commit, main) is not None

    def _request(self, commit: str, mark: Marker) -> Request:
        title, _, body = self._repository.message(commit).partition("\n\n")
        return Request(mark.key, self._proposed(commit), PostText(title, body.strip()))

    def _proposed(self, commit: str) -> Mapping[str, bytes | None]:
        """The changes of a request's commit compared with its parent."""
        changed = self._repository.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", f"{commit}^", commit)
        paths = [path for path in changed.decode("utf-8", "surrogateescape").split("\0") if path]
        return {path: self._repository.read(commit, path) for path in paths}

    def find_duplicates(self) -> list[Duplicate]:
        """None: a branch or a file is named by its mark."""
        return []

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Nothing stands twice in a folder."""

    @property
    def conversations(self) -> None:
        """None: nobody writes comments on a branch."""

    @property
    def account(self) -> str:
        """The name of the bot's account."""
        return ""

    def read_replies(self, mark: Marker) -> list[Comment]:
        """Nobody writes comments in a folder."""
        del mark
        return []

    def answer(self, mark: Marker, text: str) -> None:
        """Do nothing: there is no discussion."""

    def apply(self, publication: Publication) -> str:
        """Carry it out, and return where it can be seen. Raises Stale if the target changed since it was read."""
        self._repository.start()
        with self._repository.alone():
            paths, seen = self._seen.get(publication.mark, ((), None))
            if seen is not None and self._read_standing(publication.mark, paths) != seen:
                raise Stale(f"{self.name}: another process changed {publication.mark.key}")
            match publication:
                case OpenRequest() | UpdateRequest():
                    return self._propose(publication.mark, publication.text, publication.files)
                case CloseRequest():
                    return self._close(publication.mark)
                case Commit():
                    self._commit(publication.files, publication.text)
                    return f"{self.name}: {self._repository.main_ref.removeprefix('refs/heads/')}"
                case PostComment() | EditComment():
                    path = _comment_path(publication.mark)
                    self._commit({path: publication.text.body.encode()}, publication.text)
                    return f"{self.name}: {path}"

    def _propose(self, mark: Marker, text: PostText, files: Mapping[str, bytes | None]) -> str:
        branch, memory = BRANCHES + mark.key, MEMORY + mark.key
        commit = self._repository.write_commit(self._repository.main, files, commit_message(text))
        olds = [(ref, self._repository.resolve(ref), commit) for ref in (branch, memory)]
        self._repository.move_refs(olds)
        return f"{self.name}: branch {branch.removeprefix('refs/heads/')}"

    def _close(self, mark: Marker) -> str:
        refs = ((ref, self._repository.resolve(ref)) for ref in (BRANCHES + mark.key, MEMORY + mark.key))
        self._repository.move_refs([(ref, old, "") for ref, old in refs if old])
        return f"{self.name}: closed {mark.key}"

    def _commit(self, files: Mapping[str, bytes | None], text: PostText) -> None:
        main = self._repository.main
        commit = self._repository.write_commit(main, files, commit_message(text))
        self._repository.move_refs([(self._repository.main_ref, main, commit)])
        self._repository.follow()

    def rebuild_board(self, board: Board) -> bool:
        """Write the table where it is not what the entries on main give; says whether anything was written.

        Raises Stale if main has other entries than when they were read.
        """
        if not self._repository.main:
            return False
        with self._repository.alone():
            if self._entries_at(self._repository.main, self._rows) != self._entries_seen:
                raise Stale(f"{self.name}: another process changed the entries")
            self._forget_merged()
            files = self.board_files(board)
            if files:
                self._commit(files, PostText("Rebuild the board", f"{len(board.rows)} rows, derived from {FOLDER}/"))
        return bool(files)

    def filling(self, mark: Marker, form: Form) -> None:
        """None: a folder costs no request."""

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The files derived from the entries on main that are not what these give."""
        main = self._repository.main
        files: dict[str, bytes | None] = {**derived_files(board, lambda path: self._repository.read(main, path))}
        parquet = bool(self._repository.listing(main, PARQUET_NAME))
        if CSV_NAME in files or (board.rows and parquet != _has_parquet()):
            data = to_parquet(board)
            if data is not None or parquet:
                files[PARQUET_NAME] = data  # without the extra an older file would be stale, so it goes
        return files

    def _forget_merged(self) -> None:
        """Delete the branches of requests that a person merged, but for one that is checked out."""
        form = "--format=%(refname) %(objectname)"
        listed = self._repository.git("for-each-ref", "--merged", self._repository.main_ref, form, BRANCHES)
        rows = (line.split(" ") for line in listed.decode().splitlines())
        checked_out = self._repository.checked_out()
        gone = [(ref, commit, "") for ref, commit in rows if ref not in checked_out]
        if gone:
            self._repository.move_refs(gone)


def _has_parquet() -> bool:
    from importlib.util import find_spec

    return find_spec("polars") is not None


def _comment_path(mark: Marker) -> str:
    return f"{COMMENTS}/{mark.leaderboard}/{mark.key}.md"
