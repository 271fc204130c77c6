"""Read very many files of a Hub repository: by one git fetch, and by the API for files that git cannot give."""

from __future__ import annotations

import fcntl
import hashlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Unavailable
from bot.platforms.digest import check_content
from bot.platforms.git.fetch import FetchedCommit, fetched, is_fetched
from bot.platforms.hub.address import HubAddress
from bot.platforms.net import bulk_work
from bot.platforms.source import Change, LastCommit, Source

MANY = 500  # files beyond which one fetch costs less than a request for each
POINTER = b"version https://git-lfs.github.com/spec/v1\n"  # the beginning of a pointer to a large file in git
GIT_ID = 40  # digits of the object id of a file that git has itself
SLOTS = 4  # processes that may read one repository at once
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BulkSource:
    """A source of which one commit was fetched: its files come from the disk, all else from the source itself."""

    source: Source
    copy: FetchedCommit

    @property
    def name(self) -> str:
        """Its name in evidence and on pages."""
        return self.source.name

    def head(self) -> str:
        """The commit at main."""
        return self.source.head()

    def knows(self, commit: str) -> bool:
        """Tell whether a commit is still there."""
        return self.source.knows(commit)

    def changes(self, old: str | None, new: str) -> Iterator[Change]:
        """The files that differ between two commits."""
        yield from self.source.changes(old, new)

    def in_bulk(self, commit: str, count: int) -> AbstractContextManager[Source]:
        """The same: it is prepared."""
        del commit, count
        return nullcontext(self)

    def touched(self, paths: list[str], commit: str) -> dict[str, LastCommit]:
        """The commit that last touched each path: a shallow copy has no history, so the service is asked."""
        return self.source.touched(paths, commit)

    def read(self, path: str, commit: str, limit: int, oid: str | None = None) -> bytes | None:
        """A file's bytes: from the copy, or as the source gives them where git has only a pointer, or nothing."""
        if commit != self.copy.commit or (oid is not None and len(oid) != GIT_ID):
            return self.source.read(path, commit, limit, oid)  # a longer id is that of a file outside git
        data = self.copy.read(path, limit, oid)
        if data is None or data.startswith(POINTER):
            return self.source.read(path, commit, limit, oid)
        return check_content(data, oid, "git", f"{self.name} {path}")


@contextmanager
def fetched_source(
    source: Source, address: HubAddress, web: str, token: str | None, commit: str, *, cache: Path, is_many: bool
) -> Iterator[Source]:
    """The source with all files of one commit fetched below `cache`; the source itself where git cannot bring them.

    Where they are not many, only a copy of this commit is used that a killed process left; another one goes.
    """
    with ExitStack() as stack:
        if is_many:
            stack.enter_context(bulk_work())
        folder = stack.enter_context(_slot(address, cache))
        copy = None
        try:
            if folder is not None and (is_many or is_fetched(folder, commit)):
                copy = stack.enter_context(fetched(folder, web, commit, token))
        except (Unavailable, OSError) as failure:
            log.warning("%s is read file by file: %s", source.name, failure)
        yield BulkSource(source, copy) if copy else source


def has_copy(address: HubAddress, cache: Path) -> bool:
    """Tell whether a copy of the repository lies below `cache`: one that is in use, or that a killed process left."""
    return any(folder.is_dir() for folder in _folders(address, cache))


def _folders(address: HubAddress, cache: Path) -> list[Path]:
    name = hashlib.sha256(address.url.encode()).hexdigest()[:20]
    return [cache / "git" / f"{name}-{number}" for number in range(SLOTS)]


@contextmanager
def _slot(address: HubAddress, cache: Path) -> Iterator[Path | None]:
    """A folder of the cache for this repository that no other process uses, None if there is none."""
    for folder in _folders(address, cache):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock = folder.with_suffix(".lock").open("a")
        except OSError:
            break
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield folder
            return
    yield None
