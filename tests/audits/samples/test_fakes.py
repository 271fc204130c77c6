"""Logs that were made up, kinds by forms: each is refused, whatever its maker wrote into it; sound ones stay silent."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.audits.samples.test_attacks import (
    LOGS,
    METRIC,
    QUESTION,
    QUESTIONS,
    RIGHT,
    VALUE,
    Rows,
    edited,
    found,
    write_inspect,
)
from tests.audits.samples.test_check import (
    CHOICE,
    TASKS,
    TEXT,
    checked,
    faults,
    hashed,
    inspect_log,
    mean,
    result_of,
)
from tests.variants import SLOW

IDS = {"helm": ("instance/id", "own/instance_id"), "lighteval": ("doc/id",), "lighteval before 0.10": (),
       "inspect": ("id",), "inspect archive": ("id",),
       "lm-eval": ("doc_id",), "lm-eval before 0.4.3": ("doc_id",)}  # fmt: skip
PROMPT = {"helm": "request/prompt", "lighteval": "model_response/input", "lighteval before 0.10": "full_prompt"}
EMPTY = {"helm": ("result/completions", []), "lighteval": ("model_response/logprobs", []),
         "lighteval before 0.10": ("predictions", []), "inspect": ("scores/choice/answer", None),
         "inspect archive": ("scores/choice/answer", None), "lm-eval": ("resps", []),
         "lm-eval before 0.4.3": ("resps", [])}  # fmt: skip
# Rows of both are read from Parquet, by a process of their own.
FORMS = [pytest.param(one, marks=SLOW) if one == "lighteval before 0.10" else one for one in LOGS]


def one_question_under_many_names(form: str, rows: Rows) -> tuple[Rows, float]:
    copies = [copy.deepcopy(rows[0]) for _ in rows]
    for place in IDS[form]:
        for number in range(QUESTIONS):
            copies = edited(copies, number, place, number if form.startswith(("lm", "inspect")) else f"q{number}")
    return copies, 1.0


def a_score_without_an_answer(form: str, rows: Rows) -> tuple[Rows, float]:
    return edited(edited(rows, 1, *EMPTY[form]), 1, *METRIC[form]), VALUE + 1 / QUESTIONS


def a_fraction(form: str, rows: Rows) -> tuple[Rows, float]:
    """Two halves beside raised scores: fractions once switched the scoring off."""
    place = METRIC[form][0]
    half = "P" if form.startswith("inspect") else 0.5
    for number in range(QUESTIONS):
        rows = edited(rows, number, *METRIC[form])
    return edited(edited(rows, 0, place, half), 1, place, half), 1 - 1 / QUESTIONS


def wrong_ones_left_out(form: str, rows: Rows) -> tuple[Rows, float]:
    return [row for row, is_right in zip(rows, RIGHT, strict=True) if is_right], 1.0


KINDS: dict[str, Callable[[str, Rows], tuple[Rows, float]]] = {
    one.__name__: one
    for one in (one_question_under_many_names, a_score_without_an_answer, a_fraction, wrong_ones_left_out)
}


# A process reads each log of lighteval: one kind of them stands for all.
MADE_UP = [
    pytest.param(form, kind, marks=SLOW if form.startswith("lighteval") and kind != "a_fraction" else ())
    for form, kind in product(LOGS, KINDS)
]


@pytest.mark.parametrize(("form", "kind"), MADE_UP)
def test_a_made_up_log_breaks_a_rule(tmp_path: Path, form: str, kind: str) -> None:
    if (form, kind) == ("lighteval", "wrong_ones_left_out"):
        pytest.skip("neither result nor log says how many there are: the declaration and the other rows do")
    rows, value = KINDS[kind](form, LOGS[form][0]())
    assert found(tmp_path, form, rows, value)[0] & {"other-questions", "answer-scored-otherwise", "samples-unreadable"}


@pytest.mark.parametrize("form", ["lm-eval", "lm-eval before 0.4.3", *PROMPT])
def test_prompts_that_tell_the_answer_are_other_questions(tmp_path: Path, form: str) -> None:
    rows = LOGS[form][0]()
    for number in range(QUESTIONS):
        right = f"the sum is {number}" if form == "helm" else "a"
        said = f"The answer: {right}. Question {number}"
        if form in PROMPT:
            rows = edited(rows, number, PROMPT[form], said)
        elif form == "lm-eval":
            for one in rows[number]["arguments"].values():
                one["arg_0"] = said
        else:
            rows[number]["arguments"] = [[said, text] for _, text in rows[number]["arguments"]]
    assert found(tmp_path, form, rows)[0] == {"other-questions"}


@pytest.mark.parametrize("form", FORMS)
def test_other_questions_and_other_targets_have_another_digest(tmp_path: Path, form: str) -> None:
    if form != "lm-eval" and not form.startswith("inspect"):
        pytest.skip("slow elsewhere: test_attacks.py has it")
    rows = LOGS[form][0]()
    digest = found(tmp_path / "own", form, rows)[1]
    assert found(tmp_path / "easy", form, edited(rows, 0, QUESTION[form], "Easy?"))[1] != digest
    assert found(tmp_path / "target", form, edited(rows, 1, "target", "1" if form == "lm-eval" else "B"))[1] != digest
    assert found(tmp_path / "turned", form, rows[::-1])[1] == digest


def of_task(tmp_path: Path, task: str, rows: Rows, numbers: dict[str, float] | None = None) -> set[str]:
    name = "exact_match" if task == "gsm8k" else "acc"
    known = numbers or TASKS[task][1]
    result = result_of(
        task, rows, known | {key: mean(rows, name, key.partition(",")[2]) for key in known if task == "gsm8k"}
    )
    return faults(checked(tmp_path, task, rows, result), result)


def test_targets_that_are_not_the_documents_own_are_other_questions(tmp_path: Path) -> None:
    """Each wrong answer is made right by the target that the model liked best."""
    rows = []
    for row in CHOICE:
        values = [float(one[0][0]) for one in row["resps"]]
        rows.append(hashed(row | {"target": str(values.index(max(values))), "acc": 1.0}))
    result = result_of("arc", rows, {"acc,none": 1.0, "acc_norm,none": mean(rows, "acc_norm")})
    result["configs"]["arc"]["doc_to_target"] = "gold"
    assert "is not the answer in its field 'gold'" in checked(tmp_path, "arc", rows, result).others
    del result["configs"]["arc"]["doc_to_target"]  # without it a field counts that has the answer in many documents
    half = [hashed(row | {"target": str(row["doc"]["gold"])}) if place % 2 else row for place, row in enumerate(rows)]
    assert "is not the answer in its field 'gold'" in checked(tmp_path, "arc", half, result).others


@pytest.mark.parametrize("more", [" ", "?", "\u200b", "\n!"])
def test_one_question_that_looks_different_each_time_is_found(tmp_path: Path, more: str) -> None:
    def disguised(number: int) -> dict[str, Any]:
        row = copy.deepcopy(CHOICE[0]) | {"doc_id": number}
        row["doc"]["number"] = number
        for one in row["arguments"].values():
            one["arg_0"] = (one["arg_0"].upper() if number % 2 else one["arg_0"]) + more * number
        return hashed(row)

    rows = [disguised(number) for number in range(len(CHOICE))]
    result = result_of("arc", rows, {"acc,none": mean(rows, "acc"), "acc_norm,none": mean(rows, "acc_norm")})
    assert "others under a second number" in checked(tmp_path, "arc", rows, result).others


@pytest.mark.parametrize("field", ["epoch", "acc_mutual_info", "bonus"])
def test_a_field_that_the_harness_does_not_write_is_named(tmp_path: Path, field: str) -> None:
    rows = [row | {field: 1.0} for row in CHOICE]
    result = result_of("arc", rows, TASKS["arc"][1])
    assert f"has a number {field!r}" in checked(tmp_path, "arc", rows, result).others


def test_a_filter_that_the_result_does_not_have_is_named(tmp_path: Path) -> None:
    rows = [*CHOICE, *(row | {"filter": "best"} for row in CHOICE)]
    result = result_of("arc", CHOICE, TASKS["arc"][1])
    assert "a filter 'best'" in checked(tmp_path, "arc", rows, result).others


def test_a_filtered_answer_that_is_not_in_the_response_is_scored_otherwise(tmp_path: Path) -> None:
    rows = [
        hashed(row | {"filtered_resps": [row["target"][8:]], "resps": [["I do not know"]], "exact_match": 1.0})
        for row in TEXT
    ]
    numbers = dict.fromkeys(TASKS["gsm8k"][1], 1.0)
    result = result_of("gsm8k", rows, numbers)
    assert faults(checked(tmp_path, "gsm8k", rows, result), result) == {"answer-scored-otherwise"}


def test_questions_without_documents_are_other_questions(tmp_path: Path) -> None:
    rows = [{name: one for name, one in row.items() if name != "doc"} for row in CHOICE]
    result = result_of("arc", rows, TASKS["arc"][1])
    assert "has no document" in checked(tmp_path, "arc", rows, result).others


def test_samples_of_inspect_that_lost_their_scores_are_counted(tmp_path: Path) -> None:
    rows = [row if row["scores"]["choice"]["value"] == "C" else row | {"scores": {}} for row in LOGS["inspect"][0]()]
    assert "other-questions" in found(tmp_path, "inspect", rows, 1.0)[0]


def epochs(count: int) -> tuple[Rows, float]:
    rows = [row | {"epoch": number + 1} for number in range(count) for row in LOGS["inspect"][0]()]
    return rows, VALUE


def test_a_run_of_three_epochs_is_sound_beside_rows_of_one(tmp_path: Path) -> None:
    """Its documents have the digest that those of one epoch have; other questions in a later epoch are named."""
    digest = found(tmp_path / "one", "inspect", LOGS["inspect"][0]())[1]
    path = write_inspect(tmp_path, epochs(3)[0], VALUE)
    log = json.loads(path.read_text())
    log["eval"]["config"]["epochs"] = 3
    log["results"] |= {"total_samples": 3 * QUESTIONS, "completed_samples": 3 * QUESTIONS}

    def shown(rows: Rows) -> tuple[set[str], str]:
        path.write_text(json.dumps(log | {"samples": rows}))
        return found_in(path)

    assert shown(log["samples"]) == (set(), digest)
    easy = [row | {"input": "Easy?"} if row["epoch"] == 2 else row for row in log["samples"]]
    assert shown(easy)[0] == {"other-questions"}


def found_in(path: Path) -> tuple[set[str], str]:
    from bot.audits.samples.check import check_leaf
    from bot.evaluation.formats import parse_result

    result = parse_result(path.read_bytes())
    leaf = next(iter(result.leaves))
    one = check_leaf(result, leaf, path, path.name)
    assert one is not None
    return faults(one, {"results": {leaf: result.leaves[leaf].numbers}}), one.documents


def inspect_by(scorer: str, answers: list[str], params: dict[str, Any], *, values: str) -> dict[str, Any]:
    log = json.loads(json.dumps(inspect_log([float(one == "C") for one in values])).replace('"choice"', f'"{scorer}"'))
    log["results"]["scores"][0]["params"] = params
    for row, said, value in zip(log["samples"], answers, values, strict=True):
        row |= {"target": ["Yes", "42"], "output": {"choices": [{"message": {"role": "assistant", "content": said}}]}}
        row["scores"] = {scorer: {"value": value, "answer": said}}
    return log


@pytest.mark.parametrize(
    ("scorer", "params", "answers", "values"),
    [
        ("match", {}, ["I say yes.", "No", "42", "yes or no"], "CICI"),
        ("match", {"location": "begin", "ignore_case": False}, ["Yes, I do", "yes", "42!", "I"], "CICI"),
        ("match", {"location": "exact"}, ["(yes)", "yes it is", " 42 ", "4"], "CICI"),
        ("match", {"location": "any"}, ["it is 42 now", "no", "oh YES", ""], "CICI"),
        ("includes", {}, ["oh YES", "no", "x42x", ""], "CICI"),
        ("includes", {"ignore_case": False}, ["Yes", "YES", "42", "n"], "CICI"),
    ],
)
def test_built_in_scorers_of_inspect_are_run_again(
    tmp_path: Path, scorer: str, params: dict[str, Any], answers: list[str], values: str
) -> None:
    log = inspect_by(scorer, answers, params, values=values)
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert found_in(tmp_path / "log.json")[0] == set()
    log["samples"][1]["scores"][scorer]["value"] = "C"
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.75
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert found_in(tmp_path / "log.json")[0] == {"answer-scored-otherwise"}


SOUND: dict[str, Callable[[Rows], Rows]] = {
    "as it was": lambda rows: rows,
    "in another order": lambda rows: rows[::-1],
    "with a question that stands twice in the data": lambda rows: [
        *rows[:-1],
        hashed(rows[0] | {"doc_id": QUESTIONS * 2 - 1}),
    ],
}


@pytest.mark.parametrize("how", SOUND)
@pytest.mark.parametrize("task", ["arc", "gsm8k"])
def test_a_sound_log_is_silent(tmp_path: Path, task: str, how: str) -> None:
    if task == "gsm8k" and how.startswith("with"):
        pytest.skip("of one filter alone")
    rows = SOUND[how](list(TASKS[task][0]))
    numbers = {
        key: mean(rows, key.partition(",")[0], "" if task == "arc" else key.partition(",")[2]) for key in TASKS[task][1]
    }
    result = result_of(task, rows, numbers)
    assert faults(checked(tmp_path, task, rows, result), result) == set()
    assert set(checked(tmp_path, task, rows, result).answers) == set(numbers)


def test_a_limited_run_is_silent_where_its_log_has_the_first_questions(tmp_path: Path) -> None:
    rows = CHOICE[:10]
    result = result_of("arc", rows, {"acc,none": mean(rows, "acc"), "acc_norm,none": mean(rows, "acc_norm")})
    result["config"]["limit"] = 10
    result["n-samples"]["arc"]["effective"] = 10
    assert faults(checked(tmp_path, "arc", rows, result), result) == set()
    del result["n-samples"]
    picked = [row for row in CHOICE if row["acc"]][:5]
    result = result | result_of("arc", picked, {"acc,none": 1.0, "acc_norm,none": mean(picked, "acc_norm")})
    result["config"]["limit"] = 10
    assert faults(checked(tmp_path, "arc", picked, result), result) == {"other-questions"}
