"""Sample logs checked against their results: each way to deceive has its finding, and sound logs have none."""

from __future__ import annotations

import gc
import hashlib
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from sys import hash_info
from time import process_time
from typing import Any

import pytest

from bot.audits.samples import check
from bot.audits.samples.check import check_leaf
from bot.audits.samples.find import find_logs
from bot.audits.samples.questions import Questions, TellTale
from bot.audits.samples.records import NESTED
from bot.audits.samples.rescore import Unscorable, exact_match
from bot.audits.samples.sample import MOST_LEVELS, document_hash, read_sample, sha256
from bot.evaluation.formats import parse_result
from bot.evaluation.result import CheckedSamples, Result
from bot.platforms.inputs import find_places
from bot.platforms.platform import Access
from bot.service.judge.samples import with_local_samples

STAMP = "2026-03-02T10-00-00.000000"
QUESTIONS = 40
Rows = list[dict[str, Any]]


def hashed(row: dict[str, Any]) -> dict[str, Any]:
    prompt = next(iter(row["arguments"].values()))["arg_0"]
    hashes = {
        "doc_hash": document_hash(row["doc"]),
        "prompt_hash": sha256(prompt),
        "target_hash": sha256(row["target"]),
    }
    return row | hashes


def choice_rows() -> Iterator[dict[str, Any]]:
    """Four answers each; the last is the longest, so that acc and acc_norm differ for some."""
    for number in range(QUESTIONS):
        doc = {"question": f"What is {number}?", "choices": ["a", "bb", "ccc", "a long answer"], "gold": number % 4}
        values = [-2.0 - (number * 7 + place * 3) % 5 - place / 10 for place in range(4)]
        lengths = [value / len(text) for value, text in zip(values, doc["choices"], strict=True)]
        yield hashed({
            "doc_id": number,
            "doc": doc,
            "target": str(doc["gold"]),
            "arguments": {f"gen_args_{n}": {"arg_0": f"Q: {number}\nA:", "arg_1": f" {text}"}
                          for n, text in enumerate(doc["choices"])},
            "resps": [[[str(value), "False"]] for value in values],
            "filtered_resps": [[str(value), "False"] for value in values],
            "filter": "none",
            "metrics": ["acc", "acc_norm"],
            "acc": float(values.index(max(values)) == doc["gold"]),
            "acc_norm": float(lengths.index(max(lengths)) == doc["gold"]),
        })  # fmt: skip


def text_rows(*, has_filter: bool = True) -> Iterator[dict[str, Any]]:
    """GSM8K with its two filters, of which the second finds more."""
    for place, name in enumerate(("strict-match", "flexible-extract")):
        for number in range(QUESTIONS):
            answer = str(number) if number % 4 < 1 + place else "[invalid]"
            row = {
                "doc_id": number,
                "doc": {"question": f"{number}?", "answer": f"so #### {number}"},
                "target": f"so #### {number}",
                "arguments": {"gen_args_0": {"arg_0": f"Q: {number}", "arg_1": {"until": ["\n"]}}},
                "resps": [[f"so #### {number}" if place == 0 and answer != "[invalid]" else answer]],
                "filtered_resps": [answer],
                "exact_match": float(answer == str(number)),
            }
            yield hashed(row | ({"filter": name} if has_filter else {}))


def drop_rows() -> Iterator[dict[str, Any]]:
    for number in range(QUESTIONS):
        doc = {"passage": "p", "question": f"question {number}?", "answers": [[str(number)]]}
        right = number % 3 == 0
        row = {
            "doc_id": number,
            "doc": doc,
            "target": str(number),
            "arguments": {"gen_args_0": {"arg_0": f"p question {number}?", "arg_1": {"until": ["."]}}},
            "resps": [[str(number) if right else "none"]],
            "filtered_resps": [str(number) if right else "none"],
            "filter": "none",
            "em": float(right),
            "f1": float(right),
        }
        yield hashed(row)


