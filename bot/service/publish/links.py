"""Links to the rows of a source at the targets: the open requests that propose them, and where they are once merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.publishing.repeat import label_of
from bot.reporting.escape import code
from bot.service.context import WatchContext
from bot.service.publish.ledger import row_statuses
from bot.service.publish.targets import TARGET_ROWS
from bot.service.watch.outcome import Report

MOST_LINKED = 20  # rows of which requests are looked for


def row_links(context: WatchContext, keys: Iterable[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Links as Markdown: to the open requests that propose these rows, and to where they are, or will be once merged.

    Only for the first ones of very many rows.
    """
    proposed: dict[str, None] = {}
    current: dict[str, None] = {}
    digests = context.state.rows.digests(list(keys)[:MOST_LINKED])
    wanted = {key: digest for key, digest in sorted(digests.items()) if digest}
    for target, settings in context.targets:
        rows = TARGET_ROWS[settings.kind](context, target, settings, Report(context))
        found = rows.find(wanted)
        places = {key: one.place for key, one in found.items() if one.place is not None}
        statuses = row_statuses(context, settings.to, wanted, places)
        for key, one in found.items():
            fate, request = statuses[key].fate, one.request
            if fate == "open" and request is not None:
                where = f"[request {request.name}]({request.url})" if request.url else f"request {code(request.name)}"
                proposed[f"{where} at {code(label_of(one.name))}"] = None
            if fate in {"main", "open"} and one.link:
                current[one.link] = None
    return tuple(proposed), tuple(current)
