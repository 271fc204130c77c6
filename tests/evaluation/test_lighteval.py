"""Files of lighteval as its releases wrote them, built anew in their shapes; and what is told apart from v1."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import MalformedResult
from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.identity import is_served, why_unidentified
from bot.evaluation.result import Result
from tests.evaluation.drafting import drafted
from tests.evaluation.judging import base_v1, dumps, judgement_of, patch, stderr
from tests.evaluation.test_properties import JSON, survives

COMMIT, MODEL = "e7" * 20, "a1" * 20
KEY = "sk-proj-0123456789abcdefghijkl"


def binary(name: str, right: int, samples: int) -> dict[str, float]:
    value = right / samples
    return {name: value, f"{name}_stderr": stderr(value, samples)}


def release_08() -> dict[str, Any]:
    """0.8: the model in the frame, samples counted, `config_tasks` spelled without shots."""
    parameters = {"seed": 42, "temperature": 0.0, "top_p": None, "stop_tokens": None}
    rows = {"community|hotpotqa|0": {"f1": 0.129, "f1_stderr": 0.0029}}
    counts = {"name": "hotpotqa", "original_num_docs": 7405, "effective_num_docs": 7000, "version": 0}
    return {
        "config_general": {
            "lighteval_sha": COMMIT, "num_fewshot_seeds": 1, "max_samples": None, "start_time": 2157714.8,
            "end_time": 2157816.7, "model_name": "acme/atlas-7b", "model_sha": MODEL, "model_dtype": "torch.bfloat16",
            "model_size": "13.5 GB", "generation_parameters": parameters,
        },
        "results": {**rows, "all": {"f1": 0.129, "f1_stderr": 0.0029}},
        "versions": {"community|hotpotqa|0": 2},
        "config_tasks": {"community|hotpotqa": counts},
        "summary_tasks": {"community|hotpotqa|0": {"effective_few_shots": 0.0}},
        "summary_general": {"hashes": {}},
    }  # fmt: skip


def release_011() -> dict[str, Any]:
    """0.11 and 0.12: the model's configuration whole, nothing counted, averages of subtasks among the rows."""
    rows = {
        "leaderboard|mmlu:anatomy|5": binary("acc", 54, 135),
        "leaderboard|mmlu:virology|5": binary("acc", 83, 166),
        "leaderboard|mmlu:_average|5": {"acc": (54 / 135 + 83 / 166) / 2, "acc_stderr": 0.04},
        "all": {"acc": 0.45, "acc_stderr": 0.04},
    }
    uncounted = {"original_num_docs": -1, "effective_num_docs": -1}
    return {
        "config_general": {
            "lighteval_sha": "?", "num_fewshot_seeds": 1, "max_samples": None, "model_name": "acme/atlas-7b",
            "model_config": {
                "model_name": "acme/atlas-7b", "revision": "main", "dtype": "float16", "model_parallel": None,
                "override_chat_template": None, "generation_parameters": {"temperature": 0, "top_k": None},
                "system_prompt": None, "cache_dir": "~/.cache",
            },
        },
        "results": rows,
        "versions": dict.fromkeys(rows, 0),
        "config_tasks": {key: uncounted for key in rows if key != "all"},
    }  # fmt: skip


def release_013() -> dict[str, Any]:
    """0.13: keys of one bar."""
    data = release_011()
    for part in ("results", "versions", "config_tasks"):
        data[part] = {key.removeprefix("leaderboard|"): value for key, value in data[part].items()}
    return data


def read(data: Any) -> Result:
    return parse_result(dumps(data))


def test_a_file_of_08_gives_what_it_records() -> None:
    result = read(release_08())
    assert (result.format, result.harness.git_hash) == ("lighteval", COMMIT)
    assert (result.model.id, result.model.revision, result.model.precision) == ("acme/atlas-7b", MODEL, "bfloat16")
    assert set(result.leaves) == {"community|hotpotqa|0"}
    leaf = result.leaves["community|hotpotqa|0"]
    assert leaf.numbers == {"f1": 0.129, "f1_stderr": 0.0029}
    assert (leaf.num_fewshot, leaf.version, leaf.samples, leaf.original) == (0, 2, 7000, 7405)
    assert result.settings == {"generation_parameters": '{"seed": 42, "temperature": 0.0}'}
    assert (result.date, result.limit) == (None, None)


