"""Repositories in memory, whose blobs and trees have true git object ids."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

EMPTY = b""


def blob_id(data: bytes) -> str:
    """git's object id of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Blob:
    """A file: its object id, its bytes, and the commit that last touched it."""

    oid: str
    data: bytes
    commit: str


@dataclass(frozen=True)
class Tree:
    """A folder that never changes; a change makes new folders along one path only."""

    items: dict[str, Tree | Blob] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        return sorted(self.items)

    @cached_property
    def oid(self) -> str:
        return git_id("tree", self.object)

    @property
    def object(self) -> bytes:
        """The folder as git keeps it."""
        keyed = sorted(
            ((name + "/" if isinstance(item, Tree) else name, name, item) for name, item in self.items.items()),
            key=lambda row: row[0].encode("utf-8", "surrogateescape"),
        )
        return b"".join(
            (b"40000 " if isinstance(item, Tree) else b"100644 ")
            + name.encode("utf-8", "surrogateescape")
            + b"\0"
            + bytes.fromhex(item.oid)
            for _, name, item in keyed
        )

    def at(self, path: str) -> Tree | Blob | None:
        """What lies at path; the folder itself for ""."""
        here: Tree | Blob | None = self
        for name in path.split("/") if path else []:
            if not isinstance(here, Tree):
                return None
            here = here.items.get(name)
        return here

    def put(self, parts: list[str], item: Blob | None) -> Tree:
        """This folder with item at parts, or without what was there."""
        name, rest = parts[0], parts[1:]
        items = dict(self.items)
        there = items.get(name)
        if not rest and isinstance(item, Blob) and isinstance(there, Blob) and there.oid == item.oid:
            return self  # the same bytes again touch nothing
        if not rest:
            items.pop(name, None) if item is None else items.__setitem__(name, item)
            return Tree(items)
        changed = (there if isinstance(there, Tree) else Tree()).put(rest, item)
        items.pop(name, None) if not changed.items else items.__setitem__(name, changed)
        return Tree(items)

    def files(self, prefix: str = "") -> Iterator[tuple[str, Blob]]:
        """Every file below, with its path."""
        for name in self.names:
            item = self.items[name]
            if isinstance(item, Tree):
                yield from item.files(f"{prefix}{name}/")
            else:
                yield prefix + name, item

    def touched(self, other: Tree, prefix: str = "") -> Iterator[str]:
        """The paths of the files that differ in another folder; equal folders are not entered."""
        for name in sorted(self.items.keys() | other.items.keys()):
            was, now, path = self.items.get(name), other.items.get(name), prefix + name
            if was is now or (was is not None and now is not None and type(was) is type(now) and was.oid == now.oid):
                continue
            yield from (path for item in (was, now) if isinstance(item, Blob))
            if isinstance(was, Tree) or isinstance(now, Tree):
                folders = (item if isinstance(item, Tree) else Tree() for item in (was, now))
                yield from next(folders).touched(next(folders), f"{path}/")

    def all_paths(self, prefix: str = "") -> Iterator[tuple[str, Tree | Blob]]:
        """Every folder and file below, with its path."""
        for name in self.names:
            item = self.items[name]
            yield prefix + name, item
            if isinstance(item, Tree):
                yield from item.all_paths(f"{prefix}{name}/")


@dataclass(frozen=True)
class Commit:
    """One commit; ids differ even where the content is the same."""

    oid: str
    tree: Tree
    parent: Commit | None
    title: str
    message: str
    date: str
    author: str

    def history(self) -> Iterator[Commit]:
        here: Commit | None = self
        while here is not None:
            yield here
            here = here.parent

    def fork_point(self, other: Commit) -> Commit | None:
        """The newest commit that both histories have, looked for from both ends at once."""
        seen: set[str] = set()
        for pair in itertools.zip_longest(self.history(), other.history()):
            for commit in filter(None, pair):
                if commit.oid in seen:
                    return commit
                seen.add(commit.oid)
        return None


