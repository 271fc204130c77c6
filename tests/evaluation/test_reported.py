"""Which reading of a result gives a reported number: published scores, the questions people asked, and chance."""

from __future__ import annotations

import json
import os
import random
import re
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from bot.errors import CallError
from bot.evaluation.compare import compare, run_of_results
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.reported import Readings, parse_reported, read_reported, with_settings
from bot.evaluation.score import Scores
from bot.evaluation.submission import parse_submission
from bot.evaluation.verdict import Judgement
from bot.reporting.comparison import reported_text
from tests.evaluation.inspect_logs import header, score
from tests.evaluation.judging import EXAMPLES, base, declared

COLUMNS = {
    "IFEval": "ifeval",
    "BBH": "bbh",
    "MATH Lvl 5": "math",
    "GPQA": "gpqa",
    "MUSR": "musr",
    "MMLU-PRO": "mmlu_pro",
}
REFERENCE = os.environ.get("LEADERBOARD_BOT_REFERENCE", "")
needs_reference = pytest.mark.skipif(not REFERENCE, reason="LEADERBOARD_BOT_REFERENCE is not set")


def judged(data: bytes, leaderboard: str = "open-llm-v2") -> Judgement:
    parsed = parse_submission("results.json", {"": data})
    return judge_all([parsed], declared(leaderboard))


def asked(judgement: Judgement, text: str, task: str = "") -> Readings:
    results = {verdict.path: verdict.result for verdict in judgement.verdicts if verdict.result is not None}
    scores = judgement.rows[0].scores if judgement.rows else Scores(None, ())
    found = read_reported(results, scores, judgement.leaderboard, parse_reported(text), task)
    return with_settings(found, results)


def first_tasks(readings: Readings) -> list[str]:
    return [one.task for one in readings.fitting[:3]]


@pytest.fixture(scope="module")
def kestrel() -> Judgement:
    return judged(next(path for path in EXAMPLES if "kestrel" in str(path)).read_bytes())


def test_the_average_that_compare_prints_is_found(kestrel: Judgement) -> None:
    results = [verdict.result for verdict in kestrel.verdicts if verdict.result is not None]
    average = compare(*(run_of_results(name, results) for name in "ab")).average
    assert average is not None
    [first, *_] = asked(kestrel, f"{100 * average.values[0]:.2f}").fitting
    assert (first.task, "6 tasks of the files, as `compare` has it" in first.steps[0]) == ("average", True)


def test_where_nothing_fits_what_is_known_to_move_such_numbers_is_said(kestrel: Judgement) -> None:
    told = reported_text(asked(kestrel, "60.1", "ifeval"))
    assert "\n  few-shot examples 0: " in told
    assert "\n  chat template no: the question is put into the model's chat form" in told


def test_each_score_and_the_average_of_a_row_are_found(kestrel: Judgement) -> None:
    scores = kestrel.rows[0].scores
    for task in scores.tasks:
        assert task.score is not None
        for text in (f"{task.score:.2f}", f"{task.score / 100:.4f}", f"{task.score:.1f}%", repr(task.score)):
            assert task.id in first_tasks(asked(kestrel, text))
    assert "average" in first_tasks(asked(kestrel, f"{scores.average:.2f}"))


def test_a_raw_value_and_its_normalized_score_are_told_apart(kestrel: Judgement) -> None:
    pro = next(task for task in kestrel.rows[0].scores.tasks if task.id == "mmlu_pro")
    assert pro.raw is not None
    raw = asked(kestrel, f"{pro.raw:.4f}").fitting[0]
    assert (raw.task, raw.metric) == ("mmlu_pro", "acc,none")
    assert not any("normalized" in step for step in raw.steps)
    score = asked(kestrel, f"{pro.score:.2f}").fitting[0]
    assert "the leaderboard's score of mmlu_pro" in score.steps[-1]
    assert any(step.startswith("normalized: (") for step in score.steps)


