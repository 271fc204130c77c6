"""The last webhook deliveries, for the page: their event and the answer to them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock, Timer
from time import time

from bot.errors import StateUnavailable
from bot.reporting.escape import brief
from bot.server.models import DeliveryView, moment
from bot.service.store.deliveries import KEPT_DELIVERIES, Deliveries, StoredDelivery
from bot.service.watch.event import Event

LONGEST = 200  # letters of a name
SOON = 1.0  # seconds after which new deliveries are written into the state
TAKEN = 202
# What the delivery of the running request told of, and whether it hinted a watch; None for a stranger's.
_told: ContextVar[tuple[Event, bool] | None] = ContextVar("told", default=None)


@dataclass
class DeliveryLog:
    """Remembers the last deliveries, with a store those to every process; strangers' are only counted, by answer.

    Nothing here waits for the state: a delivery is answered at once, and written soon after.
    """

    store: Deliveries | None = None
    clock: Callable[[], float] = time
    refused: Counter[int] = field(default_factory=Counter)
    _unwritten: deque[StoredDelivery] = field(default_factory=lambda: deque(maxlen=KEPT_DELIVERIES))
    _lock: Lock = field(default_factory=Lock)  # held for a moment only
    _writing: Lock = field(default_factory=Lock)
    _timer: Timer | None = None

    @staticmethod
    def listen(take: Callable[[Event], bool]) -> Callable[[Event], bool]:
        """A function that takes events, and remembers the last one until the delivery is answered."""

        def listening(event: Event) -> bool:
            is_taken = take(event)
            _told.set((event, is_taken))
            return is_taken

        return listening

    def note(self, answer: int) -> None:
        """Remember the delivery that is answered now."""
        event, is_taken = _told.get() or (None, False)
        _told.set(None)
        if answer != TAKEN:
            self.refused[answer] += 1
            return
        repository = brief(event.repository, LONGEST) if event else ""
        kind = brief(f"{event.scope} {event.action}".strip(), LONGEST) if event else ""
        with self._lock:
            self._unwritten.append(StoredDelivery(self.clock(), answer, repository, kind, is_taken))
            if self.store is not None and self._timer is None:
                self._timer = Timer(SOON, self.write)
                self._timer.daemon = True
                self._timer.start()

    def write(self) -> None:
        """Write what came into the state; where that cannot be, it is kept for the next time."""
        if self.store is None:
            return
        with self._writing:
            with self._lock:
                came, self._timer = list(self._unwritten), None
                self._unwritten.clear()
            try:
                if came:
                    self.store.add_deliveries(came)
            except StateUnavailable:
                with self._lock:
                    self._unwritten.extendleft(reversed(came))

    def newest(self) -> list[DeliveryView]:
        """All that are remembered, the newest first. Raises StateUnavailable."""
        self.write()
        known = self.store.deliveries() if self.store is not None else []
        return [
            DeliveryView(moment(one.at) or "", one.answer, one.repository, one.event, one.is_taken)
            for one in (*reversed(list(self._unwritten)), *known)
        ]
