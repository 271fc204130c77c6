"""Objects and refs of a local git repository, through the git program; nothing is checked out.

Trees are built in an index file of their own, refs are moved by compare-and-swap in one transaction, so a process
killed at any moment leaves either the old state or the new one.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import CallError, Gone, Stale, Unavailable
from bot.platforms.limits import DEADLINE

ZERO = "0" * 40
FILE = "100"  # begins the mode of a file; symbolic links and submodules have others
AUTHOR = {
    "GIT_AUTHOR_NAME": "leaderboard-bot",
    "GIT_AUTHOR_EMAIL": "leaderboard-bot@localhost",
    "GIT_COMMITTER_NAME": "leaderboard-bot",
    "GIT_COMMITTER_EMAIL": "leaderboard-bot@localhost",
}
# The user's hooks, signatures and pagers must not run for writes of the bot.
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false")

# What a git that runs us as its hook says of its own repository (`git rev-parse --local-env-vars`).
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
)


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a commit; `size` is in bytes."""

    oid: str
    size: int


class Repository:
    """One local git repository, with a work tree or bare."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *args: str, data: bytes = b"", index: Path | None = None) -> bytes:
        """Run git and give what it prints. Raises Unavailable with git's own last line where it fails."""
        environment = {**os.environ, **AUTHOR, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        for name in LOCAL:
            environment.pop(name, None)
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        try:
            done = subprocess.run(
                ["git", *QUIET, *args],
                cwd=self.folder,
                input=data,
                env=environment,
                capture_output=True,
                check=False,
                timeout=DEADLINE,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable("git", f"{self.folder}: {' '.join(args[:2])}: took over {DEADLINE:.0f} s") from None
        except (FileNotFoundError, NotADirectoryError):
            if not self.folder.is_dir():
                raise Gone("git", f"there is no folder {self.folder}") from None
            raise CallError("git is not installed, and a target that is a folder needs it") from None
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise Unavailable("git", f"{self.folder}: {' '.join(args[:2])}: {last or done.returncode}")
        return done.stdout

    def try_git(self, *args: str) -> bytes | None:
        """Run git where a failure means that something is not there."""
        try:
            return self.git(*args)
        except Unavailable:
            return None

    def why_closed(self) -> str:
        """Why git does not open a repository that another account owns, and what allows it; "" if it opens it."""
        try:
            self.git("rev-parse", "--git-dir")
        except Unavailable as error:
            if "safe.directory" in error.why:
                call = f"git config --global --add safe.directory {shlex.quote(str(self.folder.resolve()))}"
                return f"belongs to another account, so git does not open it; to allow that, run {call}"
        return ""

    def resolve(self, name: str) -> str:
        """The commit that a ref or revision names, "" if there is none."""
        found = self.try_git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return found.decode().strip() if found else ""

    def refs(self, prefix: str) -> dict[str, str]:
        """Refs below a prefix with their commits."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).decode().splitlines()
        return {name: commit for name, _, commit in (line.partition(" ") for line in lines)}

    def listing(self, commit: str, *paths: str) -> dict[str, Blob]:
        """The files of a commit below the given paths (all of them for none), without submodules and symbolic links.

        Bytes of a name that are not UTF-8 stand as half surrogates.
        """
        if not commit:
            return {}
        listed = self.git("ls-tree", "-r", "-l", "-z", commit, "--", *paths).decode("utf-8", "surrogateescape")
        rows = (row.partition("\t") for row in listed.split("\0") if row)
        parted = ((path, meta.split()) for meta, _, path in rows)
        return {path: Blob(oid, int(size)) for path, (mode, _, oid, size) in parted if mode.startswith(FILE)}

    def files(self, commit: str, *paths: str) -> dict[str, str]:
        """The object id of each file of a commit below the given paths."""
        return {path: file.oid for path, file in self.listing(commit, *paths).items()}

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """The bytes of each object that is a file."""
        if not oids:
            return {}
        lines = self.git("cat-file", "--batch-check", data="".join(f"{oid}\n" for oid in oids).encode())
        rows = [line.split() for line in lines.decode().splitlines()]
        return {row[0]: int(row[2]) for row in rows if row[1] == "blob"}

    def changed(self, old: str, new: str) -> dict[str, str]:
        """The paths that differ between two commits, each with its object id at the second.

        It is "" if there is no file there: it is gone, or a symbolic link or a submodule replaced it.
        """
        fields = self.git("diff-tree", "-r", "-z", "--no-renames", old, new).decode("utf-8", "surrogateescape")
        parts = fields.split("\0")
        found = {path: meta.split() for meta, path in zip(parts[::2], parts[1::2], strict=False)}
        return {path: oid if mode.startswith(FILE) else "" for path, (_, mode, _, oid, _) in found.items()}

    def find(self, commit: str, path: str) -> Blob | None:
        """The file at a path of a commit, None if there is none."""
        given = f"{commit}:{path}\0".encode("utf-8", "surrogateescape")
        answer = self.git("cat-file", "--batch-check", "-z", data=given).decode("utf-8", "replace")
        if answer.endswith(" missing\n"):
            return None
        oid, kind, size = answer.split()[-3:]
        return Blob(oid, int(size)) if kind == "blob" else None

    def read_blob(self, oid: str) -> bytes:
        """The bytes of an object."""
        return self.git("cat-file", "blob", oid)

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit, None if there is none."""
        found = self.find(commit, path)
        return self.read_blob(found.oid) if found else None

    def read_all(self, found: Mapping[str, str]) -> dict[str, bytes]:
        """The bytes of files by path, given their object ids, in one call of git however many there are."""
        if not found:
            return {}
        stream = self.git("cat-file", "--batch", data="".join(f"{oid}\n" for oid in found.values()).encode())
        blobs: dict[str, bytes] = {}
        at = 0
        for path in found:
            end = stream.index(b"\n", at)
            size = int(stream[at:end].split(b" ")[2])
            blobs[path] = stream[end + 1 : end + 1 + size]
            at = end + size + 2
        return blobs

    def write_commit(self, parent: str, files: Mapping[str, bytes | None], message: str) -> str:
        """Make a commit on `parent` ("" for none) with files changed or (None) deleted; no ref moves yet."""
        with tempfile.TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
            index = Path(scratch) / "index"
            if parent:
                self.git("read-tree", parent, index=index)
            lines = [self._index_line(path, data) for path, data in sorted(files.items())]
            self.git("update-index", "-z", "--index-info", data=b"".join(lines), index=index)
            tree = self.git("write-tree", index=index).decode().strip()
        parents = ("-p", parent) if parent else ()
        return self.git("commit-tree", tree, *parents, "-F", "-", data=message.encode()).decode().strip()

    def _index_line(self, path: str, data: bytes | None) -> bytes:
        if data is None:
            return f"0 {ZERO}\t{path}\0".encode()
        oid = self.git("hash-object", "-w", "--stdin", data=data).decode().strip()
        return f"100644 {oid}\t{path}\0".encode()

    def move_refs(self, moves: Sequence[tuple[str, str, str]]) -> None:
        """Move refs from an old commit to a new one ("" for none), all or nothing. Raises Stale if one moved."""
        lines = [
            f"update {ref} {new} {old or ZERO}\n" if new else f"delete {ref} {old or ZERO}\n" for ref, old, new in moves
        ]
        try:
            self.git("update-ref", "--stdin", data="".join(["start\n", *lines, "prepare\n", "commit\n"]).encode())
        except Unavailable as error:
            raise Stale(f"{self.folder}: {error.why}") from None
