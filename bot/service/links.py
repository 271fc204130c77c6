"""Where the rows of a source can be seen at the targets: the open requests that propose them."""

from __future__ import annotations

from collections.abc import Iterable

from bot.publishing.entry import entry_path
from bot.publishing.publication import CurrentState, Marker
from bot.reporting.escape import code
from bot.service.context import WatchContext
from bot.service.desired import rolling_mark

MOST = 20  # rows of which requests are looked for


def request_links(context: WatchContext, keys: Iterable[str]) -> list[str]:
    """A link to each open request that proposes one of these rows, as Markdown."""
    found: dict[str, None] = {}
    board = context.leaderboard.id
    for target, settings in context.targets:
        if settings.form == "comment":
            continue
        rolling = target.read_state(rolling_mark(board), ())
        for key in list(keys)[:MOST]:
            state = target.read_state(Marker("entry", key, board), (entry_path(key),))
            found |= dict.fromkeys(_links(state, rolling, entry_path(key), target.name))
    return list(found)


def _links(state: CurrentState, rolling: CurrentState, path: str, name: str) -> list[str]:
    request = state.request
    if request is None and rolling.request is not None and path in rolling.request.files:
        request = rolling.request
    if request is None:
        return []
    where = f"[request {request.name}]({request.url})" if request.url else f"request {code(request.name)}"
    return [f"{where} at {code(name)}"]
