"""The audit of MMLU results: real files, logs made by hand, the investigation's table, and bad input."""

from __future__ import annotations

import csv
import gzip
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.audits.mmlu.audit import MmluAudit, audit_mmlu
from bot.audits.mmlu.prompts import Question, ask
from bot.audits.mmlu.rescore import Fidelity
from bot.audits.mmlu.source import MmluSource
from bot.cli.audits import audit
from bot.evaluation.leaderboard import load_leaderboard
from bot.evaluation.mmlu_family import Family
from bot.evaluation.submission import one_file, parse_submission
from bot.evaluation.verdict import judge

QUESTION = Question("Which?", ("a much longer text", "b", "c", "d"), 0)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(audit, ["mmlu", *map(str, arguments)])


def row(family: Family, responses: list[Any], **more: Any) -> dict[str, Any]:
    """A record of lm-eval 0.4.3 and later, as that version writes it."""
    built = ask(family, QUESTION, (), "anatomy")
    seconds: list[Any] = list(built.continuations) or [{"until": ["\n"]}]
    arguments = {f"gen_args_{i}": {"arg_0": built.prompt, "arg_1": second} for i, second in enumerate(seconds)}
    doc = {"question": "Which?", "choices": list(QUESTION.choices), "answer": 0, "subject": "anatomy"}
    return {"doc_id": 0, "doc": doc, "arguments": arguments, "resps": [[one] for one in responses], **more}


def log(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(one) if isinstance(one, dict) else one}\n" for one in rows))
    return path


def one(*paths: Path) -> MmluSource:
    found = audit_mmlu(paths)
    assert found.problems == ()
    (source,) = found.sources
    return source


def scores(source: MmluSource) -> dict[tuple[str, str], tuple[float | None, Fidelity | None]]:
    return {(score.family.value, score.metric): (score.micro, score.standing) for score in source.scores}


def test_a_letter_log_gives_three_scores_and_says_what_the_others_need(tmp_path: Path) -> None:
    right = [["-0.5", "True"], ["-1", "False"], ["-2", "False"], ["-3", "False"]]
    not_greedy = [["-0.5", "False"], ["-1", "False"], ["-2", "False"], ["-3", "False"]]
    wrong = [["-5", "False"], ["-1", "True"], ["-2", "False"], ["-3", "False"]]
    rows = [row(Family.LETTERS, answers, acc=acc) for answers, acc in ((right, 1.0), (not_greedy, 1.0), (wrong, 1.0))]
    source = one(log(tmp_path / "samples_mmlu_anatomy_x.jsonl", *rows))
    assert source.family is Family.LETTERS
    found = scores(source)
    assert found["harness_letters", "acc"] == (2 / 3, Fidelity.OWN)
    assert found["original", "acc"] == (2 / 3, Fidelity.ALIKE)
    assert found["helm", "exact_match"] == (1 / 3, Fidelity.AT_LEAST)
    assert found["harness_2023", "acc_norm"] == (None, None)
    assert source.scores[0].differing == 1
    missing = {score.family: score.missing for score in source.scores if score.missing}
    assert missing[Family.HARNESS_2023].endswith("run it again")
    assert set(missing) == {Family.HARNESS_2023, Family.GENERATIVE, Family.CONTINUATION}


def test_without_the_greedy_flag_helm_cannot_be_had(tmp_path: Path) -> None:
    source = one(log(tmp_path / "x.jsonl", row(Family.LETTERS, ["-0.5", "-1", "-2", "-3"])))
    helm = next(score for score in source.scores if score.family is Family.HELM)
    assert helm.micro is None
    assert "is_greedy" in helm.missing


def test_a_text_log_gives_acc_and_acc_norm(tmp_path: Path) -> None:
    texts = [[-6.0, False], [-5.0, False], [-9.0, False], [-9.0, False]]
    source = one(log(tmp_path / "x.jsonl", row(Family.HARNESS_2023, texts, acc=0.0, acc_norm=1.0)))
    found = scores(source)
    assert found["harness_2023", "acc"] == (0.0, Fidelity.OWN)
    assert found["harness_2023", "acc_norm"] == (1.0, Fidelity.OWN)
    assert found["harness_letters", "acc"] == (None, None)
    assert [score.differing for score in source.scores[:2]] == [0, 0]


