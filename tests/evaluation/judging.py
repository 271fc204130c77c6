"""Result files for tests of verdicts: an example file with changes, and what judging it comes to."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from bot.evaluation.definition import released
from bot.evaluation.finding import Finding
from bot.evaluation.formats.lm_eval_04 import DECIDING
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard
from bot.evaluation.measurement import Measurements
from bot.evaluation.result import HarnessVersion, Result
from bot.evaluation.rules.harness_commit import named_version
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.score import Scores
from bot.evaluation.submission import Parsed, parse_submission
from bot.evaluation.verdict import Judgement, Row, Verdict
from bot.publishing.entry import Entry, Evidence, entry_of
from bot.reporting.locate import with_lines
from examples.make_results import asked

ROOT = Path(__file__).resolve().parents[2]
KESTREL = next((ROOT / "examples" / "results" / "example-org__kestrel-7b").glob("*.json"))
EXAMPLES = tuple(sorted((ROOT / "examples" / "results").rglob("*.json")))
ABSENT = object()


@cache
def declared(leaderboard: str = "open-llm-v2") -> Leaderboard:
    return load_leaderboard(leaderboard)


@cache
def _base_text() -> str:
    return KESTREL.read_text(encoding="utf-8")


def base() -> dict[str, Any]:
    """The example file of a good model, a fresh copy."""
    return json.loads(_base_text())


def stderr(value: float, samples: int) -> float:
    """The standard error that the harness writes for a mean of zeros and ones."""
    return sqrt(value * (1 - value) / (samples - 1))


def base_v1(leaderboard: str = "open-llm-v1") -> dict[str, Any]:
    """A complete file of the Open LLM Leaderboard v1, of numbers that could be."""
    results: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    for task, leaf in declared(leaderboard).leaves():
        key = f"harness|{leaf.key('open-llm-v1')}|{task.num_fewshot}"
        value = round(0.4 * leaf.samples) / leaf.samples
        row = {task.metrics[0].name: value, f"{task.metrics[0].name}_stderr": stderr(value, leaf.samples)}
        if task.id == "mmlu":
            row |= {"acc_norm": value, "acc_norm_stderr": stderr(value, leaf.samples)}
        results[key], versions[key] = row, int(task.versions[-1])
    config = {"model_name": "example-org/kestrel-7b", "model_sha": "0123456789" * 4, "model_dtype": "torch.bfloat16"}
    config |= {"lighteval_sha": "b281b0921b636bc36ad05c0b0b0763bd6dd43463", "max_samples": None}
    return {"config_general": config, "results": results | {"all": {"acc": 0.4}}, "versions": versions}


def base_v1_today() -> dict[str, Any]:
    """The six tasks of the Open LLM Leaderboard v1 as harness 0.4 writes them, without a fault."""
    results: dict[str, Any] = {}
    versions: dict[str, float] = {}
    shots: dict[str, int] = {}
    sizes: dict[str, Any] = {}
    for task, leaf in declared("open-llm-v1").leaves():
        key, metric = leaf.key("lm-eval-0.4"), task.metrics[0]
        value = round(0.4 * (leaf.samples or 0)) / (leaf.samples or 1)
        results[key] = {metric.key("lm-eval-0.4"): value}
        versions[key] = float(task.versions_of("lm-eval-0.4")[-1])
        shots[key], sizes[key] = task.num_fewshot or 0, {"original": leaf.samples, "effective": leaf.samples}
    head = {key: base()[key] for key in ("config", "model_name", "model_source", "date", "lm_eval_version", "git_hash")}
    configs = {
        leaf.key("lm-eval-0.4"): asked("open-llm-v1-eleutherai", leaf.id)
        for _, leaf in declared("open-llm-v1").leaves()
    }
    by_leaf = {"versions": versions, "n-shot": shots, "n-samples": sizes, "configs": configs}
    return head | {"results": results} | by_leaf


def patch(data: Any, pointer: str, value: Any) -> Any:
    """Set what a JSON pointer names, making objects on the way; ABSENT removes it."""
    if not pointer:
        return value
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))
    inner = data
    for part in way:
        inner = inner[int(part)] if isinstance(inner, list) else inner.setdefault(part, {})
    if value is ABSENT:
        inner.pop(last, None)
    else:
        inner[last] = value
    return data


def has(data: Any, pointer: str) -> bool:
    """Tell whether something is at a pointer through objects."""
    for part in pointer.split("/")[1:]:
        if not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return isinstance(data, dict)


ARGUMENTS = "/config/model_args"
SAME = {"/model_name": "pretrained", "/config/model_sha": "revision", "/config/model_dtype": "dtype"}


TWINS = {
    "model_source": "/config/model",
    "n-shot": "/configs/{}/num_fewshot",
    "versions": "/configs/{}/metadata/version",
}


def twin_of(pointer: str) -> str:
    """Where the harness writes the same once more, "" for what it writes once."""
    _, top, *rest = pointer.split("/")
    return TWINS[top].format(*rest) if top in TWINS and len(rest) == TWINS[top].count("{}") else ""


def patched(changes: Mapping[str, Any], start: dict[str, Any] | None = None) -> dict[str, Any]:
    """The base file with each pointer set to its value, there too where it says the same once more.

    An argument that would contradict one of them is left out, and so is the name that is made of the model's.
    """
    data = base() if start is None else pickle.loads(pickle.dumps(start))
    for pointer, value in changes.items():
        data = patch(data, pointer, value)
        twin = twin_of(pointer) if pointer and value is not ABSENT else ""
        if twin and twin not in changes and has(data, twin.rpartition("/")[0]):
            data = patch(data, twin, value)
    if isinstance(data, dict) and "/model_name" in changes and "/model_name_sanitized" not in changes:
        data.pop("model_name_sanitized", None)
    config = data.get("config") if isinstance(data, dict) else None
    if isinstance(config, dict) and isinstance(args := config.get("model_args"), str) and ARGUMENTS not in changes:
        said = [name for pointer, name in SAME.items() if changes.get(pointer) and changes[pointer] is not ABSENT]
        config["model_args"] = ",".join(one for one in args.split(",") if one.partition("=")[0] not in said)
    return with_definitions(data) if {"/lm_eval_version", "/git_hash"} & changes.keys() else data


def with_definitions(data: Any) -> Any:
    """The file with the definitions that its leaves have in the harness that it names, where they are shipped."""
    configs = data.get("configs") if isinstance(data, dict) else None
    if not isinstance(configs, dict):
        return data
    texts = (data.get("git_hash"), data.get("lm_eval_version"))
    harness = HarnessVersion("", None, *(one if isinstance(one, str) else None for one in texts))
    for name in ("open-llm-v1-eleutherai", "open-llm-v2-eleutherai", "open-llm-v2-huggingface"):
        version = named_version(harness, released(name)["asked"])
        for _, leaf in declared(name.rpartition("-")[0]).leaves() if version else ():
            key, own = leaf.key("lm-eval-0.4"), configs.get(leaf.key("lm-eval-0.4"))
            found = asked(name, leaf.id, version)
            if found and isinstance(own, dict):
                configs[key] = {field: value for field, value in own.items() if field not in DECIDING} | found
    return data


def dumps(data: Any) -> bytes:
    """JSON as the harness writes it: two spaces, bare NaN."""
    return to_json(data, indent=2, inf_nan_mode="constants")


@dataclass(frozen=True)
class Outcome:
    """What one file comes to: its verdict and the row that it makes alone, None where no format reads it."""

    verdict: Verdict
    row: Row | None
    judgement: Judgement

    @property
    def status(self) -> str:
        """The file's verdict, or where nothing is wrong with the file its row's."""
        return self.row.status if self.row and self.verdict.status == "accepted" else self.verdict.status

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is found in the file, then in the row."""
        return (*self.verdict.findings, *(self.row.findings if self.row else ()))

    @property
    def result(self) -> Result | None:
        return self.verdict.result

    @property
    def scores(self) -> Scores | None:
        return self.row.scores if self.row else None

    @property
    def measurements(self) -> Measurements | None:
        return self.verdict.measurements

    @property
    def sha256(self) -> str:
        return self.verdict.sha256

    def entry(self, **place: str) -> Entry | None:
        """The row's entry, with the evidence in this place."""
        where = {self.verdict.path: Evidence(**{"path": self.verdict.path, **place})}
        return entry_of(self.row, where) if self.row else None