def test_the_mean_over_samples_and_over_subtasks_are_told_apart(kestrel: Judgement) -> None:
    musr = next(task for task in kestrel.rows[0].scores.tasks if task.id == "musr")
    weighted = (156 + 90 + 146) / (250 + 256 + 250)
    found = asked(kestrel, f"{weighted:.6f}", "musr").fitting[0]
    assert any("mean over the samples" in step or "group's own row" in step for step in found.steps)
    assert musr.raw is not None
    assert any("plain mean" in step for step in asked(kestrel, f"{musr.raw:.6f}", "musr").fitting[0].steps)


def test_a_subtask_that_was_left_out_is_named(kestrel: Judgement) -> None:
    found = asked(kestrel, f"{100 * (156 / 250 + 146 / 250) / 2:.3f}", "musr").fitting
    assert any("without leaderboard_musr_object_placements" in step for one in found for step in one.steps)


def test_the_nearest_readings_are_told_and_the_nearest_of_whole_tasks_first(kestrel: Judgement) -> None:
    result = kestrel.rows[0].result
    subtask = 100 * result.leaves["leaderboard_musr_team_allocation"].numbers["acc_norm,none"]
    found = asked(kestrel, f"{subtask + 0.0123:.4f}")
    assert abs(found.nearest[0].value - found.reported.value) < 0.0124
    assert len(found.whole) == 3
    assert not any(one.task.startswith("leaderboard_musr_") or one.kind == "guess" for one in found.whole)
    told = reported_text(found)
    assert told.index("The nearest simple readings of whole tasks:") < told.index("Nearer are these, of one subtask, ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("27", "27 is gpqa: raw value 0.267677 (3 readings tried; 1 of 34 random numbers fits one of them).\n"),
        ("26.8", "26.8 is gpqa: raw value 0.267677 (3 readings tried; 1 of 334 random numbers fits one of them).\n"),
        (
            "26.7%",
            "26.7% is gpqa: raw value 0.267677, cut, not rounded, to 26.7% (3 readings tried; 1 of 250 random",
        ),
        ("0.2676", "0.2676 is gpqa: raw value 0.267677, cut, not rounded, to 0.2676 ("),
        ("3510", "No score of these results can be 3510: their metrics lie between 0 and 100 %.\n"),
        ("-5", "No score of these results can be -5: their metrics lie between 0 and 100 %.\n"),
    ],
)
def test_a_metric_as_the_file_has_it_a_cut_number_and_one_that_cannot_be(text: str, told: str) -> None:
    row = {"exact_match,strict-match": 0.00505, "exact_match,flexible-extract": 0.267677, "exact_match,none": 0.71}
    assert reported_text(asked(judged(json.dumps(lm_eval({"gpqa": row})).encode()), text)).startswith(told)


def test_a_reading_names_its_file_and_in_what_that_differs_from_others_with_the_task() -> None:
    files = []
    for shots, value in (8, 0.0803), (5, 0.0205):
        data = lm_eval({"gsm8k": {"exact_match,strict-match": value}})
        files.append(parse_submission(f"{shots}.json", {"": json.dumps(data | {"n-shot": {"gsm8k": shots}}).encode()}))
    told = reported_text(asked(judge_all(files, declared()), "11.0", "gsm8k"))
    for place in "8.json: few-shot examples 8\n", "5.json: few-shot examples 5\n", "  few-shot examples 5, 8: ":
        assert place in told


def test_of_settings_that_no_file_records_nothing_is_said() -> None:
    data = lm_eval({"gpqa": {"exact_match,none": 0.71}})
    told = []
    for template in {}, {"chat_template": None}:
        file = {key: value for key, value in data.items() if not key.startswith("chat_template")} | template
        told.append("chat template" in reported_text(asked(judged(json.dumps(file).encode()), "26.8")))
    assert told == [False, True]


