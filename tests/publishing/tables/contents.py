"""A `contents` dataset of an Open LLM Leaderboard, small: Parquet files as `datasets` writes them, and their card."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

from tests.publishing.tables.boards import Files

STYLE = "color: var(--link-text-color); text-decoration: underline;text-decoration-style: dotted;"
ANCHOR = f'<a target="_blank" href="%s" style="{STYLE}">%s</a>'
MODEL = ANCHOR % ("https://huggingface.co/{model.id}", "{model.id}") + "  " + ANCHOR % ("{evidence.url}", "📑")
TASKS = {
    "IFEval": "ifeval",
    "BBH": "bbh",
    "MATH Lvl 5": "math",
    "GPQA": "gpqa",
    "MUSR": "musr",
    "MMLU-PRO": "mmlu_pro",
}
CONTENTS: dict[str, Any] = {
    "path": "data/train-*.parquet",
    "format": "parquet",
    "key": ["fullname", "Precision", "Model sha", "Chat Template"],
    "columns": {
        "eval_name": {"template": "{model.org}_{model.name}_{model.precision}"},
        "Precision": "model.precision",
        "Weight type": {"default": "Original"},
        "Model": {"template": MODEL},
        "fullname": "model.id",
        "Model sha": "model.revision",
        "Average ⬆️": "average",
        "Available on the hub": {"default": True},
        "Flagged": {"default": False},
        "Chat Template": "model.chat_template",
        **{f"{title} Raw": {"value": f"tasks.{task}.raw", "unit": "proportion"} for title, task in TASKS.items()},
        **{title: f"tasks.{task}.score" for title, task in TASKS.items()},
    },
}


@cache
def contents(shards: int = 1) -> Files:
    """Three rows of an Open LLM Leaderboard as `datasets` writes them, and the card that counts them."""
    import datasets

    rows = [_contents_row(f"acme/heron-{number}b", 10.0 * number) for number in (1, 2, 3)]
    files: Files = {}
    sizes = [0, 0]
    for shard in range(shards):
        part = datasets.Dataset.from_list(rows[shard::shards], features=_features())
        out = io.BytesIO()
        part.to_parquet(out)
        files[f"data/train-{shard:05}-of-{shards:05}.parquet"] = out.getvalue()
        sizes = [sizes[0] + part.data.nbytes, sizes[1] + len(out.getvalue())]
    features = "\n".join(f"  - name: '{name}'\n    dtype: {kind.dtype}" for name, kind in _features().items())
    card = f"""\
---
license: apache-2.0
# counted by push_to_hub
dataset_info:
  features:
{features}
  splits:
  - name: train
    num_bytes: {sizes[0]}
    num_examples: 3
  download_size: {sizes[1]}
  dataset_size: {sizes[0]}
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
---
# Contents
"""
    return {**files, "README.md": card.encode()}


TITLES = ("IFEval", "BBH", "MATH Lvl 5", "GPQA", "MUSR", "MMLU-PRO")
TEXTS = ("eval_name", "Precision", "Type", "T", "Weight type", "Architecture", "Model", "fullname", "Model sha")


def _features() -> Any:
    from datasets import Features, Value

    kinds = dict.fromkeys(TEXTS, "string") | {"Average ⬆️": "float64", "Hub License": "string", "Hub ❤️": "int64"}
    kinds |= {"#Params (B)": "float64"} | dict.fromkeys(
        ("Available on the hub", "MoE", "Flagged", "Chat Template"), "bool"
    )
    kinds |= {f"{title}{raw}": "float64" for title in TITLES for raw in (" Raw", "")}
    return Features({name: Value(kind) for name, kind in kinds.items()})


def _contents_row(model: str, score: float) -> dict[str, Any]:
    texts = dict.fromkeys(TEXTS, "x") | {"fullname": model, "Precision": "bfloat16", "Model sha": "a" * 40}
    numbers = {f"{title} Raw": score / 100 for title in TITLES} | dict.fromkeys(TITLES, score)
    flags = {"Available on the hub": True, "MoE": False, "Flagged": False, "Chat Template": False}
    return {**texts, "Average ⬆️": score, "Hub License": "mit", "Hub ❤️": 3, "#Params (B)": 7.2, **flags, **numbers}
