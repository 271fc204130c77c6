"""Comparisons: which of two measurements is higher, by more than chance, and what is said of how they were made."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
from copy import deepcopy
from math import sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.errors import CallError
from bot.evaluation.compare import (
    MeasuredRun,
    MeasuredTask,
    Pairs,
    RunComparison,
    SettingDifference,
    compare,
    effects,
    run_of_results,
    run_of_scores,
)
from bot.evaluation.formats.conditions import conditions_of
from bot.evaluation.result import Result
from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.statistics import LEVEL, Contrast, independent, paired_exact
from bot.evaluation.submission import parse_submission
from bot.reporting.comparison import comparison_json, comparison_markdown, comparison_text, sentence_of
from tests.evaluation.judging import base

REFERENCE = os.environ.get("LEADERBOARD_BOT_REFERENCE", "")
needs_reference = pytest.mark.skipif(not REFERENCE, reason="LEADERBOARD_BOT_REFERENCE is not set")


def result_of(data: dict[str, Any] | bytes) -> Result:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    parsed = parse_submission("results.json", {"": content})
    assert parsed.result is not None
    return parsed.result


def run(data: dict[str, Any] | bytes, *only: str) -> MeasuredRun:
    return run_of_results("file", [result_of(data)], only)


def changed(**places: Any) -> dict[str, Any]:
    """The example file with values at `/`-separated places."""
    data = base()
    for place, value in places.items():
        *path, last = place.split("/")
        target = data
        for part in path:
            target = target[part]
        target[last] = value
    return data


SUBJECTS = ("anatomy", "virology")


def named(comparison: RunComparison) -> list[str]:
    return [one.name for one in comparison.settings]


def test_a_file_equals_itself() -> None:
    same = compare(run(base()), run(base()))
    assert same.settings == ()
    assert {one.conclusion for one in same.tasks} == {"not separable"}
    numbers = f"have the same numbers in all {len(same.tasks)} tasks: one may be a copy or a repeat of the other."
    assert sentence_of(same) == f"A and B {numbers}"


def test_a_group_of_one_metric_is_one_task_and_a_mixed_group_is_none() -> None:
    tasks = run(base()).tasks
    assert "leaderboard_bbh" in tasks
    assert "leaderboard" not in tasks
    assert tasks["leaderboard_musr"].counts == (156 + 90 + 146, 250 + 256 + 250)


def test_a_group_that_asks_a_question_several_times_has_the_error_of_its_questions_and_no_pairs() -> None:
    one = run(base())
    task, part = one.tasks["leaderboard_gpqa"], one.tasks["leaderboard_musr"]
    assert (task.counts, task.samples, part.counts is None) == (None, 198 + 448 + 546, False)
    alone = sqrt(task.value * (1 - task.value) / 1191)
    assert task.stderr == pytest.approx(1.5544 * alone, rel=0.02)
    pairs = {"leaderboard_gpqa": Pairs(paired_exact(600, 90, 30, 472), "paired-exact", 1192, 1192)}
    [found] = [each for each in compare(one, one, pairs).tasks if each.id == "leaderboard_gpqa"]
    assert (found.method, found.pairs) == ("independent-normal", None)
    assert "counts questions twice" in found.unpaired
    assert run(base(), "leaderboard_gpqa_main").tasks["leaderboard_gpqa_main"].counts is not None
    two = base()
    del two["results"]["leaderboard_gpqa_extended"]
    assert (run(two).tasks["leaderboard_gpqa"].counts, len(run(two).tasks["leaderboard_gpqa"].leaves)) == (None, 2)


def test_a_nested_group_without_counts_has_the_largest_error_of_its_mean_and_no_pairs() -> None:
    places = {f"results/leaderboard_gpqa_{name}/acc_norm,none": 0.31234567 for name in ("diamond", "main", "extended")}
    errors = {
        place.replace(",none", "_stderr,none"): error for place, error in zip(places, (0.04, 0.03, 0.02), strict=True)
    }
    task = run(changed(**places, **errors)).tasks["leaderboard_gpqa"]
    assert (task.counts, task.weights) == (None, None)
    wholes = 2 * (0.04 * 0.03 * sqrt(198 / 448) + 0.03 * 0.02 * sqrt(448 / 546) + 0.04 * 0.02 * sqrt(198 / 546))
    assert task.stderr == pytest.approx(sqrt(0.04**2 + 0.03**2 + 0.02**2 + wholes) / 3)


def toys(*exact: str, **values: float) -> dict[str, Any]:
    """A file of tasks that no catalogue knows, two of three in a group of their own; `exact` have another metric."""
    rows = {"toy_a": 0.25, "toy_b": 0.5, "toy_c": 0.75} | values
    metrics = {name: "exact_match,none" if name in exact else "acc,none" for name in rows}
    return base() | {
        "results": {name: {"alias": name, metrics[name]: value} for name, value in rows.items()},
        "groups": {},
        "group_subtasks": {"toy": ["toy_half", "toy_c"], "toy_half": ["toy_a", "toy_b"], "toy_alone": ["toy_c"]},
        "n-samples": {name: {"original": 4, "effective": 4} for name in rows},
    }


def test_of_groups_inside_of_groups_the_largest_of_one_metric_is_the_task() -> None:
    [toy] = run(toys()).tasks.values()
    assert (toy.id, {*toy.leaves}, toy.samples) == ("toy", {"toy_a", "toy_b", "toy_c"}, 12)
    assert list(run(toys("toy_c")).tasks) == ["toy_half", "toy_c"]
    assert list(run(toys("toy_b")).tasks) == ["toy_a", "toy_b", "toy_c"]


def test_a_smaller_group_and_its_leaves_can_be_named() -> None:
    half = run(toys(), "toy_half").tasks["toy_half"]
    assert (half.leaves, half.value, half.points) == (("toy_a", "toy_b"), 0.375, 100.0)
    assert list(run(toys(), "toy_half", "toy_a").tasks) == ["toy_a", "toy_half"]
    with pytest.raises(CallError, match="has no task toy_half"):
        run(toys("toy_b"), "toy_half")


def test_a_leaf_of_a_group_without_a_number_is_left_out_of_it() -> None:
    data = toys()
    data["results"]["toy_b"] = {"alias": "toy_b"}
    assert {*run(data).tasks["toy"].leaves} == {"toy_a", "toy_c"}
    assert run(data, "toy_half").tasks["toy_half"].leaves == ("toy_a",)


def test_a_group_is_the_mean_that_its_own_row_has() -> None:
    data = toys()
    data["n-samples"]["toy_b"] = {"original": 8, "effective": 8}
    pooled = run(data, "toy_half").tasks["toy_half"]
    assert (pooled.value, pooled.weights) == (pytest.approx(5 / 12), ())
    data["groups"] = {"toy_half": {"alias": "toy_half", "acc,none": 0.375}}
    plain = run(data, "toy_half").tasks["toy_half"]
    assert (plain.value, plain.weights, plain.samples) == (0.375, (0.5, 0.5), 12)


def test_a_share_has_its_right_answers_and_their_error() -> None:
    half = run(toys(), "toy_half").tasks["toy_half"]
    assert (half.counts, half.samples, half.weights) == ((3, 8), 8, ())
    assert half.stderr == pytest.approx(sqrt(3 / 8 * 5 / 8 / 7))
    for value, right in ((0.0, 0), (1.0, 4)):
        assert run(toys(toy_a=value), "toy_a").tasks["toy_a"].counts == (right, 4)
    without = toys()
    without["results"]["toy_a"]["acc_stderr,none"] = sqrt(0.25 * 0.75 / 7)  # of 8 questions
    assert run(without, "toy_a").tasks["toy_a"].counts is None
    del without["n-samples"]
    assert run(without, "toy_a").tasks["toy_a"].counts == (2, 8)
    assert (run(without, "toy_b").tasks["toy_b"].counts, run(without, "toy_b").tasks["toy_b"].samples) == (None, None)


def test_numbers_that_are_no_share_of_the_questions_have_the_plain_mean_of_their_leaves() -> None:
    data = toys(toy_a=0.3, toy_b=0.6)
    one = run(data, "toy_half").tasks["toy_half"]
    assert (one.counts, one.stderr, one.weights, one.samples) == (None, None, (0.5, 0.5), 8)
    assert one.value == pytest.approx(0.45)
    for name, error in (("toy_a", 0.03), ("toy_b", 0.04)):
        data["results"][name]["acc_stderr,none"] = error
    assert run(data, "toy_half").tasks["toy_half"].stderr == pytest.approx(0.025)
    assert run(data, "toy_a").tasks["toy_a"].weights == ()
    data["results"]["toy_a"]["acc_stderr,none"] = 0.0  # of which nothing is known
    assert run(data, "toy_half").tasks["toy_half"].stderr is None


def test_probabilities_are_no_right_answers() -> None:
    data = toys(mc2=0.5)
    data["results"]["mc2"] = {"alias": "mc2", "acc,none": 0.5}
    data["results"]["toy_a"] = {"alias": "toy_a", "mc2,none": 0.25}
    tasks = run(data).tasks
    assert (tasks["mc2"].counts, tasks["toy_a"].counts) == (None, None)


def test_a_file_says_how_it_was_measured() -> None:
    def said(data: dict[str, Any], name: str) -> set[str]:
        return set(run(data).of_leaves[name].values())

    assert said(base(), "limit") == {"none"}
    assert said(base(), "harness version") == {"0.4.9"}
    assert (said(base(), "precision"), said(base(), "backend")) == ({"bfloat16"}, {"hf"})
    other = base() | {"lm_eval_version": None, "git_hash": "abcdef12" * 5}
    assert said(other, "starting folder") == {"abcdef12a"}  # which need not be of the harness
    assert said(other | {"git_hash": "3fa4fd7"}, "harness version") == {"3fa4fd7"}
    assert said(base(), "chat template") == {"no"}
    assert said(base() | {"chat_template": "{{ x }}"}, "chat template") == {"yes"}


def test_the_commit_of_the_starting_folder_explains_no_difference_of_one_model() -> None:
    """Like the two runs of one file's task in JL-er/lm-evaluation-harness-results, whose folders differ."""
    one, other = (
        {"lm_eval_version": None, "git_hash": commit, "n-samples": {}, "group_subtasks": {}}
        | {"results": {"toy": {"acc,none": value, "acc_stderr,none": 0.01}}, "configs": {"toy": {}}}
        for commit, value in (("28fe95e", 0.5), ("3285551", 0.6))
    )
    found = compare(run(base() | one), run(base() | other))
    assert named(found) == ["commit of the starting folder"]
    said = sentence_of(found)
    assert "measured differently" not in said
    assert said.endswith("; what else is recorded differs in commit of the starting folder 28fe95e → 3285551.")
    limited = base() | other | {"config": base()["config"] | {"limit": 5}}
    assert "No recorded setting" not in sentence_of(compare(run(base() | one), run(limited)))
    foreign = (
        base()
        | other
        | {"config": base()["config"] | {"model_args": "pretrained=acme/other"}, "model_name": "acme/other"}
    )
    assert "No recorded setting" not in sentence_of(compare(run(base() | one), run(foreign)))