def test_what_leaves_something_out_is_said_as_a_guess(kestrel: Judgement) -> None:
    scores = [task.score or 0.0 for task in kestrel.rows[0].scores.tasks if task.id != "gpqa"]
    found = asked(kestrel, f"{sum(scores) / len(scores):.2f}")
    assert found.is_guess
    told = reported_text(found)
    assert " may be average: plain mean of the scores without gpqa" in told
    assert "It is a guess: no simple reading gives this number." in told
    assert not asked(kestrel, f"{kestrel.rows[0].scores.average:.2f}").is_guess


def test_two_changes_are_tried_where_no_single_one_fits_and_the_number_is_exact(kestrel: Judgement) -> None:
    """Such as raw values instead of scores, and another metric of one task."""
    result, tasks = kestrel.rows[0].result, {task.id: task.raw or 0.0 for task in kestrel.rows[0].scores.tasks}
    strict = result.leaves["leaderboard_ifeval"].numbers["inst_level_strict_acc,none"]
    value = 100 * sum((tasks | {"ifeval": strict}).values()) / len(tasks)
    found = asked(kestrel, f"{value:.2f}")
    assert found.is_guess
    assert found.fitting[0].steps[0] == "inst_level_strict_acc,none of ifeval"
    assert "plain mean of the raw values of 6 tasks, ifeval by this reading" in found.fitting[0].steps[-1]
    whole = asked(kestrel, f"{value:.0f}", "average").fitting
    assert not any("by this reading" in step for one in whole for step in one.steps)


def test_only_a_task_that_is_named_and_that_nobody_knows_may_have_any_number_of_choices() -> None:
    """Like 76.1 of LLaMA-7B's HellaSwag, which wsc273 with its two choices gave by guessing among five."""
    rows = {"toy_273": {"alias": "toy_273", "acc,none": 0.80879}, "winogrande": {"acc,none": 0.80879}}
    file = judged(json.dumps(lm_eval(rows)).encode())
    steps = asked(file, "76.099", "toy_273").fitting[0].steps
    assert steps[-1] == "normalized by guessing among 5 = 0.760988"
    assert [asked(file, "76.099", task).fitting for task in ("", "winogrande")] == [(), ()]


def test_a_number_that_no_row_has_may_be_one_and_a_score_is_one(kestrel: Judgement) -> None:
    told = reported_text(asked(kestrel, "51.85"))
    assert told.startswith("51.85 may be musr: mean over the samples of 3 subtasks = 0.518519 (")
    assert "Measured so" not in told  # the leaderboard accepts it
    assert "27.12 is musr" in reported_text(asked(kestrel, "27.12", "musr"))


def test_one_of_a_hundred_subtasks_may_be_left_out() -> None:
    values = {f"part_{number:03}": 0.2 + (number * number % 97) / 200 for number in range(100)}
    kept = [value for name, value in values.items() if name != "part_042"]
    found = asked(judged(grouped(values)), f"{sum(kept) / len(kept):.9f}", "whole").fitting
    assert any("without part_042" in step for one in found for step in one.steps)


def grouped(values: dict[str, float]) -> bytes:
    """A result with one group of these subtasks."""
    data = json.loads(next(path for path in EXAMPLES if "kestrel" in str(path)).read_bytes())
    data["results"] = {name: {"alias": name, "acc,none": value} for name, value in values.items()}
    data["results"]["whole"] = {"alias": "whole", "acc,none": sum(values.values()) / len(values)}
    data["groups"] = {"whole": data["results"]["whole"]}
    data["group_subtasks"] = {"whole": list(values)}
    data["n-samples"] = {name: {"original": 200, "effective": 200} for name in values}
    data["versions"] = dict.fromkeys([*values, "whole"], 1.0)
    data["n-shot"] = dict.fromkeys(values, 0)
    data["configs"] = {name: {"task": name, "metric_list": [{"metric": "acc"}]} for name in values}
    return json.dumps(data).encode()