def test_a_generated_log_counts_the_first_line(tmp_path: Path) -> None:
    rows = [row(Family.GENERATIVE, [text]) for text in (" A", "a.\nB", "B", " A because")]
    found = scores(one(log(tmp_path / "x.jsonl", *rows)))
    assert found["harness_generative", "exact_match"] == (0.5, Fidelity.OWN)
    assert found["helm", "exact_match"] == (0.25, Fidelity.ALIKE)


def test_the_early_array_and_the_write_out_of_0_3_are_read(tmp_path: Path) -> None:
    texts = [-1.0, -5.0, -9.0, -9.0]
    built = ask(Family.HARNESS_2023, QUESTION, (), "anatomy")
    written = {"doc_id": "0", "truth": built.continuations[0], "acc": "1.0"}
    written |= {f"prompt_{i}": built.prompt + text for i, text in enumerate(built.continuations)}
    written |= {f"logit_{i}": value for i, value in enumerate(texts)}
    early = row(Family.HARNESS_2023, [[value, False] for value in texts])
    early["arguments"] = [[built.prompt, text] for text in built.continuations]
    for name, record in (("early.jsonl", early), ("x_write_out_info.json", written)):
        path = tmp_path / name
        path.write_text(json.dumps([record], indent=1))
        source = one(path)
        assert source.family is Family.HARNESS_2023
        assert scores(source)["harness_2023", "acc_norm"] == (1.0, Fidelity.OWN)


def test_macro_and_micro_part_where_subjects_differ_in_size(tmp_path: Path) -> None:
    good = row(Family.LETTERS, ["-1", "-2", "-3", "-4"])
    bad = row(Family.LETTERS, ["-9", "-2", "-3", "-4"])
    bad["doc"] = bad["doc"] | {"subject": "virology"}
    source = one(log(tmp_path / "x.jsonl", good, good, good, bad))
    assert (source.scores[0].micro, source.scores[0].macro, source.scores[0].subjects) == (0.75, 0.5, 2)
    main = source.main()
    assert main is not None
    assert main.macro == 0.5


def test_a_log_of_two_implementations_says_so(tmp_path: Path) -> None:
    mixed = [row(Family.LETTERS, ["-1", "-2", "-3", "-4"]), row(Family.GENERATIVE, ["A"])]
    source = one(log(tmp_path / "x.jsonl", *mixed))
    assert source.family is Family.UNKNOWN
    assert source.against == ("the log mixes implementations",)


def test_broken_records_are_counted_and_the_sound_part_stands(tmp_path: Path) -> None:
    sound = row(Family.LETTERS, ["-1", "-2", "-3", "-4"])
    no_gold = sound | {"doc": sound["doc"] | {"answer": 7}}
    no_answer = sound | {"resps": []}
    not_finite = row(Family.LETTERS, ["nan", "-2", "-3", "-4"])
    source = one(log(tmp_path / "x.jsonl", sound, "{", "[]", {"a": 1}, no_gold, no_answer, not_finite, sound))
    assert source.samples == 2
    assert {(skip.why, skip.count, skip.line) for skip in source.skipped} == {
        ("not JSON", 1, 2),
        ("not a JSON object", 1, 3),
        ("a sample of another task", 1, 4),
        ("no right answer from A to D", 1, 5),
        ("nothing that the model gave", 2, 6),
    }


def test_a_truncated_gzip_still_gives_what_was_read(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row(Family.LETTERS, [f"-{i}.5", "-2", "-3", "-4"])) + "\n" for i in range(500))
    path = tmp_path / "samples_mmlu_anatomy_x.jsonl.gz"
    path.write_bytes(gzip.compress(lines.encode(), 0)[:200_000])
    source = one(path)
    assert 100 < source.samples < 500
    assert "gzip" in source.skipped[-1].why


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x.json", "{", "truncated"),
        (
            "x.json",
            '{"results": {"drop": {"f1": 0.1}}, "versions": {}, "config": {"no_cache": true}}',
            "no subject of MMLU",
        ),
        ("x.jsonl", '{"doc": {"passage": "p"}}\n', "no sample of MMLU: a sample of another task (1)"),
        ("x.jsonl", "", "no sample of MMLU: it is empty"),
        ("x.csv", "model,a\nx,1\n", "two columns of scores"),
        ("x.csv", "q,ada_correct\n", "is not a CSV file of hendrycks/test"),
        ("accuracies_x.json", '{"weighted_accuracy": "x"}', "is not an accuracies file"),
        ("accuracies_x.json", '{"weighted_accuracy": 1, "subcategories": {}}', "is not an accuracies file"),
        ("accuracies_x.json", '{"weighted_accuracy": 1, "subcategories": []}', "is not an accuracies file"),
        ("accuracies_x.json", '{"weighted_accuracy": NaN, "subcategories": {"a": 1}}', "not numbers"),
    ],
)
def test_what_is_no_result_of_mmlu_is_one_line_with_status_1(tmp_path: Path, name: str, text: str, why: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    (problem,) = audit_mmlu([path]).problems
    assert why in problem.why
    assert "\n" not in problem.why
    result = call(path)
    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)