def test_checkpoints_of_one_model_are_told_apart_by_their_revisions() -> None:
    """Like v00.01-step-000001172 and v00.01-step-000004688 of Neelectric/Llama-3.1-8B-Instruct_SFT_MoT_mathv00.01."""

    def step(name: str, model: str = "acme/a") -> MeasuredRun:
        config = base()["config"] | {
            "model_args": f"pretrained={model},revision={name}",
            "model_sha": "",
            "model_revision": name,
        }
        return run(base() | {"config": config, "model_name": model})

    [found] = compare(step("step-1172"), step("step-4688")).settings
    assert (found.name, found.values) == ("revision of the model", ("step-1172", "step-4688"))
    assert compare(step("main"), step("step-4688")).settings == ()  # nobody knows which commit main was
    assert "revision" not in "".join(named(compare(step("step-1172"), step("step-4688", "acme/b"))))


def test_an_argument_that_nobody_knows_is_said_as_unknown_and_bos_by_itself() -> None:
    config = base()["config"]
    args = config["model_args"]
    one, other = (
        run(base() | {"config": config | {"model_args": f"{args},tmix_backend={kernel},max_length=2048{more}"}})
        for kernel, more in (("cuda", ",add_bos_token=True"), ("fla", ""))
    )
    effects_of = {found.name: found.effect for found in compare(one, other).settings}
    assert effects_of.keys() == {"argument tmix_backend", "argument add_bos_token"}
    assert effects_of["argument tmix_backend"] == "this argument is not known here: it may change answers or none"
    assert "BOS" in effects_of["argument add_bos_token"]


def test_what_one_file_alone_records_is_named_and_no_difference() -> None:
    config = base()["config"]
    silent = base() | {
        "config": config | {"model_args": config["model_args"].replace(",dtype=bfloat16", ""), "model_dtype": ""}
    }
    found = compare(run(base()), run(silent))
    assert named(found) == []
    assert "Recorded by one alone, so not compared: precision (A bfloat16)." in comparison_text(found)
    assert "precision" in comparison_markdown(found)


def test_files_of_one_run_are_compared_with_their_own_releases() -> None:
    """As latxa-13b-v1 and 7b-v1 of hitz-zentroa/latxa `a25de157`: of many files each, few name a release."""

    def file(name: str, release: str) -> Result:
        only = {"results": {name: {"acc,none": 0.5}}, "group_subtasks": {}, "lm_eval_version": release}
        told = {"system_instruction": "Be brief."} if release == "0.4.8" else {}
        return result_of(toys() | only | told | {"git_hash": ""})

    def files(*releases: str) -> MeasuredRun:
        return run_of_results("files", [file(f"toy_{place}", one) for place, one in enumerate(releases)])

    found = compare(files("0.4.8", "0.4.9", ""), files("0.4.9", "0.4.9", "0.4.9"))
    assert {(one.name, one.tasks, one.values) for one in found.settings} == {
        ("harness version", ("toy_0",), ("0.4.8", "0.4.9")),
        ("prompt system_instruction", ("toy_0",), ("Be brief.", "(not set)")),
    }


def test_what_a_file_does_not_say_of_a_leaf_is_no_setting_of_it() -> None:
    data = toys()
    data |= {"versions": {"toy_a": 1.0}, "n-shot": {"toy_a": 0}, "configs": {}}
    found = run(data).of_leaves
    assert (found["num_fewshot"], [*found["version"]], found["until"]) == ({"toy_a": "0"}, ["toy_a"], {})
    assert found["silent change"] == {}


def test_a_silent_change_is_told_of_the_leaves_that_it_concerns() -> None:
    data = toys(ifeval=0.5)
    for release, leaves in (("0.4.11", set()), ("0.4.12", {"ifeval"})):
        assert run(data | {"lm_eval_version": release}).of_leaves["silent change"].keys() == leaves


def test_of_the_changes_of_0_4_13_only_tasks_are_told_whose_examples_they_touch() -> None:
    """MMLU's first examples are of another split, and those of a seed never had the question among them."""
    names = ("belebele_fra_Latn", "humaneval_instruct", "mmlu_virology", "arc_challenge", "leaderboard_gpqa_main")
    data = toys(**dict.fromkeys(names, 0.5)) | {"lm_eval_version": "0.4.13", "n-shot": dict.fromkeys(names, 5)}
    assert run(data).of_leaves["silent change"].keys() == {"belebele_fra_Latn", "humaneval_instruct"}


@pytest.mark.parametrize(("value", "points"), [(0.0, 100.0), (1.0, 100.0), (1.5, 0.0)])
def test_a_number_between_0_and_1_is_a_share(value: float, points: float) -> None:
    assert run(toys(toy_a=value), "toy_a").tasks["toy_a"].points == points


def test_a_share_beside_a_number_that_is_none_is_shown_as_it_is() -> None:
    [compared] = compare(run(toys(toy_a=0.9), "toy_a"), run(toys(toy_a=2.4), "toy_a")).tasks
    assert (compared.points, compared.values) == (0.0, (0.9, 2.4))


def test_a_field_of_definitions_that_differs_is_named_once_for_each_task() -> None:
    other = base()
    for leaf in [name for name in other["configs"] if "_musr_" in name] + ["leaderboard_mmlu_pro"]:
        other["configs"][leaf]["doc_to_text"] = "{{Answer}}"
    found = [one for one in compare(run(base()), run(other)).settings if one.name == "definition: doc_to_text"]
    assert {task for one in found for task in one.tasks} == {"leaderboard_musr", "leaderboard_mmlu_pro"}
    assert sum(len(one.tasks) for one in found) == 2
    assert all("{{Answer}}" in one.values[1] and "{{Answer}}" not in one.values[0] for one in found)


def test_a_leaf_of_which_one_run_knows_no_definition_hides_no_difference_of_the_others() -> None:
    one, data = run(base()), base()
    first, *others = one.tasks["leaderboard_musr"].leaves
    for leaf in others:
        data["configs"][leaf]["doc_to_text"] = "{{Answer}}"
    row = dataclasses.replace(one, sources={leaf: result for leaf, result in one.sources.items() if leaf != first})
    assert "definition: doc_to_text" in named(compare(row, run(data)))


def test_a_metric_of_which_more_is_better_is_compared_where_there_is_one() -> None:
    """Like lambada_openai_cloze in bjoernpl/lm-evaluation-harness-de `5e59782e`, whose files have ppl before acc."""
    data = toys()
    data["results"]["toy_a"] = {"ppl,none": 6898.4, **data["results"]["toy_a"]}
    data["results"]["toy_b"] = {"ppl,none": 6898.4}
    tasks = run(data, "toy_a", "toy_b").tasks
    assert [task.metric for task in tasks.values()] == ["acc,none", "ppl,none"]


def retrieval(*order: str) -> MeasuredRun:
    """AutoRAGRetrieval of intfloat/multilingual-e5-small, from embeddings-benchmark/results `f4cc6c8b`."""
    values = {"ndcg_at_1": 0.65789, "ndcg_at_10": 0.80068, "main_score": 0.80068}
    row = {**{name: values[name] for name in order}, "hf_subset": "default", "languages": ["kor-Hang"]}
    file = {"dataset_revision": "fd7df84ac089bbec763b1c6bb1b56e985df5cc5c", "task_name": "AutoRAGRetrieval",
            "mteb_version": "2.12.30", "scores": {"test": [row]}}  # fmt: skip
    return run(file)


def test_the_headline_metric_is_compared_wherever_it_stands_in_a_file() -> None:
    first, last = retrieval("main_score", "ndcg_at_1", "ndcg_at_10"), retrieval("ndcg_at_1", "ndcg_at_10", "main_score")
    assert [one.metric for run in (first, last) for one in run.tasks.values()] == ["main_score"] * 2
    assert compare(first, last).tasks[0].why == ""


def test_a_difference_without_errors_is_not_said_to_be_tested() -> None:
    one = retrieval("main_score")
    assert compare(one, one).tasks[0].conclusion == "not tested"
    (task,) = one.tasks.values()
    other = dataclasses.replace(one, tasks={task.id: replace(task, value=task.value + 0.01)})
    found = compare(one, other)
    assert found.tasks[0].conclusion == "not tested"
    assert f"Not tested, for a standard error is absent or 0: {task.id}." in comparison_text(found)


