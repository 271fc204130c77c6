"""Ask git how a long folder differs between two commits, because the API lists it page by page.

One answer of git holds the whole folder, and where the older one is kept, only the difference. No file comes this way,
nothing is written to the disk, and the git program has no part in it. Whatever goes wrong, the API is asked instead.
"""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from huggingface_hub.utils import get_session, hf_raise_for_status  # type: ignore[attr-defined]

from bot.errors import Refused, Stale, Unavailable
from bot.platforms.git import protocol
from bot.platforms.git.packs import Objects
from bot.platforms.git.stream import BoundedStream
from bot.platforms.git.trees import FOLDER, SUBMODULE, Tree, TreeEntry, difference, find, items_of, read_tree
from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.errors import SERVICE, hub_errors
from bot.platforms.net import within
from bot.platforms.source import TooLarge

MOST = 100_000_000  # bytes of one answer, and of the folders in it: more than a million entries
HELD, HELD_BYTES = 4, 32_000_000  # folders that are kept, and the length beyond which one is not
ROOM = 20_000_000  # characters of the paths below new folders
PAUSE = 600.0  # seconds in which the API is asked after git failed
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeldFolder:
    """A folder as it was at a commit, with it and those above it by their ids."""

    commit: str
    way: dict[bytes, bytes]
    tree: Tree


@dataclass
class Held:
    """What is kept of a repository's folders between two passes: long ones by path, and whether git can be asked."""

    folders: dict[str, HeldFolder] = field(default_factory=dict, repr=False)
    can: bool | None = None
    silent_until: float = 0.0


@dataclass(frozen=True, slots=True)
class FolderDifference:
    """The entries of a folder, by their full paths, that are not the same in both commits.

    `below` are the paths of the files below new folders, for those of which all folders came.
    """

    before: dict[str, TreeEntry]
    after: dict[str, TreeEntry]
    below: dict[str, list[str]]


@dataclass
class LongFolders:
    """The long folders of one repository, over git."""

    client: HubClient
    address: HubAddress
    held: Held

    @property
    def can_be_asked(self) -> bool:
        """Tell whether it is worth a try."""
        return self.held.can is not False and time.monotonic() >= self.held.silent_until

    def knows(self, folder: str, commit: str) -> bool:
        """Tell whether the folder is kept as it is at a commit: it is a long one."""
        held = self.held.folders.get(folder)
        return held is not None and held.commit == commit

    def difference(self, folder: str, old: str, new: str) -> FolderDifference | None:
        """In what a folder that is in both commits differs; None if git cannot tell, and the API has to."""
        try:
            with within(self.client.deadline, self.client.timeout), hub_errors(self.address.url):
                return self._difference(folder, old, new) if self.can_be_asked and self._can() else None
        except (Unavailable, Refused, Stale, TooLarge) as failure:
            self.held.silent_until = time.monotonic() + PAUSE
            log.warning("%s: long folders are listed page by page: %s", self.address.url, failure)
            return None

    def _can(self) -> bool:
        """Tell whether the server leaves out files where it is asked to; it says so once."""
        if self.held.can is None:
            with self._asked("GET", f"info/refs?service={protocol.SERVICE}") as answer:
                takes = protocol.read_abilities(answer).get("fetch", [])
            self.held.can = {"shallow", "filter"} <= set(takes)
        return self.held.can

    def _difference(self, folder: str, old: str, new: str) -> FolderDifference:
        held = self.held.folders.get(folder) if self.knows(folder, old) else None
        if held is None:
            way = self._walked(folder, old, Objects(MOST))
            held = HeldFolder(old, way.trees, read_tree(way.last))
        objects = Objects(MOST, dict(held.way))
        way = Way(folder, new)
        with self._pack(new, old) as pack:
            for _ in objects.read(pack):
                way.go_on(objects)
        if not way.is_whole:  # it came as a difference to something that we have not
            way = self._walked(folder, new, objects)
        before, after, tree = difference(held.tree, way.last)
        self._keep(folder, HeldFolder(new, way.trees, tree))
        was, now = named(folder, before), named(folder, after)
        return FolderDifference(was, now, files_below(objects.trees, now, was))

    def _walked(self, folder: str, commit: str, objects: Objects) -> Way:
        """The way to a folder, of which the rest of the answer is not read."""
        way = Way(folder, commit)
        with self._pack(commit) as pack:
            for _ in objects.read(pack):
                if way.go_on(objects):
                    return way
        raise ValueError(f"git did not send {folder or 'the top folder'} of {commit[:12]}")

    def _keep(self, folder: str, held: HeldFolder) -> None:
        kept = self.held.folders
        kept.pop(folder, None)
        if sum(map(len, held.way.values())) <= HELD_BYTES:
            while len(kept) >= HELD:
                kept.pop(next(iter(kept)), None)
            kept[folder] = held

    @contextmanager
    def _pack(self, want: str, have: str | None = None) -> Iterator[BoundedStream]:
        body = protocol.fetch_request(want, have)
        with self._asked("POST", protocol.SERVICE, body) as answer:
            pieces = protocol.pack_in(answer)
            yield BoundedStream(pieces, MOST)
            next(pieces, None)  # what was read to its end leaves the connection to the next call

    @contextmanager
    def _asked(self, method: str, where: str, body: bytes | None = None) -> Iterator[BoundedStream]:
        headers = {**self.client.headers, **protocol.HEADERS}
        if "authorization" in headers:
            secret = f"leaderboard-bot:{headers['authorization'].partition(' ')[2]}".encode()
            headers["authorization"] = f"Basic {base64.b64encode(secret).decode()}"
        if body is not None:
            headers["content-type"] = f"application/x-{protocol.SERVICE}-request"
        url = f"{self.client.web(self.address)}.git/{where}"
        with get_session().stream(method, url, headers=headers, content=body) as response:
            hf_raise_for_status(response)
            if response.headers.get("content-encoding", "identity") != "identity":
                raise Refused(SERVICE, "git sent a compressed answer, but the bot asked for a plain one")
            raw = response.iter_raw()
            yield BoundedStream(raw, MOST)
            next(raw, None)


