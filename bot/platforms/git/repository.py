"""Objects and refs of a local git repository, through the git program; nothing is checked out.

Git never sees the repository itself, which somebody else may have written, but a directory of ours that links to its
objects and refs. Trees are built in an index file of their own, refs are moved by compare-and-swap in one transaction,
so a process killed at any moment leaves either the old state or the new one.
"""

from __future__ import annotations

import re
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import IO
from urllib.parse import urlsplit

from bot.errors import Gone, Stale, Unavailable
from bot.platforms.git import program
from bot.platforms.net import DEADLINE

ZERO = "0" * 40
HEADS, CONTENTS = ("cat-file", "--batch-check"), ("cat-file", "--batch")
WRITE = ("hash-object", "-w", "--no-filters", "--stdin-paths", "-t")
TREES, MOVES = ("mktree", "-z", "--batch", "--missing"), ("update-ref", "--stdin")
NEW_FILES = ("--others", "--exclude-standard", "-z")
CHANGED_FILES = ("--name-only", "--no-renames", "--diff-filter=d", "--ignore-submodules=all", "-z")  # asks no submodule
FILE = "100"  # begins the mode of a file; symbolic links and submodules have others
LINKED = ("objects", "refs", "packed-refs", "shallow", "reftable", "logs/refs")
MOST_HEAD = 4096  # bytes of a file that names a ref or a directory
MOST_SETTINGS = 1_000_000  # bytes of a repository's settings that are read
NAME = re.compile(r"(refs/[^\s~^:?*\[\\]+|[0-9a-f]{40}([0-9a-f]{24})?)(\^2?|\^\{tree\})?")
FORMAT = re.compile(r"^[ \t]*(bare|objectformat|refstorage)[ \t]*=[ \t]*(\w+)", re.IGNORECASE | re.MULTILINE)
REMOTE = re.compile(r'^[ \t]*\[remote "origin"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*"?([^"\s]+)', re.MULTILINE)
SCP = re.compile(r"(?:[^@/:]+@)?([^@/:]+):(?!//)(.+)")
FORMATS = {"objectformat": ("sha1", "sha256"), "refstorage": ("files", "reftable")}


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a commit; `size` is in bytes."""

    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class GitLayout:
    """Where a repository lies: HEAD and index in `git_dir`, objects and refs in `common`, its files in `tree`.

    `formats` are the ways in which it keeps objects and refs, where they are not the usual ones.
    """

    git_dir: Path
    common: Path
    tree: Path | None
    formats: Mapping[str, str] = field(default_factory=dict)


def find_layout(folder: Path) -> GitLayout | None:
    """The repository whose root, or bare directory, is this folder; None if there is none. Git is not started.

    A file `.git` names the directory of a linked work tree or of a submodule.
    """
    inside = folder / ".git"
    try:
        if inside.is_file():
            git_dir = folder / _text(inside).removeprefix("gitdir:").strip()
        else:
            git_dir = inside if inside.is_dir() else folder
        named = git_dir / "commondir"
        common = git_dir / _text(named).strip() if named.is_file() else git_dir
        is_one = (git_dir / "HEAD").is_file() and (common / "objects").is_dir() and (common / "refs").is_dir()
        if not is_one:
            return None
        found = {key.lower(): value.lower() for key, value in FORMAT.findall(_settings(common))}
    except (OSError, ValueError):
        return None
    formats = {key: found[key] for key, values in FORMATS.items() if found.get(key) in values}
    is_bare = git_dir == folder or found.get("bare") == "true"
    return GitLayout(git_dir.resolve(), common.resolve(), None if is_bare else folder.resolve(), formats)


def root_of(folder: Path) -> Path | None:
    """The root of the work tree that a folder lies in, None if it lies in none."""
    for place in (folder, *folder.parents):
        layout = find_layout(place)
        if layout is not None and layout.tree is not None:
            return place
    return None


def name_of_remote(url: str) -> str:
    """The address of a remote in the form of sources, without user, password and query; "" for a folder or for none."""
    known = SCP.fullmatch(url)
    host, path = (known[1], known[2]) if known else ("", "")
    if "://" in url:
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        host, path = (parts.hostname or "", parts.path) if parts.scheme != "file" else ("", "")
    path = path.strip("/").removesuffix(".git")
    if not host or not path or "@" in path:  # what stands before it may be a password
        return ""
    if host == "huggingface.co" and path.startswith("datasets/"):
        return f"hf://{path}"
    return f"github://{path}" if host == "github.com" else f"https://{host}/{path}"


def is_closed(layout: GitLayout, within: Path) -> bool:
    """Tell whether everything that git would read of a repository lies below a folder, without links or alternates."""
    root = within.resolve()
    objects, inside = layout.common / "objects", [layout.git_dir, layout.common]
    try:
        inside += [layout.common / name for name in LINKED]
        inside += [path for path in objects.rglob("*") if path.is_symlink()]
        inside += [path for path in (layout.common / "refs").rglob("*") if path.is_symlink()]
        borrows = (objects / "info" / "alternates").exists()  # git reads objects of another repository, too
        return not borrows and all(path.resolve(strict=path.is_symlink()).is_relative_to(root) for path in inside)
    except (OSError, ValueError, RuntimeError):  # the last before Python 3.13, of links that lead in a circle
        return False


def is_of(layout: GitLayout, folder: Path) -> bool:
    """Tell whether a repository belongs to a folder: it lies inside, or leads back, as for a linked work tree."""
    back = layout.git_dir / "gitdir"
    is_inside = layout.git_dir.is_relative_to(folder.resolve())
    leads_back = is_inside or (
        back.is_file() and (layout.git_dir / _text(back).strip()).resolve() == (folder / ".git").resolve()
    )
    return leads_back and layout.git_dir.is_relative_to(layout.common)


def _settings(common: Path) -> str:
    file = common / "config"
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        return opened.read(MOST_SETTINGS).decode("utf-8", "replace")


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(MOST_HEAD).decode("utf-8", "surrogateescape")


class Repository:
    """One local git repository, with a work tree or bare, whose root is `folder`; `label` is what people call it."""

    def __init__(self, folder: Path, label: str = "") -> None:
        self.folder, self.label = folder, label or str(folder)
        self._layout: GitLayout | None = None
        self._ours: Path | None = None
        self._talks: dict[tuple[str, ...], program.Talk] = {}

    @property
    def layout(self) -> GitLayout | None:
        """Where the repository lies; None as long as there is none."""
        if self._layout is None:
            self._layout = find_layout(self.folder)
        return self._layout

    @property
    def git_dir(self) -> Path:
        """The directory that git is given as the repository: one of ours, with links to what git may use.

        It has no settings, hooks, attributes, remotes and grafts of the repository. Raises Gone where there is none.
        """
        if self._ours is None:
            layout = self.layout
            if layout is None:
                raise Gone("git", f"there is no git repository {self.label}")
            ours = Path(tempfile.mkdtemp(prefix="leaderboard-bot-"))
            _link(ours, layout)
            self._end = weakref.finalize(self, _close, ours, self._talks)
            self._ours = ours
        return self._ours

    def close(self) -> None:
        """End all git processes of this object."""
        if self._ours is not None:
            self._end()
            self._ours = None

    def _talk(self, args: tuple[str, ...]) -> program.Talk:
        """The one git process with these arguments. Raises Gone without a repository."""
        return self._talks.setdefault(args, program.Talk(args, self.git_dir, DEADLINE))

    def git(
        self, *args: str, data: bytes = b"", index: Path | None = None, more: Mapping[str, str] | None = None
    ) -> bytes:
        """Run git and return its standard output. Raises Unavailable with git's own last line where it fails."""
        variables = dict(more or {}) | ({"GIT_INDEX_FILE": str(index)} if index is not None else {})
        status, out, err = program.run(*args, git_dir=self.git_dir, data=data, more=variables, timeout=DEADLINE)
        if status:
            last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise Unavailable("git", f"{self.label}: {' '.join(args[:2])}: {last or status}")
        return out

    def walk(self, *args: str) -> str:
        """Let git walk through folders in little memory; bytes of a name that are not UTF-8 become lone surrogates.

        Raises Unavailable where git fails, or the folders hold more than a repository of results has.
        """
        return self.git(*args, more=program.WALKING).decode("utf-8", "surrogateescape")

    def try_git(self, *args: str) -> bytes | None:
        """Run git; None where it fails, because something is not there."""
        try:
            return self.git(*args)
        except (Unavailable, Gone):
            return None

    def head(self) -> str:
        """What is checked out: a ref, or a commit; "" if that cannot be told."""
        layout = self.layout
        if layout is None:
            return ""
        try:
            return checked_name(_text(layout.git_dir / "HEAD").removeprefix("ref:").strip())
        except (OSError, Gone):
            return ""

    def address(self) -> str:
        """The address of the remote `origin` without secrets; the folder's name where there is none."""
        try:
            found = REMOTE.search(_settings(self.layout.common)) if self.layout else None
        except OSError:
            found = None
        return (name_of_remote(found[1]) if found else "") or self.folder.absolute().name

    def checked_out(self) -> set[str]:
        """The refs that are checked out, in linked work trees too."""
        layout = self.layout
        found = {self.head()}
        for head in layout.common.glob("worktrees/*/HEAD") if layout else ():
            with suppress(OSError):
                found.add(_text(head).removeprefix("ref:").strip())
        return found

    def resolve(self, name: str) -> str:
        """The commit that a ref or revision names, "" if there is none."""
        if not NAME.fullmatch(name):
            return ""
        try:
            found = self._look(f"{name}^{{commit}}")
        except Gone:
            return ""
        return found[0] if found is not None and found[1] == "commit" else ""

    def _look(self, name: str) -> tuple[str, str, int] | None:
        """The id, kind and size in bytes of an object; None if there is none. Raises Gone without a repository."""
        question = f"{name}\n".encode("utf-8", "surrogateescape")
        return self._talk(HEADS).ask(question, lambda answer: program.read_head(answer, question))

    def content(self, name: str, limit: int | None = None) -> tuple[str, bytes] | None:
        """The kind and bytes of an object; None if it is not there. Raises TooLarge past the limit."""
        body = BytesIO()
        kind = self._save(name, body, limit)
        return None if kind is None else (kind, body.getvalue())

    def _save(self, name: str, into: IO[bytes], limit: int | None = None) -> str | None:
        """Write an object to an open file; returns its kind, None if it is not there."""
        question = f"{name}\n".encode("utf-8", "surrogateescape")
        return self._talk(CONTENTS).ask(question, lambda answer: program.save_object(answer, question, into, limit))

    def refs(self, prefix: str) -> dict[str, str]:
        """Refs below a prefix with their commits."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).split(b"\n")[:-1]
        rows = (line.decode("utf-8", "surrogateescape").partition(" ") for line in lines)
        return {name: commit for name, _, commit in rows}

    def listing(self, commit: str, *paths: str) -> dict[str, Blob]:
        """The files of a commit below the given paths (all of them for none), without submodules and symbolic links.

        Bytes of a name that are not UTF-8 become lone surrogates.
        """
        if not commit:
            return {}
        listed = self.walk("ls-tree", "-r", "-l", "-z", checked_name(commit), "--", *paths)
        rows = (row.partition("\t") for row in listed.split("\0") if row)
        parted = ((path, meta.split()) for meta, _, path in rows)
        return {path: self._listed(oid, size) for path, (mode, _, oid, size) in parted if mode.startswith(FILE)}

    def _listed(self, oid: str, size: str) -> Blob:
        if not size.isdecimal():  # git says BAD
            raise self._missing(oid)
        return Blob(oid, int(size))

    def _missing(self, oid: str) -> Unavailable:
        return Unavailable("git", f"{self.label}: the object {oid} is missing; `git fsck` in it says what else is")

    def sizes(self, oids: Sequence[str]) -> dict[str, int]:
        """The size in bytes of each object that is a file."""
        found = {oid: self._look(oid) for oid in oids}
        return {oid: head[2] for oid, head in found.items() if head is not None and head[1] == "blob"}

    def changed(self, old: str, new: str) -> dict[str, str]:
        """The paths that differ between two commits, each with its object id at the second.

        It is "" if there is no file there: it is gone, or a symbolic link or a submodule replaced it.
        """
        parts = self.walk("diff-tree", "-r", "-z", "--no-renames", checked_name(old), checked_name(new)).split("\0")
        found = {path: meta.split() for meta, path in zip(parts[::2], parts[1::2], strict=False)}
        return {path: oid if mode.startswith(FILE) else "" for path, (_, mode, _, oid, _) in found.items()}

    def uncommitted(self, commit: str) -> list[str]:
        """The files of the work tree that a commit has not, or not as they are.

        Those that git ignores are left out, as are links, and all in a repository inside of this one, such as a board.
        """
        layout = self.layout
        if layout is None or layout.tree is None:
            return []
        ignored = f"core.excludesFile={layout.common / 'info' / 'exclude'}"
        index, more = layout.git_dir / "index", program.WALKING | {"GIT_WORK_TREE": str(layout.tree)}
        new = self.git("-c", ignored, "ls-files", *NEW_FILES, index=index, more=more)
        changed = self.git("diff", *CHANGED_FILES, checked_name(commit), index=index, more=more)
        paths = {path.decode("utf-8", "surrogateescape") for path in (new + changed).split(b"\0")}
        lie = ((path, layout.tree / path) for path in paths)
        return [path for path, file in lie if file.is_file() and not file.is_symlink()]

    def find(self, commit: str, path: str) -> Blob | None:
        """The file at a path of a commit; None if there is none."""
        checked_name(commit)
        if "\n" in path:  # a question is one line
            return self.listing(commit, path).get(path)
        found = self._look(f"{commit}:{path}")
        if found is None:
            self._see_absent(commit, path)
            return None
        oid, kind, size = found
        return Blob(oid, size) if kind == "blob" else None

    def _see_absent(self, commit: str, path: str) -> None:
        """See that no folder of a commit has a path. Raises Unavailable where an object on the way to it is missing."""
        folder, _, name = path.rpartition("/")
        found = self.content(f"{commit}:{folder}")
        if found is not None:
            # A first look, which also finds a longer name with this end.
            may_be_listed = b" %b\0" % name.encode("utf-8", "surrogateescape") in found[1]
            if name and found[0] == "tree" and may_be_listed and self._has(f"{commit}:{folder}", name):
                raise self._missing(f"of {path} at {commit[:12]}")
        elif folder:
            self._see_absent(commit, folder)
        elif self._look(commit) is not None:
            raise self._missing(f"of the top folder at {commit[:12]}")

    def _has(self, folder: str, name: str) -> bool:
        """Tell whether a folder lists a name that is no submodule's."""
        tree = self._look(folder)
        return tree is not None and self._entries(tree[0]).get(name, ("", "commit", ""))[1] != "commit"

    def read_blob(self, oid: str) -> bytes:
        """The bytes of an object. Raises Unavailable where it is missing."""
        found = self.content(oid)
        if found is None:
            raise self._missing(oid)
        return found[1]

    def save_blob(self, oid: str, file: IO[bytes]) -> None:
        """Write the bytes of an object to an open file. Raises Unavailable where it is missing."""
        if self._save(oid, file) is None:
            raise self._missing(oid)

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit, None if there is none."""
        found = self.find(commit, path)
        return self.read_blob(found.oid) if found else None

    def read_all(self, found: Mapping[str, str]) -> dict[str, bytes]:
        """The bytes of files by path, given their object ids."""
        return {path: self.read_blob(oid) for path, oid in found.items()}

    def tree_of(self, commit: str) -> str:
        """The object id of the top folder of a commit."""
        found = self._look(f"{checked_name(commit)}^{{tree}}")
        if found is None:
            raise self._missing(commit)
        return found[0]

    def message(self, commit: str) -> str:
        """The message of a commit."""
        return self.read_blob(checked_name(commit)).partition(b"\n\n")[2].decode("utf-8", "replace")

    def write_commit(self, parent: str, files: Mapping[str, bytes | None], message: str, *, after: str = "") -> str:
        """Make a commit on `parent` ("" for none) with files changed, or deleted where None; no ref moves yet.

        `after` is a commit that comes before `parent` among its parents.
        """
        top = self.tree_of(parent) if parent else ""
        person = f"{program.NAME} <{program.ADDRESS}> {int(time.time())} +0000"
        parents = [f"parent {commit}" for commit in (after, parent) if commit]
        lines = [f"tree {self._write_tree(top, files) or self.empty_tree()}", *parents]
        lines += [f"author {person}", f"committer {person}", "", message.rstrip("\n"), ""]
        return self._write("commit", "\n".join(lines).encode())

    def empty_tree(self) -> str:
        """The object id of an empty folder."""
        return self._ask(TREES, b"\0")

    def _write_tree(self, old: str, files: Mapping[str, bytes | None]) -> str:
        """Store the folder `old` ("" for none) with files changed; returns its id, "" where it is then empty."""
        entries = self._entries(old)
        below: dict[str, dict[str, bytes | None]] = {}
        for path, data in files.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = data
            elif data is None:
                entries.pop(name, None)
            else:
                entries[name] = ("100644", "blob", self._write("blob", data))
        for name, inner in below.items():
            _, kind, oid = entries.pop(name, ("", "", ""))
            tree = self._write_tree(oid if kind == "tree" else "", inner)
            if tree:
                entries[name] = ("040000", "tree", tree)
        if not entries:
            return ""
        rows = [f"{mode} {kind} {oid}\t{name}\0" for name, (mode, kind, oid) in entries.items()]
        return self._ask(TREES, "".join([*rows, "\0"]).encode("utf-8", "surrogateescape"))

    def _entries(self, tree: str) -> dict[str, tuple[str, str, str]]:
        """The mode, kind and object id of each entry of a folder, by name."""
        found = self.content(tree) if tree else ("tree", b"")
        if found is None:
            raise self._missing(tree)
        data, at, size = found[1], 0, len(tree) // 2
        entries = {}
        while at < len(data):
            end = data.index(b"\0", at)
            mode, _, name = data[at:end].decode("utf-8", "surrogateescape").partition(" ")
            kind = "tree" if mode == "40000" else "commit" if mode == "160000" else "blob"
            at = end + 1 + size
            entries[name] = (mode.zfill(6), kind, data[end + 1 : at].hex())
        return entries

    def _write(self, kind: str, data: bytes) -> str:
        """Store an object; returns its id."""
        with tempfile.NamedTemporaryFile(dir=self.git_dir) as file:
            file.write(data)
            file.flush()
            return self._ask((*WRITE, kind), f"{file.name}\n".encode())

    def _ask(self, args: tuple[str, ...], question: bytes) -> str:
        """The object id of what git stored. Raises Unavailable."""

        def read(answer: IO[bytes]) -> str:
            oid = answer.readline().decode("ascii", "replace").strip()
            if len(oid) not in {40, 64}:
                raise ValueError("no object id came")
            return oid

        return self._talk(args).ask(question, read)

    def move_refs(self, moves: Sequence[tuple[str, str, str]]) -> None:
        """Move refs from an old commit to a new one ("" for none), all or nothing. Raises Stale if one moved."""
        lines = [
            f"update {ref} {new} {old or ZERO}\n" if new else f"delete {ref} {old or ZERO}\n" for ref, old, new in moves
        ]
        question = "".join(["start\n", *lines, "prepare\n", "commit\n"]).encode("utf-8", "surrogateescape")
        try:
            self._talk(MOVES).ask(question, _see_committed)
        except Unavailable as error:
            raise Stale(f"{self.label}: {error.why}") from None


def _see_committed(answer: IO[bytes]) -> None:
    """Raise ValueError where the refs did not move."""
    for step in ("start", "prepare", "commit"):
        if answer.readline() != f"{step}: ok\n".encode():
            raise ValueError("another process moved a ref")


def logged_files(log: str) -> Iterator[tuple[str, str, str]]:
    """Parse the output of `git log --raw -z`: for each file the header of its commit, the line about it, and its path.

    A line about a file begins with a colon, a header with the commit's id, and no text of a stranger can hold the NUL
    that ends both.
    """
    fields, head = iter(log.split("\0")), ""
    for part in fields:
        line = part.lstrip("\n")
        if line.startswith(":"):
            yield head, line, next(fields)
        elif line:
            head = line


def checked_name(name: str) -> str:
    """The name of a ref or the full id of a commit. Raises Gone for anything else, such as an option of git."""
    if not NAME.fullmatch(name) or ".." in name:
        raise Gone("git", f"{name[:80]!r} is neither the full id of a commit nor a ref")
    return name


def _close(ours: Path, talks: dict[tuple[str, ...], program.Talk]) -> None:
    while talks:
        talks.popitem()[1].close()
    rmtree(ours, ignore_errors=True)


def _link(ours: Path, layout: GitLayout) -> None:
    """Fill a directory of ours with links to the objects and refs of a repository, and with our own settings."""
    (ours / "logs").mkdir()
    for name in LINKED:
        (ours / name).symlink_to(layout.common / name)
    (ours / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    version = "1" if layout.formats else "0"
    extensions = [f"\t{key} = {value}" for key, value in layout.formats.items()]
    lines = ["[core]", f"\trepositoryformatversion = {version}", "\tbare = true", "\tlogAllRefUpdates = false"]
    text = "\n".join([*lines, *(["[extensions]", *extensions] if extensions else []), ""])
    (ours / "config").write_text(text, encoding="utf-8")