@pytest.mark.parametrize(("make", "suite"), [(release_011, "leaderboard|"), (release_013, "")])
def test_files_since_011_record_no_samples_and_a_branch(make: Callable[[], Any], suite: str) -> None:
    result = read(make())
    assert list(result.leaves) == [f"{suite}mmlu:anatomy|5", f"{suite}mmlu:virology|5"]
    leaf = result.leaves[f"{suite}mmlu:anatomy|5"]
    assert (leaf.num_fewshot, leaf.version, leaf.samples, leaf.original) == (5, 0, None, None)
    assert (result.model.revision, result.model.requested_revision) == ("", "main")
    assert (result.model.precision, result.model.source, result.harness.git_hash) == ("float16", "accelerate", None)
    assert [group.key for group in result.groups] == [f"{suite}mmlu:_average|5"]
    assert result.subtasks == {f"{suite}mmlu:_average|5": (f"{suite}mmlu:anatomy|5", f"{suite}mmlu:virology|5")}


def test_the_version_of_a_task_may_stand_in_its_configuration_alone() -> None:
    data = release_011()
    key = next(iter(data["config_tasks"]))
    leaf = next(one for one in data["results"] if one.startswith(key))
    data |= {"versions": {}, "config_tasks": {leaf: data["config_tasks"][key] | {"version": 2}}}
    result = read(data)
    assert result.leaves[leaf].version == 2
    assert result.pointer_to("version", leaf) == f"/config_tasks/{leaf}/version"


@pytest.mark.parametrize(
    ("field", "service", "name"),
    [
        ("concurrent_requests", "litellm", "openrouter/openai/gpt-4.1"),
        ("parallel_calls_count", "inference-providers", "acme/atlas-7b"),
    ],
)
def test_a_model_that_a_service_has_is_called_by_its_name_there(field: str, service: str, name: str) -> None:
    """Like the 18 files of JoelNiklaus/evaluate-idk `e5cb812b`: openrouter/openai/gpt-4.1 was taken for a path."""
    data = patch(release_011(), "/config_general/model_config", {"model_name": name, "provider": "x", field: 10})
    model = read(patch(data, "/config_general/model_name", name)).model
    assert (model.id, model.source, is_served(model)) == (name, service, True)
    assert "path" not in why_unidentified(model)


@pytest.mark.parametrize(
    "metrics",
    [
        [{"metric_name": "f1", "higher_is_better": True}, {"metric_name": "idk_freq", "higher_is_better": False}],
        [{"metric_name": ["f1", "idk_freq"], "higher_is_better": {"f1": True, "idk_freq": False}}],
    ],
)
def test_a_metric_that_is_better_where_it_is_less_is_one(metrics: list[Any]) -> None:
    data = patch(release_08(), "/config_tasks/community|hotpotqa/metrics", metrics)
    data = patch(data, "/results/community|hotpotqa|0", {"idk_freq": 0.015, "f1": 0.129})
    assert read(data).leaves["community|hotpotqa|0"].less_is_better == ("idk_freq",)
    (task,) = drafted(patch(data, "/results/community|hotpotqa|0", {"idk_freq": 0.015}))[0].tasks
    assert (task.metrics[0].name, task.higher_is_better) == ("idk_freq", False)


def test_a_limit_is_read() -> None:
    assert read(patch(release_08(), "/config_general/max_samples", 50)).limit == 50


def test_the_model_may_be_a_text_of_arguments() -> None:
    data = patch(release_011(), "/config_general/model_config", "model_name=acme/atlas-7b,dtype=float16,token=abc-123")
    result = read(patch(data, "/config_general/model_name", None))
    assert (result.model.id, result.model.precision) == ("acme/atlas-7b", "float16")
    assert result.secrets == ("/config_general/model_config",)
    assert "abc-123" not in result.model.args


