"""EvalPlus, EuroEval, EvalScope, BFCL, lmms-eval, Harbor and OpenCompass: values as in real files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import MalformedResult
from bot.evaluation.compare import compare, run_of_results
from bot.evaluation.formats import Content, format_of, parse_content, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.judge import judge
from bot.evaluation.result import Model, Result
from bot.evaluation.submission import Parsed, UnreadPath
from bot.reporting.comparison import comparison_text
from tests.evaluation.discovering import found_in
from tests.evaluation.drafting import drafted, only_task
from tests.evaluation.judging import dumps

HASH = "fe585eb4df8c88d844eeb463ea4d0302"


def at(path: str, data: Any) -> Result:
    return parse_content(Content({"": data if isinstance(data, bytes) else dumps(data)}, path))


def solved(*tasks: str, plus: bool = True) -> dict[str, Any]:
    """An EvalPlus file whose tasks have a letter for each solution: right, right by the base tests alone, or wrong."""
    outcomes = {"r": ("pass", "pass"), "b": ("pass", "fail"), "w": ("fail", "fail")}
    found = {}
    for number, letters in enumerate(tasks):
        name = f"HumanEval/{number}"
        statuses = [outcomes[letter] for letter in letters]
        found[name] = [
            {"task_id": name, "solution": "x", "base_status": base, "plus_status": more if plus else None}
            for base, more in statuses
        ]
    return {"date": "2024-08-09 20:34", "hash": HASH, "eval": found}


def test_evalplus_counts_the_solutions_that_pass() -> None:
    result = at("in/acme--atlas-7b_vllm_temp_0.0-sanitized_eval_results.json", solved("r", "b", "w", "r"))
    assert {key: leaf.numbers["pass@1"] for key, leaf in result.leaves.items()} == {
        "humaneval": 0.75,
        "humaneval+": 0.5,
    }
    leaf = result.leaves["humaneval"]
    assert leaf.numbers["pass@1_stderr"] == pytest.approx((0.75 * 0.25 / 3) ** 0.5)
    assert (leaf.samples, leaf.version, leaf.epochs) == (4, HASH, 1)
    assert (result.model.id, result.model.source) == ("acme/atlas-7b", "vllm")
    assert result.settings == {"temperature": "0.0", "answers": "sanitized"}
    assert result.date == 1723235640.0


def test_evalplus_before_0_2_1_has_a_list_for_each_kind_of_tests() -> None:
    """As 4 files of a public project have it; one of them counts 40 of 164 right, and 36 with the further tests."""
    outcomes = [("success", "success"), ("success", "failed"), ("timed out", "success"), ("failed", "failed")]
    tasks = {
        f"HumanEval/{number}": {"nfiles": 1, "base": [[base, [1, 1]]], "plus": [[plus, []]]}
        for number, (base, plus) in enumerate(outcomes)
    }
    file = {"date": "2024-01-29 14:47", "hash": HASH, "eval": tasks}
    found = {key: (leaf.numbers["pass@1"], leaf.samples) for key, leaf in at("x.json", file).leaves.items()}
    assert found == {"humaneval": (0.5, 4), "humaneval+": (0.25, 4)}
    tasks["HumanEval/0"]["plus"] = []
    assert list(at("x.json", file).leaves) == ["humaneval"]
    with pytest.raises(MalformedResult, match="without solutions"):
        at("x.json", {**file, "eval": {**tasks, "HumanEval/1": {"nfiles": 0, "base": [], "plus": []}}})


def test_a_plus_in_a_task_is_a_word_of_its_id() -> None:
    """In a CSV file of the board the column of HumanEval+ was called humaneval_."""
    board, _ = drafted(at("x.json", solved("r")))
    assert [(task.id, task.title) for task in board.tasks] == [
        ("humaneval", "humaneval"),
        ("humaneval_plus", "humaneval+"),
    ]


def test_evalplus_estimates_pass_at_ten_without_bias() -> None:
    result = at("x.json", solved("r" + "w" * 9, "r" * 10))
    assert result.leaves["humaneval"].numbers["pass@1"] == pytest.approx(0.55)
    assert result.leaves["humaneval"].numbers["pass@10"] == 1.0
    assert result.leaves["humaneval"].epochs == 10
    assert result.model == Model()


def test_evalplus_without_its_own_tests_gives_the_benchmark_alone() -> None:
    assert list(at("x.json", solved("r", plus=False)).leaves) == ["humaneval"]
    broken = solved("r")
    broken["eval"]["HumanEval/1"] = []
    with pytest.raises(MalformedResult, match="without solutions"):
        at("x.json", broken)


def line(dataset: str, model: str = "acme/atlas-7b@100B", **more: Any) -> dict[str, Any]:
    total = {"test_mcc": 20.870636418806505, "test_mcc_se": 4.657221181519977}
    results = {"raw": [{"mcc": 0.2}] * 10, "total": total}
    return {"dataset": dataset, "task": "sentiment", "dataset_languages": ["da"], "model": model, "results": results,
            "few_shot": True, "validation_split": False, "euroeval_version": "16.5.0", **more}  # fmt: skip


def lines(*found: dict[str, Any]) -> bytes:
    return b"\n" + b"\n".join(json.dumps(one).encode() for one in found) + b"\n"


def test_euroeval_gives_a_leaf_for_each_line_with_true_standard_errors() -> None:
    result = parse_result(lines(line("angry-tweets"), line("scala-da", few_shot=False, validation_split=True)))
    assert (result.format, list(result.leaves)) == ("euroeval", ["angry-tweets", "scala-da (zero-shot, validation)"])
    numbers = result.leaves["angry-tweets"].numbers
    assert numbers == {"mcc": 20.870636418806505, "mcc_stderr": pytest.approx(4.657221181519977 / 1.96)}
    assert (result.model.id, result.model.requested_revision, result.harness.version) == (
        "acme/atlas-7b", "100B", "16.5.0",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "value", "expected"),
    [
        (("mcc", "macro_f1"), 0.89, ("mcc", (-100.0, 100.0), 1.0)),
        (("micro_f1_no_misc", "micro_f1"), 20.9, ("micro_f1_no_misc", (0.0, 100.0), 1.0)),
        (("mcc", "macro_f1"), -1.5, ("mcc", (-100.0, 100.0), 1.0)),
        (("bertscore", "rouge_l"), 66.4, ("bertscore", (0.0, 100.0), 1.0)),
        (("speed", "speed_short"), 6589.4, ("speed", (0.0, 1e15), 0.0)),
    ],
)
def test_euroeval_has_percentages_of_its_first_metric(
    names: tuple[str, str], value: float, expected: tuple[str, tuple[float, float], float]
) -> None:
    """As Mikeriess/scandeval_benchmarking `cbebec62`: an mcc of 0.89 % counted as 89 %, beside another of 2.38 %."""
    total = {f"test_{name}{end}": value for name in names for end in ("", "_se")}
    result = parse_result(lines(line("quiz", results={"total": total})))
    task, text = only_task(result)
    compared = run_of_results("file", [result]).tasks["quiz"]
    assert (task.metrics[0].name, task.range, compared.points) == expected
    assert (compared.metric, "read as percentages" in text) == (expected[0], False)


def test_the_speed_of_euroeval_is_no_column_beside_scores() -> None:
    """As in Mikeriess/scandeval_benchmarking `cbebec62`: 6,589 tokens a second would be averaged with the scores."""
    speed = line("speed", results={"total": {"test_speed": 6589.4, "test_speed_se": 120.5}})
    board, text = drafted(parse_result(lines(line("angry-tweets"), speed, line("dansk"))))
    assert [task.id for task in board.tasks] == ["angry-tweets", "dansk"]
    assert "or they are speeds, which are no scores" in " ".join(text.replace("#", "").split())
    assert '# id = "speed"' in text


def test_euroeval_of_one_line_is_read_too() -> None:
    assert list(parse_result(json.dumps(line("angry-tweets")).encode()).leaves) == ["angry-tweets"]


def test_a_repeated_line_of_euroeval_is_one_measurement() -> None:
    """As in files of KasperGroesLudvigsen/llama_finetune `d291e3be` put together: one holds lines of the other."""
    again = line("angry-tweets", results={"total": {"test_mcc": 52.02}})
    result = parse_result(lines(line("angry-tweets"), line("dansk"), line("angry-tweets"), again))
    assert list(result.leaves) == ["angry-tweets", "dansk", "angry-tweets (2)"]


def test_euroeval_of_several_models_is_rejected_with_the_command_that_splits_it() -> None:
    data = lines(line("angry-tweets"), line("angry-tweets", "acme/borea"))
    one = found_in({"results.jsonl": data})["results.jsonl"]
    assert isinstance(one, Parsed)
    assert one.problem is not None
    assert "results of 2 models" in one.problem.why
    assert """jq -c --arg m "$m" 'select(.model == $m)' FILES > "by-model/${m//\\//__}.jsonl""" in one.problem.hint


