"""Runs of HELM: a folder in which `run_spec.json` holds the settings and `stats.json` the outcome.

One name stands for up to six statistics (of other splits, of perturbed inputs): what counts is the mean over the test
split, or the validation split where nothing was tested, of inputs as they are. `per_instance_stats.json` gives the
standard errors, which HELM does not write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import fsum, sqrt
from typing import Any

import msgspec

from bot.errors import MalformedResult
from bot.evaluation.definition import AskedDefinitions, picked
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import LARGEST, Given, contradicted, items, number, table, text, whole
from bot.evaluation.formats.format import Format, Kind, stderr_beside
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

SPEC, STATS, INSTANCES = "run_spec.json", "stats.json", "per_instance_stats.json"
SPLITS = ("test", "valid")
# A run's statistics, those of its instances, or the list of all runs of a release.
LISTS = re.compile(
    rb"\s*\[\s*\{\s*\"(?:name\"\s*:\s*\{\s*\"name\"|run_path\"|run_spec\""
    rb"|instance_id\"\s*:\s*\"[^\"]*\"\s*,\s*\"(?:perturbation|train_trial_index)\")"
)
# What HELM counts beside what it measures.
COUNTS = frozenset({
    "num_references", "num_train_trials", "num_prompt_tokens", "num_completion_tokens", "num_output_tokens",
    "num_instances", "num_train_instances", "num_perplexity_tokens", "num_bytes", "num_completions", "batch_size",
    "training_co2_cost", "training_energy_cost", "inference_runtime", "inference_denoised_runtime",
    "inference_idealized_runtime", "finish_reason_length", "finish_reason_stop", "finish_reason_endoftext",
    "finish_reason_unknown", "prompt_truncated", "max_prob",
})  # fmt: skip
FRACTIONS = frozenset({"bleu_1", "bleu_4", "chinese_bleu_1"})  # from 0 to 1 here, and to 100 elsewhere
OF_MODEL = ("model", "model_deployment")
# The parts of a run's specification that decide what is asked and how it is scored, and of them what is no definition:
# whose the answers are, and the shots.
DECIDING = ("scenario_spec", "adapter_spec", "data_augmenter_spec", "metric_specs", "annotators")
FIELD = re.compile(r"\w{1,60}", re.ASCII)
NOT_ASKED = (*OF_MODEL, "max_train_instances")
PLACES = {
    "model": f"{SPEC}#/adapter_spec/model",
    "arguments": f"{SPEC}#/adapter_spec",
    "leaves": f"{STATS}#",
    "num_fewshot": f"{SPEC}#/adapter_spec/max_train_instances",
    "definition": f"{SPEC}#",
}


class _Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Groups of runs and their main metrics, the first that a run has."""

    metrics: tuple[str, ...]
    names: tuple[str, ...]


