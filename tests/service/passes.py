"""A pass over a watch, as stories make it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.service.context import WatchContext
from bot.service.watch.outcome import Outcome
from bot.service.watch.settle import run_pass


def settle(context: WatchContext, *, everything: bool = True) -> Sequence[Outcome]:
    """Bring one watch in step; failed items are tried again at once."""
    return run_pass(context, everything=everything).outcomes
