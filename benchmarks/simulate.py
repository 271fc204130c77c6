"""A month of pushes on a virtual clock: what one account of each plan carries, by the Hub's documented limits.

The scheduler's parts are the real ones: items in the store with their marks, times and backoff (`bot.service.store`,
`wait_after`), the budgets that learn from answers and keep half of a window from bulk work, and the waits of `serve`
(its quiet after a hint, its period, its shortest wait). The Hub is a model: fixed windows of five
minutes, a time for each answer, a share of answers that fail. What a push costs in requests was measured with
benchmarks/push_cost.py, what a first filling costs with benchmarks/import_board.py.

    python benchmarks/simulate.py [--days 30] [--pushes 1000 10000] [--files 1000000] [--plans free PRO Enterprise]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.cli.processes import choose_jobs
from bot.errors import Unavailable
from bot.platforms.net import Budgets, bulk_work
from bot.service.settings.config import Watch, WatchTarget
from bot.service.store.engine import connect
from bot.service.store.items import Item, Kind, Mark
from bot.service.store.state import Store
from bot.service.waits import AFTER_HINT, BETWEEN_PASSES
from bot.service.watch.outcome import wait_after

WINDOW = 300.0  # seconds of the Hub's windows
PLANS = {"free": (1_000, 5_000), "PRO": (2_500, 12_000), "Enterprise": (6_000, 50_000)}  # API requests, files
ANSWER = 0.12  # seconds of one answer, at the middle
FAILURES = 0.003  # of all answers
PASS, PUSH, ROW, TOGETHER = 8, 3, 9, 3  # API requests: of a pass, a pushed folder, a row alone, rows together
DAY, LIMIT = 86_400.0, 20
SETTINGS = Watch(name="w", leaderboard="x", source="hf://datasets/a/b", targets=(WatchTarget(to="hf://datasets/a/c"),))


@dataclass
class Hub:
    """A Hub that counts, takes its time, and now and then fails; `now` is the virtual clock in seconds."""

    api: int
    files: int
    random: random.Random
    now: float = 0.0
    asked: int = 0
    refused: int = 0
    used: dict[str, tuple[int, int]] = field(default_factory=dict)
    budgets: Budgets = field(init=False)

    def __post_init__(self) -> None:
        self.budgets = Budgets(clock=lambda: self.now)

    def ask(self, kind: str = "api") -> None:
        """One request. Raises Unavailable as the client does."""
        self.budgets.spend(kind, "the Hub")
        self.now += self.random.lognormvariate(0.0, 0.4) * ANSWER
        self.asked += 1
        limit, number = self.api if kind == "api" else self.files, int(self.now // WINDOW)
        window, count = self.used.get(kind, (number, 0))
        count = count + 1 if window == number else 1
        self.used[kind] = (number, count)
        left = (number + 1) * WINDOW - self.now
        if count > limit:
            self.refused += 1
            raise Unavailable("the Hub", "429", retry_after=left)
        self.budgets.learn(kind, limit, limit - count, left)
        if self.random.random() < FAILURES:
            raise Unavailable("the Hub", "503")


@dataclass
class Bot:
    """One process that keeps one watch."""

    hub: Hub
    store: Store
    pushed: dict[str, float] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    passes: int = 0
    settled: float = 0.0

    def settle(self) -> None:
        """One pass: look, read what was pushed, publish its rows."""
        self.passes += 1
        self.store.of("w").items.mark([Mark("source")], self.hub.now)
        self._each("source", lambda _: self._asks(PASS))
        self._each("file", self._read)
        rows = self._due("row")
        if len(rows) > LIMIT:
            self._together(rows)
        else:
            self._each("row", self._propose)
        self.settled = self.hub.now

    def next_pass(self) -> float:
        """When the next pass begins that no push asks for."""
        due = self.store.of("w").items.next_due()
        later = self.settled + SETTINGS.settle_every
        return later if due is None else min(later, max(due, self.settled + BETWEEN_PASSES))

    def _asks(self, count: int) -> None:
        for _ in range(count):
            self.hub.ask()

    def _read(self, item: Item) -> None:
        self._asks(PUSH)
        self.hub.ask("resolvers")
        self.store.of("w").items.mark([Mark("row", item.subject)], self.hub.now)

    def _propose(self, _: Item) -> None:
        self._asks(ROW)
        self.hub.ask("resolvers")

    def _due(self, kind: Kind) -> list[Item]:
        return self.store.of("w").items.due(kind, self.hub.now, 1_000_000)

    def _each(self, kind: Kind, do: object) -> None:
        for item in self._due(kind):
            self._attempt([item], lambda item=item: do(item))  # type: ignore[misc, operator]

    def _together(self, rows: list[Item]) -> None:
        self._attempt(rows, lambda: self._asks(ROW + TOGETHER * (len(rows) // 100 + 1)))

    def _attempt(self, items: list[Item], call: object) -> None:
        try:
            call()  # type: ignore[operator]
        except Unavailable as failure:
            for item in items:
                self.store.of("w").items.fail(item, "failed", self.hub.now + wait_after(item.attempts, failure))
            return
        self.store.of("w").items.finish(items)
        for item in items:
            if item.kind == "row":
                self.waits.append(self.hub.now - self.pushed.pop(item.subject))


def arrivals(source: random.Random, a_day: int, days: float) -> Iterator[float]:
    """When pushes come: more by day than by night, and now and then many at once."""
    now = 0.0
    while now < days * DAY:
        by_day = 1.6 if 8 <= now % DAY / 3600 < 20 else 0.4
        now += source.expovariate(a_day * by_day / DAY * 0.8)
        yield from [now] * (100 if source.random() < 0.0025 else 1)  # a fifth of all come a hundred at once


def month(plan: str, a_day: int, days: float, seed: int = 0) -> dict[str, object]:
    """So many pushes a day by one account of a plan."""
    chance = random.Random(seed)
    bot = Bot(Hub(*PLANS[plan], chance), Store(connect("sqlite://")))
    hub, number = bot.hub, 0
    coming = iter([*arrivals(chance, a_day, days), float("inf")])
    following = next(coming)
    while hub.now < days * DAY or (bot.pushed and hub.now < 2 * days * DAY):
        hub.now = max(hub.now, min(following + AFTER_HINT, bot.next_pass()))
        new = []
        while following <= hub.now:
            new.append(Mark("file", str(number)))
            bot.pushed[str(number)] = following
            number, following = number + 1, next(coming)
        with bot.store.transaction():
            bot.store.of("w").items.mark(new, hub.now)
            bot.settle()
    left = len(bot.pushed)
    bot.store.close()
    waits = statistics.quantiles(bot.waits, n=100)
    return {
        "plan": plan,
        "pushes a day": f"{a_day:,}",
        "published": f"{len(bot.waits):,}",
        "left": left,
        "median wait": shown(waits[49]),
        "99 of 100 within": shown(waits[98]),
        "requests a push": f"{hub.asked / max(1, number):.1f}",
        "of the API limit": f"{hub.asked / (days * DAY / WINDOW) / hub.api:.0%}",
        "refused by the Hub": f"{hub.refused:,}",
    }


def filling(plan: str, files: int) -> dict[str, object]:
    """The first filling with so many files, as bulk work: 2.2 requests for each hundred files, and thirty besides."""
    hub = Hub(*PLANS[plan], random.Random(0))
    left, waited = int(files / 100 * 2.2) + 30, 0.0
    with bulk_work():
        while left:
            try:
                hub.ask()
                left -= 1
            except Unavailable as failure:
                wait = failure.retry_after or 1.0
                waited, hub.now = waited + wait, hub.now + wait
    return {
        "plan": plan,
        "files": f"{files:,}",
        "requests": f"{hub.asked:,}",
        "takes": shown(hub.now),
        "of that, waiting": shown(waited),
        "refused by the Hub": hub.refused,
    }


def shown(seconds: float) -> str:
    """A length of time for people."""
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )


def table(rows: list[dict[str, object]]) -> str:
    """Rows as a Markdown table."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([str(row[name]) for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=30)
    parser.add_argument("--pushes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--files", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=list(PLANS))
    call = parser.parse_args()
    cases = [(plan, a_day, call.days) for a_day in call.pushes for plan in call.plans]
    with ProcessPoolExecutor(choose_jobs(0, 1_000)) as pool:
        print(table(list(pool.map(month, *zip(*cases, strict=True)))), end="\n\n")
    print(table([filling(plan, files) for files in call.files for plan in call.plans]))


if __name__ == "__main__":
    main()