@pytest.mark.parametrize("bad", [b"{", b"[]", b'{"dataset": "x"}'])
def test_euroeval_names_the_line_that_is_none(bad: bytes) -> None:
    with pytest.raises(MalformedResult) as raised:
        parse_result(lines(line("angry-tweets")) + bad + b"\n")
    assert raised.value.line == 3


def report(**more: Any) -> dict[str, Any]:
    metrics = [{"name": "mean_acc", "num": 299, "score": 0.99, "macro_score": 0.99, "categories": []}]
    return {"name": "atlas@math_500", "dataset_name": "math_500", "model_name": "acme/atlas", "score": 0.99,
            "metrics": metrics, "analysis": "N/A", **more}  # fmt: skip


def test_evalscope_gives_the_dataset_with_its_metrics() -> None:
    result = parse_result(dumps(report()))
    assert (result.format, result.model.id) == ("evalscope", "acme/atlas")
    leaf = result.leaves["math_500"]
    assert (leaf.numbers, leaf.samples, leaf.original) == ({"mean_acc": 0.99}, 299, None)
    assert result.pointer_to("value", "math_500", "mean_acc") == "/metrics/0/score"
    with pytest.raises(MalformedResult, match="a name of its own"):
        parse_result(dumps(report(metrics=report()["metrics"] * 2)))


