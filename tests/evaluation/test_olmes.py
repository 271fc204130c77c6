"""Files of OLMES: values, counts and versions as real files have them, in shapes built anew; and its older shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.formats.sameness import settings_of
from bot.evaluation.result import Model
from bot.evaluation.submission import parse_submission
from bot.reporting.locate import Locator
from tests.evaluation.judging import dumps

RUN = "baseline_think_run_4b__1__1776217615_step_200"
CONFIG = {"model": RUN, "max_length": 32768, "model_path": f"/weka/checkpoints/{RUN}", "model_type": "vllm"}


def task(alias: str, metrics: dict[str, Any], samples: int, **config: Any) -> dict[str, Any]:
    return {
        "alias": alias,
        "metrics": metrics,
        "num_instances": samples,
        "processing_time": 642.5,
        "task_config": {"task_name": alias.partition(":")[0], "split": "test", "metadata": {"alias": alias}, **config},
    }


def run(*tasks: dict[str, Any], **model: Any) -> dict[str, Any]:
    scores = [f"{one['alias']}: {one['metrics'].get('primary_score', 'NA')}" for one in tasks]
    return {"all_primary_scores": scores, "tasks": list(tasks), "model_config": {**CONFIG, **model}}


MATH = task(
    "minerva_math_500::hamish_zs_reasoning",
    {"exact_match": 0.0, "exact_match_flex": 0.34, "primary_score": 0.34},
    500,
    version=0,
    use_chat_format=True,
)
AIME = task(
    "aime:zs_cot_r1::pass_at_32_2025_deepseek",
    {"exact_match_flex": 0.03333333333333333, "pass_at_1": 0.00833333333333333, "primary_score": 0.00833333333333333},
    30,
    version=0,
    use_chat_format=True,
    generation_kwargs={"temperature": 0.6, "repeats": 32},
)
CODE = task(
    "livecodebench_codegeneration::tulu-thinker_deepseek_no_think_tags_lite",
    {"pass_at_1": 0.05555555555555555, "primary_score": 0.05555555555555555},
    612,
    version=0.1,
    use_chat_format=True,
)


@pytest.mark.parametrize("one", [MATH, AIME, CODE], ids=["math", "aime", "code"])
def test_a_task_gives_its_values_samples_and_version(one: dict[str, Any]) -> None:
    result = parse_result(dumps(run(one)))
    (leaf,) = result.leaves.values()
    assert (result.format, list(result.leaves)) == ("olmes", [one["alias"]])
    assert dict(leaf.numbers) == one["metrics"]
    assert (leaf.samples, leaf.version, leaf.num_fewshot) == (one["num_instances"], one["task_config"]["version"], None)
    assert leaf.epochs == (32 if one is AIME else 1)
    assert (result.model.id, result.model.source, result.model.chat_template) == (RUN, "vllm", True)


def test_aggregates_are_groups_and_no_leaves() -> None:
    mean = task("mmlu:mc::olmes", {"primary_score": 0.5}, 14_042, metadata={"num_tasks": 57, "alias": "mmlu:mc::olmes"})
    part = task("mmlu_anatomy:mc::olmes", {"primary_score": 0.5, "acc_raw": 0.5}, 135, num_shots=5)
    result = parse_result(dumps(run(mean, part)))
    assert [(group.key, group.pointer) for group in result.groups] == [("mmlu:mc::olmes", "/tasks/0")]
    assert {key: leaf.num_fewshot for key, leaf in result.leaves.items()} == {"mmlu_anatomy:mc::olmes": 5}


def test_the_older_list_of_flattened_metrics_is_read_alike() -> None:
    flat = {"task": "arc_easy:mc::olmes", "acc_raw": 0.75, "primary_score": 0.75, "num_instances": 1000}
    flat["task_config"] = {"task_name": "arc_easy", "num_shots": 5, "limit": 1000, "version": 0}
    data = {"all_primary_scores": ["arc_easy:mc::olmes: 0.75"], "metrics": [flat], "model_config": {"model": "olmo-1b"}}
    result = parse_result(dumps(data))
    leaf = result.leaves["arc_easy:mc::olmes"]
    assert dict(leaf.numbers) == {"acc_raw": 0.75, "primary_score": 0.75}
    assert (leaf.samples, leaf.num_fewshot, leaf.version, result.limit) == (1000, 5, 0, None)
    assert result.pointer_to("value", "arc_easy:mc::olmes", "acc_raw") == "/metrics/0/acc_raw"


def test_the_file_of_one_task_has_its_hash_and_its_date() -> None:
    data = {
        "task_name": "arc_easy",
        "task_hash": "0c6bf3b2c93c9eb5",
        "model_hash": "a1",
        "model_config": {"model": "olmo-1b", "model_path": "allenai/OLMo-1B", "revision": "0f3c" * 10, "dtype": "auto"},
        "task_config": {"task_name": "arc_easy", "num_shots": 5, "metadata": {"alias": "arc_easy:mc::olmes"}},
        "current_date": "2025-11-21 10:20:30 UTC",
        "num_instances": 1000,
        "metrics": {"acc_raw": 0.75, "primary_score": 0.75},
    }
    result = parse_result(dumps(data))
    assert (result.model.id, result.model.revision, result.model.precision) == ("allenai/OLMo-1B", "0f3c" * 10, "")
    assert (result.date, dict(result.task_hashes)) == (1763720430.0, {"arc_easy:mc::olmes": "0c6bf3b2c93c9eb5"})
    assert result.leaves["arc_easy:mc::olmes"].samples == 1000
    assert result.pointer_to("value", "arc_easy:mc::olmes", "acc_raw") == "/metrics/acc_raw"
    assert parse_result(dumps(data | {"current_date": "yesterday"})).date is None


def test_pointers_lead_to_the_lines_of_a_list() -> None:
    data = json.dumps(run(MATH, AIME), indent=1).encode()
    parsed = parse_submission("metrics.json", {"": data})
    assert parsed.result is not None
    key = AIME["alias"]
    assert parsed.result.pointer_to("value", key, "pass_at_1") == "/tasks/1/metrics/pass_at_1"
    assert parsed.result.pointer_to("samples", key) == "/tasks/1/num_instances"
    line = Locator(data).line_of("/tasks/1/metrics/pass_at_1")
    assert data.splitlines()[line - 1].strip() == b'"pass_at_1": 0.00833333333333333,'


def test_an_alias_that_stands_twice_is_two_leaves() -> None:
    other = task(MATH["alias"], {"primary_score": 0.5}, 500)
    result = parse_result(dumps(run() | {"tasks": [MATH, other, {"alias": 5}, 7]}))
    assert [leaf.numbers["primary_score"] for leaf in result.leaves.values()] == [0.34, 0.5]
    assert list(result.leaves) == [MATH["alias"], f"{MATH['alias']} (2)"]


def test_a_token_in_the_model_s_configuration_is_named_and_not_held() -> None:
    token = "hf_" + "a" * 34
    result = parse_result(dumps(run(MATH, system_prompt=f"use {token}", api_key="sk-" + "b" * 30)))
    assert result.secrets == ("/model_config/api_key", "/model_config/system_prompt")
    assert token not in str(result)


def test_a_command_is_given_for_a_model_of_the_hub_without_settings() -> None:
    rerun = format_of("olmes").rerun
    assert rerun is not None
    model = Model("allenai/OLMo-1B", "0f3c" * 10, source="hf")
    assert rerun(Rerun(model, ("arc_easy:mc::olmes", "piqa:rc::olmes"), 5, {})) == (
        f"olmes --model allenai/OLMo-1B --revision {'0f3c' * 10} --model-type hf"
        " --task arc_easy:mc::olmes piqa:rc::olmes --output-dir results"
    )
    assert rerun(Rerun(Model(RUN), ("aime",), 0, {})) == ""
    assert rerun(Rerun(model, ("aime",), 0, {"process_output": "r1_style"})) == ""
    assert dict(parse_result(dumps(run(MATH, process_output="r1_style"))).settings) == {"process_output": "r1_style"}


@pytest.mark.parametrize(
    ("argument", "name", "precision"),
    [
        ({"peft": "acme/lora"}, "acme/lora", "bfloat16"),
        ({"load_in_8bit": True}, "acme/atlas-7b", "8bit"),
        ({"max_length": 512}, "acme/atlas-7b", "bfloat16"),
    ],
)
def test_the_arguments_of_the_model_count(argument: dict[str, object], name: str, precision: str) -> None:
    data = run(task("gsm8k", {"primary_score": 0.5}, 10))
    data["model_config"] |= {"model": "acme/atlas-7b", "dtype": "bfloat16"}
    plain = parse_result(dumps(data))
    data["model_config"] |= argument
    result = parse_result(dumps(data))
    assert (result.model.id, result.model.precision) == (name, precision)
    assert (settings_of(result) == settings_of(plain)) is ("max_length" not in argument)
