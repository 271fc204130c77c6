"""The mapping of the Open LLM Leaderboard's `contents`, ready to be named in the settings.

Columns that only a person knows (Type, licence, likes, size) are left to people. A row of this board is its model,
revision, precision and chat template; `eval_name` is not unique. Raw values are proportions, scores and the average are
points. Its readers take a missing score for 0, so the mapping has no marker for gaps: incomplete rows are refused.
"""

from __future__ import annotations

from typing import Any

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

READY: dict[str, dict[str, Any]] = {"open-llm-leaderboard": CONTENTS}