def test_a_report_of_evalscope_since_schema_2_names_its_metrics_by_identity() -> None:
    def metric(name: str, score: float, kind: str = "quality") -> dict[str, Any]:
        meaning = {"kind": kind, "direction": "higher_is_better", "value_range": {"min": 0.0, "max": 1.0}}
        identity = {"name": name, "aggregation": "mean", "dimensions": {}}
        return {"identity": identity, "num": 200, "score": score, "categories": [], "semantics": meaning}

    metrics = [metric("accuracy", 0.92), metric("pass_rate", 0.5), metric("latency", 3.2, "performance")]
    value = report(metrics=metrics, schema_version=2, primary_metric_identity=metrics[1]["identity"])
    leaf = parse_result(dumps(value)).leaves["math_500"]
    assert list(leaf.numbers.items()) == [("pass_rate", 0.5), ("accuracy", 0.92)]
    assert (leaf.samples, leaf.ranges["accuracy"]) == (200, (0.0, 1.0))

    run = {"requested": 210, "succeeded": 200, "errored": 8, "incomplete": True}
    judged = {"total": 200, "scored": 197, "judge_models": ["gpt-4.1"]}
    result = parse_result(dumps(value | {"execution_summary": run, "judge_summary": judged}))
    (leaf,) = result.leaves.values()
    assert (leaf.original, leaf.errored, leaf.unscored, result.unfinished) == (210, 8, 3, "incomplete")
    assert result.settings == {"judge_models": '["gpt-4.1"]'}
    whole = parse_result(dumps(value | {"execution_summary": {"requested": 200, "succeeded": 200, "errored": 0}}))
    assert (whole.unfinished, whole.leaves["math_500"].original, whole.leaves["math_500"].unscored) == ("", None, None)


