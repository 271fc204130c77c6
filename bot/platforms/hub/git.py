"""What git gives of a Hub repository in few requests: very many files, and what changed in a long folder.

Whatever goes wrong with git, the API is asked instead, with the same result.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import Unavailable
from bot.platforms.caches import check_content
from bot.platforms.git.fetch import POINTER, FetchedCommit, changed_files, fetched, is_fetched
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import HubClient
from bot.platforms.net import bulk_work
from bot.platforms.source import CopiedSource, Source

MANY = 500  # files beyond which one fetch costs less than a request for each
GIT_ID = 40  # digits of the object id of a file that git has itself
SLOTS = 4  # processes that may read one repository at once
LONG_FOLDERS = 100  # of a repository that are known to be long
PAUSE = 600.0  # seconds in which the API is asked after git failed
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BulkSource(CopiedSource):
    """A source of which one commit was fetched: its files come from the disk."""

    copy: FetchedCommit

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
        folder = stack.enter_context(_slot(_folders(address, cache)))
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


def _folders(address: HubAddress, cache: Path, kind: str = "") -> list[Path]:
    name = hashlib.sha256(address.url.encode()).hexdigest()[:20]
    return [cache / "git" / f"{name}{kind}-{number}" for number in range(SLOTS)]


@contextmanager
def _slot(folders: Iterable[Path]) -> Iterator[Path | None]:
    """The first of the folders that no other process uses, None if there is none."""
    for folder in folders:
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


@dataclass
class GitMemory:
    """What is known of a repository between two passes: its long folders, and until when git is left alone."""

    long: set[str] = field(default_factory=set)
    silent_until: float = 0.0


@dataclass(frozen=True)
class LongFolders:
    """The long folders of one repository: the API lists them page by page, and git compares them at once."""

    client: HubClient
    address: HubAddress
    memory: GitMemory

    @property
    def can_be_asked(self) -> bool:
        """Tell whether it is worth a try."""
        return time.monotonic() >= self.memory.silent_until

    def changed(self, folder: str, old: str, new: str) -> dict[str, str] | None:
        """The files below a folder that differ between two commits, with their object ids at the second, "" for none.

        None if git cannot tell, and the API has to.
        """
        client, address = self.client, self.address
        with _slot(_folders(address, client.cache, "-folders")) as place:
            if place is None:
                return None
            try:
                found = changed_files(place, client.web(address), client.token, (old, new), folder)
            except Unavailable as failure:
                self.memory.silent_until = time.monotonic() + PAUSE
                log.warning("%s: long folders are listed page by page: %s", address.url, failure)
                return None
        if len(self.memory.long) < LONG_FOLDERS:
            self.memory.long.add(folder)
        return found
