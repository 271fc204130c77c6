"""What the first filling of a board costs: requests to the Hub, resident memory, seconds, and bytes of state a file.

A Hub on loopback, in a process of its own, holds a source of 10,000 and then of 100,000 result files, nested
(`org/model/results.json`) and flat (`org__model/results.json`); each is imported by a fresh process with the
command `leaderboard-bot import`. Bars: at most 2.2 requests for each 100 files and 100 besides; memory at most 1.3
times that of the smallest; at most 10,000 bytes of state a file. Status 1 where one is missed.

With `--kill 6` an import is killed (SIGKILL) six times, each time a random number of requests after its start, and
called again; a line for each kill shows how far it was. Besides the bar above each start may cost 20 requests, one for
each 500 rows that stand, and one commit that is sent again. Every run prints a digest of the rows; `--digest` takes
that of a calm run, and the rows must be the same.

    python benchmarks/import_board.py [--files 10000 100000] [--layouts nested flat] [--as commit] [--kill 6]
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import closing, suppress
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.world.git import Blob, Tree, blob_id
from tests.world.hub import Hub
from tests.world.results import TINY, result
from tests.world.server import served

LAYOUTS = {"nested": "org-{org}/model-{n}/results_1.json", "flat": "org-{org}__model-{n}/results_1.json"}
OF_AN_ORG = 100
KINDS = ("tree", "paths-info", "preupload", "commit", "refs", "git-upload-pack", "resolve", "discussions", "whoami")
REQUESTS, BESIDES, MEMORY, STATE = 2.2, 100, 1.3, 10_000
A_START = 20  # requests that a start costs, besides the listing of what stands
ROWS_A_PAGE = 500  # of a listing with 1,000 entries: a row is a file and a folder
MOMENT = 0.5  # seconds, at most, between a request and the kill


def tree_of(files: dict[str, bytes], commit: str) -> Tree:
    """A folder with these files, made at once."""
    nested: dict[str, Any] = {}
    for path, data in files.items():
        *folders, name = path.split("/")
        here = nested
        for folder in folders:
            here = here.setdefault(folder, {})
        here[name] = Blob(blob_id(data), data, commit)

    def made(items: dict[str, Any]) -> Tree:
        return Tree({name: made(item) if isinstance(item, dict) else item for name, item in items.items()})

    return made(nested)


def kind_of(path: str) -> str:
    """What a request was for."""
    return next((kind for kind in KINDS if f"/{kind}" in path), "other")


def serve(layout: str, count: int, ends: Connection) -> None:
    """A Hub with a full source: tells its address, and what stands there each time it is asked."""
    with served(Hub()) as hub:
        source, _ = hub.repository("acme/results"), hub.repository("acme/contents")
        hub.writers.add(("bot", "acme/contents"))
        files = {
            LAYOUTS[layout].format(org=n // OF_AN_ORG, n=n): result(
                f"org-{n // OF_AN_ORG}/model-{n}", right=(50, 60, n % 101)
            )
            for n in range(count)
        }
        first = source.main
        source.add(source.make(tree_of(files, first.oid), first, "fill", "", first.date, "acme"))
        del files
        gc.collect()
        gc.freeze()
        ends.send((hub.url, hub.person("bot")))
        while (asked := ends.recv()) != "end":
            ends.send(look(hub) if asked == "look" else len(hub.calls))


def look(hub: Hub) -> dict[str, Any]:
    """The kinds of the requests that came, the rows that stand, and a digest of them."""
    refs = hub.repositories["dataset", "acme/contents"].refs.values()
    rows = [{path: blob.oid for path, blob in one.tree.files() if path.startswith("entries/")} for one in refs]
    most = sorted(max(rows, key=len).items())
    return {
        "kinds": dict(Counter(kind_of(call.raw_path) for call in hub.calls[1:])),
        "rows": len(most),
        "digest": sha256(repr(most).encode()).hexdigest()[:16],
    }


class Runs:
    """The imports of one source, made one after the other with one state."""

    def __init__(self, layout: str, count: int, form: str, folder: Path) -> None:
        self.count, self.form, self.folder = count, form, folder
        self.hub, theirs = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self.process = spawn.Process(target=serve, args=(layout, count, theirs), daemon=True)
        self.process.start()
        self.url, self.token = self.hub.recv()
        (folder / "tiny.toml").write_text(TINY)
        advertised = urllib.request.Request(f"{self.url}/datasets/acme/results/info/refs?service=git-upload-pack")
        urllib.request.urlopen(advertised).read()  # the Hub keeps its repositories ready for git; this one makes it now
        self.megabytes = 0.0

    def look(self) -> dict[str, Any]:
        """What stands at the Hub now."""
        self.hub.send("look")
        found: dict[str, Any] = self.hub.recv()
        return found

    def end(self) -> None:
        """End the Hub."""
        self.hub.send("end")
        self.process.join()

    def calls(self) -> int:
        """How many requests came."""
        self.hub.send("calls")
        return int(self.hub.recv())

    def run(self) -> None:
        """One import, to its end."""
        running = self._started()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = status
        if status:
            raise SystemExit(f"the import ended with {status}")
        self.megabytes = usage.ru_maxrss / 1024

    def killed(self, requests: int, pause: float) -> bool:
        """One import, killed so many requests and then seconds after its start; False where it ended before."""
        running, before = self._started(), self.calls()
        while running.poll() is None and self.calls() < before + requests:
            time.sleep(0.05)
        time.sleep(pause)
        running.kill()
        return running.wait() != 0

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "HF_TOKEN": self.token, "HF_ENDPOINT": self.url}
        environment |= {
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "DATABASE_URL": f"sqlite:///{self.folder / 'state.db'}",
            "PYTHONPATH": str(Path(__file__).parent.parent),
        }
        command = [sys.executable, "-m", "bot", "import", "hf://datasets/acme/results"]
        command += ["--to", "hf://datasets/acme/contents", "--leaderboard", "tiny.toml", "--as", self.form, "--yes"]
        return subprocess.Popen(command, cwd=self.folder, env=environment)

    def read(self) -> int:
        """How many files the state knows; none before it is made."""
        with closing(sqlite3.connect(self.folder / "state.db")) as state, suppress(sqlite3.OperationalError):
            return int(state.execute("select count(*) from submissions").fetchone()[0])
        return 0


def measure(layout: str, count: int, form: str, kills: int, moments: random.Random) -> dict[str, Any]:
    """One import, killed and called again so many times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = Runs(layout, count, form, folder)
        start, again = time.monotonic(), 0
        for _ in range(kills):
            requests = moments.randrange(round(count / 100 * REQUESTS / kills * 1.6))
            if not runs.killed(requests, moments.uniform(0.0, MOMENT)):
                print("it came to its end before the kill", flush=True)
                break
            found = runs.look()
            again += A_START + found["rows"] // ROWS_A_PAGE + 1
            far = {"requests": sum(found["kinds"].values()), "read": runs.read(), "rows": found["rows"]}
            print("killed:", json.dumps(far), flush=True)
        runs.run()
        seconds = time.monotonic() - start
        state = sum(path.stat().st_size for path in folder.glob("state.db*"))
        found = runs.look()
        runs.end()
    if found["rows"] != count:
        raise SystemExit(f"{found['rows']} rows stand there, not {count}")
    return {
        "layout": layout,
        "files": count,
        "kills": kills,
        "requests": sum(found["kinds"].values()),
        "bar": round(count / 100 * REQUESTS + BESIDES + again),
        "kinds": found["kinds"],
        "megabytes": round(runs.megabytes, 1),
        "seconds": round(seconds, 1),
        "state_bytes_a_file": round(state / count),
        "digest": found["digest"],
    }


