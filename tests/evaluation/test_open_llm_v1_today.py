"""The six tasks of the Open LLM Leaderboard v1 by harness 0.4: accepted, scored, told from the archive."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluation import harness_tasks
from tests.evaluation.judging import (
    base_v1,
    base_v1_today,
    declared,
    judgement_of,
    outcome_of,
    patched,
    rules_of,
    stderr,
)
from tests.evaluation.parts import only

V1 = "open-llm-v1"


def test_a_run_of_today_is_accepted_and_scored_by_the_leaderboards_rules() -> None:
    data = base_v1_today()
    right = data["results"]["mmlu_virology"]["acc,none"] = 100 / 166
    outcome = outcome_of(data, V1)
    assert (outcome.status, rules_of(outcome)) == ("accepted", {"not-comparable"})
    assert outcome.scores is not None
    scores = {task.id: task.score for task in outcome.scores.tasks}
    others = [row["acc,none"] for key, row in data["results"].items() if key.startswith("mmlu_")]
    assert scores["mmlu"] == pytest.approx(100 * sum(others) / 57, abs=1e-12)
    assert right in others
    assert scores["gsm8k"] == pytest.approx(100 * data["results"]["gsm8k"]["exact_match,strict-match"])


def test_what_is_not_comparable_with_the_archive_is_said_of_each_column() -> None:
    said = {one.task: one.message for one in outcome_of(base_v1_today(), V1).findings}
    assert set(said) == {"truthfulqa", "gsm8k"}
    assert "the first colon" in said["gsm8k"]
    assert "listed before the first false one" in said["truthfulqa"]
    data = base_v1_today()
    data["versions"]["truthfulqa_mc2"] = 2.0
    assert {one.task for one in outcome_of(data, V1).findings} == {"gsm8k"}


@pytest.mark.parametrize(
    ("field", "value", "rules"),
    [
        ("lm_eval_version", "0.4.3", {"unaccepted-harness-commit", "implementation-mismatch"}),
        ("lm_eval_version", "0.4.4", set()),
        ("lm_eval_version", "0.4.12", set()),
        ("lm_eval_version", "0.4.13", set()),
        ("versions/gsm8k", 2.0, {"unaccepted-task-version"}),
        ("versions/mmlu_virology", 0.0, {"unaccepted-task-version"}),
        ("versions/arc_challenge", 0.0, {"unaccepted-task-version"}),
        ("n-shot/arc_challenge", 0, {"wrong-num-fewshot"}),
    ],
)
def test_versions_and_shots_are_those_of_todays_harness(field: str, value: Any, rules: set[str]) -> None:
    data = base_v1_today()
    name, _, key = field.partition("/")
    if key:
        data[name][key] = value
    else:
        data = patched({f"/{name}": value}, data)
    assert rules_of(outcome_of(data, V1)) == rules | {"not-comparable"}


@pytest.mark.slow
def test_the_versions_are_those_of_the_installed_harness() -> None:
    for task, leaf in declared(V1).leaves():
        key = leaf.key("lm-eval-0.4")
        version = harness_tasks.config(key)["metadata"]["version"]
        assert f"{version:g}" == task.versions_of("lm-eval-0.4")[-1], key


def test_files_of_the_archive_and_of_today_never_make_one_row() -> None:
    today = only(base_v1_today(), {"gsm8k", "winogrande"})
    archive = base_v1()
    del archive["results"]["harness|gsm8k|5"]
    del archive["results"]["harness|winogrande|5"]
    today["config"]["model_sha"] = archive["config_general"]["model_sha"]
    today |= {"lm_eval_version": None, "git_hash": None}
    for unknown in (False, True):
        if unknown:
            archive["config_general"]["lighteval_sha"] = "?"
        (row,) = judgement_of({"archive.json": archive, "today.json": today}, V1).rows
        assert [file.path for file in row.files] == ["archive.json"]
        assert "settings-differ" in rules_of(row)


def test_the_hint_for_a_hole_is_a_call_of_todays_harness() -> None:
    data = base_v1_today()
    del data["results"]["arc_challenge"], data["results"]["mmlu_virology"]
    commands = [one.command for one in outcome_of(data, V1).findings if one.rule == "missing-task"]
    assert [command.split(" --batch_size")[0].split(" --tasks ")[1] for command in commands] == [
        "arc_challenge --num_fewshot 25",
        "mmlu_virology --num_fewshot 5",
    ]


def test_mean_of_probabilities_is_taken_as_it_is() -> None:
    data = base_v1_today()
    data["results"]["truthfulqa_mc2"] = {"acc,none": 0.43219876, "acc_stderr,none": stderr(0.43219876, 700)}
    assert rules_of(outcome_of(data, V1)) == {"not-comparable"}


@pytest.mark.parametrize(
    ("task", "release"), [("truthfulqa_mc2", "0.4.8"), ("mmlu_virology", "0.4.13"), ("gsm8k", "0.4.13")]
)
def test_no_number_of_the_advised_release_is_less_comparable_than_one_of_another(task: str, release: str) -> None:
    """TruthfulQA counts otherwise from 0.4.9 on; examples of another split are the same ones in 0.4.13."""
    data = base_v1_today() | {"lm_eval_version": "0.4.13"}
    del data["results"][task]
    (missing,) = (one for one in outcome_of(data, V1).findings if one.rule == "missing-task")
    assert f"(lm-eval {release})" in missing.hint
    assert release in missing.command


def test_a_whole_group_is_measured_again_by_its_name() -> None:
    data = base_v1_today()
    data["results"] = {key: row for key, row in data["results"].items() if not key.startswith("mmlu_")}
    (missing,) = (one for one in outcome_of(data, V1).findings if one.rule == "missing-task")
    assert " --tasks mmlu --num_fewshot 5 " in missing.command
