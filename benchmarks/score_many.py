"""The commands `score` and `check --format json` over many result files, against json.load on the same files.

Ours is the whole command in a process of its own: start, walking the folder, reading, all rules, rows joined
and scored, the table written. The two take turns, so that a change of the machine's speed meets both. With one process
processor time counts, which other work on the machine disturbs least; with two the time on the clock does. The byte
code of our modules is there, as after an installation.

1,500 large files of a kind: `equal` (generated files of about 100 KB with the same configurations), `different` (each
configuration names the model, as of harness 0.4.9), `compact` (the same, without white space), `mixed` (the shapes
of old and new harnesses, of single tasks, and of other formats), and `otherwise` (each file asks each task something
that no other file asks).

1,200 small files of a kind, as long as those that are public: `lighteval`, `olmes`, `mteb`, `every-eval-ever`, and
`form` (a layout that the declaration says). The declaration is drafted from the first file. What counts is the time of
`score` less that of the same command on one file.
Run: python benchmarks/score_many.py [--kind KIND]
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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

from make_results import dumps, limited, make_result, of_release, without  # noqa: E402
from small_results import FORM, SMALL  # noqa: E402

from bot.evaluation.leaderboard import load_leaderboard  # noqa: E402

LARGE = ("equal", "different", "compact", "mixed", "otherwise")
OF_SCORE, OF_CHECK, OF_TWO, OF_SMALL = 3, 6, 1.8, 6  # the bars, as multiples of json.load


def write_files(folder: Path, count: int, kind: str) -> list[str]:
    """Nine in ten are sound; the others lack a subtask, were limited, or come from an old harness.

    Unless they are of the kind "equal", no two files have the same configurations: each has the name of the model, and
    of the kind "otherwise" also where it decides what was asked.
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
            if kind == "otherwise":
                config["description"] = f"Answer as {model} does.\n\n"
        if kind == "mixed":
            result = SHAPES[number % len(SHAPES)](result)
        path = folder / f"results_{number}.json"
        text = json.dumps(result, separators=(",", ":")) if kind == "compact" else dumps(result)
        path.write_text(text, encoding="utf-8")
        files.append(str(path))
    return files


def as_written(result: dict[str, Any]) -> dict[str, Any]:
    """A file of harness 0.4.9."""
    return result


def of_040(result: dict[str, Any]) -> dict[str, Any]:
    """The same as harness 0.4.0 wrote it, without counts and release."""
    newer = {"n-samples", "higher_is_better", "lm_eval_version", "group_subtasks", "task_hashes", "chat_template_sha"}
    return {key: value for key, value in result.items() if key not in newer}


def of_one_task(result: dict[str, Any]) -> dict[str, Any]:
    """A run of one subtask alone: small, as most files on the Hub are."""
    key = "leaderboard_mmlu_pro"
    own = {"results", "configs", "versions", "n-shot", "n-samples", "higher_is_better"}
    small = {name: {key: table[key]} for name, table in result.items() if name in own}
    return {**result, **small, "groups": {}, "group_subtasks": {}}


def of_03(result: dict[str, Any]) -> dict[str, Any]:
    """A file of harness 0.3: rows, versions and the call."""
    rows = {
        key: {name.partition(",")[0]: value for name, value in row.items()} for key, row in result["results"].items()
    }
    call = {
        "model": "hf-causal",
        "model_args": f"pretrained={result['model_name']}",
        "num_fewshot": 5,
        "no_cache": True,
    }
    return {"results": rows, "versions": dict.fromkeys(rows, 1), "config": call}


def of_lighteval(result: dict[str, Any]) -> dict[str, Any]:
    """A file of lighteval, with a configuration for each task."""
    rows = {f"leaderboard|{key}|5": {"acc": 0.5, "acc_stderr": 0.01} for key in result["results"]}
    called = {"model_name": result["model_name"], "model_sha": "", "model_dtype": "torch.bfloat16", "max_samples": None}
    tasks = {key.rpartition("|")[0]: {"name": key, "prompt_function": "mmlu", "metric": ["acc"]} for key in rows}
    return {"config_general": called, "results": rows, "versions": dict.fromkeys(rows, 0), "config_tasks": tasks}


