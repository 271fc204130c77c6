"""How much faster several processes on one PostgreSQL settle rows than one: rows with a request of their own.

A Hub on loopback takes 20 ms for each request. As many results are pushed as asked for; the watch proposes each row in
a request of its own, and `leaderboard-bot work` runs once or several times. Counted are the seconds from the push until
nothing waits any more; the processes run already. In the end each row must have exactly one request.
Bar: four processes at least 2.5 times as fast as one. Status 1 where it is missed. Two processors are shared by the
workers, the Hub and PostgreSQL.

    python benchmarks/workers.py [--rows 1000] [--workers 1 4] [--delay 0.02] [--open 10000]

With `--open`, so many requests for other rows are open before, and known: what a row costs must not grow with them.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.publishing.publication import Marker
from bot.service.jobs.queue import Jobs
from bot.service.store.engine import connect
from bot.service.store.memory import LAST_PASS
from bot.service.store.state import Store
from tests.world.git import Repository
from tests.world.hub import Call, Hub
from tests.world.postgres import running
from tests.world.results import TINY, path_of, result
from tests.world.server import served

BAR = 2.5
LOOK = 0.25  # seconds between two looks at the queue
ROOT = Path(__file__).resolve().parent.parent
SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "hf://datasets/acme/results"
backfill_limit = 1000000
[[watches.targets]]
to = "hf://datasets/acme/contents"
"""


@dataclass(frozen=True)
class Measured:
    """Seconds until all rows are proposed, requests by kind, and processor seconds of each party."""

    seconds: float
    kinds: Counter[str]
    hub: float
    workers: float

    def lines(self, rows: int) -> list[str]:
        """The requests of a row by kind, and the processor time of a row."""
        kinds = ", ".join(f"{count / rows:.1f} {kind}" for kind, count in self.kinds.most_common())
        own, hub = self.workers / rows * 1000, self.hub / rows * 1000
        return [
            f"  {self.kinds.total() / rows:.1f} requests a row: {kinds}",
            f"  processor time a row: the workers {own:.0f} ms, the Hub and this program {hub:.0f} ms",
        ]


def kind_of(call: Call) -> str:
    """What a request was for."""
    *_, name = re.sub(r"/[0-9a-f]{40}\b.*|/pr/[0-9]+.*", "", call.raw_path).split("/")
    if "/resolve/" in call.raw_path:
        return "file"
    if "/tree/" in call.raw_path:
        return "tree"
    name = re.sub("^[0-9]+$", "request", name)
    return f"{call.query.get('status', '')} {name}".strip() if name == "discussions" else name


def open_others(hub: Hub, target: Repository, store: Store, count: int) -> None:
    """Open requests of the bot for rows of another leaderboard, and remember them as a service does."""
    known = store.known_threads("hf://datasets/acme/contents")
    for number in range(count):
        mark = Marker("entry", f"other/{number}", "another-board")
        row, _ = hub.open_request(target, {f"other/{number}.json": b"{}"}, f"Other {number}", mark.render(), "bot")
        known.put(row.num, {"kind": "pull_request", "status": "open", "closed_by": "", "mark": mark.render()})


def measure(rows: int, workers: int, delay: float, others: int) -> Measured:
    """One run."""
    with running() as cluster, served(Hub()) as hub, tempfile.TemporaryDirectory() as name:
        folder, database = Path(name), cluster.database()
        (folder / "tiny.toml").write_text(TINY)
        (folder / "bot.toml").write_text(SETTINGS)
        source, target = hub.repository("acme/results"), hub.repository("acme/contents")
        environment = {**os.environ, "DATABASE_URL": database, "PYTHONPATH": str(ROOT)}
        environment |= {"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url, "XDG_CACHE_HOME": str(folder / "cache")}
        store, jobs = Store(connect(database)), Jobs(database)
        open_others(hub, target, store, others)
        command = [sys.executable, "-m", "bot", "work"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = [subprocess.Popen(command, cwd=folder, env=environment, **quiet) for _ in range(workers)]  # type: ignore[call-overload]
        jobs.open()
        while store.of("tiny").recall(LAST_PASS) is None or jobs.undone():
            time.sleep(0.2)
        time.sleep(3.0)  # until the last of them has begun
        hub.faults.order("", delay=delay, times=-1)
        hub.push(source, {path_of(f"acme/m{n}"): result(f"acme/m{n}", right=(50, 60, n % 101)) for n in range(rows)})
        hub.calls.clear()
        start, own, theirs = time.monotonic(), time.process_time(), cpu_of(started)
        jobs.want_pass("tiny")
        while jobs.undone() or store.of("tiny").commit != source.main.oid or store.of("tiny").items.counts():
            time.sleep(LOOK)
        seconds = time.monotonic() - start
        spent, kinds = (time.process_time() - own, cpu_of(started) - theirs), Counter(map(kind_of, hub.calls))
        for process in started:
            process.send_signal(signal.SIGKILL)
            process.wait()
        titles = Counter(request.title for request in hub.requests(target)[others:])
        jobs.close()
        store.close()
    if len(titles) != rows or set(titles.values()) != {1}:
        raise SystemExit(f"{len(titles)} rows are proposed, not {rows}, or one of them twice")
    return Measured(seconds, kinds, *spent)


def cpu_of(processes: Sequence[subprocess.Popen[bytes]]) -> float:
    """The processor seconds that processes have used."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = [Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split() for one in processes]
    return sum(int(each[11]) + int(each[12]) for each in fields) / ticks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--delay", type=float, default=0.02, help="seconds that the Hub takes for each request")
    parser.add_argument("--open", type=int, default=0, help="requests for other rows that are open before")
    call = parser.parse_args()
    first = 0.0
    for workers in call.workers:
        found = measure(call.rows, workers, call.delay, call.open)
        first = first or found.seconds
        print(
            f"{workers} processes: {call.rows:,} rows in {found.seconds:.1f} s, {call.rows / found.seconds:.1f} a "
            f"second, {first / found.seconds:.2f} times as fast (bar for 4: {BAR}); load {os.getloadavg()[0]:.1f}",
            *found.lines(call.rows),
            sep="\n",
            flush=True,
        )
    return first / found.seconds < BAR


if __name__ == "__main__":
    sys.exit(main())