def misses(found: list[dict[str, Any]], digest: str) -> list[str]:
    """The bars that were missed."""
    said = []
    for one in found:
        what = f"{one['layout']} {one['files']}"
        least = min((other["files"], other["megabytes"]) for other in found if other["layout"] == one["layout"])[1]
        if one["requests"] > one["bar"]:
            said.append(f"{what}: {one['requests']} requests, not {one['bar']}")
        if one["megabytes"] > MEMORY * least:
            said.append(f"{what}: {one['megabytes'] / least:.2f} times the memory")
        if one["state_bytes_a_file"] > STATE:
            said.append(f"{what}: {one['state_bytes_a_file']} bytes of state a file")
        if one["kinds"]["commit"] > -(-one["files"] // 100) + one["kills"] + 1:  # the last one is the table
            said.append(f"{what}: {one['kinds']['commit']} commits")
        if digest and one["digest"] != digest:
            said.append(f"{what}: the rows are others, {one['digest']}")
    return said


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--layouts", nargs="+", default=list(LAYOUTS), choices=list(LAYOUTS))
    parser.add_argument("--as", dest="form", default="commit", choices=["commit", "pull-request"])
    parser.add_argument("--kill", type=int, default=0, help="kill each so many times, at random moments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--digest", default="", help="what a calm run printed")
    asked = parser.parse_args()
    moments, found = random.Random(asked.seed), []
    for layout in asked.layouts:
        for count in asked.files:
            found.append(measure(layout, count, asked.form, asked.kill, moments))
            print(json.dumps(found[-1]), flush=True)
    for line in misses(found, asked.digest):
        print("missed:", line)
    return bool(misses(found, asked.digest))


if __name__ == "__main__":
    sys.exit(main())
