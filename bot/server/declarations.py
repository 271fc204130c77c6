"""The declarations of the watches for their pages: read again after a settlement, not for each visitor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from bot.evaluation.leaderboard import Leaderboard
from bot.service.settings.config import Watch

Stamp = tuple[Watch, object]


@dataclass
class Declarations:
    """Keeps the declaration of each watch; `read` reads one, `settled` changes with each settlement of a watch."""

    read: Callable[[Watch], Leaderboard]
    settled: Callable[[str], object]
    known: dict[str, tuple[Stamp, Leaderboard]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def of(self, watch: Watch) -> Leaderboard:
        """The declaration of a watch. Raises what reading it raises, where none was read before."""
        stamp = (watch, self.settled(watch.name))
        with self.lock:
            known = self.known.get(watch.name)
            if known is None or known[0] != stamp:
                known = stamp, self.read(watch)
                self.known[watch.name] = known
            return known[1]
