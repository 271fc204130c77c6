"""Share one request budget among all processes: once a second each tells the others what it learned."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from bot.errors import BotError
from bot.platforms.budget import BUDGETS, Budgets
from bot.service.store import Store

EVERY = 1.0  # seconds between two exchanges; so much may be spent twice meanwhile
log = logging.getLogger(__name__)


@dataclass
class SharedBudgets:
    """Exchanges what is left of the windows with the other processes of one database.

    It has a thread of its own, so that no request waits for the database.
    """

    store: Store
    budgets: Budgets = field(default_factory=lambda: BUDGETS)
    _stopping: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._keep, name="budgets", daemon=True)
        self._thread.start()

    def stop(self, patience: float = 0.0) -> None:
        """End, and wait so many seconds for an exchange that runs: it holds a connection."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(patience)

    def exchange(self) -> None:
        """Learn what the others know, and tell them what is known here. Raises StateUnavailable."""
        now, clock = time.time(), self.budgets.clock()
        told = self.store.allowances(now)
        for key, (limit, remaining, ends) in told.items():
            self.budgets.take_over(key, limit, remaining, ends - now)
        known = {key: (one.limit, one.remaining, now + one.ends - clock) for key, one in self.budgets.left().items()}
        self.store.set_allowances({key: one for key, one in known.items() if one[:2] != told.get(key, ())[:2]})

    def _keep(self) -> None:
        while not self._stopping.wait(EVERY):
            try:
                self.exchange()
            except BotError as failure:
                log.info("budgets are not shared now, trying again: %s", failure)
            except Exception:
                log.exception("budgets are not shared now, trying again")
