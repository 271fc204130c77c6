"""How fast a server on SQLite answers while it fills its state: its page and a webhook, with 100,000 files known.

The state holds submissions of so many files, and half of them wait to be read again. A thread of the server does what
an import does all the time: it reads results, judges them and stores them, a hundred in a transaction. Meanwhile the
page of the operator, the health and the numbers are asked for, and deliveries are sent, one after the other.
Bars: the page within 0.2 s and a delivery within 0.05 s, at the middle. Status 1 where one is missed.

    python benchmarks/busy_server.py [--files 100000]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from benchmarks.push_cost import SETTINGS
from bot.evaluation.submission import parse_submission
from bot.platforms.platform import Access
from bot.server.app import make_app, make_pages
from bot.server.service import Service
from bot.service.context import ContextFactory, WatchContext
from bot.service.judge.reading import judged
from bot.service.settings.config import parse_settings
from bot.service.store.database import batches
from bot.service.store.engine import connect
from bot.service.store.items import marks
from bot.service.store.sources import IndexedFile, StoredSubmission
from bot.service.store.state import Store
from tests.world.results import TINY, result

BARS = {"/": 0.2, "webhook": 0.05}
PUSH = b'{"event":{"scope":"repo.content","action":"update"},"repo":{"type":"watch","name":"tiny"}}'


def fill(store: Store, files: int) -> None:
    """What a reading of so many files would have left, and half of them marked once more."""
    parsed = parse_submission("org/m/results_1.json", {"": result()})
    for numbers in batches(range(files), 5_000):
        paths = [f"org/m{n}/results_1.json" for n in numbers]
        with store.transaction():
            store.of("tiny").files.keep([IndexedFile(path, "o" * 40, 1_400) for path in paths])
            store.of("tiny").submissions.keep(
                [
                    StoredSubmission(path, f"tiny/{path}", "accepted", "o" * 40, "c" * 40, None, parsed)
                    for path in paths
                ],
            )
            store.of("tiny").rows.keep({f"tiny/{path}": "d" * 64 for path in paths})
            store.of("tiny").items.mark(marks("file", paths[::2]), 1.0)


def work(context: WatchContext, stopping: threading.Event, done: list[int]) -> None:
    """Read, judge and store, as an import does."""
    for start in count(step=100):
        if stopping.is_set():
            return
        read = []
        for n in range(start, start + 100):
            path = f"new/m{n}/results_1.json"
            parsed = parse_submission(path, {"": result(f"new/m{n}")})
            read.append(StoredSubmission(path, None, "unread", f"{n:040}", "c" * 40, None, parsed))
        context.state.submissions.keep(judged(context, read))
        done[0] += 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=25)
    call = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiny.toml").write_text(TINY)
        store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
        fill(store, call.files)
        contexts = ContextFactory(Access(hf_endpoint="http://127.0.0.1:1"), store, folder)
        registry, watches = CollectorRegistry(), parse_settings(SETTINGS, "bot.toml").watches
        service = Service(contexts, watches, registry)
        pages = make_pages(service, None, "127.0.0.1")
        app = make_app(service, secret=None, registry=registry, pages=pages, bound_to="127.0.0.1")
        stopping, done = threading.Event(), [0]
        worker = threading.Thread(target=work, args=(contexts.open_context(watches[0]), stopping, done))
        worker.start()
        took: dict[str, list[float]] = {"/": [], "/healthz": [], "/metrics": [], "webhook": []}
        with TestClient(app, base_url="http://127.0.0.1") as client:
            for _ in range(call.times):
                for what, seconds in took.items():
                    start = time.monotonic()
                    answer = client.post("/webhooks/hub", content=PUSH) if what == "webhook" else client.get(what)
                    seconds.append(time.monotonic() - start)
                    assert answer.status_code < 300, answer
        stopping.set()
        worker.join()
        store.close()
    print(f"{call.files:,} files known; {done[0]:,} more were read and stored meanwhile")
    for what, seconds in took.items():
        print(f"{what:9} {statistics.median(seconds) * 1000:6.1f} ms, the slowest {max(seconds) * 1000:6.1f} ms")
    return any(statistics.median(took[what]) > bar for what, bar in BARS.items())


if __name__ == "__main__":
    sys.exit(main())
