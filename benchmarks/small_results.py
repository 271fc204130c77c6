"""Small result files of models that do not exist: in shape and size those of lighteval, OLMES, MTEB, Every Eval Ever.

Each function gives the path and the value of a file by its number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from random import Random
from typing import Any

NAME = "example-org/model-{}"
TASKS_OF_A_MODEL = 20  # files that MTEB writes for a model, one for each task
# The declaration of a board that keeps JSON of its own.
FORM = """\
title = "A board with JSON of its own"
description = "Four domains, each solved in one try, and in each of two, three and four."

[[formats]]
id = "acme"
model = "model_name"
date = "submission_date"
settings = ["agent"]

[[formats.values]]
value = "results.{domain}.pass_{k}"
leaf = "{domain}"
metric = "pass^{k}"
unit = "percent"
samples = "results.{domain}.n"
""" + "".join(
    f"""
[[tasks]]
id = "{name}"
title = "{name.title()}"
unit = "percent"
metrics = [{{ name = "pass^1", keys = {{ acme = "pass^1" }} }}]
leaves = [{{ id = "{name}", samples = {samples} }}]
"""
    for name, samples in (("retail", 114), ("airline", 50), ("telecom", 114), ("banking", 97))
)


def _measured(random: Random, samples: int) -> tuple[float, float]:
    """A share of right answers, and its standard error as harnesses give it."""
    share = round(samples * random.uniform(0.2, 0.9)) / samples
    return share, sqrt(share * (1 - share) / (samples - 1))


def lighteval(number: int) -> tuple[str, dict[str, Any]]:
    """A run of two tasks, as lighteval 0.8 wrote it."""
    random = Random(number)
    tasks = {f"leaderboard|{name}|{shots}": name for name, shots in (("arc:challenge", 25), ("winogrande", 5))}
    measured = {key: _measured(random, 1172) for key in tasks}
    rows = {key: {"acc": share, "acc_stderr": error} for key, (share, error) in measured.items()}
    hashes = dict.fromkeys(("hash_examples", "hash_full_prompts", "hash_input_tokens"), "31a3a872175d4e88")
    summary = {"hashes": hashes, "truncated": 0, "non_truncated": 7405, "padded": 0, "non_padded": 7405}
    configs = {
        key.rpartition("|")[0]: {
            "name": name, "prompt_function": "prompt_fn", "hf_repo": f"org/{name}", "hf_subset": "default",
            "metric": [{"metric_name": "acc", "higher_is_better": True, "category": "3", "use_case": "1",
                        "sample_level_fn": "compute", "corpus_level_fn": "mean"}],
            "hf_revision": None, "hf_filter": None, "hf_avail_splits": ["train", "validation", "test"],
            "trust_dataset": True, "evaluation_splits": ["test"], "few_shots_split": None, "few_shots_select": None,
            "generation_size": 1, "generation_grammar": None, "stop_sequence": ["\n"], "num_samples": None,
            "suite": ["leaderboard"], "original_num_docs": 1172, "effective_num_docs": 1172,
            "must_remove_duplicate_docs": False, "version": 0,
        }
        for key, name in tasks.items()
    }  # fmt: skip
    general = {
        "lighteval_sha": "323b074fb1db0ba572604ec53b415634b1b00e2d", "num_fewshot_seeds": 1, "max_samples": None,
        "job_id": 0, "start_time": 2140007.75, "end_time": 2140123.92, "total_evaluation_time_secondes": "116.168",
        "model_name": NAME.format(number), "model_sha": f"{number:040x}", "model_dtype": "torch.bfloat16",
        "model_size": "13.5 GB", "generation_parameters": {"seed": 42, "temperature": 0.0, "top_k": None},
    }  # fmt: skip
    return f"results_{number}.json", {
        "config_general": general,
        "results": {**rows, "all": {"acc": 0.5, "acc_stderr": 0.0123}},
        "versions": dict.fromkeys(tasks, 0),
        "config_tasks": configs,
        "summary_tasks": dict.fromkeys(tasks, summary),
        "summary_general": summary,
    }


def olmes(number: int) -> tuple[str, dict[str, Any]]:
    """The metrics of one task."""
    value, _ = _measured(Random(number), 1319)
    return f"model-{number}/metrics.json", {
        "all_primary_scores": [f"gsm8k::tulu: {value:.5f}"],
        "tasks": [
            {
                "alias": "gsm8k::tulu",
                "metrics": {"exact_match": value, "exact_match_flex": value, "max_tokens_reached": 0.01,
                            "num_tokens": 235.4, "primary_score": value},
                "num_instances": 1319,
                "processing_time": 312.5,
                "task_hash": "3f0a7d1c9be84c66",
                "task_config": {
                    "task_name": "gsm8k", "task_core": "gsm8k", "limit": None, "split": "test", "num_shots": 8,
                    "fewshot_seed": 1234, "primary_metric": "exact_match", "use_chat_format": True, "version": 0.1,
                    "generation_kwargs": {"max_gen_toks": 512, "do_sample": False, "temperature": 0.0,
                                          "stop_sequences": ["Question:"], "repeats": 1},
                    "context_kwargs": {"assistant_prefix": None}, "metadata": {"alias": "gsm8k::tulu"},
                },
            }
        ],
        "model_config": {"model": NAME.format(number), "revision": f"{number:040x}", "trust_remote_code": False,
                         "max_length": 4096, "model_path": None, "model_type": "vllm", "dtype": "bfloat16"},
        "current_date": "2025-03-08 11:02:03 UTC",
    }  # fmt: skip


def mteb(number: int) -> tuple[str, dict[str, Any]]:
    """One task of a model, by MTEB 1.14, in the folder that names the model."""
    model, task = divmod(number, TASKS_OF_A_MODEL)
    random = Random(number)
    names = ("cosine_spearman", "cosine_pearson", "manhattan_spearman", "manhattan_pearson", "euclidean_spearman",
             "euclidean_pearson", "pearson", "spearman")  # fmt: skip
    subsets = []
    for subset in ("default", "en-de", "en-fr"):
        scores = {name: round(random.random(), 6) for name in names}
        main = scores["cosine_spearman"]
        subsets.append({**scores, "main_score": main, "hf_subset": subset, "languages": ["eng-Latn", "deu-Latn"]})
    return f"example-org__model-{model}/{model:040x}/Task{task}.json", {
        "dataset_revision": "a6ea5a8cab320b040a23452cc28066d9beae2cee",
        "task_name": f"Task{task}",
        "mteb_version": "1.14.19",
        "scores": {"test": subsets},
        "evaluation_time": 21.5,
        "kg_co2_emissions": None,
    }


def every_eval_ever(number: int) -> tuple[str, dict[str, Any]]:
    """A record with the results of three datasets."""
    random, model = Random(number), NAME.format(number)
    measured = {name: _measured(random, 1000) for name in ("hellaswag", "mmlu", "gsm8k")}
    results = [
        {
            "evaluation_result_id": f"{number}/{name}",
            "evaluation_name": name,
            "source_data": {"dataset_name": name, "source_type": "hf_dataset", "hf_repo": f"org/{name}",
                            "hf_split": "test", "samples_number": 1000},
            "metric_config": {"metric_id": "accuracy", "metric_name": "accuracy", "metric_unit": "proportion",
                              "lower_is_better": False, "score_type": "continuous", "min_score": 0.0,
                              "max_score": 1.0},
            "score_details": {"score": share,
                              "uncertainty": {"standard_error": {"value": error}, "num_samples": 1000}},
            "generation_config": {"generation_args": {"temperature": 0.0, "max_tokens": 512},
                                  "additional_details": {"num_fewshot": "5"}},
        }
        for name, (share, error) in measured.items()
    ]  # fmt: skip
    return f"record_{number}.json", {
        "schema_version": "0.3.0",
        "evaluation_id": f"own/{model}/{number}",
        "evaluation_timestamp": "1750000000",
        "retrieved_timestamp": "1750000001",
        "source_metadata": {"source_name": "own", "source_type": "evaluation_run",
                            "source_organization_name": "Example", "evaluator_relationship": "first_party"},
        "eval_library": {"name": "lm_eval", "version": "0.4.9"},
        "model_info": {"name": model, "id": model, "developer": "example-org",
                       "additional_details": {"dtype": "bfloat16", "sha": f"{number:040x}"}},
        "evaluation_results": results,
    }  # fmt: skip


def form(number: int) -> tuple[str, dict[str, Any]]:
    """A submission with the parts of four domains that were solved once, twice, three and four times."""
    random = Random(number)
    results = {}
    for domain, samples in (("retail", 114), ("airline", 50), ("telecom", 114), ("banking", 97)):
        once, _ = _measured(random, samples)
        results[domain] = {f"pass_{k}": 100 * once * 0.9 ** (k - 1) for k in range(1, 5)} | {"n": samples, "cost": None}
    return f"submission_{number}.json", {
        "model_name": NAME.format(number),
        "model_organization": "Example",
        "submission_date": "2026-01-09",
        "agent": "react",
        "contact_info": {"email": "somebody@example.org", "name": "Somebody"},
        "trajectories_available": True,
        "results": results,
        "methodology": {"evaluation_date": "2026-01-08", "user_simulator": "example-user", "notes": "none"},
    }


SMALL: dict[str, Callable[[int], tuple[str, dict[str, Any]]]] = {
    "lighteval": lighteval, "olmes": olmes, "mteb": mteb, "every-eval-ever": every_eval_ever, "form": form,
}  # fmt: skip