def test_values_that_are_no_shares_are_left_out_of_the_averages(tmp_path: Path) -> None:
    rows = {
        "hendrycksTest-anatomy": {"acc": 0.5, "acc_norm": 0.4},
        "hendrycksTest-virology": {"acc": float("nan"), "acc_norm": 1},
        "hendrycksTest-astronomy": {"acc": 10**400, "acc_norm": "N/A"},
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"results": rows, "versions": {}, "config": {"no_cache": True}}))
    report = json.loads(call("--format", "json", path).stdout)
    means = {mean["metric"]: (mean["macro"], mean["subjects"]) for mean in report["sources"][0]["aggregates"]}
    assert means == {"acc": (0.5, 1), "acc_norm": (0.7, 2)}


def test_a_folder_may_hold_other_results_but_must_hold_one_of_mmlu(tmp_path: Path) -> None:
    log(tmp_path / "samples_drop_x.jsonl", {"doc": {"passage": "p"}})
    (problem,) = audit_mmlu([tmp_path]).problems
    assert problem.why == "holds no sample of MMLU: a sample of another task (1)"
    (tmp_path / "m").mkdir()
    log(tmp_path / "m" / "samples_mmlu_anatomy_x.jsonl", row(Family.LETTERS, ["-1", "-2", "-3", "-4"]))
    found = audit_mmlu([tmp_path])
    assert found.problems == ()
    assert [source.path for source in found.sources] == [str(tmp_path / "m")]
    assert "cannot be read" in audit_mmlu([tmp_path / "none"]).problems[0].why


@pytest.mark.parametrize("spec", ["{", "{}", '{"scenario_spec": {"class_name": "x.BabiScenario"}, "adapter_spec": {}}'])
def test_a_folder_that_is_no_helm_run_of_mmlu_is_refused(tmp_path: Path, spec: str) -> None:
    (tmp_path / "run_spec.json").write_text(spec)
    (tmp_path / "stats.json").write_text("[]")
    assert len(audit_mmlu([tmp_path]).problems) == 1


def helm_run(folder: Path, states: Any) -> Path:
    adapter = {"model": "org/model", "max_train_instances": 5, "method": "joint"}
    spec = {"scenario_spec": {"class_name": "MMLUScenario", "args": {"subject": "anatomy"}}, "adapter_spec": adapter}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "stats.json").write_text(json.dumps([{"name": {"name": "exact_match", "split": "test"}, "mean": 0.5}]))
    (folder / "scenario_state.json").write_text(json.dumps(states))
    return folder


@pytest.mark.parametrize("states", [[], {}, {"request_states": 1}, {"request_states": [1, {"instance": 2}]}])
def test_a_helm_run_without_sound_states_still_has_its_statistics(tmp_path: Path, states: Any) -> None:
    source = one(helm_run(tmp_path, states))
    assert (source.family, source.samples, source.aggregates[0].macro) == (Family.HELM, 0, 0.5)


def test_a_helm_state_that_is_damaged_is_counted(tmp_path: Path) -> None:
    states = {"request_states": [{"instance": {"split": "test"}, "request": {}}]}
    assert [skip.count for skip in one(helm_run(tmp_path, states)).skipped] == [1]


def test_what_the_authors_code_writes_is_read(tmp_path: Path) -> None:
    table = tmp_path / "anatomy.csv"
    table.write_text("q,a,ada_correct\nx,A,True\ny,B,False\n")
    sums = tmp_path / "accuracies_llama.json"
    sums.write_text(json.dumps({"subcategories": {"a": 0.5, "b": 1.0}, "categories": {}, "weighted_accuracy": 0.6}))
    first, second = audit_mmlu([table, sums]).sources
    assert (first.family, first.aggregates[0].macro, first.model) == (Family.ORIGINAL, 0.5, "ada")
    assert (second.aggregates[0].macro, second.aggregates[0].micro) == (0.75, 0.6)


