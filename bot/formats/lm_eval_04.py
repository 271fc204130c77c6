"""Result files of lm-evaluation-harness 0.4.0 to 0.4.13: document in, Result out.

Keys came over time (`n-samples` and `higher_is_better` with 0.4.3, `lm_eval_version` with 0.4.9), so all but `results`
may be absent. A metric's key is "name,filter".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.formats.document import NOTHING, Document, TaskConfig, task_configs
from bot.formats.fields import LARGEST, arguments, not_a_row, number, revision, row, text, version, whole
from bot.result import LeafResult, Measured, Model, Result

NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
EMPTY: dict[str, Any] = {}


def is_recognised(document: Document) -> bool:
    """By `configs` and `n-shot` at the top, or by a metric's key with a comma."""
    if document.results is None:
        return False
    if document.configs is not NOTHING and document.num_fewshot is not None:
        return True
    rows = (value for value in document.results.values() if isinstance(value, dict))
    return any("," in key for values in rows for key in values)


def parse(document: Document) -> Result:
    """Read the document. Raises MalformedResult where a row of results is no object."""
    config = document.config or EMPTY
    model = _model(document, config)
    subtasks = {
        group: tuple([member for member in members if type(member) is str])
        for group, members in (document.group_subtasks or EMPTY).items()
        if type(members) is list and members
    }
    groups, leaves = _rows(document, subtasks)
    return Result(
        format="lm-eval-0.4",
        model=model,
        harness=Measured(
            "lm-evaluation-harness", text(document.git_hash) or None, text(document.lm_eval_version) or None
        ),
        leaves=leaves,
        limit=number(config.get("limit")),
        date=number(document.date),
        groups=groups,
        subtasks=subtasks,
        task_hashes=document.task_hashes or EMPTY,
    )


def _rows(
    document: Document, subtasks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[tuple[str, str, dict[str, Any]], ...], dict[str, LeafResult]]:
    """Part the rows of `results` into aggregates and leaves; `groups` says the aggregates a second time."""
    results, aggregates = document.results or EMPTY, document.groups or EMPTY
    groups: list[tuple[str, str, dict[str, Any]]] = []
    leaves: dict[str, LeafResult] = {}
    configs: Mapping[str, TaskConfig] | None = None
    shots, samples, versions = (
        part or EMPTY for part in (document.num_fewshot, document.num_samples, document.versions)
    )
    for key, numbers in results.items():
        if type(numbers) is not dict:
            raise not_a_row("/results", key)
        if key in subtasks or key in aggregates or " " in numbers:
            groups.append((key, "results", numbers))
            continue
        counts, shot, spelled = samples.get(key), shots.get(key), versions.get(key)
        if type(counts) is not dict:
            counts = EMPTY
        effective, original = counts.get("effective"), counts.get("original")
        if shot is None:
            configs = task_configs(document) if configs is None else configs
            shot = configs[key].num_fewshot if key in configs else None
        leaves[key] = LeafResult(
            numbers,
            shot if type(shot) is int and -LARGEST < shot < LARGEST else whole(shot),
            spelled if type(spelled) is float else version(spelled),
            effective if type(effective) is int and -LARGEST < effective < LARGEST else whole(effective),
            original if type(original) is int and -LARGEST < original < LARGEST else whole(original),
        )
    groups.extend((key, "groups", row(aggregates, key, "/groups")) for key in aggregates)
    return tuple(groups), leaves


def _model(document: Document, config: Mapping[str, Any]) -> Model:
    pairs, args = arguments(config.get("model_args"))
    named = next(_first_named(pairs), "")
    return Model(
        id=text(document.model_name) or named,
        revision=revision(config.get("model_sha"), config.get("model_revision"), pairs.get("revision")),
        precision=_precision(pairs, config),
        chat_template=bool(document.chat_template_sha or document.chat_template),
        source=text(document.model_source) or text(config.get("model")),
        args=args,
        requested_revision=text(config.get("model_revision")) or pairs.get("revision", ""),
        is_named=bool(named),
    )


def _first_named(pairs: Mapping[str, str]) -> Iterator[str]:
    """The model's name as the harness picks it from `model_args` (loggers/evaluation_tracker.py)."""
    for name in NAMES:
        if pairs.get(name):
            yield pairs[name]


def _precision(pairs: Mapping[str, str], config: Mapping[str, Any]) -> str:
    if pairs.get("load_in_4bit", "").lower() == "true":
        return "4bit"
    if pairs.get("load_in_8bit", "").lower() == "true":
        return "8bit"
    if pairs.get("quantization") or pairs.get("autogptq") or pairs.get("gguf_file"):
        return pairs.get("quantization") or ("GPTQ" if pairs.get("autogptq") else "GGUF")
    dtype = text(config.get("model_dtype")) or pairs.get("dtype", "")
    return "" if dtype == "auto" else dtype.removeprefix("torch.")
