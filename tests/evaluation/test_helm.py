"""Runs of HELM, built anew in the shape of real ones: one leaf from statistics of one name, and its standard error."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import Content, parse_content
from bot.evaluation.formats.format import MAX_BYTES
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed, UnreadPath, parse_submission
from bot.reporting.draft import draft_text
from tests.evaluation.discovering import found_in
from tests.evaluation.judging import dumps, patch, stderr
from tests.evaluation.test_properties import JSON

KEY = "mmlu:subject=philosophy,method=multiple_choice_joint"


def spec() -> dict[str, Any]:
    return {
        "name": f"{KEY},model=openai_gpt2",
        "scenario_spec": {"class_name": "helm.MMLUScenario", "args": {"subject": "philosophy"}},
        "adapter_spec": {
            "method": "multiple_choice_joint", "max_train_instances": 5, "max_eval_instances": 10,
            "model": "openai/gpt2", "model_deployment": "huggingface/gpt2", "temperature": 0.0, "max_tokens": 1,
        },
        "metric_specs": [{"class_name": "helm.BasicMetric", "args": {"names": ["exact_match"]}}],
        "groups": ["mmlu"],
    }  # fmt: skip


def stat(name: str, mean: float, split: str | None = "test", **more: Any) -> dict[str, Any]:
    spelled = {"name": name, **({"split": split} if split else {}), **more}
    return {"name": spelled, "count": 1, "sum": mean, "mean": mean, "stddev": 0.0}


def stats() -> list[dict[str, Any]]:
    worst = {"perturbation": {"name": "robustness", "computed_on": "worst"}}
    return [
        stat("exact_match", 0.0, "valid"),
        stat("exact_match", 0.9, **worst),
        stat("exact_match", 2 / 9),
        stat("exact_match", 0.8, sub_split="toxic"),
        stat("num_instances", 1.0, "valid"),
        stat("num_instances", 9.0),
        stat("num_train_instances", 5.0),
        {"name": {"name": "training_co2_cost", "split": "test"}, "count": 0, "sum": 0},
    ]


def instances() -> list[dict[str, Any]]:
    right = {2, 7}
    rows = [(f"id{n}", stat("exact_match", float(n in right))) for n in range(9)]
    found = [{"instance_id": name, "train_trial_index": 0, "stats": [row]} for name, row in rows]
    other = {"instance_id": "id99", "train_trial_index": 0, "stats": [stat("exact_match", 1.0, "valid")]}
    shaken = {**found[0], "perturbation": {"name": "robustness"}}
    return [*found, other, shaken]


def run(**changed: Any) -> dict[str, bytes]:
    files = {"run_spec": spec(), "stats": stats(), "per_instance_stats": instances()} | changed
    return {f"{name}.json": dumps(value) for name, value in files.items() if value is not None}


def read(**changed: Any) -> Result:
    return parse_content(Content(run(**changed), "runs/v1/mmlu"))


def only_leaf(result: Result) -> Any:
    (leaf,) = result.leaves.values()
    return leaf


def test_a_run_gives_the_mean_over_the_test_split_as_it_is() -> None:
    result = read()
    assert (result.format, result.model.id, result.model.source) == ("helm", "openai/gpt2", "huggingface/gpt2")
    assert list(result.leaves) == [KEY]
    leaf = only_leaf(result)
    assert leaf.numbers == {"exact_match": 2 / 9, "exact_match_stderr": pytest.approx(stderr(2 / 9, 9), rel=1e-12)}
    assert (leaf.num_fewshot, leaf.samples, leaf.original, result.limit) == (5, 9, None, None)
    assert result.pointer_to("value", KEY, "exact_match") == "stats.json#/2/mean"


def test_where_nothing_was_tested_the_validation_split_counts() -> None:
    rows = [stat("exact_match", 0.3, "valid"), stat("num_instances", 10.0, "valid"), stat("f1", 0.2, None)]
    leaf = only_leaf(read(stats=rows, per_instance_stats=None))
    assert (leaf.numbers, leaf.samples, leaf.num_fewshot) == ({"exact_match": 0.3}, 10, 5)


def test_a_standard_error_is_given_only_where_the_instances_make_the_mean() -> None:
    assert "exact_match_stderr" not in only_leaf(read(per_instance_stats=instances()[1:])).numbers
    assert "exact_match_stderr" not in only_leaf(read(per_instance_stats=instances() * 2)).numbers
    assert "exact_match_stderr" not in only_leaf(read(per_instance_stats=[])).numbers
    files = run() | {"per_instance_stats.json": b"[{"}
    assert "exact_match_stderr" not in only_leaf(parse_content(Content(files))).numbers


def test_the_definition_is_what_was_asked_and_not_of_whom() -> None:
    definition = only_leaf(read()).definition
    assert definition
    other = patch(patch(spec(), "/adapter_spec/model", "acme/atlas"), "/adapter_spec/model_deployment", "x/y")
    assert only_leaf(read(run_spec=other)).definition == definition
    for pointer in ("/adapter_spec/max_eval_instances", "/scenario_spec/args/subject", "/metric_specs"):
        assert only_leaf(read(run_spec=patch(spec(), pointer, 1))).definition != definition


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("anthropic_red_team:model=anthropic_claude", "anthropic_red_team"),
        ("boolq:model=a_b,data_augmentation=canonical", "boolq:data_augmentation=canonical"),
        ("boolq:model_deployment=a_b,only_contrast=True,model=a", "boolq:only_contrast=True"),
        ("boolq", "boolq"),
        ("", ""),
    ],
)
def test_a_leaf_is_the_run_s_name_without_the_model(name: str, key: str) -> None:
    assert list(read(run_spec=patch(spec(), "/name", name)).leaves) == [key]


def test_runs_of_one_group_are_drafted_as_one_column() -> None:
    names = [f"mmlu:subject={subject},method=multiple_choice_joint" for subject in ("law", "virology", "anatomy")]
    results = [read(run_spec=patch(spec(), "/name", f"{name},model=openai_gpt2")) for name in names]
    alone = read(run_spec=patch(patch(spec(), "/name", "boolq:model=a"), "/groups", ["boolq", 5, {}]))
    text = draft_text(draft_of([*results, alone]))
    board = parse_leaderboard(text, "board", "board.toml")
    assert [(task.id, len(task.leaves)) for task in board.tasks] == [("mmlu", 3), ("boolq", 1)]
    assert {leaf.key("helm") for leaf in board.tasks[0].leaves} == set(names)


def test_a_prompt_that_was_cut_has_fewer_shots() -> None:
    rows = [*stats(), stat("num_train_instances", 2.8)]
    assert only_leaf(read(stats=rows)).num_fewshot == 3


# ---- the folder ----


def folder(files: dict[str, bytes], path: str = "runs/v1/mmlu") -> dict[str, bytes]:
    return {f"{path}/{name}": data for name, data in files.items()}


def test_a_folder_is_one_submission_and_a_part_of_it_none() -> None:
    found = found_in(folder(run() | {"scenario_state.json": b"{}", "scenario.json": b"{}"}))
    assert list(found) == ["runs/v1/mmlu"]
    for part in ({"run_spec": None}, {"stats": None}):
        found = found_in(folder(run(**part)))
        assert {(type(one), one.kind) for one in found.values() if isinstance(one, UnreadPath)} == {
            (UnreadPath, "helm")
        }
        assert len(found) == 2


def test_a_part_that_is_named_itself_says_what_to_name() -> None:
    files = folder(run(run_spec=None))
    path = "runs/v1/mmlu/stats.json"
    one = found_in({path: files[path]}, (path,))[path]
    assert isinstance(one, Parsed)
    assert one.problem is not None
    assert (one.problem.why, one.problem.hint) == (
        "is a part of a HELM run, not a result",
        "name the run's folder (not the top of a repository), which has run_spec.json and stats.json",
    )


def test_a_large_list_of_instances_is_left_unread() -> None:
    files = run() | {"per_instance_stats.json": b"[" + b" " * MAX_BYTES + b"]"}
    (one,) = found_in(folder(files)).values()
    assert isinstance(one, Parsed)
    assert one.result is not None
    assert "exact_match_stderr" not in only_leaf(one.result).numbers


def test_what_is_broken_is_said_in_one_line_with_the_file() -> None:
    for name in ("run_spec.json", "stats.json"):
        (one,) = found_in(folder(run() | {name: b'[{"name": '})).values()
        assert isinstance(one, Parsed)
        assert one.problem is not None
        assert one.problem.why.startswith(f"holds a {name} that is truncated")


def test_other_contents_under_the_same_names_are_no_run() -> None:
    found = found_in(folder({"run_spec.json": b'{"a": 1}', "stats.json": b"{}"}))
    assert [type(one) for one in found.values()] == [UnreadPath]


POINTERS = ["", "/name", "/adapter_spec", "/adapter_spec/model", "/adapter_spec/max_train_instances", "/metric_specs"]


@given(st.sampled_from(POINTERS), JSON, JSON, JSON)
def test_any_json_in_any_file_is_read_or_refused(pointer: str, value: Any, numbers: Any, rows: Any) -> None:
    shaken = [*stats(), {"name": numbers, "mean": value}, stat("exact_match", value), numbers]
    for files in (
        run(run_spec=patch(spec(), pointer, value), stats=shaken, per_instance_stats=[*instances(), rows]),
        run(run_spec=patch(spec(), pointer, value), stats=numbers, per_instance_stats=rows),
    ):
        parsed = parse_submission("a", files)
        assert (parsed.result is None) != (parsed.problem is None)
        assert parsed.problem is None or "could not be read" not in parsed.problem.why
        assert Parsed.from_bytes(parsed.to_bytes()).to_bytes() == parsed.to_bytes()


def test_a_real_run_checked_by_hand(reference: Path) -> None:
    """Nine of ten instances are of the test split, and one of them is right; there are five shots."""
    (path,) = (reference / "helm").iterdir()
    names = ("run_spec.json", "stats.json", "per_instance_stats.json")
    leaf = only_leaf(parse_content(Content({name: (path / name).read_bytes() for name in names})))
    assert leaf.numbers["exact_match"] == pytest.approx(1 / 9)
    assert leaf.numbers["exact_match_stderr"] == pytest.approx(sqrt(1 / 9 * 8 / 9 / 8))
    assert (leaf.num_fewshot, leaf.samples) == (5, 9)


@pytest.mark.parametrize(
    ("name", "groups", "main"),
    [
        ("narrative_qa", ["narrative_qa"], "f1_score"),
        ("natural_qa:mode=closedbook", ["natural_qa"], "f1_score"),  # with and without a book it is one metric
        ("legalbench:subset=abercrombie", ["legalbench"], "quasi_exact_match"),
        ("gsm", ["gsm"], "final_number_exact_match"),
        ("wmt_14:language_pair=cs-en", ["wmt_14"], "bleu_4"),
        ("our_own:part=1", ["our_own"], "exact_match"),  # HELM names none
    ],
)
def test_a_draft_takes_the_main_metric_of_the_scenario(name: str, groups: list[str], main: str) -> None:
    metrics = ["exact_match", "quasi_exact_match", "f1_score", "final_number_exact_match", "bleu_4", "num_instances"]
    parts = {
        "run_spec.json": dumps(spec() | {"name": f"{name},model=openai_gpt2", "groups": groups}),
        "stats.json": dumps([stat(one, 0.19) for one in metrics]),
    }
    [task] = draft_of([parse_content(Content(parts))]).tasks
    assert [one["name"] for one in task.keys["metrics"]] == [main]
    assert "unit" not in task.keys  # BLEU is a fraction here
