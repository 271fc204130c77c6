"""Checks whether the sample logs beside a result are those that it was made from.

With --log_samples the harness commits a result to its samples: `task_hashes` is the SHA-256 of doc_hash, prompt_hash
and target_hash of every sample, in order (lm_eval/loggers/evaluation_tracker.py); each of the three is the SHA-256 of
what stands in the sample (lm_eval/evaluator.py).
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum, isclose, isfinite
from pathlib import Path
from typing import Any

from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord, is_own_file
from bot.audits.samples.sample import HASHES, Sample, sha256
from bot.evaluation.result import Result

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?$")
EQUAL, DIFFERENT, NO_LOG, NO_HASH = "equal", "different", "no samples beside it", "no hash recorded"
UNREADABLE, VALUE_DIFFERS = "the samples cannot be read to the end", "the samples give another value"
NOT_HASHED = "a sample does not match its hash"
BAD = frozenset((DIFFERENT, UNREADABLE, VALUE_DIFFERS, NOT_HASHED))


@dataclass(frozen=True, slots=True)
class HashCheck:
    """One task's log held against the result.

    `altered` counts samples whose prompt or target is not what their own hash says, `values` the metrics whose mean
    over the samples is not the result's: (metric, of the result, of the samples).
    """

    task: str
    log: str
    samples: int
    recorded: str
    computed: str
    altered: int
    values: tuple[tuple[str, float, float], ...]
    verdict: str


def hashes_of(path: Path, result: Result) -> Iterator[HashCheck]:
    """Check each task that has a hash or a log; logs are named `samples_<task>_<time>.jsonl` with the result's time.

    The harness writes `results_<time>.json`, or `<name>_<time>.json` where it was given a file's name.
    """
    found = TIME.search(path.stem)
    time = found[0] if found else ""
    for task in result.leaves:
        log = _log_beside(path, task, time)
        recorded = str(result.task_hashes.get(task, ""))
        if log is not None:
            yield _check(task, log, recorded, result)
        elif recorded:
            yield HashCheck(task, "", 0, recorded, "", 0, (), NO_LOG)


def _log_beside(path: Path, task: str, time: str) -> Path | None:
    """Return the log of a task, None if there is none; a task's name may be nothing that names a file."""
    try:
        log = path.with_name(f"samples_{task}_{time}.jsonl")
        return log if time and is_own_file(log) else None
    except (ValueError, OSError):
        return None


def _check(task: str, log: Path, recorded: str, result: Result) -> HashCheck:
    digest = hashlib.sha256()
    sums: defaultdict[str, list[float]] = defaultdict(list)
    samples = altered = 0
    readable = True
    for sample in read_log(log):
        if isinstance(sample, SkippedRecord) or not all(isinstance(sample.row.get(name), str) for name in HASHES):
            readable = False
            continue
        digest.update("".join(sample.row[name] for name in HASHES).encode(errors="surrogatepass"))
        samples += 1
        altered += _is_altered(sample)
        for name, value in sample.metrics.items():
            sums[f"{name},{sample.filter}"].append(value)
    values = tuple(_differing(result.leaves[task].numbers, sums))
    verdict = _verdict(readable and samples > 0, recorded, digest.hexdigest(), altered, bool(values))
    return HashCheck(task, log.name, samples, recorded, digest.hexdigest(), altered, values, verdict)


def _verdict(readable: bool, recorded: str, computed: str, altered: int, differs: bool) -> str:  # noqa: FBT001
    if not readable:
        return UNREADABLE
    if recorded and recorded != computed:
        return DIFFERENT
    if altered:
        return NOT_HASHED
    if differs:
        return VALUE_DIFFERS
    return EQUAL if recorded else NO_HASH


def _is_altered(sample: Sample) -> bool:
    """Tell whether prompt or target is not what was hashed; the doc's hash needs types that JSON does not keep."""
    is_prompt = isinstance(sample.row.get("arguments"), dict) and bool(sample.prompt)
    return (is_prompt and sha256(sample.prompt) != sample.prompt_hash) or (
        isinstance(sample.row.get("target"), str) and sha256(sample.target) != sample.target_hash
    )


def _differing(numbers: Any, sums: dict[str, list[float]]) -> Iterator[tuple[str, float, float]]:
    """Yield the metrics that are a mean over samples in the result and another one in the log."""
    for key, values in sums.items():
        value = numbers.get(key)
        mean = fsum(values) / len(values)
        if type(value) is float and isfinite(value) and not isclose(value, mean, rel_tol=1e-9, abs_tol=1e-9):
            yield key, value, mean
