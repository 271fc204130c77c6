"""What happened last, as the pages tell it: what became of a plan that waits no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.publishing.plan import DIGEST
from bot.server.views import OutcomeView

ANSWERS = ("approved", "declined")
THEN = 20  # outcomes that are shown after an answer


@dataclass(frozen=True, slots=True)
class PastPlan:
    """A plan that waits no more: its last answer, None if none was given here, and what happened `then`, in order."""

    digest: str
    answer: OutcomeView | None
    then: list[OutcomeView]


def past_plan(outcomes: Sequence[OutcomeView], digest: str) -> PastPlan | None:
    """What became of a plan, from all outcomes that are known, the newest first; None if none of them names it."""
    named = [place for place, one in enumerate(outcomes) if f"plan {digest}" in f"{one.subject} {one.text}"]
    if not re.fullmatch(rf"[0-9a-f]{{{DIGEST}}}", digest) or not named:
        return None
    answered = [place for place in named if outcomes[place].outcome in ANSWERS]
    first = answered[0] if answered else named[0] + 1  # without an answer, from where it was named last
    return PastPlan(digest, outcomes[first] if answered else None, list(outcomes[:first])[::-1][:THEN])
