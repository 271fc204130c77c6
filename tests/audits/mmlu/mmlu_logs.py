"""Logs and results of MMLU made by hand, and the audit of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from bot.audits.mmlu.audit import audit_mmlu
from bot.audits.mmlu.rescore import Fidelity, Question
from bot.audits.mmlu.source import MmluSource
from bot.cli.audits import audit
from bot.evaluation.benchmarks.mmlu_family import Family
from tests.audits.mmlu.mmlu_prompts import ask

QUESTION = Question("Which?", ("a much longer text", "b", "c", "d"), 0)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(audit, ["mmlu", *map(str, arguments)])


def row(family: Family, responses: list[Any], **more: Any) -> dict[str, Any]:
    """A record of lm-eval 0.4.3 and later, as that version writes it."""
    built = ask(family, QUESTION, (), "anatomy")
    seconds: list[Any] = list(built.continuations) or [{"until": ["\n"]}]
    arguments = {f"gen_args_{i}": {"arg_0": built.prompt, "arg_1": second} for i, second in enumerate(seconds)}
    doc = {"question": "Which?", "choices": list(QUESTION.choices), "answer": 0, "subject": "anatomy"}
    return {"doc_id": 0, "doc": doc, "arguments": arguments, "resps": [[one] for one in responses], **more}


def log(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(one) if isinstance(one, dict) else one}\n" for one in rows))
    return path


def one(*paths: Path) -> MmluSource:
    found = audit_mmlu(paths)
    assert found.problems == ()
    (source,) = found.sources
    return source


def scores(source: MmluSource) -> dict[tuple[str, str], tuple[float | None, Fidelity | None]]:
    return {(score.family.value, score.metric): (score.micro, score.standing) for score in source.scores}


def helm_run(folder: Path, states: Any) -> Path:
    adapter = {"model": "org/model", "max_train_instances": 5, "method": "joint"}
    spec = {"scenario_spec": {"class_name": "MMLUScenario", "args": {"subject": "anatomy"}}, "adapter_spec": adapter}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "stats.json").write_text(json.dumps([{"name": {"name": "exact_match", "split": "test"}, "mean": 0.5}]))
    (folder / "scenario_state.json").write_text(json.dumps(states))
    return folder