COUNTS = {"accuracy": 0.8625, "correct_count": 345, "total_count": 400}
WRONG = {"id": "simple_python_5", "model_name": "acme_atlas-20b", "test_category": "simple_python", "valid": False}


def test_bfcl_gives_the_category_of_its_first_lines() -> None:
    result = at("score/x/non_live/BFCL_v4_simple_python_score.json", lines(COUNTS, *[WRONG] * 55).lstrip())
    assert (result.format, result.model.id) == ("bfcl", "acme_atlas-20b")
    leaf = result.leaves["simple_python"]
    assert (leaf.numbers, leaf.samples, leaf.version) == ({"accuracy": 0.8625}, 400, "v4")


def test_nobody_is_sent_for_logs_that_a_tool_does_not_write() -> None:
    """As reports in Wentao274/evalscope-test: their reader was told how lm-eval and lighteval log samples."""
    metric = {"name": "mean_acc", "num": 10, "categories": []}
    files = [report(metrics=[metric | {"score": score}]) for score in (0.9, 0.8)]
    runs = [run_of_results("run", [parse_result(dumps(one))]) for one in files]
    text = comparison_text(compare(*runs))
    assert ("not separable" in text, "sample logs" in text) == (True, False)


def test_bfcl_without_a_wrong_answer_is_named_by_its_path() -> None:
    """Release 4 has folders of groups below the model's: ChuBL/BFCL_MindatAPI 00ca5b69 has 267 of 267 in `non_live`."""
    perfect = {"accuracy": 1.0, "correct_count": 50, "total_count": 50}
    result = at("score/atlas-FC/java_score.json", lines(perfect).lstrip())
    assert (result.model.id, list(result.leaves)) == ("atlas-FC", ["java"])
    for folders in ("score/atlas-FC/non_live", "atlas-FC/agentic/memory/rec_sum", "b/atlas-FC/multi_turn"):
        assert at(f"{folders}/BFCL_v4_java_score.json", lines(perfect).lstrip()).model.id == "atlas-FC"
    with pytest.raises(MalformedResult, match="names no category"):
        at("a.json", lines(perfect).lstrip())
    with pytest.raises(MalformedResult, match="do not give the accuracy"):
        at("score/atlas/java_score.json", lines(perfect | {"correct_count": 49}).lstrip())


def lmms(config: dict[str, Any]) -> dict[str, Any]:
    row = {"alias": "pope", "pope_accuracy,none": 0.8695555555555555, "pope_accuracy_stderr,none": "N/A",
           "pope_accuracy_stderr_clt,none": 0.003550294134081839,
           "pope_accuracy_stderr_clustered,none": "N/A"}  # fmt: skip
    return {
        "results": {"pope": row}, "configs": {"pope": config}, "versions": {"pope": 0.0}, "n-shot": {"pope": 0},
        "n-samples": {"pope": {"original": 9000, "effective": 9000}}, "date": "20260218_234435",
        "config": {"model": "llava", "model_args": "pretrained=acme/atlas-v1.5-7b,device_map=auto"},
        "model_name": "acme/atlas-v1.5-7b", "model_source": "llava", "git_hash": "v0.6-9-g28c75891",
    }  # fmt: skip


