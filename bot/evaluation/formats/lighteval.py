"""Result files of lighteval: rows "suite|task|shots", from 0.13 on "task|shots".

Before 0.9 the model stands in `config_general` itself, since then in its `model_config`. From 0.11 on no file records
the number of samples (-1): it is recovered from value and standard error where a leaderboard asks. `start_time` and
`end_time` are readings of a counter and no dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from bot.evaluation.definition import AskedDefinitions, picked
from bot.evaluation.formats import contradictions
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import (
    arguments,
    items,
    number,
    revision,
    row,
    setting,
    size_in_bytes,
    table,
    text,
    version,
    whole,
)
from bot.evaluation.formats.format import Format, Rerun, check_rows, command_line, stderr_after
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, Model, Result, escape_pointer

ALL, AVERAGE, V1_SUITE = "all", ":_average", "harness"
REPOSITORY = "huggingface/lighteval"
# A field of the model's configuration that only this way of running it has, and the command's word for it.
CLASSES = (
    ("gpu_memory_utilization", "vllm"), ("model_parallel", "accelerate"), ("concurrent_requests", "litellm"),
    ("parallel_calls_count", "inference-providers"), ("mem_fraction_static", "sglang"), ("reuse_existing", ""),
    ("dtype", "accelerate"),
)  # fmt: skip
FLAGS = ("override_chat_template", "multichoice_continuations_start_space")
# The fields of a task's configuration that decide what is asked; the shots are in its key.
DECIDING = (
    "prompt_function", "hf_repo", "hf_subset", "hf_revision", "hf_filter", "evaluation_splits", "few_shots_split",
    "few_shots_select", "generation_size", "generation_grammar", "stop_sequence", "num_samples",
    "must_remove_duplicate_docs",
)  # fmt: skip
OF_RUN = ("generation_parameters", "system_prompt")  # what decides for all tasks
DEFAULTS = {"must_remove_duplicate_docs": False, "hf_revision": "main", "few_shots_select": "random"}
NOT_DEFAULT = partial(picked, defaults=DEFAULTS)


def recognise(content: Content) -> bool:
    """Recognise it by rows with bars that are not of suite `harness`, or by `model_config` beside `lighteval_sha`."""
    if content.results is None:
        return False
    if content.has_bars:
        rows = [key for key in content.results if key != ALL]
        if any(map(_is_own, rows)):
            return content.table("config_general") is not None or all(map(_is_own, rows))
    config = content.table("config_general") or {}
    return "lighteval_sha" in config and "model_config" in config


def _is_own(key: str) -> bool:
    """Whether a row's key is one of lighteval's: `task|shots`, or `suite|task|shots` of another suite than v1's."""
    suite, *others = key.split("|")
    return len(others) in {1, 2} and others[-1].isdecimal() and (len(others) == 1 or suite != V1_SUITE)


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object."""
    top = content.value
    general, tasks, results = table(top.get("config_general")), table(top.get("config_tasks")), top["results"]
    check_rows(len(results), "/results")
    shown = table(without_secrets(general))
    config = shown.get("model_config")
    averages = [key for key in results if key.rpartition("|")[0].endswith(AVERAGE)]
    leaves = [key for key in results if key != ALL and not key.rpartition("|")[0].endswith(AVERAGE)]
    asked, versions = AskedDefinitions(), table(top.get("versions"))
    fields = table(config)
    chosen = _chosen(shown, fields)
    generation = {name: one for name, one in chosen.items() if name != "seed" and (one or one is False)}
    of_run = dict(zip(OF_RUN, (generation, fields.get("system_prompt")), strict=True))
    counts_samples = any(_count(one, "original_num_docs") is not None for one in tasks.values())  # until 0.11
    configs = {key: table(tasks.get(key, tasks.get(key.rpartition("|")[0]))) for key in leaves}
    configs = {key: one if one.keys().isdisjoint(DECIDING) else {**one, **of_run} for key, one in configs.items()}
    return Result(
        model=_model(shown, config),
        harness=HarnessVersion("lighteval", REPOSITORY, _commit(general)),
        leaves={
            key: _leaf(
                configs[key], versions.get(key, configs[key].get("version")), key, row(results, key, "/results"), asked
            )
            for key in leaves
        },
        limit=number(general.get("max_samples")),
        settings=_settings(general, fields, chosen),
        groups=tuple(
            GroupRow(key, f"/results/{escape_pointer(key)}", row(results, key, "/results")) for key in averages
        ),
        subtasks=_members(averages, leaves),
        places=_places(general, counts_samples=counts_samples, has_versions=bool(versions)),
        secrets=() if shown is general else secrets_in(general, "/config_general"),
        definitions=asked.definitions,
        asked=asked.asked,
        contradictions=contradictions.of_lighteval(general, fields, arguments(config)[1]),
        prompts={key: one for key in leaves if (one := _prompts(top, key))},
    )


def _prompts(top: Mapping[str, Any], key: str) -> str:
    """The hash of all prompts of a task, "" where there is none."""
    summary = table(table(top.get("summary_tasks")).get(key))
    return text(table(summary.get("hashes")).get("hash_full_prompts"))


def _members(averages: list[str], leaves: list[str]) -> dict[str, tuple[str, ...]]:
    """The leaves behind each average: those of the same task and number of shots."""
    parts = [(key, *key.rpartition("|")[::2]) for key in leaves]
    found = {}
    for average in averages:
        name, _, shots = average.rpartition("|")
        begin = name.removesuffix(AVERAGE) + ":"
        if members := tuple(key for key, task, count in parts if count == shots and task.startswith(begin)):
            found[average] = members
    return found


def _model(general: Mapping[str, Any], config: Any) -> Model:
    """The model: of `model_config`, an object or a text "a=1,b=2", where there is one, else of the frame."""
    pairs, args = arguments(config)
    fields: Mapping[str, Any] = config if isinstance(config, dict) else pairs
    name = text(general.get("model_name")) or pairs.get("model_name") or pairs.get("pretrained") or ""
    asked = text(fields.get("revision"))
    # Without a word the tokenizer decides, of which the file says nothing.
    templates = {str(fields.get(key)) for key in ("use_chat_template", "override_chat_template")}
    return Model(
        id=name,
        revision=revision(general.get("model_sha"), asked),
        precision=text(general.get("model_dtype")) or text(fields.get("dtype")),
        chat_template=True if "True" in templates else False if "False" in templates else None,
        source=next((source for field, source in CLASSES if field in fields), ""),
        args=args,
        requested_revision=asked or text(general.get("model_sha")),
        size=size_in_bytes(general.get("model_size")),
    )


def _commit(general: Mapping[str, Any]) -> str | None:
    """The commit of lighteval; an installed package writes "?"."""
    commit = text(general.get("lighteval_sha"))
    return commit if commit.strip("?") else None


def _chosen(general: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """The generation parameters that were set; one that is null was not."""
    parameters = table(config.get("generation_parameters")) or table(general.get("generation_parameters"))
    return {name: value for name, value in parameters.items() if value is not None}


def _settings(general: Mapping[str, Any], config: Mapping[str, Any], chosen: dict[str, Any]) -> dict[str, str]:
    """The other settings that affect answers."""
    found = {name: setting(config.get(name)) for name in ("system_prompt", *FLAGS)}
    found["generation_parameters"] = setting(chosen)
    if (seeds := whole(general.get("num_fewshot_seeds"))) is not None and seeds > 1:
        found["num_fewshot_seeds"] = str(seeds)
    return {name: value for name, value in found.items() if value}


def _count(config: Any, name: str) -> int | None:
    """A number of documents; what is below 0 was not counted."""
    count = whole(table(config).get(name))
    return count if count is not None and count >= 0 else None


def _leaf(
    config: Mapping[str, Any], own: Any, key: str, numbers: Mapping[str, Any], asked: AskedDefinitions
) -> LeafResult:
    task, _, shots = key.rpartition("|")
    return LeafResult(
        numbers,
        int(shots) if task and shots.isdecimal() and len(shots) < 4 else None,
        version(own),
        _count(config, "effective_num_docs"),
        _count(config, "original_num_docs"),
        definition=asked.add(config, (*DECIDING, *OF_RUN), NOT_DEFAULT),
        less_is_better=tuple(name for name in _less_is_better(config.get("metrics")) if name in numbers),
        contradicted=contradictions.unequal_means(numbers),
    )


def _less_is_better(metrics: Any) -> Iterator[str]:
    """The metrics of a task that are better where they are less: an entry has one name, or a list and a table."""
    for metric in map(table, items(metrics)):
        name, direction = metric.get("metric_name"), metric.get("higher_is_better")
        directions = {name: direction} if isinstance(name, str) else table(direction)
        yield from (one for one, is_higher in directions.items() if is_higher is False)


def _places(general: Mapping[str, Any], *, counts_samples: bool, has_versions: bool) -> dict[str, str]:
    config = "/config_general"
    inner = f"{config}/model_config" if "model_config" in general else config
    return {
        "model": f"{config}/model_name",
        "revision": f"{inner}/revision" if inner != config else f"{config}/model_sha",
        "precision": f"{inner}/dtype" if inner != config else f"{config}/model_dtype",
        "arguments": inner,
        "commit": f"{config}/lighteval_sha",
        "limit": f"{config}/max_samples",
        "leaves": "/results",
        "leaf": "/results/{leaf}",
        "value": "/results/{leaf}/{value}",
        "version": "/versions/{leaf}" if has_versions else "/config_tasks/{leaf}/version",
        "definition": "/config_tasks/{leaf}",
        **({"samples": "/config_tasks"} if counts_samples else {}),
    }


LAST_OF_BARS = "0.12.2"
TEMPLATE = re.compile(r"(?<![^,])use_chat_template=True(?![^,])")  # until 0.10 an option of the command
# The commands of its backends; the last class is lm-eval's word.
BACKENDS = {"accelerate": "accelerate", "vllm": "vllm", "sglang": "sglang", "hf": "accelerate"}


def rerun(wanted: Rerun) -> str:
    """The call of lighteval for models that it loads itself, from 0.9 on: older files do not say how they were.

    A key of two bars is of a release before 0.12.2, all of which take a third number: whether shots may be left out.
    """
    model, settings = wanted.model, wanted.settings
    backend, bars = BACKENDS.get(model.source, ""), {key.count("|") for key in wanted.leaf_keys}
    is_known = backend and (bars == {1} or (bars == {2} and model.args))
    if not is_known or not model.id or settings.keys() - {"generation_parameters", *FLAGS}:
        return ""
    args = {"model_name": model.id, "revision": model.revision or model.requested_revision, "dtype": model.precision}
    args |= {name: settings.get(name, "") for name in FLAGS}
    if any("," in value for value in args.values()):
        return ""  # it would begin another argument
    args["generation_parameters"] = settings.get("generation_parameters", "")
    spelled = ",".join(f"{name}={value}" for name, value in args.items() if value)
    tasks = ",".join(f"{key}|0" if bars == {2} else key for key in wanted.leaf_keys)
    template = ["--use-chat-template"] if TEMPLATE.search(model.args) else []
    return command_line(["lighteval", backend, spelled, tasks, *template, "--output-dir", "results", "--save-details"])


def install(repository: str, version: str, wanted: Rerun) -> str:
    """The call of pip that installs a release or commit with what the backend needs besides."""
    name = "lighteval[vllm]" if wanted.model.source == "vllm" else "lighteval"
    if not version:
        has_bars = any(key.count("|") > 1 for key in wanted.leaf_keys)  # which newer releases do not take
        return command_line(["pip", "install", f"{name}=={LAST_OF_BARS}" if has_bars else name])
    if "." in version and repository == REPOSITORY:
        return command_line(["pip", "install", f"{name}=={version}"])
    at = f"v{version}" if "." in version else version
    return command_line(["pip", "install", f"{name} @ git+https://github.com/{repository}@{at}"])


LIGHTEVAL = Format(
    id="lighteval",
    title="lighteval",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    install=install,
    stderr_key=stderr_after,
    naming="run with model_name=<organization>/<name>,revision=<commit> of a model on the Hub",
    pinning="add revision=<40 hex digits> to the model's arguments",
    limiting="--max-samples",
    logging="measure with --save-details",
)
