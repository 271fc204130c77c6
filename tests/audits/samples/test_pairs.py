"""Answers of two runs to the same questions: matched by document, in flat memory, never by order."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from bot.audits.samples import pairs as pairs_of_logs
from bot.audits.samples.find import find_logs, folders_of_results
from bot.audits.samples.pairs import NO_SHARED, TOO_APART, TOO_MANY, pair_logs
from bot.evaluation.compare import MeasuredRun, MeasuredTask, Pairs, compare
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from bot.reporting.comparison import comparison_text, sentence_of
from tests.audits.samples.test_attacks import helm_rows, write_helm

STAMP = "2026-01-01T00-00-00.000000"


def sample(number: int, value: float, metric: str = "acc", **more: Any) -> dict[str, Any]:
    doc = {"question": f"question {number}"}
    digest = hashlib.sha256(json.dumps(doc, indent=2).encode()).hexdigest()
    return {
        "doc_id": number, "doc": doc, "target": "1", "arguments": [["prompt", " a"], ["prompt", " b"]],
        "resps": [[[-1.0, True]], [[-2.0, False]]], "filtered_resps": [[-1.0, True], [-2.0, False]],
        "doc_hash": digest, "prompt_hash": digest, "target_hash": digest, metric: value, **more,
    }  # fmt: skip


def log(folder: Path, rows: list[dict[str, Any]], task: str = "toy") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{STAMP}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_pairs_are_matched_by_document_whatever_the_order(tmp_path: Path) -> None:
    draw = random.Random(1)
    values = {number: (draw.random() < 0.5, draw.random() < 0.6) for number in range(400)}
    first = [sample(number, float(one)) for number, (one, _) in values.items()]
    second = [sample(number, float(other)) for number, (_, other) in values.items()]
    draw.shuffle(second)
    pairs = pair_logs([log(tmp_path / "a", first)], [log(tmp_path / "b", second)], "acc,none")
    assert isinstance(pairs, Pairs)
    counts = [sum(pair == want for pair in values.values()) for want in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert (pairs.counts, pairs.method) == (tuple(counts), "paired-exact")
    assert pairs.contrast.p == pytest.approx(0.0018405645403007623)  # scipy: binomtest(78, 201)


def test_samples_of_a_log_that_names_no_filter_are_those_of_the_filters_in_their_order(tmp_path: Path) -> None:
    named = [sample(number, float(number % 2), "exact_match", filter="strict") for number in range(10)]
    strict = [sample(number, 1.0, "exact_match") for number in range(10)]
    flexible = [sample(number, 0.0, "exact_match") for number in range(10)]
    logs = [log(tmp_path / "a", named)], [log(tmp_path / "b", strict + flexible)]
    filters = ("strict",), ("strict", "flexible")
    pairs = pair_logs(*logs, "exact_match,strict", filters)
    assert isinstance(pairs, Pairs)
    assert pairs.counts == (5, 0, 5, 0)
    absent = pair_logs(*logs, "exact_match,lenient", filters)
    assert absent == f"{logs[0][0].name}: no sample has a number as its exact_match,lenient"


def test_a_sample_without_a_score_has_no_partner(tmp_path: Path) -> None:
    rows = [sample(number, 1.0) for number in range(10)]
    unscored = [row | {"acc": None} if number == 3 else row for number, row in enumerate(rows)]
    pairs = pair_logs([log(tmp_path / "a", rows)], [log(tmp_path / "b", unscored)], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.shared, pairs.larger) == (9, 10)


@pytest.mark.parametrize(("prompts", "counts"), [("pq", (1, 0, 0, 1)), ("rs", (0, 1, 1, 0))])
def test_repeats_of_a_document_are_matched_by_their_prompts_and_else_in_their_order(
    tmp_path: Path, prompts: str, counts: tuple[int, ...]
) -> None:
    first = [sample(1, 1.0, prompt_hash="p"), sample(1, 0.0, prompt_hash="q")]
    second = [sample(1, 0.0, prompt_hash=prompts[1]), sample(1, 1.0, prompt_hash=prompts[0])]
    pairs = pair_logs([log(tmp_path / "a", first)], [log(tmp_path / "b", second)], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.counts, bool(pairs.prompts_differ)) == (counts, prompts == "rs")


def test_shares_are_paired_by_the_t_test(tmp_path: Path) -> None:
    draw = random.Random(2)
    one, other = ([draw.random() for _ in range(50)] for _ in range(2))
    logs = [log(tmp_path / name, [sample(i, v, "f1") for i, v in enumerate(values)])
            for name, values in (("a", one), ("b", other))]  # fmt: skip
    pairs = pair_logs(logs[:1], logs[1:], "f1,none")
    assert isinstance(pairs, Pairs)
    assert pairs.method == "paired-t"
    assert pairs.contrast.p == pytest.approx(0.8600233062587296)  # scipy: ttest_rel(other, one)


def test_shared_questions_alone_are_paired(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(100)])
    second = log(tmp_path / "b", [sample(number, 0.0) for number in range(60, 100)])
    pairs = pair_logs([first], [second], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.shared, pairs.larger) == (40, 100)


def test_other_questions_make_no_pair(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(10)])
    second = log(tmp_path / "b", [sample(number, 1.0) for number in range(10, 20)])
    pairs = pair_logs([first], [second], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.shared, pairs.larger, pairs.contrast.p) == (0, 10, None)


def test_logs_of_two_tools_may_spell_the_same_questions_otherwise(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(10)])
    second = log(tmp_path / "b", [{"doc_id": number, "prediction": "a", "acc": 1.0} for number in range(10)])
    assert pair_logs([first], [second], "acc,none") == NO_SHARED


def test_prompts_that_differ_stay_paired_and_are_named(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(10)])
    asked = [["prompt, please", " a"], ["prompt, please", " b"]]
    rows = [sample(number, 1.0, prompt_hash="other", arguments=asked) for number in range(10)]
    pairs = pair_logs([first], [log(tmp_path / "b", rows)], "acc,none")
    assert isinstance(pairs, Pairs)
    assert pairs.shared == 10
    assert pairs.prompts_differ == f"{rows[0]['doc_hash']}#"
    assert pairs.prompts == ("prompt", "prompt, please")
    task = MeasuredTask("toy", 1.0, 0.0, "acc", 100.0, ("toy",))
    run = MeasuredRun("run", {}, {"toy": task})
    said = (
        f'the prompts of toy differ, first at the question {rows[0]["doc_hash"][:12]}: A "prompt", B "prompt, please"'
    )
    assert said in comparison_text(compare(run, run, {"toy": pairs}))


def test_a_single_continuation_is_the_target_and_no_answer(tmp_path: Path) -> None:
    asked = {"arguments": [["prompt", " a"]], "resps": [[[-1.0, True]]], "filtered_resps": [[-1.0, True]]}
    logs = [[log(tmp_path / name, [sample(1, value, **asked)])] for name, value in (("a", 1.0), ("b", 0.0))]
    pairs = pair_logs(*logs, "acc,none")
    assert isinstance(pairs, Pairs)
    assert [(one, other) for _, one, other in pairs.flips] == [("", "")]


def test_a_cut_log_makes_no_pair(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(10)])
    second = log(tmp_path / "b", [sample(number, 1.0) for number in range(10)])
    second.write_text(second.read_text()[:-40])
    assert pair_logs([first], [second], "acc,none") == f"{second.name}: record 10: not valid JSON"


def test_a_pointer_of_git_lfs_is_named_with_what_gets_the_log(tmp_path: Path) -> None:
    """All sample logs of csabakecskemeti/lm_eval_results d1f48eb7 are pointers in a clone without Git LFS."""
    first = log(tmp_path / "a", [sample(number, 1.0) for number in range(10)])
    second = log(tmp_path / "b", [])
    second.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    why = f"{second.name}: record 1: a Git LFS pointer; run `git lfs pull` to get the file"
    assert pair_logs([first], [second], "acc,none") == why


def test_flips_are_shown_with_both_answers(tmp_path: Path) -> None:
    first = log(tmp_path / "a", [sample(1, 1.0)])
    likelier = [[-3.0, False], [-2.0, True]]
    second = log(tmp_path / "b", [sample(1, 0.0, resps=[[one] for one in likelier], filtered_resps=likelier)])
    pairs = pair_logs([first], [second], "acc,none")
    assert isinstance(pairs, Pairs)
    assert [(one, other) for _, one, other in pairs.flips] == [("a", "b")]


def test_logs_are_found_beside_the_file_of_their_time_and_no_link_is_followed(tmp_path: Path) -> None:
    mine = log(tmp_path, [sample(1, 1.0)])
    result = tmp_path / f"results_{STAMP}.json"
    result.write_text("{}")
    (tmp_path / "samples_other_2025-01-01T00-00-00.000000.jsonl").write_text("")
    (tmp_path / f"samples_link_{STAMP}.jsonl").symlink_to(mine)
    of = Result(
        Model(), HarnessVersion("lm-eval"), {"toy": LeafResult({}), "link": LeafResult({})}, format="lm-eval-0.4"
    )
    assert find_logs(result, of) == {"toy": mine}
    assert find_logs(result, of, tmp_path) == {"toy": mine}


@pytest.mark.parametrize("place", ["results/acme/a", "details/acme/a/{time}", "results/acme/a/{time}"])
def test_logs_are_found_where_lighteval_writes_them(tmp_path: Path, place: str) -> None:
    """Beside the result, in `details/` beside `results/`, and in a folder of the run, as it pushes them to the Hub."""
    result = tmp_path / "results" / "acme" / "a" / f"results_{STAMP}.json"
    folder = tmp_path / place.format(time=STAMP)
    other = tmp_path / "details" / "acme" / "b" / STAMP
    for each in (result.parent, folder, other):
        each.mkdir(parents=True, exist_ok=True)
    name = f"details_mmlu:anatomy|5_{STAMP}.parquet"
    for path in (result, folder / name, other / name, folder / "details_mmlu:anatomy|5_2025-01-01T00-00-00.0.parquet"):
        path.write_text("{}")
    of = Result(Model(), HarnessVersion("lighteval"), {"mmlu:anatomy|5": LeafResult({})}, format="lighteval")
    assert find_logs(result, of) == {"mmlu:anatomy|5": folder / name}
    log = str((folder / name).relative_to(tmp_path))
    assert str(result.parent.relative_to(tmp_path)) in folders_of_results(log)

    if folder != result.parent:
        moved = folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(moved, target_is_directory=True)
        assert find_logs(result, of) == {}


def test_questions_about_one_passage_are_a_cluster(tmp_path: Path) -> None:
    """With the same difference for all questions of a passage, the error is that of the passages."""
    draw = random.Random(5)
    values = {passage: float(draw.random() < 0.5) for passage in range(40)}
    rows = [[sample(number, 0.0 if side else values[number // 8]) for number in range(320)] for side in range(2)]
    for side in rows:
        for number, row in enumerate(side):
            row["doc"]["passage"] = f"the text of passage {number // 8}, which is long enough to be one"
    pairs = pair_logs([log(tmp_path / "a", rows[1])], [log(tmp_path / "b", rows[0])], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.clusters, pairs.method, pairs.shared) == (40, "paired-t", 320)
    assert pairs.contrast.p == pytest.approx(9.158898673391089e-06)  # scipy: ttest_1samp(values, 0)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_logs(tmp_path: Path) -> None:
    peaks = []
    for number in (500, 5000):
        logs = [
            log(tmp_path / f"{name}{number}", [sample(i, float(i % 3 == 0)) for i in range(number)]) for name in "ab"
        ]
        tracemalloc.start()
        assert isinstance(pair_logs(logs[:1], logs[1:], "acc,none"), Pairs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 200_000


def test_logs_that_share_no_question_are_given_up_and_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A packed log of 4 MB, of which no question was in the other, took 600 MB, and one of 80 MB more than 12 GB."""
    monkeypatch.setattr(pairs_of_logs, "MOST_WAITING", 500)
    first, second = (
        log(tmp_path / name, [sample(start + i, 1.0) for i in range(400)]) for start, name in enumerate("ab")
    )
    assert isinstance(pair_logs([first], [second], "acc,none"), Pairs)
    first = log(tmp_path / "a", [sample(number, 1.0, doc_hash=f"{number}" * 9_000) for number in range(900)])
    tracemalloc.start()
    assert pair_logs([first], [second], "acc,none") == TOO_APART
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