def test_a_subtask_alone_is_found_and_a_guess_where_few_digits_give_it(kestrel: Judgement) -> None:
    exact = asked(kestrel, "0.351562")
    assert (exact.fitting[0].task, exact.is_guess) == ("leaderboard_musr_object_placements", False)
    told = reported_text(asked(kestrel, "35.16"))
    assert told.startswith("35.16 may be leaderboard_musr_object_placements: raw value 0.351563 (")
    assert "It is a guess: it is one subtask alone, which few report.\n" in told
    assert re.search(r"name it: explain PATH \w+ --reported 35\.16\n", told)
    assert "\nMeasured so; with another setting the number is another:\n\n  few-shot examples " in told
    assert not asked(kestrel, "35.16", "leaderboard_musr_object_placements").is_guess


def test_an_average_with_a_task_that_the_leaderboard_does_not_accept_says_so() -> None:
    """As the README of saucam/Proteus-8B has one, over an MMLU of harness 0.4.2."""
    rows, shots, means = {}, {}, []
    for task in declared("open-llm-v1").tasks:
        shares = [
            round(size * (0.5 + place / 500)) / size
            for place, size in enumerate(one.samples or 1 for one in task.leaves)
        ]
        means.append(sum(shares) / len(shares))
        for leaf, share in zip(task.leaves, shares, strict=True):
            rows[key := leaf.key("lm-eval-0.4")] = {task.metrics[0].key("lm-eval-0.4"): share}
            shots[key] = task.num_fewshot
    data = lm_eval(rows) | {"n-shot": shots}
    data["versions"] = {key: {"m": 0.0, "g": 3.0, "t": 2.0}.get(key[0], 1.0) for key in rows}
    value = sum(means) / 6
    found = asked(judged(json.dumps(data).encode(), "open-llm-v1"), f"{100 * value:.6f}")
    said = f"all 6 tasks, with the file's value of mmlu, which open-llm-v1 does not accept = {value:.6g}"
    assert found.fitting[0].steps == (
        "acc,none of mmlu",
        f"plain mean of 57 subtasks = {means[2]:.6g}",
        f"plain mean of the scores of {said}",
    )
    assert not found.is_guess


def test_a_number_that_most_readings_print_names_none_but_those_that_are_exactly_it(kestrel: Judgement) -> None:
    told = reported_text(asked(kestrel, "0"))
    assert re.match(r"\d+ of \d+ readings print as 0, which says nothing: give it with more digits, or name its", told)
    assert reported_text(asked(kestrel, "52")).startswith("52 may be ")


def test_where_nothing_fits_the_nearest_three_are_named(kestrel: Judgement) -> None:
    found = asked(kestrel, "33.123456")
    assert found.fitting == ()
    assert len(found.nearest) == 3
    off = [abs(one.value - 33.123456) for one in found.nearest]
    assert off == sorted(off)


# Right answers to the subtasks of BBH in a file of which the harness says 0.6915 and the board 55.93.
BBH = (83, 61, 219, 216, 80, 215, 81, 223, 219, 217, 218, 86, 221, 125, 220, 218, 218, 61, 83, 220, 216, 214, 216, 85)


def test_the_harness_says_0_6915_and_0_5309_where_the_board_says_55_93_and_47_88() -> None:
    data = base()
    subtasks = [leaf for task, leaf in declared().leaves() if task.id == "bbh"]
    for leaf, right in zip(subtasks, BBH, strict=True):
        value, n = right / (leaf.samples or 0), leaf.samples or 0
        data["results"][leaf.id] |= {
            "acc_norm,none": value,
            "acc_norm_stderr,none": sqrt(value * (1 - value) / (n - 1)),
        }
    value = 6388 / 12032
    error = sqrt(value * (1 - value) / 12031)
    data["results"]["leaderboard_mmlu_pro"] |= {"acc,none": value, "acc_stderr,none": error}
    judgement = judged(json.dumps(data).encode())
    for text, task, step in (
        ("0.6915", "bbh", "plain mean of 24 subtasks"),
        ("55.93", "bbh", "the leaderboard's score of bbh"),
        ("0.5309", "mmlu_pro", "raw value"),
        ("47.88", "mmlu_pro", "the leaderboard's score of mmlu_pro"),
    ):
        found = asked(judgement, text).fitting[0]
        assert found.task == task
        assert any(step in one for one in found.steps), found.steps


