"""Eight layouts like nothing that is shipped: values are exact, and a misspelled place gives no wrong number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from bot.evaluation.forms import DeclaredForm
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.submission import Parsed, parse_submission
from tests.evaluation.test_forms import TASK, declared

# By name: the path, the file, the form, and the numbers by model, leaf and metric.
LAYOUTS: dict[str, tuple[str, Any, dict[str, Any], dict[tuple[str, str, str], float]]] = {
    "nested": (
        "a.json",
        {"who": {"hf": "o/a", "sha": "b" * 40}, "scores": {"x": {"ok": 61.5, "n": 40}, "y": {"ok": 7.25, "n": 8}}},
        {
            "model": "who.hf",
            "revision": "who.sha",
            "values": [
                {
                    "value": "scores.{t}.ok",
                    "leaf": "{t}",
                    "metric": "ok",
                    "unit": "percent",
                    "samples": "scores.{t}.n",
                }
            ],
        },
        {("o/a", "x", "ok"): 61.5, ("o/a", "y", "ok"): 7.25},
    ),
    "list": (
        "a.json",
        {
            "m": "o/a",
            "runs": [{"set": "x", "split": "dev", "m": {"f1": 0.25}}, {"set": "x", "split": "test", "m": {"f1": 0.5}}],
        },
        {"model": "m", "values": [{"value": "runs[*].m.f1", "leaf": "{..set} {..split}", "metric": "f1"}]},
        {("o/a", "x dev", "f1"): 0.25, ("o/a", "x test", "f1"): 0.5},
    ),
    "selected": (
        "a.json",
        {"m": "o/a", "parts": [{"name": "dev", "acc": 0.125}, {"name": "test", "acc": 0.375}]},
        {"model": "m", "values": [{"value": "parts[name=test].acc", "leaf": "x", "metric": "acc"}]},
        {("o/a", "x", "acc"): 0.375},
    ),
    "rows": (
        "a.json",
        {"date": "2026-01-02", "board": [{"m": "o/a", "x": "12.5%"}, {"m": "o/b", "x": "0,75"}]},
        {
            "rows": "board[*]",
            "model": "m",
            "date": "/date",
            "values": [{"value": "x", "leaf": "x", "unit": "percent"}],
        },
        {("o/a", "x", "score"): 12.5, ("o/b", "x", "score"): 0.75},
    ),
    "counts": (
        "a.json",
        {"m": "o/a", "right": {"x": 3, "y": 5}, "asked": {"x": 8, "y": 8}, "acc": {"x": 0.375, "y": 0.625}},
        {
            "model": "m",
            "values": [{"right": "right.{t}", "of": "asked.{t}", "value": "acc.{t}", "leaf": "{t}", "metric": "acc"}],
        },
        {("o/a", "x", "acc"): 0.375, ("o/a", "y", "acc"): 0.625},
    ),
    "solved": (
        "a.json",
        {"m": "o/a", "done": ["p", "q", "r"], "all": ["p", "q", "r", "s"]},
        {"model": "m", "values": [{"solved": "done", "of": "all", "leaf": "x", "metric": "solved"}]},
        {("o/a", "x", "solved"): 0.75},
    ),
    "trials": (
        "o__a/trials.jsonl",
        [{"task": "p", "ok": True}, {"task": "p", "ok": False}, {"task": "q", "ok": True}, {"task": "q", "ok": True}],
        {
            "rows": "/",
            "files": "{org}__{name}/trials.jsonl",
            "model": "{org}/{name}",
            "values": [{"trials": "[*].ok", "question": "{.task}", "reduce": "pass^2", "leaf": "x"}],
        },
        {("o/a", "x", "pass^2"): 0.5},
    ),
    "by model": (
        "a.json",
        {"o/a": {"x": {"acc": 0.5, "se": 0.01}}, "o/b": {"x": {"acc": 0.25, "se": 0.02}}},
        {
            "rows": "{who}",
            "model": "{who}",
            "values": [{"value": "{t}.acc", "leaf": "{t}", "metric": "acc", "stderr": "{t}.se"}],
        },
        {("o/a", "x", "acc"): 0.5, ("o/b", "x", "acc"): 0.25},
    ),
}


def read(path: str, value: Any, form: dict[str, Any]) -> Parsed:
    lines = value if isinstance(value, list) else [value]
    data = "\n".join(map(json.dumps, lines if path.endswith(".jsonl") else [value])).encode()
    made = DeclaredForm.model_validate({"id": "own", **form}).format
    return parse_submission(path, {"": data}, forms=[made])


def numbers(parsed: Parsed) -> dict[tuple[str, str, str], float]:
    return {
        (part.result.model.id, leaf, metric): value
        for part in parsed.parts
        if part.result is not None
        for leaf, one in part.result.leaves.items()
        for metric, value in one.numbers.items()
        if not metric.endswith("_stderr")
    }


def mutations(form: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The form with each of its places misspelled."""
    for key, text in form.items():
        if isinstance(text, str):
            yield {**form, key: text + ("x" if text != "/" else "x[*]")}
    for number, value in enumerate(form["values"]):
        for key in value.keys() & {"value", "right", "of", "solved", "trials", "samples", "stderr", "question", "leaf"}:
            changed = deepcopy(form)
            place = value[key]
            changed["values"][number][key] = place[:-1] + "x}" if place.endswith("}") and "{." in place else place + "x"
            yield changed


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_values_of_any_layout_are_exact(name: str) -> None:
    path, value, form, wanted = LAYOUTS[name]
    parsed = read(path, value, form)
    assert numbers(parsed) == wanted
    assert all(part.result is not None and part.result.misread == () for part in parsed.parts)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_misspelled_place_gives_a_finding_and_no_wrong_number(name: str) -> None:
    path, value, form, wanted = LAYOUTS[name]
    board: Leaderboard = declared('title = "T"\ndescription = "D"\n[harness]\nformats = ["tau2"]\n' + TASK)
    tried = 0
    for changed in mutations(form):
        try:
            parsed = read(path, value, changed)
        except ValueError:
            continue  # the declaration is refused
        tried += 1
        found = numbers(parsed)
        judgement = judge_all(parsed.parts, board)
        rules = {one.rule for verdict in judgement.verdicts for one in verdict.findings}
        leaves = {leaf for _, leaf, _ in wanted}
        for (model, leaf, metric), number in found.items():
            if leaf in leaves and any(known == model for known, _, _ in wanted):
                assert wanted[model, leaf, metric] == number, changed
        said = rules & {"malformed-file", "misread-place", "absent-place", "unmatched-place", "unidentified-model"}
        assert said or found.keys() != wanted.keys(), changed
    assert tried > 1
