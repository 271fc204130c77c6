"""A repository of the Hub as a source: which files changed between two commits, and their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar
from urllib.parse import quote

from huggingface_hub.errors import RemoteEntryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile, RepoFolder

from bot.errors import Refused
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.bulk import MANY, fetched_source, has_copy
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.errors import SERVICE
from bot.platforms.source import Change, LastCommit, Source, named_change

T = TypeVar("T")
PATHS = 1000  # paths of one question; the Hub takes 2,000
KEPT, KEPT_ITEMS = 64, 20_000  # listings that are kept, and the length beyond which one is not
FEW, ENTRIES = 4, 500  # new folders that are listed together, at half a page of a thousand entries for each at most
EXPANDED = 100  # paths of one question that also asks for their last commits
Listing = dict[str, RepoFile | RepoFolder]


def object_id(item: RepoFile | RepoFolder) -> str:
    """The id of what lies at a path; equal ids are equal contents."""
    return item.blob_id if isinstance(item, RepoFile) else item.tree_id


@dataclass
class HubSource:
    """Reads one repository, always at a named commit."""

    client: HubClient
    address: HubAddress
    listings: dict[str, Listing] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """How evidence and pages name it."""
        return self.address.url

    def refs(self, *, requests: bool = False) -> dict[str, str]:
        """Every branch, and every request's ref where asked for, with its commit."""
        found = self.client.read(
            self.client.api.list_repo_refs,
            self.address.name,
            repo_type=self.address.kind,
            include_pull_requests=requests,
        )
        return {ref.ref: ref.target_commit for ref in [*found.branches, *(found.pull_requests or [])]}

    def head(self) -> str:
        """The commit at main; from the refs, because the repository's own summary may lag behind."""
        try:
            return self.refs()["refs/heads/main"]
        except KeyError:
            raise Refused(SERVICE, f"{self.name} has no branch main") from None

    def knows(self, commit: str) -> bool:
        """Whether a commit is still there; a rewritten history may have lost it."""
        # What is kept of a commit says nothing: the history may have been rewritten since.
        asked = {"repo_type": self.address.kind, "revision": commit}
        paths_info = self.client.api.get_paths_info
        return (
            self.if_there(lambda: self.client.read(paths_info, self.address.name, ["README.md"], **asked)) is not None
        )

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits; every file where there is no old one.

        Folders whose object id is the same are not entered, so requests follow the change.
        """
        if old == new:
            return
        before = self.kept(old, old, "") if old else None
        if before is None:  # never settled, or the history was rewritten
            everything = self.tree(new, "", recursive=True)
            yield from (added(item) for item in everything if isinstance(item, RepoFile))
            return
        yield from self.compare(before, self.kept(new, new, "") or {}, old or "", new)

    def compare(self, before: Listing, after: Listing, old: str, new: str, folder: str = "") -> Iterator[Change]:
        """What differs between two listings of one folder, and below."""
        gone, come = self.below(folder, before, after, old), self.below(folder, after, before, new)
        for path in sorted(before.keys() | after.keys()):
            was, now = before.get(path), after.get(path)
            if was and now and object_id(was) == object_id(now) and type(was) is type(now):
                continue
            if isinstance(was, RepoFolder) and isinstance(now, RepoFolder):
                then, today = self.kept(was.tree_id, old, path), self.kept(now.tree_id, new, path)
                yield from self.compare(then or {}, today or {}, old, new, path)
                continue
            yield from map(removed, gone[path] if path in gone else self.files_of(was, old))
            yield from map(added, come[path] if path in come else self.files_of(now, new))

    def below(self, folder: str, there: Listing, elsewhere: Listing, commit: str) -> dict[str, list[RepoFile]]:
        """The files below each folder in `folder` that is only `there`, from one listing of everything in `folder`.

        Empty where that takes more requests than a listing of each.
        """
        found: dict[str, list[RepoFile]] = {
            path: [] for path, item in there.items() if isinstance(item, RepoFolder) and path not in elsewhere
        }
        if len(found) < FEW:
            return {}
        start, most = len(folder) + bool(folder), ENTRIES * len(found)

        def take() -> dict[str, list[RepoFile]]:
            for count, item in enumerate(self.tree(commit, folder, recursive=True)):
                if count >= most:
                    return {}
                name, slash, _ = item.path[start:].partition("/")
                path = item.path[:start] + name
                if isinstance(item, RepoFile) and slash and path in found:
                    found[path].append(item)
            return found

        return self.if_there(take) or {}

    def files_of(self, item: RepoFile | RepoFolder | None, commit: str) -> Iterator[RepoFile]:
        """The file itself, or the files below a folder."""
        if isinstance(item, RepoFile):
            yield item
        elif item is not None:
            yield from self.walk(commit, item.path)

    def kept(self, oid: str, commit: str, path: str) -> Listing | None:
        """A folder's listing; what an object id or a commit names never changes, so it is kept for the next push."""
        key = f"{oid} {path}"  # two folders may be equal, but not their paths
        if key not in self.listings:
            found = self.listing(commit, path)
            if found is None or len(found) > KEPT_ITEMS:
                return found
            while len(self.listings) >= KEPT:
                del self.listings[next(iter(self.listings))]
            self.listings[key] = found
        return self.listings[key]

    def listing(self, commit: str, path: str) -> Listing | None:
        """What lies in a folder, not below it; None where the commit or the folder is not there."""
        return self.if_there(lambda: {item.path: item for item in self.tree(commit, path)})

    def tree(self, commit: str, path: str, *, recursive: bool = False) -> Iterator[RepoFile | RepoFolder]:
        """What lies in a folder, or everywhere below it."""
        below = f"/{quote(path, safe='')}" if path else ""
        where = f"{self._api}/tree/{quote(commit, safe='')}{below}"
        yield from self.client.get_pages(where, tree_item, recursive=str(recursive).lower(), expand="false")

    @property
    def _api(self) -> str:
        return f"/api/{self.address.kind}s/{self.address.name}"

    def if_there(self, call: Callable[[], T]) -> T | None:
        """What a call gives, None where the commit or the folder that it asks for is not there."""
        try:
            return call()
        except Refused as refusal:
            if isinstance(refusal.__cause__, RevisionNotFoundError | RemoteEntryNotFoundError):
                return None
            raise

    def walk(self, commit: str, path: str) -> list[RepoFile]:
        """Every file below a folder; none where it is not there."""
        everything = self.if_there(lambda: list(self.tree(commit, path, recursive=True))) or []
        return [item for item in everything if isinstance(item, RepoFile)]

    def object_ids(self, paths: Sequence[str], commit: str) -> dict[str, str]:
        """The object id of each of those paths that is a file, as of `commit`."""
        return {item.path: item.blob_id for item in self.files_at(paths, commit)}

    def files_at(self, paths: Sequence[str], commit: str) -> list[RepoFile]:
        """Those of the paths that are files, as of `commit`."""
        found: list[RepoFile] = []
        for start in range(0, len(paths), PATHS):
            items = self.client.read(
                self.client.api.get_paths_info,
                self.address.name,
                list(paths[start : start + PATHS]),
                revision=commit,
                repo_type=self.address.kind,
            )
            found += [item for item in items if isinstance(item, RepoFile)]
        return found

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path, the commit that last touched it, as of `commit`."""
        found: dict[str, LastCommit] = {}
        for start in range(0, len(paths), EXPANDED):
            items = self.client.read(
                self.client.api.get_paths_info,
                self.address.name,
                paths[start : start + EXPANDED],
                expand=True,
                revision=commit,
                repo_type=self.address.kind,
            )
            dated = [(item.path, item.last_commit) for item in items if item.last_commit]
            found |= {path: LastCommit(last.oid, last.date.timestamp()) for path, last in dated}
        return found

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes at a commit; None where it is not there. Raises TooLarge past the limit.

        The bytes are those of `oid`, and those that the Hub's answer names. Raises Unavailable for others.
        """
        found = self.client.download(self.address, path, commit, limit, oid)
        return found and found[0]

    def in_bulk(self, commit: str, count: int) -> AbstractContextManager[Source]:
        """Very many files are brought by one fetch over git, where git can bring them.

        Fewer come from a copy where one is there: a process that read very many was killed near its end.
        """
        is_many = count > MANY
        if not is_many and not has_copy(self.address, self.client.cache):
            return nullcontext(self)
        prefix = "" if self.address.kind == "model" else f"{self.address.kind}s/"
        web = f"{self.client.endpoint}/{prefix}{self.address.name}"
        return fetched_source(
            self, self.address, web, self.client.token, commit, cache=self.client.cache, is_many=is_many
        )

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold, read as far as needed."""
        return first_shared(self.history(one), self.history(other))

    def history(self, commit: str) -> Iterator[str]:
        """The commit and those before it, newest first, a page at a time."""
        yield from self.client.get_pages(f"{self._api}/commits/{commit}", lambda item: str(item["id"]))


def first_shared(one: Iterator[str], other: Iterator[str]) -> str | None:
    """The first item that both yield, taking turns; None where there is none."""
    seen: tuple[set[str], set[str]] = (set(), set())
    for pair in zip_longest(one, other):
        for side, item in enumerate(pair):
            if item is not None and item in seen[1 - side]:
                return item
            seen[side].add(item or "")
    return None


def tree_item(row: dict[str, Any]) -> RepoFile | RepoFolder:
    """A row of a listing."""
    made: type[Any] = RepoFile if row["type"] == "file" else RepoFolder
    item: RepoFile | RepoFolder = made(**row)
    return item


def added(item: RepoFile) -> Change:
    """A file as it is now."""
    return named_change(item.path, item.lfs.sha256 if item.lfs else item.blob_id, item.size)


def removed(item: RepoFile) -> Change:
    """A file that is no more."""
    return named_change(item.path, None, 0)
