"""Searches for sample logs, and for definitions of tasks, on which a reader fails.

Not part of the suite; `make fuzz` runs it. Every sample log must give samples and reasons, alone and paired with
itself, and be checked against a result; the configuration of a task, whatever is in it, must give a definition that
equals itself:

    .venv/bin/python tests/evaluation/fuzz/fuzz_samples.py samples .fuzz-corpus/samples -max_total_time=60
    .venv/bin/python tests/evaluation/fuzz/fuzz_samples.py run .fuzz-corpus/run -max_total_time=60
    .venv/bin/python tests/evaluation/fuzz/fuzz_samples.py details .fuzz-corpus/details -max_total_time=60
    .venv/bin/python tests/evaluation/fuzz/fuzz_samples.py definition .fuzz-corpus/definition -max_total_time=60
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import atheris
import msgspec
from fuzz_readers import of_archive, of_json

with atheris.instrument_imports(include=["bot"]):
    from bot.audits.samples.check import check_leaf
    from bot.audits.samples.lighteval import read_row
    from bot.audits.samples.pairs import pair_logs
    from bot.audits.samples.read import read_log
    from bot.audits.samples.records import SkippedRecord
    from bot.audits.samples.sample import Sample
    from bot.errors import CallError
    from bot.evaluation.definition import definition_of, differences
    from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
    from bot.evaluation.submission import parse_submission

from tests.evaluation.inspect_logs import header, log_archive, sample
from tests.evaluation.judging import base

LOG = Path(mkdtemp()) / "samples.jsonl"
RUN = LOG.parent / "run"  # of HELM
NUMBERS = {"acc,none": 0.5, "acc_norm,none": 0.5, "em,none": 0.5, "f1,none": 0.5, "exact_match,none": 0.5}
PLAIN = {"accuracy": 0.5, "exact_match": 0.5, "quasi_exact_match": 0.5, "acc": 0.5, "acc_norm": 0.5}
LEAVES = {"lm-eval-0.4": ("drop", NUMBERS), "inspect": ("arc choice", PLAIN), "helm": ("mmlu", PLAIN)}
RESULTS = {
    form: Result(
        Model(id="a/b"),
        HarnessVersion(form),
        {leaf: LeafResult(numbers, samples=2)},
        task_hashes={leaf: "0"},
        format=form,
    )
    for form, (leaf, numbers) in LEAVES.items()
}
HARNESS: dict[str, Any] = {
    "doc_id": 1, "doc": {"question": "a", "choices": ["b", "c"]}, "target": "b",
    "arguments": [["p", " b"], ["p", " c"]],
    "resps": [[["-1.0", "True"]], [["-2.0", "False"]]], "filtered_resps": [["-1.0", "True"], ["-2.0", "False"]],
    "filter": "none", "doc_hash": "d", "prompt_hash": "p", "target_hash": "t", "acc": 1.0,
}  # fmt: skip
WRITTEN = {"doc_id": 0, "prompt_0": "a b", "logit_0": -1.5, "truth": "0", "acc": "True"}
GENERATED = {"arguments": {"gen_args_0": {"arg_0": "p", "arg_1": {"until": ["x"]}}}, "resps": [["b"]]}
STATE = {
    "instance": {"id": "id1", "input": {"text": "q"}, "references": [{"output": {"text": "a"}, "tags": ["correct"]}]},
    "train_trial_index": 0, "output_mapping": {"A": "a"}, "request": {"model": "a/b", "prompt": "q"},
    "result": {"completions": [{"text": " A"}]},
}  # fmt: skip
STATS = {"instance_id": "id1", "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
DETAILS = {
    "doc": {"query": "q", "choices": [" a", " b"], "gold_index": [0], "id": "0"}, "metric": {"acc": 1.0},
    "model_response": {"input": "q", "text": ["a"], "logprobs": [-1.0, -2.0]},
}  # fmt: skip
OLD_DETAILS = {
    "example": "q", "full_prompt": "q", "predictions": [-1.0, -2.0], "gold": ["a"], "gold_index": [0],
    "choices": ["a", "b"], "metrics": {"acc": 1.0},
}  # fmt: skip
SAMPLES = [
    json.dumps(HARNESS).encode() + b"\n" + json.dumps(HARNESS | {"doc_id": 2}).encode(),
    json.dumps(HARNESS | GENERATED).encode(),
    json.dumps([WRITTEN, WRITTEN]).encode(),
    json.dumps(header() | {"samples": [sample(), sample()]}).encode(),
    gzip.compress(json.dumps(HARNESS).encode()),
    log_archive(),
]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change a few values in the JSON, in one of its lines or of the members of an archive, or any byte."""
    random = Random(seed)
    changed = of_archive(data, random) if data.startswith(b"PK") else of_json(data, random)
    if not changed and random.random() < 0.8:
        lines = data.split(b"\n")
        place = random.randrange(len(lines))
        lines[place] = of_json(lines[place], random) or lines[place]
        changed = b"\n".join(lines)
    is_changed = changed and len(changed) <= max_size and random.random() < 0.8
    return changed if is_changed else bytes(atheris.Mutate(data, max_size))