def test_strict_and_flexible_are_told_apart() -> None:
    row = {"alias": "gsm8k", "exact_match,strict-match": 0.0425, "exact_match,flexible-extract": 0.4761}
    found = asked(judged(json.dumps(lm_eval({"gsm8k": row})).encode()), "47.61")
    assert (found.fitting[0].task, found.fitting[0].metric) == ("gsm8k", "exact_match,flexible-extract")


def test_acc_and_acc_norm_are_told_apart() -> None:
    row = {"alias": "arc_challenge", "acc,none": 0.5102, "acc_norm,none": 0.5435}
    found = asked(judged(json.dumps(lm_eval({"arc_challenge": row})).encode()), "51.0%")
    assert found.fitting[0].metric == "acc,none"


def read_together(files: dict[str, dict[str, Any]]) -> Judgement:
    """The judgement of files of one row by their paths."""
    parsed = [parse_submission(path, {"": json.dumps(data).encode()}) for path, data in files.items()]
    return judge_all(parsed, declared("open-llm-v1"))


def test_a_mean_of_acc_norm_where_a_task_has_it_and_the_mean_of_the_means_of_files_are_found() -> None:
    """As in saucam/model_evals, whose tables are those of the suite of Nous: 72.18 and 46.78 of Orpomis-Prime-7B."""
    first = {"arc_easy": {"acc": 0.82, "acc_norm": 0.8412}, "boolq": {"acc": 0.8376}, "winogrande": {"acc": 0.7231}}
    second = {"truthfulqa_mc": {"mc1": 0.2962, "mc2": 0.4368}}
    files = {
        f"{name}.json": {
            "results": found,
            "versions": dict.fromkeys(found, 0),
            "config": {"model": "hf-causal", "model_args": "pretrained=a/b", "no_cache": False},
        }
        for name, found in (("gpt4all", first), ("truthfulqa", second))
    }
    mean = (0.8412 + 0.8376 + 0.7231) / 3
    alone = asked(read_together({"gpt4all.json": files["gpt4all.json"]}), f"{100 * mean:.3f}").fitting[0]
    assert alone.steps[-1].startswith(
        "plain mean of the 3 tasks of gpt4all.json, acc_norm where a task has it, else acc"
    )
    both = asked(read_together(files), f"{50 * (mean + 0.4368):.3f}").fitting[0]
    assert both.steps[-1].startswith("plain mean of the means of 2 files")
    assert both.files == ("gpt4all.json", "truthfulqa.json")


def test_the_mean_over_every_metric_of_every_task_is_found_and_a_value_that_is_no_number_is_named() -> None:
    rows = {"a": {"acc,none": 0.31, "acc_norm,none": 0.47}, "b": {"acc,none": 0.59}, "c": {"em,none": float("nan")}}
    judgement = read_together({"one.json": base() | {"results": rows, "group_subtasks": {}}})
    found = asked(judgement, "45.667")
    assert "3 values of all 3 tasks of one.json, every metric" in found.fitting[0].steps[0]
    told = with_settings(found, {one.path: one.result for one in judgement.verdicts if one.result})
    assert told.broken == ("em,none of c is no number: nan",)
    assert "Not tried: em,none of c is no number: nan." in reported_text(told)


def test_of_files_of_mteb_the_english_test_is_reported() -> None:
    """As in mteb/results: sentence-transformers/all-MiniLM-L6-v2 has 62.625 over the tasks of classification."""

    def of(task: str, *scores: tuple[str, float]) -> dict[str, Any]:
        found = [{"hf_subset": subset, "main_score": score, "accuracy": score} for subset, score in scores]
        return {"task_name": task, "mteb_version": "1.12.75", "dataset_revision": "0" * 40, "scores": {"test": found}}

    folder = f"org__model/{'1' * 40}"
    judgement = read_together({
        f"{folder}/A.json": of("A", ("de", 0.4123), ("en", 0.6471), ("fr", 0.3987)),
        f"{folder}/B.json": of("B", ("default", 0.8016)),
    })  # fmt: skip
    whole = asked(judgement, f"{50 * (0.6471 + 0.8016):.3f}").fitting[0]
    assert whole.steps[-1].startswith("plain mean of the 2 tasks of 2 files, main_score")
    english = asked(judgement, "64.71")
    assert (english.fitting[0].task, english.is_part) == ("A/en/test", False)


