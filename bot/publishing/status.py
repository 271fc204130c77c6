"""The status of a row at a target: one value, which the safety catch, the ledger, pages, links and texts go by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.publishing.decisions import RowDecision

Fate = Literal["main", "open", "held", "declined", "waiting", "failed", "refused"]
Place = Literal["main", "open", "declined"]  # where a look found a row: on main, in an open request, in a closed one
NOTHING = "it is neither on main nor proposed"
WAITS = "it waits for its turn"


@dataclass(frozen=True, slots=True)
class RowStatus:
    """What becomes of a row, and why where it is neither on main nor proposed."""

    fate: Fate
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is known of a row that waits: whether a plan holds it, and why the last try failed, "" before the first."""

    is_held: bool = False
    failure: str = ""


def status_of(
    digest: str,
    place: Place | None,
    decided: Iterable[RowDecision] = (),
    waiting: Waiting | None = None,
    refused: str = "",
    *,
    is_plan_declined: bool = False,
) -> RowStatus:
    """The status of an accepted row with this content: the first of these that holds.

    `decided` is what people decided about the row, `refused` why the target cannot have it, `is_plan_declined` whether
    a person declined the plan that holds rows there.
    """
    # A plan comes first: whatever stands there now is what the plan would change, and nothing happens without a person.
    if waiting is not None and waiting.is_held:
        return RowStatus("declined" if is_plan_declined else "held")
    # What stands on main is stronger than what was once decided: a row that was declined and merged later is there.
    if place == "main":
        return RowStatus("main")
    # People closed a request with this very content, left it out of an open one by a command, or took it from main.
    if place == "declined" or any(one.counts_as_declined(digest) for one in decided):
        return RowStatus("declined")
    if place == "open":
        return RowStatus("open")
    # The bot tries by itself, for the first time or again after a failure.
    if waiting is not None:
        return RowStatus("failed", waiting.failure) if waiting.failure else RowStatus("waiting", WAITS)
    # It was tried, and cannot be there as it is: a table without its column, a model without discussions.
    if refused:
        return RowStatus("refused", refused)
    # Nobody can say why it is not there: commands end with 1, and the next pass looks again.
    return RowStatus("failed", NOTHING)