@pytest.mark.parametrize("field", ["api_key", "inference_server_auth", "hf_token"])
def test_a_secret_is_named_and_never_held(field: str) -> None:
    data = release_011()
    data["config_general"]["model_config"] |= {field: KEY, "base_url": f"https://x/?key={KEY}", "eos_token": "</s>"}
    result = read(data)
    pointer = "/config_general/model_config"
    assert result.secrets == tuple(sorted([f"{pointer}/{field}", f"{pointer}/base_url"]))
    assert KEY not in str(result)
    assert "eos_token=</s>" in result.model.args


@pytest.mark.parametrize("value", ["", "EMPTY", "none", "${HF_TOKEN}", "<your token>", "xxxx", "-", None, True, 5])
def test_what_stands_for_no_secret_is_none(value: Any) -> None:
    assert secrets_in({"api_key": value, "max_tokens": "100", "tokenizer": "acme/tokenizer"}, "") == ()
    assert without_secrets({"api_key": value}) == {"api_key": value}


def test_rows_of_other_suites_are_never_taken_for_v1() -> None:
    data = release_08()
    for key in ("leaderboard|arc:challenge|25", "lighteval|gsm8k|5", "helm|boolq|0", "gsm8k|5"):
        rows = {key: {"acc": 0.5}, "all": {"acc": 0.5}}
        assert read({**data, "results": rows}).format == "lighteval"
        assert read({"results": rows}).format == "lighteval"
        with pytest.raises(MalformedResult):
            read(rows)


def test_the_suite_of_v1_stays_v1_and_its_own_frame_is_lightevals() -> None:
    assert read(base_v1()).format == "open-llm-v1"
    modern = deepcopy(base_v1())
    modern["config_general"] |= {"lighteval_sha": "?", "model_config": {"model_name": "acme/atlas-7b"}}
    assert read(modern).format == "lighteval"


def test_a_command_measures_again_what_013_measured() -> None:
    result = read(release_013())
    rerun = format_of("lighteval").rerun
    assert rerun is not None
    assert rerun(Rerun(result.model, ("mmlu:anatomy|5",), 5, result.settings)) == (
        "lighteval accelerate 'model_name=acme/atlas-7b,revision=main,dtype=float16,"
        "generation_parameters={\"temperature\": 0}' 'mmlu:anatomy|5' --output-dir results --save-details"
    )


def test_a_command_measures_again_what_an_older_release_measured() -> None:
    known = format_of("lighteval")
    assert known.rerun is not None
    assert known.install is not None
    file = release_011()
    result = read(file)
    wanted = Rerun(result.model, tuple(result.leaves), 5, result.settings)
    *_, spelled, tasks, out, folder, details = shlex.split(known.rerun(wanted))
    assert spelled == 'model_name=acme/atlas-7b,revision=main,dtype=float16,generation_parameters={"temperature": 0}'
    assert tasks == "leaderboard|mmlu:anatomy|5|0,leaderboard|mmlu:virology|5|0"
    assert (out, folder, details) == ("--output-dir", "results", "--save-details")
    assert known.install("huggingface/lighteval", "0.11.0", wanted) == "pip install lighteval==0.11.0"
    assert known.install("acme/lighteval", "0a1b2c3", wanted).endswith("git+https://github.com/acme/lighteval@0a1b2c3'")

    file["config_general"]["model_config"]["use_chat_template"] = True  # as 0.9 and 0.10 record their option
    model = read(file).model
    assert "--use-chat-template" in known.rerun(Rerun(model, tuple(result.leaves), 5, result.settings))
    frame = read(release_08())  # says nothing of the backend
    assert not known.rerun(Rerun(frame.model, tuple(frame.leaves), 0, frame.settings))


def test_a_chat_template_is_used_where_the_file_says_so_alone() -> None:
    file = release_011()
    for said in (None, True, False):
        file["config_general"]["model_config"]["override_chat_template"] = said
        assert parse_result(dumps(file)).model.chat_template is said


@pytest.mark.parametrize("field", ["model_name", "revision", "dtype", "override_chat_template"])
def test_no_field_begins_another_argument_of_the_command(field: str) -> None:
    data = release_013()
    inner = data["config_general"]["model_config"]
    inner[field] = f"{inner.get(field)},trust_remote_code=True"
    for name in ("model_name", "model_dtype"):
        data["config_general"].pop(name, None)
    result, rerun = read(data), format_of("lighteval").rerun
    assert rerun is not None
    assert not rerun(Rerun(result.model, ("mmlu:anatomy|5",), 5, result.settings))


