"""Which implementation of MMLU: from a prompt, and from a result file alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.benchmarks.mmlu_family import (
    TITLES,
    Family,
    Recognition,
    family_of_prompt,
    recognise,
    subject_names,
    subject_of,
    subjects_of,
)
from bot.evaluation.formats import parse_result
from bot.evaluation.leaderboard import load_leaderboard

# The reference vectors spell four families in more words.
SPELLED = {
    "harness_2023_01_choices": Family.HARNESS_2023,
    "harness_continuation_nochoices": Family.CONTINUATION,
    "harness_generative_letter": Family.GENERATIVE,
    "harness_letters_v0.4.2-0.4.3_or_hf_fork": Family.ONE_NEWLINE,
}
LETTERS = (" A", " B", " C", " D")
HEAD = "The following are multiple choice questions (with answers) about anatomy.\n\n"
CHOICES = "What?\nChoices:\nA. a\nB. b\nC. c\nD. d\nAnswer:"
QUESTION = "What?\nA. a\nB. b\nC. c\nD. d\nAnswer:"


def recognised(document: dict[str, Any]) -> Recognition:
    found = recognise(parse_result(json.dumps(document).encode()))
    assert found is not None
    return found


def old(rows: dict[str, dict[str, float]], version: int | None) -> dict[str, Any]:
    versions = {} if version is None else dict.fromkeys(rows, version)
    return {"results": rows, "versions": versions, "config": {"no_cache": True, "num_fewshot": 5}}


def new(rows: dict[str, dict[str, float]], version: float | None, **more: Any) -> dict[str, Any]:
    shots = dict.fromkeys(rows, 5)
    return {
        "results": rows,
        "configs": {},
        "n-shot": shots,
        "n-samples": {key: {"original": 135, "effective": 135} for key in rows},
        "versions": {} if version is None else dict.fromkeys(rows, version),
    } | more


def test_all_sixteen_executed_prompts_are_recognised(reference: Path) -> None:
    vectors = json.loads((reference / "mmlu" / "mmlu_prompt_vectors.json").read_text())
    found = [family_of_prompt(vector["prompt"], vector["continuations"]) for vector in vectors]
    assert len(found) == 16
    assert found == [SPELLED.get(vector["family"], vector["family"]) for vector in vectors]


def test_a_chat_template_around_the_prompt_hides_nothing() -> None:
    text = f"<|begin|><|user|>\n{HEAD}{QUESTION}<|assistant|>"
    assert family_of_prompt(text, LETTERS) is Family.LETTERS
    assert family_of_prompt(f"<|user|>{HEAD}<|x|>\nQuestion: {QUESTION}", None) is Family.HELM
    assert family_of_prompt(f"<s>[INST] Question: {CHOICES}</s>", None) is Family.HARNESS_2023


def test_chat_messages_logged_as_json_are_read() -> None:
    messages = [{"role": "system", "content": HEAD}, {"role": "user", "content": QUESTION}]
    assert family_of_prompt(json.dumps(messages), None) is Family.GENERATIVE


@pytest.mark.parametrize("text", ["", "[{", '[{"role": "user"}]', "Question: What?\nAnswer:", f"{QUESTION}"])
def test_what_is_no_known_prompt_is_unknown(text: str) -> None:
    assert family_of_prompt(text, LETTERS) is Family.UNKNOWN


def test_letters_shown_but_texts_scored_is_no_known_implementation() -> None:
    assert family_of_prompt(HEAD + QUESTION, (" a", " b", " c", " d")) is Family.UNKNOWN


def test_the_subjects_are_those_that_the_declaration_counts() -> None:
    mmlu = next(task for task in load_leaderboard("open-llm-v1").tasks if task.id == "mmlu")
    assert {subject_of(leaf.key("lm-eval-0.3")) for leaf in mmlu.leaves} == subject_names()
    assert len(subject_names()) == 57


@pytest.mark.parametrize("key", ["mmlu_pro", "leaderboard_mmlu_pro", "mmlu_pro_law", "mmlu", "hendrycksTest-x", "drop"])
def test_other_tasks_are_no_subject(key: str) -> None:
    assert subject_of(key) is None


def test_a_result_without_mmlu_has_no_family() -> None:
    assert recognise(parse_result(json.dumps(old({"drop": {"f1": 0.1}}, 1)).encode())) is None


def test_acc_that_differs_from_acc_norm_gives_the_early_harness_away() -> None:
    found = recognised(old({"hendrycksTest-anatomy": {"acc": 0.4, "acc_norm": 0.3}}, None))
    assert found.family is Family.HARNESS_2023
    assert found.evidence == ("acc differs from acc_norm in 1 of 1 subjects, which cannot be if letters are scored",)


def test_nan_proves_nothing() -> None:
    rows = {f"hendrycksTest-{subject}": {"acc": math.nan, "acc_norm": math.nan} for subject in subject_names()}
    assert recognised(old(rows, 1)).family is Family.LETTERS
    assert recognised(old(rows, None)).family is Family.UNKNOWN


def test_a_version_that_the_numbers_contradict_is_held_against_it() -> None:
    found = recognised(old({"hendrycksTest-anatomy": {"acc": 0.4, "acc_norm": 0.3}}, 1))
    assert found.family is Family.HARNESS_2023
    assert found.against == ("the task version is 1",)


@pytest.mark.parametrize(
    ("version", "count", "family"),
    [(0, 6, Family.HARNESS_2023), (1, 6, Family.LETTERS), (1, 1, Family.LETTERS), (None, 6, Family.LETTERS)],
)
def test_equal_metrics_leave_it_to_the_version(version: int | None, count: int, family: Family) -> None:
    rows = {f"hendrycksTest-{subject}": {"acc": 0.4, "acc_norm": 0.4} for subject in sorted(subject_names())[:count]}
    assert recognised(old(rows, version)).family is family


def test_two_equal_subjects_and_no_version_prove_nothing() -> None:
    rows = {f"hendrycksTest-{subject}": {"acc": 0.4, "acc_norm": 0.4} for subject in sorted(subject_names())[:2]}
    assert recognised(old(rows, None)).family is Family.UNKNOWN


@pytest.mark.parametrize(
    ("numbers", "version", "more", "family"),
    [
        ({"acc,none": 0.4}, 1.0, {}, Family.LETTERS),
        ({"acc,none": 0.4}, 0.0, {}, Family.LETTERS),
        ({"acc,none": 0.4}, 0.0, {"date": 1.7e9}, Family.ONE_NEWLINE),
        ({"acc,none": 0.4}, None, {"git_hash": "4600d6bf"}, Family.ONE_NEWLINE),
        ({"acc,none": 0.4}, None, {"lm_eval_version": "0.4.9"}, Family.LETTERS),
        ({"acc,none": 0.4}, None, {"git_hash": "0123456789"}, Family.UNKNOWN),
        ({"acc,none": 0.4, "acc_norm,none": 0.4}, 1.0, {}, Family.CONTINUATION),
        ({"exact_match,get_response": 0.4}, 3.0, {}, Family.GENERATIVE),
    ],
)
def test_the_new_harness_is_told_by_metric_version_and_date(
    numbers: dict[str, float], version: float | None, more: dict[str, Any], family: Family
) -> None:
    found = recognised(new({"mmlu_anatomy": numbers}, version, **more))
    assert found.family is family
    assert found.evidence or found.against


def test_every_family_has_a_title() -> None:
    assert set(TITLES) == set(Family)


@pytest.mark.parametrize(
    ("name", "acc", "acc_norm"),
    [("llama-7B_mmlu_5-shot.json", 0.3829, 0.3424), ("mpt-7b_mmlu_5-shot.json", 0.3517, 0.3536)],
)
def test_real_files_of_2023_are_recognised(reference: Path, name: str, acc: float, acc_norm: float) -> None:
    result = parse_result((reference / "lm_eval_old" / name).read_bytes())
    found = recognise(result)
    subjects = subjects_of(result)
    assert found is not None
    assert found.family is Family.HARNESS_2023
    assert found.against == ()
    assert len(subjects) == 57
    assert round(sum(leaf.numbers["acc"] for leaf in subjects.values()) / 57, 4) == acc
    assert round(sum(leaf.numbers["acc_norm"] for leaf in subjects.values()) / 57, 4) == acc_norm


def test_a_v1_file_without_versions_is_letters_by_its_equal_metrics(reference: Path) -> None:
    folder = reference / "openllm_v1" / "HenryJJ__Instruct_Mistral-7B-v0.1_Dolly15K"
    found = recognise(parse_result(next(folder.iterdir()).read_bytes()))
    assert found == Recognition(
        Family.LETTERS, ("acc equals acc_norm in all 57 subjects, as it must where letters are scored",)
    )


def test_a_real_file_of_2025_is_letters(reference: Path) -> None:
    path = next((reference / "lm_eval_04" / "meta-llama__Llama-3.2-1B").glob("results_*.json"))
    result = parse_result(path.read_bytes())
    found = recognise(result)
    assert found is not None
    assert found.family is Family.LETTERS
    assert len(subjects_of(result)) == 57
