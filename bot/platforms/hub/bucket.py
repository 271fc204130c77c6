"""A bucket of the Hub as a source: files that can change at any time, without commits.

What stands for a commit is a digest of a listing: of the paths and of the ids of their contents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import IO, Any, ClassVar, NamedTuple
from urllib.parse import quote

from hf_xet import hash_files  # type: ignore[import-untyped]
from huggingface_hub.utils import parse_datetime  # type: ignore[attr-defined]  # it is loaded when asked for

from bot.errors import Refused, Unavailable
from bot.platforms.caches import Contents
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import SERVICE, HubClient, stream
from bot.platforms.source import Change, LastCommit, Source, named_change
from bot.publishing.entry import MAX_BYTES, kept_path

MOST_FILES = 500_000
LISTINGS = 2  # that are remembered
DIGITS = 40  # of a listing's digest, as a commit's id has


class BucketFile(NamedTuple):
    """A file of a listing: the id of its content, which hf_xet computes, and when it was uploaded (Unix seconds)."""

    oid: str
    size: int
    uploaded: float | None


@dataclass
class BucketSource(Source):
    """Reads one bucket; `listings` are the last ones by their digests, `contents` files as a target keeps them."""

    client: HubClient
    address: HubAddress
    listings: dict[str, dict[str, BucketFile]] = field(default_factory=dict, repr=False)
    contents: MutableMapping[str, bytes] = field(default_factory=Contents, repr=False)
    has_commits: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        return self.address.url

    def head(self) -> str:
        """The digest of what the bucket lists now."""
        where = f"/api/buckets/{self.address.name}/tree"
        found: dict[str, BucketFile] = {}
        for path, file in filter(None, self.client.get_pages(where, listed_file, recursive="true")):
            found[path] = file
            if len(found) > MOST_FILES:
                raise Refused(SERVICE, f"{self.name}: has more than {MOST_FILES:,} files")
        text = "".join(f"{len(path)} {path} {file.oid}\n" for path, file in sorted(found.items()))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
        self.listings.pop(digest, None)  # it may have been uploaded again, with other times
        self.listings[digest] = found
        while len(self.listings) > LISTINGS:
            del self.listings[next(iter(self.listings))]
        return digest

    def knows(self, commit: str) -> bool:
        """Tell whether a listing is remembered."""
        return commit in self.listings

    def contains(self, head: str, commit: str) -> bool:
        """Tell whether two listings are the same: a bucket has no history."""
        return head == commit

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two listings; every file where there is no old one."""
        before = self._listing(old) if old is not None else {}
        after = self._listing(new)
        yield from (named_change(path, None, 0) for path in before.keys() - after.keys())
        for path, file in after.items():
            if path not in before or before[path].oid != file.oid:
                yield named_change(path, file.oid, file.size)

    def _listing(self, digest: str) -> dict[str, BucketFile]:
        if digest not in self.listings:
            raise Unavailable(SERVICE, f"{self.name}: the listing {digest[:12]} is not remembered")
        return self.listings[digest]

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """For each path when it was uploaded; no commit brought it."""
        files = self._listing(commit)
        return {path: LastCommit("", files[path].uploaded) for path in paths if path in files}

    def there(self, paths: Sequence[str], commit: str) -> set[str]:
        """Those of these paths that are files now."""
        ask = self.client.api.get_bucket_paths_info
        return {file.path for file in self.client.read(lambda name: list(ask(name, paths)), self.address.name)}

    def save(self, path: str, commit: str, limit: int, file: IO[bytes], oid: str | None = None) -> bool:
        """Write a file's bytes to an open one; False if it is not there. Raises TooLarge past the limit.

        Raises Unavailable where they are not those that the listing names: somebody changed the file since.
        """
        if {"", ".", ".."}.intersection(path.split("/")):
            return False  # a client would walk up the path of the address
        listed = self.listings.get(commit, {}).get(path)
        wanted = oid or (listed.oid if listed else None)
        url = f"{self.client.endpoint}/buckets/{self.address.name}/resolve/{quote(path, errors='surrogatepass')}"
        where = f"{self.name} {path}"
        with NamedTemporaryFile() as whole:  # its id is computed of a file
            if self.client.patiently(lambda: stream(url, self.client.headers, limit, whole), where) is None:
                return False
            whole.flush()
            size = whole.tell()
            is_same = listed is None or listed.size == size
            if wanted is not None and size:  # the storage has no content for an empty file
                is_same = is_same and hash_files([whole.name])[0].hash == wanted
            if not is_same:
                raise Unavailable(SERVICE, f"{where}: it was changed after it was listed; the next pass lists it again")
            if size <= MAX_BYTES:  # it may be kept at a target
                whole.seek(0)
                data = whole.read()
                self.contents[kept_path(hashlib.sha256(data).hexdigest())] = data
            whole.seek(0)
            copyfileobj(whole, file)
        return True


def listed_file(row: Any) -> tuple[str, BucketFile] | None:
    """One row of a listing; None for a folder."""
    if row["type"] != "file":
        return None
    uploaded = row.get("uploadedAt")
    when = parse_datetime(uploaded).timestamp() if uploaded else None
    return str(row["path"]), BucketFile(str(row["xetHash"]), int(row["size"]), when)
