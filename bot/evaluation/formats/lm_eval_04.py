"""Result files of lm-evaluation-harness 0.4.0 to 0.4.13.

Keys came over time (`n-samples` and `higher_is_better` with 0.4.3, `lm_eval_version` with 0.4.9), so all but `results`
may be absent. A metric's key is "name,filter".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from bot.evaluation.formats.alias_groups import subtasks_by_alias
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.document import KEPT, NOTHING, Document, Part, task_configs
from bot.evaluation.formats.fields import (
    arguments,
    not_a_row,
    number,
    release,
    revision,
    row,
    setting,
    text,
)
from bot.evaluation.formats.format import Format, Rerun
from bot.evaluation.formats.lm_eval_command import command_line, pinned_arguments
from bot.evaluation.formats.runs import BLANK, Runs, runs_of
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, LeafRows, Model, Result, escape_pointer

NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
BATCHED = ("hf", "huggingface", "vllm")  # beginnings of model classes that find their batch size themselves
EMPTY: dict[str, Any] = {}
QUANTIZATION = re.compile(r"(?:^|,)\s*quantization_config\s*=\s*([A-Za-z0-9]+?)(?:Config)?(?:[(,]|$)")
ALIAS = re.compile(rb'"alias"\s*:\s*" +- ')
STOPS = re.compile(rb'until"\s*:\s*\[\s*"\."')
PLACES = {
    "model": "/model_name",
    "revision": "/config/model_sha",
    "precision": "/config/model_dtype",
    "arguments": "/config/model_args",
    "chat_template": "/chat_template",
    "commit": "/git_hash",
    "release": "/lm_eval_version",
    "limit": "/config/limit",
    "date": "/date",
    "leaves": "/results",
    "leaf": "/results/{leaf}",
    "value": "/results/{leaf}/{value}",
    "num_fewshot": "/n-shot/{leaf}",
    "version": "/versions/{leaf}",
    "samples": "/n-samples/{leaf}",
}


def recognise(content: Content) -> bool:
    """Recognise it by `configs` and `n-shot` at the top, or by a metric's key with a comma."""
    document = content.document
    if document.results is None:
        return False
    if document.configs is not NOTHING and document.num_fewshot is not None:
        return True
    rows = (value for value in document.results.values() if isinstance(value, dict))
    return any("," in key for values in rows for key in values)


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object."""
    document = content.document
    config = document.config or EMPTY
    model = model_of(document, config)
    part = document.parts.get("group_subtasks")
    subtasks = _members_of(document.group_subtasks) if part is None else _known_members(part)
    if document.group_subtasks is None and ALIAS.search(content.data):
        subtasks = subtasks_by_alias(document.results or EMPTY, task_configs(document))
    limit = number(config.get("limit"))
    commit, version = text(document.git_hash) or None, release(document.lm_eval_version) or None
    harness = HarnessVersion("lm-evaluation-harness", commit, version)
    groups, leaves = _rows(document, subtasks, limit, harness)
    return Result(
        format="lm-eval-0.4",
        model=model,
        harness=harness,
        leaves=leaves,
        limit=limit,
        date=number(document.date),
        settings=settings_of(document, config),
        groups=groups,
        subtasks=subtasks,
        task_hashes=document.task_hashes or EMPTY,
        places=PLACES,
    )


@lru_cache(maxsize=KEPT)
def _known_members(part: Part) -> dict[str, tuple[str, ...]]:
    return _members_of(part.value)


def _members_of(subtasks: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """The members of each group that has some."""
    return {
        group: tuple([member for member in members if type(member) is str])
        for group, members in (subtasks or EMPTY).items()
        if type(members) is list and members
    }


def settings_of(document: Document, config: Mapping[str, Any]) -> dict[str, str]:
    """The other settings that affect answers; a digest stands for the template, which 0.4.3 and later record."""
    found = {
        "gen_kwargs": setting(config.get("gen_kwargs")),
        "system_instruction": setting(document.system_instruction),
    }
    if template := document.chat_template or document.chat_template_sha:
        digest = text(document.chat_template_sha) or sha256(setting(template).encode()).hexdigest()
        found["chat_template"] = setting(digest)
        found["fewshot_as_multiturn"] = setting(document.fewshot_as_multiturn)
    return {name: value for name, value in found.items() if value}


def _rows(
    document: Document, subtasks: Mapping[str, tuple[str, ...]], limit: float | None, harness: HarnessVersion
) -> tuple[tuple[GroupRow, ...], LeafRows]:
    """Part the rows of `results` into aggregates and leaves; `groups` holds the aggregates a second time."""
    results, aggregates = document.results or EMPTY, document.groups or EMPTY
    for key in results if document.top is None else ():  # elsewhere the decoder has seen to it
        if type(results[key]) is not dict:
            raise not_a_row("/results", key)
    runs = runs_of(document, subtasks, limit, harness)
    leaves = _leaves(results, runs, _untils(document))
    if runs.shape is not None:
        rows = [results[key] for key in runs.group_keys[: len(runs.group_keys) - len(aggregates)]]
        return tuple(map(GroupRow, runs.group_keys, runs.pointers, [*rows, *aggregates.values()])), leaves
    groups = [GroupRow(key, f"/results/{escape_pointer(key)}", results[key]) for key in results if key not in leaves]
    groups += [GroupRow(key, f"/groups/{escape_pointer(key)}", row(aggregates, key, "/groups")) for key in aggregates]
    return tuple(groups), leaves


def _leaves(results: Mapping[str, Any], runs: Runs, untils: Mapping[str, str]) -> LeafRows:
    """The rows that are not aggregates, all at once if their shape is known."""
    leaves = LeafRows(runs.shape)
    if runs.shape is not None and not untils:
        rows = map(results.__getitem__, runs.leaf_keys)
        leaves.update(zip(runs.leaf_keys, map(LeafResult, rows, *runs.columns), strict=True))
        return leaves
    for key, run in runs.of.items():
        if run is not None and (runs.shape is not None or BLANK not in results[key]):
            leaves[key] = LeafResult(results[key], *run, until=untils.get(key, ""))
    return leaves


def _untils(document: Document) -> dict[str, str]:
    """Where the generation of each task stops; read once where files share their configurations."""
    if document.shared is None:
        return _stops_of(document)
    if "untils" not in document.shared.decoded:
        document.shared.decoded["untils"] = _stops_of(document)
    found: dict[str, str] = document.shared.decoded["untils"]
    return found


def _stops_of(document: Document) -> dict[str, str]:
    """The stop words of each task; empty unless one of them is a full stop, because the rules judge only that."""
    if not STOPS.search(document.configs):
        return {}
    settings = ((key, config.generation_kwargs) for key, config in task_configs(document).items())
    found = {key: kept.get("until") for key, kept in settings if isinstance(kept, dict)}
    return {key: "\n".join(map(str, words)) for key, words in found.items() if isinstance(words, list)}


def model_of(document: Document, config: Mapping[str, Any]) -> Model:
    """The model that a file of harness 0.4 names, or of one that writes its frame."""
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
    return _quantization(config) or text(config.get("model_dtype")) or pairs.get("dtype", "")


def _quantization(config: Mapping[str, Any]) -> str:
    """The quantization in `quantization_config` of the model's arguments: an object, or a printed one."""
    args = config.get("model_args")
    if isinstance(args, dict) and isinstance(found := args.get("quantization_config"), dict):
        bits = next((f"{bits}bit" for bits in (4, 8) if found.get(f"load_in_{bits}bit") is True), "")
        return bits or text(found.get("quant_method")) or text(found.get("quant_type")) or "quantized"
    match = QUANTIZATION.search(args) if isinstance(args, str) else None
    return match[1].lower() if match else ""


