"""The git side of the local GitHub: blobs, trees, commits and refs in memory, with git's ids for blobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.world.merging import Merge, three_way

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's own id


class GitError(Exception):
    """What git refuses, as GitHub words it."""


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def object_id(kind: str, value: object) -> str:
    return hashlib.sha1(f"{kind} {json.dumps(value, sort_keys=True)}".encode()).hexdigest()


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: str
    date: str = "2026-03-02T10:00:00Z"


@dataclass
class GitRepository:
    """Objects and refs; a fork shares `blobs`, `trees` and `commits` with its parent, as on GitHub."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, dict[str, str]] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)  # ids of contents that are where a symbolic link leads
    modules: set[str] = field(default_factory=set)  # ids of commits of submodules
    most_listed: int = 100_000  # rows of a tree that one answer has
    clock: Callable[[], str] = field(default=lambda: "2026-03-02T10:00:00Z", repr=False)

    def fork(self) -> GitRepository:
        return GitRepository(self.blobs, self.trees, self.commits, dict(self.refs), clock=self.clock)

    def add_blob(self, data: bytes) -> str:
        sha = blob_id(data)
        self.blobs[sha] = data
        return sha

    def add_tree(self, paths: dict[str, str]) -> str:
        sha = object_id("tree", paths) if paths else EMPTY_TREE
        self.trees[sha] = paths
        return sha

    def add_commit(self, tree: str, parents: tuple[str, ...], message: str, author: str) -> Commit:
        if tree not in self.trees:
            raise GitError("Tree SHA does not exist")
        if any(parent not in self.commits for parent in parents):
            raise GitError("Parent SHA does not exist or is not a commit object")
        sha = object_id("commit", [tree, parents, message, author])
        self.commits.setdefault(sha, Commit(sha, tree, parents, message, author, self.clock()))
        return self.commits[sha]

    def push(
        self,
        ref: str,
        files: Mapping[str, bytes | None],
        message: str = "Change",
        author: str = "a person",
        merged: str = "",
    ) -> str:
        """Commit files (None deletes) on a ref, which starts at main where it is not there; `merged` comes with it."""
        parent = self.refs.get(ref) or self.refs.get("heads/main")
        paths = dict(self.files(parent)) if parent else {}
        for path, data in files.items():
            if data is None:
                paths.pop(path)
            else:
                paths[path] = self.add_blob(data)
        commit = self.add_commit(self.add_tree(paths), tuple(filter(None, (parent, merged))), message, author)
        self.refs[ref] = commit.sha
        return commit.sha

    def files(self, revision: str) -> dict[str, str]:
        """Path and blob of every file at a commit."""
        return self.trees[self.commits[revision].tree]

    def read(self, revision: str, path: str) -> bytes:
        return self.blobs[self.files(self.resolve(revision))[path]]

    def resolve(self, name: str) -> str:
        """The commit that a branch, a tag, or a full or abbreviated id names."""
        for ref in (name.removeprefix("refs/"), f"heads/{name}", f"tags/{name}"):
            if ref in self.refs:
                return self.refs[ref]
        found = [sha for sha in self.commits if sha.startswith(name)] if len(name) >= 4 else []
        if len(found) != 1:
            raise GitError(f"No commit found for SHA: {name}")
        return found[0]

    def ancestors(self, revision: str) -> list[str]:
        """The commit and everything it descends from, nearest first."""
        seen: dict[str, None] = {}
        waiting = [revision]
        while waiting:
            sha = waiting.pop(0)
            if sha not in seen:
                seen[sha] = None
                waiting.extend(self.commits[sha].parents)
        return list(seen)

    def merge_base(self, base: str, head: str) -> str | None:
        """The best common ancestor: none that another one descends from."""
        known, seen = set(self.ancestors(base)), set[str]()
        first, waiting = list[str](), [head]  # the first common commits on each way back from the head
        while waiting:
            sha = waiting.pop(0)
            if sha in known:
                first.append(sha)
            elif sha not in seen:
                seen.add(sha)
                waiting.extend(self.commits[sha].parents)
        older = {sha for one in first for sha in self.ancestors(one)[1:]} if len(first) > 1 else set()
        return next((sha for sha in first if sha not in older), None)

    def merge(self, main: str, head: str) -> Merge:
        """What merging one commit into another would do there; without a common history everything is new."""
        base = self.merge_base(main, head)
        old, ours, theirs = ({} if sha is None else self.files(sha) for sha in (base, main, head))
        paths = {path for new in (ours, theirs) for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
        sides = (old, ours, theirs)
        # A submodule has no bytes here; its commit stands for them.
        known = [
            {path: self.blobs.get(side[path], side[path].encode()) for path in paths if path in side} for side in sides
        ]
        return three_way(*known)

    def changed(self, base: str | None, head: str) -> dict[str, str]:
        """Path and added, modified or removed, of what differs between two commits."""
        old, new = self.files(base) if base else {}, self.files(head)
        status = {path: "added" if path not in old else "modified" for path in new if old.get(path) != new[path]}
        return status | {path: "removed" for path in old if path not in new}
