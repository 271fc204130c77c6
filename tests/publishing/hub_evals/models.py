"""A model's repository and a benchmark of the Hub, and a declaration that maps two tasks to it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, ModelPage, eval_results_path
from bot.publishing.layout import Draft, RowChange
from tests.evaluation.judging import declared
from tests.publishing.tables.boards import COMMIT, MODEL, entry

HEAD = "651099358104a2b2aea7ef80fd8a9035fe2729e8"
DATASET = "TIGER-Lab/MMLU-Pro"
EVAL_YAML = b"""\
name: MMLU-Pro
evaluation_framework: inspect-ai
tasks:
- id: mmlu_pro
  config: default
  field_spec: {input: question, target: answer}
  solvers: [{name: multiple_choice}]
  scorers: [{name: choice}]
- id: mmlu_pro_easy
"""
PRINTABLE = st.just(" ") | st.characters(exclude_categories=["C", "Z"])  # a filter would draw too much for it
DIFFERS = "the harness is not one of the Hub's frameworks"
HUB = {"dataset": DATASET, "task_id": "mmlu_pro", "unit": "percent", "framework_differs": DIFFERS}
PATH = eval_results_path("open-llm-v2", "mmlu_pro")


def board(**hub: dict[str, Any]) -> Leaderboard:
    """The Open LLM Leaderboard v2 with `[tasks.hub]` for these tasks, by default for MMLU-PRO."""
    data = declared().model_dump(mode="json")
    for task in data["tasks"]:
        if task["id"] in (hub or {"mmlu_pro": HUB}):
            task["hub"] = (hub or {"mmlu_pro": HUB})[task["id"]]
    return Leaderboard.model_validate(data)


def page(**changes: Any) -> ModelPage:
    known: dict[str, Any] = {"model": MODEL, "head": HEAD, "account": "acme-bot", "benchmarks": {DATASET: EVAL_YAML}}
    return ModelPage(**{**known, **changes})


def row(value: float | None = 0.5, key: str = "a", commit: str = COMMIT, **model: Any) -> RowChange:
    """A row with this raw value of MMLU-PRO, from a file at this commit."""
    made: Entry = entry(scores={"mmlu_pro": value}, key=key)
    evidence = tuple(replace(file, commit=commit) for file in made.evidence)
    return RowChange(key, replace(made, model=replace(made.model, **model), evidence=evidence))


def drafted(
    *changes: RowChange, files: dict[str, bytes] | None = None, hub: dict[str, Any] | None = None, **changed: Any
) -> Draft:
    """What becomes of the rows of one model; `hub` replaces keys of the declaration's benchmark."""
    leaderboard = board(mmlu_pro={**HUB, **(hub or {})})
    return EvalResultsLayout(leaderboard, page(**changed)).draft(changes or (row(),), files or {})


def written(draft: Draft) -> dict[str, bytes]:
    return {path: data for path, data in draft.files.items() if data is not None}


def refusal(*changes: RowChange, **changed: Any) -> str:
    """Why nothing is written."""
    draft = drafted(*changes, **changed)
    assert draft.files == {}
    (why,) = draft.refused.values()
    return why
