"""Result files of OLMES (oe-eval): `metrics.json` of a whole run, old and new, and the metrics of one task.

A leaf is a task by its alias, for the alias says how it was asked ("arc_easy:mc::olmes"). The summary rounds, so values
come from the metrics. A limit is a part of a task's configuration and often of the benchmark itself: it is no limited
run, and the number of samples tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.evaluation.definition import AskedDefinitions, picked
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import (
    Given,
    arguments,
    contradicted,
    free_name,
    items,
    number,
    number_in,
    revision,
    seconds,
    setting,
    table,
    text,
    version,
    whole,
)
from bot.evaluation.formats.format import Format, Kind, Rerun, command_line, has_keys
from bot.evaluation.formats.sameness import adapter_of, quantization_of
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, Model, Result

ONE_TASK = ("task_name", "task_config", "metrics", "model_config")
# Members of a task that are not metrics, where these stand beside them.
NO_METRICS = frozenset({"task", "num_instances", "task_config", "processing_time", "alias", "task_hash", "model_hash"})
PRIMARY = "primary_score"
SETTINGS = ("chat_template", "system_prompt", "process_output")
NO_ARGUMENTS = ("model", "model_path", "model_type", "metadata", *SETTINGS)  # of a model's configuration
HUB_PATH = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
# The members of a task's configuration that decide what is asked, and of these what only says how answers are kept.
DECIDING = (
    "dataset_path", "dataset_name", "revision", "split", "limit", "random_subsample_seed", "fewshot_source",
    "fewshot_seed", "context_kwargs", "generation_kwargs", "chat_overrides", "primary_metric",
)  # fmt: skip
OF_FILES = ("truncation_size_when_saved",)
FRAME = {
    "model": "/model_config/model",
    "revision": "/model_config/revision",
    "precision": "/model_config/dtype",
    "arguments": "/model_config",
}


class OlmesTask(NamedTuple):
    """A task of the file: its name, its members, its metrics, and its number in the list."""

    name: str
    members: Mapping[str, Any]
    metrics: Mapping[str, Any]
    number: int

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of the task."""
        return table(self.members.get("task_config"))

    @property
    def is_aggregate(self) -> bool:
        """Tell whether it is a mean over other tasks of the list."""
        return "num_tasks" in table(self.config.get("metadata"))


def recognise(content: Content) -> bool:
    """Recognise a run by `all_primary_scores` and its tasks, and a single task by its four parts."""
    top = content.bare
    if isinstance(top.get("all_primary_scores"), list):
        return isinstance(top.get("tasks"), list) or isinstance(top.get("metrics"), list)
    return all(name in top for name in ONE_TASK) and type(top["metrics"]) is dict


def parse(content: Content) -> Result:
    """Read the file; a member of the list that is not a task of this form is skipped."""
    top = content.bare
    recorded = table(top.get("model_config"))
    model = table(without_secrets(recorded))
    listed = "/tasks" if isinstance(top.get("tasks"), list) else "/metrics"
    above = listed if "all_primary_scores" in top else ""  # where the list of tasks lies
    summary = dict(one.rpartition(": ")[::2] for one in items(top.get("all_primary_scores")) if type(one) is str)
    leaves: dict[str, OlmesTask] = {}
    asked = AskedDefinitions()
    groups = []
    for task in _tasks(top):
        if task.is_aggregate:
            groups.append(GroupRow(task.name, f"{above}/{task.number}" if above else "", task.metrics))
        else:
            leaves[free_name(task.name, leaves)] = task
    hashes = {name: text(task.members.get("task_hash")) for name, task in leaves.items()}
    chats = [task.config["use_chat_format"] for task in leaves.values() if "use_chat_format" in task.config]
    return Result(
        model=_model(model, has_chat=True in chats if chats else None),
        harness=HarnessVersion("olmes", repository="allenai/olmes"),
        leaves={name: _leaf(task, asked, summary.get(task.name, "")) for name, task in leaves.items()},
        date=seconds(text(top.get("current_date")).removesuffix(" UTC")),
        settings={name: found for name in SETTINGS if (found := setting(model.get(name)))},
        groups=tuple(groups),
        task_hashes={name: one for name, one in hashes.items() if one},
        places=_places(above, top),
        original_keys={name: str(task.number) for name, task in leaves.items()} if above else {},
        secrets=() if model is recorded else secrets_in(recorded, "/model_config"),
        definitions=asked.definitions,
        asked=asked.asked,
    )