def judgement_of(
    files: Mapping[str, Any],
    leaderboard: Leaderboard | str = "open-llm-v2",
    facts: Facts = NO_FACTS,
    read: Callable[[str, Mapping[str, bytes]], Parsed] = parse_submission,
) -> Judgement:
    """Judge values or bytes by their paths."""
    board = declared(leaderboard) if isinstance(leaderboard, str) else leaderboard
    raw = {path: data if isinstance(data, bytes) else dumps(data) for path, data in files.items()}
    judgement = judge_all([read(path, {"": data}) for path, data in raw.items()], board, facts)
    return with_lines(judgement, raw.get)


def outcome_of(
    data: Any, leaderboard: Leaderboard | str = "open-llm-v2", facts: Facts = NO_FACTS, path: str = "results_x.json"
) -> Outcome:
    """Judge a value or bytes as the only submission."""
    judgement = judgement_of({path: data}, leaderboard, facts)
    return Outcome(judgement.verdicts[0], next(iter(judgement.rows), None), judgement)


def entry_from(
    data: Any, leaderboard: Leaderboard | str = "open-llm-v2", path: str = "results_x.json", **place: str
) -> Entry:
    """The entry of a value or bytes as the only submission, with the evidence in this place."""
    entry = outcome_of(data, leaderboard, path=path).entry(**place)
    assert entry is not None
    return entry


def rules_of(judged: Outcome | Verdict | Row) -> set[str]:
    """The ids of the rules that found something."""
    return {finding.rule for finding in judged.findings}
