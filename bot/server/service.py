"""The running service: it keeps every watch settled, takes hints, and reports the state."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Any, ClassVar

from prometheus_client import CollectorRegistry

from bot.errors import BotError, Unavailable
from bot.evaluation.submission import iso_date
from bot.reporting.escape import brief
from bot.server.health import FAILING_NAMED, Metrics, State, StoreCollector, in_state, named, overall, status_of
from bot.service.context import ContextFactory
from bot.service.publish.ledger import ledgers_due, next_look
from bot.service.settings.config import Settings, Watch
from bot.service.store.items import Mark, marks
from bot.service.store.memory import LEDGER, MOVED
from bot.service.waits import AFTER_HINT, BETWEEN_PASSES
from bot.service.watch.event import ANY, MAIN, SCHEME, Event, concerns_us, repository_name
from bot.service.watch.outcome import Outcome, outcome_lines, reason_of
from bot.service.watch.settle import run_pass
from bot.service.watch.workers import MarkWriter, WatchWorker

log = logging.getLogger(__name__)


def repository_of(address: str) -> str:
    """The name of an address in a delivery: `hf://datasets/acme/results` is `datasets/acme/results`."""
    if address.startswith(SCHEME):
        return repository_name(address.removeprefix(SCHEME).partition("#")[0])
    return address.removeprefix("hf://").partition("@")[0]


@dataclass
class Service:
    """All watches of one process, which has its state alone; `SharedService` is one of many."""

    contexts: ContextFactory
    watches_settings: Sequence[Watch]
    registry: CollectorRegistry
    quiet: float = AFTER_HINT
    clock: Callable[[], float] = time.time
    workers: dict[str, WatchWorker] = field(default_factory=dict, init=False)
    states: dict[str, State] = field(init=False)
    locks: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock), init=False)
    refused_settings: Callable[[], str] = str  # why the newest settings are not in force, "" where they are
    is_alone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.metrics = Metrics(self.registry)
        self.registry.register(StoreCollector(self.contexts.store, lambda: [one.name for one in self.watches_settings]))
        self.marking = MarkWriter(self.contexts.store, self.hint, self.clock)
        self.started = self.clock()
        self.states = {watch.name: State() for watch in self.watches_settings}

    def check(self) -> None:
        """See that every watch can be opened. Raises CallError or MalformedDeclaration.

        A declaration at an address that cannot be reached now is read by the first settlement.
        """
        for watch in self.watches_settings:
            with suppress(Unavailable):
                self.contexts.open_context(watch)

    def start(self) -> None:
        """Start all watches."""
        for watch in self.watches_settings:
            self._keep(watch)

    def _keep(self, watch: Watch) -> None:
        """Start a watch with a pass, which finds what was pushed while nobody listened."""
        self._leave(watch.name)
        worker = WatchWorker(watch.name, lambda: self.settle(watch), watch.settle_every, self.quiet)
        self.workers[watch.name] = worker
        worker.start()

    def _leave(self, name: str) -> None:
        """Stop a watch, or its old settings; a running pass goes on."""
        if worker := self.workers.pop(name, None):
            worker.stop(0.0)

    def stop(self, patience: float) -> bool:
        """Give running passes some time to end; the next start does the rest. Tell whether all ended in time."""
        end = time.monotonic() + patience
        self.marking.wait(patience)
        late = [name for name, worker in self.workers.items() if not worker.stop(max(0.0, end - time.monotonic()))]
        for name in late:
            log.warning("%s: the settlement is not finished; the next start continues it", name)
        return not late

    def apply(self, settings: Settings) -> None:
        """Apply new settings: watches that changed start again, the others go on undisturbed.

        Raises CallError or MalformedDeclaration where a watch cannot be opened; then nothing has changed.
        """
        for watch in settings.watches:
            with suppress(Unavailable):
                self.contexts.open_context(watch)
        self.contexts.take(settings)
        known = {watch.name: watch for watch in self.watches_settings}
        wanted = {watch.name: watch for watch in settings.watches}
        for name in known.keys() - wanted.keys():
            self._leave(name)
            self.metrics.last.remove(name)  # else it looks like a watch that stands still
        for name, watch in wanted.items():
            self.states.setdefault(name, State())
            if known.get(name) != watch:
                self._keep(watch)
        self.watches_settings = settings.watches

    def settle(self, watch: Watch) -> bool:
        """Settle one watch, and note how it ended; False if it lost its lease. Raises what the settlement raises."""
        with self.locks[watch.name]:  # under settings from before, it may still be running
            return self._settle(watch)

    def _settle(self, watch: Watch) -> bool:
        state, is_first = self.states[watch.name], self.states[watch.name].settled is None
        with self.metrics.seconds.labels(watch.name).time():
            try:
                # Who could hint often must not have every failing item tried each time: these wait for their moment.
                everything = is_first and self.is_alone
                done = run_pass(self.contexts.open_context(watch), everything=everything)
            except Exception as failure:
                state.failure = reason_of(failure)
                self.metrics.settles.labels(watch.name, "failed").inc()
                self._end(watch)
                raise
        self.record_outcomes(watch.name, done.outcomes)
        if not done.is_whole:  # the next pass, which may have begun elsewhere, reports the watch's state
            self.metrics.settles.labels(watch.name, "failed").inc()
            return False
        state.settled, state.failure = self.clock(), done.failure
        counts = self.contexts.store.of(watch.name).items.counts()
        if ("source", "failing") not in counts:
            state.reached = state.settled
        self.metrics.settles.labels(watch.name, "done").inc()
        self.metrics.last.labels(watch.name).set(state.settled)
        self._end(watch, next_look(self.contexts.store.of(watch.name)))
        return True

    def _end(self, watch: Watch, due: float | None = None) -> None:
        """After a pass, plan the next one for when an item of the watch is due, or its ledgers."""
        wait = None if due is None else max(due - self.clock(), BETWEEN_PASSES)
        if wait is not None and wait < watch.settle_every:  # else its own time comes before
            timer = Timer(wait, lambda: self.hint(watch.name))
            timer.daemon = True
            timer.start()

    def state(self, name: str) -> State:
        """The state of a watch after its last pass."""
        return self.states[name]

    def record_outcomes(self, name: str, outcomes: Iterable[Outcome]) -> None:
        """Count and log how things ended: what failed for one reason in one line, and what waits for a person once."""
        failed = list[Outcome]()
        for one in outcomes:
            self.metrics.outcomes.labels(name, one.outcome).inc()
            if one.outcome == "failed":
                failed.append(one)
            elif one.is_new:
                log.info("%s: %s %s: %s", name, one.outcome, one.subject, one.text)
        for line in outcome_lines(failed):
            log.warning("%s: %s", name, line)

    def hint(self, name: str) -> None:
        """Ask for a pass over a watch soon."""
        worker = self.workers.get(name)
        if worker is not None:
            worker.hint()

    # what the routes ask

    def take(self, event: Event) -> bool:
        """Hint the watches whose source or target an event is about."""
        own_commits = self.contexts.opener.service_cache.own_commits
        if not concerns_us(event, our_ids=self.contexts.known_ids, our_commits=own_commits):
            return False
        hinted = [watch for watch in self.watches_settings if event.repository in self.names(watch)]
        for watch in hinted:
            if self._is_push(event, watch):
                self.states[watch.name].heard = self.clock()
            found = self._marks_of(event, watch)
            if found:
                self.marking.add(watch.name, found)
            else:
                self.hint(watch.name)
        return bool(hinted)

    @staticmethod
    def _marks_of(event: Event, watch: Watch) -> list[Mark]:
        """Marks for what a pass would not look at each time: requests at the source, and words on ours at a target."""
        found: list[Mark] = []
        if event.touches_requests and event.repository in {repository_of(watch.source), ANY.repository}:
            found.append(Mark("reviews"))
        targets = [one.to for one in watch.targets if one.form == "pull-request"]
        asked = [to for to in targets if repository_of(to) == event.repository]
        if event.is_discussion and event.number and watch.maintainers:
            found += marks("request", [str(event.number)], asked)
        if (event.moves_content and event.touches_requests) or event.action == "synchronize":
            found += marks("request", [""], asked)
        return found

    @staticmethod
    def _is_push(event: Event, watch: Watch) -> bool:
        """Tell whether somebody pushed to the source: not to a target, and not into a request."""
        is_main = not event.refs or any(ref == MAIN for ref, _ in event.refs)
        return (
            event.moves_content and is_main and event.repository in {f"watch/{watch.name}", repository_of(watch.source)}
        )

    @staticmethod
    def names(watch: Watch) -> set[str]:
        """The names of this watch in deliveries."""
        found = {f"watch/{watch.name}", *map(repository_of, watch.addresses)}
        return found | {ANY.repository} if any(name.startswith(SCHEME) for name in watch.addresses) else found

    def health(self) -> dict[str, Any]:
        """The state of the watches: `degraded` where something cannot be carried out, `failed` where nothing moves."""
        try:
            watches = {watch.name: self._health_of(watch) for watch in self.watches_settings}
        except Exception as failure:
            log.warning("the state cannot be read: %s", failure, exc_info=not isinstance(failure, BotError))
            return {"status": "failed", "ok": False, "failure": "the state cannot be read", "watches": {}}
        status, refused = overall(watch["status"] for watch in watches.values()), self.refused_settings()
        status = "degraded" if refused and status == "ok" else status
        return {"status": status, "ok": status == "ok", "refused_settings": refused, "watches": watches}

    def _health_of(self, watch: Watch) -> dict[str, Any]:
        state, stored, now = self.state(watch.name), self.contexts.store.of(watch.name), self.clock()
        counts = stored.items.counts()
        failing = in_state(counts, "failing")
        plans = sum(plan.waits for plan in stored.plans.all())
        ledgers = {target: known for target in watch.addresses if (known := stored.recall(LEDGER, target=target))}
        unexplained = sum(known.unexplained for known in ledgers.values())
        moved = max(self.started, stored.recall(MOVED) or 0.0)
        status = status_of(state, failing + plans + unexplained, now=now, moved=moved, every=watch.settle_every)
        return {
            "status": status,
            "ok": status == "ok",
            "commit": stored.commit,
            "settled": iso_date(state.settled) or None,
            "reached": iso_date(state.reached) or None,
            "heard": iso_date(state.heard) or None,
            "age": round(now - (state.settled or self.started), 1),
            "failure": brief(state.failure, 500),
            "plans": plans,
            "unexplained": unexplained,
            "untried": unexplained - sum(known.waiting for known in ledgers.values()),
            "ledgers": {target: known.line for target, known in ledgers.items()},
            "declined": {target: known.declined for target, known in ledgers.items()},
            "requests": {target: text for target, known in ledgers.items() if (text := known.requests)},
            "recount": iso_date(ledgers_due(stored)) or None,
            "counted": iso_date(min((known.at for known in ledgers.values()), default=None)) or None,
            "counts": {name: in_state(counts, name) for name in ("waiting", "failing", "held")},
            "failing": named(stored.items.page("failing", None, FAILING_NAMED)) if failing else [],
        }
