"""How far a first reading or an import is, and how long it will take, in sentences for the operator."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.server.health import PAUSED
from bot.server.views import WatchView
from bot.service.store import Store
from bot.service.store.leases import lease_name

MANY = 50  # files and rows that wait: fewer are done soon
OLDEST, NEWEST = 900.0, 10.0  # seconds: the span over which the speed is measured
FORGOTTEN = 120.0  # seconds after which an import that says nothing is taken for one that ended
PAUSE = 2.0  # seconds between two notes of an import
DAY = 86_400.0


@dataclass
class Progress:
    """What was left of each watch at some moments, as the page was asked for."""

    seen: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def sentences(self, watch: WatchView, counts: Mapping[tuple[str, str], int], now: float) -> Iterator[str]:
        """Yield how far a watch is with many files and rows, where there are many."""
        files, rows = counts.get(("file", "waiting"), 0), counts.get(("row", "waiting"), 0)
        if files + rows < MANY:
            self.seen.pop(watch.name, None)
            if watch.settled is None:
                yield f"{watch.name} is read for the first time."
            return
        read = sum(watch.submissions.values())
        parts = [f"{read:,} of {read + files:,} files are read"] if files else []
        parts += [f"{rows:,} rows wait to be published"] if rows else []
        left = self._time_left(watch.name, files + rows, now)
        yield f"{watch.name}: {', '.join(parts)}{f'; {left} left' if left else ''}."

    def _time_left(self, watch: str, waiting: int, now: float) -> str:
        """About how long it takes at the speed of the last minutes, "" where that is not known yet."""
        seen = [one for one in self.seen.get(watch, []) if 0 <= now - one[0] < OLDEST]
        self.seen[watch] = [*seen, (now, waiting)][-1000:]
        if not seen or now - seen[0][0] < NEWEST or seen[0][1] <= waiting:
            return ""
        return duration(waiting * (now - seen[0][0]) / (seen[0][1] - waiting))


def duration(seconds: float) -> str:
    """About how long something takes: `about 3 minutes`, `about 2 hours`."""
    hours, minutes = round(seconds / 3600), max(1, round(seconds / 60))
    if minutes > 90:
        return f"about {hours} hours"
    return f"about {minutes} minute{'' if minutes == 1 else 's'}"


@dataclass
class ImportNotes:
    """Tells a person how far an import is, and every few seconds the operator's page."""

    store: Store
    to: str
    tell: Callable[[str, int, int], None]
    what: str = ""
    began: float = 0.0
    last: float = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note that `done` of `total` files or rows are read or written."""
        self.tell(what, done, total)
        now = time.time()
        if what != self.what:  # writing has another speed than reading
            self.what, self.began = what, now
        if total and (done >= total or now - self.last > PAUSE):
            self.last = now
            text = json.dumps([what, done, total, self.began, now])
            self.store.set_cursor("", "import", text if done < total else None, self.to)


def import_sentences(watches: Sequence[WatchView], store: Store, now: float) -> dict[str, str]:
    """What runs of imports, by the name of the watch that waits for it, else by the target."""
    running = {_lease(to): (to, far) for to, far in _imports(store, now)}
    found: dict[str, str] = {}
    for watch in watches:
        known = [running[one][1] for one in map(_lease, watch.targets) if one in running]
        if known or watch.failure == PAUSED:
            far = f": {known[0]}" if known else ""
            found[watch.name] = f"{watch.name}: {PAUSED}{far}. Pushes are looked at then."
    ours = {_lease(to) for watch in watches for to in watch.targets}
    return found | {
        to: f"An import into {to} runs: {far}." for lease, (to, far) in running.items() if lease not in ours
    }


def _imports(store: Store, now: float) -> Iterator[tuple[str, str]]:
    """Yield the target of each import of another process, and how far it is."""
    for to, text in store.cursors("", "import").items():
        what, done, total, began, last = json.loads(text)
        if 0 <= now - last < FORGOTTEN:
            left = f", {duration((total - done) * (last - began) / done)} left" if done and last > began else ""
            yield to, f"{done:,} of {total:,} {'files are read' if what == 'read' else 'rows are written'}{left}"


def _lease(to: str) -> str:
    return lease_name(to, Path())


def shown_time(moment: float, now: float) -> str:
    """A moment for people: the time of this day, else also the date."""
    form = "%H:%M UTC" if abs(now - moment) < DAY / 2 else "%Y-%m-%d %H:%M UTC"
    return time.strftime(form, time.gmtime(moment))


def counted_words(count: int, noun: str) -> str:
    """A number of things that wait: `1 plan waits`, `2 plans wait`."""
    return f"{count:,} {noun} waits" if count == 1 else f"{count:,} {noun}s wait"
