"""Make result files of lm-evaluation-harness 0.4.9 for models that do not exist, real in shape.

`python examples/make_results.py` writes the files of this folder again, byte for byte; benchmarks and tests import
`make_result` for files of their own. All numbers are drawn from a seeded generator; every value is a whole number of
right answers out of the real number of questions, with the standard error that the harness would write.
"""

from __future__ import annotations

import hashlib
import json
import sys
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from bot.evaluation.definition import released  # noqa: E402 - the folder above is found first
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard  # noqa: E402 - the folder above is found first
from bot.evaluation.task import Task  # noqa: E402 - the folder above is found first

VERSIONS = {"ifeval": 3.0, "bbh": 1.0, "math": 3.0, "gpqa": 1.0, "musr": 1.0, "mmlu_pro": 0.1}
RELEASE, COMMIT = "0.4.9", "452749513"
STARTED = 1_771_000_000.0


def make_result(
    model: str, strength: float, seed: int = 0, *, padding: int = 160, leaderboard: Leaderboard | None = None
) -> dict[str, Any]:
    """One complete result of a model as good as `strength` (0 guesses, 1 knows all).

    `padding` is the length of a note in each task's configuration: it sets the size of the file.
    """
    declared = leaderboard or load_leaderboard("open-llm-v2")
    random = Random(f"{model} {seed}")  # noqa: S311 - drawn numbers, no secret
    revision = hashlib.sha1(f"{model} {seed}".encode()).hexdigest()  # noqa: S324 - forty digits, no secret
    file: dict[str, Any] = {"results": {}, "groups": {}, "group_subtasks": {}, "configs": {}, "versions": {}}
    file |= {"n-shot": {}, "higher_is_better": {}, "n-samples": {}}
    for task in declared.tasks:
        _add_task(file, task, strength, random, padding)
    file["results"] = dict(sorted(file["results"].items()))
    return file | _circumstances(model, revision, random)


def _add_task(file: dict[str, Any], task: Task, strength: float, random: Random, padding: int) -> None:
    for leaf in task.leaves:
        lower = float(task.leaf_lower_bound(leaf))
        row: dict[str, Any] = {"alias": f" - {leaf.id}"}
        for metric in task.metrics:
            samples = metric.samples or leaf.samples
            share = lower + (1 - lower) * min(0.98, max(0.0, random.gauss(strength, 0.12)))
            row |= _measured(metric.name, round(share * samples), samples, is_counted=metric.samples is None)
        file["results"][leaf.id] = row
        file["configs"][leaf.id] = _config(task, leaf.id, padding)
        file["versions"][leaf.id] = VERSIONS[task.id]
        file["n-shot"][leaf.id] = task.num_fewshot
        file["higher_is_better"][leaf.id] = dict.fromkeys((metric.name for metric in task.metrics), True)
        file["n-samples"][leaf.id] = {"original": leaf.samples, "effective": leaf.samples}
    for group in task.groups:
        _add_group(file, task, group)


def _measured(metric: str, right: int, samples: int, *, is_counted: bool) -> dict[str, Any]:
    value = right / samples
    stderr = sqrt(value * (1 - value) / (samples - 1)) if is_counted else "N/A"
    return {f"{metric},none": value, f"{metric}_stderr,none": stderr}


def _add_group(file: dict[str, Any], task: Task, group: str) -> None:
    key = f"{task.metrics[0].name},none"
    sizes = [leaf.samples for leaf in task.leaves]
    values = [file["results"][leaf.id][key] for leaf in task.leaves]
    mean = sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    row = {"alias": f" - {group}", key: mean, key.replace(",", "_stderr,"): "N/A"}
    file["results"][group] = row
    file["groups"][group] = row
    file["group_subtasks"][group] = [leaf.id for leaf in task.leaves]


def asked(name: str, leaf_id: str, version: str = "") -> dict[str, Any]:
    """The fields of a leaf's definition in a shipped file of definitions, by default those of `RELEASE`."""
    shipped = released(name)
    for digest, versions in shipped["leaves"].get(leaf_id, {}).items():
        if (version or RELEASE) in versions:
            found = {field: _read(shipped["values"][one]) for field, one in shipped["definitions"][digest].items()}
            if "metric_list" in found:
                found["metric_list"] = [{"metric": name, **one} for name, one in found["metric_list"].items()]
            return found
    return {}