SHAPES = (as_written, of_040, of_one_task, as_written, of_03, of_lighteval)


def load_all(files: list[str]) -> tuple[float, float]:
    """Seconds for json.load alone: of the processor, and on the clock."""
    clock, processor = time.perf_counter(), time.process_time()
    for name in files:
        with open(name, encoding="utf-8") as file:
            json.load(file)
    return time.process_time() - processor, time.perf_counter() - clock


def run(folder: str, kept: str, *call: str) -> tuple[float, float, str]:
    """Seconds for a command of ours, of the processor and on the clock, and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "bot", *call, folder],
        env={**environment, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": kept},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, time.perf_counter() - clock, done.stdout


def measure_large(kind: str, count: int, rounds: int, kept: str) -> None:
    """Measure one kind of large files, and print a line for each figure."""
    theirs, scored, together, checked = [], [], [], []
    table = ""
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), count, kind)
        load_all(files)
        for _ in range(rounds):
            theirs.append(load_all(files))
            *seconds, table = run(folder, kept, "score", "--format", "csv", "--jobs", "1")
            scored.append(seconds[0])
            checked.append(run(folder, kept, "check", "--format", "json", "--jobs", "1")[0])
            together.append(run(folder, kept, "score", "--format", "csv", "--jobs", "2")[1])
        say_files(kind, files, table)
    loaded = [processor for processor, _ in theirs]
    print(f"  json.load            {statistics.median(loaded):.2f} s (processor)")
    show("score, one process", scored, loaded, OF_SCORE)
    show("check, one process", checked, loaded, OF_CHECK)
    show("score, two, clock", together, [clock for _, clock in theirs], OF_TWO)


def measure_small(kind: str, count: int, rounds: int, kept: str) -> None:
    """Measure one kind of small files, and print a line."""
    theirs, scored = [], []
    table = ""
    with tempfile.TemporaryDirectory() as folder:
        files, one, board = Path(folder, "files"), Path(folder, "one"), Path(folder, "board.toml")
        names = []
        for root, number in ((one, 1), (files, count)):
            for path, value in (SMALL[kind](place) for place in range(number)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(json.dumps(value, indent=2), encoding="utf-8")
                names += [str(root / path)] if root is files else []
        drafted = FORM if kind == "form" else run(str(one), kept, "leaderboards", "draft")[2]
        board.write_text(drafted, encoding="utf-8")
        call = ("score", "--leaderboard", str(board), "--format", "csv", "--jobs", "1")
        load_all(names)
        for _ in range(rounds):
            theirs.append(load_all(names)[0])
            many, _, table = run(str(files), kept, *call)
            scored.append(many - run(str(one), kept, *call)[0])
        say_files(kind, names, table)
    print(f"  json.load            {statistics.median(theirs):.3f} s (processor)")
    show("score, less one file", scored, theirs, OF_SMALL)


def say_files(kind: str, files: list[str], table: str) -> None:
    """Print what the files are, and the verdicts on their rows."""
    size = sum(Path(name).stat().st_size for name in files) / len(files)
    verdicts = Counter(row["verdict"] for row in csv.DictReader(io.StringIO(table)))
    print(f"{kind}: {len(files)} files of {size / 1000:.1f} KB on average: {dict(verdicts)}", flush=True)


def show(name: str, ours: list[float], theirs: list[float], bar: float) -> None:
    """Print the median of our seconds, and of the ratios."""
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(
        f"  {name:20} {statistics.median(ours):.2f} s: {statistics.median(ratios):.2f} times ({spread}); bar: {bar}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1500, help="large ones")
    parser.add_argument("--small", type=int, default=1200, help="small ones")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", choices=(*LARGE, *SMALL))
    call = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        run(str(ROOT / "examples" / "results"), kept, "score")
        for kind in [call.kind] if call.kind else (*LARGE, *SMALL):
            if kind in LARGE:
                measure_large(kind, call.files, call.rounds, kept)
            else:
                measure_small(kind, call.small, call.rounds, kept)


if __name__ == "__main__":
    main()
