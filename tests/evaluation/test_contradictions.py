"""A file that contradicts itself is no sound result: each format's parts are compared with its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import MalformedResult
from bot.evaluation.formats import parse_result
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Result
from bot.evaluation.submission import Parsed
from tests.evaluation import test_helm, test_mteb, test_olmes
from tests.evaluation.drafting import drafted
from tests.evaluation.inspect_logs import header, log_json
from tests.evaluation.judging import ABSENT, dumps, outcome_of, patched
from tests.evaluation.test_evalchemy import evalchemy
from tests.evaluation.test_every_eval_ever import record
from tests.evaluation.test_every_eval_ever import result as measured
from tests.evaluation.test_lighteval import release_08
from tests.evaluation.test_tools_of_one_number import at, line, lines, report, solved


def euroeval(total: float, *rounds: float) -> Result:
    return parse_result(
        lines(line("x", results={"raw": [{"mcc": one} for one in rounds], "total": {"test_mcc": total}}))
    )


def evalscope(score: float, *subsets: tuple[float, int], num: int = 100) -> Result:
    listed = [{"name": str(place), "score": value, "num": size} for place, (value, size) in enumerate(subsets)]
    metric = {"name": "mean_acc", "num": num, "score": score, "categories": [{"name": ["a"], "subsets": listed}]}
    return parse_result(dumps(report(metrics=[metric])))


def aisbench(cell: str) -> Result:
    return parse_result(f"dataset,version,metric,mode,total_count,atlas\ngsm8k,1,accuracy,gen,8,{cell}\n".encode())


def helm(mean: float, total: float, **files: Any) -> Result:
    stats = [test_helm.stat("exact_match", mean) | {"sum": total}, test_helm.stat("num_instances", 9.0)]
    return test_helm.read(stats=stats, **files)


def mteb(main: float, accuracy: float, *experiments: float) -> Result:
    rounds = [{"accuracy": value} for value in experiments]
    subset = {"hf_subset": "default", "accuracy": accuracy, "main_score": main, "scores_per_experiment": rounds}
    return test_mteb.read(test_mteb.task("T", {"test": [subset]}), "acme__atlas/1/T.json")


def olmes(primary: float, of: float, said: str) -> Result:
    asked = test_olmes.task("gsm8k", {"exact_match": of, "primary_score": primary}, 10, primary_metric="exact_match")
    return parse_result(dumps(test_olmes.run(asked) | {"all_primary_scores": [f"gsm8k: {said}"]}))


def solvers(**row: Any) -> Result:
    return parse_result(dumps(evalchemy({"T": row})))


def evalplus(said: float) -> Result:
    return at("x.json", solved("r", "w") | {"pass_at_k": {"base": {"pass@1": said}}})


SOUND: list[Callable[[], Result]] = [
    lambda: euroeval(20.0, 0.1, 0.3),
    lambda: euroeval(20.0, 10.0, 30.0),  # metrics of SQuAD are percentages in the rounds, too
    lambda: evalscope(0.4667, (0.2, 60), (0.8667, 40)),
    lambda: evalscope(0.5),
    lambda: aisbench("87.50 (7/8)"),
    lambda: aisbench("87.50"),
    lambda: helm(2 / 9, 2 / 9),
    lambda: helm(0.5, 0.5, per_instance_stats=None),
    lambda: mteb(0.912017, 0.912017, 0.9, 0.91, 0.926051),
    lambda: mteb(0.7, 0.7, 0.5, 0.6),  # two people
    lambda: olmes(0.0083333333, 0.0083333333, "0.00833333"),
    lambda: olmes(0.5, 0.5, "NA"),
    lambda: solvers(accuracy=0.5, num_solved=5, num_total=10),
    lambda: solvers(accuracy_avg=0.15, run_stats=[{"accuracy": 0.1}, {"accuracy": 0.2}]),
    lambda: evalplus(0.5),
]
FALSE: list[tuple[Callable[[], Result], str, str]] = [
    (lambda: euroeval(60.0, 0.1, 0.3), "mcc", "the mean of its 2 rounds is 20"),
    (lambda: evalscope(0.9, (0.2, 60), (0.8667, 40)), "mean_acc", "its subsets with 100 samples give 0.46668"),
    (lambda: evalscope(0.2, (0.2, 60)), "mean_acc", "its subsets with 60 samples of 100 give 0.2"),
    (lambda: aisbench("97.50 (7/8)"), "accuracy", "7 of 8 is 87.5"),
    (lambda: aisbench("0.875 (7/8)"), "accuracy", "7 of 8 is 87.5"),
    (lambda: helm(0.9, 0.9), "exact_match", "the mean of its 9 instances is 0.22222222"),
    (lambda: helm(0.9, 0.5, per_instance_stats=None), "exact_match", "its sum and count give 0.5"),
    (lambda: mteb(0.95, 0.91, 0.9, 0.91, 0.92), "main_score", "no metric of the subset has this value"),
    (lambda: mteb(0.95, 0.95, 0.9, 0.91, 0.92), "accuracy", "the mean of its 3 experiments is 0.91"),
    (lambda: olmes(0.5, 0.25, "0.5"), "primary_score", "its exact_match is 0.25"),
    (lambda: olmes(0.5, 0.5, "0.25"), "primary_score", "the summary says 0.25"),
    (lambda: solvers(accuracy=0.9, num_solved=5, num_total=10), "accuracy", "5 of 10 is 0.5"),
    (lambda: solvers(accuracy_avg=0.9, run_stats=[{"accuracy": 0.1}]), "accuracy_avg", "the mean of its 1 runs is 0.1"),
    (lambda: evalplus(0.9), "pass@1", "pass_at_k is 0.9"),
]  # fmt: skip


def found_by(rule: str, result: Result, board: Leaderboard) -> str:
    """The message of a rule's only finding in a result, "" if it found nothing."""
    findings = judge(Parsed("x.json", "", 0, result), board).findings
    return next((finding.message for finding in findings if finding.rule == rule), "")


