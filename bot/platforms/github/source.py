"""A repository of GitHub as a source: which files changed between two commits or in a pull request, and their bytes.

Nothing is checked out: files come through the API, by the ids of their contents, a hundred in one GraphQL query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import IO, Any

from github.File import File
from github.GitTree import GitTree
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.errors import Gone, Refused, Stale, Unavailable
from bot.platforms.caches import is_content
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.wire import SERVICE
from bot.platforms.source import Change, LastCommit, Source, TooLarge, named_change

MAX_BYTES = 4 * 1024 * 1024  # of one file of a target
MOST_FILES = 3000  # GitHub lists no more of a pull request
LINK = "120000"  # the mode of a symbolic link, whose content is a path
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's id of a tree without entries
FEW = 3  # changed folders in one folder that are entered one by one, before the whole is read at once
DEEP = 8  # folders above a changed one from which on the whole is read at once, too
KEPT = 64  # folders whose listings are kept
MOST_LISTINGS = 1_000_000  # folders that one comparison looks into
PROPOSAL_TRIES = 3
BATCH = 100  # ids in one GraphQL question
ONE_BY_ONE = 3  # contents, and histories, that are asked for one by one
HISTORIES = 20  # histories in one GraphQL question: each costs GitHub a walk
OID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class TreeItem:
    """An entry of a folder; `kind` is blob, tree, commit (a submodule) or link, `size` is in bytes."""

    kind: str
    oid: str
    size: int


Tree = dict[str, TreeItem]


@dataclass(frozen=True, slots=True)
class PullRequestFiles:
    """A pull request as it stood when it was read: the full id of its head, and the name of its base branch.

    `files` are those that it adds, changes or removes; GitHub gives no sizes there.
    """

    head: str
    base: str
    files: tuple[Change, ...] = ()


@dataclass
class GitHubSource(Source):
    """Reads one repository, always at a named commit.

    `most_listings` bounds how many folders one comparison lists or looks into again: a stranger may propose any number,
    and folders may hold each other many times over.
    """

    client: GitHubClient
    address: GitHubAddress
    trees: dict[str, Tree] = field(default_factory=dict, repr=False)
    most_listings: int = MOST_LISTINGS
    _listings: int = field(default=0, init=False, repr=False)

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        return f"github://{self.address.name}"

    def head(self) -> str:
        """The commit at the default branch, also where that was renamed meanwhile."""
        with suppress(Gone):
            return self.head_of(self._repo.default_branch)
        self.client.forget_repo(self.address.name)
        return self.head_of(self._repo.default_branch)

    def head_of(self, branch: str) -> str:
        """The commit at a branch."""
        return self.client(lambda: self._repo.get_git_ref(f"heads/{branch}")).object.sha

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits; every file where there is no old one.

        Folders whose object id is the same are not entered, so requests follow the change.
        """
        if old == new:
            return
        self._listings = 0
        if old is None or self._cached_tree(old) is None:  # never settled, or the history was rewritten
            yield from self._all_files(new)
        else:
            yield from self._compare(old, new)

    def _compare(self, old: str | None, new: str | None) -> Iterator[Change]:
        """The differences between two versions of the root folder, and below it; None stands for no version.

        A stranger may nest folders to any depth, so nothing here is recursive, and deep folders are listed at once.
        """
        waiting = [(old, new, "")]
        while waiting:
            one, other, folder = waiting.pop()
            asked = self._listings
            before, after = ((self._cached_tree(sha) or {}) if sha else {} for sha in (one, other))
            if self._listings == asked:
                self._count_listing()
            names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
            deep = [name for name in names if _tree_id(before.get(name)) or _tree_id(after.get(name))]
            if len(deep) > FEW or (deep and folder.count("/") > DEEP):
                whole = self._whole(one), self._whole(other)
                if None not in whole:
                    yield from _differences(whole[0] or {}, whole[1] or {}, folder)
                    continue
            yield from _differences(before, after, folder)
            waiting += [
                (_tree_id(before.get(name)), _tree_id(after.get(name)), f"{folder}{name}/") for name in deep[::-1]
            ]

    def _whole(self, sha: str | None) -> Tree | None:
        """All entries in a folder and below it; None if one answer does not list them all."""
        if sha is None:
            return {}
        self._count_listing()
        found, is_cut = self.client(lambda: _listed(self._repo.get_git_tree(sha, recursive=True)))
        if is_cut:
            return None
        self._check_empty(sha, found)
        return found

    def _cached_tree(self, sha: str) -> Tree | None:
        """The entries of a folder, by the id of its tree or of a commit; None if there is none.

        What an id names never changes, so the entries are kept for the next push.
        """
        known = self.trees.get(sha)
        if known is None:
            self._count_listing()
            try:
                known, is_cut = self.client(lambda: _listed(self._repo.get_git_tree(sha)))
            except Gone:
                return None
            if is_cut:
                raise Refused(SERVICE, f"{self.name} has more files in one folder than GitHub lists; split it")
            self._check_empty(sha, known)
            while len(self.trees) >= KEPT:
                del self.trees[next(iter(self.trees))]
            self.trees[sha] = known
        return known

    def _check_empty(self, sha: str, found: Tree) -> None:
        """Raise Unavailable for an empty listing, unless git knows its tree as the empty one."""
        if found or sha == EMPTY_TREE:
            return
        try:
            tree = self.client(lambda: self._repo.get_git_commit(sha)).tree.sha
        except Gone:  # it is the id of a tree
            tree = sha
        if tree != EMPTY_TREE:
            raise Unavailable(SERVICE, f"{self.name}: the listing of {sha[:12]} is empty, but its tree is not")

    def _count_listing(self) -> None:
        """Count a folder that is looked into. Raises Refused past the bound."""
        self._listings += 1
        if self._listings > self.most_listings:
            raise Refused(SERVICE, f"{self.name}: more than {self.most_listings:,} folders differ; split the request")

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold; None if they hold none."""
        repo = self._repo
        try:
            return self.client(lambda: repo.compare(other, one).merge_base_commit.sha)
        except Gone:
            return None

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether the history of `head` has a commit."""
        return self.fork_point(head, commit) == commit

    def last_commits(self, head: str) -> list[str]:
        """The newest commits of a history, `head` first: as many as one answer names."""
        return self.client(lambda: [commit.sha for commit in self._repo.get_commits(sha=head).get_page(0)])

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is still there; a rewritten history may have lost it."""
        try:
            self.client(lambda: self._repo.get_git_commit(commit))
        except Gone:
            return False
        return True

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`."""
        found: dict[str, LastCommit] = {}
        if self.client.has_account and len(paths) > ONE_BY_ONE:
            for start in range(0, len(paths), HISTORIES):
                found |= self._histories(paths[start : start + HISTORIES], commit)
            return found
        for path in paths:
            commits = self.client.get(f"/repos/{self.address.name}/commits", sha=commit, path=path, per_page=1)
            if commits:
                date = datetime.fromisoformat(commits[0]["commit"]["committer"]["date"])
                found[path] = LastCommit(str(commits[0]["sha"]), date.timestamp())
        return found

    def _histories(self, paths: Sequence[str], commit: str) -> dict[str, LastCommit]:
        """The commit that last touched each path, in one query. Raises Gone where there is no such commit."""
        names = {f"p{number}": path for number, path in enumerate(paths)}
        last = "{ nodes { oid committedDate } }"
        asked = " ".join(f"{name}: history(first: 1, path: ${name}) {last}" for name in names)
        given = "$owner: String!, $repo: String!, $oid: GitObjectID!" + "".join(f", ${name}: String!" for name in names)
        commits = f"object(oid: $oid) {{ ... on Commit {{ {asked} }} }}"
        query = f"query({given}) {{ repository(owner: $owner, name: $repo) {{ {commits} }} }}"
        owner, _, repo = self.address.name.partition("/")
        variables = {"owner": owner, "repo": repo, "oid": commit, **names}
        answer: dict[str, Any] = self.client.ask_graphql(query, variables, lambda data: data["repository"]["object"])
        if answer is None:
            raise Gone(SERVICE, f"{self.name} has no commit {commit[:12]}")
        found = {path: answer[name]["nodes"] for name, path in names.items()}
        return {
            path: LastCommit(nodes[0]["oid"], datetime.fromisoformat(nodes[0]["committedDate"]).timestamp())
            for path, nodes in found.items()
            if nodes
        }

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None if it is not there. Raises TooLarge past the limit.

        With `oid` one request is enough: the content is requested by its id.
        """
        oid = oid or self._id_of(path, commit)
        return self.read_content(oid, limit) if oid else None

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes at a commit to an open one; False if it is not there. Raises as `read` does."""
        oid = oid or self._id_of(path, commit)
        if oid:
            self.client.save_blob(self.address.name, oid, limit, file)
        return bool(oid)

    def _id_of(self, path: str, commit: str) -> str:
        """The object id of a file at a commit, "" if it is not there."""
        if {"", ".", ".."}.intersection(path.split("/")):
            return ""  # a client would walk up the API's path
        repo = self._repo  # that it is gone or renamed is not said of one file
        try:
            found = self.client(lambda: repo.get_contents(path, ref=commit))
        except Gone:
            return ""
        return "" if isinstance(found, list) else found.sha

    def read_content(self, oid: str, limit: int) -> bytes:
        """The bytes of an object id, requested unless they are known; raises TooLarge past `limit`.

        Raises Unavailable if other bytes came.
        """
        data = self.client.blobs.get(oid)
        if data is None:
            body = BytesIO()
            self.client.save_blob(self.address.name, oid, limit, body)
            self.client.blobs[oid] = data = body.getvalue()
        if len(data) > limit:
            raise TooLarge(f"more than {limit:,} bytes")
        return data

    def read_start(self, oid: str, limit: int) -> bytes:
        """The first bytes of an object id, for a file that is too large to be read."""
        body = BytesIO()
        with suppress(TooLarge):
            self.client.save_blob(self.address.name, oid, limit, body)
        return body.getvalue()[:limit]

    def is_submodule(self, path: str, commit: str) -> bool:
        """Tell whether the path of a commit links another repository, which a pull request lists like a file."""
        found = self.client(lambda: self._repo.get_contents(path, ref=commit))
        return not isinstance(found, list) and found.type == "submodule"

    def fetch(self, oids: Iterable[str]) -> None:
        """Request many contents at once, as far as GraphQL gives them; they are kept in `client.blobs`."""
        missing = [oid for oid in dict.fromkeys(oids) if oid not in self.client.blobs]
        if self.client.has_account and len(missing) > ONE_BY_ONE:
            for start in range(0, len(missing), BATCH):
                self.client.blobs.update(self._texts(missing[start : start + BATCH]))

    def _texts(self, oids: Sequence[str]) -> dict[str, bytes]:
        """The contents that GraphQL gives as text, without those that are binary, cut off, or other than their id."""
        asked = {f"b{number}": oid for number, oid in enumerate(oids) if OID.fullmatch(oid)}
        parts = " ".join(f'{name}: object(oid: "{oid}") {{ ... on Blob {{ text }} }}' for name, oid in asked.items())
        query = f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{ {parts} }} }}"
        owner, _, repo = self.address.name.partition("/")

        def take(data: Any) -> dict[str, Any]:
            return {oid: (data["repository"].get(name) or {}).get("text") for name, oid in asked.items()}

        try:
            rows = self.client.ask_graphql(query, {"owner": owner, "name": repo}, take)
        except Refused:
            return {}  # reading one by one shows what is wrong, if anything is
        found = {oid: text.encode() for oid, text in rows.items() if isinstance(text, str)}
        return {oid: data for oid, data in found.items() if is_content(data, oid)}

    def folder(self, folder: str, commit: str) -> list[Change]:
        """Every file below a folder at a commit; none if there is no such folder."""
        return [item for item in self._all_files(commit) if item.path.startswith(f"{folder}/")]

    def differences(self, folder: str, old: str, new: str) -> list[Change] | None:
        """The files below a folder that differ between two commits; None if the old commit is gone."""
        if self._cached_tree(old) is None:
            return None
        return [item for item in self.changes(old, new) if item.path.startswith(f"{folder}/")]

    def contents(self, oids: Mapping[str, str], commit: str = "", limit: int = MAX_BYTES) -> dict[str, bytes]:
        """The bytes of files of a target by path, given their object ids."""
        self.fetch(oids.values())
        return {path: self.read_content(oid, limit) for path, oid in oids.items()}

    def read_proposal(self, number: int) -> PullRequestFiles:
        """Read a pull request and the files that it adds, changes or removes, all at one head.

        Where GitHub does not list all of its files, the trees are compared. Raises Stale where it will not stand still.
        """
        for _ in range(PROPOSAL_TRIES):
            pull = self.client(lambda: self._repo.get_pull(number))
            files = self._files(pull)
            if len(files) >= MOST_FILES:
                head = pull.head.sha
                changes = tuple(self.changes(self.fork_point(head, pull.base.sha), head))
                return PullRequestFiles(head, pull.base.ref, changes)
            # The list names no commit: what was pushed between the two calls must not pass as the old head's.
            if self.client(lambda: self._repo.get_pull(number)).head.sha == pull.head.sha:
                return PullRequestFiles(pull.head.sha, pull.base.ref, tuple(_changes(files)))
        raise Stale(f"{SERVICE}: somebody pushes to pull request {number} faster than it can be read")

    def _files(self, pull: PullRequest) -> list[File]:
        return self.client(lambda: list(pull.get_files()))

    def find_proposal(self, owner: str, branch: str, head: str) -> int | None:
        """The number of the open pull request from `owner:branch` whose head is that commit.

        Of several, into several branches, it is the one into the default branch: no other keeps a comment from it.
        """
        repo = self._repo
        found = self.client(lambda: list(repo.get_pulls(state="open", head=f"{owner}:{branch}")))
        ours = [(pull.base.ref != repo.default_branch, pull.number) for pull in found if pull.head.sha == head]
        return min(ours)[1] if ours else None

    @property
    def _repo(self) -> Repository:
        return self.client.repo(self.address.name)

    def _all_files(self, commit: str) -> Iterator[Change]:
        """Every file; folder by folder where one answer does not list them all."""
        whole = self._whole(commit)
        yield from self._compare(None, commit) if whole is None else _differences({}, whole, "")


def _changes(files: Iterable[File]) -> Iterator[Change]:
    """The changes in the list of a pull request; a file that moved is removed at its old path."""
    for file in files:
        if file.status == "renamed":
            yield Change(file.previous_filename, None, 0)
        yield Change(file.filename, None if file.status == "removed" else file.sha, 0)


def _listed(tree: GitTree) -> tuple[Tree, bool]:
    """The entries of a tree, and whether the list was cut."""
    items = {
        item.path: TreeItem("link" if item.mode == LINK else item.type, item.sha, item.size or 0) for item in tree.tree
    }
    return items, bool(tree.raw_data.get("truncated"))


def _tree_id(item: TreeItem | None) -> str | None:
    """The id of a folder; None for anything else."""
    return item.oid if item is not None and item.kind == "tree" else None


def _differences(before: Tree, after: Tree, folder: str) -> Iterator[Change]:
    """The files that differ between two listings, without what lies below their folders."""
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        if now is not None and now.kind == "blob":
            yield named_change(f"{folder}{name}", now.oid, now.size)
        elif was is not None and was.kind == "blob":
            yield named_change(f"{folder}{name}", None, 0)
