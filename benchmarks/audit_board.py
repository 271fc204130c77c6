"""The command `audit board` on a table of 5,000 rows and 30 columns, against reading the table with csv.

The time is the processor's, of the whole command in a process of its own less that of the same command on 20 rows; the
memory is the most that it had. A second table has one cell of 5e-324, whose digits no sum may be made of.
Run: python benchmarks/audit_board.py
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
BAR = 10  # times csv
FEW = 20  # rows, the fewest that are judged


def write_table(path: Path, rows: int, columns: int, odd: str = "") -> None:
    """Rows of models of different strength, with two decimals; `odd` is the first cell."""
    random = Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["model", *(f"Task {number}" for number in range(columns))])
        for row in range(rows):
            strength = random.gauss(50, 15)
            cells = [f"{min(99.9, max(0.1, random.gauss(strength, 8))):.2f}" for _ in range(columns)]
            writer.writerow([f"example-org/model-{row}", *([odd, *cells[1:]] if odd and not row else cells)])


def run(path: Path) -> tuple[float, int]:
    """Seconds of the processor for the command, and the most memory of a child so far in KB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "bot", "audit", "board", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(call, env=environment, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def read(path: Path) -> float:
    """Seconds of the processor for csv alone."""
    before = time.process_time()
    with path.open(newline="", encoding="utf-8") as file:
        list(csv.reader(file))
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    call = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder, "few.csv")
        write_table(few, FEW, call.columns)
        run(few)
        for name, odd in (("two decimals", ""), ("one cell of 5e-324", "5e-324")):
            path = Path(folder, "table.csv")
            write_table(path, call.rows, call.columns, odd)
            ratios, memory = [], 0
            for _ in range(call.rounds):
                theirs = read(path)
                seconds, memory = run(path)
                ratios.append((seconds - run(few)[0]) / theirs)
            spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
            print(f"{name}: {statistics.median(ratios):.1f} times csv ({spread}); bar: {BAR}; {memory / 1000:.0f} MB")


if __name__ == "__main__":
    main()
