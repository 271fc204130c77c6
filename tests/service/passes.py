"""A pass over a watch, as stories make it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.platforms.platform import Access
from bot.publishing.publication import PostText
from bot.service.context import ContextFactory, WatchContext
from bot.service.settings.config import Settings, open_settings
from bot.service.store.engine import connect
from bot.service.store.memory import LEDGER
from bot.service.store.state import Store, WatchState
from bot.service.watch.outcome import Outcome
from bot.service.watch.settle import run_pass


def open_contexts(path: Path, access: Access, database: str) -> tuple[Settings, ContextFactory]:
    """What the commands open; the story closes the store itself."""
    settings = open_settings(path, access)
    contexts = ContextFactory(access, Store(connect(database)), path.resolve().parent)
    contexts.take(settings)
    return settings, contexts


def settle(context: WatchContext, *, everything: bool = True) -> Sequence[Outcome]:
    """Bring one watch in step; failed items are tried again at once."""
    return run_pass(context, everything=everything).outcomes


def line_of(state: WatchState, target: str) -> str:
    """The line of the last ledger, "" if there is none."""
    known = state.recall(LEDGER, target=target)
    return known.line if known else ""


def shown_rows(text: PostText) -> list[str]:
    """The rows that the text of a request for many names: the model, and its average before and after."""
    rows = [line.split(" | ") for line in text.body.split("\n") if line.startswith("| [")]
    return [f"{cells[0].removeprefix('| [').partition(']')[0]} {cells[1]}" for cells in rows]