def test_a_plain_mean_of_three_categories_is_found() -> None:
    # BFCL's "simple": the plain mean of Python, Java and JavaScript, which are not of one size
    shares = {"simple_python": (0.9375, 400), "simple_java": (0.64, 100), "simple_javascript": (0.60, 50)}
    rows = {key: {"alias": key, "accuracy,none": value} for key, (value, _) in shares.items()}
    file = lm_eval(rows, {"simple": list(rows)}, {key: size for key, (_, size) in shares.items()})
    found = asked(judged(json.dumps(file).encode()), "72.58")
    assert found.fitting[0].task == "simple"
    assert any("plain mean of 3 subtasks" in step for step in found.fitting[0].steps)


def test_a_mean_over_samples_needs_the_number_of_each_subtask() -> None:
    rows = {"one": {"alias": "one", "accuracy,none": 0.2}, "two": {"alias": "two", "accuracy,none": 0.8}}
    for samples, found in ({"one": 100, "two": 300}, True), ({"two": 300}, False), ({"one": 100, "two": 100}, False):
        file = json.dumps(lm_eval(rows, {"both": list(rows)}, samples)).encode()
        readings = asked(judged(file), "65.0", "both")
        steps = [one.steps[1] for one in readings.fitting]
        assert (readings.tried, steps) == ((2, ["mean over the samples of 2 subtasks = 0.65"]) if found else (6, []))


def test_a_mean_without_a_clip_differs_where_a_subtask_is_below_guessing() -> None:
    tried = {}
    for low in (0.5, 0.05):  # of four choices, and of two
        rows = {"arc_challenge": {"alias": "arc_challenge", "acc,none": low}}
        rows |= {"winogrande": {"alias": "winogrande", "acc,none": 0.75}}
        file = json.dumps(lm_eval(rows, {"both": list(rows)})).encode()
        readings = asked(judged(file), "11.67", "both")
        tried[low] = (readings.tried, [one.steps[1] for one in readings.fitting])
    unclipped = "each subtask normalized, also below guessing"
    assert (tried[0.5], tried[0.05]) == ((4, []), (6, [unclipped]))


def test_a_perplexity_is_found_as_it_is_and_is_no_percentage_and_a_count_is_no_score() -> None:
    """Like the perplexity 2.91364 of gemma-2-9b, which was no 291.36 %, and the 60 samples of Qwen3-8B."""
    rows = {"wikitext": {"word_perplexity,none": 2.91364}, "winrate": {"sample_len": 60, "win,none": 47.3146}}
    file = judged(json.dumps(lm_eval(rows)).encode())
    assert first_tasks(asked(file, "2.91")) == ["wikitext"]
    assert [first_tasks(asked(file, text)) for text in ("291.36", "60")] == [[], []]
    assert first_tasks(asked(file, "47.31%")) == ["winrate"]


def test_samples_without_a_score_are_said_and_may_count_as_wrong() -> None:
    """Like 55 of 78 in the log of cvebench of every_eval_ever, which somebody gave as 55 of 80."""
    counts = {"total_samples": 80, "completed_samples": 78, "scores": [score("check", 55 / 78, scored=78)]}
    log = judged(json.dumps(header(results=counts)).encode())
    told = reported_text(asked(log, "68.75"))
    assert "68.75 may be " in told
    assert "2 of 80 samples have no score; counted as 0 = 0.6875" in told
    assert "raw value 0.705128; 2 of 80 samples have no score" in reported_text(asked(log, "70.51"))


