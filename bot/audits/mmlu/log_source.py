"""Reads a sample log or a HELM run folder, and scores its samples again under every implementation that they allow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from bot.audits.mmlu.rescore import Fidelity, MmluCounters, scores_of
from bot.audits.mmlu.samples import decode, read_sample
from bot.audits.mmlu.source import Aggregate, MmluSource, NotMmlu, SkippedPart
from bot.audits.records import Record, SkippedRecord, open_log, read_records
from bot.errors import CallError, MalformedSamples
from bot.evaluation.mmlu_family import TITLES, Family


def of_logs(path: Path, files: Sequence[Path]) -> MmluSource:
    """Judge the sample logs of one run, `path` names them: re-scored for every implementation that they allow.

    Records that hold no sample are counted, not fatal. Raises CallError if a file cannot be opened, NotMmlu where
    no record holds a sample of MMLU.
    """
    counters, skipped = MmluCounters(), dict[str, tuple[int, int]]()
    for file in files:
        with open_log(file) as log:
            for record in read_records(log):
                _add(counters, skipped, record)
    if not counters.families.total():
        why = ", ".join(f"{why} ({count})" for why, (count, _) in skipped.items()) or "it is empty"
        raise NotMmlu(f"{path}: holds no sample of MMLU: {why}")
    return _source(str(path), "sample log", counters, skipped, "")


def _add(counters: MmluCounters, skipped: dict[str, tuple[int, int]], record: Record | SkippedRecord) -> None:
    why = record.why if isinstance(record, SkippedRecord) else _counted(counters, record)
    if why:
        count, line = skipped.get(why, (0, record.line))
        skipped[why] = count + 1, line


def _counted(counters: MmluCounters, record: Record) -> str:
    """Count the record's sample; return why it holds none, "" if it does."""
    try:
        counters.add(read_sample(decode(record.data)))
    except MalformedSamples as error:
        return str(error)
    return ""


def _source(
    path: str, kind: str, counters: MmluCounters, skipped: Mapping[str, tuple[int, int]], model: str
) -> MmluSource:
    total = counters.families.total()
    shapes = [
        f"{count} of {total} prompts are those of {TITLES[family]}" for family, count in counters.families.most_common()
    ]
    families = set(counters.families)
    scores = scores_of(counters) if total else ()
    own = [score for score in scores if score.standing is Fidelity.OWN and score.macro is not None]
    return MmluSource(
        path,
        kind,
        model,
        families.pop() if len(families) == 1 else Family.UNKNOWN,
        tuple(shapes),
        () if len(counters.families) < 2 else ("the log mixes implementations",),
        aggregates=tuple(Aggregate(one.metric, one.macro or 0.0, one.micro, one.subjects) for one in own),
        scores=scores,
        skipped=tuple(SkippedPart(why, count, line) for why, (count, line) in skipped.items()),
        samples=total,
    )


def of_helm(folder: Path) -> MmluSource:
    """Judge a HELM run folder: scores from stats.json, and from its request states where they are there.

    Raises CallError if a file is missing or not what HELM writes.
    """
    spec, stats = _json(folder / "run_spec.json"), _json(folder / "stats.json")
    try:
        scenario, adapter = spec["scenario_spec"], spec["adapter_spec"]
        if "mmlu" not in scenario["class_name"].lower():
            raise NotMmlu(f"{folder}: is a HELM run of {scenario['class_name']}, not of MMLU")
        model, shots, subject = str(adapter["model"]), adapter["max_train_instances"], scenario["args"]["subject"]
        rows = [stat for stat in stats if stat["name"]["name"] == "exact_match" and stat["name"].get("split") == "test"]
        value = next(float(stat["mean"]) for stat in rows if "perturbation" not in stat["name"])
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        raise CallError(f"{folder}: is not a HELM run of MMLU") from None
    if not isfinite(value):
        raise CallError(f"{folder}: its exact_match is not a finite number")
    counters, skipped = MmluCounters(), dict[str, tuple[int, int]]()
    for place, state in enumerate(_states(folder / "scenario_state.json"), start=1):
        if state["instance"].get("split") == "test":
            _add(counters, skipped, Record(place, json.dumps(state).encode()))
    read = _source(str(folder), "HELM run", counters, skipped, model)
    method = f"HELM run folder, {adapter.get('method', 'unknown method')}, subject {subject}"
    mean = Aggregate("exact_match", value, value, 1, value, "macro (one run for each subject)")
    return MmluSource(
        read.path, read.kind, model, Family.HELM, (method, *read.evidence), (), (mean,), read.scores, read.skipped,
        read.samples, num_fewshot=shots if isinstance(shots, int) else None, limit=adapter.get("max_eval_instances"),
    )  # fmt: skip


def _states(path: Path) -> list[dict[str, Any]]:
    """Return the request states that a run kept, those that have an instance; none where it kept none."""
    whole = _json(path) if path.exists() else {}
    states = whole.get("request_states") if isinstance(whole, dict) else None
    return [
        state
        for state in (states if isinstance(states, list) else [])
        if isinstance(state, dict) and isinstance(state.get("instance"), dict)
    ]


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise CallError(f"{path}: is not JSON") from None
