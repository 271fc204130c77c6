"""What one push of one file costs, in requests and time, on sources and boards of 100, 10,000 and 100,000 entries.

A Hub on loopback holds a source with one result for each entry and a target with the entries; then one result is pushed
and settled, several times. Bar: the same number of requests, within 5, and time at most 1.3 times that of the smallest.
Two layouts are measured: `org/model/results.json`, as the Open LLM Leaderboard keeps its results, and
`org__model/results.json`, as lm-eval writes them, where the top folder has one child for each model: the Hub lists it
in pages of 1,000 entries, and each page is one request more.

With `--open 0 100 1000` the whole path is measured: `serve` in a process of its own takes the webhook of the push and
opens the request, while so many requests of its own are open at the target. Bar: the same number of requests, within 5.
With `--act commit` the row is written to main and the table follows; with `--act merge` a person merges the request of
the push before, and the table follows; with `--act nothing` nothing changed. Statements to the state are counted too;
bar: at most 150 for a push, and 40 where nothing changed. `--fresh` does each pass as a new process does, with the
state alone. With `--merge` a person merges one of them before each push: it is found among the others. With
`--submissions 1000` so many requests of others are open at the source.
"""

from __future__ import annotations

import argparse
import gc
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))


from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.platforms.platform import Access
from bot.publishing.publication import Marker
from bot.service.context import ContextFactory
from bot.service.judge.reading import batches
from bot.service.settings.config import Watch, parse_settings
from bot.service.store.boards import StoredBoard
from bot.service.store.engine import connect
from bot.service.store.memory import BOARD, SOURCE, WAIVED, KnownWaivers, SourceRead
from bot.service.store.sources import IndexedFile, StoredSubmission
from bot.service.store.state import Store
from bot.service.watch.observe import selection_of
from bot.service.watch.settle import run_pass
from tests.evaluation.judging import entry_from
from tests.world.deliver import Webhook
from tests.world.git import Blob, Repository, Tree, blob_id
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result
from tests.world.server import served

SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "hf://datasets/acme/results"
[[watches.targets]]
to = "hf://datasets/acme/contents"
as = "pull-request"
"""
LAYOUTS = {"nested": "org-{org}/model-{n}/results_1.json", "flat": "org-{org}__model-{n}/results_1.json"}
FILES_OF_AN_ORG = 100
SECRET = "a secret of the benchmark"


def tree_of(files: dict[str, bytes], commit: str) -> Tree:
    """A folder with these files, made at once."""
    nested: dict[str, object] = {}
    for path, data in files.items():
        *folders, name = path.split("/")
        here = nested
        for folder in folders:
            here = here.setdefault(folder, {})  # type: ignore[assignment]
        here[name] = Blob(blob_id(data), data, commit)

    def made(items: dict[str, object]) -> Tree:
        return Tree({name: made(item) if isinstance(item, dict) else item for name, item in items.items()})  # type: ignore[misc]

    return made(nested)


def rows_of(count: int) -> dict[str, bytes]:
    """So many sound rows, each as its entry's file: one real entry with the names of other models."""
    first = entry_from(result("org-0/model-0"), parse_leaderboard(TINY, "tiny", "tiny.toml"), path_of("org-0/model-0"))
    data, path = first.to_bytes(), first.path
    names = [f"org-{n // FILES_OF_AN_ORG}/model-{n}" for n in range(count)]
    return {path.replace("org-0/model-0", name): data.replace(b"org-0/model-0", name.encode()) for name in names}


def fill(repository: Repository, files: dict[str, bytes]) -> None:
    """Let a repository hold these files."""
    first = repository.main
    repository.add(repository.make(tree_of(files, first.oid), first, "fill", "", first.date, "acme"))


def remember(store: Store, paths: list[str]) -> None:
    """What a first reading would have left in the store."""
    data = result()
    parsed = parse_submission(paths[0], {"": data})
    for some in batches(paths, 5000):
        store.of("tiny").files.keep([IndexedFile(path, "o" * 40, len(data)) for path in some])
        store.of("tiny").submissions.keep(
            [StoredSubmission(path, f"key-{path}", "accepted", "o" * 40, "c" * 40, None, parsed) for path in some],
        )


def note_settled(contexts: ContextFactory, watch: Watch, source: Repository, target: Repository) -> None:
    """As after a first reading: everything up to here is settled, and the board is as it should be."""
    context = contexts.open_context(watch)
    read = SourceRead(source.main.oid, selection_of(context), context.definition())
    contexts.store.of("tiny").remember(SOURCE, read)
    contexts.store.of("tiny").remember(WAIVED, KnownWaivers([], []))
    to, board = "hf://datasets/acme/contents", StoredBoard(target.main.oid, "tiny", TINY)
    contexts.store.of("tiny").remember(BOARD, board.head, target=to)
    contexts.store.of("tiny").boards.keep(to, board, [], "")


