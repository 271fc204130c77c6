"""How much faster DROP samples are scored and audited here than lm-evaluation-harness scores them.

python benchmarks/drop.py                    the scorer, and `audit drop` as a whole command on logs of three sizes
python benchmarks/drop.py --stream 2000000   peak memory while one log is audited, at 10, 50 and 100 %
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from statistics import median
from string import ascii_letters
from typing import Any

import msgspec

from bot.audits.drop.audit import LogAudit, LogAuditor, audit_drop
from bot.audits.drop.scorer import Golds, Scorer
from bot.cli.processes import choose_jobs

# fmt: off
WORDS = [
    "the", "of", "a", "in", "yards", "goal", "field", "Bears", "Packers", "first", "second", "census",
    "population", "percent", "team", "scored", "touchdown", "quarter", "longest", "season", "Chicago", "city",
    "year", "kicked", "passage", "question", "answer", "game", "which", "led", "opened", "against",
]
# fmt: on
QUESTIONS, SCORER_BAR, COMMAND_BAR = 9536, 15.0, 7.0
# DROP's passages have about 210 words; a few-shot prompt repeats three others before the question's own.
PASSAGE_WORDS = 210
LOGS = ("0-shot", "3-shot")


def golds_of(random: Random) -> Golds:
    """Make the gold answers of a question: a number in two of three, a decimal in one of twelve, else text."""
    kind = random.random()
    if kind < 0.08:
        answer: tuple[str, ...] = (f"{random.uniform(1, 99):.2f}",)
    elif kind < 0.65:
        answer = (str(random.randrange(2000)),)
    else:
        answer = tuple(" ".join(random.choices(WORDS, k=2)) for _ in range(random.choice((1, 1, 1, 2, 3))))
    others = [(" ".join(random.choices(WORDS, k=2)),)] if random.random() < 0.5 else []
    return (answer, *others)


def generation_of(random: Random, golds: Golds) -> str:
    """Make a generation: right or wrong, and half of them run on into the next passage, up to the stop word."""
    right = random.random() < 0.4
    answer = ", ".join(golds[0]) if right else " ".join(random.choices(WORDS, k=2))
    text = f" {answer}".partition(".")[0]
    if random.random() < 0.5:
        return text
    return f"{text}\n\nPassage: {' '.join(word_of(random) for _ in range(28))}"


def word_of(random: Random) -> str:
    """Make a word of running text: one in ten is a number, one in thirty is new."""
    kind = random.random()
    if kind < 0.1:
        return str(random.randrange(2000))
    return "".join(random.choices(ascii_letters, k=7)) if kind < 0.13 else random.choice(WORDS)


def board(seed: int, questions: int, models: int) -> Iterator[tuple[int, str, Golds]]:
    """Yield (question, generation, golds): each question once for each model, with the same golds."""
    random = Random(seed)
    golds = [golds_of(random) for _ in range(questions)]
    for _ in range(models):
        for number, answers in enumerate(golds):
            yield number, generation_of(random, answers), answers


def harness() -> Any:
    """Load the harness's scorer: its own file, without the package, whose import takes seconds."""
    package = find_spec("lm_eval")
    if package is None or package.origin is None:
        sys.exit("lm-eval is not installed: uv sync --group oracle")
    spec = spec_from_file_location("harness_drop", Path(package.origin).parent / "tasks/drop/utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.process_results({"answers": (("10",),)}, ["10"])
    return module


def timed(score: Callable[[str, Golds], Any], samples: list[tuple[str, Golds]]) -> tuple[float, list[Any]]:
    """Return processor seconds and the scores."""
    start = time.process_time()
    scores = [score(prediction, golds) for prediction, golds in samples]
    return time.process_time() - start, scores


def compare_scorers(samples: list[tuple[str, Golds]], theirs: Any) -> tuple[float, float]:
    """Return the seconds of both scorers, and require equal scores."""
    slow, expected = timed(lambda text, golds: theirs.process_results({"answers": golds}, [text]), samples)
    fast, scores = timed(Scorer().score, samples)
    assert [(float(one["em"]), float(one["f1"])) for one in expected] == scores, "scores differ"
    return slow, fast


def write_logs(folder: Path, kind: str, rows: Sequence[tuple[int, str, Golds]], models: int) -> Path:
    """Write a log for each model: rows of the harness's own with 0 or 3 shots."""
    random, scorer = Random(3), Scorer()
    passages = [" ".join(word_of(random) for _ in range(PASSAGE_WORDS)) for _ in range(512)]
    folder.mkdir()
    for model, first in enumerate(range(0, len(rows), len(rows) // models)):
        with (folder / f"samples_drop_{model}.jsonl").open("w", encoding="utf-8") as log:
            for number, text, golds in rows[first : first + len(rows) // models]:
                asked = [f"{passages[(number + shot) % 512]} How many in game {number}?" for shot in range(4)]
                row = harness_row(number, asked[0], "\n\n".join(asked[1 : 1 + int(kind[0])]), text, golds)
                log.write(json.dumps(row | scorer.score(text, golds)._asdict()) + "\n")
    return folder


def harness_row(number: int, asked: str, shots: str, text: str, golds: Golds) -> dict[str, Any]:
    """Make a row as release 0.4.7 and later write it."""
    passage, _, question = asked.partition(" How many")
    prompt = {"gen_args_0": {"arg_0": f"{shots}\n\n{asked}", "arg_1": {"until": ["."], "do_sample": False}}}
    hashes = dict.fromkeys(("doc_hash", "prompt_hash", "target_hash"), f"{number:064}")
    doc = {"section_id": f"s{number}", "passage": passage, "question": f"How many{question}", "answers": golds}
    row = {"doc_id": number, "doc": doc, "target": golds[0][0], "arguments": prompt, "resps": [[text]]}
    return row | {"filtered_resps": [text], "filter": "none", "metrics": ["em", "f1"]} | hashes


def command_seconds(logs: Path, jobs: int) -> tuple[float, float]:
    """Return processor seconds and seconds on the clock of the whole command, its start included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "bot", "audit", "drop", str(logs), "--jobs", str(jobs), "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode in {0, 1}, "the command failed"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start


def compare(questions: int, models: int, rounds: int) -> None:
    """Compare in turns, so that a busy machine slows both sides."""
    rows = list(board(1, questions, models))
    # Through JSON, as from a log: equal golds are equal tuples, not the same one.
    packed = msgspec.json.encode([row[1:] for row in board(1, 2000, 10)])
    samples, theirs = msgspec.json.decode(packed, type=list[tuple[str, Golds]]), harness()
    found: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        logs = {kind: write_logs(Path(folder, kind), kind, rows, models) for kind in LOGS}
        for _ in range(rounds):
            slow, fast = (seconds / len(samples) for seconds in compare_scorers(samples, theirs))
            found["harness"].append(1 / slow)
            found["scorer"].append(slow / fast)
            for kind, path in logs.items():
                seconds, alone = command_seconds(path, 1)
                found[kind].append(slow * len(rows) / seconds)
                found[f"{kind} shared"].append(alone / command_seconds(path, 0)[1])
        sizes = {kind: sum(log.stat().st_size for log in path.iterdir()) / len(rows) for kind, path in logs.items()}
    report(rows, models, found, sizes)


def report(
    rows: list[tuple[int, str, Golds]], models: int, found: dict[str, list[float]], sizes: dict[str, float]
) -> None:
    """Print the medians, and end with 1 where a bar is missed."""
    middle = {name: median(values) for name, values in found.items()}
    characters = sum(len(text) for _, text, _ in rows) / len(rows)
    print(f"{len(rows):,} samples of {models} models, {characters:.0f} characters; all scores equal")
    print(f"the harness's scorer: {middle['harness']:,.0f} samples/s")
    print(f"our scorer: ratio {middle['scorer']:.1f} (bar {SCORER_BAR:.0f})")
    for kind in LOGS:
        print(
            f"`audit drop` as a whole, {kind} logs of {sizes[kind]:,.0f} bytes a sample: ratio {middle[kind]:.1f}"
            f" on one core (bar {COMMAND_BAR:.0f}), {middle[f'{kind} shared']:.2f} times as fast with"
            f" {choose_jobs(0, 1_000)} processes"
        )
    print("repeat it with: python benchmarks/drop.py")
    sys.exit(0 if middle["scorer"] >= SCORER_BAR and min(middle[kind] for kind in LOGS) >= COMMAND_BAR else 1)


def write_stream(path: str, samples: int) -> None:
    """Write a log of harness rows into a pipe: nothing of it is ever stored."""
    models = -(-samples // QUESTIONS)
    with Path(path).open("w", encoding="utf-8") as log:
        for _, (number, text, golds) in zip(range(samples), board(2, QUESTIONS, models), strict=False):
            row = harness_row(number, "Passage " * 60 + f"How many {number}?", "", text, golds)
            log.write(json.dumps(row) + "\n")


def stream(samples: int) -> None:
    """Audit a log from a pipe and print the peak memory while it is read."""
    marks = {samples // 10: "10 %", samples // 2: "50 %", samples: "100 %"}

    class Watched(LogAuditor):
        counted = 0

        def _count(self, *arguments: Any) -> None:
            super()._count(*arguments)
            self.counted += 1
            if self.counted in marks:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"{marks[self.counted]:>5}: {self.counted:>9,} samples, peak {peak:.1f} MiB", flush=True)

    def watched(_: LogAuditor, logs: Sequence[Path]) -> Iterable[LogAudit]:
        return map(Watched(None, 3), logs)

    with tempfile.TemporaryDirectory() as folder:
        pipe = Path(folder, "samples_drop.jsonl")
        os.mkfifo(pipe)
        writer = multiprocessing.get_context("spawn").Process(target=write_stream, args=(str(pipe), samples))
        writer.start()
        start = time.process_time()
        audit = audit_drop([pipe], audit_logs=watched)
        seconds = time.process_time() - start
        writer.join()
    print(f"{audit.figures.samples:,} samples audited, {audit.figures.samples / seconds:,.0f}/s: {audit.health}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", type=int, metavar="SAMPLES")
    call = parser.parse_args()
    if call.stream:
        stream(call.stream)
    else:
        compare(call.questions, call.models, call.rounds)


if __name__ == "__main__":
    main()
