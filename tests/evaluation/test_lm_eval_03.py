"""Files of lm-evaluation-harness 0.2 and 0.3 as real ones are: without `config`, as a list, without shots."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import MalformedResult
from bot.evaluation.aggregates import samples_behind
from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.result import Model
from bot.evaluation.submission import parse_submission
from tests.evaluation.judging import dumps

NEOX = {"iteration": 135000, "load": "/ckpts/410m_deduped", "vocab_file": "/pile/20B_tokenizer.json"}
CONFIG = {"model": "neox", "model_args": NEOX, "num_fewshot": 0, "no_cache": True, "limit": None}


def row(task: str, prompt: str | None, **metrics: float) -> dict[str, Any]:
    described = {
        "dataset_path": "wino_bias",
        "prompt_jinja": "{{tokens}}",
        "prompt_original_task": True,
        "subset": None,
    }
    return {"task_name": task, "prompt_name": prompt, **described, **metrics}


def test_results_in_a_list_without_versions_are_of_another_tool() -> None:
    file = {"participants": {"agent": "a"}, "results": [{"dataset": "d", "task_name": "t", "accuracy": 0.8}]}
    assert parse_submission("r.json", {"": dumps(file)}).result is None


PRONOUNS = (
    row("wino_bias_type1_anti", "What does p stand for", em=0.25757575757575757, em_stderr=0.02200290468080266),
    row("wino_bias_type1_anti", "refers_to", em=0.025252525252525252, em_stderr=0.007894050831728498),
)


def listed(*rows: dict[str, Any]) -> dict[str, Any]:
    """A file of BigScience's fork."""
    versions = {f"{one['task_name']}+{one['prompt_name']}": 0 for one in rows}
    return {"results": list(rows), "versions": versions, "table_results": {}, "config": CONFIG}


@pytest.mark.parametrize(
    ("task", "numbers", "version"),
    [
        ("sciq", {"acc": 0.93, "acc_stderr": 0.0080724943583235, "acc_norm": 0.89}, 0),
        ("hellaswag", {"acc_norm": 0.7152957578171679}, 0),
        ("drop", {"em": 0.01, "f1": 0.10289848993288603}, 1),
    ],
)
def test_a_file_without_config_has_rows_and_versions(task: str, numbers: dict[str, float], version: int) -> None:
    result = parse_result(dumps({"results": {task: numbers}, "versions": {task: version}}))
    leaf = result.leaves[task]
    assert (result.format, dict(leaf.numbers), leaf.version, leaf.num_fewshot) == (
        "lm-eval-0.3",
        numbers,
        version,
        None,
    )
    assert result.model.id == ""


@pytest.mark.parametrize("versions", [{}, {"other": 0}, {"sciq": 0, "other": 0}, None, []])
def test_rows_alone_are_no_result(versions: Any) -> None:
    with pytest.raises(MalformedResult, match="has none of the formats"):
        parse_result(dumps({"results": {"sciq": {"acc": 0.93}}, "versions": versions}))


def test_each_task_and_prompt_of_a_list_is_a_leaf() -> None:
    result = parse_result(dumps(listed(*PRONOUNS)))
    key = "wino_bias_type1_anti+What does p stand for"
    leaf = result.leaves[key]
    assert (result.format, list(result.leaves)) == ("lm-eval-0.3", [key, "wino_bias_type1_anti+refers_to"])
    assert dict(leaf.numbers) == {"em": 0.25757575757575757, "em_stderr": 0.02200290468080266}
    assert (leaf.version, leaf.num_fewshot, result.model.id, result.model.source) == (0, 0, "", "neox")
    assert result.pointer_to("value", "wino_bias_type1_anti+refers_to", "em") == "/results/1/em"


def test_the_metrics_of_one_prompt_may_stand_in_rows_of_their_own() -> None:
    rows = (
        row("quiz", "plain", acc=0.5, acc_stderr=0.1),
        row("quiz", "plain", rouge1=0.25),
        row("quiz", None, bleu=3),
    )
    result = parse_result(dumps(listed(*rows)))
    assert {key: dict(leaf.numbers) for key, leaf in result.leaves.items()} == {
        "quiz+plain": {"acc": 0.5, "acc_stderr": 0.1, "rouge1": 0.25},
        "quiz": {"bleu": 3},
    }
    assert result.pointer_to("value", "quiz+plain", "rouge1") == "/results/1/rouge1"


