"""Count the requests to the Hub that `verify` of a board costs, where each row has a source commit of its own.

A Hub on loopback holds a source with one commit for each result, and a board with a row for each. The whole command
runs in a process of its own, without a token. Bar: at most 2.2 requests for each 100 rows, and 100 besides. Status 1
where it is missed, or where a row does not follow.

    python benchmarks/verify_board.py [--rows 100 1000 4000] [--one-commit]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.push_cost import kind_of  # noqa: E402
from bot.evaluation.leaderboard import parse_leaderboard  # noqa: E402
from bot.publishing.entry import declaration_path  # noqa: E402
from tests.evaluation.judging import entry_from  # noqa: E402
from tests.world.hub import Hub  # noqa: E402
from tests.world.results import TINY, path_of, result  # noqa: E402
from tests.world.server import served  # noqa: E402

BOARD = parse_leaderboard(TINY, "tiny", "tiny.toml")


def fill(hub: Hub, rows: int, *, is_one_commit: bool) -> None:
    """A source with the results, and a board with a row for each of them."""
    source, target = hub.repository("acme/results"), hub.repository("acme/contents")
    files: dict[str, bytes | None] = {declaration_path(BOARD.digest): TINY.encode()}
    models = [f"org-{n // 100}/model-{n}" for n in range(rows)]
    results: dict[str, bytes | None] = {path_of(model): result(model) for model in models}
    commit = hub.push(source, results).oid if is_one_commit else ""
    for path, data in results.items():
        assert data is not None
        oid = commit or hub.push(source, {path: data}).oid
        entry = entry_from(data, BOARD, path, source="hf://datasets/acme/results", commit=oid)
        files[entry.path] = entry.to_bytes()
    hub.push(target, files)


def measure(rows: int, *, is_one_commit: bool) -> bool:
    """Print the requests of one board; whether they are within the bar, and every row follows."""
    with served(Hub()) as hub, tempfile.TemporaryDirectory() as name:
        fill(hub, rows, is_one_commit=is_one_commit)
        hub.calls.clear()
        environment = {"PATH": os.environ["PATH"], "HOME": name, "HF_ENDPOINT": hub.url, "PYTHONPATH": str(ROOT)}
        start = time.perf_counter()
        command = [sys.executable, "-m", "bot", "verify", "hf://datasets/acme/contents", "--quiet"]
        done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True, check=False)
        seconds, count = time.perf_counter() - start, len(hub.calls)
        kinds = Counter(kind_of(call.raw_path) for call in hub.calls)
    bar = 2.2 * rows / 100 + 100
    said = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    print(f"{rows:7,} rows: {count} requests (bar {bar:.0f}; {said}), {seconds:.1f} s, status {done.returncode}")
    print(f"        {(done.stdout or done.stderr).strip().splitlines()[-1]}", flush=True)
    return count <= bar and done.returncode == 0


def main() -> int:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 1_000, 4_000])
    parser.add_argument("--one-commit", action="store_true", help="all results came with one commit")
    options = parser.parse_args()
    within = [measure(rows, is_one_commit=options.one_commit) for rows in options.rows]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
