"""A folder as target: a local git repository in which a request is a branch; publications in, refs moved.

`leaderboard-bot/<key>` holds one commit on top of main with the request's text as its message. Where people committed
there, the bot adds a commit; if it closes the request, their commits stay in `leaderboard-bot-closed/<key>/<commit>`.
Beside each branch `refs/leaderboard-bot/requests/<key>` remembers what was proposed last: where it is there and the
branch is gone, a person closed the request. Before another is proposed, that moves to
`refs/leaderboard-bot/closed/<key>/<number>`. What was merged is remembered in `refs/leaderboard-bot/merged/<key>`
instead. Comments stand under `comments/` on main, for there is nowhere else to write them.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import count, takewhile
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp
from uuid import uuid4

from bot.errors import BotError, CallError, Refused, Stale, Unavailable
from bot.evaluation.finding import examples
from bot.evaluation.row_key import key_start
from bot.platforms.git import program
from bot.platforms.git.repository import Repository, is_of
from bot.platforms.kept import Keeper
from bot.platforms.net import DEADLINE, check_lease
from bot.platforms.target import Target, board_commit
from bot.publishing.board import CSV_NAME, PARQUET_NAME, Board
from bot.publishing.card import derived_files, parquet_beside
from bot.publishing.entry import FOLDER, KEPT_FOLDER, is_kept, kept_for
from bot.publishing.layout import StoredEntries, is_entry_file, read_row, stored_entries
from bot.publishing.merge import Merged, merge_files
from bot.publishing.publication import (
    MOST_CLOSED,
    ClosedRequest,
    CloseRequest,
    Commit,
    CurrentState,
    EditComment,
    Marker,
    OpenRequest,
    PostComment,
    PostedComment,
    PostText,
    Publication,
    Push,
    Request,
    UpdateRequest,
    file_marks,
    find_marker,
)
from bot.publishing.texts import commit_message

BRANCHES = "refs/heads/leaderboard-bot/"
MEMORY = "refs/leaderboard-bot/requests/"
MERGED = "refs/leaderboard-bot/merged/"
CLOSED = "refs/leaderboard-bot/closed/"
KEPT = "refs/heads/leaderboard-bot-closed/"
WRITTEN = ("refs", "logs")  # folders of a repository, beside its objects
COMMENTS = "comments"
MAIN, OLD_MAIN = "refs/heads/main", "refs/heads/master"
LOCK = "leaderboard-bot.lock"
IDENTITY = "leaderboard-bot.id"
NEW = ".leaderboard-bot-"
# How git says that it could not write all of a work tree, unlike that somebody works in it.
NOT_WRITTEN = ("unable to write", "unable to create file")
INIT = ("init", "--quiet", "--initial-branch=main", "--template=")


class LocalRepository(Repository):
    """The repository whose root is one folder: created if missing, locked against other bots.

    `refs` are the namespaces that only bots write. Every step leaves a state that the next run can go on from, wherever
    the process is killed. The work tree follows main.
    """

    def __init__(self, folder: str, refs: tuple[str, ...], label: str = "") -> None:
        super().__init__(Path(folder), label)
        self._refs, self._is_own = refs, False
        self._followed: tuple[tuple[int, ...] | None, str] = (None, "")  # the index as we left it, and its tree

    def check(self) -> None:
        """See that the folder can be a target. Raises CallError for a file, or a folder that is not a repository."""
        if which("git") is None:
            raise CallError("git is not installed, and a target that is a folder needs it")
        if not program.is_recent():
            raise CallError("a target that is a folder needs git 2.34 or newer: install it")
        if self.folder.exists() and not self.folder.is_dir():
            raise CallError(f"{self.label} is a file; a target is a folder, or hf://datasets/…, or github://…")
        # What begins with NEW is what the bot left behind.
        has_files = self.folder.is_dir() and not all(path.name.startswith(NEW) for path in self.folder.iterdir())
        if has_files and self.layout is None:  # asked last, for another process may just have made it
            is_none = "is not a git repository and not empty: run git init in it, or name another folder"
            raise CallError(f"{self.label} {is_none}")

    def start(self) -> None:
        """Make the repository where there is none. Raises CallError if the folder cannot be made."""
        self.check()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if self.layout is None:
                self._init()
            self._refuse_links()
            for left in self.folder.glob(f"{NEW}*"):  # by a process that was killed, or was slower than another
                rmtree(left, ignore_errors=True)
        except OSError as error:
            raise CallError(f"{self.label}: cannot be written: {error.strerror}") from None

    def _refuse_links(self) -> None:
        """See, once, that git writes to nothing outside: no link or file leads there. Raises CallError."""
        if self._is_own or self.layout is None:
            return
        if not is_of(self.layout, self.folder):
            where = self.layout.common
            raise CallError(f"{self.label}: its .git leads to {where}, which does not lead back: name that instead")
        places = [self.layout.common / "objects", *(self.layout.common / "objects").iterdir()]
        for root in {self.layout.common, self.layout.git_dir}:
            places += [path for name in WRITTEN for path in (root / name, *(root / name).rglob("*"))]
        link = next((path for path in places if path.is_symlink()), None)
        if link is not None:
            raise CallError(f"{link} is a link, through which nothing is written: remove it, or name another folder")
        self._is_own = True

    def _init(self) -> None:
        """Make a repository elsewhere and move it in at once: a killed `git init` leaves one that git refuses."""
        aside = Path(mkdtemp(prefix=NEW, dir=self.folder))
        status, _, said = program.run(*INIT, str(aside.resolve()), git_dir=None, timeout=DEADLINE)
        if status:
            raise Unavailable("git", f"{self.label}: {said.decode('utf-8', 'replace').strip()}")
        with suppress(OSError):  # another process moved its own in before
            (aside / ".git").rename(self.folder / ".git")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the repository against other bots for the block; the lock ends with the process, however that ends.

        The lock's file says that it is held. Where it says so when it is taken, a bot was killed meanwhile, and the
        locks of git that it may have left are removed: no living bot has them. Raises LeaseLost as `check_lease` does.
        """
        check_lease()
        layout = self.layout
        root = layout.common if layout else self.folder / ".git"
        with ExitStack() as held:
            try:
                lock = held.enter_context(open(root / LOCK, "ab", buffering=0, opener=_no_link))
                fcntl.flock(lock, fcntl.LOCK_EX)
                was_killed = os.fstat(lock.fileno()).st_size > 0
                if was_killed:
                    self._remove_locks()
                lock.write(b"held\n")
            except OSError as error:
                raise Unavailable("git", f"{self.label}: cannot be written: {error.strerror}") from None
            try:
                self._begin()
                self._identify(root)
                if was_killed:
                    self._remember_requests()
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
        heads = (root / f"{ref}.lock" for ref in {MAIN, OLD_MAIN, self.main_ref})
        fixed = (*private, root / "packed-refs.lock", *heads)
        ours = (root.joinpath(*Path(refs).parts).rglob("*.lock") for refs in self._refs)
        for stale in (*fixed, *(lock for locks in ours for lock in locks)):
            stale.unlink(missing_ok=True)

    def _remember_requests(self) -> None:
        """Remember each request that a killed bot opened: git moves one ref after the other."""
        known = self.refs(MEMORY)
        for ref, commit in self.refs(BRANCHES).items():
            memory = MEMORY + ref.removeprefix(BRANCHES)
            if memory not in known:
                self.move_refs([(memory, "", commit)])

    def _begin(self) -> None:
        """Begin main with an empty commit, so that requests have a base."""
        if not self.main:
            first = self.write_commit("", {}, "Start the leaderboard")
            self.move_refs([(self.main_ref, "", first)])

    def _identify(self, root: Path) -> None:
        """Give the repository an id where it has none; a link or file that somebody put there is left alone."""
        if not self.identity:
            with suppress(OSError), open(root / IDENTITY, "w", opener=_no_link, encoding="ascii") as file:
                file.write(uuid4().hex)

    @property
    def identity(self) -> str:
        """The id that the repository got with its first write; one that is made again in the folder has another."""
        with suppress(OSError, UnicodeDecodeError):
            if self.layout is not None and (self.layout.common / IDENTITY).is_file():
                with open(self.layout.common / IDENTITY, opener=_no_link, encoding="ascii") as file:
                    return file.read(64)
        return ""

    @property
    def main(self) -> str:
        """The commit of main, "" if there is no repository yet."""
        return self.resolve(self.main_ref) if self.layout is not None else ""

    @property
    def main_ref(self) -> str:
        """The main branch: `main`, else `master`, else the one that is checked out; `main` where none has a commit."""
        if self.layout is None or self.resolve(MAIN):
            return MAIN
        if self.resolve(OLD_MAIN):
            return OLD_MAIN
        head = self.head()
        is_of_people = head.startswith("refs/heads/") and not head.startswith((BRANCHES, KEPT))
        return head if is_of_people and self.resolve(head) else MAIN

    def follow(self, *, was_killed: bool = False) -> None:
        """Bring the work tree to main, where main is checked out and nobody has changed the files.

        This also runs whenever the lock is taken: a process may be killed between moving main and this. A work tree in
        which somebody works is left alone: git itself says there what is to be done.
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
            try:
                self.git("read-tree", "-m", "-u", tree, main, index=index, more={"GIT_WORK_TREE": str(layout.tree)})
                self._followed = (_stamp(index), wanted)
            except BotError as failure:
                if any(words in str(failure) for words in NOT_WRITTEN):
                    self._remove_torn(tree, main)

    def _remove_torn(self, tree: str, main: str) -> None:
        """Remove files of a checkout that broke off: those that are new, or the beginning of new ones."""
        changed = self.walk("diff-tree", "-r", "-z", "--no-renames", "--name-only", tree, main).split("\0")
        for path in filter(None, changed):
            file, new = self.folder / path, self.read(main, path)
            if new is not None and file.is_file() and new.startswith(file.read_bytes()):
                file.unlink()


class Folder(Target):
    """The target in one folder: the mark names the branch or file, so that nothing exists twice.

    `name` is where it lies, for commands; `label` is what the settings call it, for people.
    """

    name: str = ""

    def __init__(self, folder: str, keeper: Keeper | None = None, label: str = "") -> None:
        self.name, self.label = folder, label or folder
        self._keeper = keeper or Keeper()
        self._repository = LocalRepository(folder, (BRANCHES, MEMORY, MERGED, CLOSED, KEPT), label)
        self._seen: dict[Marker, tuple[tuple[str, ...], CurrentState]] = {}
        self._entries_seen = ""
        self._moved: dict[tuple[str, str], AbstractSet[str] | None] = {}

    def check(self) -> None:
        """See that the folder can be a target. Raises CallError for a file, or a folder that is not a repository."""
        self._repository.check()

    def check_readable(self) -> None:
        """See that there is something to read. Raises CallError where nothing is, and as `check` does."""
        self.check()
        if not self._repository.folder.exists():
            raise CallError(f"{self.label}: there is no such folder")

    def head(self) -> str:
        """The commit at the main branch, "" if there is none yet."""
        return self._repository.main

    def uncommitted(self, path: str) -> bool:
        """Tell whether the work tree, where main is checked out, has another file at a path than main has."""
        with suppress(BotError):
            return bool(self.head()) and path in self._repository.uncommitted(self.head())
        return False

    def contains(self, commit: str) -> bool:
        """Tell whether the history of main has a commit."""
        return self._is_merged(commit, self._repository.main)

    def identity(self) -> str:
        """The id of the repository, "" before the bot first wrote there."""
        return self._repository.identity

    def scan_entries(self) -> StoredEntries:
        """All entries on main, and the files among them that are not entries."""
        main = self._repository.main
        self._entries_seen = self._entries_at(main)
        found = self._repository.listing(main, FOLDER)
        oids = {path: file.oid for path, file in found.items() if is_entry_file(path, file.size)}
        data = self._repository.read_all(oids)
        return stored_entries({path: read_row(path, data.get(path)) for path in found})

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder on main."""
        return list(self._repository.listing(self._repository.main, folder))

    def _entries_at(self, main: str) -> str:
        """The object id of the folder of rows."""
        found = self._repository.try_git("rev-parse", "--verify", "--quiet", f"{main}:{FOLDER}") if main else None
        return found.decode().strip() if found else ""

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that our open requests or comments are about, except for those that share a request."""
        main = self._repository.main
        if not main:
            return set()
        branches = {ref.removeprefix(BRANCHES) for ref in self._repository.refs(BRANCHES)}
        comments = self._repository.listing(main, f"{COMMENTS}/{leaderboard}")
        said = {path.removeprefix(f"{COMMENTS}/{leaderboard}/").removesuffix(".md") for path in comments}
        return {key for key in branches | said if key.startswith(key_start(leaderboard))}

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state: files on main, the request of this mark, what a person closed, the comment."""
        state = self._current_state(mark, paths)
        self._seen[mark] = (paths, state)
        return state

    def _current_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        main = self._repository.main
        if not main:
            return CurrentState()
        files = self.read_files(paths)
        branch = self._repository.resolve(BRANCHES + mark.key)
        merged, closed = self._closed(mark, main) if not branch else ("", "")
        earlier = [one for one in self._earlier(mark) if one not in {branch, closed}]  # one may be open again
        declined = [*filter(None, [closed]), *reversed(earlier)][:MOST_CLOSED]
        is_missing = bool(merged) and not mark.is_shared and len(files) < len(paths)
        comment = self._repository.read(main, _comment_path(mark))
        return CurrentState(
            files=files,
            request=self._request(branch, mark, paths) if branch and not self._is_merged(branch, main) else None,
            declined=tuple(map(self._closed_request, declined)),
            merged=self._proposed(merged) if is_missing else None,
            merged_at=merged if is_missing else "",
            comment=PostedComment(_comment_path(mark), comment.decode("utf-8", "replace"))
            if comment is not None
            else None,
        )

    def _closed_request(self, commit: str) -> ClosedRequest:
        """What a closed request proposed."""
        mark = find_marker(self._repository.message(commit))
        if mark is None or mark.rows is None:
            return ClosedRequest(commit, file_marks(self._proposed(commit)))
        return ClosedRequest(commit, frozenset(mark.rows))

    def _closed(self, mark: Marker, main: str) -> tuple[str, str]:
        """The commits of the last merged request, and of one that a person closed since; "" where there is none."""
        last, merged = self._repository.resolve(MEMORY + mark.key), self._repository.resolve(MERGED + mark.key)
        return (last, "") if last and self._is_merged(last, main) else (merged, last)

    def _earlier(self, mark: Marker) -> list[str]:
        """The commits of requests that people closed before the last one, without a git process for each row."""
        found = (self._repository.resolve(f"{CLOSED}{mark.key}/{number}") for number in count(1))
        return list(takewhile(bool, found))

    def read_files(self, paths: Collection[str]) -> dict[str, bytes]:
        """The files at these paths on main, those that are there."""
        main = self._repository.main
        found = {path: self._repository.read(main, path) for path in paths} if main else {}
        return {path: data for path, data in found.items() if data is not None}

    def _is_merged(self, commit: str, main: str) -> bool:
        return self._repository.try_git("merge-base", "--is-ancestor", commit, main) is not None

    def _request(self, commit: str, mark: Marker, paths: tuple[str, ...]) -> Request:
        title, _, body = self._repository.message(commit).partition("\n\n")
        base = self._fork_point(commit) if self._has_others(commit, mark) else ""
        files = self._proposed(commit, base)
        ours = files if mark.is_shared else {path: data for path, data in files.items() if path in paths}
        merged = self._merged(base or self._began_at(commit), ours)
        pushes = self._pushes(commit) if base else ()
        return Request(mark.key, merged.files, PostText(title, body.strip()), "", pushes, merged.conflicts)

    def _pushes(self, commit: str) -> tuple[Push, ...]:
        """The commits of people in a branch, the first one first."""
        log = self._repository.git("log", "--reverse", "--format=%H %ae %an", f"{self._repository.main}..{commit}")
        found = (line.split(" ", 2) for line in log.decode("utf-8", "replace").splitlines())
        return tuple(Push(oid, name) for oid, address, name in found if address != program.ADDRESS)

    def _merged(self, base: str, files: Mapping[str, bytes | None]) -> Merged:
        """These files of a request as merging it would leave them, those alone that change main then.

        Where main went back behind `base`, nothing merges: what main lost would come along.
        """
        repository, main = self._repository, self._repository.main
        if base == main or not files:
            return Merged(files, frozenset())
        if (base, main) not in self._moved:  # requests of one pass began at the same commit
            is_lost = bool(base) and self.lost(base)
            self._moved = {(base, main): None if is_lost else repository.changed(base, main).keys()}
        changed = self._moved[base, main]
        if changed is None:
            return Merged(files, frozenset(files))
        moved = changed & files.keys()
        was, now = ({path: repository.read(commit, path) for path in moved} for commit in (base, main))
        merged = merge_files(was, now, {path: files[path] for path in moved})
        brings = {path for path, data in merged.files.items() if data != now[path]} | merged.conflicts
        kept = {path: data for path, data in files.items() if path not in moved}
        return Merged(kept | {path: merged.files[path] for path in brings}, merged.conflicts)

    def _has_others(self, commit: str, mark: Marker) -> bool:
        """Tell whether people committed to a branch, or made it: where we add a commit, it has two parents."""
        is_last = commit == self._repository.resolve(MEMORY + mark.key)
        return not is_last or bool(self._repository.resolve(f"{commit}^2"))

    def _fork_point(self, commit: str) -> str:
        return self._repository.git("merge-base", self._repository.main, commit).decode().strip()

    def _proposed(self, commit: str, base: str = "") -> Mapping[str, bytes | None]:
        """The changes of a request's commit compared with main as it was then, or with another commit."""
        base = base or self._began_at(commit)
        changed = {path: oid for path, oid in self._repository.changed(base, commit).items() if not is_kept(path)}
        return {path: self._repository.read_blob(oid) if oid else None for path, oid in changed.items()}

    def _began_at(self, commit: str) -> str:
        """The commit of main that a commit of ours at a branch was made from."""
        return self._repository.resolve(f"{commit}^2") or self._repository.resolve(f"{commit}^")

    def apply(self, publication: Publication) -> str:
        """Carry a publication out; returns where it can be seen. Raises Stale if the target changed since."""
        self._repository.start()
        with self._repository.alone():
            paths, seen = self._seen.get(publication.mark, ((), None))
            if seen is not None and self._current_state(publication.mark, paths) != seen:
                raise Stale(f"{self.label}: another process changed {publication.mark.key}")
            match publication:
                case OpenRequest() | UpdateRequest():
                    return self._propose(publication)
                case CloseRequest():
                    return self._close(publication.mark)
                case Commit():
                    self._commit(publication.files, publication.text)
                    return f"{self.label}: {self._repository.main_ref.removeprefix('refs/heads/')}"
                case PostComment() | EditComment():
                    path = _comment_path(publication.mark)
                    self._commit({path: publication.text.body.encode()}, publication.text)
                    return f"{self.label}: {path}"

    def _propose(self, publication: OpenRequest | UpdateRequest) -> str:
        mark, main = publication.mark, self._repository.main
        branch, memory = BRANCHES + mark.key, MEMORY + mark.key
        there = self._repository.resolve(branch)
        _, closed = self._closed(mark, main) if not there else ("", "")
        earlier = self._earlier(mark) if closed else []
        if closed and closed not in earlier:
            self._repository.move_refs([(f"{CLOSED}{mark.key}/{len(earlier) + 1}", "", closed)])
        after = there if self._is_to_keep(there, mark) else ""
        ours = publication.request.files if isinstance(publication, UpdateRequest) else publication.files
        files = {**(self._theirs(after, ours) if after else {}), **self._with_kept(publication.files, there)}
        commit = self._repository.write_commit(main, files, commit_message(publication.text), after=after)
        for ref in (branch, memory):  # in this order: a request that is remembered and not there was declined
            self._repository.move_refs([(ref, self._repository.resolve(ref), commit)])
        return f"{self.label}: branch {branch.removeprefix('refs/heads/')}"

    def _with_kept(self, files: Mapping[str, bytes | None], earlier: str = "") -> Mapping[str, bytes | None]:
        """The files with those that rows have the target keep; a commit `earlier` of a request may have them."""

        def before(paths: Collection[str]) -> dict[str, bytes]:
            found = {path: self._repository.read(earlier, path) for path in paths if earlier}
            return {path: data for path, data in found.items() if data is not None}

        wanted = kept_for(files)
        if not wanted:
            return files
        return {**self._keeper.missing(wanted, lambda _: self.list_folder(KEPT_FOLDER), before), **files}

    def _is_to_keep(self, branch: str, mark: Marker) -> bool:
        """Tell whether a branch has commits of people that main does not have."""
        return bool(branch) and self._has_others(branch, mark) and not self._is_merged(branch, self._repository.main)

    def _theirs(self, branch: str, ours: Collection[str]) -> dict[str, bytes | None]:
        """What people changed in a branch beside our files. Raises Refused where main changed the same file."""
        repository, base = self._repository, self._fork_point(branch)
        theirs = {path: oid for path, oid in repository.changed(base, branch).items() if path not in ours}
        of_main = repository.changed(base, repository.main)
        both = [path for path, oid in theirs.items() if of_main.get(path, oid) != oid]
        if both:
            why = f"main and people in the request changed {examples(both)}: merge main into {branch[:12]}"
            raise Refused("git", f"{self.label}: {why}")
        return {path: repository.read_blob(oid) if oid else None for path, oid in theirs.items()}

    def _close(self, mark: Marker) -> str:
        branch, more = self._repository.resolve(BRANCHES + mark.key), ""
        if self._is_to_keep(branch, mark):
            kept = f"{KEPT}{mark.key}/{branch[:12]}"
            self._repository.move_refs([(kept, self._repository.resolve(kept), branch)])
            more = f"; the commits of others are in the branch {kept.removeprefix('refs/heads/')}"
        for ref in (MEMORY + mark.key, BRANCHES + mark.key):
            if old := self._repository.resolve(ref):
                self._repository.move_refs([(ref, old, "")])
        return f"{self.label}: closed {mark.key}{more}"

    def _commit(self, files: Mapping[str, bytes | None], text: PostText) -> None:
        main = self._repository.main
        commit = self._repository.write_commit(main, self._with_kept(files), commit_message(text))
        self._repository.move_refs([(self._repository.main_ref, main, commit)])
        self._repository.follow()

    def rebuild_board(self, board: Board) -> bool:
        """Write the table where it does not follow from the entries on main; tell whether anything was written.

        Raises Stale if main has other entries than when they were read.
        """
        if not self._repository.main:
            return False
        with self._repository.alone():
            if self._entries_at(self._repository.main) != self._entries_seen:
                raise Stale(f"{self.label}: another process changed the entries")
            self._forget_merged()
            files = self.board_files(board)
            if files:
                self._commit(files, board_commit(board, files).text)
        return bool(files)

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The derived files that do not follow from the entries on main, as they should be."""
        main = self._repository.main

        @cache
        def read(path: str) -> bytes | None:
            return self._repository.read(main, path)

        files: dict[str, bytes | None] = {**derived_files(board, read)}
        parquet = bool(self._repository.listing(main, PARQUET_NAME))
        if CSV_NAME in files or (board.rows and not board.rival and parquet != bool(find_spec("pyarrow"))):
            data = parquet_beside(board, read)
            if data is not None or parquet:
                files[PARQUET_NAME] = data  # without the extra an older file would be stale, so it goes
        return files

    def _forget_merged(self) -> None:
        """Remember the commits of merged requests, and delete their branches, except for one that is checked out."""
        form = "--format=%(refname) %(objectname)"
        listed = self._repository.git("for-each-ref", "--merged", self._repository.main_ref, form, BRANCHES, MEMORY)
        rows = (line.split(" ") for line in listed.decode("utf-8", "surrogateescape").split("\n")[:-1])
        checked_out = self._repository.checked_out()
        gone = [(ref, commit, "") for ref, commit in rows if ref not in checked_out]
        known = {ref: (ref.replace(MEMORY, MERGED), commit) for ref, commit, _ in gone if ref.startswith(MEMORY)}
        kept = [(ref, self._repository.resolve(ref), commit) for ref, commit in known.values()]
        if gone:
            self._repository.move_refs([*gone, *kept])


def _comment_path(mark: Marker) -> str:
    """The path of a comment. Only the key of a row is a path; another may be the name of a folder or an address."""
    if mark.key.startswith(key_start(mark.leaderboard)):
        return f"{COMMENTS}/{mark.leaderboard}/{mark.key}.md"
    digest = sha256(mark.key.encode()).hexdigest()[:8]  # two keys may read alike without their signs
    return f"{COMMENTS}/{mark.leaderboard}/{re.sub(r'[^0-9A-Za-z]+', '-', mark.key)}-{digest}.md"


def _no_link(path: str, flags: int) -> int:
    """Open a file, but not through a link: somebody else may have put one there that leads elsewhere."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _stamp(path: Path) -> tuple[int, ...] | None:
    """A value that changes whenever a file is written; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
