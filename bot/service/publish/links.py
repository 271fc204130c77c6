"""Links to the rows of a source at the targets: the open requests that propose them, and the merged files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from bot.errors import DiscussionsDisabled, Gone
from bot.pages.addresses import usual_page
from bot.platforms.hub.models import HubModels
from bot.platforms.target import Target
from bot.publishing.addresses import model_url
from bot.publishing.entry import entry_path
from bot.publishing.hub_evals.model_layout import model_mark, model_of
from bot.publishing.publication import Marker, Request, rolling_mark
from bot.publishing.repeat import label_of
from bot.reporting.escape import code
from bot.service.context import WatchContext, target_link
from bot.service.settings.config import WatchTarget

Place = tuple[str, Request | None, str]  # the name of a target, a request there, and a link
MOST = 20  # rows of which requests are looked for


def row_links(context: WatchContext, keys: Iterable[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Links as Markdown: to the open requests that propose these rows, and to where they stand, or will once merged.

    Only for the first ones of very many rows.
    """
    proposed: dict[str, None] = {}
    current: dict[str, None] = {}
    for target, settings in context.targets:
        for name, request, link in _places(context, target, settings, list(keys)[:MOST]):
            if request is not None:
                where = f"[request {request.name}]({request.url})" if request.url else f"request {code(request.name)}"
                proposed[f"{where} at {code(label_of(name))}"] = None
            if link:
                current[link] = None
    return tuple(proposed), tuple(current)


def _places(context: WatchContext, target: Target, settings: WatchTarget, keys: Sequence[str]) -> Iterator[Place]:
    """For each row the open request that proposes it, if any, and the link to where it stands once merged."""
    board = context.leaderboard.id
    if isinstance(target, HubModels):
        yield from _models(target, settings, board, keys)
    elif settings.kind == "table":
        yield target.name, target.read_state(rolling_mark(board), ()).request, target_link(settings)
    elif settings.form == "comment":
        yield target.name, None, target_link(settings)
    else:
        rolling = target.read_state(rolling_mark(board), ())
        for key in keys:
            path = entry_path(key)
            state = target.read_state(Marker("entry", key, board), (path,))
            request = state.request
            if request is None and rolling.request is not None and path in rolling.request.files:
                request = rolling.request
            if request is not None or path in state.files:
                page = context.page_link("page", f"board/{_board_name(context, settings)}/{usual_page(key)}")
                yield target.name, request, target_link(settings, path) + (f" ({page})" if page else "")


def _board_name(context: WatchContext, settings: WatchTarget) -> str:
    """The name of a target's board in addresses: that of the watch for the first board, else with its number."""
    boards = [one for _, one in context.targets if one.kind == "entries" and one.form != "comment"]
    number = [one for _, one in context.targets].index(settings) + 1
    return quote(context.name if boards[0] == settings else f"{context.name}@{number}", safe="@")


def _models(target: HubModels, settings: WatchTarget, board: str, keys: Sequence[str]) -> Iterator[Place]:
    """The request at each model that is listed; whether results of the bot stand there is not asked."""
    for model in dict.fromkeys(map(model_of, keys)):
        if settings.models is None or not settings.models.allow(model):
            continue
        try:
            request = target.repository(model).read_state(model_mark(model, board), ()).request
        except (Gone, DiscussionsDisabled):
            continue
        if request is not None:
            yield model, request, f"[{code(model)}]({model_url(model)})"