@cache
def _main_metrics() -> dict[str, tuple[str, ...]]:
    """The main metrics of each group of runs, as HELM's own schemas name them."""
    text = files("bot").joinpath("data", "helm.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(text, type=dict[str, tuple[_Groups, ...]])["groups"]
    return {name: group.metrics for group in groups for name in group.names}


def recognise(content: Content) -> bool:
    """Recognise a run by the `adapter_spec` of its specification and a list of statistics."""
    spec = content.json(SPEC)
    return (
        type(spec) is dict
        and type(spec.get("name")) is str
        and type(spec.get("adapter_spec")) is dict
        and type(content.json(STATS)) is list
    )


def parse(content: Content) -> Result:
    """Read the run. Raises MalformedResult if one of its files is not JSON."""
    spec = content.json(SPEC)
    adapter = table(spec.get("adapter_spec"))
    split, found = _means(content.json(STATS))
    numbers = {name: mean for name, (_, mean) in found.items() if name not in COUNTS}
    values = _instance_values(content, split)
    samples = whole(found["num_instances"][1]) if "num_instances" in found else None
    name, asked = _leaf_key(spec["name"]), AskedDefinitions()
    leaf = LeafResult(
        numbers | _standard_errors(values, numbers),
        _shots(found, adapter),
        samples=samples,
        pointers={name: f"{STATS}#/{place}/mean" for name, (place, _) in found.items()},
        definition=asked.add(spec, DECIDING, deciding),
        contradicted=contradicted(numbers, _parts(content.json(STATS), split, values, samples)),
        ranges={key: (0.0, 1.0) for key in numbers if key in FRACTIONS},
        main=_main_metric(spec, name, numbers),
    )
    model = text(adapter.get("model"))
    return Result(
        model=Model(
            id=model,
            source=text(adapter.get("model_deployment")),
            args=f"model={model}" if model else "",
        ),
        harness=HarnessVersion("helm", repository="stanford-crfm/helm"),
        leaves={name: leaf},
        subtasks={group: (name,) for group in items(spec.get("groups")) if type(group) is str and group != name},
        places=PLACES,
        definitions=asked.definitions,
        asked=asked.asked,
    )


def _main_metric(spec: Mapping[str, Any], name: str, numbers: Mapping[str, Any]) -> str:
    """The main metric of a run by its groups, "" where HELM names none, or the run has none of them.

    A group may stand for several, such as `natural_qa` for that with and that without a book: they must agree.
    """
    known = _main_metrics()
    for group in (*(one for one in items(spec.get("groups")) if type(one) is str), name.partition(":")[0]):
        parts = {metrics for one, metrics in known.items() if one.startswith(f"{group}_")}
        metrics = known.get(group) or (parts.pop() if len(parts) == 1 else ())
        if main := next((one for one in metrics if one in numbers), ""):
            return main
    return ""


def _leaf_key(name: str) -> str:
    """A run's name without its model: "mmlu:subject=anatomy,model=openai_gpt2" is "mmlu:subject=anatomy"."""
    scenario, _, args = name.partition(":")
    kept = [arg for arg in args.split(",") if arg and arg.partition("=")[0] not in OF_MODEL]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _means(stats: Any) -> tuple[str, dict[str, tuple[int, Any]]]:
    """The split that counts, and of every statistic over it where it stands in the list and its mean."""
    plain = [(place, name, stat["mean"]) for place, name, stat in _plain(stats) if "mean" in stat]
    there = {text(name.get("split")) for _, name, _ in plain}
    split = next((split for split in SPLITS if split in there), "")
    return split, {name["name"]: (place, mean) for place, name, mean in plain if text(name.get("split")) == split}


def _plain(stats: Any) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The statistics of unperturbed inputs: the place of each in the list, its name, and itself."""
    for place, stat in enumerate(items(stats)):
        name = table(table(stat).get("name"))
        if name.get("perturbation") is None and name.get("sub_split") is None and text(name.get("name")):
            yield place, name, stat


def _shots(found: Mapping[str, tuple[int, Any]], adapter: Mapping[str, Any]) -> int | None:
    """The examples that stood in the prompts, rounded: a long prompt may hold fewer than were asked for."""
    effective = number(found.get("num_train_instances", (0, None))[1])
    if effective is not None and 0 <= effective < 1_000:
        return round(effective)
    return whole(adapter.get("max_train_instances"))


def deciding(recorded: dict[str, Any]) -> dict[str, Any]:
    """What decides; the fields of the adapter stand one by one."""
    adapter = table(recorded.pop("adapter_spec"))
    asked = [name for name in adapter if name not in NOT_ASKED and FIELD.fullmatch(name)]
    return picked(recorded | {f"adapter_spec/{name}": adapter[name] for name in asked})


def _parts(stats: Any, split: str, instances: Mapping[str, list[float]], samples: int | None) -> Iterator[Given]:
    """What gives the means again: the sum and count beside each, and the values of all instances."""
    for _, name, stat in _plain(stats):
        total, count = number(stat.get("sum")), number(stat.get("count"))
        if total is not None and count and text(name.get("split")) == split:
            yield Given(name["name"], total / count, 1e-9, "its sum and count give")
    for metric, values in instances.items():
        if len(values) == samples and all(0 <= value <= 1 for value in values):  # others may be no means, as bits are
            yield Given(metric, fsum(values) / len(values), 1e-6, f"the mean of its {len(values)} instances is")


def _standard_errors(instances: Mapping[str, list[float]], numbers: Mapping[str, Any]) -> dict[str, float]:
    """The standard error of each mean, where the values of all instances are there and give that very mean.

    It is the standard deviation with n - 1 over sqrt(n), as lm-eval writes it: sqrt(p(1 - p) / (n - 1)) for zeros and
    ones.
    """
    errors = {}
    for name, values in instances.items():
        mean, wanted = fsum(values) / len(values), number(numbers.get(name))
        if len(values) > 1 and wanted is not None and abs(mean - wanted) <= 1e-9 * max(1.0, abs(mean)):
            variance = fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1)
            errors[stderr_beside(name)] = sqrt(variance / len(values))
    return errors


def _instance_values(content: Content, split: str) -> dict[str, list[float]]:
    """The values of each metric over the instances of a split; none of a run that asked an instance several times."""
    try:
        rows = items(content.json(INSTANCES)) if INSTANCES in content.files else []
    except MalformedResult:  # it only adds to the other two
        return {}
    found: dict[str, dict[str, float]] = {}
    for row in map(table, rows):
        if row.get("perturbation") is not None:
            continue
        for _, name, stat in _plain(row.get("stats")):
            value, instance = number(stat.get("mean")), text(row.get("instance_id"))
            values = found.setdefault(name["name"], {})
            if value is None or abs(value) > LARGEST or text(name.get("split")) != split:
                continue
            if instance in values:
                return {}
            values[instance] = value
    return {name: [*values.values()] for name, values in found.items() if values}


def is_part(value: Any) -> bool:
    """Tell whether a JSON value is a run's specification, or what was asked and answered in it."""
    is_run = isinstance(value, dict) and "adapter_spec" in value
    return is_run and ("scenario_spec" in value or "request_states" in value)


HELM = Format(
    id="helm",
    title="HELM",
    recognise=recognise,
    parse=parse,
    naming="",
    pinning="",
    logging="keep scenario_state.json in the folder of the run",
    members=(SPEC, STATS),
    optional=(INSTANCES,),
    beside=("scenario.json", "scenario_state.json", "instances.json", "display_predictions.json",
            "display_requests.json"),
    others=(
        Kind("helm", "a part of a HELM run",
             f"name the run's folder (not the top of a repository), which has {SPEC} and {STATS}",
             lambda head: LISTS.match(head) is not None, is_part),
    ),
)  # fmt: skip
