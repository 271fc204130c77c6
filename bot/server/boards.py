"""The pages of the boards below `/board/<watch>/`, made from the state: a visitor costs no request to a service.

They are the bytes that `site` writes, but for the comparison of rows, and for a link to the list of the boards, which
is the page `/board/`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from threading import Lock, Thread

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.pages.compare_page import compare_page
from bot.pages.site import Site
from bot.publishing.entry import Entry
from bot.server.answers import (
    Page,
    answer_page,
    message_page,
    operator_page,
    page_of,
    page_route,
    type_of,
    unknown_page,
)
from bot.service.publish.boards import board_content
from bot.service.settings.config import Watch
from bot.service.store.boards import StoredBoard
from bot.service.store.memory import MODELS_MOVED
from bot.service.store.state import Store

PAGES = 256  # of one board that are kept for the next visitor
MOST_ROWS_KEPT = 20_000  # of all boards together that are kept, but for the one that was asked for last
FIRST_PAGE = "index.html"
COMPARE = "compare.html"
FIRST_ROWS = 3  # of each board in the list of boards
log = logging.getLogger(__name__)
LONGEST_QUERY = 2_000  # letters of a query that names rows


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A board in the list of boards: its name in addresses, its newest change, its first rows.

    `doubts` says of rows to look at why, and `ranks` what chance leaves them, by their keys; None until the board's
    pages are made.
    """

    name: str
    declared: Leaderboard
    rows: int
    first: list[Entry]
    changed: str
    doubts: Mapping[str, Sequence[str]] | None
    ranks: Mapping[str, str] | None


@lru_cache(PAGES)
def _declared(declaration: str, name: str) -> Leaderboard:
    return parse_leaderboard(declaration, name, name)


@dataclass
class ShownBoard:
    """One state of a board, with its pages that were asked for last."""

    target: str
    kept: StoredBoard
    site: Site

    def __post_init__(self) -> None:
        self._made = lru_cache(PAGES)(lambda path: page_of(self.site[path]))

    @cached_property
    def doubts(self) -> dict[str, list[str]]:
        """By key the rows that have a mark, each with what it says."""
        content = self.site.content
        return {row.entry.key: said for row in content.board.rows if (said := content.doubts(row.entry))}

    @cached_property
    def ranks(self) -> dict[str, str]:
        """The range of ranks of each row, by its key."""
        return {row.entry.key: row.ranks for row in self.site.content.board.rows}

    def page(self, path: str) -> Page | None:
        """A page of the site, None if there is none at this path."""
        try:
            return self._made(path)
        except KeyError:
            return None