def test_a_list_of_anything_else_is_no_result() -> None:
    for results in ([], [1], [{"em": 0.5}], [None, {"task_name": 5}]):
        with pytest.raises(MalformedResult):
            parse_result(dumps({"results": results, "versions": {}, "config": CONFIG}))


# ---- 0.3 ----


@pytest.mark.parametrize(
    ("task", "numbers", "config", "shots", "samples"),
    [
        ("agieval_aqua_rat", {"acc": 0.20866141732283464, "acc_stderr": 0.02554712225493389},
         {"model_args": "pretrained=mrm8488/bert-tiny,trust_remote_code=False", "num_fewshot": 0}, 0, 254),
        ("arc_ar_challenge", {"acc": 0.22818791946308725, "acc_stderr": 0.02435139725761051},
         {"model_args": "pretrained=bigscience/bloom-1b7"}, None, 298),
        ("arc_challenge", {"acc": 0.23122866894197952, "acc_stderr": 0.012320858834772276},
         {"model_args": "pretrained=facebook/opt-1.3b,use_accelerate=True", "num_fewshot": 0}, 0, 1172),
    ],
)  # fmt: skip
def test_a_file_of_0_3_has_one_shot_count_and_samples_behind_its_errors(
    task: str, numbers: dict[str, float], config: dict[str, Any], shots: int | None, samples: int
) -> None:
    frame = {"model": "hf-causal", "batch_size": 16, "no_cache": False, "limit": None, "description_dict": {}}
    result = parse_result(dumps({"results": {task: numbers}, "versions": {task: 0}, "config": {**frame, **config}}))
    leaf = result.leaves[task]
    assert (dict(leaf.numbers), leaf.version, leaf.num_fewshot, leaf.samples) == (numbers, 0, shots, None)
    assert round(samples_behind(numbers["acc"], numbers["acc_stderr"]) or 0) == samples
    assert config["model_args"].startswith(f"pretrained={result.model.id}")


def test_the_commands_for_two_tasks_of_the_same_shots_write_two_files() -> None:
    """The harness overwrites: RibinMTC/lm-evaluation-harness a600f2af, xglm-7.5B, lacks two tasks of 5 shots."""
    rerun = format_of("lm-eval-0.3").rerun
    assert rerun
    model = Model("facebook/xglm-7.5B", args="pretrained=facebook/xglm-7.5B,use_accelerate=True")
    commands = [rerun(Rerun(model, (task,), 5, {})) for task in ("winogrande", "gsm8k")]
    assert [command.partition(" --output_path ")[2] for command in commands] == [
        "xglm-7.5B_winogrande_5-shot.json",
        "xglm-7.5B_gsm8k_5-shot.json",
    ]


def test_a_list_of_shots_is_that_of_the_tasks_in_the_order_of_their_versions() -> None:
    """Stability-AI/lm-evaluation-harness effdbeaf, models/llama2/llama2-7b: `results` has another order."""
    data = {
        "results": {name: {"acc": 0.5} for name in ("jnli-1.1-0.2", "xwinograd_ja", "jsquad-1.1-0.2")},
        "versions": {"jnli-1.1-0.2": 1.1, "jsquad-1.1-0.2": 1.1, "xwinograd_ja": 1.0},
        "config": {"model": "hf-causal", "model_args": "pretrained=acme/atlas", "num_fewshot": [3, 2, 0],
                   "no_cache": True, "limit": [None, 50, None]},
    }  # fmt: skip
    result = parse_result(dumps(data))
    assert {key: leaf.num_fewshot for key, leaf in result.leaves.items()} == {
        "jnli-1.1-0.2": 3, "jsquad-1.1-0.2": 2, "xwinograd_ja": 0,
    }  # fmt: skip
    assert result.limit == 50
    data["config"]["num_fewshot"] = [3, 2]  # of two tasks, and there are three
    assert {leaf.num_fewshot for leaf in parse_result(dumps(data)).leaves.values()} == {None}
    data["config"]["num_fewshot"] = [2, 2, 2]
    assert {leaf.num_fewshot for leaf in parse_result(dumps(data)).leaves.values()} == {2}