def git_id(kind: str, data: bytes) -> str:
    """git's id of an object."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).hexdigest()


def commit_object(commit: Commit) -> bytes:
    """A commit as git keeps it; the id it had before makes two commits of the same content differ."""
    seconds = int(datetime.fromisoformat(commit.date).timestamp())
    by = f"{commit.author} <{commit.author}@localhost> {seconds} +0000"
    lines = [f"tree {commit.tree.oid}", *([f"parent {commit.parent.oid}"] if commit.parent else [])]
    lines += [f"author {by}", f"committer {by}", "", commit.title, "", commit.message, f"Id: {commit.oid}", ""]
    return "\n".join(lines).encode()


class Repository:
    """Branches and requests of one repository."""

    _count = itertools.count(1)
    _ids = itertools.count(1)

    def __init__(self, kind: str, name: str, *, private: bool = False) -> None:
        self.kind, self.name, self.private = kind, name, private
        self.gated = False
        self.tags: list[str] = []  # of the repository's page, such as `license:mit`
        self.parameters: int | None = None  # as the Hub counts them in files of safetensors
        self.has_discussions = True
        self.id = hashlib.sha1(f"{kind}/{name} {next(self._ids)}".encode(), usedforsecurity=False).hexdigest()[:24]
        self.refs: dict[str, Commit] = {}
        self.branches: dict[str, None] = {}  # their names: nobody looks for them among ten thousand requests
        self.commits: dict[str, Commit] = {}
        self.objects: dict[str, bytes] = {}
        self.bare: Any = None  # what the git protocol serves, once somebody asked for it
        self.add(self.make(Tree(), None, "initial commit", "", "2026-01-01T00:00:00.000Z", name.partition("/")[0]))

    def make(self, tree: Tree, parent: Commit | None, title: str, message: str, date: str, author: str) -> Commit:
        """A commit of which the tree may still change: its id is that of git once it is added."""
        text = f"tree of {self.name} {next(self._count)} {title}"
        oid = hashlib.sha1(f"commit {len(text)}\0{text}".encode(), usedforsecurity=False).hexdigest()
        return Commit(oid, tree, parent, title, message, date, author)

    def add(self, commit: Commit, ref: str = "refs/heads/main") -> Commit:
        data = commit_object(commit)
        made = replace(commit, oid=git_id("commit", data))
        self.objects[made.oid] = data
        if ref.startswith("refs/heads/"):
            self.branches[ref] = None
        self.refs[ref] = self.commits[made.oid] = self.commits[commit.oid] = made  # blobs name it by the first id
        return made

    def commit(
        self, changes: dict[str, bytes | None], parent: Commit, ref: str, *, title: str, message: str = "",
        date: str, author: str,
    ) -> Commit:  # fmt: skip
        """Write changes (None deletes a file or a folder) on top of parent, at ref."""
        made = self.make(parent.tree, parent, title, message, date, author)
        tree = parent.tree
        for path, data in changes.items():
            blob = None if data is None else Blob(blob_id(data), data, made.oid)
            tree = tree.put(path.rstrip("/").split("/"), blob)
        return self.add(Commit(made.oid, tree, parent, title, message, date, author), ref)

    def squash(self, dropped: Iterable[str] = (), *, date: str = "2026-06-01T00:00:00.000Z") -> Commit:
        """Put one commit without a parent in the place of main's history, and forget the old commits."""
        old = list(self.main.history())
        kept = {path: blob for path, blob in self.main.tree.files() if path not in set(dropped)}
        made = self.make(Tree(), None, "Squash", "", date, "ann")
        tree = Tree()
        for path, blob in kept.items():
            tree = tree.put(path.split("/"), Blob(blob.oid, blob.data, made.oid))
        for commit in old:
            self.commits.pop(commit.oid, None)
        return self.add(Commit(made.oid, tree, None, made.title, "", date, "ann"))

    def resolve(self, revision: str) -> Commit | None:
        """The commit that a branch, a request's ref or a commit id names."""
        if revision in self.commits:
            return self.commits[revision]
        return self.refs.get(revision) or self.refs.get(f"refs/heads/{revision}")

    @property
    def main(self) -> Commit:
        return self.refs["refs/heads/main"]