def _read(text: str) -> Any:
    """A value of a definition: text as it is, all else from its JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _config(task: Task, leaf_id: str, padding: int) -> dict[str, Any]:
    found = asked("open-llm-v2-eleutherai", leaf_id)
    usual = {"aggregation": "mean", "higher_is_better": True}
    metrics = {one.name: {"metric": one.name, **usual} for one in task.metrics}
    for one in found.get("metric_list", ()):
        metrics[one["metric"]] = metrics.get(one["metric"], {}) | one
    return {
        "task": leaf_id,
        **found,
        "target_delimiter": " ",
        "fewshot_delimiter": "\n\n",
        "num_fewshot": task.num_fewshot,
        "metric_list": list(metrics.values()),
        "repeats": 1,
        "should_decontaminate": False,
        "metadata": {"version": VERSIONS[task.id], "note": ("As it was measured. " * (padding // 20 + 1))[:padding]},
    }


def _circumstances(model: str, revision: str, random: Random) -> dict[str, Any]:
    date = STARTED + random.randrange(86_400 * 30)
    return {
        "config": {
            "model": "hf",
            "model_args": f"pretrained={model},revision={revision},dtype=bfloat16",
            "model_num_parameters": 7_240_000_000,
            "model_dtype": "torch.bfloat16",
            "model_revision": revision,
            "model_sha": revision,
            "batch_size": "auto",
            "batch_sizes": [32],
            "device": "cuda:0",
            "use_cache": None,
            "limit": None,
            "bootstrap_iters": 100_000,
            "gen_kwargs": None,
            "random_seed": 0,
            "numpy_seed": 1234,
            "torch_seed": 1234,
            "fewshot_seed": 1234,
        },
        "git_hash": COMMIT,
        "date": date,
        "pretty_env_info": "PyTorch version: 2.6.0+cu124\nIs debug build: False\nOS: Ubuntu 22.04.5 LTS (x86_64)",
        "transformers_version": "4.51.3",
        "lm_eval_version": RELEASE,
        "upper_git_hash": None,
        "tokenizer_pad_token": ["<pad>", "0"],
        "tokenizer_eos_token": ["</s>", "2"],
        "tokenizer_bos_token": ["<s>", "1"],
        "eot_token_id": 2,
        "max_length": 8192,
        "task_hashes": {},
        "model_source": "hf",
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": False,
        "chat_template": None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": str(9_000 + random.randrange(900)),
    }


def dumps(result: dict[str, Any]) -> str:
    """A result as the harness writes it."""
    return json.dumps(result, indent=2, ensure_ascii=False)


def without(result: dict[str, Any], leaf: str) -> dict[str, Any]:
    """The result of a run that lacked one subtask."""
    for part in ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples"):
        result[part].pop(leaf)
    group = leaf.rpartition("_")[0] if leaf.rpartition("_")[0] in result["groups"] else "leaderboard_bbh"
    result["group_subtasks"][group].remove(leaf)
    members = result["group_subtasks"][group]
    sizes = [result["n-samples"][member]["original"] for member in members]
    values = [result["results"][member]["acc_norm,none"] for member in members]
    mean = sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    result["results"][group]["acc_norm,none"] = result["groups"][group]["acc_norm,none"] = mean
    return result


def limited(result: dict[str, Any], limit: int) -> dict[str, Any]:
    """The result of a run with --limit: few samples, and values and errors that fit them."""
    result["config"]["limit"] = float(limit)
    for leaf, counts in result["n-samples"].items():
        counts["effective"] = min(limit, counts["original"])
        row = result["results"][leaf]
        for key in [key for key in row if key.endswith(",none") and "_stderr" not in key]:
            is_counted = row[key.replace(",", "_stderr,")] != "N/A"
            samples = counts["effective"]
            row |= _measured(key.partition(",")[0], round(row[key] * samples), samples, is_counted=is_counted)
    for group, members in result["group_subtasks"].items():
        key = next(key for key in result["groups"][group] if key.endswith(",none") and "_stderr" not in key)
        mean = sum(result["results"][member][key] for member in members) / len(members)
        result["results"][group][key] = result["groups"][group][key] = mean
    return result


def of_release(result: dict[str, Any], commit: str) -> dict[str, Any]:
    """The same result, measured by an older harness, which did not record its release."""
    del result["lm_eval_version"]
    return result | {"git_hash": commit}


def examples() -> dict[str, dict[str, Any]]:
    """The files of this folder, by path."""
    return {
        "example-org__kestrel-7b/results_2026-02-14T09-30-00.000000.json": make_result("example-org/kestrel-7b", 0.35),
        "example-org__osprey-7b/results_2026-02-15T11-00-00.000000.json": make_result("example-org/osprey-7b", 0.42),
        "example-org__merlin-1b/results_2026-02-16T08-15-00.000000.json": without(
            make_result("example-org/merlin-1b", 0.12), "leaderboard_bbh_snarks"
        ),
        "example-org__harrier-3b/results_2026-02-17T16-45-00.000000.json": limited(
            make_result("example-org/harrier-3b", 0.2), 50
        ),
        "example-org__buzzard-13b/results_2026-02-18T07-20-00.000000.json": of_release(
            make_result("example-org/buzzard-13b", 0.5), "3fa4fd72"
        ),
    }


def main() -> None:
    """Write the files."""
    for path, result in examples().items():
        file = ROOT / "results" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