def _places(above: str, top: Mapping[str, Any]) -> dict[str, str]:
    """Where fields lie; in a list the number of a task stands for its key."""
    leaf = f"{above}/{{leaf}}" if above else ""
    has_inner = any("metrics" in table(one) for one in items(top.get("metrics")))
    values = leaf if above == "/metrics" and not has_inner else f"{leaf}/metrics"
    return FRAME | {
        "leaves": above,
        "leaf": leaf,
        "value": f"{values}/{{value}}",
        "num_fewshot": f"{leaf}/task_config/num_shots",
        "version": f"{leaf}/task_config/version",
        "definition": f"{leaf}/task_config",
        "samples": f"{leaf}/num_instances",
    }


def _tasks(top: Mapping[str, Any]) -> Iterator[OlmesTask]:
    if "all_primary_scores" not in top:
        yield _task(top, 0)
        return
    listed = top.get("tasks")
    for place, members in enumerate(items(listed if isinstance(listed, list) else top.get("metrics"))):
        if type(members) is dict and (name := _name(members)):
            yield _task(members, place)._replace(name=name)


def _task(members: Mapping[str, Any], place: int) -> OlmesTask:
    found = members.get("metrics")
    flat = {key: value for key, value in members.items() if key not in NO_METRICS}
    return OlmesTask(_name(members), members, found if type(found) is dict else flat, place)


def _name(members: Mapping[str, Any]) -> str:
    """The alias of a task, which holds its variant; else its plain name."""
    config = table(members.get("task_config"))
    alias = text(members.get("alias")) or text(table(config.get("metadata")).get("alias"))
    return alias or text(members.get("task")) or text(members.get("task_name")) or text(config.get("task_name"))


def deciding(recorded: dict[str, Any]) -> dict[str, Any]:
    """The members that decide."""
    found = without_secrets(recorded)
    context = table(found["context_kwargs"])
    found["context_kwargs"] = {name: value for name, value in context.items() if name not in OF_FILES}
    return picked(found)


def _leaf(task: OlmesTask, asked: AskedDefinitions, summed_up: str) -> LeafResult:
    primary = text(task.config.get("primary_metric"))
    given = (
        Given(PRIMARY, number(task.metrics.get(primary)), 1e-5, f"its {primary} is"),
        Given(PRIMARY, number_in(summed_up), 1e-5, "the summary says"),
    )
    return LeafResult(
        {key: value for key, value in task.metrics.items() if type(value) not in {dict, list}},
        whole(task.config.get("num_shots")),
        version(task.config.get("version")),
        whole(task.members.get("num_instances")),
        epochs=max(1, whole(table(task.config.get("generation_kwargs")).get("repeats")) or 1),
        definition=asked.add(task.config, DECIDING, deciding),
        contradicted=contradicted(task.metrics, given),
    )


def _model(config: Mapping[str, Any], *, has_chat: bool | None) -> Model:
    """The model; a nickname of OLMES's own list gives way to the place on the Hub that it stands for."""
    named, path = text(config.get("model")), text(config.get("model_path"))
    if "/" not in named and HUB_PATH.fullmatch(path):
        named = path
    return Model(
        id=named,
        revision=revision(config.get("revision")),
        precision=text(config.get("dtype")) or text(config.get("torch_dtype")),
        chat_template=has_chat,
        source=text(config.get("model_type")),
        args=arguments({name: value for name, value in config.items() if name not in NO_ARGUMENTS})[1],
        requested_revision=text(config.get("revision")),
    )


def rerun(wanted: Rerun) -> str:
    """The call of OLMES, for a model of the Hub that was asked with no setting of its own; an alias says the shots."""
    args = wanted.model.args
    if not HUB_PATH.fullmatch(wanted.model.id) or wanted.settings or adapter_of(args) or quantization_of(args):
        return ""
    words = ["olmes", "--model", wanted.model.id]
    words += ["--revision", wanted.model.revision] if wanted.model.revision else []
    words += ["--model-type", wanted.model.source] if wanted.model.source else []
    return command_line([*words, "--task", *wanted.leaf_keys, "--output-dir", "results"])


OLMES = Format(
    id="olmes",
    title="OLMES",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    naming="run with --model <organization>/<name> of a model on the Hub",
    pinning="run with --revision <40 hex digits>",
    others=(
        Kind(
            "olmes",
            "all metrics of an OLMES run in lines",
            "name metrics.json beside it",
            has_value=has_keys("task_name", "task_hash", "task_config", "metrics"),
        ),
    ),
)
