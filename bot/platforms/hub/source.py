"""A repository of the Hub as a source: which files changed between two commits, and their bytes.

Two commits are compared by listing only the folders that differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from typing import IO, Any, TypeVar
from urllib.parse import quote

from huggingface_hub.errors import RemoteEntryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile, RepoFolder

from bot.errors import CallError, Refused, Unavailable
from bot.platforms.git.fetch import fetched_source
from bot.platforms.hub.address import HubAddress, parse_address
from bot.platforms.hub.client import SERVICE, HubClient, hub_client
from bot.platforms.platform import Access, GitRemote
from bot.platforms.source import Change, LastCommit, Source, named_change
from bot.publishing.models import ModelFacts, facts_from_tags

T = TypeVar("T")
PATHS = 1000  # paths of one question; the Hub takes 2,000
LISTINGS, LISTED = 64, 20_000  # listings that are remembered, and the length beyond which one is not
EXPANDED = 100  # paths of one question that also asks for their last commits
COMMIT = re.compile(r"[0-9a-f]{40}")
UNREAD = "{name} {path}: it is listed at {commit}, but it is not there"
THREADS = 8
MANY, SOME = 500, 50  # files of a source, and rows of a target, beyond which one fetch over git costs less
FILE_LIMIT = 4_000_000  # bytes of one entry or table at a target
MOST_ENTRIES = 500_000  # of one listing, and folders that one comparison enters: git's folders may hold each other
DEEP = 8  # folders above a changed one from which on all below is listed at once
FEW, ENTRIES = 4, 500  # folders that are listed together, at half a page of a thousand entries for each at most
Listing = dict[str, RepoFile | RepoFolder]
Below = Mapping[str, Sequence[RepoFile]]


@dataclass
class HubSource(Source):
    """Reads one repository, always at a named commit; `listings` are those that were kept from the last pass."""

    client: HubClient
    address: HubAddress
    listings: dict[str, Listing] = field(default_factory=dict, repr=False)
    most_entries: int = MOST_ENTRIES
    _histories: dict[str, tuple[set[str], Iterator[str]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        return self.address.url

    def refs(self, *, requests: bool = False) -> dict[str, str]:
        """The commits of all branches, and of all requests where asked for, by ref."""
        found = self.client.read(
            self.client.api.list_repo_refs,
            self.address.name,
            repo_type=self.address.kind,
            include_pull_requests=requests,
        )
        return {ref.ref: ref.target_commit for ref in [*found.branches, *(found.pull_requests or [])]}

    def closed_head(self, number: int) -> str | None:
        """The commit of a closed request, None if it is not known."""
        return self.refs(requests=True).get(f"refs/pr/{number}")

    def head(self) -> str:
        """The commit at main, from the refs: the repository's own summary may be older."""
        try:
            return self.refs()["refs/heads/main"]
        except KeyError:
            raise Refused(SERVICE, f"{self.name} has no branch main") from None

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is still there; a rewritten history may have lost it."""
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
        found = CommitComparison(self, old, new).changes("", old, new) if old else None
        if found is None:  # never settled, or the history was rewritten
            everything = self.tree(new, "", recursive=True)
            found = (added(item) for item in everything if isinstance(item, RepoFile))
        yield from found

    def listing(self, oid: str, commit: str, path: str) -> Listing | None:
        """The entries of a folder without those of its subfolders; None if the commit or the folder is not there.

        What an object id or a commit names never changes, so a listing that is not too long is kept.
        """
        key, listings = f"{oid} {path}", self.listings  # two folders may be equal, but not their paths
        if key not in listings:
            found = self.if_there(lambda: {item.path: item for item in self.tree(commit, path)})
            if found is None or len(found) > LISTED:
                return found
            while len(listings) >= LISTINGS:
                del listings[next(iter(listings))]
            listings[key] = found
        return listings[key]

    def tree(self, commit: str, path: str, *, recursive: bool = False) -> Iterator[RepoFile | RepoFolder]:
        """The entries of a folder, or all below it. Raises Refused past `most_entries`."""
        below = f"/{quote(path, safe='', errors='surrogatepass')}" if path else ""  # an odd name stops nothing
        where = f"{self._api}/tree/{quote(commit, safe='')}{below}"
        count = 0
        for item in self.client.get_pages(where, tree_item, recursive=str(recursive).lower(), expand="false"):
            count += 1
            self.check_count(count)
            yield item
        if not count:
            self._check_empty(commit, path)

    def check_count(self, count: int) -> None:
        """Raise Refused for more entries or folders than a repository has, unless its folders hold each other."""
        if count > self.most_entries:
            raise Refused(
                SERVICE, f"{self.name}: more than {self.most_entries:,} files and folders are listed or differ"
            )

    def _check_empty(self, commit: str, path: str) -> None:
        """Raise Unavailable for an empty listing of a folder, which git cannot have, or of a commit that has files."""
        if path:
            raise Unavailable(SERVICE, f"{self.name} {path}: its listing is empty, but git has no empty folder")
        where = f"{self._api}/revision/{quote(commit, safe='')}"
        if self.client.get_json(where, lambda found: len(found["siblings"])):
            raise Unavailable(SERVICE, f"{self.name}: the listing of commit {commit[:12]} is empty, but it has files")

    @property
    def _api(self) -> str:
        return f"/api/{self.address.kind}s/{self.address.name}"

    def if_there(self, call: Callable[[], T]) -> T | None:
        """The result of a call; None if the commit or folder that it asks for does not exist."""
        try:
            return call()
        except Refused as refusal:
            if isinstance(refusal.__cause__, RevisionNotFoundError | RemoteEntryNotFoundError):
                return None
            raise

    def walk(self, commit: str, path: str) -> list[RepoFile]:
        """Every file below a folder; none if the folder is not there. Raises Unavailable if the commit is not there."""
        everything = self.if_there(lambda: list(self.tree(commit, path, recursive=True)))
        if everything is None:
            self.see_commit(commit)
        return [item for item in everything or [] if isinstance(item, RepoFile)]

    def see_commit(self, commit: str) -> None:
        """Raise Unavailable if a commit is not there: an absent folder then says nothing about its files."""
        if not self.knows(commit):
            raise Unavailable(SERVICE, f"{self.name}: the Hub does not show commit {commit[:12]}")

    def folder(self, folder: str, commit: str) -> list[Change]:
        """Every file below a folder; none if the folder is not there."""
        return [added(item) for item in self.walk(commit, folder)]

    def differences(self, folder: str, old: str, new: str) -> list[Change] | None:
        """The files below a folder that differ between two commits; None if the old commit or folder is gone."""
        try:
            found = CommitComparison(self, old, new).changes(folder, old, new)
            return None if found is None else list(found)
        except Unavailable:
            if self.knows(old):
                raise
            return None  # a part of the old commit was remembered, and the rest is gone

    def contents(self, oids: Mapping[str, str], commit: str) -> dict[str, bytes]:
        """The bytes of files by path, given their object ids; each content is fetched once.

        Raises Unavailable if one that was listed is not there.
        """
        paths = {oid: path for path, oid in oids.items()}
        with self._fetched(commit, is_many=len(paths) > SOME) as source, ThreadPoolExecutor(THREADS) as pool:
            found = in_threads(pool, paths, lambda oid: source.read(paths[oid], commit, FILE_LIMIT, oid))
        lost = [paths[oid] for oid, data in found.items() if data is None]
        if lost:
            raise Unavailable(SERVICE, UNREAD.format(name=self.name, path=lost[0], commit=commit[:12]))
        return {path: data for path, oid in oids.items() if (data := found[oid]) is not None}

    def see_absent(self, paths: Sequence[str], commit: str) -> None:
        """Raise Unavailable if one of these files is listed after all: its absence is then an outage."""
        if paths and (listed := self.object_ids(paths, commit)):
            raise Unavailable(SERVICE, UNREAD.format(name=self.name, path=next(iter(listed)), commit=commit[:12]))

    def object_ids(self, paths: Sequence[str], commit: str) -> dict[str, str]:
        """The object id of each of those paths that is a file, as of `commit`."""
        return {item.path: item.blob_id for item in self.files_at(paths, commit)}

    def files_at(self, paths: Sequence[str], commit: str) -> list[RepoFile]:
        """The files among these paths, as of `commit`."""
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

    def there(self, paths: Sequence[str], commit: str) -> set[str]:
        """Those of these paths that are files, however many: a page of a listing may say that it is the last one."""
        return set(self.object_ids(paths, commit))

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

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes at a commit to an open one; False if it is not there.

        Raises Unavailable where the bytes are not those of `oid`, or of the id that the answer names, and TooLarge past
        the limit.
        """
        if {"", ".", ".."}.intersection(path.split("/")):
            return False  # a client would walk up the path of the address
        return self.client.save(self.address, path, commit, limit, file, oid=oid)

    def in_bulk(self, commit: str, count: int) -> AbstractContextManager[Source]:
        """The source with the files of a commit fetched over git, where they are very many and git can fetch them.

        Fewer files come from a fetched copy if there is one: a process that read very many was killed near its end.
        """
        return self._fetched(commit, is_many=count > MANY)

    def _fetched(self, commit: str, *, is_many: bool) -> AbstractContextManager[Source]:
        remote = GitRemote(self.client.web(self.address), self.client.token)
        return fetched_source(self, remote, self.client.cache, commit, is_many=is_many)

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold, read as far as needed."""
        return first_shared(self.history(one), self.history(other))

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether the history of `head` has a commit; the history is read as far as needed, and kept."""
        seen, rest = self._histories.pop(head) if head in self._histories else (set(), self.history(head))
        while commit not in seen and (one := next(rest, None)) is not None:
            seen.add(one)
        self._histories = {head: (seen, rest)}  # one of which the reading failed is begun anew
        return commit in seen

    def head_at(self, time: float, head: str) -> str:
        """The newest commit in a history that is not younger than a time (Unix seconds); `head` if none is."""
        commits = self.client.get_pages(f"{self._api}/commits/{head}", dated)
        return next((commit for commit, at in commits if at <= time), head)

    def history(self, commit: str) -> Iterator[str]:
        """The commit and its ancestors, newest first, a page at a time."""
        yield from self.client.get_pages(f"{self._api}/commits/{commit}", lambda item: str(item["id"]))


