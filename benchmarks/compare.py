"""`compare` of two runs with sample logs: its time against reading the logs, its memory, and its error rates.

    python benchmarks/compare.py [--rounds 3] [--draws 10000] [--large 200000]

Logs are generated in the form of lm-evaluation-harness 0.4.7: MMLU with 14,042 questions in 57 tasks and 5 examples in
each prompt. The bar compares pairing both runs with decoding each line of both logs with msgspec. Error rates are over
pairs of simulated runs of 6 tasks; the draws have odd seeds, and nothing was tuned on these.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.audits.samples.pairs import pair_logs
from bot.audits.samples.sample import document_hash, sha256
from bot.evaluation.statistics import LEVEL, Contrast, holm, independent_counts, interval_of_mean, paired_exact

QUESTIONS, TASKS = 14_042, 57
COLUMNS = 6  # tasks of a simulated comparison
CORRELATED = 0.7  # how often a run follows the difficulty of a question; two runs then correlate by 0.5


def write_log(path: Path, count: int, seed: int, task: str) -> None:
    """A log of one task of MMLU as the harness writes it."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            question = f"Question {number} of {task}: {'which of these is right, and why? ' * 6}"
            doc = {
                "question": question,
                "subject": task,
                "choices": ["one", "two", "three", "four"],
                "answer": number % 4,
            }
            prompt = f"{question}\nA. one\nB. two\nC. three\nD. four\nAnswer: A\n\n" * 6
            values = [-draw.random() * 5 for _ in range(4)]
            row = {
                "doc_id": number, "doc": doc, "target": str(number % 4),
                "arguments": {f"gen_args_{n}": {"arg_0": prompt, "arg_1": f" {'ABCD'[n]}"} for n in range(4)},
                "resps": [[[str(value), "False"]] for value in values],
                "filtered_resps": [[str(value), "False"] for value in values],
                "filter": "none", "metrics": ["acc"], "doc_hash": document_hash(doc), "prompt_hash": sha256(prompt),
                "target_hash": sha256(str(number % 4)), "acc": float(values.index(max(values)) == number % 4),
            }  # fmt: skip
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_runs(folder: Path, count: int, tasks: int) -> list[dict[str, Path]]:
    """The logs of two runs, by task."""
    runs = []
    for run in range(2):
        place = folder / str(run)
        place.mkdir()
        logs = {f"mmlu_{number}": place / f"samples_mmlu_{number}_2026-01-01T00-00-00.jsonl" for number in range(tasks)}
        for number, (task, log) in enumerate(logs.items()):
            write_log(log, count // tasks + (number < count % tasks), 1_000 * run + number, task)
        runs.append(logs)
    return runs


def read_plainly(runs: list[dict[str, Path]]) -> float:
    """The seconds of CPU for decoding each line of all logs."""
    begun = time.process_time()
    for logs in runs:
        for log in logs.values():
            with log.open("rb") as file:
                for line in file:
                    msgspec.json.decode(line)
    return time.process_time() - begun


def pair(runs: list[dict[str, Path]]) -> float:
    """The seconds of CPU for pairing both runs."""
    begun = time.process_time()
    found = pair_logs(list(runs[0].values()), list(runs[1].values()), "acc,none")
    assert not isinstance(found, str), found
    assert found.shared == found.larger
    return time.process_time() - begun


def measure_speed(rounds: int) -> None:
    """Print how many times as long pairing takes as reading."""
    with tempfile.TemporaryDirectory() as folder:
        runs = write_runs(Path(folder), QUESTIONS, TASKS)
        ratios = [pair(runs) / read_plainly(runs) for _ in range(rounds)]
    print(f"pairing two logs of {QUESTIONS:,} samples: {statistics.median(ratios):.2f} times reading them (bar: 3)")


def measure_memory(large: int) -> None:
    """Print the peak memory of a process that pairs few and many samples."""
    for count in (2_000, large):
        done = subprocess.run(
            [sys.executable, __file__, "--peak", str(count)], capture_output=True, text=True, check=True
        )
        print(f"peak memory with {count:,} samples a run: {done.stdout.strip()} MiB")


def peak(count: int) -> None:
    """Pair two runs of so many samples, and print the peak memory of the process."""
    with tempfile.TemporaryDirectory() as folder:
        pair(write_runs(Path(folder), count, 1))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f}")


def simulate(n: int, shares: tuple[float, float], seed: int, *, is_paired: bool) -> tuple[bool, bool]:
    """Whether a simulated comparison calls a task different, and whether the average.

    An answer is drawn by the difficulty of its question, or else on its own, so that the answers of two runs to one
    question are correlated, by 0.5.
    """
    draw = random.Random(2 * seed + 1)
    tests: list[Contrast] = []
    for _ in range(COLUMNS):
        drawn = Counter(draw.choices(range(4), chances(shares), k=n))
        both, first, second, neither = (drawn[place] for place in range(4))
        if is_paired:
            tests.append(paired_exact(both, first, second, neither))
        else:
            tests.append(independent_counts((both + first, n), (both + second, n)))
    adjusted = holm({str(place): one.p or 0.0 for place, one in enumerate(tests)})
    low, high = interval_of_mean(tests)  # the average's p is below LEVEL where 0 is outside
    return min(adjusted.values()) < LEVEL, low > 0 or high < 0


def chances(shares: tuple[float, float]) -> tuple[float, ...]:
    """The chances that both runs, the first alone, the second alone, or none answers a question rightly."""
    first, second = shares
    both = CORRELATED**2 * min(shares) + (1 - CORRELATED**2) * first * second
    return both, first - both, second - both, 1 - first - second + both


def measure_errors(draws: int) -> None:
    """Print how often a comparison is wrong where nothing differs, and right where 5 points do, in percent."""
    print("right  n      pairs  false: task  average   found: task  average   (percent)")
    for share in (0.05, 0.5, 0.95):
        for n in (30, 100, 1_000):
            for is_paired in (True, False):
                better = share + 0.05 if share < 0.9 else share - 0.05
                same, other = (rates((share, one), n, draws, is_paired=is_paired) for one in (share, better))
                pairs = "yes" if is_paired else "no"
                print(f"{share:<6} {n:<6} {pairs:<6} {same[0]:11.1f} {same[1]:8.1f} {other[0]:13.1f} {other[1]:8.1f}")


def rates(shares: tuple[float, float], n: int, draws: int, *, is_paired: bool) -> tuple[float, float]:
    """How often a task and the average are called different, in percent."""
    found = [simulate(n, shares, seed, is_paired=is_paired) for seed in range(draws)]
    return 100 * sum(one[0] for one in found) / draws, 100 * sum(one[1] for one in found) / draws


def main() -> None:
    """Measure everything."""
    call = argparse.ArgumentParser(description=__doc__)
    call.add_argument("--rounds", type=int, default=3)
    call.add_argument("--draws", type=int, default=10_000)
    call.add_argument("--large", type=int, default=200_000)
    call.add_argument("--peak", type=int, default=0, help=argparse.SUPPRESS)
    given = call.parse_args()
    if given.peak:
        peak(given.peak)
        return
    measure_speed(given.rounds)
    measure_memory(given.large)
    measure_errors(given.draws)


if __name__ == "__main__":
    main()