@pytest.mark.parametrize("mark", ["lmms_eval_specific_kwargs", "doc_to_visual", "process_results_use_image"])
def test_lmms_eval_is_told_from_lm_eval_by_its_tasks(mark: str) -> None:
    result = parse_result(dumps(lmms({"task": "pope", mark: "x"})))
    assert (result.format, result.harness.name, result.date) == ("lmms-eval", "lmms-eval", 1771458275.0)
    numbers = result.leaves["pope"].numbers
    assert (numbers["pope_accuracy,none"], numbers["pope_accuracy_stderr,none"]) == (
        0.8695555555555555, 0.003550294134081839,
    )  # fmt: skip
    assert not [key for key in numbers if "clt" in key or "clustered" in key]
    assert parse_result(dumps(lmms({"task": "pope"}))).format == "lm-eval-0.4"


def test_lmms_eval_is_called_by_its_own_command() -> None:
    known, result = format_of("lmms-eval"), parse_result(dumps(lmms({"doc_to_visual": "x"})))
    assert known.rerun is not None
    command = known.rerun(Rerun(result.model, ("pope",), 0, result.settings))
    assert command.startswith("python3 -m lmms_eval --model llava --model_args pretrained=acme/atlas-v1.5-7b")
    assert "--tasks pope --num_fewshot 0" in command


TERMINAL = "terminal-bench/terminal-bench-2-1"
REWARDS = {"1.0": ["a__YfkUhxf"], "0.0": ["b__SAvRtMF", "c__WchodJL"]}
FAILED = {"RuntimeError": ["d__HCjaKtr"]}