@pytest.mark.parametrize("make", SOUND)
def test_a_sound_file_contradicts_nothing(make: Callable[[], Result]) -> None:
    assert all(not leaf.contradicted for leaf in make().leaves.values())


@pytest.mark.parametrize(("make", "key", "why"), FALSE)
def test_a_value_that_its_parts_do_not_give_is_an_error(make: Callable[[], Result], key: str, why: str) -> None:
    result = make()
    leaf = next(iter(result.leaves.values()))
    assert leaf.contradicted[key] == why
    board, _ = drafted(result)
    metric = board.tasks[0].metrics[0].model_copy(update={"name": key})
    task = board.tasks[0].model_copy(update={"metrics": (metric,)})
    assert f"but {why}" in found_by("value-contradicts-file", result, board.model_copy(update={"tasks": (task,)}))


def test_the_main_score_follows_no_metric_that_the_experiments_contradict() -> None:
    leaf = mteb(0.95, 0.95, 0.9, 0.91, 0.92).leaves["T/default/test"]
    assert set(leaf.contradicted) == {"accuracy", "main_score"}


def test_the_wrong_answers_of_bfcl_are_as_many_as_its_first_line_counts() -> None:
    counts = {"accuracy": 0.75, "correct_count": 3, "total_count": 4}
    wrong = {"id": "a", "model_name": "atlas", "test_category": "simple", "valid": False}
    assert list(at("x.json", lines(counts, wrong).lstrip()).leaves) == ["simple"]
    with pytest.raises(MalformedResult, match="lists 2 wrong answers, and its first line counts 1"):
        at("x.json", lines(counts, wrong, wrong).lstrip())


def asked(make: Callable[..., Any], **changed: Any) -> str:
    """What a board that was drafted from a run says of the definition of a changed one."""
    board, _ = drafted(make())
    return found_by("other-task-definition", make(**changed), board)


