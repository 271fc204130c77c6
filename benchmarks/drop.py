"""DROP samples of a made-up board in; how much faster than lm-evaluation-harness they are scored, out.

python benchmarks/drop.py                    one core, same samples, same run, results equal
python benchmarks/drop.py --stream 2000000   peak memory while one log is audited, at 10, 50 and 100 %
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from statistics import median
from string import ascii_letters
from typing import Any

import msgspec

from bot.audit.drop.audit import audit_drop
from bot.audit.drop.scorer import Golds, Scorer

# fmt: off
WORDS = [
    "the", "of", "a", "in", "yards", "goal", "field", "Bears", "Packers", "first", "second", "census",
    "population", "percent", "team", "scored", "touchdown", "quarter", "longest", "season", "Chicago", "city",
    "year", "kicked", "passage", "question", "answer", "game", "which", "led", "opened", "against",
]
# fmt: on
QUESTIONS, BAR = 9536, 15.0


def golds_of(random: Random) -> Golds:
    """Make the golds of one question: a number in two of three, a decimal in one of twelve, else text."""
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
    """Make a word of running text: one in ten is a number, one in thirty was never seen before."""
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
    """Load the harness's scorer: its own file, without the package that it takes seconds to import."""
    package = find_spec("lm_eval")
    if package is None or package.origin is None:
        sys.exit("lm-eval is not installed: uv sync --group oracle")
    spec = spec_from_file_location("harness_drop", Path(package.origin).parent / "tasks/drop/utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(score: Callable[[str, Golds], Any], samples: list[tuple[str, Golds]]) -> tuple[float, list[Any]]:
    """Return processor seconds and the scores."""
    start = time.process_time()
    scores = [score(prediction, golds) for prediction, golds in samples]
    return time.process_time() - start, scores


def compare(questions: int, models: int, rounds: int) -> None:
    # Through JSON, as from a log: equal golds are equal tuples, not the same one.
    packed = msgspec.json.encode([row[1:] for row in board(1, questions, models)])
    theirs = harness()
    theirs.process_results({"answers": (("10",),)}, ["10"])
    ratios, rates = [], []
    for _ in range(rounds):
        samples = msgspec.json.decode(packed, type=list[tuple[str, Golds]])
        slow, expected = timed(lambda text, golds: theirs.process_results({"answers": golds}, [text]), samples)
        fast, scores = timed(Scorer().score, samples)
        assert [(float(one["em"]), float(one["f1"])) for one in expected] == scores, "scores differ"
        ratios.append(slow / fast)
        rates.append((len(samples) / slow, len(samples) / fast))
    characters = sum(len(text) for text, _ in samples) / len(samples)
    print(f"{len(samples)} samples ({questions} questions, {models} models, {characters:.0f} characters), equal")
    print(f"lm-eval {median(rate[0] for rate in rates):,.0f}/s, ours {median(rate[1] for rate in rates):,.0f}/s")
    print(f"ratio: {median(ratios):.1f} (of {', '.join(f'{ratio:.1f}' for ratio in ratios)}; bar {BAR:.0f})")
    sys.exit(0 if median(ratios) >= BAR else 1)


def write_board(path: str, samples: int) -> None:
    """Write a log of harness rows into a pipe: nothing of it is ever stored."""
    models = -(-samples // QUESTIONS)
    rows = zip(range(samples), board(2, QUESTIONS, models), strict=False)
    with Path(path).open("w", encoding="utf-8") as log:
        for _, (number, text, golds) in rows:
            doc = {"passage": "Passage " * 60, "question": f"q{number}", "answers": golds}
            row = {"doc_id": number, "doc": doc, "target": "", "filtered_resps": [text], "filter": "none"}
            log.write(json.dumps(row) + "\n")


def stream(samples: int) -> None:
    marks = {samples // 10: "10 %", samples // 2: "50 %", samples: "100 %"}

    def watch(_: Path, records: Iterable[Any]) -> Iterator[Any]:
        for count, record in enumerate(records, 1):
            yield record
            if count in marks:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"{marks[count]:>5}: {count:>9,} samples, peak {peak:.1f} MiB", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        pipe = Path(folder, "samples_drop.jsonl")
        os.mkfifo(pipe)
        writer = multiprocessing.get_context("spawn").Process(target=write_board, args=(str(pipe), samples))
        writer.start()
        start = time.process_time()
        audit = audit_drop([pipe], watch=watch)
        seconds = time.process_time() - start
        writer.join()
    print(f"{audit.figures.samples:,} samples audited, {audit.figures.samples / seconds:,.0f}/s: {audit.verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", type=int, metavar="SAMPLES")
    call = parser.parse_args()
    if call.stream:
        stream(call.stream)
    else:
        compare(call.questions, call.models, call.rounds)


if __name__ == "__main__":
    main()
