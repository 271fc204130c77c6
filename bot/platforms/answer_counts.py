"""Count the answers of services and the remaining budgets of this process, for its metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock


@dataclass
class AnswerCounts:
    """Counts answers by service and status; `remaining` is what the last answer said is left of the budget."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    remaining: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count(self, service: str, status: int, remaining: float | None = None) -> None:
        """Note one answer."""
        with self._lock:
            self.answers[service, str(status)] += 1
            if remaining is not None:
                self.remaining[service] = remaining

    def seen(self) -> tuple[dict[tuple[str, str], int], dict[str, float]]:
        """The counts and what is left, as they are now."""
        with self._lock:
            return dict(self.answers), dict(self.remaining)


ANSWERS = AnswerCounts()
