"""What git gives of a Hub repository in few requests: very many files, and what changed in a long folder.

Whatever goes wrong with git, the API is asked instead, with the same result.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bot.errors import Unavailable
from bot.platforms.git.fetch import changed_files, fetched, is_fetched
from bot.platforms.git.source import CopiedSource
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import HubClient
from bot.platforms.net import bulk_work
from bot.platforms.source import Source

MANY = 500  # files beyond which one fetch costs less than a request for each
SLOTS = 4  # processes that may read one repository at once
log = logging.getLogger(__name__)


@contextmanager
def fetched_source(
    source: Source, address: HubAddress, client: HubClient, commit: str, *, is_many: bool
) -> Iterator[Source]:
    """The source with all files of one commit fetched into the cache; the source itself where git cannot bring them.

    Where they are not many, only a copy of this commit is used that a killed process left; another one goes.
    """
    with ExitStack() as stack:
        if is_many:
            stack.enter_context(bulk_work())
        folder = stack.enter_context(_slot(_folders(address, client.cache)))
        copy = None
        try:
            if folder is not None and (is_many or is_fetched(folder, commit)):
                copy = stack.enter_context(fetched(folder, client.web(address), commit, client.token))
        except (Unavailable, OSError) as failure:
            log.warning("%s is read file by file: %s", source.name, failure)
        yield CopiedSource(source, copy, commit) if copy else source


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


def changed_in_folder(
    address: HubAddress, client: HubClient, folder: str, commits: tuple[str, str]
) -> dict[str, str] | None:
    """The files below a folder that differ between two commits, with their object ids at the second, "" for none.

    None if other processes use all places for it. Raises Unavailable if git cannot tell.
    """
    with _slot(_folders(address, client.cache, "-folders")) as place:
        return None if place is None else changed_files(place, client.web(address), client.token, commits, folder)
