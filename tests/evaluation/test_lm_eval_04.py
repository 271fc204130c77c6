"""Files of lm-evaluation-harness 0.4 as real ones are: rows, counts and models of three, in shapes built anew."""

from __future__ import annotations

from typing import Any

import pytest

from bot.evaluation.aggregates import samples_behind
from bot.evaluation.formats import parse_result
from tests.evaluation.judging import base, dumps

PATH = "/scratch/project/checkpoints/33B_torch_step238418_bfloat16"


def of_task(task: str, row: dict[str, Any], version: float, shots: int, **more: Any) -> dict[str, Any]:
    frame = {"results": {task: {**row, "alias": task}}, "configs": {task: {}}}
    return {**frame, "versions": {task: version}, "n-shot": {task: shots}, **more}


def test_a_file_of_early_2024_names_its_model_by_a_path_and_counts_nothing() -> None:
    row = {"acc,none": 0.4888888888888889, "acc_stderr,none": 0.01667181562618482}
    args = f"pretrained={PATH},parallelize=True,tokenizer={PATH},dtype=bfloat16,max_memory_per_gpu=60GB"
    config = {"model": "hf", "model_args": args, "limit": None, "gen_kwargs": None}
    result = parse_result(dumps(of_task("belebele_fin_Latn", row, 0.0, 5, config=config, git_hash="5b0b8a56")))
    leaf = result.leaves["belebele_fin_Latn"]
    assert dict(leaf.numbers) == {**row, "alias": "belebele_fin_Latn"}
    assert (leaf.version, leaf.num_fewshot, leaf.samples, result.date) == (0.0, 5, None, None)
    assert round(samples_behind(row["acc,none"], row["acc_stderr,none"]) or 0) == 900
    assert (result.model.id, result.model.precision) == (PATH, "bfloat16")
    assert (result.harness.git_hash, result.harness.version) == ("5b0b8a56", None)


def test_a_file_of_0_4_3_counts_samples_and_knows_the_commit_of_its_model() -> None:
    row = {
        "acc,none": 0.5930034129692833,
        "acc_norm,none": 0.6348122866894198,
        "acc_norm_stderr,none": 0.0140702655192688,
    }
    sha = "3f17b02d69b86c9d612e373b1346cedff3d9a699"
    model = {"model_dtype": "torch.bfloat16", "model_revision": "main", "model_sha": sha}
    config = {"model": "hf", "model_args": "pretrained=saucam/Proteus-8B,dtype=auto,trust_remote_code=False", **model}
    counts = {"n-samples": {"arc_challenge": {"original": 1172, "effective": 1172}}, "date": 1716100838.8595276}
    named = {"model_name": "saucam/Proteus-8B", "model_source": "hf", "task_hashes": {}, "git_hash": "a9eaaf46"}
    result = parse_result(dumps(of_task("arc_challenge", row, 1.0, 25, config=config, **counts, **named)))
    leaf = result.leaves["arc_challenge"]
    assert (leaf.numbers["acc_norm,none"], leaf.samples, leaf.original) == (0.6348122866894198, 1172, 1172)
    assert (leaf.version, leaf.num_fewshot, result.date) == (1.0, 25, 1716100838.8595276)
    assert (result.model.id, result.model.revision, result.model.precision) == ("saucam/Proteus-8B", sha, "bfloat16")


@pytest.mark.parametrize(("sha", "expected"), [({"peft_sha": "b" * 40}, "b" * 40), ({}, "")])
def test_an_adapter_is_not_at_the_commit_of_the_model_below_it(sha: dict[str, str], expected: str) -> None:
    config = {"model": "hf", "model_args": "pretrained=acme/atlas-7b,peft=ann/lora", "model_sha": "a" * 40, **sha}
    result = parse_result(dumps(of_task("gsm8k", {"acc,none": 0.5}, 3.0, 5, config=config, model_name="ann/lora")))
    assert (result.model.id, result.model.revision) == ("ann/lora", expected)


def test_a_row_with_two_answer_filters_has_both_values() -> None:
    row = {
        "exact_match,strict-match": 0.5943896891584534,
        "exact_match_stderr,strict-match": 0.01352484889446211,
        "exact_match,flexible-extract": 0.5936315390447309,
        "exact_match_stderr,flexible-extract": 0.013528846685413237,
    }
    config = {"model": "hf", "model_args": "pretrained=saucam/aqua-smaug-0.2-8B,dtype=auto,trust_remote_code=False"}
    result = parse_result(dumps(of_task("gsm8k", row, 3.0, 5, config=config, git_hash="3196e907")))
    leaf = result.leaves["gsm8k"]
    assert {key: leaf.numbers[key] for key in row} == row
    for answer_filter in ("strict-match", "flexible-extract"):
        value, error = row[f"exact_match,{answer_filter}"], row[f"exact_match_stderr,{answer_filter}"]
        assert round(samples_behind(value, error) or 0) == 1319
    assert (leaf.version, leaf.num_fewshot, result.model.id, result.model.precision) == (
        3.0,
        5,
        "saucam/aqua-smaug-0.2-8B",
        "",
    )


def test_a_service_that_takes_chats_applies_its_template_and_none_is_in_the_file() -> None:
    """As deepprinciple/lm-evaluation-harness 7a3c1dae: 0.4.8 writes "" with --apply_chat_template, otherwise null."""
    row = {"exact_match,none": 0.35, "exact_match_stderr,none": 0.1094}
    config = {"model": "openai-chat-completions", "model_args": "model=gpt-4o-mini", "limit": None, "gen_kwargs": None}
    frame = of_task("battery_electrolyte_qa", row, 1.0, 0, config=config, chat_template="", chat_template_sha=None)
    result = parse_result(dumps({**frame, "fewshot_as_multiturn": False, "model_source": config["model"]}))
    assert (result.model.id, result.model.chat_template) == ("gpt-4o-mini", True)
    assert dict(result.settings) == {"fewshot_as_multiturn": "false"}
    plain = frame | {"config": config | {"model": "local-completions"}}
    assert not parse_result(dumps(plain)).model.chat_template


@pytest.mark.parametrize(("absent", "said"), [((), False), (("chat_template",), None), (("n-samples",), False)])
def test_what_simple_evaluate_returns_says_nothing_of_a_chat_template(
    absent: tuple[str, ...], said: bool | None
) -> None:
    """The command line adds that to the file; before 0.4.3, which writes `n-samples`, no run had a template."""
    added = ("model_name", "model_name_sanitized", "model_source", "chat_template_sha", *absent)
    added += ("chat_template",) if absent else ()
    data = {name: value for name, value in base().items() if name not in added}
    assert parse_result(dumps(data)).model.chat_template is said