def read_samples(data: bytes) -> None:
    """Read a log, and pair it with itself."""
    LOG.write_bytes(data)
    try:
        found = list(read_log(LOG))
    except CallError:
        found = []
    assert all(isinstance(one, Sample | SkippedRecord) for one in found)
    pairs = pair_logs([LOG], [LOG], "acc")
    assert isinstance(pairs, str) or pairs.shared == pairs.larger
    check(LOG, "lm-eval-0.4", "inspect")


def check(log: Path, *forms: str) -> None:
    """Check a log against results; what is found can be written down."""
    for form in forms:
        (leaf,) = RESULTS[form].leaves
        found = check_leaf(RESULTS[form], leaf, log, "log")
        assert found is None or found.unreadable or found.count
        msgspec.json.encode(found)


def read_run(data: bytes) -> None:
    """Read a folder of HELM whose two files are these, divided by a line of its own, and pair it with itself."""
    states, _, stats = data.partition(b"\n---\n")
    RUN.mkdir(exist_ok=True)
    (RUN / "scenario_state.json").write_bytes(states)
    (RUN / "per_instance_stats.json").write_bytes(stats)
    assert all(isinstance(one, Sample | SkippedRecord) for one in read_log(RUN))
    pairs = pair_logs([RUN], [RUN], "exact_match")
    assert isinstance(pairs, str) or pairs.shared == pairs.larger
    check(RUN, "helm")


def read_details(data: bytes) -> None:
    """Read a row of lighteval's details with these values, which is what Parquet gives."""
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(row, dict):
        found = read_row(row, 1)
        assert isinstance(found, Sample | SkippedRecord)


def read_definition(data: bytes) -> None:
    """Read a result of which this is the configuration of every task."""
    try:
        config = json.loads(data)
    except (ValueError, RecursionError):
        return
    whole = base()
    whole["configs"] = dict.fromkeys(whole["configs"], config)
    result = parse_submission("a.json", {"": json.dumps(whole).encode()}).result
    for key in result.leaves if result is not None else ():
        assert result is not None
        assert definition_of(result, key) == definition_of(result, key)
        assert list(differences(result, key, result, key)) == []


def _encoded(*values: Any) -> list[bytes]:
    return [json.dumps(one).encode() for one in values]


KINDS = {
    "samples": (read_samples, SAMPLES),
    "run": (read_run, [b"\n---\n".join(_encoded({"request_states": [STATE, STATE]}, [STATS, STATS]))]),
    "details": (read_details, _encoded(DETAILS, OLD_DETAILS)),
    "definition": (read_definition, _encoded(*list(base()["configs"].values())[:5])),
}


def main() -> None:
    """Write the files to begin with, and hand over to the fuzzer."""
    kind, corpus = sys.argv.pop(1), Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    run, seeds = KINDS[kind]
    for number, data in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    for file in sorted(corpus.glob("seed-*")):
        run(file.read_bytes())
    atheris.Setup(sys.argv, run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
