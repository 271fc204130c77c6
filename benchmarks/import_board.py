"""What the first filling of a board costs: requests to the Hub, resident memory, seconds, and bytes of state a file.

A Hub on loopback, in a process of its own, holds a source of 10,000 and then of 100,000 result files, nested
(`org/model/results.json`) and flat (`org__model/results.json`); each is imported by a fresh process with the
command `leaderboard-bot import`. Bars: at most 2.2 requests for each 100 files and 100 besides; memory at most 1.3
times that of the smallest; at most 10,000 bytes of state a file. Status 1 where one is missed.

    python benchmarks/import_board.py [--files 10000 100000] [--layouts nested flat] [--as commit]
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
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
    """A Hub with a full source: tells its address, and in the end the kinds of the requests that came."""
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
        ends.recv()
        kinds = Counter(kind_of(call.raw_path) for call in hub.calls[1:])
        target = hub.repositories["dataset", "acme/contents"]
        rows = {
            ref: sum(path.startswith("entries/") for path, _ in commit.tree.files())
            for ref, commit in target.refs.items()
        }
        ends.send((kinds, max(rows.values())))


def measure(layout: str, count: int, form: str) -> dict[str, Any]:
    """One import."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(layout, count, theirs), daemon=True)
    process.start()
    url, token = ours.recv()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiny.toml").write_text(TINY)
        advertised = urllib.request.Request(f"{url}/datasets/acme/results/info/refs?service=git-upload-pack")
        urllib.request.urlopen(advertised).read()  # the Hub keeps its repositories ready for git; this one makes it now
        environment = {**os.environ, "HF_TOKEN": token, "HF_ENDPOINT": url, "XDG_CACHE_HOME": str(folder / "cache")}
        environment |= {
            "DATABASE_URL": f"sqlite:///{folder / 'state.db'}",
            "PYTHONPATH": str(Path(__file__).parent.parent),
        }
        command = [
            sys.executable,
            "-m",
            "bot",
            "import",
            "hf://datasets/acme/results",
            "--to",
            "hf://datasets/acme/contents",
        ]
        command += ["--leaderboard", "tiny.toml", "--as", form, "--yes"]
        start = time.monotonic()
        running = subprocess.Popen(command, cwd=folder, env=environment)
        _, status, usage = os.wait4(running.pid, 0)
        seconds = time.monotonic() - start
        running.returncode = status
        if status:
            raise SystemExit(f"the import ended with {status}")
        state = sum(path.stat().st_size for path in folder.glob("state.db*"))
    ours.send("end")
    kinds, rows = ours.recv()
    process.join()
    if rows != count:
        raise SystemExit(f"{rows} rows stand there, not {count}")
    return {
        "layout": layout,
        "files": count,
        "requests": sum(kinds.values()),
        "kinds": dict(kinds),
        "megabytes": round(usage.ru_maxrss / 1024, 1),
        "seconds": round(seconds, 1),
        "state_bytes_a_file": round(state / count),
    }


def misses(found: list[dict[str, Any]]) -> list[str]:
    """The bars that were missed."""
    said = []
    for one in found:
        least = min((other["files"], other["megabytes"]) for other in found if other["layout"] == one["layout"])[1]
        if one["requests"] > one["files"] / 100 * REQUESTS + BESIDES:
            said.append(f"{one['layout']} {one['files']}: {one['requests']} requests")
        if one["megabytes"] > MEMORY * least:
            said.append(f"{one['layout']} {one['files']}: {one['megabytes'] / least:.2f} times the memory")
        if one["state_bytes_a_file"] > STATE:
            said.append(f"{one['layout']} {one['files']}: {one['state_bytes_a_file']} bytes of state a file")
    return said


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--layouts", nargs="+", default=list(LAYOUTS), choices=list(LAYOUTS))
    parser.add_argument("--as", dest="form", default="commit", choices=["commit", "pull-request"])
    asked = parser.parse_args()
    found = []
    for layout in asked.layouts:
        for count in asked.files:
            found.append(measure(layout, count, asked.form))
            print(json.dumps(found[-1]), flush=True)
    for line in misses(found):
        print("missed:", line)
    return bool(misses(found))


if __name__ == "__main__":
    sys.exit(main())
