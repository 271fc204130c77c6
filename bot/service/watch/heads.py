"""Look up the main branches of measured models: a few models at a time, each answer kept with its day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from bot.platforms.net import bulk_work
from bot.service.context import WatchContext
from bot.service.store import Store

MOST = 200  # models of one look
LONGEST = 200  # letters of a name; the Hub allows 96
PAUSE, AGE = 3_600.0, 86_400.0  # seconds between two looks, and before a model is looked up again


def is_time(context: WatchContext) -> bool:
    """Tell whether the settings ask for this, and the last look-up was long enough ago."""
    last = float(context.store.cursor(context.name, "heads looked") or 0)
    return context.read_heads is not None and not 0 <= context.clock() - last < PAUSE


def look_up_heads(context: WatchContext, models: Iterable[str]) -> bool:
    """Ask the Hub for the main branches of the models that were not asked for longest; whether any has moved.

    At most MOST in an hour, each once a day, as work that can wait. Raises Unavailable.
    """
    store, name, now = context.store, context.name, context.clock()
    if context.read_heads is None:
        return False
    known = {model: value.split(" ") for model, value in store.cursors(name, "model head").items()}
    looked = {model: float(known[model][1]) if model in known else 0.0 for model in models if _can_be(model)}
    due = sorted((at, model) for model, at in looked.items() if not 0 <= now - at < AGE)[:MOST]
    if not due:
        return False
    store.set_cursor(name, "heads looked", str(now))
    with bulk_work():
        heads = context.read_heads([model for _, model in due])
    today, is_moved = datetime.fromtimestamp(now, UTC).date().isoformat(), False
    for _, model in due:
        head, before = heads.get(model, "-"), known.get(model)
        is_new = before is None or before[0] != head
        since = today if before is None or is_new else before[2]
        store.set_cursor(name, "model head", f"{head} {now} {since}", model)
        is_moved = is_moved or is_new
    if is_moved:
        store.set_cursor(name, "heads moved", str(now))
    return is_moved


def _can_be(model: str) -> bool:
    """Tell whether the Hub could have a model of this name; what strangers write may be no name at all."""
    return 0 < len(model) <= LONGEST and model.isprintable()


def known_heads(store: Store, watch: str) -> Mapping[str, tuple[str, str]]:
    """By model the commit at its main branch, and the day on which it was first seen there."""
    found = store.cursors(watch, "model head").items()
    parts = {model: value.split(" ") for model, value in found}
    return {model: (head, since) for model, (head, _, since) in parts.items() if head != "-"}