def of_harness_3(rows: dict[str, float | tuple[float, float]], limit: int | None = None) -> MeasuredRun:
    """A file without numbers of samples, as in LumiOpen/evaluation `47bf8ab8`, of an old release."""
    numbers = {name: one if isinstance(one, tuple) else (one, 0.0) for name, one in rows.items()}
    results = {name: {"acc": value, "acc_stderr": error} for name, (value, error) in numbers.items()}
    config = {"model": "hf-causal", "model_args": "pretrained=a/b", "num_fewshot": 0, "no_cache": True, "limit": limit}
    return run({"results": results, "versions": dict.fromkeys(rows, 1), "config": config})


def share(right: int, n: int) -> tuple[float, float]:
    return right / n, sqrt(right * (n - right) / n**2 / (n - 1))


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_score_of_none_or_all_right_is_tested_with_the_questions_of_the_other_file(end: float) -> None:
    """poro-34b/step190656/math_0shot.json and math_1shot.json: 7 and 0 of 546."""
    one, other = of_harness_3({"math_precalc": share(abs(7 - round(546 * end)), 546)}), {"math_precalc": end}
    found = compare(one, of_harness_3(other))
    [task] = found.tasks
    assert (task.method, task.is_lent) == ("independent-exact", True)
    assert task.contrast.p == pytest.approx(0.0153, abs=1e-4)  # scipy's fisher_exact((7, 539), (0, 546))
    assert "taken from the other file, as 0 or 100 % does not tell it: math_precalc." in comparison_text(found)
    [back] = compare(of_harness_3(other), one).tasks
    assert (back.method, back.contrast.p) == ("independent-exact", task.contrast.p)
    [cut] = compare(one, of_harness_3(other, limit=10)).tasks  # of how many is not said
    assert (cut.method, cut.is_lent) == ("independent-normal", False)


def test_a_subject_that_is_all_right_leaves_the_mean_over_questions_as_it_is() -> None:
    known = {"hendrycksTest-anatomy": share(60, 135), "hendrycksTest-virology": share(80, 166)}
    whole = of_harness_3({**known, "hendrycksTest-abstract_algebra": share(99, 100)})
    ended = of_harness_3({**known, "hendrycksTest-abstract_algebra": 1.0})  # the catalogue knows that these are 100
    assert [task.counts for run in (whole, ended) for task in run.tasks.values()] == [(239, 401), (240, 401)]


def test_two_means_are_of_one_kind() -> None:
    rows = {"toy_a": (1, 4), "toy_b": (3, 8)}
    data = toys()
    data["group_subtasks"] = {"toy": list(rows)}
    data["n-samples"] = {name: {"original": n, "effective": n} for name, (_, n) in rows.items()}
    data["results"] = {name: {"acc,none": right / n, "acc_stderr,none": 0.1} for name, (right, n) in rows.items()}
    bare = deepcopy(data)
    for name, (right, n) in rows.items():
        data["results"][name]["acc_stderr,none"] = share(right, n)[1]
    pooled, plain = run(data), run(bare)
    assert pooled.tasks["toy"].value == pytest.approx(4 / 12)
    [task] = compare(pooled, plain).tasks
    assert (task.values, task.is_pooled) == ((0.3125, 0.3125), False)
    assert compare(pooled, pooled).tasks[0].is_pooled


def limited(asked: int, original: int = 250) -> dict[str, Any]:
    data = toys(toy_a=1.0, toy_b=0.0, toy_c=1.0)
    data["n-samples"] = {name: {"original": original, "effective": asked} for name in data["results"]}
    return data | {"config": base()["config"] | {"limit": float(asked)}}


def test_that_a_run_was_limited_is_said_first() -> None:
    """mattdepaolis/llm-evaluation `8e6e6b86`: two runs with `limit: 1`."""
    one, few = run(limited(1)), run(limited(20, 300))
    full = "which is not comparable with a full run."
    assert sentence_of(compare(one, one)).startswith(
        f"A and B asked only the first question of each task (3 of 750 in all), {full} "
    )
    assert sentence_of(compare(one, few), "the row there", "the new row").startswith(
        f"The row there asked only the first question of each task (3 of 750 in all), {full} "
        f"The new row asked only the first 20 questions of each task (60 of 900 in all), {full} "
    )
    assert comparison_json(compare(run(toys()), few))["limits"] == [
        None,
        {"least": 20.0, "most": 20.0, "asked": 60, "whole": 900},
    ]
    assert "asked only" not in sentence_of(compare(run(toys()), run(limited(4, 4))))


def test_what_no_test_can_show_of_so_few_questions_is_said_and_is_no_number() -> None:
    one, other = (shares({"a": (right, n), "b": (0.5, 100), "c": (0.0, 1)}) for right, n in ((1 / 3, 3), (2 / 3, 3)))
    said = comparison_text(compare(one, other))
    assert re.search(r"Differences below these would often be missed: b \d\d\.\d\d\.", said)
    assert "Too few questions to show any difference: a, c." in said
    tested = compare(one, other).tasks[1]
    assert tested.smallest == pytest.approx(
        tested.contrast.smallest(LEVEL / 3), rel=1e-9
    )  # as verdicts allow for three
    assert (tested.smallest or 0) > (tested.contrast.smallest() or 0)
    assert "this comparison would often miss any difference." in sentence_of(compare(shares({"c": (0.0, 1)}), one))


def test_equal_means_of_unequal_subtasks_are_no_copy() -> None:
    one, other = toys(toy_a=0.25, toy_b=0.75), toys(toy_a=0.75, toy_b=0.25)
    found = compare(run(one), run(other))
    assert "Equal to the last digit: 1 of 1 task; yet their subtasks differ: toy." in comparison_text(found)
    two = [run(data, "toy_half", "toy_c") for data in (one, other)]
    assert not compare(*two).is_same


def test_plus_minus_is_only_said_of_an_even_interval() -> None:
    [even, uneven] = (
        sentence_of(compare(shares({"a": (0.5, 1000)}), shares({"a": (share, n)})))
        for share, n in ((0.5, 1000), (0.999, 1000))
    )
    assert "they are equal (± 4.37)" in even
    assert re.search(r"is 49\.90 \(95 % interval 46\.\d\d to 5\d\.\d\d\) points higher", uneven)


def perplexities(ppl: float) -> MeasuredRun:
    """lambada_openai of pythia-1.4b in EleutherAI/pythia `a19eecb3`, without its accuracy."""
    data = toys()
    data["results"] = {"toy_a": {"ppl,none": ppl, "ppl_stderr,none": 0.155}}
    return run(data, "toy_a")


def test_a_lower_perplexity_is_no_loss() -> None:
    """The second ppl is that of pythia-2.8b there."""
    better, worse = perplexities(5.04), perplexities(6.09)
    found = compare(worse, better)
    assert (found.tasks[0].conclusion, bool(found.worse()), bool(compare(better, worse).worse())) == (
        "lower",
        False,
        True,
    )
    assert "Less is better: toy_a." in comparison_text(found)
    assert "Metric: ppl of toy_a." in comparison_text(found)
    assert comparison_json(found)["tasks"][0]["metric"] == "ppl,none"


def test_more_of_what_the_file_says_should_be_less_is_a_loss() -> None:
    rows = [{"toy_a": {"toxicity,none": value, "toxicity_stderr,none": 0.001}} for value in (0.1, 0.2)]
    calm, rude = (run(toys() | {"results": row, "higher_is_better": {"toy_a": {"toxicity": False}}}) for row in rows)
    found = compare(calm, rude)
    assert (found.tasks[0].conclusion, bool(found.worse()), bool(compare(rude, calm).worse())) == (
        "higher",
        True,
        False,
    )


@pytest.mark.parametrize(
    ("task", "shares"), [("race", True), ("lighteval|race:high|0", True), ("crows_pairs_english_race_color", False)]
)
def test_only_the_benchmark_race_shares_passages(task: str, shares: bool) -> None:
    """The last is a task of EleutherAI/pythia `a19eecb3`, about pairs of sentences."""
    alone = numbers({task: (0.5, 0.01)})
    assert ("share passages" in comparison_text(compare(alone, alone))) is shares


def test_a_file_with_very_many_arguments_fills_no_page() -> None:
    texts = (",".join(f"k{i}={value}" for i in range(999)) for value in "12")
    one, other = (run(changed(**{"config/model_args": text})) for text in texts)
    found = compare(one, other)
    assert len(found.settings) > 500
    assert "argument k11 and " in sentence_of(found)
    assert len(comparison_text(found).splitlines()) < 120
    assert "\n  and " in comparison_text(found)
    assert "more lines of settings." in comparison_markdown(found)


def test_many_tasks_and_settings_are_shown_by_the_largest() -> None:
    one, other = (numbers({f"t{i}": (0.5 + i * step, 0.001) for i in range(100)}) for step in (0.0, 0.004))
    many = dataclasses.replace(one, of_leaves={"version": {f"t{i}": str(i) for i in range(100)}})
    newer = dataclasses.replace(other, of_leaves={"version": {f"t{i}": f"{i}b" for i in range(100)}})
    text = comparison_text(compare(many, newer))
    assert "… and 40 tasks with smaller differences" in text
    assert "97 other pairs of values in 97 other tasks" in text
    assert ("\nt99 " in text, "\nt0 " in text, len(text.splitlines()) < 90) == (True, False, True)


def test_single_leaves_can_be_named() -> None:
    assert list(run(base(), "leaderboard_musr_team_allocation").tasks) == ["leaderboard_musr_team_allocation"]
    with pytest.raises(CallError, match="has no task nothing"):
        run(base(), "nothing")


