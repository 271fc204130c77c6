"""The Action from an empty environment to its verdict, download cache warm: seconds by stage, installed megabytes.

Beside it the same with every extra installed (web server, data frame, charts), which is what a light core saves.
Run: python benchmarks/action_cold.py
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
INTERPRETER = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
CORE = ["--no-default-groups", "--no-install-project"]  # as action.yml installs
ALL = ["--no-default-groups", "--no-install-project", "--all-extras"]
BAR = 120


def timed(command: list[str], environment: dict[str, str], folder: Path) -> float:
    """Wall-clock seconds of one command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def megabytes(folder: Path) -> float:
    """What a folder's files take, 1 MB being 10^6 bytes; byte code that a run wrote is not there yet."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink()) / 1e6


def one_round(extras: list[str], scratch: Path) -> tuple[float, float, float, float]:
    """Seconds to install, to the first verdict, to a second one; and megabytes installed."""
    environment = scratch / "environment"
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "UV_CACHE_DIR": subprocess.check_output([UV, "cache", "dir"], text=True).strip(),
        "UV_LINK_MODE": "copy",  # as where cache and environment are on two disks: nothing is shared
        "UV_OFFLINE": "1",
        "UV_PROJECT_ENVIRONMENT": str(environment),
        "UV_PYTHON": str(INTERPRETER),
        "PYTHONPATH": str(ROOT),
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_REPOSITORY": "acme/results",
        "GITHUB_WORKSPACE": str(ROOT / "examples" / "results"),
        "INPUT_RESULTS": "example-org__kestrel-7b",
        "RUNNER_TEMP": str(scratch),
    }
    install = timed([UV, "sync", "--quiet", "--no-config", "--locked", *extras], variables, ROOT)
    size = megabytes(environment)
    run = [str(environment / "bin" / "python"), "-P", "-m", "bot.action"]
    first, second = (timed(run, variables, scratch) for _ in range(2))
    return install, first, second, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    call = parser.parse_args()
    rounds: dict[str, list[tuple[float, float, float, float]]] = {"core": [], "all extras": []}
    for _ in range(call.rounds):
        for name, extras in (("core", CORE), ("all extras", ALL)):
            with tempfile.TemporaryDirectory() as scratch:
                rounds[name].append(one_round(extras, Path(scratch)))
    print(f"{'':12} {'install':>9} {'verdict':>9} {'again':>9} {'installed':>10}")
    for name, found in rounds.items():
        install, first, second, size = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{name:12} {install:7.2f} s {first:7.2f} s {second:7.2f} s {size:7.1f} MB")
    pairs = list(zip(rounds["all extras"], rounds["core"], strict=True))
    seconds = statistics.median((a[0] + a[1]) / (b[0] + b[1]) for a, b in pairs)
    size = pairs[0][0][3] / pairs[0][1][3]
    print(f"all extras / core: {seconds:.2f} times the seconds to a verdict, {size:.2f} times the size")
    print(f"core: {rounds['core'][0][3]:.1f} MB; bar: under {BAR} MB")


if __name__ == "__main__":
    main()
