"""The health of a service, from the last passes and the waiting items, and its metrics for Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bot import __version__
from bot.errors import BotError
from bot.evaluation.submission import iso_date
from bot.platforms.net import ANSWERS
from bot.reporting.escape import brief
from bot.service.store.items import Item
from bot.service.store.state import Store

Counts = Mapping[tuple[str, str], int]  # of items by kind and state
Status = Literal["ok", "degraded", "failed"]
PAUSED = "an import runs; publishing is paused until it ends"  # the failure of a watch whose target is filled
LATE = 4  # settlements that may be missed before a watch is taken for one that does not move
FAILING_NAMED = 20  # failing items that are named
PREFIX = "leaderboard_bot"
SETTLE_SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)
log = logging.getLogger(__name__)


@dataclass
class State:
    """The state of one watch: times are seconds since 1970, None for never.

    `settled` is when the last pass ended, `reached` when the last one ended that reached the source.
    """

    settled: float | None = None
    heard: float | None = None
    failure: str = ""
    reached: float | None = None


def in_state(counts: Counts, state: str) -> int:
    """How many items are waiting, failing or held."""
    return sum(count for (_, found), count in counts.items() if found == state)


def status_of(state: State, failing: int, *, now: float, moved: float, every: float) -> Status:
    """The state of a watch: `failed` where nothing moved for long, `degraded` where something cannot be carried out.

    `moved` is when something was last brought in step, or the service started. A watch that never settled is not ok;
    until it is late it is degraded. So is one whose source is out of reach, also while the next pass tries it.
    """
    if now - moved >= LATE * every:
        return "failed"
    is_behind = state.settled is None or state.reached != state.settled
    return "degraded" if is_behind or state.failure or failing else "ok"


def overall(statuses: Iterable[Status]) -> Status:
    """The common state of all watches: `failed` only where not one of them moves."""
    found = set(statuses)
    if found <= {"ok"}:
        return "ok"
    return "failed" if found == {"failed"} else "degraded"


def named(items: Sequence[Item]) -> list[Mapping[str, Any]]:
    """The first failing items for people: name, target, reason, tries, and when the next one is."""
    return [
        {
            "item": brief(item.name, 200),
            "target": item.target,
            "reason": brief(item.reason, 500),
            "tries": item.attempts,
            "next": iso_date(item.due),
        }
        for item in items[:FAILING_NAMED]
    ]


@dataclass
class Metrics:
    """The metrics of each watch."""

    registry: CollectorRegistry

    def __post_init__(self) -> None:
        labels, registry = ["watch"], self.registry
        self.settles = Counter(
            f"{PREFIX}_settles", "Passes that ended or failed", [*labels, "result"], registry=registry
        )
        self.outcomes = Counter(f"{PREFIX}_outcomes", "What became of items", [*labels, "outcome"], registry=registry)
        self.seconds = Histogram(
            f"{PREFIX}_settle_seconds", "How long a pass takes", labels, registry=registry, buckets=SETTLE_SECONDS
        )
        self.last = Gauge(
            f"{PREFIX}_last_settled_timestamp_seconds", "When the last pass ended", labels, registry=registry
        )
        ProcessCollector(registry=registry)


class StoreCollector(Collector):
    """Items and rows as the store has them, what the services answered, and which build this is."""

    def __init__(self, store: Store, watches: Callable[[], Iterable[str]]) -> None:
        self._store, self._watches = store, watches

    def collect(self) -> Iterator[Metric]:
        """Everything, as it is now; what the store cannot say is left out, for the rest still counts."""
        build = GaugeMetricFamily(f"{PREFIX}_build_info", "The version that runs", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        yield from services()
        yield CounterMetricFamily(f"{PREFIX}_state_statements", "Statements to the state", self._store.asked_by_all)
        try:
            yield from self._stored()
        except Exception as failure:
            log.warning("the state cannot be measured: %s", failure, exc_info=not isinstance(failure, BotError))

    def _stored(self) -> list[Metric]:
        items = GaugeMetricFamily(
            f"{PREFIX}_items",
            "Items that wait, fail, are held for a person, or were declined by one",
            labels=["watch", "kind", "state"],
        )
        rows = GaugeMetricFamily(f"{PREFIX}_rows", "Rows that the source makes", labels=["watch"])
        files = GaugeMetricFamily(
            f"{PREFIX}_submissions", "Files of the source, by verdict", labels=["watch", "verdict"]
        )
        for watch in self._watches():
            stored = self._store.of(watch)
            for (kind, state), count in stored.items.counts().items():
                items.add_metric([watch, kind, state], count)
            for verdict, count in stored.submissions.counts().items():
                files.add_metric([watch, str(verdict)], count)
            rows.add_metric([watch], stored.rows.count())
        return [items, rows, files]


def services() -> Iterator[Metric]:
    """Answers of the services by status, and what is left of their budgets."""
    answers, remaining = ANSWERS.seen()
    requests = CounterMetricFamily(f"{PREFIX}_requests", "Answers by HTTP status", labels=["service", "status"])
    for (service, status), count in sorted(answers.items()):
        requests.add_metric([service, status], count)
    yield requests
    budget = GaugeMetricFamily(
        f"{PREFIX}_budget_remaining", "Requests left in the current window, from the last answer", labels=["service"]
    )
    for service, left in sorted(remaining.items()):
        budget.add_metric([service], left)
    yield budget
