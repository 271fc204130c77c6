"""Files of sources without commits: who writes a row to a target writes them beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from bot.errors import Refused, Unavailable
from bot.platforms.platform import Access, Opener
from bot.publishing.entry import MAX_BYTES, kept_path


@dataclass(frozen=True)
class Keeper:
    """Brings the files along that rows have a target keep."""

    opener: Opener = field(default_factory=lambda: Opener(Access()))

    def missing(
        self,
        wanted: Mapping[str, tuple[str, str]],
        has: Callable[[Collection[str]], Collection[str]],
        earlier: Callable[[Collection[str]], Mapping[str, bytes]],
    ) -> dict[str, bytes]:
        """Those of the files in `wanted`, see `kept_for`, that the target does not have.

        `has` says which of some paths are there, where the files will be written to, and `earlier` reads those that an
        earlier version of the same request has. Raises Unavailable where a file is not there, or was changed since.
        """
        there = has(list(wanted))
        missing = [path for path in wanted if path not in there]
        known = earlier(missing) if missing else {}
        kept = {path: data for path, data in known.items() if path == _path_of(data)}
        return {path: kept[path] if path in kept else self._read(path, *wanted[path]) for path in missing}

    def _read(self, kept: str, name: str, path: str) -> bytes:
        source = self.opener.source(name)
        if source.has_commits:
            raise Refused(name, f"{path} lies there at a commit, and is not kept")
        data = self.opener.service_cache.blobs.get(kept) or source.read(path, "", MAX_BYTES)
        if data is None or _path_of(data) != kept:
            raise Unavailable(name, f"{path} was changed since the row was made of it; the next pass reads it again")
        return data


def _path_of(data: bytes) -> str:
    return kept_path(hashlib.sha256(data).hexdigest())
