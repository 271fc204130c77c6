"""The command `score` over 1,500 generated result files of about 70 KB, against json.load on the same files.

Ours is the whole command in a process of its own: start, walking the folder, reading, all rules, rows joined
and scored, the table written. The two take turns, so that a change of the machine's speed meets both. With one process
processor time counts, which other work on the machine disturbs least; with all of them the time on the clock does. The
byte code of our modules is there, as after an installation.
Run: python benchmarks/score_many.py
     python benchmarks/score_many.py --kind different    each configuration names the model, as of harness 0.4.9
     python benchmarks/score_many.py --kind compact      the same, without white space
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

from make_results import dumps, limited, make_result, of_release, without  # noqa: E402

from bot.evaluation.leaderboard import load_leaderboard  # noqa: E402


def write_files(folder: Path, count: int, kind: str) -> list[str]:
    """Nine in ten are sound; the others lack a subtask, were limited, or come from an old harness.

    Unless they are of the kind "equal", no two files have the same configurations: each has the name of the model.
    """
    random, files = Random(0), []
    board = load_leaderboard("open-llm-v2")
    for number in range(count):
        model = f"example-org/model-{number}"
        result = make_result(model, random.uniform(0.05, 0.8), padding=560, leaderboard=board)
        if number % 30 == 0:
            result = without(result, "leaderboard_bbh_snarks")
        elif number % 30 == 10:
            result = limited(result, 50)
        elif number % 30 == 20:
            result = of_release(result, "3fa4fd72")
        for config in result["configs"].values() if kind != "equal" else ():
            config["metadata"]["pretrained"] = model
        path = folder / f"results_{number}.json"
        text = json.dumps(result, separators=(",", ":")) if kind == "compact" else dumps(result)
        path.write_text(text, encoding="utf-8")
        files.append(str(path))
    return files


def load_all(files: list[str]) -> tuple[float, float]:
    """Seconds for json.load alone: of the processor, and on the clock."""
    clock, processor = time.perf_counter(), time.process_time()
    for name in files:
        with open(name, encoding="utf-8") as file:
            json.load(file)
    return time.process_time() - processor, time.perf_counter() - clock


def score_all(folder: str, jobs: int, kept: str) -> tuple[float, float, Counter[str]]:
    """Seconds for the command, of the processor and on the clock, and how many rows of each verdict it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "bot", "score", folder, "--format", "csv", "--jobs", str(jobs)],
        env={**environment, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": kept},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    verdicts = Counter(row["verdict"] for row in csv.DictReader(io.StringIO(done.stdout)))
    return processor, time.perf_counter() - clock, verdicts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", choices=["equal", "different", "compact"], default="equal")
    call = parser.parse_args()
    theirs, alone, together = [], [], []
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        files = write_files(Path(folder), call.files, call.kind)
        size = sum(Path(name).stat().st_size for name in files) / len(files)
        load_all(files)
        score_all(files[0], 1, kept)
        for _ in range(call.rounds):
            theirs.append(load_all(files))
            *seconds, verdicts = score_all(folder, 1, kept)
            alone.append(seconds)
            together.append(score_all(folder, 0, kept)[1])
    ratios = [ours[0] / load[0] for ours, load in zip(alone, theirs, strict=True)]
    all_cores = [ours / load[1] for ours, load in zip(together, theirs, strict=True)]
    print(f"{len(files)} files of {size / 1000:.1f} KB on average: {dict(verdicts)}")
    print(f"json.load     {statistics.median(load for load, _ in theirs):.2f} s (processor, median of {call.rounds})")
    print(f"score         {statistics.median(ours[0] for ours in alone):.2f} s (processor), one process")
    print(f"ratio         {statistics.median(ratios):.2f} (min {min(ratios):.2f}, max {max(ratios):.2f}); bar: 3")
    print(
        f"all cores     {statistics.median(together):.2f} s (clock): {statistics.median(all_cores):.2f} times; bar: 1.8"
    )


if __name__ == "__main__":
    main()
