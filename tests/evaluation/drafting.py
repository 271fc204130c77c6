"""Drafts of declarations, and files to draft them from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.result import Result
from bot.evaluation.task import Task
from bot.reporting.draft import draft_text
from tests.evaluation.judging import dumps, stderr


def drafted(*files: Any) -> tuple[Leaderboard, str]:
    """The declaration drafted from results, as values or as a format reads them, and its text."""
    results = [file if isinstance(file, Result) else parse_result(dumps(file)) for file in files]
    text = draft_text(draft_of(results))
    return parse_leaderboard(text, "board", "board.toml"), text


def only_task(*files: Any) -> tuple[Task, str]:
    board, text = drafted(*files)
    (task,) = board.tasks
    return task, text


def modern(rows: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A file of harness 0.4 with these rows."""
    data = {"results": rows, "configs": {key: {} for key in rows}, "n-shot": dict.fromkeys(rows, 0)}
    name = more.get("model_name", "acme/atlas-7b")
    model = {"model_name": name, "config": {"model_args": f"pretrained={name}"}}
    return {**data, "versions": dict.fromkeys(rows, 1.0), **model, "lm_eval_version": "0.4.9", **more}


def sized(rows: Iterable[str], size: int) -> dict[str, Any]:
    return {key: {"original": size, "effective": size} for key in rows}


def binary(metric: str, right: int, samples: int) -> dict[str, float]:
    name, _, answer_filter = metric.partition(",")
    value = right / samples
    return {metric: value, f"{name}_stderr,{answer_filter}": stderr(value, samples)}
