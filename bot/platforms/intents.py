"""Intended writes: stored before a write, so that the successor of a killed process knows what may land."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Intend = Callable[[str, float], AbstractContextManager[object]]


def nobody_else(_: str, __: float) -> AbstractContextManager[object]:
    """One process writes, and remembers nothing."""
    return nullcontext()


def held(intend: Intend, place: str, text: str, seconds: float) -> AbstractContextManager[object]:
    """Hold what a text of the bot is about while it is written at a place; raises Unsettled where another process may.

    The one that held it may have been killed: what it sent shows within these seconds, or never.
    """
    from bot.publishing.publication import find_marker  # only who writes loads it: it takes most of a command's start

    mark = find_marker(text)
    return nullcontext() if mark is None else intend(f"{place} {mark.render()}", seconds)
