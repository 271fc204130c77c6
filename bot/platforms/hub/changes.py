"""Find the files that differ between two commits of a Hub repository, by listing only folders that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from huggingface_hub.hf_api import RepoFile, RepoFolder

from bot.platforms.git.trees import FOLDER, TreeEntry
from bot.platforms.hub.folders import FolderDifference
from bot.platforms.source import Change, is_text, named_change

if TYPE_CHECKING:
    from bot.platforms.hub.source import HubSource

PAGE = 1000  # entries of a page of a listing; a folder of which that many come is asked for over git
FEW, ENTRIES = 4, 500  # new folders that are listed together, at half a page of a thousand entries for each at most
Listing = dict[str, RepoFile | RepoFolder]
Below = Mapping[str, Sequence[RepoFile]]


@dataclass(frozen=True, slots=True)
class Pair:
    """What lies in one folder in the old and the new commit, or those entries of it that differ.

    `come` are the files below new folders, as far as they are known; None if the listings hold all entries.
    """

    before: Listing
    after: Listing
    come: Below | None = None


@dataclass(frozen=True, slots=True)
class CommitComparison:
    """Two commits of a source."""

    source: HubSource
    old: str
    new: str

    def pair(self, folder: str, was: str, now: str) -> Pair | None:
        """A folder in both commits, of which `was` and `now` name what is in it; None if the old one is not there.

        Git is asked for a folder of more than a page.
        """
        folders, source = self.source.folders, self.source
        if not folders.knows(folder, self.old):
            before = source.kept(was, self.old, folder, PAGE if folders.can_be_asked else None)
            if before is None or len(before) < PAGE:
                return before if before is None else Pair(before, source.kept(now, self.new, folder) or {})
        found = folders.difference(folder, self.old, self.new)
        pair = self._with_sizes(found) if found else None
        if pair is not None:
            return pair
        before = source.kept(was, self.old, folder)
        return before if before is None else Pair(before, source.kept(now, self.new, folder) or {})

    def _with_sizes(self, found: FolderDifference) -> Pair | None:
        """The differences from git, with sizes from the API; None if the API does not know one of these files.

        A name that is not UTF-8 cannot be asked for.
        """
        here = [path for path, item in found.after.items() if item.mode != FOLDER]
        asked = [*here, *chain.from_iterable(found.below.values())]
        if not all(map(is_text, [*asked, *found.after])):
            return None
        files = {file.path: file for file in self.source.files_at(asked, self.new)}
        if not files.keys() >= set(here):
            return None
        come = {
            path: [files[one] for one in below] for path, below in found.below.items() if files.keys() >= set(below)
        }
        after = {path: files.get(path) or item_at(path, item) for path, item in found.after.items()}
        return Pair({path: item_at(path, item) for path, item in found.before.items()}, after, come)

    def compare(self, pair: Pair, folder: str = "") -> Iterator[Change]:
        """The differences in a folder, and below."""
        gone, come = self.below(pair, folder)
        for path in sorted(pair.before.keys() | pair.after.keys()):
            was, now = pair.before.get(path), pair.after.get(path)
            if was and now and object_id(was) == object_id(now) and type(was) is type(now):
                continue
            if isinstance(was, RepoFolder) and isinstance(now, RepoFolder):
                yield from self.compare(self.pair(path, was.tree_id, now.tree_id) or Pair({}, {}), path)
                continue
            yield from map(removed, gone[path] if path in gone else self.files_of(was, self.old))
            yield from map(added, come[path] if path in come else self.files_of(now, self.new))

    def below(self, pair: Pair, folder: str) -> tuple[Below, Below]:
        """The files below folders that go, and below those that come, by folder; the others are asked one by one."""
        if pair.come is not None:
            return {}, pair.come
        gone = self.listed(folder, pair.before, pair.after, self.old)
        return gone, self.listed(folder, pair.after, pair.before, self.new)

    def listed(self, folder: str, there: Listing, elsewhere: Listing, commit: str) -> Below:
        """The files below each folder in `folder` that is only `there`, from one listing of everything in `folder`.

        Empty where that takes more requests than a listing of each.
        """
        found: dict[str, list[RepoFile]] = {
            path: [] for path, item in there.items() if isinstance(item, RepoFolder) and path not in elsewhere
        }
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
        """The file itself, or the files below a folder."""
        if isinstance(item, RepoFile):
            yield item
        elif item is not None:
            yield from self.source.walk(commit, item.path)


def object_id(item: RepoFile | RepoFolder) -> str:
    """The id of what lies at a path; equal ids are equal contents."""
    return item.blob_id if isinstance(item, RepoFile) else item.tree_id


def item_at(path: str, item: TreeEntry) -> RepoFile | RepoFolder:
    """What git has at a path; the size is not known."""
    return tree_item(
        {"type": "directory" if item.mode == FOLDER else "file", "path": path, "oid": item.oid.hex(), "size": 0}
    )


def tree_item(row: Mapping[str, Any]) -> RepoFile | RepoFolder:
    """A row of a listing."""
    made: type[Any] = RepoFile if row["type"] == "file" else RepoFolder
    item: RepoFile | RepoFolder = made(**row)
    return item


def added(item: RepoFile) -> Change:
    """A file as it is now."""
    return named_change(item.path, item.lfs.sha256 if item.lfs else item.blob_id, item.size)


def removed(item: RepoFile) -> Change:
    """A file that is gone."""
    return named_change(item.path, None, 0)