@dataclass
class BoardCache:
    """The boards of all watches. A board that moved is made again aside; until it is ready, the old one is shown.

    The first board of a watch has the watch's name; that of its second target is called `<watch>@2`, and so on.
    """

    store: Store
    watches: Callable[[], Iterable[Watch]]
    shown: OrderedDict[str, ShownBoard] = field(default_factory=OrderedDict)
    making: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)
    first: Lock = field(default_factory=Lock)

    def names(self, watch: Watch) -> dict[str, str]:
        """The names of a watch's boards by target."""
        return {to: name for name, (to, _) in self._named(watch).items()}

    def lines(self) -> list[BoardLine]:
        """What the list of boards says of each. Boards that are not made yet are made aside, if all can be kept."""
        named = [(watch.name, *one) for watch in self.watches() for one in self._named(watch).items()]
        counts = [self.store.of(watch).boards.count_rows(target) for watch, _, (target, _) in named]
        for watch, name, (target, kept) in named:
            if name not in self.shown and sum(counts) <= MOST_ROWS_KEPT:
                self._make_aside(name, watch, target, kept)
        return [
            BoardLine(
                name,
                _declared(kept.declaration, kept.leaderboard),
                rows,
                boards.first(target, FIRST_ROWS),
                boards.changed(target),
                shown.doubts if shown else None,
                shown.ranks if shown else None,
            )
            for (watch, name, (target, kept)), rows in zip(named, counts, strict=True)
            for boards, shown in [(self.store.of(watch).boards, self.shown.get(name))]
        ]

    def page(self, name: str, path: str) -> Page | None:
        """A page of a watch's board, None if there is none."""
        board = self.board(name)
        return None if board is None else board.page(path or FIRST_PAGE)

    def board(self, name: str) -> ShownBoard | None:
        """The board of this name, None if nothing is known of one."""
        found = self._kept(name)
        if found is None:
            self.shown.pop(name, None)
            return None
        with self.lock:
            shown = self.shown.get(name)
            if shown is not None:
                self.shown.move_to_end(name)
        if shown is None or shown.target != found[1]:
            with self.first:  # all who wait for the first one wait for the same
                known = self.shown.get(name)
                return known if known is not None and known.target == found[1] else self._make(name, *found)
        if shown.kept != found[2]:
            self._make_aside(name, *found)
        return shown

    def _kept(self, name: str) -> tuple[str, str, StoredBoard] | None:
        """The watch and the target of a board, and its stored state."""
        first = name.partition("@")[0]
        watch = next((watch for watch in self.watches() if watch.name == first), None)
        found = None if watch is None else self._named(watch).get(name)
        return None if found is None else (first, *found)

    def _named(self, watch: Watch) -> dict[str, tuple[str, StoredBoard]]:
        """The target and the stored state of each board of a watch, by the board's name."""
        found: dict[str, tuple[str, StoredBoard]] = {}
        for place, target in enumerate(watch.targets, 1):
            state = self.store.of(watch.name)
            kept = state.boards.at(target.to)
            if kept is not None and kept.declaration and state.boards.count_rows(target.to):
                kept = replace(kept, models=str(state.recall(MODELS_MOVED) or ""))
                found[f"{watch.name}@{place}" if found else watch.name] = (target.to, kept)
        return found

    def _make_aside(self, name: str, watch: str, target: str, kept: StoredBoard) -> None:
        with self.lock:
            if name in self.making:
                return
            self.making.add(name)

        def make() -> None:
            try:
                self._make(name, watch, target, kept)
            except Exception:
                log.exception("%s: the board cannot be shown as it is now; the one from before is", name)
            finally:
                self.making.discard(name)

        Thread(target=make, name=f"board {name}", daemon=True).start()

    def _make(self, name: str, watch: str, target: str, kept: StoredBoard) -> ShownBoard:
        source = next(one.source for one in self.watches() if one.name == watch)
        content = board_content(self.store.of(watch), target, kept, source)
        shown = ShownBoard(target, kept, Site(content))
        shown.page(FIRST_PAGE)
        with self.lock:
            self.shown[name] = shown
            self.shown.move_to_end(name)
            while (
                len(self.shown) > 1
                and sum(len(one.site.content.board.rows) for one in self.shown.values()) > MOST_ROWS_KEPT
            ):
                self.shown.popitem(last=False)
        return shown


def board_routes(boards: BoardCache) -> list[Route]:
    """The routes of all boards."""

    def find(request: Request, watch: str, path: str) -> Page | None:
        if path != COMPARE or len(request.scope["query_string"]) > LONGEST_QUERY:
            return boards.page(watch, path)
        board, query = boards.board(watch), request.query_params  # `?rows=a,b`, or the form's `?row=a&row=b`
        asked = [*query.getlist("row"), *(name for text in query.getlist("rows") for name in text.split(","))]
        return page_of(compare_page(board.site.content, asked)) if board else None

    def listed(_: Request) -> bytes:
        return operator_page("boards.html", "board/", boards=boards.lines())

    async def page(request: Request) -> Response:
        watch, path = request.path_params["watch"], request.path_params["path"]
        found = await run_in_threadpool(find, request, watch, path)
        if found is None and not path and any(one.name == watch for one in boards.watches()):
            return message_page(
                request, 404, "No row yet", f"The board of {watch} shows its first row once it is merged."
            )
        if found is None:
            return unknown_page(request)
        return answer_page(request, found, type_of(path or FIRST_PAGE))

    async def to_folder(request: Request) -> Response:
        # The dot keeps a name such as `http:evil.example` a name: alone it would be another site's address.
        return RedirectResponse(f"./{request.path_params['watch']}/", 308)

    async def to_list(_: Request) -> Response:
        return RedirectResponse("board/", 308)

    return [
        Route("/board", to_list),
        Route("/board/", page_route(listed)),
        Route("/board/{watch}", to_folder),
        Route("/board/{watch}/{path:path}", page),
    ]
