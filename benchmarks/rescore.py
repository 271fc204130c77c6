"""What a changed bound costs: every row is judged and scored again from what was read, and nothing is read.

The state holds rows of generated submissions as a first reading leaves them; then one bound of the declaration
changes, and a pass judges everything again. Beside it stands what reading the files once more would take: by requests
of their own at the Hub's documented limit for files (5,000 in five minutes for a free account), and over git, where
the machine's own work is left: decoding, judging and storing, measured on a part of the files.
Bar: no request to a Hub, and at least 100 times as fast as reading them. Status 1 where it is missed.

    python benchmarks/rescore.py [--rows 100000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.service.context import WatchContext
from bot.service.judge.reading import judge_again, judged
from bot.service.settings.config import parse_settings
from bot.service.store.database import batches
from bot.service.store.engine import connect
from bot.service.store.items import Mark
from bot.service.store.sources import StoredSubmission
from bot.service.store.state import Store
from tests.world.results import TINY, path_of, result

WINDOW, FILES = 300.0, 5_000  # seconds of the Hub's window, and the files that a free account may ask for in it
BAR = 100
SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "."
comments = false
[[watches.targets]]
to = "./served"
"""


class Nowhere:
    """A source that has a name, and fails whoever asks it anything else."""

    name = "hf://datasets/acme/results"


def context_of(store: Store, text: str) -> WatchContext:
    """A watch whose source and target nobody asks."""
    watch = parse_settings(SETTINGS, "bot.toml").watches[0]
    board = parse_leaderboard(text, "tiny", "tiny.toml")
    return WatchContext(watch, board, Nowhere(), [(None, watch.targets[0])], store.of("tiny"), datetime.now(UTC).date())  # type: ignore[arg-type, list-item]


def submissions(context: WatchContext, count: int) -> Iterator[list[StoredSubmission]]:
    """What reading so many files would give."""
    for numbers in batches(range(count), 500):
        read = []
        for n in numbers:
            model = f"org-{n // 100}/model-{n}"
            path, data = path_of(model), result(model, right=(50, 60, n % 101))
            parsed = parse_submission(path, {"": data})
            read.append(StoredSubmission(path, None, "unread", f"{n:040}", "c" * 40, None, parsed))
        yield judged(context, read)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    count = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        store = Store(connect(f"sqlite:///{folder}/state.db"))
        context = context_of(store, TINY)
        start = time.process_time()
        for some in submissions(context, count):
            store.of("tiny").submissions.keep(some)
        reading = time.process_time() - start
        store.of("tiny").items.mark([Mark("judge")], 0.0)
        [item] = store.of("tiny").items.due("judge", time.time())
        judge_again(context, item)  # as after a first reading: every row is known
        store.of("tiny").items.finish(store.of("tiny").items.due("row", time.time(), count))
        changed = context_of(store, TINY.replace('"1/4"', '"1/5"'))
        start, started = time.monotonic(), time.process_time()
        store.of("tiny").items.mark([Mark("judge")], 0.0)
        [item] = store.of("tiny").items.due("judge", time.time())
        judge_again(replace(changed), item)
        seconds, own = time.monotonic() - start, time.process_time() - started
        moved = store.of("tiny").items.count("row")
        store.close()
    limit = count / FILES * WINDOW
    print(f"{count:,} rows scored again: {seconds:.1f} s, {own:.1f} s of processor time; {moved:,} rows are others now")
    print(f"reading them by requests, free account: {limit:,.0f} s; ratio {limit / seconds:.0f} (bar: {BAR})")
    print(f"decoding and judging them alone:        {reading:,.1f} s of processor time; ratio {reading / own:.1f}")
    return limit / seconds < BAR


if __name__ == "__main__":
    sys.exit(main())
