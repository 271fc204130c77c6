"""How things ended in one pass: outcomes for people, and the note of each failure for the next try."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.errors import BotError
from bot.publishing.plan import Plan
from bot.reporting.escape import visible
from bot.service.context import WatchContext
from bot.service.items import Item, reason_of, wait_after

OutcomeName = Literal["published", "unchanged", "rejected", "held", "failed"]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended for one subject, such as a row or a folder; `status` is the exit status that it means."""

    outcome: OutcomeName
    subject: str
    text: str
    status: int = 0


@dataclass
class Report:
    """Collects the outcomes of one pass, and notes in the store why items failed."""

    context: WatchContext
    outcomes: list[Outcome] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)

    def say(self, outcome: OutcomeName, subject: str, text: str, status: int = 0) -> None:
        """Note how something ended."""
        self.outcomes.append(Outcome(outcome, subject, text, status))

    def attempt(self, items: Sequence[Item], call: Callable[[], object], *, finish: bool = True) -> None:
        """Do something for items: where it fails, all of them are tried again later, and the caller goes on."""
        try:
            call()
        except Exception as failure:  # noqa: BLE001 - one thing never stops the others
            for item in items:
                self.fail(item, failure)
        else:
            if finish:
                self.context.store.finish(items)

    def fail(self, item: Item, failure: Exception) -> None:
        """Note that an item failed, and when it is tried again; the log has the traceback of what is no BotError."""
        if not isinstance(failure, BotError):
            log.error("%s: %s failed", item.watch, visible(item.name), exc_info=failure)
        reason = reason_of(failure)
        self.context.store.fail(item, reason, self.context.clock() + wait_after(item.attempts, failure))
        self.say("failed", item.name, reason, failure.status if isinstance(failure, BotError) else 1)
