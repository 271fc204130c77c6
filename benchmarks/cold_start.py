"""Processor time of `check` on one result file in a new process, beside the Hub's own command line saying its version.

Run: python benchmarks/cold_start.py
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = next((ROOT / "examples" / "results").rglob("*kestrel*/results_*.json"))
OURS = [sys.executable, "-m", "bot", "check", str(EXAMPLE)]
PEER = [str(Path(sys.executable).parent / "hf"), "version"]
EMPTY = [sys.executable, "-c", "pass"]


def processor_time(command: list[str]) -> float:
    """User and system seconds of one run."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    call = parser.parse_args()
    commands = {"check, one file": OURS, "hf version": PEER, "python -c pass": EMPTY}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(call.rounds):
        for name, command in commands.items():
            times[name].append(processor_time(command))
    for name, seconds in times.items():
        print(f"{name:16} {statistics.median(seconds):.3f} s of processor time (min {min(seconds):.3f})")
    ratio = statistics.median(a / b for a, b in zip(times["check, one file"], times["hf version"], strict=True))
    print(f"check / hf version = {ratio:.2f}; bar: check under 0.45 s")


if __name__ == "__main__":
    main()
