"""PATHs as people write them in, places to read submissions from out: files and folders here, datasets on the Hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from bot.errors import CallError
from bot.forges.source import Change, Source, TooLarge
from bot.forges.targets import Access
from bot.formats import MAX_BYTES
from bot.pipeline import Submission
from bot.submissions import PATTERN, find_files, place_of, read_submission

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Place:
    """One file: what it is called in reports, how it is read, and where evidence says that it lies.

    `source` and `commit` are "" for a file of this machine.
    """

    name: str
    read: Callable[[], Submission]
    source: str = ""
    path: str = ""
    commit: str = ""


def find_places(paths: Iterable[str], access: Access) -> list[Place]:
    """Every file named, and the result files below each folder named. Raises CallError for what is not there."""
    found: list[Place] = []
    for name in paths:
        if name.startswith("hf://"):
            found += hub_places(name, access)
        else:
            found += [Place(file, _reader(file), path=place_of(file)) for file in find_files([name])]
    return found


def _reader(file: str) -> Callable[[], Submission]:
    return lambda: read_submission(file)


def hub_places(name: str, access: Access) -> Iterator[Place]:
    """The files at an `hf://` address, pinned to the commit that its revision names now."""
    from bot.forges.hub.client import HubClient, parse_address
    from bot.forges.hub.source import HubSource

    address = parse_address(name)
    source = HubSource(HubClient(access.hf_endpoint, access.hf_token, keyless=access.hf_keyless), address)
    commit = _commit(source.refs(requests=True), address.revision or "main", name)
    files = list(source.object_ids([address.path], commit)) if address.path else []
    if not files:
        below = source.walk(commit, address.path)
        files = [item.path for item in below if fnmatchcase(item.path.rpartition("/")[2], PATTERN)]
    if not files:
        raise CallError(f"{name}: there is no such file, and no result file ({PATTERN}) below it")
    touched = source.touched(files, commit)

    def reader(path: str, shown: str) -> Callable[[], Submission]:
        return lambda: replace(read_bounded(source, Change(path, "", 0), commit), path=shown)

    for path in files:
        shown = f"{address.url}@{commit[:12]}/{path}"
        yield Place(shown, reader(path, shown), address.url, path, touched.get(path, commit))


def read_bounded(source: Source, change: Change, commit: str) -> Submission:
    """Read a file within the limit; one that is larger, or gone, is a submission without data."""
    if change.size > MAX_BYTES:
        return Submission(change.path, None, change.size)
    try:
        data = source.read(change.path, commit, MAX_BYTES)
    except TooLarge:
        return Submission(change.path, None, MAX_BYTES + 1)
    return Submission(change.path, data, len(data or b""))


def _commit(refs: dict[str, str], revision: str, name: str) -> str:
    """The commit of a branch, a ref, or a full commit id."""
    if COMMIT.fullmatch(revision):
        return revision
    found = refs.get(f"refs/heads/{revision}") or refs.get(revision)
    if found is None:
        raise CallError(f"{name}: there is no branch {revision!r}; a commit is named by its 40 digits")
    return found
