"""Result files for stories: the bytes that lm-eval 0.4 would write for a model and its numbers of right answers."""

from __future__ import annotations

import hashlib
import json
from math import sqrt

TINY = """
title = "Tiny"
description = "Two tasks, three leaves, for stories."

[harness]
formats = ["lm-eval-0.4"]

[[tasks]]
id = "sums"
title = "Sums"
metrics = [{ name = "acc" }]
num_fewshot = 0
normalize = "leaf"
leaves = [
    { id = "sums_plus", samples = 100, lower_bound = "1/4", bound_reason = "guessing among four" },
    { id = "sums_times", samples = 100 },
]

[[tasks]]
id = "logic"
title = "Logic"
metrics = [{ name = "acc" }]
num_fewshot = 0
leaves = [{ id = "logic", samples = 100 }]
"""


def revision_of(model: str, number: int = 1) -> str:
    return hashlib.sha1(f"{model} {number}".encode(), usedforsecurity=False).hexdigest()


def result(
    model: str = "acme/atlas-7b",
    *,
    right: tuple[int | None, int | None, int | None] = (50, 60, 70),
    revision: int = 1,
    date: float = 1_790_000_000.0,
    **more: object,
) -> bytes:
    """A result of the leaderboard TINY; `right` counts of 100, None leaves a task out."""
    names = ("sums_plus", "sums_times", "logic")
    counts = {name: count for name, count in zip(names, right, strict=True) if count is not None}
    rows = {
        name: {
            "alias": name,
            "acc,none": count / 100,
            "acc_stderr,none": sqrt(abs(count / 100 * (1 - count / 100)) / 99),
        }
        for name, count in counts.items()
    }
    sha = revision_of(model, revision)
    whole = {
        "results": rows,
        "configs": {name: {"task": name, "num_fewshot": 0} for name in counts},
        "versions": dict.fromkeys(counts, 1.0),
        "n-shot": dict.fromkeys(counts, 0),
        "n-samples": {name: {"original": 100, "effective": 100} for name in counts},
        "config": {
            "model": "hf",
            "model_args": f"pretrained={model},revision={sha},dtype=bfloat16",
            "model_dtype": "torch.bfloat16",
            "model_sha": sha,
        },
        "git_hash": "abcdef12",
        "date": date,
        "model_name": model,
        "model_source": "hf",
    }
    return json.dumps(whole | more, indent=2).encode()


def path_of(model: str = "acme/atlas-7b", time: str = "2026-03-02T10-00-00.000000") -> str:
    """Where lm-eval would write it."""
    return f"{model.replace('/', '__')}/results_{time}.json"
