"""The last deliveries of webhooks, for the page: what each told of, and how it was answered."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import time

from bot.reporting.escape import brief
from bot.server.models import DeliveryView, moment
from bot.service.event import Event

KEPT = 200
LONGEST = 200  # letters of a name
# What the delivery of the running request told of, and whether it hinted a watch; None for a stranger's.
_told: ContextVar[tuple[Event, bool] | None] = ContextVar("told", default=None)


@dataclass
class DeliveryLog:
    """Remembers the last deliveries of this process; of strangers' only when they came, and their answer."""

    clock: Callable[[], float] = time
    seen: deque[DeliveryView] = field(default_factory=lambda: deque(maxlen=KEPT))

    @staticmethod
    def listen(take: Callable[[Event], bool]) -> Callable[[Event], bool]:
        """What takes events, and keeps in mind what it took until the delivery is answered."""

        def listening(event: Event) -> bool:
            is_taken = take(event)
            _told.set((event, is_taken))
            return is_taken

        return listening

    def note(self, answer: int) -> None:
        """Remember the delivery that is answered now."""
        event, is_taken = _told.get() or (None, False)
        _told.set(None)
        repository = brief(event.repository, LONGEST) if event else ""
        kind = brief(f"{event.scope} {event.action}".strip(), LONGEST) if event else ""
        self.seen.append(DeliveryView(moment(self.clock()) or "", answer, repository, kind, is_taken))

    def newest(self) -> list[DeliveryView]:
        """All that are remembered, the newest first."""
        return list(reversed(self.seen))