@pytest.mark.parametrize(
    ("place", "value", "name"),
    [
        ("n-shot/leaderboard_mmlu_pro", 0, "few-shot examples"),
        ("versions/leaderboard_mmlu_pro", 7.0, "task version"),
        ("chat_template", "{{ messages }}", "chat template"),
        ("system_instruction", "Answer briefly.", "prompt system_instruction"),
        ("config/gen_kwargs", "temperature=1", "generation gen_kwargs"),
        ("config/limit", 50.0, "limit"),
        ("config/model_args", "pretrained=acme/a,enable_thinking=False", "argument enable_thinking"),
        ("config/model_args", "pretrained=acme/a,add_bos_token=True", "argument add_bos_token"),
        ("model_source", "vllm", "backend"),
    ],
)
def test_what_differs_is_named_with_its_effect_beside_the_result(place: str, value: Any, name: str) -> None:
    other = changed(**{place: value})
    if place.startswith("n-shot"):
        other["configs"]["leaderboard_mmlu_pro"]["num_fewshot"] = value
    comparison = compare(run(base()), run(other))
    assert name in named(comparison)
    assert next(one for one in comparison.settings if one.name == name).effect
    sentence = sentence_of(comparison)
    assert name in sentence.partition(". They were measured differently: ")[2]


def test_what_one_file_does_not_record_is_no_difference() -> None:
    assert "backend" in run(base()).of_leaves
    assert compare(run(base()), unsaid()).settings == ()


def unsaid() -> MeasuredRun:
    """The example file, which does not say by what the model was run."""
    result = result_of(base())
    return run_of_results("file", [replace(result, model=replace(result.model, source=""))])


def test_tasks_that_one_run_alone_has_are_counted_where_they_are_many() -> None:
    found = compare(run(toys()), run(toys(**{f"toy_{number}": 0.5 for number in range(8)})))
    said = comparison_text(found).splitlines()[-1]
    assert said == "Only B has toy_0, toy_1, toy_2, toy_3, toy_4, toy_5 and 2 more."


def test_two_runs_without_a_common_task_cannot_be_compared() -> None:
    one, other = run(base(), "leaderboard_mmlu_pro"), run(base(), "leaderboard_ifeval")
    with pytest.raises(CallError, match="no task in common"):
        compare(one, other)


def test_a_number_of_samples_is_no_metric() -> None:
    data = base()
    data["results"]["toy"] = {"alias": "toy", "sample_len": 4, "acc,none": 0.75, "acc_stderr,none": 0.25}
    assert run(data, "toy").tasks["toy"].metric == "acc,none"


def test_a_run_of_few_questions_is_not_comparable() -> None:
    one = shares({"task": (0.5, 1000)})
    other = shares({"task": (0.7, 100)})
    task = compare(one, other).tasks[0]
    assert task.conclusion == "not comparable"
    assert task.why == "only 100 of 1000 questions are shared"


def shares(tasks: dict[str, tuple[float, int]], name: str = "run") -> MeasuredRun:
    """A run of tasks that are right or wrong, from share and number of questions."""
    made = {}
    for task, (share, n) in tasks.items():
        right = round(share * n)
        error = sqrt(right * (n - right) / n**2 / max(1, n - 1))
        made[task] = MeasuredTask(task, right / n, error, "acc", 100.0, (task,), (right, n), samples=n)
    return MeasuredRun(name, {}, made)


def test_half_of_the_questions_are_enough() -> None:
    whole = shares({"task": (0.5, 1000)})
    found = [compare(whole, shares({"task": (0.5, n)})).tasks[0].conclusion for n in (499, 500, 501)]
    assert found == ["not comparable", "not separable", "not separable"]


def test_counts_on_two_scales_are_compared_by_their_errors() -> None:
    one, other = shares({"task": (0.5, 1000)}), shares({"task": (0.4, 1000)})
    wide = MeasuredRun("wide", {}, {"task": msgspec.structs.replace(other.tasks["task"], span=2.0)})
    bare = independent(0.5, 0.4, (one.tasks["task"].stderr or 0.0, other.tasks["task"].stderr or 0.0))
    assert compare(one, wide).tasks[0].contrast.p == bare.p
    assert compare(one, other).tasks[0].contrast.p != bare.p


def test_a_setting_of_one_run_alone_is_no_difference() -> None:
    tasks = shares({"task": (0.5, 1000)}).tasks
    found = compare(MeasuredRun("a", {"backend": "hf"}, tasks), MeasuredRun("b", {}, tasks))
    assert (found.settings, found.equal) == ((), 0)


def test_what_a_tool_writes_down_only_where_it_is_given_is_not_set_elsewhere() -> None:
    plain, told = run(base()), run(changed(system_instruction="Answer briefly."))
    [found] = compare(plain, told).settings
    assert found.values[0] == "(not set)"
    foreign = dataclasses.replace(
        plain,
        sources={leaf: one._replace(result=replace(one.result, format="other")) for leaf, one in plain.sources.items()},
    )
    assert compare(foreign, told).settings == ()  # another tool need not write it down


def test_arguments_of_the_model_differ_but_for_those_that_name_it_or_place_it() -> None:
    """As two files of raniahtr/lm-evaluation-harness 2d60cbef, apart by 11.94 points: one asked for a schema."""
    args = "pretrained=OpenMeditron/Meditron3-8B,base_url=http://localhost:31000"
    schema = "schema_model=schemas.medical_qa_schemas.StrictMultipleChoice"
    placed = "tensor_parallel_size=2,gpu_memory_utilization=0.9,max_num_seqs=64"
    plain, asked = (run(changed(**{"config/model_args": f"{args},{more}"})) for more in (placed, schema))
    [found] = [one for one in compare(plain, asked).settings if one.name.startswith("argument")]
    assert (found.name, found.values[0]) == ("argument schema_model", "(not set)")
    placed = {"model_name": "openrouter/acme/a", "concurrent_requests": 50}  # as lighteval writes both
    assert not any("argument" in name for name in run(changed(**{"config/model_args": placed})).of_leaves)
    odd = {"pretrained": "acme/a", "[x](https://example.org)": "1", "auth_header": "Basic abc"}
    assert not any("argument" in name for name in run(changed(**{"config/model_args": odd})).of_leaves)


def test_an_argument_that_counts_as_absent_is_shown_as_its_file_writes_it() -> None:
    """As two files of hitz-zentroa/latxa: the first names its own tokenizer, the second the same one."""
    own = "pretrained=/models/latxa-7b-v1,tokenizer=/models/latxa-7b-v1,load_in_4bit=False"
    other = "pretrained=/models/latxa-7b-v1.1,tokenizer=/models/latxa-7b-v1,load_in_4bit=True"
    first, same, foreign = (
        run(changed(**{"config/model_args": args}))
        for args in (own, other, other.replace("r=/models/latxa-7b-v1", "r=/models/gpt2"))
    )
    found = {one.name: one.values for one in compare(first, same).settings}
    assert "argument tokenizer" not in found
    assert found["weights load_in_4bit"] == ("False", "True")
    [cut] = [one for one in compare(first, foreign).settings if one.name == "argument tokenizer"]
    assert cut.values == ("/models/latxa-7b-v1", "/models/gpt2")
    assert "other tokens" in cut.effect


def test_names_of_a_machine_are_read_without_the_spaces_around_them() -> None:
    wide = " " * 9_000
    report = f"GPU models and configuration: GPU 0:  NVIDIA A100 \t\nGPU 1: NVIDIA A100{wide}\nGPU 2:{wide}\n"
    assert conditions_of({"pretty_env_info": report}, {}) == {"GPU": "NVIDIA A100"}


def test_batches_libraries_and_machines_are_named_where_no_setting_explains_a_difference() -> None:
    """As two files of facebook/opt-6.7b, and Qwen3-8B in July and in October."""
    told = "PyTorch version: {}\nGPU models and configuration: GPU 0: NVIDIA {}\nGPU 1: NVIDIA {}\n"
    old, new = (
        toys(toy_a=value)
        | {"n-samples": {name: {"original": 1000, "effective": 1000} for name in ("toy_a", "toy_b", "toy_c")}}
        | {"config": {"model_args": "pretrained=acme/a", "batch_size": size, "batch_sizes": sizes}}
        | {"model_name": "acme/a", "transformers_version": release, "pretty_env_info": told.format(torch, gpu, gpu)}
        for value, size, sizes, release, torch, gpu in (
            (0.25, "auto", [8], "4.52.4", "2.6.0", "A100"),
            (0.75, 1, [], "4.57.0", "2.8.0", "A100"),
        )
    )
    found = compare(run(old), run(new))
    assert found.conditions == (
        ("batch size", "auto (8)", "1"), ("transformers", "4.52.4", "4.57.0"), ("PyTorch", "2.6.0", "2.8.0"),
    )  # fmt: skip
    assert found.settings == ()
    assert found.unexplained == ["toy"]
    said = sentence_of(found)
    assert "; what else is recorded differs in batch size auto (8) → 1, transformers 4.52.4 → 4.57.0, Py" in said
    assert "look at code" not in said
    assert [one["name"] for one in comparison_json(found)["conditions"]][:1] == ["batch size"]