def test_a_log_of_more_samples_than_a_harness_writes_makes_no_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs_of_logs, "MOST_SAMPLES", 100)
    logs = [log(tmp_path / name, [sample(number, 1.0) for number in range(101)]) for name in "ab"]
    assert pair_logs(logs[:1], logs[1:], "acc,none") == f"{logs[0].name}: {TOO_MANY}"


def test_more_questions_than_an_exact_test_takes_have_a_t_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact test of ten million would take minutes."""
    monkeypatch.setattr(pairs_of_logs, "MOST_QUESTIONS", 99)
    logs = [log(tmp_path / f"{one}", [sample(n, float(n % 7 > one)) for n in range(100)]) for one in range(2)]
    pairs = pair_logs(logs[:1], logs[1:], "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.method, pairs.shared) == ("paired-t", 100)


DEEP = b'{"doc_id": 1, "filtered_resps": ["a"], "acc": 1.0, "doc": %b1%b}\n'
HOSTILE = {
    **{f"nested {n}": DEEP % (b'{"a":' * n, b"}" * n) for n in (900, 940, 960, 970, 980, 2_000, 100_000)},
    "an archive": b"PK\x03\x04garbage",
    "parquet": b"PAR1garbage",
    "a bomb": lambda: gzip.compress(b" " * (64 << 20)),
    "a long line": lambda: b'{"a": "' + b"x" * (20 << 20) + b'"}\n',
    "digits": DEEP % (b"9" * 5_000, b""),
    "no text": b"\xff\xfe\0{}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_log_that_is_none_makes_no_pair(tmp_path: Path, name: str) -> None:
    data, logs = HOSTILE[name], [tmp_path / f"{side}.jsonl" for side in "ab"]
    for path in logs:
        path.write_bytes(data() if callable(data) else data)
    pairs = pair_logs(logs[:1], logs[1:], "acc,none")
    assert isinstance(pairs, str) or (name.startswith("nested") and pairs.shared == 1)


def test_no_pipe_link_or_folder_is_taken_for_a_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"samples_pipe_{STAMP}.jsonl")
    (tmp_path / f"samples_folder_{STAMP}.jsonl").mkdir()
    (tmp_path / f"samples_link_{STAMP}.jsonl").symlink_to("/dev/zero")
    leaves = {name: LeafResult({}) for name in ("pipe", "folder", "link")}
    result = Result(Model(), HarnessVersion("lm-eval"), leaves, format="lm-eval-0.4")
    assert find_logs(tmp_path, result) == find_logs(tmp_path / "x", result, tmp_path) == {}


def test_questions_of_helm_are_those_of_the_split_that_its_means_are_over(tmp_path: Path) -> None:
    """As in a run of openai/gpt2 with `max_eval_instances: 10`: nine questions of the test split, one of validation."""
    rows = helm_rows()
    rows[0]["instance"]["split"] = "valid"
    runs = [write_helm(tmp_path / name, rows, 0.2) for name in "ab"]
    pairs = pair_logs(runs[:1], runs[1:], "exact_match")
    assert isinstance(pairs, Pairs)
    assert (pairs.shared, pairs.counts) == (19, (4, 0, 0, 15))
    for row in rows:
        row["instance"]["split"] = "valid"
    valid = [write_helm(tmp_path / name, rows, 0.2) for name in "cd"]
    pairs = pair_logs(valid[:1], valid[1:], "exact_match")
    assert isinstance(pairs, Pairs)
    assert pairs.shared == 20


def of_choices(number: int, order: str, answer: str, value: float) -> dict[str, Any]:
    doc = {"question": f"What is the name of the planet number {number}?", "answer": answer, "Record ID": number}
    doc |= {f"choice{place}": f"{letter}{number}" for place, letter in enumerate(order)}
    digest = hashlib.sha256(json.dumps(doc, indent=2).encode()).hexdigest()
    return sample(number, value) | {"doc": doc, "doc_hash": digest, "prompt_hash": digest}


def test_the_same_question_in_two_documents_is_paired_and_what_differs_is_named(tmp_path: Path) -> None:
    """As leaderboard_gpqa, which shuffles the choices of a question, and MATH, whose answers were once normalized."""
    first = [of_choices(number, "abcd", "(A)", 1.0) for number in range(6)]
    second = [of_choices(number, "badc", "(B)", 0.0) for number in range(3)]
    second += [of_choices(number, "abcd", "( A )", 1.0) for number in range(3, 5)]
    second += [of_choices(5, "abcx", "(A)", 1.0)]  # other choices are another question
    logs = [log(tmp_path / "a", first)], [log(tmp_path / "b", second)]
    pairs = pair_logs(*logs, "acc,none")
    assert isinstance(pairs, Pairs)
    assert (pairs.shared, pairs.counts) == (5, (2, 3, 0, 0))
    assert pairs.otherwise == {"order of the choices": 3, "text of the right answer": 2}
    assert any(pairs.prompts)
    runs = [MeasuredRun(name, {}, {"toy": MeasuredTask("toy", value, 0.1, "acc", 100.0, ("toy",))})
            for name, value in (("a", 1.0), ("b", 0.5))]  # fmt: skip
    text = comparison_text(compare(*runs, {"toy": pairs}))
    assert "order of the choices: one → another for 3 of 5 shared questions  [toy]" in text
    twice = [*first, first[0] | {"doc": first[0]["doc"] | {"answer": "(C)"}, "doc_hash": "x"}]
    unsure = pair_logs([log(tmp_path / "c", twice)], logs[1], "acc,none")
    assert isinstance(unsure, Pairs)
    assert unsure.shared == 4  # nobody knows which of two documents of one question is meant


def test_the_same_answers_with_other_scores_are_said_to_be_judged_otherwise(tmp_path: Path) -> None:
    texts = {"arguments": [["prompt", {"until": []}]], "resps": [["D"]], "filtered_resps": ["D"]}
    rows = [[sample(number, value, **texts) for number in range(60)] for value in (0.0, 1.0)]
    pairs = pair_logs([log(tmp_path / "a", rows[0])], [log(tmp_path / "b", rows[1])], "acc,none")
    assert isinstance(pairs, Pairs)
    assert pairs.judged == 60
    runs = [MeasuredRun(name, {}, {"toy": MeasuredTask("toy", value, 0.1, "acc", 100.0, ("toy",))}, model="acme/a")
            for name, value in (("a", 0.0), ("b", 1.0))]  # fmt: skip
    found = compare(*runs, {"toy": pairs})
    assert (found.tasks[0].conclusion, found.unexplained) == ("higher", [])
    assert "The same answers have other scores in 60 questions of toy: the scorer is another one" in sentence_of(found)
    other = [row | {"resps": [["E"]], "filtered_resps": ["E"]} for row in rows[1]]
    changed = pair_logs([log(tmp_path / "a", rows[0])], [log(tmp_path / "c", other)], "acc,none")
    assert isinstance(changed, Pairs)
    assert changed.judged == 0
