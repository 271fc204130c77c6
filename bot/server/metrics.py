"""The metrics: counters of this process, and gauges that are read from the store on request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bot import __version__
from bot.platforms.answer_counts import ANSWERS
from bot.service.store import Store

PREFIX = "leaderboard_bot"
SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)
log = logging.getLogger(__name__)


@dataclass
class Metrics:
    """The metrics of each watch."""

    registry: CollectorRegistry

    def __post_init__(self) -> None:
        labels, registry = ["watch"], self.registry
        self.settles = Counter(f"{PREFIX}_settles", "Settlements by result", [*labels, "result"], registry=registry)
        self.outcomes = Counter(f"{PREFIX}_outcomes", "Outcomes", [*labels, "outcome"], registry=registry)
        self.seconds = Histogram(
            f"{PREFIX}_settle_seconds", "Time of one settlement", labels, registry=registry, buckets=SECONDS
        )
        self.last = Gauge(
            f"{PREFIX}_last_settled_timestamp_seconds", "When a settlement last ended", labels, registry=registry
        )
        ProcessCollector(registry=registry)


class StoreCollector(Collector):
    """Items and rows as the store has them, what the services answered, and which build this is."""

    def __init__(self, store: Store, watches: Callable[[], Iterable[str]]) -> None:
        self._store, self._watches = store, watches

    def collect(self) -> Iterator[Metric]:
        """Everything, as it is now; what the store cannot say is left out, for the rest still counts."""
        build = GaugeMetricFamily(f"{PREFIX}_build_info", "Which version this is", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        yield from services()
        try:
            yield from self._stored()
        except Exception:
            log.exception("the state cannot be measured")

    def _stored(self) -> list[Metric]:
        items = GaugeMetricFamily(f"{PREFIX}_items", "Items that wait", labels=["watch", "kind", "state"])
        rows = GaugeMetricFamily(f"{PREFIX}_rows", "Rows that were made", labels=["watch"])
        files = GaugeMetricFamily(f"{PREFIX}_submissions", "Submissions by verdict", labels=["watch", "verdict"])
        for watch in self._watches():
            for (kind, state), count in self._store.counts(watch).items():
                items.add_metric([watch, kind, state], count)
            for verdict, count in self._store.count_submissions(watch).items():
                files.add_metric([watch, str(verdict)], count)
            rows.add_metric([watch], self._store.count_rows(watch))
        return [items, rows, files]


def services() -> Iterator[Metric]:
    """Answers of the services by status, and what is left of their budgets."""
    answers, remaining = ANSWERS.seen()
    requests = CounterMetricFamily(f"{PREFIX}_requests", "Requests by service and status", labels=["service", "status"])
    for (service, status), count in sorted(answers.items()):
        requests.add_metric([service, status], count)
    yield requests
    budget = GaugeMetricFamily(f"{PREFIX}_budget_remaining", "Requests left in the window", labels=["service"])
    for service, left in sorted(remaining.items()):
        budget.add_metric([service], left)
    yield budget