def dated(commit: Any) -> tuple[str, float]:
    """The id and the time of a commit in a list of the Hub."""
    return str(commit["id"]), datetime.fromisoformat(commit["date"]).timestamp()


def first_shared(one: Iterator[str], other: Iterator[str]) -> str | None:
    """The first item that both iterators give, taking turns; None if there is none."""
    seen: tuple[set[str], set[str]] = (set(), set())
    for pair in zip_longest(one, other):
        for side, item in enumerate(pair):
            if item is not None and item in seen[1 - side]:
                return item
            seen[side].add(item or "")
    return None


def open_pinned(address: HubAddress, name: str, access: Access) -> tuple[HubSource, str]:
    """The repository, and the commit of the branch or ref in its address; `name` is its name in errors.

    Raises CallError if there is no such branch.
    """
    if address.kind == "bucket":
        raise CallError(f"{name}: what is read there can change at any time; name a file of a repository")
    source = HubSource(hub_client(access), address)
    revision = address.revision or "main"
    if COMMIT.fullmatch(revision):
        return source, revision
    refs = source.refs(requests=True)
    found = refs.get(f"refs/heads/{revision}") or refs.get(revision)
    if found is None:
        raise CallError(f"{name}: there is no branch {revision!r}; a commit is named by its 40 digits")
    return source, found