@dataclass
class Way:
    """The folders from the top of a commit down to one of them, as far as they came, by their ids."""

    folder: str
    commit: str
    trees: dict[bytes, bytes] = field(default_factory=dict)
    _next: bytes | None = None

    @property
    def names(self) -> list[str]:
        """The folders below the top."""
        return self.folder.split("/") if self.folder else []

    @property
    def is_whole(self) -> bool:
        """Tell whether the folder itself came."""
        return len(self.trees) > len(self.names)

    @property
    def last(self) -> bytes:
        """The last folder that came."""
        return next(reversed(self.trees.values()))

    def go_on(self, objects: Objects) -> bool:
        """Go down as far as folders came, and tell whether all did. Raises ValueError if there is no such folder."""
        self._next = self._next or objects.tops.get(bytes.fromhex(self.commit))
        while not self.is_whole and self._next in objects.trees:
            self.trees[self._next] = objects.trees[self._next]
            if not self.is_whole:
                item = find(self.last, self.names[len(self.trees) - 1])
                if item is None or item.mode != FOLDER:
                    raise ValueError(f"{self.folder} is not a folder")
                self._next = item.oid
        return self.is_whole


def named(folder: str, items: dict[str, TreeEntry]) -> dict[str, TreeEntry]:
    """The entries by their full paths; a repository instead of a folder (a submodule) is left out."""
    start = f"{folder}/" if folder else ""
    return {f"{start}{name}": item for name, item in items.items() if item.mode != SUBMODULE}


def files_below(
    trees: Mapping[bytes, bytes], new: Mapping[str, TreeEntry], old: Mapping[str, TreeEntry]
) -> dict[str, list[str]]:
    """The paths of the files below each folder that is new, for those of which every folder is among `trees`.

    It ends at ROOM characters: folders may hold each other in a way that a few make endless many paths.
    """
    found: dict[str, list[str]] = {}
    room = ROOM
    for path, item in new.items():
        if item.mode == FOLDER and (path not in old or old[path].mode != FOLDER):
            files = _files(trees, path, item.oid, room)
            if files is not None:
                found[path] = files
                room -= sum(map(len, files))
    return found


def _files(trees: Mapping[bytes, bytes], path: str, oid: bytes, room: int) -> list[str] | None:
    found, waiting = list[str](), [(path, oid)]
    while waiting:
        path, oid = waiting.pop()
        data = trees.get(oid)
        if data is None or len(data) > room:
            return None
        for name, item in items_of(data).items():
            below = f"{path}/{name}"
            room -= len(below)
            if item.mode == FOLDER:
                waiting.append((below, item.oid))
            elif item.mode != SUBMODULE:
                found.append(below)
    return sorted(found)