def test_a_group_of_the_file_and_a_leaf_are_found_by_their_own_names_too(kestrel: Judgement) -> None:
    assert first_tasks(asked(kestrel, "51.85", "leaderboard_musr")) == ["leaderboard_musr"]
    assert first_tasks(asked(kestrel, "19.04", "leaderboard_ifeval")) == ["leaderboard_ifeval"]


def test_the_bounds_of_the_catalogue_are_tried_beside_those_of_the_declaration() -> None:
    row = {"alias": "arc_challenge", "acc_norm,none": 0.5435}
    file = judged(json.dumps(lm_eval({"arc_challenge": row})).encode(), "open-llm-v1")
    assert asked(file, "39.13", "arc").fitting[0].steps[-1] == "normalized: (0.5435 - 0.25) / (1 - 0.25) = 0.391333"


def test_values_in_percent_and_an_upper_bound_are_normalized_by_the_bounds_of_the_declaration() -> None:
    rows = {key: {"alias": key, "score,none": value} for key, value in (("one", 10.0), ("two", 62.0))}
    task = {"id": "both", "title": "Both", "metrics": [{"name": "score"}], "unit": "percent", "bound_reason": "a guess"}
    task |= {"lower_bound": "20", "upper_bound": "90", "normalize": "leaf", "leaves": [{"id": "one"}, {"id": "two"}]}
    board = {"id": "b", "title": "B", "description": "B.", "harness": {"formats": ["lm-eval-0.4"]}, "tasks": [task]}
    parsed = parse_submission("results.json", {"": json.dumps(lm_eval(rows)).encode()})
    file = judge_all([parsed], Leaderboard.model_validate(board))
    readings = asked(file, "30.00", "both").fitting  # (0 + (62 - 20) / 70) / 2
    assert readings[0].steps[1:3] == (
        "each subtask normalized by its own guessing value, 0 below it",
        "plain mean of 2 subtasks = 0.3",
    )


def test_a_guess_of_a_plain_value_names_no_other_plain_value_that_is_farther() -> None:
    """As ARC of poro-34b/step238418 in LumiOpen/evaluation `47bf8ab8`, among some hundred tasks: 47.3549."""
    rows = {"arc_of_ours": {"acc,none": 0.4735494880546075}, "division": {"acc,none": 0.48}}
    rows |= {f"toy_{place}": {"acc,none": place / 100} for place in range(60) if not 46 < place < 49}
    found = asked(judged(json.dumps(lm_eval(rows)).encode()), "47.4")
    assert (found.is_guess, first_tasks(found), found.whole) == (True, ["arc_of_ours"], ())
    assert "nearest plain value" not in reported_text(found)


def lm_eval(
    rows: dict[str, Any], groups: dict[str, list[str]] | None = None, samples: dict[str, int] | None = None
) -> dict[str, Any]:
    """A file as the harness writes it, of other tasks than those of the example."""
    data = base()
    data["results"] = {**{group: {"alias": group, " ": " "} for group in groups or {}}, **rows}
    data["groups"] = {}
    data["group_subtasks"] = {
        **(groups or {}),
        **{key: [] for key in rows},
    }
    data["configs"] = {key: {"task": key} for key in rows}
    data["versions"] = dict.fromkeys(rows, 1.0)
    data["n-shot"] = dict.fromkeys(rows, 0)
    data["higher_is_better"] = {}
    data["n-samples"] = {key: {"original": size, "effective": size} for key, size in (samples or {}).items()}
    return data