JUNK = (None, 1, -1, math.nan, math.inf, "x", [], {}, True, 10**400, "\x00", "\ud800", [["-1", "True"]])


def damaged(value: Any, random: Random) -> Any:
    """The same value with something in it replaced by what should not be there."""
    if isinstance(value, dict):
        return {
            key: random.choice(JUNK) if random.random() < 0.05 else damaged(one, random) for key, one in value.items()
        }
    if isinstance(value, list):
        return [random.choice(JUNK) if random.random() < 0.05 else damaged(one, random) for one in value]
    return value


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_ends_in_a_traceback(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    answers = [["-1", "True"], ["-2", "False"], ["-3", "False"], ["-4", "False"]]
    rows = [row(Family.LETTERS, answers, acc=1.0), row(Family.HARNESS_2023, answers), row(Family.GENERATIVE, ["A"])]
    log(tmp_path / "samples_mmlu_x.jsonl", *(damaged(one, random) for one in rows * 5))
    names = ("anatomy", "virology", "astronomy")
    old = {f"hendrycksTest-{name}": {"acc": 0.5, "acc_norm": 0.4, "acc_stderr": 0.05} for name in names}
    whole = {"results": old, "versions": dict.fromkeys(old, 0), "config": {"no_cache": True, "num_fewshot": 5}}
    (tmp_path / "old.json").write_text(json.dumps(damaged(whole, random)))
    new = {f"mmlu_{name}": {"acc,none": 0.5, "acc_stderr,none": 0.05} for name in names}
    group = {"mmlu": {"acc,none": 0.5}}
    whole = {
        "results": new | group,
        "groups": group,
        "group_subtasks": {"mmlu": list(new)},
        "configs": {},
        "n-shot": {},
    }
    (tmp_path / "results_new.json").write_text(json.dumps(damaged(whole, random)))
    for form in ("text", "json", "markdown"):
        for command in (["mmlu", str(tmp_path)], ["results", str(tmp_path)]):
            result = CliRunner().invoke(audit, [*command, "--format", form])
            assert result.exit_code in {0, 1}
            assert isinstance(result.exception, SystemExit | None)


@pytest.fixture
def table(reference: Path, tmp_path: Path) -> Path:
    rows = json.loads((reference / "mmlu" / "mmlu_table.json").read_text())["rows"]
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_investigations_table_gives_its_figures(reference: Path, table: Path) -> None:
    expected = json.loads((reference / "mmlu" / "mmlu_table.json").read_text())
    comparison = audit_mmlu([table]).comparison
    assert comparison is not None
    assert len(comparison.ranks) == 8
    assert len(comparison.pairs) == 3
    for pair in comparison.pairs:
        figures = expected["pairs"][f"{pair.left}-{pair.right}"]
        assert pair.kendall_tau == pytest.approx(figures["kendall_tau"], abs=1e-12)
        assert pair.spearman == pytest.approx(figures["spearman"], abs=1e-12)
        short = [[model.rpartition("/")[2] for model in models] for models in pair.reversed]
        assert short == figures["discordant_pairs"]
        assert (pair.pairs, pair.largest.model) == (28, figures["max_gap_model"])
        assert pair.largest.gap == pytest.approx(figures["max_abs_gap"], abs=1e-12)
        assert pair.mean_gap == pytest.approx(figures["mean_abs_gap"], abs=1e-12)
    assert [[gap.gap, gap.model] for gap in comparison.spread] == expected["spread"]
    assert comparison.first == {
        "helm": "huggingface/llama-65b",
        "harness": "tiiuae/falcon-40b",
        "original": "huggingface/llama-65b",
    }


def test_the_command_says_who_is_first_and_draws_the_ranks(table: Path) -> None:
    page = table.parent / "page.html"
    result = call(table, "--html", page)
    assert result.exit_code == 0
    assert "tiiuae/falcon-40b under harness" in result.stdout.replace("\n", " ")
    assert "0.6429    0.7857" in result.stdout
    assert page.read_text().count("<svg") == 1
    report = json.loads(call("--format", "json", table).stdout)
    assert report["schema"] == "leaderboard-bot/audit-mmlu/1"
    assert report["comparison"]["pairs"][2]["largest"]["model"] == "huggingface/llama-65b"


def real(reference: Path, *paths: str) -> MmluAudit:
    return audit_mmlu([next(reference.glob(path)) for path in paths])


def test_real_files_of_2023_give_the_investigations_column(reference: Path) -> None:
    found = real(reference, "lm_eval_old/llama-7B_mmlu*", "lm_eval_old/mpt-7b_mmlu*")
    means = [round(main.macro, 3) for source in found.sources if (main := source.main())]
    assert means == [0.342, 0.354]
    assert len(found.columns) == 1
    assert all(source.aggregates[0].micro for source in found.sources)


def test_different_implementations_do_not_stand_in_one_column(reference: Path) -> None:
    paths = ("lm_eval_old/llama-7B_mmlu*", "lm_eval_old/mpt-7b*", "lm_eval_04/meta-llama__Llama-3.2-1B/results_*")
    found = real(reference, *paths)
    assert [column.differs for column in found.columns] == [
        (),
        ("implementation", "metric", "shots"),  # harness 0.3 has no chat template, and this file used none
    ]
    assert found.sources[2].aggregates[0].reported_as == "micro (mean over questions)"
    result = call(*(next(reference.glob(path)) for path in paths))
    assert result.exit_code == 1
    assert "They do not stand in one column." in result.stdout


@pytest.mark.parametrize("name", ["llama-7B_mmlu_5-shot.json", "mpt-7b_mmlu_5-shot.json"])
def test_a_board_of_letters_refuses_them_with_the_reason(reference: Path, name: str) -> None:
    data = (reference / "lm_eval_old" / name).read_bytes()
    verdict = judge(parse_submission(one_file(name, data)), load_leaderboard("open-llm-v1"))
    (finding,) = [found for found in verdict.findings if found.rule == "implementation-mismatch"]
    assert verdict.status == "rejected"
    assert finding.task == "mmlu"
    assert "acc differs from acc_norm" in finding.message


def test_a_real_helm_run_is_scored_from_its_requests_as_its_stats_say(reference: Path) -> None:
    (source,) = real(reference, "helm/*").sources
    assert (source.family, source.num_fewshot, source.model) == (Family.HELM, 5, "openai/gpt2")
    assert source.samples == 9
    assert source.scores[0].micro == source.aggregates[0].macro == pytest.approx(1 / 9)


def test_a_real_log_of_letters_is_scored_as_logged(reference: Path) -> None:
    source = real(reference, "lm_eval_04/i82qcls7/samples_toy_mc*").sources[0]
    assert (source.samples, source.scores[0].micro, source.scores[0].differing) == (4, 0.75, 0)


def test_prompts_are_printed_exactly(tmp_path: Path) -> None:
    sheet = json.loads(call("prompts", "--format", "json", "-k", "2").stdout)
    assert [one["family"] for one in sheet] == [family.value for family in Family if family is not Family.UNKNOWN]
    questions = log(tmp_path / "q.jsonl", {"question": "Q?", "choices": ["1", "2", "3", "4"], "answer": "B"})
    shots = log(tmp_path / "s.jsonl", {"question": "S?", "choices": ["5", "6", "7", "8"], "answer": 3})
    options = ("--shots", shots, "-k", "1", "--family", "harness_2023", "--subject", "virology")
    (only,) = json.loads(call("prompts", questions, *options, "--format", "json").stdout)
    assert only["prompt"] == (
        "Question: S?\nChoices:\nA. 5\nB. 6\nC. 7\nD. 8\nAnswer: 8\n\n"
        "Question: Q?\nChoices:\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:"
    )
    assert only["continuations"] == [" 1", " 2", " 3", " 4"]
    assert "=== scored: ' 1', ' 2', ' 3', ' 4'" in call("prompts", questions, *options).stdout


def test_prompts_of_what_is_not_there_are_refused(tmp_path: Path) -> None:
    bad = log(tmp_path / "q.jsonl", {"question": "Q?"})
    empty = log(tmp_path / "e.jsonl")
    assert "line 1: a sample of another task" in str(call("prompts", bad).exception)
    assert "holds no question" in str(call("prompts", empty).exception)
    assert "there is no implementation 'x'" in str(call("prompts", "--family", "x").exception)
    assert "5 shots, 6 are asked for" in str(call("prompts", "-k", "6").exception)
