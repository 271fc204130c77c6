"""The boards of the watches as the pages show them, made from what the state keeps: a visitor costs no request."""

from __future__ import annotations

import gzip
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock, Thread

from bot.pages.compare_table import compare_live
from bot.pages.site import Site
from bot.service.board_content import board_content
from bot.service.config import Watch
from bot.service.store import KeptBoard, Store

PAGE_BYTES = 64_000_000  # of pages that are kept for the next visitor
SMALL = 500  # bytes that are not worth compressing
FIRST = "index.html"
COMPARE = "compare.html"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of a page, the same compressed where that is worth it, and what names them for a browser's cache."""

    data: bytes
    packed: bytes | None
    etag: str


def page_of(data: bytes) -> Page:
    """A page of these bytes."""
    packed = gzip.compress(data, 6, mtime=0) if len(data) > SMALL else None
    return Page(data, packed, f'W/"{hashlib.sha256(data).hexdigest()[:32]}"')


@dataclass
class ShownBoard:
    """One state of a board, with the pages of it that were asked for, those for longest not asked for dropped first."""

    kept: KeptBoard
    site: Site
    pages: OrderedDict[str, Page] = field(default_factory=OrderedDict)
    size: int = 0
    lock: Lock = field(default_factory=Lock)

    def page(self, path: str) -> Page | None:
        """A page of the site, None where there is none at this path."""
        with self.lock:
            if path in self.pages:
                self.pages.move_to_end(path)
                return self.pages[path]
        try:
            made = page_of(self.site[path])
        except KeyError:
            return None
        with self.lock:
            if path not in self.pages:
                self.pages[path] = made
                self.size += _size(made)
            while self.size > PAGE_BYTES and len(self.pages) > 1:
                _, dropped = self.pages.popitem(last=False)
                self.size -= _size(dropped)
        return made


def _size(page: Page) -> int:
    return len(page.data) + len(page.packed or b"")


@dataclass
class BoardCache:
    """The boards of all watches. A board that moved is made again aside; until it is ready, the old one is shown."""

    store: Store
    watches: Callable[[], Iterable[Watch]]
    shown: dict[str, ShownBoard] = field(default_factory=dict)
    making: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)
    first: Lock = field(default_factory=Lock)

    def names(self) -> list[str]:
        """The watches that have a board."""
        return [watch.name for watch in self.watches() if self._kept(watch) is not None]

    def page(self, name: str, path: str) -> Page | None:
        """A page of a watch's board, None where there is none."""
        board = self.board(name)
        return None if board is None else board.page(path or FIRST)

    def compare(self, name: str, asked: list[str]) -> Page | None:
        """The page that compares the rows that were asked for."""
        board = self.board(name)
        return None if board is None else page_of(compare_live(board.site.content, asked))

    def board(self, name: str) -> ShownBoard | None:
        """The board of a watch, None where nothing is known of one."""
        watch = next((watch for watch in self.watches() if watch.name == name), None)
        found = None if watch is None else self._kept(watch)
        if found is None:
            self.shown.pop(name, None)
            return None
        shown = self.shown.get(name)
        if shown is None:
            with self.first:  # all who wait for the first one wait for the same
                return self.shown.get(name) or self._make(name, *found)
        if shown.kept != found[1]:
            self._make_aside(name, *found)
        return shown

    def _kept(self, watch: Watch) -> tuple[str, KeptBoard] | None:
        """The first target of a watch that has a board with rows, and which board it is."""
        for target in watch.targets:
            kept = self.store.kept_board(watch.name, target.to)
            if kept is not None and kept.declaration and self.store.has_rows(watch.name, target.to):
                return target.to, kept
        return None

    def _make_aside(self, name: str, target: str, kept: KeptBoard) -> None:
        with self.lock:
            if name in self.making:
                return
            self.making.add(name)

        def make() -> None:
            try:
                self._make(name, target, kept)
            except Exception:
                log.exception("%s: the board cannot be shown as it is now; the one from before is", name)
            finally:
                self.making.discard(name)

        Thread(target=make, name=f"board {name}", daemon=True).start()

    def _make(self, name: str, target: str, kept: KeptBoard) -> ShownBoard:
        shown = ShownBoard(kept, Site(board_content(self.store, name, target, kept)))
        shown.page(FIRST)
        self.shown[name] = shown
        return shown