@pytest.mark.parametrize(
    ("value", "why"),
    [(float("nan"), "is no number: nan"), ("0.76", "is no number: '0.76'"), (-0.3, "is -0.3, outside of 0 to 1"),
     (7.6e30, "is 7.6e+30, outside of 0 to 1"), (10**400, "is no number: ")],
)  # fmt: skip
def test_a_value_that_no_measurement_gives_is_named_and_takes_no_other_metrics_place(value: Any, why: str) -> None:
    sound, spoiled = toys(), toys()
    for data in (sound, spoiled):
        for row in data["results"].values():
            row["acc_norm,none"] = 0.4
    spoiled["results"]["toy_a"]["acc,none"] = value
    found = compare(run(sound), run(spoiled))
    [task] = [one for one in found.tasks if one.conclusion == "not comparable"]
    assert task.why.startswith(f"acc of toy_a {why}")
    assert [one.id for one in found.tasks] == [*run(sound).tasks]
    assert found.unexplained == []
    assert max(map(len, comparison_text(found).splitlines())) < 300


def test_a_metric_that_orders_a_task_the_other_way_is_named() -> None:
    first, second = toys(toy_c=0.75), toys(toy_c=0.5)
    for data, norm in ((first, 0.4), (second, 0.6)):
        data["results"]["toy_c"]["acc_norm,none"] = norm
    text = comparison_text(compare(run(first, "toy_c"), run(second, "toy_c")))
    assert "By acc_norm the order is the other one: toy_c." in text


def test_one_task_under_two_names_is_hinted_at() -> None:
    """As irakurmena, which later releases of latxa call eus_reading."""

    def named_so(name: str, prompt: str = "{{q}}") -> dict[str, Any]:
        config = {"task": name, "dataset_path": f"HiTZ/{name}", "doc_to_text": prompt, "output_type": "multiple_choice"}
        return {"results": {name: {"acc,none": 0.5, "alias": name}}, "configs": {name: config}, "n-shot": {name: 5},
                "n-samples": {name: {"original": 352, "effective": 352}}}  # fmt: skip

    with pytest.raises(CallError, match="irakurmena and eus_reading are defined alike, of as many questions"):
        compare(run(named_so("irakurmena")), run(named_so("eus_reading")))
    with pytest.raises(CallError, match=r"has eus_reading$"):
        compare(run(named_so("irakurmena")), run(named_so("eus_reading", "{{passage}}")))


def test_a_path_with_a_doubled_slash_names_no_other_model() -> None:
    """As the files of one folder of hitz-zentroa/latxa."""
    first, second = (
        run(changed(model_name=name) | {"config": {}}) for name in ("/gaueko1/eus/Llama-v0", "/gaueko1/eus//Llama-v0/")
    )
    assert compare(first, second).is_one_model


def test_two_models_are_said_before_anything_else() -> None:
    first, second = (run(changed(model_name=f"acme/{name}") | {"config": {}}) for name in ("atlas", "Osprey"))
    assert sentence_of(compare(first, second)).startswith("Two models: A is acme/atlas, B is acme/Osprey. ")
    assert not compare(first, first).are_two_models


def test_prompts_that_differ_by_the_hash_of_the_tool_are_named() -> None:
    """Like math_500 of Llama-3.1-8B-Instruct with and without its chat template, of which lighteval says no more."""

    def hashed(digest: str) -> MeasuredRun:
        key = "lighteval|math_500|0"
        row = {"pass@1": 0.456, "pass@1_stderr": 0.022}
        summary = {key: {"hashes": {"hash_examples": "adf0cc8311011db2", "hash_full_prompts": digest}}}
        file = {"config_general": {"model_name": "acme/a"}, "results": {key: row}, "summary_tasks": summary}
        return run(file)

    [found] = compare(hashed("d1956141eae5922a"), hashed("ef46db3751d8e999")).settings
    assert (found.name, found.values) == ("prompts (by their hash)", ("d1956141eae5922a", "ef46db3751d8e999"))
    assert "chat template" in found.effect
    assert compare(hashed("d1956141eae5922a"), hashed("d1956141eae5922a")).settings == ()


def test_what_neither_file_records_is_not_counted_as_equal() -> None:
    assert compare(unsaid(), unsaid()).equal == compare(run(base()), run(base())).equal - len(run(base()).tasks)


def test_a_task_that_is_not_comparable_makes_no_other_less_clear() -> None:
    one, other = shares({"a": (0.5, 1000), "b": (0.5, 1000)}), shares({"a": (0.7, 100), "b": (0.45, 1000)})
    few, clear = compare(one, other).tasks
    assert (few.conclusion, few.p_adjusted) == ("not comparable", None)
    assert clear.p_adjusted == clear.contrast.p


# ---- rows of a board ----


def column(*leaves: tuple[float, int | None, str], score: float | None, **more: Any) -> TaskScore:
    """A column with its score, of leaves with these raw values, numbers of samples and lower bounds."""
    made = [
        LeafScore(f"leaf_{place}", "acc,none", samples, raw, None, low, "1", None, "a.json")
        for place, (raw, samples, low) in enumerate(leaves)
    ]
    return TaskScore("task", "Task", None, score, 1.0, tuple(made), **more)


def measured(task: TaskScore) -> MeasuredTask:
    return run_of_scores("row", [task], {}, {}).tasks["task"]


def test_a_question_with_several_metrics_counts_once() -> None:
    """Like IFEval, where one metric counts 541 prompts, and the other the 834 instructions in them."""

    def of(prompts: int | None, instructions: int | None) -> MeasuredTask:
        whole = column((0.5, prompts, "0"), (0.6, instructions, "0"), score=55.0)
        return measured(replace(whole, leaves=tuple(replace(leaf, id="ifeval") for leaf in whole.leaves)))

    assert [of(541, 834).samples, of(100, None).samples, of(None, None).samples] == [541, 100, None]
    few = [MeasuredRun("x", {}, {"task": of(*counts)}, {}) for counts in ((541, 834), (100, None))]
    assert compare(*few).tasks[0].why == "only 100 of 541 questions are shared"


def test_a_column_of_one_leaf_counts_its_right_answers_in_points_of_its_range() -> None:
    one = measured(column((0.7, 100, "1/4"), score=60.0))
    assert (one.value, one.counts, one.span, one.samples, one.weights) == (60.0, (70, 100), 100 / 0.75, 100, ())
    at_the_bound = measured(column((0.25, 100, "1/4"), score=0.0))
    assert (at_the_bound.value, at_the_bound.counts, at_the_bound.weights) == (0.0, (25, 100), ())
    share = column((0.7, 100, "0"), score=70.0)
    assert measured(replace(share, leaves=(replace(share.leaves[0], metric="mc2,none"),))).counts is None
    clipped = measured(column((0.2, 100, "1/4"), score=0.0))
    assert (clipped.counts, clipped.weights) == (None, None)


def test_leaves_of_a_column_are_worth_alike_or_by_their_questions_whichever_gives_the_score() -> None:
    leaves = (0.5, 100, "1/4"), (0.6, 300, "0")
    alike = measured(column(*leaves, score=(100 / 3 + 60.0) / 2))
    assert alike.weights == pytest.approx((100 / 0.75 / 2, 50.0))
    by_questions = measured(column(*leaves, score=100 / 3 / 4 + 60.0 * 3 / 4))
    assert by_questions.weights == pytest.approx((100 / 0.75 / 4, 75.0))
    assert (by_questions.counts, by_questions.samples) == (None, 400)
    assert measured(column(*leaves, score=50.0)).weights is None
    near = measured(column((0.5, 100, "0"), (0.51, 300, "0"), score=50.75))
    assert near.weights == (25.0, 75.0)  # the plain mean is 50.5
    assert measured(column((0.25, 100, "1/4"), (0.0, 300, "0"), score=0.0)).weights == alike.weights
    assert measured(column(*leaves, score=(100 / 3 + 60.0) / 2, nested=True)).weights is None
    unknown = measured(column((0.5, None, "1/4"), (0.6, 300, "0"), score=(100 / 3 + 60.0) / 2))
    assert (unknown.samples, unknown.weights) == (None, alike.weights)


def test_a_column_of_two_metrics_has_no_weights_and_names_both() -> None:
    task = column((0.5, 100, "0"), (0.6, 100, "0"), score=55.0)
    assert measured(task).weights == (50.0, 50.0)
    first, second = task.leaves
    both = measured(replace(task, leaves=(first, replace(second, metric="em"))))
    assert (both.weights, both.metric) == (None, "acc,none and em")


def test_only_columns_with_a_score_are_compared_and_one_that_is_asked_for_must_have_one() -> None:
    hole = replace(column((0.5, 100, "0"), score=None), id="hole")
    tasks = [column((0.7, 100, "0"), score=70.0), replace(column((0.5, 100, "0"), score=50.0), id="other"), hole]
    assert list(run_of_scores("row", tasks, {}, {}).tasks) == ["task", "other"]
    assert list(run_of_scores("row", tasks, {}, {}, ["other"]).tasks) == ["other"]
    with pytest.raises(CallError, match="row has no score of hole"):
        run_of_scores("row", tasks, {}, {}, ["other", "hole"])


@pytest.mark.parametrize(("p", "conclusion"), [(LEVEL, "not separable"), (LEVEL - 1e-9, "higher")])
def test_a_difference_counts_where_p_is_below_the_level(p: float, conclusion: str) -> None:
    one, other = (shares({"task": (share, 100)}) for share in (0.5, 0.6))
    contrast = Contrast(0.1, 0.05, p, lambda _: (0.0, 0.2))
    [task] = compare(one, other, {"task": Pairs(contrast, "paired-t", 100, 100)}).tasks
    assert (task.p_adjusted, task.conclusion) == (p, conclusion)


def test_nothing_is_said_of_chance_where_a_task_is_not_comparable_nor_of_the_average_with_it() -> None:
    one, other = shares({"a": (0.5, 1000), "b": (0.5, 1000)}), shares({"a": (0.6, 100), "b": (0.3, 1000)})
    report = comparison_json(compare(one, other))
    task, clear, average = *report["tasks"], report["average"]
    for each in (task, average):
        assert each["verdict"] == "not comparable"
        assert {each[name] for name in ("stderr", "interval", "p", "p_adjusted", "smallest")} == {None}
    assert clear["p"] is not None
    assert (average["difference"], average["why"]) == (
        pytest.approx(-0.05), "a: only 100 of 1000 questions are shared",
    )  # fmt: skip


