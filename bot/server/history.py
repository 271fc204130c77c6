"""The last outcomes for the pages, with equal ones in one line; and the end of plans that no longer wait."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from bot.publishing.plan import DIGEST
from bot.server.views import OutcomeView

ANSWERS = ("approved", "declined")
THEN = 20  # outcomes that are shown after an answer
LINES = 10  # that are shown of a watch
ADDRESS = re.compile(r"https?://\S+")
HOUR = len("2026-03-01T12")


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """Outcomes of one hour with one text: an ellipsis stands for what differs, `id` stays as more come."""

    id: str
    outcome: str
    text: str
    outcomes: list[OutcomeView]

    @property
    def subjects(self) -> dict[str, str]:
        """The subjects, each with the addresses of its text if they are not in `text`."""
        has_own = _differ(self.outcomes)
        return {one.subject: " ".join(ADDRESS.findall(one.text)) if has_own else "" for one in self.outcomes}


def lines_of(outcomes: Sequence[OutcomeView]) -> list[OutcomeLine]:
    """The first lines that tell these outcomes, which are in the order of time, whichever way."""
    found: dict[tuple[str, str, str], list[OutcomeView]] = {}
    for one in outcomes:
        found.setdefault((one.at[:HOUR], one.outcome, _common(one)), []).append(one)
    return [_line(key, some) for key, some in found.items()][:LINES]


def _line(key: tuple[str, str, str], outcomes: list[OutcomeView]) -> OutcomeLine:
    name = f"{crc32(repr(key).encode()):x}"
    return OutcomeLine(name, key[1], key[2] if _differ(outcomes) else outcomes[0].text, outcomes)


def _common(one: OutcomeView) -> str:
    """The text of an outcome without its own parts: its addresses, and its subject unless that is a common word."""
    text = ADDRESS.sub("…", one.text)
    return text.replace(one.subject, "…") if len(one.subject) > 8 else text


def _differ(outcomes: Sequence[OutcomeView]) -> bool:
    return len({one.text for one in outcomes}) > 1


@dataclass(frozen=True, slots=True)
class PastPlan:
    """A plan that no longer waits: its last answer, None if none was given here, and what happened `then`, in order."""

    digest: str
    answer: OutcomeView | None
    then: list[OutcomeView]


def past_plan(outcomes: Sequence[OutcomeView], digest: str) -> PastPlan | None:
    """The end of a plan, from all known outcomes, the newest first; None if none of them names it."""
    named = [place for place, one in enumerate(outcomes) if f"plan {digest}" in f"{one.subject} {one.text}"]
    if not re.fullmatch(rf"[0-9a-f]{{{DIGEST}}}", digest) or not named:
        return None
    answered = [place for place in named if outcomes[place].outcome in ANSWERS]
    first = answered[0] if answered else named[0] + 1  # without an answer, from where it was named last
    return PastPlan(digest, outcomes[first] if answered else None, list(outcomes[:first])[::-1][:THEN])