def mean(rows: Rows, name: str, answer_filter: str = "") -> float:
    found = [row[name] for row in rows if not answer_filter or row.get("filter") == answer_filter]
    return sum(found) / len(found)


IGNORED = [",", "\\$", "(?s).*#### ", "\\.$"]
SCORING: dict[str, dict[str, Any]] = {
    "arc": {"output_type": "multiple_choice", "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]},
    "gsm8k": {
        "output_type": "generate_until",
        "metric_list": [{"metric": "exact_match", "ignore_case": True, "regexes_to_ignore": IGNORED}],
        "filter_list": [
            {"name": "strict-match", "filter": [
                {"function": "regex", "regex_pattern": "#### (\\-?[0-9\\.\\,]+)"}, {"function": "take_first"}]},
            {"name": "flexible-extract", "filter": [
                {"function": "regex", "regex_pattern": "(-?[$0-9.,]{2,})|(-?[0-9]+)", "group_select": -1},
                {"function": "take_first"}]},
        ],
    },
    "ko_winogrande": {"output_type": "generate_until", "metric_list": [{"metric": "exact_match"}]},
}  # fmt: skip


def result_of(task: str, rows: Rows, numbers: dict[str, float]) -> dict[str, Any]:
    joined = "".join(row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in rows)
    return {
        "results": {task: {"alias": task, **numbers}},
        "configs": {task: {"task": task, "num_fewshot": 0} | SCORING.get(task, {})},
        "versions": {task: 1.0},
        "n-shot": {task: 0},
        "n-samples": {task: {"original": QUESTIONS, "effective": QUESTIONS}},
        "config": {"model": "hf", "model_args": "pretrained=acme/a-1b"},
        "git_hash": "abcdef12",
        "date": 1.7e9,
        "task_hashes": {task: hashlib.sha256(joined.encode()).hexdigest()},
    }


CHOICE, TEXT, DROP = list(choice_rows()), list(text_rows()), list(drop_rows())
TASKS: dict[str, tuple[Rows, dict[str, float]]] = {
    "arc": (CHOICE, {"acc,none": mean(CHOICE, "acc"), "acc_norm,none": mean(CHOICE, "acc_norm")}),
    "gsm8k": (TEXT, {f"exact_match,{name}": mean(TEXT, "exact_match", name)
                     for name in ("strict-match", "flexible-extract")}),
    "drop": (DROP, {"em,none": mean(DROP, "em"), "f1,none": mean(DROP, "f1")}),
}  # fmt: skip


def checked(folder: Path, task: str, rows: Rows, result: dict[str, Any]) -> CheckedSamples:
    path = folder / f"results_{STAMP}.json"
    path.write_text(json.dumps(result))
    log = folder / f"samples_{task}_{STAMP}.jsonl"
    log.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    found = parse_result(path.read_bytes())
    assert find_logs(path, found) == {task: log}
    (one,) = with_local_samples(next(iter(find_places([str(path)], Access()))).parse(), path).samples  # type: ignore[union-attr,misc]
    return one


def faults(one: CheckedSamples, result: dict[str, Any]) -> set[str]:
    numbers = result["results"][one.leaf]
    found = {"samples-disagree" for key, value in one.means.items() if abs(numbers[key] - value) > 1e-6}
    found |= {"answer-scored-otherwise"} if one.wrong or one.unscored else set()
    found |= {"other-questions"} if one.others else set()
    return found | ({"samples-unreadable"} if one.unreadable else set())


@pytest.mark.parametrize("task", TASKS)
def test_a_sound_log_has_no_fault_and_its_answers_are_scored_again(tmp_path: Path, task: str) -> None:
    rows, numbers = TASKS[task]
    result = result_of(task, rows, numbers)
    one = checked(tmp_path, task, rows, result)
    assert faults(one, result) == set()
    assert (set(one.answers), one.means, one.count) == (set(numbers), pytest.approx(numbers), QUESTIONS)


def test_a_log_without_filters_has_all_samples_once_for_each(tmp_path: Path) -> None:
    rows = list(text_rows(has_filter=False))
    result = result_of("gsm8k", rows, TASKS["gsm8k"][1])
    one = checked(tmp_path, "gsm8k", rows, result)
    assert faults(one, result) == set()
    assert one.means == pytest.approx(TASKS["gsm8k"][1])
    turned = result_of("gsm8k", rows, dict(reversed(TASKS["gsm8k"][1].items())))
    assert checked(tmp_path, "gsm8k", rows, turned).means == one.means  # somebody sorted the keys of the file

    (key, _), (_, higher) = TASKS["gsm8k"][1].items()
    raised = result_of("gsm8k", rows, dict.fromkeys(TASKS["gsm8k"][1], higher))
    assert "samples-disagree" in faults(checked(tmp_path, "gsm8k", rows, raised), raised)
    assert checked(tmp_path, "gsm8k", rows, raised).means[key] < higher


def edit(rows: Rows, place: int, **more: object) -> Rows:
    return [row | more if number == place else row for number, row in enumerate(rows)]


def likelihood(rows: Rows) -> Rows:
    place = next(place for place, row in enumerate(rows) if not row["acc"])
    gold = rows[place]["doc"]["gold"]
    resps = [[["0.0", "False"]] if number == gold else one for number, one in enumerate(rows[place]["resps"])]
    return edit(rows, place, resps=resps)


def right_answers(rows: Rows) -> Rows:
    """What a model that fails on the hard questions would like to submit."""
    return [row for row in rows if row.get("acc", 1.0)]


ATTACKS: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "a metric": ("arc", lambda rows: [row | {"acc": 1.0} for row in rows], "answer-scored-otherwise"),
    "a log-likelihood": ("arc", likelihood, "answer-scored-otherwise"),
    "an answer": ("gsm8k", lambda rows: edit(rows, 3, filtered_resps=["3"]), "answer-scored-otherwise"),
    "a score of an answer": ("gsm8k", lambda rows: edit(rows, 3, exact_match=1.0), "answer-scored-otherwise"),
    "an answer of DROP": ("drop", lambda rows: edit(rows, 1, filtered_resps=["1"]), "answer-scored-otherwise"),
    "hard ones left out": ("arc", right_answers, "other-questions"),
    "a doubled sample": ("arc", lambda rows: [*rows[:-1], rows[0]], "other-questions"),
    "another document": ("arc", lambda rows: edit(rows, 0, doc={"question": "?"}), "other-questions"),
    "another prompt": ("gsm8k", lambda rows: edit(rows, 0, arguments={"gen_args_0": {"arg_0": "the answer is 0"}}),
                       "other-questions"),
    "another target": ("drop", lambda rows: edit(rows, 0, target="7"), "other-questions"),
    "scores taken out": ("arc", lambda rows: [row if row["acc"] else row | {"acc": None} for row in rows],
                         "other-questions"),
    "a score of several": ("arc", lambda rows: [row | {"acc": [row["acc"] == 1, True]} for row in rows],
                           "answer-scored-otherwise"),
    "a cut line": ("drop", lambda rows: rows[:-1], "other-questions"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_edit_of_a_log_has_its_fault(tmp_path: Path, attack: str) -> None:
    task, change, rule = ATTACKS[attack]
    rows, numbers = TASKS[task]
    result = result_of(task, rows, numbers)
    assert rule in faults(checked(tmp_path, task, change(rows), result), result)


def test_hard_samples_cannot_be_left_out_with_new_counts_and_hashes(tmp_path: Path) -> None:
    rows = right_answers(CHOICE)
    result = result_of("arc", rows, {"acc,none": 1.0, "acc_norm,none": mean(rows, "acc_norm")})
    result["n-samples"]["arc"] = {"original": len(rows), "effective": len(rows)}
    one = checked(tmp_path, "arc", rows, result)
    assert faults(one, result) == {"other-questions"}
    assert "some are missing" in one.others


def test_an_edited_value_and_the_log_of_another_model_disagree(tmp_path: Path) -> None:
    rows, numbers = TASKS["arc"]
    result = result_of("arc", rows, numbers | {"acc,none": 0.9})
    assert faults(checked(tmp_path, "arc", rows, result), result) == {"samples-disagree"}


def test_the_digest_of_documents_is_the_same_in_any_order_and_for_every_model(tmp_path: Path) -> None:
    rows, numbers = TASKS["drop"]
    result = result_of("drop", rows, numbers) | {"task_hashes": {}}
    one = checked(tmp_path, "drop", rows, result)
    other = checked(tmp_path, "drop", [row | {"f1": 0.0} for row in rows[::-1]], result)
    assert one.documents == other.documents
    different = checked(tmp_path, "drop", [hashed(row | {"doc": {"passage": "q"}}) for row in rows], result)
    assert different.documents != one.documents


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    rows, numbers = TASKS["drop"]
    path = tmp_path / f"results_{STAMP}.json"
    path.write_text(json.dumps(result_of("drop", rows, numbers)))
    log = tmp_path / f"samples_drop_{STAMP}.jsonl"
    result = parse_result(path.read_bytes())
    for data in (b"", b"{", b"\x1f\x8b\x00", json.dumps(rows[0]).encode()[:-5]):
        log.write_bytes(data)
        found = check_leaf(result, "drop", log, log.name)
        assert found is not None
        assert found.unreadable


def test_a_log_of_more_filters_metrics_or_samples_than_a_harness_writes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of such lines took 4 GB of memory."""
    rows, numbers = TASKS["gsm8k"]
    result = result_of("gsm8k", rows, numbers)
    monkeypatch.setattr(check, "MOST_SAMPLES", 100)
    many: list[Rows] = [
        [rows[0] | {"filter": f"f{number}"} for number in range(20)],
        [rows[0] | {f"m{number}": 1.0 for number in range(1_001)}] * 2,
        [rows[0]] * 101,
    ]
    for each in many:
        assert "has more than 100 samples, 16 filters or 1,000" in checked(tmp_path, "gsm8k", each, result).unreadable


def test_a_deeply_nested_document_makes_the_log_unreadable_at_once(tmp_path: Path) -> None:
    """Its text has an indent in each line: of 400 kB below 900 lists it has 360 MB."""
    rows, numbers = TASKS["drop"]
    result = parse_result(json.dumps(result_of("drop", rows, numbers)).encode())
    log = tmp_path / "samples.jsonl"

    def unreadable(levels: int, values: int) -> str:
        doc: Any = [1] * values
        for _ in range(levels - 2):
            doc = [doc]
        row = rows[0] | {"doc": rows[0]["doc"] | {"deep": doc}}
        log.write_text(json.dumps(hashed(row) if levels <= MOST_LEVELS else row | {"doc_hash": "0"}))
        found = check_leaf(result, "drop", log, log.name)
        assert found is not None
        return found.unreadable

    assert unreadable(MOST_LEVELS, 1) == ""
    assert unreadable(MOST_LEVELS + 1, 1) == NESTED
    tracemalloc.start()
    assert unreadable(900, 20_000) == NESTED
    assert tracemalloc.get_traced_memory()[1] < 16e6
    tracemalloc.stop()


def inspect_log(values: list[float], answers: list[str] | None = None) -> dict[str, Any]:
    said = answers or ["C" if value else "I" for value in values]
    return {
        "version": 2,
        "plan": {},
        "status": "success",
        "eval": {"task": "arc", "model": "hf/acme/a-1b", "created": "2026-03-02T10:00:00+00:00",
                 "dataset": {"samples": len(values)}, "config": {}},
        "results": {"total_samples": len(values), "completed_samples": len(values), "scores": [
            {"name": "choice", "scorer": "choice", "params": {},
             "metrics": {"accuracy": {"name": "accuracy", "value": sum(values) / len(values), "options": {}}}}]},
        "samples": [{"id": number, "epoch": 1, "input": f"{number}?", "target": "A",
                     "output": {"choices": [{"message": {"role": "assistant", "content": "ANSWER: A"}}]},
                     "scores": {"choice": {"value": one, "answer": "A"}}} for number, one in enumerate(said)],
    }  # fmt: skip


def inspect_checked(tmp_path: Path, log: dict[str, Any]) -> set[str]:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    result: Result = parse_result(path.read_bytes())
    found = check_leaf(result, next(iter(result.leaves)), path, path.name)
    assert found is not None
    value = next(iter(result.leaves.values())).numbers["accuracy"]
    disagrees = {"samples-disagree" for one in found.means.values() if abs(value - one) > 1e-6}
    return disagrees | ({"other-questions"} if found.others else set())


def test_the_samples_of_an_inspect_log_are_checked(tmp_path: Path) -> None:
    log = inspect_log([1.0, 0.0, 1.0, 0.0])
    assert inspect_checked(tmp_path, log) == set()
    edited = inspect_log([1.0, 1.0, 1.0, 0.0], ["C", "I", "C", "I"])
    assert inspect_checked(tmp_path, edited) == {"samples-disagree"}
    assert "other-questions" in inspect_checked(tmp_path, log | {"samples": log["samples"][:3]})
    assert "other-questions" in inspect_checked(tmp_path, log | {"samples": [*log["samples"][:3], log["samples"][0]]})


@pytest.mark.parametrize("given", [{}, {"subject": "law school (all)"}])
def test_a_score_whose_name_has_spaces_is_checked(tmp_path: Path, given: dict[str, str]) -> None:
    """As in Raheemrana/scicode-bench `81a849e2`: the mean of `Problem Correctness` could be anything."""
    sound, edited = inspect_log([1.0, 0.0]), inspect_log([1.0, 1.0], ["C", "I"])
    for log, found in ((sound, set[str]()), (edited, {"samples-disagree"})):
        log["eval"]["task_args_passed"] = given
        spelled = json.loads(json.dumps(log).replace('"choice"', '"Problem Correctness"'))
        assert inspect_checked(tmp_path, spelled) == found


def test_samples_of_an_inspect_log_that_failed_or_have_no_score_are_no_other_questions(tmp_path: Path) -> None:
    log = inspect_log([1.0, 0.0, 1.0, 0.0])
    failed = {"id": 4, "epoch": 1, "input": "4?", "target": "A", "scores": None, "error": {"message": "boom"}}
    assert inspect_checked(tmp_path, log | {"samples": [*log["samples"], failed]}) == set()
    log["results"]["scores"][0] |= {"scored_samples": 4, "unscored_samples": 1}
    unscored = failed | {"scores": {"choice": {"value": float("nan"), "answer": ""}}}
    assert inspect_checked(tmp_path, log | {"samples": [*log["samples"], unscored]}) == set()


def test_no_real_log_is_a_false_alarm(reference: Path) -> None:
    """But for two that were shortened by hand after the run."""
    shortened = {"results_2026-01-21T03-44-18.458309.json", "log_tool_call_error.json"}
    count = 0
    for place in find_places([str(reference)], Access()):
        path = Path(place.candidate.path)
        parsed = place.parse()
        for one in getattr(with_local_samples(parsed, path), "samples", ()) or () if hasattr(parsed, "result") else ():
            numbers = parsed.result.leaves[one.leaf].numbers  # type: ignore[union-attr]
            bad = [key for key, value in one.means.items() if abs(numbers[key] - value) > 1e-6]
            assert bool(bad or one.wrong or one.others or one.unreadable) == (path.name in shortened), path
            count += 1
    assert count > 15


def test_an_answer_with_a_space_in_front_may_be_wrong(tmp_path: Path) -> None:
    """As ko_winogrande of allenlee-37/KT-lm-evaluation-harness: exact_match of lm-eval takes no space away."""
    rows = [
        hashed({name: one for name, one in row.items() if name != "filter"} | {
            "target": "2", "resps": [[" 2"]], "filtered_resps": [" 2"], "exact_match": 0.0,
        })
        for row in TEXT[:QUESTIONS]
    ]  # fmt: skip
    result = result_of("ko_winogrande", rows, {"exact_match,none": 0.0})
    assert faults(checked(tmp_path, "ko_winogrande", rows, result), result) == set()


def test_an_answer_of_a_million_letters_is_held_against_its_target_at_once() -> None:
    """A pattern that looks for the mark of an answer from every letter would take an hour for each sample."""
    long = "a" * 1_000_000
    began = process_time()
    for answer in (long, f"{long}#### 1200", f"{long}\n#### " * 2):
        with suppress(Unscorable):
            exact_match(answer, "so #### 1,200.", {"regexes_to_ignore": [*IGNORED, "(a+)+b"]})
    assert process_time() - began < 3


def test_numbers_of_samples_that_have_one_hash_take_no_time() -> None:
    """A table of 200,000 such numbers took seven minutes."""
    began = process_time()
    names = {read_sample(b'{"doc_id": %d, "prediction": "a"}' % (hash_info.modulus * n)).doc_id for n in range(20_000)}
    assert len(names) == 20_000
    assert process_time() - began < 2


def test_choices_are_looked_for_in_a_long_prompt_at_once() -> None:
    """One that is half of a prompt of one letter took 15 seconds for each sample."""
    tell_tale, began = TellTale(), process_time()
    for letters in (1_000, 100_000):
        choices = ["a" * letters, "a" * letters + "b", "c"]
        row = {
            "doc_id": 1,
            "doc": {},
            "target": 0,
            "arguments": [["a" * 200_000, f" {one}"] for one in choices],
            "resps": [[[-1.0, False]]] * len(choices),
        }
        sample = read_sample(json.dumps(row))
        assert len(sample.continuations) == len(choices)
        tell_tale.add(sample)
    assert process_time() - began < 0.5


def test_answers_to_one_question_on_one_passage_are_no_examples() -> None:
    """As in MultiRC, where each document is an answer to a question on a passage that others share."""
    tell_tale = TellTale()
    for number in range(20):
        passage = {"paragraph": "A passage of which many are asked. " * 3, "question": "Which of these is said in it?"}
        doc = {**passage, "answer": f"answer {number}"}
        row = {"doc_id": number, "doc": doc, "target": 0, "arguments": [["\n".join(doc.values()), f" {one}"] for one in
               ("no", "yes")], "resps": [[[-1.0, False]]] * 2}  # fmt: skip
        tell_tale.add(read_sample(json.dumps(row)))
    assert tell_tale.outcome == ""


def test_a_name_of_millions_of_digits_is_told_from_others_at_once() -> None:
    questions, name, began = Questions(), "9" * 4_000_000, process_time()
    samples = [read_sample(json.dumps({"doc_id": one, "prediction": "a"})) for one in (name, name + "9", name)]
    assert [questions.add(one) for one in samples] == [True, True, False]
    assert process_time() - began < 0.5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    rows, numbers = TASKS["drop"]
    log = tmp_path / "samples.jsonl"
    peaks = []
    for count in (2_000, 20_000):
        with log.open("w") as file:
            for number in range(count):
                file.write(json.dumps(hashed(rows[0] | {"doc_id": number})) + "\n")
        result = parse_result(json.dumps(result_of("drop", rows, numbers)).encode())
        gc.collect()
        usual = gc.get_threshold()
        gc.set_threshold(1_000)  # the tests look for garbage less often than a command does
        tracemalloc.start()
        check_leaf(result, "drop", log, log.name)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        gc.set_threshold(*usual)
    assert peaks[1] < 1.3 * peaks[0]