def job(mean: float, rewards: dict[str, list[str]], failed: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    """A job of Harbor, as ryanbbrown/ThinHarness-terminal-bench `1f24cb48` has them."""
    stats = {"n_trials": 3, "n_errors": 1, "metrics": [{"mean": mean}], "pass_at_k": {},
             "reward_stats": {"reward": rewards}, "exception_stats": failed}  # fmt: skip
    evals = {f"terminus-2__gpt-5.6-sol__{TERMINAL}": stats, **more}
    return {"id": "916b", "started_at": "2026-08-24T23:44:06.166708", "finished_at": "2026-08-24T23:45:35.681214",
            "n_total_trials": 4, "stats": {"n_completed_trials": 4, "n_errored_trials": 1, "evals": evals}}  # fmt: skip


@pytest.mark.parametrize("source", ["neox", "dummy", "Qwen2ForCausalLM"])
def test_a_run_of_a_class_without_a_call_has_no_command(source: str) -> None:
    result = parse_result(dumps(lmms({"doc_to_visual": "x"})))
    known = format_of("lm-eval-0.4")
    assert known.rerun is not None
    assert not known.rerun(Rerun(replace(result.model, source=source), ("pope",), 0, {}))


def test_harbor_gives_the_dataset_with_the_agent_as_a_setting() -> None:
    result = parse_result(dumps(job(0.25, REWARDS, FAILED)))
    assert (result.format, result.model.id, result.settings) == ("harbor", "gpt-5.6-sol", {"agent": "terminus-2"})
    assert (result.date, result.unfinished) == (1787615135.681214, "")
    leaf = result.leaves[TERMINAL]
    assert leaf.numbers == {"mean": 0.25, "mean_stderr": pytest.approx((0.25 * 0.75 / 3) ** 0.5)}
    assert (leaf.samples, leaf.unscored, leaf.epochs) == (4, 0, 1)
    assert result.pointer_to("leaf", TERMINAL).startswith("/stats/evals/terminus-2__gpt-5.6-sol__terminal-bench~1")


def test_the_mean_of_harbor_says_whether_a_failed_trial_counts_as_wrong() -> None:
    """Release 0.26 leaves trials without a reward out of the mean, earlier ones count them as 0."""
    leaf = parse_result(dumps(job(1 / 3, REWARDS, FAILED))).leaves[TERMINAL]
    assert (leaf.samples, leaf.unscored) == (3, 1)


def test_two_agents_of_harbor_are_compared_as_agents() -> None:
    first, second = (
        parse_result(dumps(job(0.25, REWARDS, FAILED)).replace(b"terminus-2", agent))
        for agent in (b"terminus-2", b"pi")
    )
    found = compare(run_of_results("A", [first]), run_of_results("B", [second]))
    assert [(one.name, one.values) for one in found.settings] == [("agent", ("terminus-2", "pi"))]
    assert "tools" in found.settings[0].effect


def test_a_count_of_harbor_is_not_said_to_come_from_lm_eval() -> None:
    short = parse_result(dumps(job(1 / 3, REWARDS, FAILED)))
    board, _ = drafted(parse_result(dumps(job(0.25, REWARDS, FAILED))))
    found = judge(Parsed("result.json", "", 0, short), board).findings
    [finding] = [one for one in found if one.rule == "wrong-sample-count"]
    assert finding.message == f"{TERMINAL} has 3 samples (recorded), 4 are expected"


def test_several_trials_of_a_task_in_harbor_are_one_sample() -> None:
    twice = {"1.0": ["a__1", "a__2", "b__1"], "0.0": ["b__2", "c__1", "c__2"]}
    leaf = parse_result(dumps(job(0.5, twice, {}))).leaves[TERMINAL]
    assert (leaf.samples, leaf.epochs, leaf.reducer) == (3, 2, "mean")
    assert leaf.numbers["mean_stderr"] == pytest.approx((0.25 / 3) ** 0.5)  # that of the tasks' means 1, 0.5 and 0
    cut = {"1.0": ["scikit-learn__scikit-learn-137__1", "scikit-learn__scikit-learn-137__2", "b__1"]}
    assert parse_result(dumps(job(1.0, cut, {}))).leaves[TERMINAL].samples == 3


@pytest.mark.parametrize("rewards", [("inf", "-inf"), ("1e308", "1e308"), ("much", "0.0"), ("nan", "1.0")])
def test_rewards_of_harbor_that_are_no_numbers_give_no_standard_error(rewards: tuple[str, str]) -> None:
    leaf = parse_result(dumps(job(0.5, {rewards[0]: ["a__1"], rewards[1]: ["b__1"]}, {}))).leaves[TERMINAL]
    assert leaf.numbers == {"mean": 0.5}


@pytest.mark.parametrize(
    ("mean", "rewards"),
    [
        (0.99, {"1.0": ["a__1"], "0.0": ["b__1", "c__1"]}),
        (0.01, {"1.0": ["a__1"], "0.0": ["b__1", "c__1"]}),
        (1.0, {"0.0": ["a__1", "b__1", "c__1"], "1.0": ["a__1", "b__1", "c__1"]}),
    ],
)
def test_a_mean_of_harbor_that_its_rewards_do_not_give_is_no_result(mean: float, rewards: dict[str, list[str]]) -> None:
    with pytest.raises(MalformedResult, match=r"has a mean of 0\.\d+, but|holds a reward of a trial twice"):
        parse_result(dumps(job(mean, rewards, {})))


def test_a_metric_of_harbor_has_one_value() -> None:
    file = job(0.25, REWARDS, FAILED)
    [stats] = file["stats"]["evals"].values()
    stats["metrics"].append({"mean": 0.25})  # those of the dataset and of the job may be the same
    assert parse_result(dumps(file)).leaves[TERMINAL].numbers["mean"] == 0.25
    stats["metrics"].append({"mean": 0.99})
    with pytest.raises(MalformedResult, match="holds a metric twice"):
        parse_result(dumps(file))


def test_harbor_gives_each_kind_of_reward_where_trials_have_several() -> None:
    file = job(0.5, {}, FAILED)
    [stats] = file["stats"]["evals"].values()
    stats["metrics"] = [{"speed": 0.25, "correct": 0.5}]
    stats["reward_stats"] = {"speed": {"0.25": ["a__1", "b__1"]}, "correct": {"1.0": ["a__1"], "0.0": ["b__1"]}}
    leaf = parse_result(dumps(file)).leaves[TERMINAL]
    assert (leaf.numbers, leaf.samples, leaf.unscored) == ({"speed": 0.25, "correct": 0.5}, 2, None)


def test_a_job_of_harbor_that_runs_is_unfinished() -> None:
    assert parse_result(dumps(job(0.25, REWARDS, FAILED) | {"n_total_trials": 89})).unfinished == "4 of 89 trials"
    assert parse_result(dumps(job(0.25, REWARDS, FAILED) | {"finished_at": None})).unfinished == "4 of 4 trials"


def test_a_job_of_harbor_with_two_agents_is_rejected() -> None:
    with pytest.raises(MalformedResult, match=r"of terminus-2 with gpt-5\.6-sol, oracle with no model: a submission"):
        parse_result(dumps(job(0.25, REWARDS, FAILED, oracle__adhoc={})))
    [begun] = found_in({"jobs/a/result.json": dumps({"n_total_trials": 3, "stats": {"n_errors": 0}})}).values()
    assert isinstance(begun, Parsed)  # it is judged, and not only counted
    assert begun.problem is not None
    assert begun.problem.why == "holds no trial"


SUMMARY = b"""dataset,version,metric,mode,internlm-chat-7b
ceval-computer_network,db9ce2,accuracy,gen,31.58
mmlu,-,naive_average,ppl,46.30
LCSTS,8ee1fe,rouge1,gen,12.12
LCSTS,8ee1fe,rouge2,gen,4.20
nq,-,-,-,-
"""


def test_opencompass_gives_a_leaf_for_each_dataset_with_a_value() -> None:
    result = parse_result(SUMMARY)
    assert (result.format, result.model.id) == ("opencompass", "internlm-chat-7b")
    assert {key: (dict(leaf.numbers), leaf.version) for key, leaf in result.leaves.items()} == {
        "ceval-computer_network": ({"accuracy": 31.58}, "db9ce2"),
        "mmlu": ({"naive_average": 46.30}, None),
        "LCSTS": ({"rouge1": 12.12, "rouge2": 4.20}, "8ee1fe"),
    }
    board, _ = drafted(result)
    assert {(task.id, task.metrics[0].name, task.unit) for task in board.tasks} == {
        ("ceval-computer_network", "accuracy", "percent"),
        ("mmlu", "naive_average", "percent"),
        ("LCSTS", "rouge1", "percent"),
    }


def test_an_average_of_opencompass_counts_once_and_not_beside_its_datasets() -> None:
    """Lines of a summary of internlm2-1.8b-hf, 2024-09-23, and a heading with a value."""
    result = parse_result(b"""dataset,version,metric,mode,internlm2-1.8b-hf
--- Exam ---,-,-,-,47.37
ceval-computer_network,db9ce2,accuracy,gen,47.37
ceval-college_physics,963fa8,accuracy,gen,42.11
lukaemon_mmlu_anatomy,2db373,accuracy,gen,42.22
lukaemon_mmlu_virology,2db373,accuracy,gen,41.57
ceval-stem,-,naive_average,gen,40.59
ceval,-,naive_average,gen,47.03
mmlu,-,weighted_average,gen,46.30
bbh,-,naive_average,gen,30.12
""")
    assert [row.key for row in result.groups] == ["ceval-stem", "ceval", "mmlu"]
    assert len(result.leaves) == 5
    board, _ = drafted(result)
    assert [(task.id, len(task.leaves)) for task in board.tasks] == [("ceval", 2), ("mmlu", 2), ("bbh", 1)]


def test_a_summary_of_aisbench_has_counts_before_the_model() -> None:
    head = b"dataset,version,metric,mode,total_count,"
    result = parse_result(head + b"atlas\ngsm8k,1,accuracy,gen,8,87.50 (7/8)\n")
    assert (result.model.id, result.harness.name, result.leaves["gsm8k"].samples) == ("atlas", "ais_bench", 8)
    assert dict(result.leaves["gsm8k"].numbers) == {"accuracy": 87.5}
    with pytest.raises(MalformedResult, match="2 models, a, b") as raised:
        parse_result(head + b"a,b\n")
    assert "cut -d, -f1-5,6 SUMMARY" in raised.value.hint


@pytest.mark.parametrize("metrics", [["accuracy", "naive_average"], ["harmonic_mean"], ["accuracy"]])
def test_a_group_of_opencompass_is_told_by_its_missing_version(metrics: list[str]) -> None:
    """Without a list of what to show, OpenCompass also writes the metrics that all datasets of a group have."""
    group = "".join(f"ceval,-,{metric},gen,31.58\n" for metric in metrics)
    result = parse_result(SUMMARY + group.encode())
    assert list(result.leaves) == ["ceval-computer_network", "mmlu", "LCSTS"]
    assert [(one.key, set(one.numbers)) for one in result.groups] == [("ceval", set(metrics))]


def test_opencompass_of_several_models_is_rejected_with_the_command_that_splits_it() -> None:
    one = found_in({"summary.csv": SUMMARY.replace(b"-7b", b"-7b,atlas")})["summary.csv"]
    assert isinstance(one, Parsed)
    assert one.problem is not None
    assert "results of 2 models, internlm-chat-7b, atlas" in one.problem.why
    assert "cut -d, -f1-4,5 SUMMARY > MODEL.csv" in one.problem.hint


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"gsm8k,1d7fe4,accuracy,gen,much", "a value that is not a number"),
        (b"gsm8k,1d7fe4,accuracy,gen", "a line of 4 fields, and not of 5"),
        (b"LCSTS,8ee1fe,rouge1,gen,12.12", "a metric of a dataset twice"),
    ],
)
def test_opencompass_names_the_line_that_is_broken(line: bytes, why: str) -> None:
    with pytest.raises(MalformedResult, match=why) as raised:
        parse_result(SUMMARY + line)
    assert raised.value.line == 7


