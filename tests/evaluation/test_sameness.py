"""What makes two measurements the same: another model, asked otherwise, or of no matter; by arguments and settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.evaluation.compare import compare, run_of_results
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.sameness import kind_of, settings_of
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.result import Result
from bot.reporting.draft import draft_text
from tests.evaluation.joined_rows import row_of, value
from tests.evaluation.judging import base, judgement_of, patched, rules_of, stderr
from tests.evaluation.parts import parts_of

ARGS = "pretrained=example-org/kestrel-7b,dtype=bfloat16"
BASE = base()["config"]["model_args"]


def with_args(extra: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    return patched({"/config/model_args": f"{BASE},{extra}"}, data or base())


def result(extra: str) -> Result:
    return parse_result(json.dumps(with_args(extra)).encode())


@pytest.mark.parametrize(
    "extra",
    [
        "enable_thinking=True",
        "enable_thinking=False",
        "enable_thinking=True,think_end_token=</think>",
        'chat_template_args={"enable_thinking": true}',
        "chat_template_args={'thinking_budget': 512, 'b': 1}",
        "reasoning_effort=high",
        "max_gen_toks=32768",
        "max_length=512",
        "max_model_len=4096",
        "add_bos_token=True",
        "kv_cache_dtype=fp8",
        "rope_scaling={'rope_type': 'dynamic', 'factor': 2.0}",
        "tokenizer=other/tokenizer",
        "an_argument_of_tomorrow=3",
        "extra_body={'chat_template_kwargs': {'thinking': True}}",
    ],
)
def test_what_was_asked_otherwise_neither_joins_nor_counts_as_a_rerun(extra: str) -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": one, "other.json": with_args(extra, other)})
    assert (row.status, [*row.left_out]) == ("incomplete", ["other.json"])
    again = row_of({"one.json": base(), "other.json": patched(value(0.5), with_args(extra))})
    assert again.repeats == ()
    assert "settings-differ" in rules_of(again)
    assert any(one.name.startswith("argument ") for one in compared(base(), with_args(extra)))


def compared(one: dict[str, Any], other: dict[str, Any]) -> tuple[Any, ...]:
    runs = [run_of_results("run", [parse_result(json.dumps(data).encode())]) for data in (one, other)]
    return compare(*runs).settings


@pytest.mark.parametrize(
    "extra",
    [
        "tensor_parallel_size=4,gpu_memory_utilization=0.8",
        "max_num_seqs=32,max_batch_size=8,batch_size=auto",
        "attn_implementation=flash_attention_2,enforce_eager=True",
        "base_url=http://127.0.0.1:8000,num_concurrent=8,max_retries=3,api_key=EMPTY",
        "seed=7,download_dir=/data,swap_space=8,trust_remote_code=True",
        "max_lora_rank=64,enable_prefix_caching=True,load_format=safetensors",
        "quantization=None,peft=None,chat_template_args={},kv_cache_dtype=auto",
        "tokenizer=example-org/kestrel-7b",
        "device=cuda:0,parallelize=True,offload_folder=./offload",
    ],
)
def test_what_is_of_no_matter_joins(extra: str) -> None:
    one, other = parts_of(base(), 2)
    assert row_of({"one.json": one, "other.json": with_args(extra, other)}).status == "accepted"
    assert compared(base(), with_args(extra)) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("enable_thinking=True", 'chat_template_args={"enable_thinking": true}'),
        ("enable_thinking=true", "enable_thinking=True"),
        ("temperature=0.60", "temperature=0.6"),
        ("chat_template_args={'a': 1, 'b': 2}", 'chat_template_args={"b": 2, "a": 1}'),
        ("load_in_4bit=True", 'model_kwargs={"load_in_4bit": true}'),
        ("max-model-len=4096".replace("-", "_"), "max_model_len=4096,batch_size=3"),
    ],
)
def test_one_setting_in_two_spellings_is_one(one: str, other: str) -> None:
    assert settings_of(result(one)) == settings_of(result(other))
    assert result(one).model.precision == result(other).model.precision


@pytest.mark.parametrize(
    ("extra", "name", "path"),
    [
        ("peft=acme/lora", "acme/lora", False),
        ("delta=acme/delta", "acme/delta", False),
        ("lora_local_path=adapters/mine", "./adapters/mine", True),
        ("lora_local_path=/adapters/mine", "/adapters/mine", True),
        ("steer_path=vectors.csv", "./vectors.csv", True),
        ('lora_modules={"a": "b/c"}', './{"a": "b/c"}', True),
        ("adapter_name_or_path=acme/lora", "acme/lora", False),
        ("our_adapter=acme/lora", "acme/lora", False),
        ("model_kwargs={'adapter_path': 'x'}", "./x", True),
    ],
)
def test_an_adapter_is_another_model(extra: str, name: str, path: bool) -> None:
    found = result(extra).model
    assert (found.id, found.revision) == (name, "")
    assert ("unidentified-model" in rules_of(judgement_of({"a.json": with_args(extra)}).verdicts[0])) is path
    (first, *_) = compared(base(), with_args(extra))
    assert first.name.startswith("weights ")


@pytest.mark.parametrize(
    ("extra", "severity"),
    [
        ("load_format=dummy", "error"),
        ("random_weights=True", "error"),
        ("config_overrides={'num_hidden_layers': 10}", "error"),
        ("ckpt_dir=runs/step-100", "warning"),
        ("state_dict=other.pt", "warning"),
        ("checkpoint_dir=checkpoints/example-org/kestrel-7b", ""),
        ("load_format=safetensors", ""),
    ],
)
def test_weights_that_the_name_does_not_have_are_told(extra: str, severity: str) -> None:
    findings = judgement_of({"a.json": with_args(extra)}).verdicts[0].findings
    assert [str(one.severity) for one in findings if one.rule == "contradicts-itself"] == [severity] * bool(severity)


@pytest.mark.parametrize(
    ("extra", "precision"),
    [
        ("load_in_4bit=True", "4bit"),
        ("load_in_8bit=true", "8bit"),
        ("autogptq=True", "GPTQ"),
        ("autogptq=model.safetensors", "GPTQ"),
        ("gptqmodel=True", "GPTQ"),
        ("quantization=fp8", "fp8"),
        ("quantization=modelopt_fp8", "modelopt_fp8"),
        ("quantization=one_of_tomorrow", "quantized"),
        ("load_format=bitsandbytes", "bitsandbytes"),
        ("gguf_file=kestrel-7b-Q4_K_M.gguf", "GGUF-Q4_K_M"),
        ("gguf_file=kestrel.gguf", "GGUF"),
        ('quantization_config={"load_in_4bit": true}', "4bit"),
        ("quantization_config=BitsAndBytesConfig(load_in_8bit=True)", "8bit"),
        ('quantization_config=BitsAndBytesConfig {"_load_in_4bit": true, "_load_in_8bit": false}', "4bit"),
        ("quantization_config={'quant_method': 'awq', 'bits': 4}", "AWQ"),
        ('quantization_config=GPTQConfig(bits=4, dataset="c4")', "GPTQ"),
        ("quantization_config=TorchAoConfig(Int4WeightOnlyConfig())", "int4_weight_only"),
        ("quantization_config=torchao.quantization.Int8DynamicActivationInt8WeightConfig",
         "int8_dynamic_activation_int8_weight"),
        ("quantization_config=FineGrainedFP8Config()", "fp8"),
        ('hf_overrides={"quantization_config": {"quant_method": "compressed-tensors"}}', "compressed-tensors"),
        ("quantize=bitsandbytes-nf4", "nf4"),
        ("w_bits=4", "4bit"),
        ("int8=True", "int8"),
        ("low_bit=sym_int4", "int4"),
        ("awq_path=kestrel-w4.pt", "AWQ"),
        ("bnb_config=nf4", "bitsandbytes"),
        ("model_file=kestrel-7b.Q5_K_M.gguf", "GGUF-Q5_K_M"),
        ("model_path=example-org/kestrel-7b-GGUF:Q4_K_M", "GGUF-Q4_K_M"),
        ("provider={'quantizations': ['fp4']}", "fp4"),
        ("from_pretrained_kwargs={'load_in_8bit': True}", "8bit"),
        ("quantization_param_path=scales.json,tokenizer=kestrel.gguf", "bfloat16"),
        ("load_in_4bit=False,quantization=none,load_format=auto,autogptq=False", "bfloat16"),
        ("quantization_config=BitsAndBytesConfig(load_in_4bit=False, load_in_8bit=False)", "bfloat16"),
    ],
)  # fmt: skip
def test_quantized_weights_have_a_precision_of_their_own(extra: str, precision: str) -> None:
    assert result(extra).model.precision == precision
    rows = judgement_of({"a.json": base(), "b.json": with_args(extra)}).rows
    assert len(rows) == (1 if precision == "bfloat16" else 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("subfolder=a", "subfolder=b"),
        ("gguf_file=a.gguf", "gguf_file=b.gguf"),
        ("quantization=of_today", "quantization=of_tomorrow"),
        ("load_in_4bit=True,bnb_4bit_quant_type=nf4", "load_in_4bit=True,bnb_4bit_quant_type=fp4"),
    ],
)
def test_other_weights_below_one_name_make_no_row(one: str, other: str) -> None:
    row = row_of({"a.json": with_args(one), "b.json": with_args(other)})
    assert (row.status, rules_of(row)) == ("rejected", {"indistinct-models", "quantized-run"} & rules_of(row))
    (told,) = [found.message for found in row.findings if found.rule == "indistinct-models"]
    assert "a.json" in told
    assert "b.json" in told


def test_a_number_of_parameters_that_differs_at_one_commit_is_another_model() -> None:
    other = patched({"/config/model_num_parameters": 4_000_000_000, "/date": 1})
    row = row_of({"a.json": base(), "b.json": other})
    assert row.status == "rejected"
    assert "number of parameters" in row.other_weights


def lighteval(size: object, task: str) -> dict[str, Any]:
    general = {"lighteval_sha": "?", "model_name": "acme/a", "model_sha": "0123456789" * 4, "model_dtype": "bfloat16",
               "model_size": size, "model_config": {"model_name": "acme/a"}}  # fmt: skip
    return {"config_general": general, "results": {f"{task}|0": {"acc": 0.5, "acc_stderr": stderr(0.5, 100)}},
            "versions": {f"{task}|0": 0}}  # fmt: skip


@pytest.mark.parametrize(("size", "same"), [("3.55 GB", True), (3_812_000_000, True), ("1.2 GB", False), (None, True)])
def test_a_size_in_bytes_that_differs_is_another_model(size: object, same: bool) -> None:
    files = {"a.json": lighteval("3.55 GB", "one"), "b.json": lighteval(size, "two")}
    results = [parse_result(json.dumps(data).encode()) for data in files.values()]
    row = row_of(files, parse_leaderboard(draft_text(draft_of(results)), "board", "board.toml"))
    assert (row.status == "accepted") is same
    assert ("size in bytes" in row.other_weights) is not same


def test_a_name_that_the_table_does_not_know_was_asked_otherwise() -> None:
    names = ("never_heard_of_it", "peft", "Batch-Size", "thinking_budget", "max_lora_rank", "pretrained")
    kinds = ["asked", "model", "no matter", "asked", "no matter", "identity"]
    assert [kind_of(name) for name in names] == kinds


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1,b=2", {"a": "1", "b": "2"}),
        ('a={"x": [1, 2], "y": "a,b=c"},b=2', {"a": '{"x": [1, 2], "y": "a,b=c"}', "b": "2"}),
        ("a=Config(x=1, y=(2, 3)),b=2", {"a": "Config(x=1, y=(2, 3))", "b": "2"}),
        ('a="x,y=1",b=2', {"a": "x,y=1", "b": "2"}),
        ("a={'x': 'it, it'},b=don't,c=3", {"a": "{'x': 'it, it'}", "b": "don't", "c": "3"}),
        ("a={never closed,b=2", {"a": "{never closed,b=2"}),
    ],
)
def test_arguments_end_at_commas_that_stand_in_no_brackets(text: str, pairs: dict[str, str]) -> None:
    assert arguments(text)[0] == pairs


def test_a_seed_of_examples_is_told_only_where_a_task_shows_some() -> None:
    """The six runs of araag2/lm-evaluation-harness 0002acbe have the seed 0, and no examples."""
    changes: dict[str, Any] = {"/config/fewshot_seed": 0}
    assert "own-setup" in rules_of(judgement_of({"x.json": patched(changes)}).verdicts[0])
    changes["/n-shot"] = dict.fromkeys(base()["n-shot"], 0)
    assert "own-setup" not in rules_of(judgement_of({"x.json": patched(changes)}).verdicts[0])


def test_arguments_of_an_object_are_read_back_from_their_text() -> None:
    given = {"a": "x,y=1", "b": {"c": [1, "d,e"]}, "d": True, "e": None, "f": 0.5}
    pairs, text = arguments(given)
    assert arguments(text)[0] == pairs == {"a": "x,y=1", "b": '{"c": [1, "d,e"]}', "d": "True", "f": "0.5"}