def read_heads(client: HubClient, models: Iterable[str]) -> dict[str, str]:
    """The commit at main of each model. Raises as `ask_models`."""
    return ask_models(models, lambda address: HubSource(client, address).head())


def read_facts(client: HubClient, models: Iterable[str]) -> dict[str, ModelFacts]:
    """Size, licence, type and base model of each model from its page today. Raises as `ask_models`."""
    today = datetime.now(UTC).date().isoformat()

    def facts(address: HubAddress) -> ModelFacts:
        found = client.read(client.api.model_info, address.name, expand=["safetensors", "tags"])
        return facts_from_tags(found.tags or (), found.safetensors.total if found.safetensors else None, today)

    return ask_models(models, facts)


def ask_models(models: Iterable[str], ask: Callable[[HubAddress], T]) -> dict[str, T]:
    """The Hub's answer about each model, one request each, without models that the bot may not see.

    Raises Unavailable if the Hub does not answer.
    """

    def answer(model: str) -> T | None:
        try:
            return ask(parse_address(f"hf://models/{model}"))
        except (CallError, Refused):
            return None

    with ThreadPoolExecutor(THREADS) as pool:
        return {name: one for name, one in in_threads(pool, models, answer).items() if one is not None}


def in_threads(pool: ThreadPoolExecutor, names: Iterable[str], call: Callable[[str], T]) -> dict[str, T]:
    """The result of a call for each name; bulk work stays bulk work in the threads."""
    known = list(dict.fromkeys(names))
    contexts = [copy_context() for _ in known]
    found = pool.map(lambda context, name: context.run(call, name), contexts, known)
    return dict(zip(known, found, strict=True))