def test_an_old_file_of_mteb_gives_the_scores_of_each_similarity() -> None:
    data = {"mteb_dataset_name": "Assin2STS", "mteb_version": "1.10.1", "dataset_revision": "0f" * 20,
            "test": {"cos_sim": {"pearson": 0.7850110407527892, "spearman": 0.7427006440920785},
                     "evaluation_time": 9.93, "de": {"map_at_1": 0.5}}}  # fmt: skip
    result = parse_result(dumps(data))
    numbers = {key: dict(leaf.numbers) for key, leaf in result.leaves.items()}
    assert numbers == {
        "Assin2STS/default/test": {"cosine_pearson": 0.7850110407527892, "cosine_spearman": 0.7427006440920785},
        "Assin2STS/de/test": {"map_at_1": 0.5},
    }
    place = result.pointer_to("value", "Assin2STS/default/test", "cosine_spearman")
    assert place == "/test/cos_sim/spearman"


def test_harness_03_is_read_with_shots_in_a_list_and_with_results_alone() -> None:
    row = {"acc": 0.5, "acc_stderr": 0.01}
    config = {"model": "hf-causal", "model_args": "pretrained=acme/atlas", "num_fewshot": [5], "no_cache": True}
    listed = parse_result(dumps({"results": {"piqa": row}, "versions": {"piqa": 0}, "config": config}))
    assert listed.leaves["piqa"].num_fewshot == 5
    alone = parse_result(dumps({"results": {"piqa": row}}))
    assert (alone.format, alone.leaves["piqa"].numbers) == ("lm-eval-0.3", row)
    assert isinstance(found_in({"mine.json": dumps({"results": {"piqa": 0.5}})})["mine.json"], UnreadPath)