def lighteval(**parameters: Any) -> Result:
    data = release_08()
    for config in data["config_tasks"].values():
        config["prompt_function"] = "arc"
    data["config_general"]["generation_parameters"] = {"temperature": 0.0, "seed": 1, "top_p": None, **parameters}
    return parse_result(dumps(data))


def judged_by(**config: Any) -> Result:
    return parse_result(dumps(evalchemy({"T": {"accuracy": 0.5}}, **config)))


def inspected(**run: Any) -> Result:
    return parse_result(log_json(eval={**header()["eval"], **run}))


def test_other_settings_of_generation_are_another_definition() -> None:
    assert asked(lighteval, seed=7, temperature=0) == ""
    assert "generation_parameters is" in asked(lighteval, temperature=1.0)
    assert "max_tokens is" in asked(judged_by, max_tokens=64)


def test_another_judge_is_another_definition() -> None:
    assert 'annotator_model is "gpt-4o-mini"' in asked(judged_by, annotator_model="gpt-4o-mini")
    scorers = [{"name": "judged", "options": {"model": "openai/gpt-4o"}, "metrics": []}]
    assert "eval/scorers is" in asked(inspected, scorers=scorers)
    assert "eval/model_roles is" in asked(inspected, model_roles={"grader": {"model": "openai/gpt-4o"}})
    assert asked(inspected, scorers=[{"name": "match", "options": {}}], model_roles={}) == ""


def test_another_main_metric_of_olmes_is_another_definition() -> None:
    def made(primary: str = "exact_match") -> Result:
        metrics = {"exact_match": 0.5, "loose": 0.9, "primary_score": {"exact_match": 0.5, "loose": 0.9}[primary]}
        return parse_result(dumps(test_olmes.run(test_olmes.task("gsm8k", metrics, 10, primary_metric=primary))))

    assert 'primary_metric is "loose"' in asked(made, primary="loose")


def test_a_task_that_is_there_twice_with_two_values_is_an_error() -> None:
    board, _ = drafted(record(measured("BBH", 0.5)))
    twice = parse_result(dumps(record(measured("BBH", 0.9), measured("BBH", 0.5))))
    assert found_by("repeated-key", twice, board) == "BBH is in the file twice, with score 0.9 and 0.5"
    same = parse_result(dumps(record(measured("BBH", 0.5), measured("BBH", 0.5))))
    assert found_by("repeated-key", same, board) == ""
    both, _ = drafted(twice)
    assert found_by("repeated-key", twice, both) == ""


@pytest.mark.parametrize(
    ("value", "range_", "is_error"),
    [
        (0.5, {}, False),
        (0.5, {"max_score": 1.0}, False),
        (0.5, {"max_score": 100.0}, True),
        (0.5, {"max_score": 0.4}, True),
    ],
)
def test_the_range_that_a_file_names_must_have_the_value_and_the_unit(
    value: float, range_: dict[str, Any], *, is_error: bool
) -> None:
    board, _ = drafted(record(measured("BBH", 0.5)))
    found = found_by("value-out-of-range", parse_result(dumps(record(measured("BBH", value, **range_)))), board)
    assert ("as the file says" in found) is is_error


def test_a_draft_knows_that_a_correlation_may_be_negative() -> None:
    board, _ = drafted(euroeval(20.0, 0.2))
    assert board.tasks[0].range == (-100, 100)
    assert found_by("value-out-of-range", euroeval(-1.0, -0.01), board) == ""


def test_a_pasted_number_is_a_warning_and_an_error_where_its_group_has_another_mean() -> None:
    key = "leaderboard_bbh_snarks"
    pasted = {f"/{table}/{key}": ABSENT for table in ("n-shot", "versions", "n-samples", "configs")}
    value = f"/results/{key}/acc_norm,none"
    for more, severity in (({}, "warning"), ({value: 160 / 178}, "error")):
        outcome = outcome_of(patched(pasted | more))
        assert [str(one.severity) for one in outcome.findings if one.rule == "contradicts-itself"] == [severity]
