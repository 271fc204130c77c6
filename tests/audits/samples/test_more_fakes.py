"""Fakes that change what a log says of itself: its settings, its filters, its choices, its examples."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tests.audits.samples.test_attacks import (
    QUESTIONS,
    VALUE,
    Rows,
    found,
    helm_rows,
    inspect_rows,
    lighteval_rows,
    write_helm,
    write_inspect,
)
from tests.audits.samples.test_check import CHOICE, SCORING, TASKS, TEXT, checked, faults, hashed, mean, result_of
from tests.audits.samples.test_fakes import found_in

Result = dict[str, Any]


def text_result(rows: Rows) -> Result:
    keys = TASKS["gsm8k"][1]
    return result_of("gsm8k", rows, {key: mean(rows, "exact_match", key.partition(",")[2]) for key in keys})


def all_right(rows: Rows) -> Rows:
    return [row | {"exact_match": 1.0} for row in rows]


def settings(result: Result) -> Result:
    result["configs"]["gsm8k"] = copy.deepcopy(result["configs"]["gsm8k"])
    own: Result = result["configs"]["gsm8k"]
    return own


def everything_is_ignored(rows: Rows) -> tuple[Rows, Result]:
    rows = all_right(rows)
    result = text_result(rows)
    settings(result)["metric_list"][0]["regexes_to_ignore"] = ["(?s).*"]
    return rows, result


def digits_are_ignored(rows: Rows) -> tuple[Rows, Result]:
    rows = all_right(rows)
    result = text_result(rows)
    settings(result)["metric_list"][0] |= {"ignore_numbers": True, "regexes_to_ignore": [r"[^\d]+"]}
    return rows, result


def another_filter_has_other_questions(rows: Rows) -> tuple[Rows, Result]:
    """The first filter is sound; the one that counts has easy documents."""
    easy = [
        hashed(row | {"doc": {"question": "1?", "answer": "so #### 1"}, "target": "so #### 1", "exact_match": 1.0,
                      "resps": [["so #### 1"]], "filtered_resps": ["1"]})
        if row["filter"] == "flexible-extract" else row
        for row in rows
    ]  # fmt: skip
    return easy, text_result(easy)


def another_filter_has_other_prompts(rows: Rows) -> tuple[Rows, Result]:
    told = [
        hashed(row | {"arguments": {"gen_args_0": {"arg_0": f"Say {row['target'][8:]}.", "arg_1": {}}}})
        if row["filter"] == "flexible-extract" else row
        for row in rows
    ]  # fmt: skip
    return told, text_result(told)


OF_TEXTS: dict[str, tuple[Callable[[Rows], tuple[Rows, Result]], str]] = {
    one.__name__: (one, rule)
    for one, rule in (
        (everything_is_ignored, "answer-scored-otherwise"),
        (digits_are_ignored, "answer-scored-otherwise"),
        (another_filter_has_other_questions, "other-questions"),
        (another_filter_has_other_prompts, "other-questions"),
    )
}


@pytest.mark.parametrize("kind", OF_TEXTS)
def test_a_log_of_texts_that_was_made_up_breaks_a_rule(tmp_path: Path, kind: str) -> None:
    make, rule = OF_TEXTS[kind]
    rows, result = make(list(TEXT))
    assert rule in faults(checked(tmp_path, "gsm8k", rows, result), result)


OWN = "it has a scoring function of its own"
UNKNOWN: dict[str, tuple[Callable[[Result], Any], str]] = {
    "a scoring function": (lambda own: own.update(process_results="def process_results(doc, results): return 1"), OWN),
    "no filters": (lambda own: own.pop("filter_list"), "its settings do not have the filter"),
    "another metric": (lambda own: own["metric_list"][0].update(metric="acc"), "its settings do not have the metric"),
    "no settings": (lambda own: own.clear(), "its file does not say how it is scored"),
    "an option": (lambda own: own["metric_list"][0].update(lenient=True), "is none that is computed again"),
    "a filter of its own": (
        lambda own: own["filter_list"][1].update(filter=[{"function": "custom"}]), "is none that is computed again",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNKNOWN)
def test_settings_that_switch_the_scoring_off_are_said_and_have_another_digest(tmp_path: Path, kind: str) -> None:
    change, why = UNKNOWN[kind]
    rows = all_right(list(TEXT))
    sound, result = text_result(list(TEXT)), text_result(rows)
    change(settings(result))
    one = checked(tmp_path, "gsm8k", rows, result)
    assert "exact_match,flexible-extract" not in one.answers
    assert why in one.unknown["exact_match,flexible-extract"]
    own = checked(tmp_path, "gsm8k", list(TEXT), sound)
    assert not own.unknown
    assert own.scoring not in {"", one.scoring}


def test_a_filter_that_maps_wrong_answers_to_right_ones_is_scored_as_no_other(tmp_path: Path) -> None:
    """The log follows from its settings: only the other rows show that they are its own."""
    rows = [row | {"exact_match": 1.0, "filtered_resps": [row["target"][8:]]} for row in TEXT]
    rows = [hashed(row | {"resps": [[f"it is x{row['doc_id']}"]]}) for row in rows]
    result = text_result(rows)
    for one in (own := settings(result))["filter_list"]:
        names = {f"x{number}": str(number) for number in range(40)}
        one["filter"] = [{"function": "regex", "regex_pattern": r"(x\d+)"}, {"function": "map", "mapping_dict": names},
                         {"function": "take_first"}]  # fmt: skip
    assert own["filter_list"] != SCORING["gsm8k"]["filter_list"]
    one = checked(tmp_path, "gsm8k", rows, result)
    assert faults(one, result) == set()
    assert one.scoring != checked(tmp_path, "gsm8k", list(TEXT), text_result(list(TEXT))).scoring


def test_choices_in_another_order_are_other_questions(tmp_path: Path) -> None:
    """The continuation that the model liked best stands where the right one belongs."""
    rows = []
    for row in CHOICE:
        values = [float(one[0][0]) for one in row["resps"]]
        best, gold, order = values.index(max(values)), row["doc"]["gold"], list(range(4))
        order[gold], order[best] = order[best], order[gold]
        asked = [row["arguments"][f"gen_args_{place}"] for place in order]
        rows.append(hashed(row | {"acc": 1.0, "resps": [row["resps"][place] for place in order],
                                  "arguments": {f"gen_args_{n}": one for n, one in enumerate(asked)}}))  # fmt: skip
    result = result_of("arc", rows, {"acc,none": 1.0, "acc_norm,none": mean(rows, "acc_norm")})
    one = checked(tmp_path, "arc", rows, result)
    assert "are asked for in another order" in one.others
    assert one.prompts != checked(tmp_path, "arc", CHOICE, result_of("arc", CHOICE, TASKS["arc"][1])).prompts


def others_of(folder: Path, rows: Rows) -> str:
    numbers = {f"{name},none": mean(rows, name) for name in ("acc", "acc_norm")}
    return checked(folder, "arc", rows, result_of("arc", rows, numbers)).others


def test_choices_that_are_left_out_and_names_in_place_of_numbers_are_other_questions(tmp_path: Path) -> None:
    """Only the right choice of each question that was wrong is asked for."""
    rows = []
    for row in CHOICE:
        gold = row["doc"]["gold"]
        alone = {"arguments": {"gen_args_0": row["arguments"][f"gen_args_{gold}"]}, "resps": [row["resps"][gold]],
                 "target": "0", "acc": 1.0, "acc_norm": 1.0}  # fmt: skip
        doc = {"doc": {name: row["doc"][name] for name in ("question", "choices")}}  # no field has the answer
        rows.append(hashed(row | doc) if row["acc"] else hashed(row | doc | alone))
    assert "has 4 choices, and 1 are asked" in others_of(tmp_path, rows)
    fewer = [one | {"doc": one["doc"] | {"choices": one["doc"]["choices"][:3]}} for one in CHOICE]
    assert "choices" not in others_of(tmp_path, [hashed(one) for one in fewer])  # a task that asks for others
    named = [row | {"doc_id": f"q{row['doc_id']}"} for row in CHOICE]
    assert others_of(tmp_path, named) == "the harness numbers its documents, and one is called 'q0'"


def test_choices_that_are_equally_likely_in_most_questions_are_of_no_model(tmp_path: Path) -> None:
    """The first of equally likely choices counts as the answer, and it is the right one."""

    def tied(many: int) -> Rows:
        return [
            hashed(row | {"resps": [[["-1.0", "False"]]] * 4, "target": "0", "doc": row["doc"] | {"gold": 0}}
                   | {"acc": 1.0, "acc_norm": 1.0}) if place < many else row
            for place, row in enumerate(CHOICE)
        ]  # fmt: skip

    most = len(CHOICE) // 2 + 1
    assert f"equally likely in {most} of {len(CHOICE)} questions" in others_of(tmp_path, tied(most))
    assert "equally likely" not in others_of(tmp_path, tied(most - 1))


def test_a_log_likelihood_above_zero_is_none(tmp_path: Path) -> None:
    rows = []
    for row in CHOICE:
        gold, resps = row["doc"]["gold"], copy.deepcopy(row["resps"])
        resps[gold] = [["3.0", "True"]]
        rows.append(hashed(row | {"resps": resps, "acc": 1.0, "acc_norm": 1.0}))
    result = result_of("arc", rows, {"acc,none": 1.0, "acc_norm,none": 1.0})
    assert faults(checked(tmp_path, "arc", rows, result), result) == {"answer-scored-otherwise"}


def test_examples_that_are_the_questions_themselves_are_other_questions(tmp_path: Path) -> None:
    """The answer stands in all prompts, and each question of the log, too: no prompt tells more than another."""
    long = [row | {"doc": row["doc"] | {"question": f"What is the sum of {row['doc_id']} and zero, exactly?"}}
            for row in CHOICE]  # fmt: skip
    told = "\n".join(f"{row['doc']['question']} {' '.join(row['doc']['choices'])}" for row in long)

    def others(before: str) -> str:
        rows = [
            hashed(row | {"arguments": {name: one | {"arg_0": f"{before}{row['doc']['question']}"}
                                        for name, one in row["arguments"].items()}})
            for row in long
        ]  # fmt: skip
        return checked(tmp_path, "arc", rows, result_of("arc", rows, TASKS["arc"][1])).others

    assert others("") == ""
    assert others("\n".join(told.split("\n")[:5])) == ""  # five examples
    assert others(told) == "the first prompt holds 39 other questions of the log"


def said(letter: str) -> Result:
    return {"choices": [{"message": {"role": "assistant", "content": f"ANSWER: {letter}"}}]}


def inspect_faults(folder: Path, rows: Rows, change: Callable[[Result], Any] = lambda _: None) -> set[str]:
    path = write_inspect(folder, rows, 1.0)
    log = json.loads(path.read_text())
    change(log)
    path.write_text(json.dumps(log))
    return found_in(path)[0]


def test_a_noted_letter_that_is_not_in_the_answer_is_scored_otherwise(tmp_path: Path) -> None:
    right = {"scores": {"choice": {"value": "C", "answer": "A"}}}
    rows = [row | right for row in inspect_rows()]
    assert "answer-scored-otherwise" in inspect_faults(tmp_path, rows)
    assert inspect_faults(tmp_path, [row | {"output": said("A")} for row in rows]) == set()
    untold = {"output": {"choices": [{"message": {"role": "assistant", "content": "It is the first."}}]}}
    path = write_inspect(tmp_path, [row | untold for row in rows], 1.0)
    from bot.audits.samples.check import check_leaf
    from bot.evaluation.formats import parse_result

    one = check_leaf(parse_result(path.read_bytes()), "arc choice", path, path.name)
    assert one is not None
    assert (one.answers, set(one.unknown)) == ((), {"accuracy"})


def test_an_answer_of_blanks_is_read_at_once(tmp_path: Path) -> None:
    """After `ANSWER:` two thousand blanks took a minute, and twice as many eight."""
    rows, began = inspect_rows(), process_time()
    rows[0] |= {"output": said(f"{' ' * 2_000}!")}
    rows[1] |= {"output": said(f"{' ' * 500_000}!")}
    assert "answer-scored-otherwise" in inspect_faults(tmp_path, rows)
    assert process_time() - began < 5


def test_another_scorer_of_inspect_has_another_digest_of_scoring(tmp_path: Path) -> None:
    from bot.audits.samples.check import check_leaf
    from bot.evaluation.formats import parse_result

    def scoring(change: Callable[[Result], Any]) -> str:
        path = write_inspect(tmp_path, inspect_rows(), VALUE)
        log = json.loads(path.read_text())
        change(log["results"]["scores"][0])
        path.write_text(json.dumps(log))
        one = check_leaf(parse_result(path.read_bytes()), "arc choice", path, path.name)
        assert one is not None
        return one.scoring

    digests = {
        scoring(lambda _: None),
        scoring(lambda score: score.update(scorer="lenient")),
        scoring(lambda score: score.update(params={"numeric": True})),
    }
    assert len(digests - {""}) == 3


def helm_with(change: Callable[[int, Result], Result]) -> Rows:
    return [change(number, copy.deepcopy(row)) for number, row in enumerate(helm_rows())]


def a_letter_for_another_choice(number: int, row: Result) -> Result:
    row["output_mapping"] = dict(zip("AB", reversed(row["output_mapping"].values()), strict=True))
    return right_in_helm(number, row)


def a_second_completion(number: int, row: Result) -> Result:
    row["result"]["completions"] = [{"text": " B", "logprob": -1.0}, {"text": " A", "logprob": -2.0}]
    return right_in_helm(number, row)


def right_in_helm(number: int, row: Result) -> Result:
    del number
    for one in row["own"]["stats"]:
        one |= {"sum": 1.0, "mean": 1.0}
    return row


@pytest.mark.parametrize("change", [a_letter_for_another_choice, a_second_completion])
def test_a_run_of_helm_that_was_made_up_is_scored_otherwise(
    tmp_path: Path, change: Callable[[int, Result], Result]
) -> None:
    assert "answer-scored-otherwise" in found(tmp_path, "helm", helm_with(change), 1.0)[0]


def test_questions_of_helm_that_were_only_asked_with_changes_are_named(tmp_path: Path) -> None:
    """What a perturbation changed counts for no number: wrong ones could be left out so."""
    wrong = [number for number in range(QUESTIONS) if number % 4]
    rows = helm_with(lambda number, row: row | ({"instance": row["instance"] | {"perturbation": {"name": "typos"}}}
                                                if number in wrong else {}))  # fmt: skip
    path = write_helm(tmp_path, rows, 1.0)
    stats = json.loads((path / "stats.json").read_text())
    stats[1] |= {"sum": 5.0, "mean": 5.0}
    (path / "stats.json").write_text(json.dumps(stats))
    from bot.audits.samples.check import check_leaf
    from bot.platforms.inputs import find_places
    from bot.platforms.platform import Access

    parsed = next(place.parse() for place in find_places([str(path)], Access()))
    leaf = next(iter(parsed.result.leaves))  # type: ignore[union-attr]
    one = check_leaf(parsed.result, leaf, path, "states")  # type: ignore[arg-type,union-attr]
    assert one is not None
    assert "15 questions were asked only with changes" in one.others


def test_log_likelihoods_that_are_replaced_by_texts_are_named(tmp_path: Path) -> None:
    rows = [
        row | {"metric": {"acc": 1.0}, "model_response": {"input": row["doc"]["query"], "text": ["a"], "logprobs": []}}
        for row in lighteval_rows()
    ]
    assert found(tmp_path, "lighteval", rows, 1.0)[0] == {"answer-scored-otherwise"}