def test_each_task_names_its_own_test_and_the_average_is_made_of_them() -> None:
    one = shares(dict.fromkeys("ab", (0.5, 100)))
    bare = numbers({"c": (0.5, 0.05)})
    run = dataclasses.replace(one, tasks={**one.tasks, **bare.tasks})
    found = compare(run, run, {"a": Pairs(paired_exact(40, 10, 10, 40), "paired-exact", 100, 100)})
    assert [task.method for task in found.tasks] == ["paired-exact", "independent-exact", "independent-normal"]
    assert found.average is not None
    assert found.average.method == "mean-of-tests"
    assert [line for line in comparison_text(found).splitlines() if line.startswith("Test: ")] == [
        "Test: McNemar's, of paired right answers: a (100 pairs).",
        "Test: Fisher's, of right answers: b.",
        "Test: normal, by the standard errors of the files: c.",
    ]
    assert "Test: Fisher's, of right answers: all tasks." in comparison_text(compare(one, one))


def numbers(tasks: dict[str, tuple[float, float | None]], points: float = 100.0) -> MeasuredRun:
    """A run of tasks that are no plain shares, from value and standard error."""
    made = {task: MeasuredTask(task, value, error, "acc", points, (task,)) for task, (value, error) in tasks.items()}
    return MeasuredRun("run", {}, made)


@pytest.mark.parametrize("errors", [(None, 0.01), (0.01, None), (None, None)])
def test_an_average_says_nothing_of_chance_where_a_task_has_no_error(errors: tuple[float | None, float | None]) -> None:
    one, other = (
        numbers({"known": (value, 0.01), "unknown": (value, error)})
        for value, error in zip((0.5, 0.9), errors, strict=True)
    )
    comparison = compare(one, other)
    known, unknown = comparison.tasks
    assert (known.conclusion, known.p_adjusted) == ("higher", known.contrast.p)
    assert (unknown.conclusion, unknown.contrast.stderr, unknown.smallest) == ("not tested", None, None)
    average = comparison.average
    assert average is not None
    assert (average.conclusion, average.contrast.p) == ("not tested", None)
    unknown_error = "1 of 2 tasks has no standard error, so the average has none"
    assert f"40.00 points higher than A on the average of 2 tasks; {unknown_error}" in sentence_of(comparison)
    assert json.dumps(comparison_json(comparison), allow_nan=False)


def test_a_comparison_without_any_error_says_that_no_task_was_tested() -> None:
    """As of the MTEB files in results/ of marcelohaps/mteb_benchmark d34e0432."""
    one, other = (numbers({"a": (value, None), "b": (value, None)}) for value in (0.5, 0.6))
    assert sentence_of(compare(one, other)) == (
        "B is 10.00 points higher than A on the average of 2 tasks; the files give no standard error."
        " No task could be tested."
    )


def test_an_interval_without_zero_that_is_not_separable_is_explained() -> None:
    """As multi_turn_base, of 16 tasks: bbrowning/bfcl-vllm-results f98223ae, 2025-11-12-main and -harmony-fixes."""
    said = "only p allows for the number of tasks."
    one, other = ({"a": (share, 200), **dict.fromkeys("bcdefgh", (0.5, 200))} for share in (0.5, 0.62))
    assert said in comparison_text(compare(shares(one), shares(other)))
    assert said not in comparison_text(compare(shares({"a": one["a"]}), shares({"a": other["a"]})))


def test_a_margin_is_in_points() -> None:
    found = compare(shares({"task": (0.5, 1000)}), shares({"task": (0.4, 1000)}))
    assert [bool(found.worse(margin)) for margin in (0.0, 0.2, 9.9, 10.1)] == [True, True, True, False]
    little = compare(numbers({"task": (0.5, 0.001)}), numbers({"task": (0.495, 0.001)}))
    assert (bool(little.worse()), bool(little.worse(1.0))) == (True, False)
    exact = compare(shares({"task": (0.75, 1000)}), shares({"task": (0.5, 1000)}))
    assert [bool(exact.worse(margin)) for margin in (24.9, 25.0)] == [True, False]  # by more than the margin
    row, other = (run_of_scores("row", [column((raw, 1000, "0"), score=100 * raw)], {}, {}) for raw in (0.75, 0.5))
    assert [bool(compare(row, other).worse(margin)) for margin in (24.9, 25.0)] == [True, False]  # scores are points
    assert not compare(shares({"task": (0.4, 1000)}), shares({"task": (0.5, 1000)})).worse()
    assert not compare(shares({"task": (0.5, 1000)}), shares({"task": (0.49, 1000)})).worse()
    whole = compare(numbers({"task": (5.0, 0.1)}, 0.0), numbers({"task": (3.5, 0.1)}, 0.0))
    assert [bool(whole.worse(margin)) for margin in (1.4, 1.6)] == [
        True,
        False,
    ]  # of a number that is no share, its unit


def test_an_average_can_be_lower_where_no_task_is() -> None:
    one, other = (numbers(dict.fromkeys("abcd", (value, 0.02))) for value in (0.5, 0.46))
    found = compare(one, other)
    assert {task.conclusion for task in found.tasks} == {"not separable"}
    assert found.average is not None
    assert found.average.values == pytest.approx((0.5, 0.46))
    assert (found.average.conclusion, bool(found.worse())) == ("lower", True)


def test_tasks_of_two_scales_have_no_average() -> None:
    one = MeasuredRun("run", {}, {**numbers({"a": (0.5, 0.1)}).tasks, **numbers({"b": (5.0, 0.1)}, 0.0).tasks})
    assert compare(one, one).average is None
    assert compare(numbers({"a": (5.0, 0.1)}, 0.0), numbers({"a": (5.0, 0.1)}, 0.0)).average is None


def test_a_metric_of_harness_3_is_the_same_in_harness_4() -> None:
    config = {"model": "hf-causal", "model_args": "pretrained=acme/a", "num_fewshot": 0, "no_cache": True}
    row = {"acc_norm": 0.5, "acc_norm_stderr": 0.0316}
    old = {"results": {"leaderboard_musr_murder_mysteries": row}, "versions": {}, "config": config}
    [task] = compare(run(old), run(base(), "leaderboard_musr_murder_mysteries")).tasks
    assert (task.conclusion, task.why) == ("higher", "")


def test_a_mean_over_other_subtasks_is_said_before_the_result() -> None:
    data = base()
    for part in "results", "configs", "versions", "n-shot", "n-samples":
        del data[part]["leaderboard_bbh_snarks"]
    data["group_subtasks"]["leaderboard_bbh"].remove("leaderboard_bbh_snarks")
    found = compare(run(base()), run(data))
    [differing] = found.settings
    assert (differing.name, differing.values) == (
        "subtasks",
        ("24 subtasks, with leaderboard_bbh_snarks", "23 subtasks"),
    )
    assert ". They were measured differently: subtasks (in 1 of 6 tasks). Task by task, " in sentence_of(found)
    assert compare(run(base()), run(base())).settings == ()


def test_tasks_that_one_run_alone_has_are_named() -> None:
    one, other = (shares(dict.fromkeys(names, (0.5, 100))) for names in ("abc", "bd"))
    assert compare(one, other).only == (("a", "c"), ("d",))


def test_a_setting_that_makes_other_numbers_of_it_is_the_reason_for_no_test() -> None:
    one, other = (
        dataclasses.replace(shares({"a": (0.5, 100), "b": (0.5, 100)}), of_leaves={"implementation": {"a": name}})
        for name in ("letters", "answers")
    )
    broken, sound = compare(one, other).tasks
    assert (broken.conclusion, broken.why) == ("not comparable", "other answers are scored")
    assert (sound.conclusion, sound.why) == ("not separable", "")


def test_settings_that_are_equal_are_counted() -> None:
    tasks = shares({"a": (0.5, 100), "b": (0.5, 100)}).tasks
    one = MeasuredRun("one", {"precision": "x", "limit": "none"}, tasks, {"version": {"a": "1", "b": "1"}})
    other = MeasuredRun("other", {"precision": "x", "limit": "10"}, tasks, {"version": {"a": "1", "b": "2"}})
    assert compare(one, one).equal == 4
    found = compare(one, other)
    assert (found.equal, {each.name: each.tasks for each in found.settings}) == (
        2, {"limit": ("a", "b"), "task version": ("b",)},
    )  # fmt: skip
    unsaid = dataclasses.replace(one, of_leaves={"version": {"a": "1"}})
    assert compare(one, unsaid).settings == ()


def test_paired_leaves_count_by_their_weights() -> None:
    task = MeasuredTask("task", 0.5, 0.05, "acc", 100.0, ("a", "b"), weights=(75.0, 25.0))
    other = msgspec.structs.replace(task, value=0.5 + 75 * 0.2)
    first, second = (MeasuredRun("run", {}, {"task": one}) for one in (task, other))
    parts = (paired_exact(40, 0, 20, 40), paired_exact(40, 10, 10, 40))
    pairs = Pairs(parts[0], "paired-exact", 200, 200, parts=parts)
    [found] = (compared := compare(first, second, {"task": pairs})).tasks
    assert "Test: McNemar's, of paired right answers of each subtask: task (200 pairs)." in comparison_text(compared)
    assert found.contrast.difference == pytest.approx(75 * parts[0].difference + 25 * parts[1].difference)
    assert (found.method, found.pairs) == ("paired-exact", pairs)