@pytest.mark.parametrize("text", ["", "abc", "1e", "1e999", "nan", "47.88 %%", "1,2,3"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(CallError, match="is not a number"):
        parse_reported(text)


@pytest.mark.parametrize(
    ("text", "value", "unit", "is_percent"),
    [
        ("55.93", 55.93, 0.01, False),
        ("0.6915", 0.6915, 0.0001, False),
        ("47,88 %", 47.88, 0.01, True),
        ("7", 7, 1, False),
        ("1e3", 1000, 1, False),
        ("34.24 ± 0.4", 34.24, 0.01, False),
        ("34.2 +/- 0.4%", 34.2, 0.1, True),
        ("|0.2676|±  |0.0315|", 0.2676, 0.0001, False),
        ("6.9e-1", 0.69, 0.01, False),
        (".48", 0.48, 0.01, False),
    ],
)
def test_the_digits_say_how_exact_a_number_is(text: str, value: float, unit: float, is_percent: bool) -> None:
    read = parse_reported(text)
    assert (read.value, read.unit, read.is_percent) == (value, pytest.approx(unit), is_percent)


def test_an_unknown_task_is_refused(kestrel: Judgement) -> None:
    with pytest.raises(CallError, match="there is no task nothing in these results; they have ifeval, "):
        asked(kestrel, "33.60", "nothing")
    with pytest.raises(CallError, match="there is no task mmlu-pro in these results; near it is mmlu_pro"):
        asked(kestrel, "33.60", "mmlu-pro")


@pytest.mark.slow
def test_random_numbers_fit_as_often_as_chance_says(kestrel: Judgement) -> None:
    draw = random.Random(5)
    hits = expected = 0.0
    for _ in range(1500):
        text = f"{draw.uniform(0, 100):.1f}"
        found = asked(kestrel, text)
        hits += bool(found.fitting)
        expected += found.by_chance
    assert abs(hits - expected) < 4 * expected**0.5


@needs_reference
@pytest.mark.parametrize("digits", [2, 4, 15])
def test_every_published_score_of_the_reference_models_is_found(digits: int) -> None:
    folder = Path(REFERENCE) / "openllm_v2"
    listed = json.loads((folder / "expected.json").read_text())["files"]
    for row in (one for one in listed if one["file"].startswith("results/")):
        judgement = judged((folder / row["file"]).read_bytes())
        wanted = {COLUMNS[name]: value for name, value in row["normalized"].items()} | {"average": row["average"]}
        for task, value in wanted.items():
            assert task in first_tasks(asked(judgement, f"{value:.{digits}f}")), (row["file"], task, value)


@needs_reference
def test_every_published_score_of_the_first_leaderboard_is_found() -> None:
    folder = Path(REFERENCE) / "openllm_v1"
    row = json.loads((folder / "expected.json").read_text())["files"][0]
    judgement = judged((folder / row["file"]).read_bytes(), "open-llm-v1")
    ids = {task.title: task.id for task in declared("open-llm-v1").tasks}
    for name, value in row["published"].items():
        task = next((ids[title] for title in ids if title.lower().startswith(name.lower()[:4])), "average")
        assert task in first_tasks(asked(judgement, f"{value:.2f}")), (name, value)


@needs_reference
def test_the_questions_of_the_harness_are_answered() -> None:
    # "0.6915 in the harness, 55.93 on the board": a raw mean of BBH and its normalized one are told apart
    folder = Path(REFERENCE) / "openllm_v2"
    row = next(one for one in json.loads((folder / "expected.json").read_text())["files"] if "results/" in one["file"])
    judgement = judged((folder / row["file"]).read_bytes())
    for name in ("BBH", "MMLU-PRO"):
        raw = asked(judgement, f"{row['raw'][name]:.4f}").fitting[0]
        score = asked(judgement, f"{row['normalized'][name]:.2f}").fitting[0]
        assert raw.task == score.task == COLUMNS[name]
        assert "leaderboard's score" in score.steps[-1]
        assert "leaderboard's score" not in raw.steps[-1]


@pytest.mark.parametrize("text", ["1." + "0" * 400, "9" * 310, "1," + "9" * 330, "1" * 5000, "-" + "9" * 16, "1." * 9])
def test_a_number_that_nobody_prints_is_refused(text: str) -> None:
    with pytest.raises(CallError, match="is not a number"):
        parse_reported(text)


def test_all_digits_of_a_double_are_a_number() -> None:
    """Such as those of results/elo_ratings of bgonzalezbustamante/TextClass-Benchmark, which stopped `init --table`."""
    assert parse_reported("0.9813333333333332").value == 0.9813333333333332