@pytest.mark.parametrize("key", ["lighteval|math_500|0", "lighteval|math_500|4"])
def test_a_metric_that_another_version_names_is_not_measured_by_the_same_run(key: str) -> None:
    """Releases from 0.11 on write `pass@k_with_k&n` where older ones wrote `math_pass@1:1_samples`."""
    data = release_011()
    board, _ = drafted({**data, "results": {key: binary("pass@k_with_k&n", 101, 500)}})
    judgement = judgement_of({"x.json": {**data, "results": {key: binary("math_pass@1:1_samples", 101, 500)}}}, board)
    (found,) = (one for one in judgement.rows[0].findings if one.rule == "missing-task")
    assert "has no pass@k_with_k&n, which" in found.message
    assert found.message.endswith("needs; it has math_pass@1:1_samples")
    assert found.command == ""
    assert found.hint == (
        "the board takes pass@k_with_k&n: measure the task with a version of lighteval that writes it, "
        "or ask the board's maintainer which"
    )


def test_a_standard_error_is_spelled_beside_any_name() -> None:
    assert format_of("lighteval").stderr_key("pass@k:k=1,n=16") == "pass@k:k=1,n=16_stderr"


POINTERS = [
    "/config_general", "/config_general/model_config", "/config_general/model_name", "/config_general/lighteval_sha",
    "/config_general/max_samples", "/config_general/num_fewshot_seeds", "/config_general/model_config/revision",
    "/config_general/model_config/generation_parameters", "/config_general/model_config/override_chat_template",
    "/results", "/results/mmlu:anatomy|5", "/results/mmlu:anatomy|5/acc", "/results/x:_average|5", "/results/a|b|c|d",
    "/versions", "/config_tasks", "/config_tasks/mmlu:anatomy|5", "/config_tasks/mmlu:anatomy|5/original_num_docs",
]  # fmt: skip


@settings(max_examples=40)
@given(st.sampled_from([release_08, release_011, release_013]), st.sampled_from(POINTERS), JSON)
def test_anything_anywhere_is_read_or_refused(make: Callable[[], Any], pointer: str, value: Any) -> None:
    survives(dumps(patch(make(), pointer, value)))


# gpt2-xl by lighteval itself, tests/reference_scores/reference_tasks.py of huggingface/lighteval in 2024
REFERENCE = {
    "leaderboard|arc:challenge|25": {
        "acc": 0.257679180887372, "acc_stderr": 0.0127807705627684,
        "acc_norm": 0.302901023890785, "acc_norm_stderr": 0.013428241573185347,
    },
    "leaderboard|truthfulqa:mc|0": {
        "truthfulqa_mc1": 0.22031823745410037, "truthfulqa_mc1_stderr": 0.0145090451714873,
        "truthfulqa_mc2": 0.3853407807086726, "truthfulqa_mc2_stderr": 0.014058180381569934,
    },
    "leaderboard|gsm8k|5": {"qem": 0.009097801364670205, "qem_stderr": 0.002615326510775673},
}  # fmt: skip


def test_a_draft_takes_the_metrics_that_the_first_leaderboard_showed() -> None:
    board, text = drafted({**release_08(), "results": REFERENCE})
    found = {task.title: (task.metrics[0].name, str(task.lower_bound or "")) for task in board.tasks}
    names = ("leaderboard truthfulqa:mc 0", "leaderboard gsm8k 5")
    assert found == {"ARC": ("acc_norm", "1/4"), names[0]: ("truthfulqa_mc2", ""), names[1]: ("qem", "")}
    assert "not known here" not in text


def test_a_task_of_lighteval_is_known_with_other_shots_and_without_its_suite() -> None:
    row = REFERENCE["leaderboard|arc:challenge|25"]
    for key in ("leaderboard|arc:challenge|0", "arc:challenge|25"):
        (task,) = drafted({**release_08(), "results": {key: row}})[0].tasks
        assert (task.title, task.leaves[0].samples, task.metrics[0].name) == ("ARC", 1172, "acc_norm")