@dataclass(slots=True)
class CommitComparison:
    """Two commits of a source; `entered` counts the folders that differ, and the files below deep folders."""

    source: HubSource
    old: str
    new: str
    entered: int = 0

    def changes(self, folder: str, was: str, now: str) -> Iterator[Change] | None:
        """The differences below a folder; None if the old folder is not there.

        `was` and `now` are its object ids or commits. Raises Refused past `most_entries`.
        """
        self.entered += 1
        self.source.check_count(self.entered)
        before = self.source.listing(was, self.old, folder)
        if before is None:
            return None
        after = self.source.listing(now, self.new, folder)
        if after is None:
            self.source.see_commit(self.new)
        return self._compared(before, after or {}, folder)

    def _compared(self, before: Listing, after: Listing, folder: str) -> Iterator[Change]:
        """The differences between the listings of a folder in both commits, and below it."""
        paths = sorted(path for path in before.keys() | after.keys() if not _is_same(before.get(path), after.get(path)))
        both = _folders(before).intersection(paths, _folders(after))
        gone = self.listed(folder, _folders(before) - after.keys() | both, before, self.old)
        come = self.listed(folder, _folders(after) - before.keys() | (both if gone else set()), after, self.new)
        for path in paths:
            was, now = before.get(path), after.get(path)
            if isinstance(was, RepoFolder) and isinstance(now, RepoFolder):
                is_listed = path in gone and path in come
                if is_listed:
                    yield from _differences(gone[path], come[path])
                elif path.count("/") > DEEP:  # folders may lie in each other as deep as a stranger likes
                    below = [self.source.walk(commit, path) for commit in (self.old, self.new)]
                    self.entered += sum(map(len, below))
                    self.source.check_count(self.entered)
                    yield from _differences(*below)
                else:
                    yield from self.changes(path, was.tree_id, now.tree_id) or ()
                continue
            if not (isinstance(was, RepoFile) and isinstance(now, RepoFile)):
                yield from map(removed, gone[path] if path in gone else self.files_of(was, self.old))
            yield from map(added, come[path] if path in come else self.files_of(now, self.new))

    def listed(self, folder: str, paths: Iterable[str], there: Listing, commit: str) -> Below:
        """The files below each of the folders at `paths`, from one listing of everything in `folder`.

        Empty where that would take more requests than a listing of each folder.
        """
        found: dict[str, list[RepoFile]] = {path: [] for path in paths}
        start, most = len(folder) + bool(folder), ENTRIES * len(found)
        if len(found) < FEW or len(there) > most:
            return {}

        def take() -> Below:
            for count, item in enumerate(self.source.tree(commit, folder, recursive=True)):
                if count >= most:
                    return {}
                name, slash, _ = item.path[start:].partition("/")
                path = item.path[:start] + name
                if isinstance(item, RepoFile) and slash and path in found:
                    found[path].append(item)
            return found

        return self.source.if_there(take) or {}

    def files_of(self, item: RepoFile | RepoFolder | None, commit: str) -> Iterator[RepoFile]:
        """The file itself, or the files below the folder."""
        if isinstance(item, RepoFile):
            yield item
        elif item is not None:
            yield from self.source.walk(commit, item.path)


def _is_same(was: RepoFile | RepoFolder | None, now: RepoFile | RepoFolder | None) -> bool:
    return was is not None and now is not None and object_id(was) == object_id(now) and type(was) is type(now)


def _folders(listing: Listing) -> set[str]:
    return {path for path, item in listing.items() if isinstance(item, RepoFolder)}


def _differences(was: Sequence[RepoFile], now: Sequence[RepoFile]) -> Iterator[Change]:
    """The differences between all files below a folder in both commits."""
    before, after = ({item.path: item for item in items} for items in (was, now))
    for path in sorted(before.keys() | after.keys(), key=lambda path: path.split("/")):
        if path not in after:
            yield removed(before[path])
        elif path not in before or object_id(before[path]) != object_id(after[path]):
            yield added(after[path])


def object_id(item: RepoFile | RepoFolder) -> str:
    """The id of the content at a path; equal ids mean equal contents."""
    return item.blob_id if isinstance(item, RepoFile) else item.tree_id


def tree_item(row: Mapping[str, Any]) -> RepoFile | RepoFolder:
    """One row of a listing as the client's data."""
    made: type[Any] = RepoFile if row["type"] == "file" else RepoFolder
    item: RepoFile | RepoFolder = made(**row)
    return item


def added(item: RepoFile) -> Change:
    """The change to a file as it is now."""
    return named_change(item.path, item.lfs.sha256 if item.lfs else item.blob_id, item.size)


def removed(item: RepoFile) -> Change:
    """The change of a file that is gone."""
    return named_change(item.path, None, 0)
