"""Rows as records of Every Eval Ever: one for each row and task, with the evidence in their source fields.

Schema 0.3.0, as `schemas/eval.schema.json` of every-eval-ever 0.3.0 has it. Values are those that were measured, in
their unit; scores, which the leaderboard makes of them, are not in a record.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from math import isfinite
from typing import Any
from urllib.parse import quote
from uuid import UUID

from bot import HOME, __version__
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.row_key import owner_and_name
from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.task import Metric, Task
from bot.publishing.entry import Entry, Evidence
from bot.reporting.report import to_json

SCHEMA = "0.3.0"
COMMIT = re.compile(r"[0-9a-f]{40}")
UNKNOWN = "unknown"


def records_of(entry: Entry, declared: Leaderboard, retrieved: int) -> Iterator[tuple[str, str]]:
    """The records of a row: the path of each below the folder of all, and its text.

    `retrieved` is when they are made, in seconds since 1970. A task without a value has no record.
    """
    tasks = {task.id: task for task in declared.tasks}
    for score in entry.tasks:
        if _measured(score):
            record = _record(entry, score, tasks.get(score.id), retrieved)
            digest = sha256(f"{entry.key} {score.id} {to_json(record['evaluation_results'])}".encode()).digest()
            developer, name = owner_and_name(entry.model.id)
            folders = (declared.id, developer or UNKNOWN, name or UNKNOWN)
            yield "/".join((*map(_segment, folders), f"{UUID(bytes=digest[:16], version=4)}.json")), to_json(record)


def _measured(score: TaskScore) -> list[LeafScore]:
    return [leaf for leaf in score.leaves if isfinite(leaf.raw)]


def _segment(name: str) -> str:
    """A name as one part of a path."""
    part = quote(name, safe="")
    return part if part.strip(".") else quote(part, safe="").replace(".", "%2E")


def _record(entry: Entry, score: TaskScore, task: Task | None, retrieved: int) -> dict[str, Any]:
    files = {one.path: one for leaf in score.leaves if (one := entry.evidence_of(leaf)) is not None}
    first = next(iter(files.values()), Evidence(harness=entry.harness))
    harness, model = first.harness, entry.model
    developer, name = owner_and_name(model.id)
    revision = {"sha" if COMMIT.fullmatch(model.revision) else "revision": model.revision}
    template = {} if model.chat_template is None else {"chat_template": str(model.chat_template).lower()}
    details = {**revision, "dtype": model.precision, **template}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{entry.leaderboard.id}/{score.id}/{model.id}/{retrieved}",
        **({"evaluation_timestamp": first.date} if first.date else {}),
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_name": entry.leaderboard.id,
            "source_type": "documentation" if entry.rests_on == "quoted" else "evaluation_run",
            "source_organization_name": _owner(first.source) or UNKNOWN,
            "evaluator_relationship": "other",
            "additional_details": _told(
                {
                    "row": entry.key,
                    "declaration": entry.leaderboard.digest,
                    "rests_on": entry.rests_on,
                    "submitter": first.submitter,
                    "exported_by": f"leaderboard-bot {__version__}, {HOME}",
                    "warnings": "; ".join(f"{one.rule}: {one.message}" for one in entry.warnings),
                }
            ),
        },
        "eval_library": {
            "name": harness.name or UNKNOWN,
            "version": harness.version or harness.git_hash or UNKNOWN,
            "additional_details": _told(
                {
                    "commit": harness.git_hash or "",
                    "repository": harness.repository or "",
                    "task_versions": to_json(
                        {leaf.id: entry.versions[leaf.id] for leaf in score.leaves if leaf.id in entry.versions}
                    ),
                }
            ),
        },
        "model_info": {
            "name": name or UNKNOWN,
            "id": model.id,
            **({"developer": developer} if developer else {}),
            "additional_details": {
                **_told(details),
                "deployment_type": UNKNOWN,
                "model_availability": UNKNOWN,
            },
        },
        "evaluation_results": [_result(entry, score, leaf, task) for leaf in _measured(score)],
    }


def _result(entry: Entry, score: TaskScore, leaf: LeafScore, task: Task | None) -> dict[str, Any]:
    """One value, with where it comes from."""
    file = entry.evidence_of(leaf)
    shots = entry.num_fewshot.get(leaf.id)
    samples = leaf.samples or entry.num_samples.get(leaf.id)
    uncertainty = {
        **({"standard_error": {"value": leaf.stderr}} if leaf.stderr is not None else {}),
        **({"num_samples": samples} if samples else {}),
    }
    source = {
        "source_type": "other",
        "dataset_name": leaf.id,
        "additional_details": _told(
            {
                "file": file.path if file else leaf.file,
                "sha256": file.sha256 if file else "",
                "repository": file.source if file else "",
                "commit": file.commit if file else "",
                "format": file.format if file else "",
            }
        ),
    }
    generation = {} if shots is None else {"generation_config": {"additional_details": {"num_fewshot": str(shots)}}}
    return {
        "evaluation_name": leaf.id,
        "source_data": source,
        "metric_config": {
            "evaluation_description": score.title,
            "metric_id": _metric_id(score, leaf, task),
            "metric_name": leaf.metric,
            **_scale(task),
        },
        "score_details": {"score": leaf.raw, **({"uncertainty": uncertainty} if uncertainty else {})},
        **generation,
    }


def _metric_id(score: TaskScore, leaf: LeafScore, task: Task | None) -> str:
    """The name of the metric; with its filter where two of a leaf have one name."""
    times = Counter(one.metric for one in score.leaves if one.id == leaf.id)
    found: list[Metric] = [one for one in task.metrics if one.name == leaf.metric] if task else []
    if times[leaf.metric] < 2 or len(found) < 2:
        return leaf.metric
    place = [one for one in score.leaves if one.id == leaf.id and one.metric == leaf.metric].index(leaf)
    return f"{leaf.metric},{found[min(place, len(found) - 1)].filter}"


def _scale(task: Task | None) -> dict[str, Any]:
    """What a value means: which are better, and between which it lies, in its unit."""
    if task is None:
        return {"lower_is_better": False}
    low, high = (float(end) for end in task.range)
    return {
        "metric_unit": task.unit,
        "lower_is_better": not task.higher_is_better,
        "score_type": "continuous",
        "min_score": low,
        "max_score": high,
    }


def _owner(source: str) -> str:
    """The owner of a repository in an address such as hf://datasets/acme/results."""
    parts = source.partition("://")[2].removeprefix("datasets/").split("/")
    return parts[0] if "://" in source and parts[0] else ""


def _told(details: Mapping[str, str]) -> dict[str, str]:
    """The details that are known."""
    return {name: text for name, text in details.items() if text and text != "{}"}
