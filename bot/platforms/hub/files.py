"""The contents of the files at a target on the Hub: each is fetched once, and kept by its object id."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bot.platforms.hub.changes import added
from bot.platforms.hub.source import HubSource
from bot.publishing.layout import RowFiles, StoredEntries, is_entry_file, parse_entries

FILE_LIMIT = 4_000_000  # bytes of one entry or table at the target
FEW = 3  # paths that are requested one by one before listing pays off
THREADS = 8


@dataclass
class HubFiles:
    """Reads files of one repository.

    `blobs` has the contents that were read before, by object id; `seen` has them by commit and path, None if there
    was no file.
    """

    source: HubSource
    blobs: MutableMapping[str, bytes] = field(repr=False)
    seen: dict[tuple[str, str], bytes | None] = field(default_factory=dict, repr=False)

    def read(self, paths: Sequence[str], commit: str) -> dict[str, bytes]:
        """The bytes of those files that are there, at a commit."""
        unseen = [path for path in paths if (commit, path) not in self.seen]
        if len(unseen) <= FEW:
            found = {path: self.source.read(path, commit, FILE_LIMIT) for path in unseen}
        else:
            found = dict.fromkeys(unseen) | self.read_blobs(self.source.object_ids(unseen, commit), commit)
        self.seen |= {(commit, path): data for path, data in found.items()}
        return {path: data for path in paths if (data := self.seen[commit, path]) is not None}

    def read_blobs(self, oids: Mapping[str, str], commit: str) -> dict[str, bytes]:
        """The bytes of files whose object ids are known: each content is fetched once."""
        found = {oid: data for oid in oids.values() if (data := self.blobs.get(oid)) is not None}
        unknown = {oid: path for path, oid in oids.items() if oid not in found}
        with self.source.in_bulk(commit, len(unknown)) as source, ThreadPoolExecutor(THREADS) as pool:
            fetched = pool.map(lambda oid: source.read(unknown[oid], commit, FILE_LIMIT, oid), unknown)
            for oid, data in zip(unknown, fetched, strict=True):
                found[oid] = self.blobs[oid] = data or b""
        return {path: found[oid] for path, oid in oids.items()}

    def scan(self, commit: str, layout: RowFiles) -> StoredEntries:
        """All entries at a commit, and what stands among them and is none."""
        found = self.source.walk(commit, layout.folder)
        oids = {item.path: added(item).oid or "" for item in found if is_entry_file(item.path, item.size, layout)}
        others = [item.path for item in found if item.path not in oids]
        return parse_entries(self.read_blobs(oids, commit), others, layout)