def prime(contexts: ContextFactory, source: Repository, target: Repository, paths: list[str]) -> None:
    """Let the state be as if everything had been read and published."""
    remember(contexts.store, paths)
    note_settled(contexts, parse_settings(SETTINGS, "bot.toml").watches[0], source, target)


def measure(
    layout: str, size: int, pushes: int, delay: float, act: str, *, is_fresh: bool
) -> tuple[float, Counter[str], int, float, float]:
    """Requests for each push, their kinds, the most statements, the least seconds, and those that are the bot's own.

    What others do on the machine only adds to them. The Hub runs in threads of this process, so the first hold its
    work, which grows with its repositories; the second are of the thread that settles alone.
    """
    text = SETTINGS.replace("pull-request", "commit") if act == "commit" else SETTINGS
    with served(Hub()) as hub, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hub.faults.order("", delay=delay, times=-1)
        (folder / "tiny.toml").write_text(TINY)
        hub.writers.add(("bot", "acme/contents"))
        source, target = hub.repository("acme/results"), hub.repository("acme/contents")
        paths = [LAYOUTS[layout].format(org=n // FILES_OF_AN_ORG, n=n) for n in range(size)]
        fill(source, dict.fromkeys(paths, b"{}"))
        fill(target, rows_of(size))
        access = Access(hf_token=hub.person("bot"), hf_endpoint=hub.url, cache=folder / "cache")
        store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
        contexts = ContextFactory(access, store, folder)
        watch = parse_settings(text, "bot.toml").watches[0]
        remember(contexts.store, paths)
        gc.collect()
        gc.freeze()  # the Hub and its files lie in this process: collecting them is no cost of the bot's
        note_settled(contexts, watch, source, target)
        seconds, own, asked, kinds = [], [], [], Counter[str]()
        for number in range(pushes + 1):  # the first one warms up both sides, and is not counted
            path = LAYOUTS[layout].format(org=0, n=f"new-{number}")
            if act == "nothing":
                run_pass(contexts.open_context(watch))
            else:
                hub.push(source, {path: result(f"org-0/new-{number}")})
            if act == "merge":
                run_pass(contexts.open_context(watch))
                hub.merge(target, hub.requests(target)[0])
            contexts = ContextFactory(access, store, folder) if is_fresh else contexts
            hub.calls.clear()
            before, start, started = store.asked, time.perf_counter(), time.thread_time()
            outcomes = run_pass(contexts.open_context(watch)).outcomes
            took, worked = time.perf_counter() - start, time.thread_time() - started
            assert {outcome.outcome for outcome in outcomes} <= {"proposed", "written"}, outcomes
            if number:
                seconds.append(took)
                own.append(worked)
                asked.append(store.asked - before)
                kinds.update(kind_of(call.raw_path) for call in hub.calls)
        contexts.store.close()
    return sum(kinds.values()) / pushes, kinds, max(asked), min(seconds), min(own)


@contextmanager
def serving(folder: Path, hub: Hub) -> Iterator[str]:
    """`serve` in a process of its own: where it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bot", "serve", "--config", "bot.toml", "--port", str(port)]
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    more = {"HF_TOKEN": hub.person("bot"), "HF_ENDPOINT": hub.url, "WEBHOOK_SECRET": SECRET}
    environment = kept | more | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for_quiet(hub: Hub, seconds: float = 3.0) -> None:
    """Wait until nobody asked the Hub anything for a while, after somebody did."""
    while not hub.calls or time.monotonic() - hub_quiet(hub) < seconds:
        time.sleep(0.05)


def hub_quiet(hub: Hub) -> float:
    """When the number of calls last changed, as far as it was looked at."""
    if len(hub.calls) != LAST.get("count"):
        LAST.update(count=len(hub.calls), at=time.monotonic())
    return LAST["at"]


LAST: dict[str, float] = {}


def open_many(hub: Hub, target: Repository, count: int) -> None:
    """Requests of the bot's own that wait for a person, each for a row of its own."""
    for n in range(count):
        key = f"tiny/org-{n // FILES_OF_AN_ORG}/waiting-{n}/{n:040x}-bfloat16"
        text = f"A row.\n\n{Marker('entry', key, 'tiny').render()}"
        hub.open_request(target, {f"entries/{key}.json": b"{}"}, f"Add waiting-{n}", text, "bot")


def measure_served(
    layout: str, size: int, waiting: int, pushes: int, delay: float, *, merges: bool, submissions: int
) -> tuple[list[int], Counter[str], float]:
    """Requests of each push from its webhook until the Hub is quiet, their kinds, and the least seconds it took."""
    with served(Hub()) as hub, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiny.toml").write_text(TINY)
        (folder / "bot.toml").write_text(
            SETTINGS.replace("[[watches.targets]]", 'settle_every = "1h"\n[[watches.targets]]')
        )
        source, target = hub.repository("acme/results"), hub.repository("acme/contents")
        numbers = [(n // FILES_OF_AN_ORG, n) for n in range(size)]
        paths = [LAYOUTS[layout].format(org=org, n=n) for org, n in numbers]
        fill(source, dict.fromkeys(paths, b"{}"))
        fill(target, rows_of(size))
        open_many(hub, target, waiting)
        for n in range(submissions):
            hub.open_request(source, {f"eve/{n}.txt": b"1"}, f"Add {n}", "", f"eve{n}")
        contexts = ContextFactory(
            Access(hf_token=hub.person("bot"), hf_endpoint=hub.url),
            Store(connect(f"sqlite:///{folder / 'bot.db'}")),
            folder,
        )
        prime(contexts, source, target, paths)
        contexts.store.close()
        counts, kinds, seconds = [], Counter[str](), []
        with serving(folder, hub) as url:
            wait_for_quiet(hub)
            watched = [{"type": "dataset", "name": "acme/results"}]
            hub.webhooks["one"] = Webhook("one", f"{url}/webhooks/hub", watched, ["repo", "discussion"], SECRET)
            for number in range(pushes + 1):  # the first one warms up both sides, and is not counted
                hub.faults.ordered.clear()
                hub.faults.order("", delay=delay, times=-1)
                if merges:
                    hub.merge(target, hub.requests(target)[waiting // 2])
                hub.calls.clear()
                open_before, start = len(hub.requests(target)), time.perf_counter()
                hub.push(source, {LAYOUTS[layout].format(org=0, n=f"new-{number}"): result(f"org-0/new-{number}")})
                while len(hub.requests(target)) == open_before:
                    time.sleep(0.005)
                took = time.perf_counter() - start
                wait_for_quiet(hub)
                if number:
                    counts.append(len(hub.calls))
                    kinds.update(kind_of(call.raw_path) for call in hub.calls)
                    seconds.append(took)
    return counts, kinds, min(seconds)


def kind_of(path: str) -> str:
    """What a request asks for, in one word."""
    words = ("tree", "resolve", "paths-info", "refs", "git", "discussions", "preupload", "commit", "whoami-v2")
    return next((word for word in words if f"/{word}" in path), "other")


def show_served(layout: str, sizes: list[int], waiting: list[int], pushes: int, delay: float, **more: Any) -> None:
    """Measure the whole path, with boards of these sizes and so many open requests."""
    for size in sizes:
        for count in waiting:
            counts, kinds, seconds = measure_served(layout, size, count, pushes, delay, **more)
            said = ", ".join(f"{kind} {number / pushes:.1f}" for kind, number in kinds.most_common())
            print(
                f"serve, {layout}, {size:7,} entries, {count:5,} requests open: {min(counts)} to {max(counts)} "
                f"requests a push, {seconds:5.2f} s from push to request ({said})",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pushes", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 10_000, 100_000])
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the Hub takes for each request")
    parser.add_argument("--merge", action="store_true", help="one of the open requests is merged before each push")
    parser.add_argument("--submissions", type=int, default=0, help="requests of others that are open at the source")
    parser.add_argument("--open", type=int, nargs="*", default=[], help="requests that are open while `serve` works")
    parser.add_argument("--layouts", nargs="*", choices=LAYOUTS, default=list(LAYOUTS), help="of the source")
    parser.add_argument(
        "--act", choices=("push", "commit", "merge", "nothing"), default="push", help="what is measured"
    )
    parser.add_argument("--fresh", action="store_true", help="each pass is that of a new process")
    options = parser.parse_args()
    more = {"merges": options.merge, "submissions": options.submissions}
    for layout in options.layouts if options.open else ():
        show_served(layout, options.sizes, options.open, options.pushes, options.delay, **more)
    for layout in () if options.open else options.layouts:
        smallest = least = 0.0
        for size in options.sizes:
            count, kinds, asked, seconds, own = measure(
                layout, size, options.pushes, options.delay, options.act, is_fresh=options.fresh
            )
            smallest, least = smallest or seconds, least or own
            said = ", ".join(f"{kind} {number / options.pushes:.1f}" for kind, number in kinds.most_common())
            print(
                f"{options.act} {layout:7} {size:7,} entries: {count:6.1f} requests ({said}), "
                f"{asked} statements, {seconds * 1000:7.1f} ms, ratio {seconds / smallest:5.2f}, "
                f"the bot's own {own * 1000:6.1f} ms, ratio {own / least:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
