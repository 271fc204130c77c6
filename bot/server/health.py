"""The health of a service, from the last outcomes of its watches and the waiting items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from bot.reporting.escape import brief
from bot.service.items import Item

Counts = Mapping[tuple[str, str], int]  # of items by kind and state
Status = Literal["ok", "degraded", "failed"]
LATE = 4  # settlements that may be missed before a watch is taken for one that does not move
SHOWN = 20  # failing items that are named


@dataclass
class State:
    """The state of one watch: times are seconds since 1970, None for never.

    `settled` is when the last pass ended, `moved` when the last one ended in which anything could be done.
    """

    settled: float | None = None
    moved: float | None = None
    heard: float | None = None
    failure: str = ""


def state_from(text: str | None, before: State) -> State:
    """The state of a watch by what the process said that settled it last; what was heard, this one knows itself."""
    known = json.loads(text or "{}")
    return State(known.get("settled"), known.get("moved"), before.heard, known.get("failure", ""))


def state_text(state: State) -> str:
    """The same as text, for the other processes."""
    return json.dumps({"settled": state.settled, "moved": state.moved, "failure": state.failure})


def has_moved(outcomes: Iterable[str], counts: Counts) -> bool:
    """Tell whether anything could be done in a pass: the source could be looked at, or something ended in a verdict."""
    is_blind = ("source", "failing") in counts
    return not is_blind or any(outcome != "failed" for outcome in outcomes)


def in_state(counts: Counts, state: str) -> int:
    """How many items are waiting, failing or held."""
    return sum(count for (_, found), count in counts.items() if found == state)


def status_of(state: State, failing: int, *, now: float, started: float, every: float) -> Status:
    """The state of a watch: `failed` where nothing moved for long, `degraded` where something cannot be carried out.

    A watch that never settled is not ok; until it is late it is degraded.
    """
    if now - (state.moved or started) >= LATE * every:
        return "failed"
    return "degraded" if state.moved is None or state.failure or failing else "ok"


def overall(statuses: Iterable[Status]) -> Status:
    """The common state of all watches: `failed` only where not one of them moves."""
    found = set(statuses)
    if found <= {"ok"}:
        return "ok"
    return "failed" if found == {"failed"} else "degraded"


def named(items: Sequence[Item]) -> list[Mapping[str, Any]]:
    """The first failing items for people: name, target, reason, tries, and when the next one is."""
    return [
        {
            "item": brief(item.name, 200),
            "target": item.target,
            "reason": brief(item.reason, 500),
            "tries": item.attempts,
            "next": shown(item.due),
        }
        for item in items[:SHOWN]
    ]


def shown(seconds: float | None) -> str | None:
    """A time for people, in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
