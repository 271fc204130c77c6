"""Close duplicates under one mark: two processes may write the same at the same moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.publishing.publication import Marker

REASON = "Two processes wrote this at the same time; {kept} stays."


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A later text of the bot with the mark of an earlier one; `name` and `kept` are as the platform names them."""

    kind: Literal["request", "discussion", "comment"]
    mark: Marker
    name: str
    kept: str


def later_ones(
    kind: Literal["request", "discussion", "comment"], marked: Iterable[tuple[Marker, str]]
) -> list[Duplicate]:
    """All but the first of each mark; `marked` are open ones, oldest first, each with its name."""
    kept: dict[Marker, str] = {}
    found: list[Duplicate] = []
    for mark, name in marked:
        first = kept.setdefault(mark, name)
        if first != name:
            found.append(Duplicate(kind, mark, name, first))
    return found