def rerun(wanted: Rerun) -> str:
    """The call of lm-eval 0.4; with the chat template, the settings and the commit that a new file must share."""
    args = pinned_arguments(wanted.model)
    source = wanted.model.source or "hf"
    words = ["lm_eval", "--model", source, "--model_args", args, "--tasks", ",".join(wanted.leaf_keys)]
    words += [] if wanted.num_fewshot is None else ["--num_fewshot", str(wanted.num_fewshot)]
    if wanted.model.chat_template:
        is_multiturn = wanted.settings.get("fewshot_as_multiturn", "true") == "true"
        words += ["--apply_chat_template", *(["--fewshot_as_multiturn"] if is_multiturn else [])]
    for name in ("gen_kwargs", "system_instruction"):
        if name in wanted.settings:
            words += [f"--{name}", wanted.settings[name]]
    words += ["--batch_size", "auto"] if source.startswith(BATCHED) else []
    is_known = args and not any(value.startswith("sha256:") for value in wanted.settings.values())
    return command_line([*words, "--output_path", "results", "--log_samples"]) if is_known else ""


def metric_key(name: str, answer_filter: str) -> str:
    """Spell a metric with its answer filter."""
    return f"{name},{answer_filter}"


LM_EVAL_04 = Format(
    id="lm-eval-0.4",
    title="lm-evaluation-harness 0.4",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    metric_key=metric_key,
)
