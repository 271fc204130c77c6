"""Files of evalchemy: values, counts and settings as real files have them, in shapes built anew."""

from __future__ import annotations

from typing import Any

import pytest

from bot.errors import MalformedResult
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.leaderboard import parse_leaderboard
from bot.reporting.draft import draft_text
from tests.evaluation.judging import dumps, outcome_of

MODEL = "acme/atlas-1.7b"


def evalchemy(results: dict[str, Any], **config: Any) -> dict[str, Any]:
    """The frame around the results, as evalchemy of 2026 writes it."""
    return {
        "results": results,
        "config": {
            "model": "hf",
            "model_args": f"trust_remote_code=True,pretrained={MODEL}",
            "tasks": "MBPP",
            "batch_sizes": [64],
            "limit": None,
            "annotator_model": "auto",
            "max_tokens": "default",
            "gen_kwargs": None,
            "model_dtype": "torch.bfloat16",
            "model_revision": "main",
            "model_sha": "",
            **config,
        },
        "git_hash": "e2c768860f54b5603806638d6847c0b03991560f",
        "date": 1776268291.0735893,
        "task_hashes": {},
        "model_source": "hf",
        "model_name": MODEL,
        "chat_template": None,
        "total_evaluation_time_seconds": "134.38",
    }


def mbpp(value: float, examples: int = 500, rate: float = 1.0) -> dict[str, Any]:
    return {"MBPP": {"pass@1": value, "num_examples": examples, "completion_rate": rate}}


@pytest.mark.parametrize("value", [0.372, 0.0, 0.136])  # Qwen2.5-1.5B-Instruct, Qwen3-1.7B, a model of 0.4 B
def test_a_row_gives_its_value_and_its_number_of_samples(value: float) -> None:
    result = parse_result(dumps(evalchemy(mbpp(value))))
    leaf = result.leaves["MBPP"]
    assert (result.format, dict(leaf.numbers)) == ("evalchemy", {"pass@1": value})
    assert (leaf.samples, leaf.original, leaf.num_fewshot, leaf.version) == (500, 500, None, None)
    model = result.model
    assert (model.id, model.precision, model.revision, model.requested_revision) == (MODEL, "bfloat16", "", "main")
    assert (result.harness.name, result.harness.git_hash) == ("evalchemy", "e2c768860f54b5603806638d6847c0b03991560f")
    assert (result.date, result.limit, dict(result.settings)) == (1776268291.0735893, None, {})


def test_repeated_runs_have_their_mean_and_the_error_beside_it() -> None:
    runs = [{"repetition": 1, "num_total": 30, "num_solved": 3, "accuracy": 0.1}]
    row = {"num_total": 30, "solved_avg": 3.0, "run_stats": runs, "accuracy_avg": 0.1, "accuracy_std_err": 0.01}
    row |= {"num_repeat": 10, "examples": [{"model_answers": ["…"]}]}
    result = parse_result(dumps(evalchemy({"AIME24": row})))
    leaf = result.leaves["AIME24"]
    assert (dict(leaf.numbers), leaf.samples) == ({"accuracy_avg": 0.1, "accuracy_std_err": 0.01}, 30)
    assert leaf.epochs == 10
    assert format_of("evalchemy").stderr_key("accuracy_avg") == "accuracy_std_err"


def test_tasks_of_the_harness_are_rows_of_the_same_run() -> None:
    rows = mbpp(0.372) | {"arc_easy": {"alias": "arc_easy", "acc,none": 0.5, "acc_stderr,none": 0.01}}
    result = parse_result(dumps(evalchemy(rows)))
    assert result.format == "evalchemy"
    assert dict(result.leaves["arc_easy"].numbers) == {"acc,none": 0.5, "acc_stderr,none": 0.01}
    assert format_of("evalchemy").stderr_key("acc,none") == "acc_stderr,none"


def test_what_failed_or_ran_elsewhere_is_no_measurement() -> None:
    rows = mbpp(0.372) | {"MTBench": None, "HumanEval": {"error": "out of memory"}}
    result = parse_result(dumps(evalchemy(rows)))
    assert {key: dict(leaf.numbers) for key, leaf in result.leaves.items()} == {
        "MBPP": {"pass@1": 0.372},
        "HumanEval": {},
    }
    with pytest.raises(MalformedResult, match="row of results that is not an object"):
        parse_result(dumps(evalchemy(mbpp(0.372) | {"HumanEval": 0.5})))


def test_a_run_that_left_answers_out_is_a_limited_run() -> None:
    whole, cut = evalchemy(mbpp(0.372)), evalchemy(mbpp(0.372, 250, 0.5))
    board = parse_leaderboard(draft_text(draft_of([parse_result(dumps(whole))])), "board", "board.toml")
    assert outcome_of(whole, board).status == "accepted"
    assert [found.rule for found in outcome_of(cut, board).findings if found.is_error] == ["limited-run"]


def test_the_judge_and_the_longest_answer_are_settings() -> None:
    result = parse_result(dumps(evalchemy(mbpp(0.372), annotator_model="gpt-4o-mini", max_tokens=4096)))
    assert dict(result.settings) == {"annotator_model": "gpt-4o-mini", "max_tokens": "4096"}
    command = format_of("evalchemy").rerun(Rerun(result.model, ("MBPP", "HumanEval"), 0, result.settings))  # type: ignore[misc]
    assert command == (
        f"python -m eval.eval --model hf --model_args pretrained={MODEL},dtype=bfloat16"
        " --tasks MBPP,HumanEval --max_tokens 4096 --annotator_model gpt-4o-mini --output_path logs"
    )


def test_a_file_of_the_harness_is_not_one_of_evalchemy() -> None:
    data = evalchemy({"arc_easy": {"acc,none": 0.5}})
    for key in ("configs", "versions", "n-shot"):
        assert parse_result(dumps(data | {key: {}})).format == "lm-eval-0.4"