@pytest.mark.parametrize("seed", range(20))
def test_the_sentence_follows_the_numbers(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(50):
        names = [f"task{place}" for place in range(draw.randrange(1, 7))]
        n = draw.choice([30, 100, 1000])
        one = shares({name: (draw.random(), n) for name in names})
        shift = draw.choice([0, 0, 0.05, -0.2])
        other = shares({name: (min(1, max(0, task.value + shift)), n) for name, task in one.tasks.items()})
        comparison = compare(one, other)
        whole, sentence = comparison.average, sentence_of(comparison)
        assert whole is not None
        is_clear = whole.contrast.p is not None and whole.contrast.p < LEVEL
        assert ("chance alone does not explain this" in sentence) == is_clear
        if is_clear:
            assert ("higher than A" in sentence) == (whole.contrast.difference > 0)
        for task in comparison.tasks:
            assert (task.conclusion in {"higher", "lower"}) == (task.p_adjusted is not None and task.p_adjusted < LEVEL)


def test_an_interval_that_is_too_uneven_for_one_number_is_told_by_its_ends() -> None:
    few = compare(shares({"arc": (1.0, 3)}), shares({"arc": (1 / 3, 3)}))
    low, high = few.tasks[0].contrast.interval(LEVEL)
    assert low < -2 / 3 < 0 <= high
    assert few.tasks[0].conclusion == "not separable"
    sentence = sentence_of(few)
    assert (
        f"B is 66.67 (95 % interval {-100 * high:.2f} to {-100 * low:.2f}) points lower than A, which may" in sentence
    )


def test_a_setting_that_differs_in_some_tasks_says_in_how_many() -> None:
    run = shares(dict.fromkeys("abcd", (0.5, 100)))
    leaves = {leaf: "hf" for task in run.tasks.values() for leaf in task.leaves}
    first = next(iter(leaves))
    for changed, said in (((first,), "backend (in 1 of 4 tasks)."), (tuple(leaves), "backend. ")):
        other = leaves | dict.fromkeys(changed, "vllm")
        one, two = (dataclasses.replace(run, of_leaves={"backend": each}) for each in (leaves, other))
        assert f"They were measured differently: {said}" in sentence_of(compare(one, two))


@pytest.mark.parametrize("seed", range(10))
def test_where_two_runs_were_measured_otherwise_the_second_sentence_says_in_what(seed: int) -> None:
    draw = random.Random(seed)
    known = {one.setting: one for one in effects()}
    for _ in range(50):
        runs = []
        for share in (draw.random(), draw.random()):
            run = shares({"a": (share, 1000), "b": (draw.random(), 1000)})
            settings = {
                name: draw.choice("xy") for name in ("chat template", "limit", "precision", "harness", "backend")
            }
            leaves = {
                name: {"a": draw.choice("xy"), "b": "x"} for name in ("version", "num_fewshot", "until", "samples")
            }
            runs.append(dataclasses.replace(run, settings=settings, of_leaves=leaves))
        differing = [name for name in known if runs[0].settings.get(name) != runs[1].settings.get(name)]
        differing += [name for name in known if runs[0].of_leaves.get(name) != runs[1].of_leaves.get(name)]
        sentence = sentence_of(compare(*runs))
        *_, said = sentence.partition(". They were measured differently: ")
        assert bool(said) == bool(differing)
        assert all(known[name].title in said.partition(". ")[0] for name in differing)


def test_every_effect_has_a_source() -> None:
    assert all(one.what and one.source for one in effects())


def test_text_markdown_and_json_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    del monkeypatch
    other = changed(model_source="vllm")
    comparison = compare(run(base()), run(other))
    sentence = sentence_of(comparison)
    assert sentence in comparison_text(comparison)
    assert sentence in comparison_markdown(comparison)
    for equal in comparison_text(comparison), comparison_markdown(comparison):
        assert f"{comparison.equal} other settings equal." in equal
    report = comparison_json(comparison)
    assert report["sentence"] == sentence
    assert report["schema"] == "leaderboard-bot/compare/1"
    assert [one["id"] for one in report["tasks"]] == [one.id for one in comparison.tasks]
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_json_has_each_fact_of_the_sentence_as_a_field_of_its_own() -> None:
    other = changed(model_source="vllm")
    report = comparison_json(comparison := compare(run(base()), run(other)))
    named = {one["name"] for one in report["settings"] if one["explains"]}
    said = report["sentence"].partition("They were measured differently: ")[2].partition(".")[0]
    assert named == {part.partition(" (in ")[0] for part in said.split(", ") if part}
    assert named
    assert report["only"] == [[], []]
    assert report["is_same"] is True
    assert report["unexplained"] == comparison.unexplained
    assert report["over_tasks"] is None  # the average has an error


def test_json_has_the_test_over_tasks_where_the_average_has_no_error() -> None:
    runs = [
        dataclasses.replace(
            found := run(base()),
            tasks={
                name: replace(task, stderr=None, counts=None, value=task.value + shift)
                for name, task in found.tasks.items()
            },
        )
        for shift in (0.0, 0.01)
    ]
    comparison = compare(*runs)
    count = len(comparison.tasks)
    tested = {"side": "higher", "wins": count, "tasks": count, "same": 0, "p": 2 * 0.5**count, "verdict": "higher"}
    assert comparison_json(comparison)["over_tasks"] == pytest.approx(tested)
    assert f"over tasks it is higher in {count} of {count}: more than chance" in sentence_of(comparison)
    names = list(runs[0].tasks)
    again = [
        dataclasses.replace(one, tasks={**one.tasks, "again": replace(one.tasks[names[0]], id="again")}) for one in runs
    ]
    comparison = compare(*again)
    assert comparison_json(comparison)["over_tasks"] == pytest.approx({**tested, "same": 1})
    assert f"higher in {count} of {count} (1 more has the numbers of one of them): more" in sentence_of(comparison)


def test_without_errors_the_tasks_decide_and_the_chance_in_the_questions_stands_beside_it() -> None:
    values = [
        [share + task / 1000 for task, share in enumerate(one)] for one in ((0.6,) * 7, (0.55,) * 4 + (0.61,) * 3)
    ]
    bare = [
        dataclasses.replace(made, tasks={name: replace(task, stderr=None) for name, task in made.tasks.items()})
        for one in values
        for made in [shares(dict(zip("abcdefg", ((share, 1000) for share in one), strict=True)))]
    ]
    comparison = compare(*bare[::-1])
    assert sentence_of(comparison) == (
        "B is 2.43 points higher than A on the average of 7 tasks; the files give no standard error; over tasks it is "
        "higher in 4 of 7: not more than chance (p = 1.000). Chance in the questions alone, 2.43 ± 1.64 points by "
        "their answers, does not explain this."
    )
    assert comparison_json(comparison)["over_tasks"]["verdict"] == "not separable"


def test_hostile_names_stay_text() -> None:
    data = deepcopy(base())
    data["results"]["x|`::error::`"] = {"alias": "x", "acc,none": 0.5, "acc_stderr,none": 0.05}
    comparison = compare(run(data), run(data))
    assert "\n::error" not in comparison_markdown(comparison)


EVIL = "\x1b[31m\n::error::x\u202e|<script>`@octocat [a](https://evil.example)"


def test_names_and_answers_of_strangers_are_no_markup_and_move_no_cursor() -> None:
    found = compare(run(base()), run(base()))
    pairs = Pairs(paired_exact(1, 1, 1, 1), "paired-exact", 4, 4, (1, 1, 1, 1), ((EVIL, EVIL, EVIL),), EVIL)
    one = dataclasses.replace(found.tasks[0], id=EVIL, pairs=pairs)
    average = dataclasses.replace(one, conclusion="not comparable", why=f"other metrics: {EVIL} and b")
    setting = SettingDifference(EVIL, (EVIL, "b"), (EVIL,), "")
    found = dataclasses.replace(
        found, first=EVIL, second=EVIL, settings=(setting,), tasks=(one, one), average=average, only=((EVIL,), (EVIL,))
    )

    text, markdown = comparison_text(found), comparison_markdown(found)
    assert all(letter.isprintable() for letter in (text + markdown).replace("\n", ""))
    assert "\n::" not in text + markdown
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown)
    assert "<script" not in page
    assert "<a " not in page
    assert "@octocat" not in re.sub(r"`[^`]*(``?[^`]+)*`", "", markdown)
    assert {line.count("|") - line.count("\\|") for line in markdown.splitlines() if line.startswith("|")} <= {6, 8}


@pytest.mark.parametrize(
    ("row", "samples"),
    [
        ({"acc,none": 1e308, "acc_stderr,none": 1e308}, 12_032),
        ({"acc,none": 0.5, "acc_stderr,none": 1e-9}, None),
        ({"acc,none": 0.5, "acc_stderr,none": "N/A"}, 10**15),
        ({"acc,none": 10**400}, 12_032),
        ({"acc,none": -3.0, "acc_stderr,none": -1.0}, 0),
    ],
)
def test_impossible_numbers_neither_crash_nor_take_long(row: dict[str, Any], samples: int | None) -> None:
    data = base()
    data["results"]["leaderboard_mmlu_pro"] |= row
    data["n-samples"].pop("leaderboard_mmlu_pro")
    if samples is not None:
        data["n-samples"]["leaderboard_mmlu_pro"] = {"original": samples, "effective": samples}
    comparison = compare(run(base()), run(data))
    assert comparison_text(comparison)
    assert json.dumps(comparison_json(comparison), allow_nan=False)


