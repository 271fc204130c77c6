"""Logs of Inspect, built anew in the shapes that its releases write: archives and JSON, whole, cut off and changed."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import format_of, most_bytes, parse_result
from bot.evaluation.formats.format import MAX_BYTES, Rerun
from bot.evaluation.formats.inspect_log import MAX_SAMPLES
from bot.evaluation.identity import why_unidentified, with_names
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed, parse_submission
from bot.reporting.draft import draft_text
from tests.evaluation.discovering import found_in
from tests.evaluation.inspect_logs import KEY, METHODS, archive, header, log_archive, log_json, sample, score
from tests.evaluation.judging import dumps, patch, stderr


def only_leaf(result: Result) -> Any:
    (leaf,) = result.leaves.values()
    return leaf


@pytest.mark.parametrize("data", [*(log_archive(method) for method in METHODS), log_json(), dumps(header())])
def test_archive_and_json_give_the_same(data: bytes) -> None:
    result = parse_result(data)
    assert (result.format, result.harness.name, result.harness.version) == ("inspect", "inspect_ai", "0.3.285")
    assert result.harness.git_hash is None  # the commit in the log is of the user's repository
    model = result.model
    assert (model.id, model.revision, model.precision, model.source) == (
        "acme/atlas-7b", "a1" * 20, "bfloat16", "hf",
    )  # fmt: skip
    assert list(result.leaves) == ["inspect_evals/toy match"]
    leaf = only_leaf(result)
    assert leaf.numbers == {"accuracy": 0.5, "stderr": 0.125}
    assert (leaf.version, leaf.num_fewshot, leaf.samples, leaf.original) == ("2-A", None, 10, 10)
    assert (leaf.unscored, leaf.reducer, leaf.epochs) == (0, "", 1)
    assert (result.limit, result.settings, result.date) == (None, {}, 1772366400.0)
    assert (result.unfinished, result.invalidated, result.edited, result.secrets) == ("", False, False, ())


def test_where_a_number_lies_is_told_with_the_member() -> None:
    place = "/results/scores/0/metrics/accuracy/value"
    key = "inspect_evals/toy match"
    assert parse_result(log_archive()).pointer_to("value", key, "accuracy") == f"header.json#{place}"
    assert parse_result(log_json()).pointer_to("value", key, "accuracy") == place


@pytest.mark.parametrize(
    ("limit", "expected"), [(8, 8), ([2, 5], 3), (10, None), (4000, None), (None, None), ([1], None), ("x", None)]
)
def test_a_limit_below_the_size_is_one(limit: Any, expected: Any) -> None:
    assert parse_result(dumps(patch(header(), "/eval/config/limit", limit))).limit == expected


def test_the_mean_is_not_spelled_and_other_reducers_are() -> None:
    scores = [score("match", 0.55, reducer="mean"), score("match", 0.8, reducer="max")]
    data = patch(header(results={"scores": scores}), "/eval/config/epochs", 2)
    leaves = parse_result(dumps(data)).leaves
    found = {key: (leaf.numbers["accuracy"], leaf.reducer, leaf.epochs) for key, leaf in leaves.items()}
    assert found == {"inspect_evals/toy match": (0.55, "mean", 2), "inspect_evals/toy match max": (0.8, "max", 2)}
    plain = patch(header(), "/eval/config/epochs", 2)
    assert only_leaf(parse_result(dumps(plain))).reducer == "mean"


def test_samples_without_a_score_are_told() -> None:
    leaf = only_leaf(parse_result(log_json(results={"scores": [score("judge", 0.5, 7, unscored_samples=3)]})))
    assert (leaf.samples, leaf.unscored, leaf.original) == (7, 3, 10)


def test_the_error_of_a_mean_is_that_of_the_scored_samples() -> None:
    metrics = {"accuracy": {"value": 6 / 9}, "stderr": {"value": stderr(6 / 9, 9)}}
    scores = [score("judge", 0, 9, unscored_samples=1, metrics=metrics)]
    parsed = parse_submission("a.eval", {"": log_archive(results={"scores": scores})})
    assert parsed.result is not None
    board = parse_leaderboard(draft_text(draft_of([parsed.result])), "board", "board.toml")
    judgement = judge_all([parsed], board)
    assert {found.rule for found in judgement.verdicts[0].findings} == {"unscored-samples"}
    (row,) = judgement.rows
    assert row.scores is not None
    assert row.scores.stderr == pytest.approx(100 * stderr(6 / 9, 9))


def test_a_metric_of_a_part_of_the_samples_is_no_metric_of_all() -> None:
    metrics = {"x": {"name": "x", "group": "grouped", "value": 0.6}, "all": {"group": "grouped", "value": 0.5}, "n": 3}
    result = parse_result(log_json(results={"scores": [score("match", 0.5, metrics=metrics)]}))
    assert only_leaf(result).numbers == {"grouped/x": 0.6, "grouped/all": 0.5, "n": 3}
    assert result.pointer_to("value", "inspect_evals/toy match", "grouped/x").endswith("/metrics/x/value")


def test_arguments_that_were_given_to_a_task_make_it_another() -> None:
    passed = {"subject": "law", "cot": True, "request_timeout": 300, "max_retries": 5}
    data = patch(header(), "/eval/task_args_passed", passed)
    assert list(parse_result(dumps(data)).leaves) == ["inspect_evals/toy(cot=true,subject=law) match"]
    older = header()
    del older["eval"]["task_args_passed"]
    result = parse_result(dumps(older))
    assert (list(result.leaves), result.settings) == (["inspect_evals/toy match"], {"task_args": '{"cot": true}'})


def test_logs_of_the_first_releases_are_read() -> None:
    """No counts, epochs in the number of samples, and one scorer beside its metrics."""
    counted = {"total_samples": 4, "completed_samples": 4, "scores": [{"name": "match", "metrics": {}}]}
    leaf = only_leaf(parse_result(dumps(patch(header(results=counted), "/eval/config/epochs", 2))))
    assert (leaf.samples, leaf.unscored) == (2, None)
    first = {"scorer": {"name": "includes"}, "metrics": {"accuracy": {"value": 0.25}}}
    result = parse_result(log_json(results=first, version=1))
    assert {key: leaf.numbers for key, leaf in result.leaves.items()} == {
        "inspect_evals/toy includes": {"accuracy": 0.25}
    }
    assert result.pointer_to("value", "inspect_evals/toy includes", "accuracy") == "/results/metrics/accuracy/value"


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_a_run_that_did_not_end_says_so(status: str) -> None:
    assert parse_result(log_json(status=status)).unfinished == status
    gone = parse_result(log_archive(status=status, results=None))
    assert (gone.unfinished, gone.leaves, gone.model.id) == (status, {}, "acme/atlas-7b")


def test_an_archive_that_was_cut_off_says_what_was_run() -> None:
    start = {key: header()[key] for key in ("version", "eval", "plan")}
    result = parse_result(archive({"_journal/start.json": start, "samples/1_epoch_1.json": sample()}))
    assert (result.unfinished, result.leaves, result.model.id) == ("started", {}, "acme/atlas-7b")
    assert result.pointer_to("model") == "_journal/start.json#/eval/model"


def test_edits_and_invalidation_are_told() -> None:
    changed = sample([{"value": "I"}, {"value": "C", "provenance": {"author": "ann"}}])
    assert parse_result(archive({"samples/1_epoch_1.json": changed, "header.json": header()})).edited
    assert parse_result(dumps(header() | {"samples": [changed]})).edited
    assert parse_result(log_archive(invalidated=True)).invalidated


@pytest.mark.slow
def test_a_large_log_is_read_by_its_header() -> None:
    """All of MMLU has 14,042 samples; theirs are not unpacked, so a damaged one is not seen."""
    text = json.dumps(sample()).encode().ljust(MAX_SAMPLES // 14_000)
    members = {f"samples/{number}_epoch_1.json": text for number in range(14_042)}
    data = archive({**members, "header.json": header()})
    damaged = data[:200].replace(b"\x28\xb5\x2f\xfd", b"\x00\x00\x00\x00") + data[200:]
    assert damaged != data
    assert parse_result(damaged) == parse_result(data)


def test_an_archive_may_be_larger_than_json() -> None:
    noise = Random(1).randbytes(MAX_BYTES)
    data = archive({"samples/1_epoch_1.json": noise, "header.json": header()})
    assert len(data) > MAX_BYTES
    one = found_in({"logs/a.eval": data})["logs/a.eval"]
    assert isinstance(one, Parsed)
    assert one.result is not None
    assert most_bytes("logs/a.eval") == 16 * most_bytes("logs/a.json") == 128 * 1024 * 1024


def test_a_secret_is_named_and_never_held() -> None:
    data = patch(header(), "/eval/model_args", {"api_key": KEY, "revision": "main"})
    for packed, member in ((dumps(data), ""), (archive({"header.json": data}), "header.json#")):
        result = parse_result(packed)
        assert result.secrets == (f"{member}/eval/model_args/api_key",)
        assert KEY not in str(result)
        assert result.model.requested_revision == "main"


@pytest.mark.parametrize(
    ("named", "name", "is_hub_id"),
    [
        ("vllm/acme/atlas-7b", "acme/atlas-7b", True),
        ("hf/gpt2", "gpt2", True),
        ("openai/gpt-4o", "openai/gpt-4o", True),
        ("hf-inference-providers/acme/atlas", "hf-inference-providers/acme/atlas", False),
        ("hf/local", "local", False),
    ],
)
def test_only_a_provider_of_models_of_the_hub_is_taken_off(named: str, name: str, is_hub_id: bool) -> None:
    model = parse_result(dumps(patch(header(), "/eval/model", named))).model
    assert model.id == name
    assert (why_unidentified(model) == "") == is_hub_id


def test_models_that_are_called_local_are_named_by_their_paths() -> None:
    names = {"../atlas": "acme/atlas-7b", "../kite": f"acme/kite@{'b2' * 20}", "local": "acme/other"}
    found = []
    for path in ("../atlas", "../kite", "../third"):
        data = patch(patch(header(), "/eval/model", "hf/local"), "/eval/model_args", {"model_path": path})
        named = with_names(parse_submission("a.json", {"": dumps(data)}), names)
        assert named.result is not None
        found.append((named.result.model.id, named.result.model.revision))
    assert found == [("acme/atlas-7b", ""), ("acme/kite", "b2" * 20), ("acme/other", "")]


def test_a_command_measures_tasks_of_inspect_evals_again() -> None:
    result = parse_result(log_archive())
    rerun = format_of("inspect").rerun
    assert rerun is not None
    revision = "a1" * 20
    assert rerun(Rerun(result.model, tuple(result.leaves), None, result.settings)) == (
        f"inspect eval inspect_evals/toy --model hf/acme/atlas-7b -M revision={revision} --log-dir results"
    )
    assert not rerun(Rerun(result.model, ("toy match",), None, {}))
    assert not rerun(Rerun(result.model, ("inspect_evals/toy(cot=true) match",), None, {}))


def test_a_model_of_a_service_is_measured_again_with_the_settings_of_its_call() -> None:
    result, rerun = parse_result(log_archive()), format_of("inspect").rerun
    assert rerun is not None
    settings = {"max_tokens": "256", "temperature": "0"}
    for name in ("gpt-4o", "openai/gpt-4o"):  # in the log, and on a board of served models
        model = replace(result.model, id=name, source="openai", revision="2026-03-02")
        assert rerun(Rerun(model, tuple(result.leaves), None, settings)) == (
            "inspect eval inspect_evals/toy --model openai/gpt-4o --max-tokens 256 --temperature 0 --log-dir results"
        )
    assert not rerun(Rerun(result.model, tuple(result.leaves), None, settings | {"solver": "agent"}))


@pytest.mark.parametrize(("epochs", "total", "completed", "errored"), [(1, 10, 7, 3), (2, 20, 17, 2), (1, 10, 10, 0)])
def test_samples_that_ended_with_an_error_are_counted(epochs: int, total: int, completed: int, errored: int) -> None:
    counts = {"total_samples": total, "completed_samples": completed, "scores": [score("match", 0.5, scored=7)]}
    log = header(results=counts)
    log["eval"]["config"] = {"epochs": epochs}
    assert parse_result(dumps(log)).leaves["inspect_evals/toy match"].errored == errored


@pytest.mark.parametrize(
    ("model", "arguments", "is_told"),
    [
        ("hf/acme/atlas-7b", {"model_path": "runs/step-100"}, True),
        ("hf/acme/atlas-7b", {"load_format": "dummy"}, True),
        ("hf/local", {"model_path": "runs/step-100"}, False),
        ("hf/acme/atlas-7b", {"model_path": "acme/atlas-7b"}, False),
    ],
)
def test_weights_that_the_name_does_not_have_are_an_error(model: str, arguments: dict[str, str], is_told: bool) -> None:
    result = parse_result(dumps(patch(patch(header(), "/eval/model", model), "/eval/model_args", arguments)))
    assert [one.is_error for one in result.contradictions] == [True] * is_told
