"""Faults on order: a rule says which requests fail, how and how often."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

WRITES = frozenset({"POST", "PUT", "DELETE"})


@dataclass
class Fault:
    """What befalls a matching request.

    `status` answers without acting, unless `landed`: then the server acts first and answers with
    that status all the same. `reset` cuts the connection (after acting, where `landed`). `body` stands in place of the
    answer, with status 200 where no other is named; `drip` sends it a byte at a time, so many seconds apart.
    `before` runs first: what another process does at that very moment.
    """

    path: str
    method: str = "*"
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    delay: float = 0.0
    reset: bool = False
    landed: bool = False
    body: bytes | None = None
    drip: float = 0.0
    before: Callable[[], object] | None = None

    def matches(self, method: str, path: str) -> bool:
        return self.times != 0 and self.method in {"*", method} and re.search(self.path, path) is not None


class Faults:
    """The faults ordered so far, and a share of requests that fail by chance."""

    def __init__(self) -> None:
        self.ordered: list[Fault] = []
        self.share = 0.0
        self.random = random.Random(0)
        self.struck = 0
        self._lock = threading.Lock()

    def order(self, path: str, **how: object) -> Fault:
        """Let requests whose path matches this pattern fail."""
        fault = Fault(path, **how)  # type: ignore[arg-type]
        self.ordered.append(fault)
        return fault

    def by_chance(self, share: float, seed: int) -> None:
        """Let this share of all requests fail, in one of the ways a service fails."""
        self.share, self.random = share, random.Random(seed)

    def may_strike(self, method: str, path: str) -> bool:
        """Whether a fault waits for such a request."""
        return self.share > 0 or any(fault.matches(method, path) for fault in self.ordered)

    def strike(self, method: str, path: str) -> Fault | None:
        """What befalls this request; None for nothing."""
        with self._lock:
            for fault in self.ordered:
                if fault.matches(method, path):
                    fault.times -= 1
                    self.struck += 1
                    return fault
            if self.share and self.random.random() < self.share:
                self.struck += 1
                return self._any(path)
        return None

    def _any(self, path: str) -> Fault:
        return self.random.choice(
            [
                Fault(path, status=500),
                Fault(path, status=503, headers={"Retry-After": "0"}),
                Fault(path, status=504, landed=True),
                Fault(path, status=429, headers={"RateLimit": '"api";r=0;t=0'}),
                Fault(path, reset=True),
                Fault(path, reset=True, landed=True),
            ]
        )