@needs_reference
def test_two_implementations_of_mmlu_are_not_comparable() -> None:
    folder = Path(REFERENCE)
    old = (folder / "lm_eval_old" / "llama-7B_mmlu_5-shot.json").read_bytes()
    new = next((folder / "openllm_v1").glob("HenryJJ*/*.json")).read_bytes()
    comparison = compare(run(old), run(new))
    assert named(comparison)[0] == "MMLU implementation"
    assert "not comparable: other answers are scored" in sentence_of(comparison)


@needs_reference
@pytest.mark.parametrize("value", ["1/0", [[]], None, {"a": 1}])
def test_a_known_group_of_which_a_leaf_has_no_number_is_no_task(value: object) -> None:
    """A leaf whose first metric is no number is compared by its second, and then its group has two metrics."""
    data = json.loads((Path(REFERENCE) / "lm_eval_old" / "llama-7B_mmlu_5-shot.json").read_bytes())
    data["results"]["hendrycksTest-virology"]["acc"] = value
    broken = run(data)
    assert "hendrycksTest" not in broken.tasks
    assert broken.tasks["hendrycksTest-virology"].metric == "acc_norm"
    with pytest.raises(CallError, match="has no task hendrycksTest"):
        run(data, "hendrycksTest")


@needs_reference
def test_mmlu_of_harness_3_is_one_task() -> None:
    folder = Path(REFERENCE) / "lm_eval_old"
    files = [(folder / f"{name}_mmlu_5-shot.json").read_bytes() for name in ("llama-7B", "mpt-7b")]
    comparison = compare(*map(run, files))
    assert [one.id for one in comparison.tasks] == ["hendrycksTest"]
    assert comparison.tasks[0].contrast.difference == pytest.approx(-0.0318, abs=5e-5)


def test_mmlu_of_harness_3_is_compared_with_that_of_harness_4_by_its_implementation() -> None:
    old = run_of_results("old", [result_of(harness_3(f"hendrycksTest-{name}", "acc", 60, 120)) for name in SUBJECTS])
    data = base()
    row = {"acc,none": 0.5, "acc_stderr,none": 0.0458}
    data |= {"results": {f"mmlu_{name}": row for name in SUBJECTS}, "groups": {}, "n-samples": {}, "n-shot": {}}
    data |= {"group_subtasks": {"mmlu": list(data["results"])}, "versions": dict.fromkeys(data["results"], 1.0)}
    data["configs"] = {key: {"task": key} for key in data["results"]}
    found = compare(old, run(data))
    assert [one.id for one in found.tasks] == ["hendrycksTest"]
    assert "subtasks" not in named(found)
    assert named(found)[0] == "MMLU implementation"


def test_truthfulqa_of_harness_3_is_compared_with_that_of_harness_4() -> None:
    """As in saucam/model_evals: `truthfulqa_mc` and `truthfulqa_mc2` of one model are equal to the last digit."""
    old, data = harness_3("truthfulqa_mc", "mc2", 335, 817), base()
    data |= {"results": {}, "groups": {}, "group_subtasks": {}, "n-samples": {}, "n-shot": {}}
    for name, value in (("truthfulqa_mc1", 0.29), ("truthfulqa_mc2", 335 / 817)):
        data["results"][name] = {"acc,none": value, "acc_stderr,none": 0.0143}
    data |= {
        "versions": dict.fromkeys(data["results"], 2.0),
        "configs": {key: {"task": key} for key in data["results"]},
    }
    found = compare(run(old), run(data))
    [task] = found.tasks
    assert (task.id, task.metric, task.why) == ("truthfulqa_mc", "mc2", "")
    assert task.values[0] == pytest.approx(task.values[1])
    assert found.only == ((), ("truthfulqa_mc1",))


def subjects(commit: str, version: str, right: int, **rows: dict[str, float]) -> dict[str, Any]:
    """Two subjects of MMLU by harness 0.4 at a commit, like JL-er/lm-evaluation-harness-results, with other tasks."""
    data, share = base(), right / 120
    row = {"acc,none": share, "acc_stderr,none": sqrt(share * (1 - share) / 119)}
    data |= {"results": {**{f"mmlu_{name}": row for name in SUBJECTS}, **rows}, "groups": {}, "n-samples": {}}
    data |= {"group_subtasks": {"mmlu": [f"mmlu_{name}" for name in SUBJECTS]}, "n-shot": {}, "git_hash": commit}
    data |= {"versions": dict.fromkeys(data["results"], 1.0), "lm_eval_version": version}
    return data | {"configs": {key: {"task": key} for key in data["results"]}}


def test_letters_of_mmlu_that_differ_by_a_line_break_of_the_prompt_are_compared() -> None:
    found = compare(run(subjects("3fa4fd7", "0.4.3", 60)), run(subjects("bdd4af0", "0.4.8", 61)))
    assert (found.tasks[0].why, found.tasks[0].conclusion) == ("", "not separable")
    line = next(one for one in found.settings if one.name.startswith("line breaks"))
    assert (line.values, line.breaks) == (("one", "two"), False)
    assert "letters are scored in both" in line.effect
    assert "MMLU implementation" not in named(found)


def test_which_task_is_not_comparable_is_said_and_the_others_are_counted() -> None:
    one, other = run(toys(toy_a=0.25, toy_b=0.5), "toy_a", "toy_b"), run(toys("toy_a"), "toy_a", "toy_b")
    why = "toy_a: other metrics: acc and exact_match"
    said = f"1 of 2 tasks is not comparable ({why}), so the averages are not."
    assert sentence_of(compare(one, other)) == f"{said} Task by task, B is not separable in 1, not comparable in 1."


def test_equal_compared_numbers_are_no_copy_where_others_differ_and_equal_tasks_are_counted() -> None:
    """Like negotiationtom_intention of Qwen3-8B, whose two runs differ in its F1 alone."""
    rows = {"toy_a": {"exact_match,none": 0.2}, "toy_b": {"acc,none": 0.45}}
    row = {"toy_a": {**rows["toy_a"], "micro_f1,none": 0.30188, "micro_f1_stderr,none": "N/A"}}
    again = {"toy_a": {**rows["toy_a"], "micro_f1,none": 0.28571, "micro_f1_stderr,none": "N/A"}}
    one, other, third = (
        run(toys() | {"results": rows | of, "group_subtasks": {}, "n-samples": {}})
        for of in (row, again, {"toy_a": {**row["toy_a"], "exact_match,none": 0.3}})
    )
    assert compare(one, one).is_same
    said = "A and B are equal in the metrics compared, and differ in others: micro_f1 of toy_a."
    assert sentence_of(compare(one, other)) == said
    assert "Equal to the last digit: 1 of 2 tasks." in comparison_text(compare(one, third))


@pytest.mark.parametrize(("metric", "points"), [("mean_time", 0.0), ("num_turns", 0.0), ("helpfulness", 100.0)])
def test_a_time_or_a_count_is_no_share(metric: str, points: float) -> None:
    data = toys() | {"results": {"toy": {f"{metric},none": 0.5}}, "group_subtasks": {}, "n-samples": {}}
    assert run(data).tasks["toy"].points == points


def test_the_unit_is_that_of_the_metric_and_not_of_the_sign() -> None:
    rows = {"cola": {"mcc,none": -0.0041, "mcc_stderr,none": 0.03}, "toy": {"acc,none": 0.5, "acc_stderr,none": 0.02}}
    rows |= {"lambada": {"perplexity,none": 0.9, "perplexity_stderr,none": 0.1}}
    data = toys() | {"results": rows, "group_subtasks": {}, "n-samples": {}}
    assert {one.id: one.points for one in run(data).tasks.values()} == {"cola": 100.0, "toy": 100.0, "lambada": 0.0}
    one, other = run(data, "cola", "toy"), run(data | {"results": {**rows, "cola": {"mcc,none": 0.01}}}, "cola", "toy")
    average = compare(one, other).average
    assert average is not None
    assert average.values == pytest.approx((0.24795, 0.255))


def test_a_benchmark_is_one_task_whatever_two_formats_call_it() -> None:
    rows = {"harness|arc:challenge|25": {"acc_norm": 0.54, "acc_norm_stderr": 0.0145}}
    first = json.dumps({"results": rows, "versions": {}, "config_general": {"model_name": "acme/a"}}).encode()
    found = compare(run(first), run(harness_3("arc_challenge", "acc_norm", 480, 1172)))
    assert [(one.id, one.conclusion) for one in found.tasks] == [("arc:challenge", "lower")]


def harness_3(task: str, metric: str, right: int, asked: int) -> bytes:
    """A file of harness 0.3, which writes one for each call and no groups."""
    share = right / asked
    error = sqrt(share * (1 - share) / (asked - 1))
    row = {metric: share, f"{metric}_stderr": error}
    config = {"model": "hf-causal", "model_args": "pretrained=acme/a", "num_fewshot": 5, "no_cache": False}
    return json.dumps({"results": {task: row}, "versions": {task: 0}, "config": config}).encode()


def test_a_group_of_the_catalogue_has_each_question_once_however_many_files_the_run_has() -> None:
    """chujiezheng/LLM-Extrapolation `04e04f59`, `results_lmeval`: six files for each model, of which one is MMLU."""
    subjects = [f"hendrycksTest-{name}" for name in SUBJECTS]
    mmlu = [harness_3(subject, "acc", 60, 120) for subject in subjects]
    others = [harness_3(task, "acc", 60, 120) for task in ("winogrande", "gsm8k")]
    alone, among = (run_of_results("run", [result_of(one) for one in files]) for files in (mmlu, [*mmlu, *others]))
    assert among.tasks["hendrycksTest"].counts == (120, 240)
    assert among.tasks["hendrycksTest"] == alone.tasks["hendrycksTest"]
    assert compare(alone, among).tasks[0].conclusion == "not separable"
