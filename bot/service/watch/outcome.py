"""The outcomes of one pass, as text for people and as a note of each failure for the next try."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.errors import BotError, LeaseLost
from bot.platforms.writes import check_held
from bot.publishing.plan import Plan
from bot.reporting.escape import visible
from bot.service.context import WatchContext
from bot.service.items import Item, reason_of, wait_after

OutcomeName = Literal["published", "unchanged", "rejected", "held", "failed"]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a pass for one subject, such as a row or a folder; `status` is the exit status that it means."""

    outcome: OutcomeName
    subject: str
    text: str
    status: int = 0


@dataclass
class Report:
    """Collects the outcomes of one pass, and notes in the store why items failed.

    `written` counts the repositories that were written to, at targets with a limit of them.
    """

    context: WatchContext
    outcomes: list[Outcome] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)

    def say(self, outcome: OutcomeName, subject: str, text: str, status: int = 0) -> None:
        """Note how something ended."""
        self.outcomes.append(Outcome(outcome, subject, text, status))

    def attempt(
        self, items: Sequence[Item], call: Callable[[], object], *, finish: bool = True, subject: str = ""
    ) -> None:
        """Do something for items: where it fails, all of them are tried again later, and the caller goes on.

        What is done in every pass has no item: its failure is told of its `subject`. Raises LeaseLost.
        """
        check_held()
        try:
            call()
        except LeaseLost:
            raise
        except Exception as failure:  # noqa: BLE001 - one thing never stops the others
            for item in items:
                self.fail(item, failure)
            if not items and subject:
                self.say_failed(subject, failure)
        else:
            if finish:
                self.context.store.finish(items)

    def fail(self, item: Item, failure: Exception) -> None:
        """Note that an item failed, and when it is tried again. Raises LeaseLost: then the item did not fail."""
        check_held()
        self.context.store.fail(item, reason_of(failure), self.context.clock() + wait_after(item.attempts, failure))
        self.say_failed(item.name, failure)

    def say_failed(self, subject: str, failure: Exception) -> None:
        """Say that something failed; the log has the traceback of an error that is not a BotError."""
        if not isinstance(failure, BotError):
            log.error("%s: %s failed", self.context.name, visible(subject), exc_info=failure)
        self.say("failed", subject, reason_of(failure), failure.status if isinstance(failure, BotError) else 1)
