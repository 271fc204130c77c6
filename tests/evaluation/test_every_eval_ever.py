"""Records of Every Eval Ever: values as real records have them, in shapes built anew, quoted and measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.submission import parse_submission
from tests.evaluation.drafting import drafted, only_task
from tests.evaluation.judging import dumps, judgement_of

SHA = "0f3c" * 10


def result(name: str, score: float, **metric: Any) -> dict[str, Any]:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "hf_dataset", "hf_repo": "acme/quiz"},
        "metric_config": {"lower_is_better": False, "score_type": "continuous", "min_score": 0.0, **metric},
        "score_details": {"score": score},
    }


def with_error(one: dict[str, Any], error: float, samples: int) -> dict[str, Any]:
    uncertainty = {"standard_error": {"value": error, "method": "bootstrap"}, "num_samples": samples}
    return one | {"score_details": one["score_details"] | {"uncertainty": uncertainty}}


def record(*results: dict[str, Any], source: str = "evaluation_run", **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "arc_easy/acme/atlas-7b/1750000001",
        "retrieved_timestamp": "1750000001",
        "source_metadata": {"source_name": "Some Board", "source_type": source, "source_organization_name": "Acme"},
        "eval_library": {"name": "lm_eval", "version": "0.4.9"},
        "model_info": {
            "name": "atlas-7b",
            "id": "acme/atlas-7b",
            "additional_details": {"sha": SHA, "revision": "main", "dtype": "torch.bfloat16", "model_args": "a=1"},
        },
        "evaluation_results": list(results),
        **more,
    }


ACC = with_error(result("arc_easy", 0.75, evaluation_description="acc"), 0.01, 2376)
STRICT = result("gsm8k/strict-match", 0.5, evaluation_description="exact_match (filter: strict-match)")
STRICT["generation_config"] = {"additional_details": {"num_fewshot": "5"}}


@pytest.mark.parametrize(
    ("one", "leaf", "metric", "value"),
    [
        (result("BBH", 0.4224, evaluation_description="Accuracy on BBH"), "BBH", "score", 0.4224),
        (result("MMLU-Pro (Biology)", 0.7141, metric_id="mmlu_pro/biology", metric_name="x"), "MMLU-Pro (Biology)",
         "mmlu_pro/biology", 0.7141),
        (result("demo-source.demo_bench", 0.75, metric_name="accuracy"), "demo-source.demo_bench", "accuracy", 0.75),
    ],
)  # fmt: skip
def test_a_result_is_a_leaf_by_its_name_and_metric(one: dict[str, Any], leaf: str, metric: str, value: float) -> None:
    found = parse_result(dumps(record(one)))
    assert (found.format, {key: dict(row.numbers) for key, row in found.leaves.items()}) == (
        "every-eval-ever",
        {leaf: {metric: value}},
    )
    assert found.pointer_to("value", leaf, metric) == "/evaluation_results/0/score_details/score"


def test_a_record_says_which_metrics_are_better_where_they_are_less() -> None:
    """As `metric_config` of the schema says: required, and true of an error."""
    found = parse_result(dumps(record(result("asr", 0.2, metric_id="wer2", lower_is_better=True), ACC)))
    assert {key: leaf.less_is_better for key, leaf in found.leaves.items()} == {"asr": ("wer2",), "arc_easy": ()}


@pytest.mark.parametrize(
    ("least", "most", "is_less", "values", "expected"),
    [
        # helm_instruct: a harmlessness of 4.965 of 5 was a score of 4.965 of 100
        (0.0, 5.0, False, [4.965, 4.5], {"range": [0, 5], "upper_bound": "5"}),
        (1, 5, False, [4.0], {"range": [1, 5], "lower_bound": "1", "upper_bound": "5"}),
        (0.0, 100.0, False, [0.7, 3.0], {"unit": "percent"}),
        (0.0, 1.0, True, [0.2], {"higher_is_better": False, "range": [0, 1], "lower_bound": "1", "upper_bound": "0"}),
        # helm_classic: -1 stands for no value, and was averaged as -100
        (0.0, 1.0, False, [0.3, 0.4, -1.0], {}),
        (0.0, 1.0, False, [74.3, 70.1], {"unit": "percent"}),  # a range that the values do not have
    ],
)
def test_a_draft_takes_the_range_that_most_values_keep_of_the_records(
    least: float, most: float, is_less: bool, values: list[float], expected: dict[str, Any]
) -> None:
    """As records of evaleval/every_eval_ever at `dcb00c1e`."""
    said = {"min_score": least, "max_score": most, "lower_is_better": is_less}
    infos = [{"id": f"acme/atlas-{number}b", "name": "x"} for number in range(len(values))]
    rows = [result("quiz", value, **said) for value in values]
    records = [record(row, model_info=info) for row, info in zip(rows, infos, strict=True)]
    (task,) = draft_of([parse_result(dumps(one)) for one in records]).tasks
    keys = ("unit", "higher_is_better", "range", "lower_bound", "upper_bound")
    assert {key: task.keys[key] for key in keys if key in task.keys} == expected
    only_task(*records)


@pytest.mark.parametrize("key", ["agent_scaffold", "agent_name"])
def test_two_agents_with_one_model_never_share_a_row(key: str) -> None:
    """As hal-gaia of evaleval/every_eval_ever `ff627bcf`: 0.6424 by one agent, 0.3576 by another, without a date."""
    files = {
        f"{number}.json": record(
            result("GAIA", score), model_info={"id": "acme/atlas-7b", "additional_details": {key: agent}}
        )
        for number, (agent, score) in enumerate({"HAL Generalist Agent": 0.6424, "Open Deep Research": 0.3576}.items())
    }
    board, _ = drafted(*files.values())
    (row,) = judgement_of(files, board).rows
    assert (row.status, [one.rule for one in row.findings]) == ("accepted", ["settings-differ"])


def test_what_a_converter_of_lm_eval_writes_is_read_with_error_samples_and_shots() -> None:
    norm = with_error(result("arc_easy", 0.5, evaluation_description="acc_norm"), 0.02, 2376)
    found = parse_result(dumps(record(ACC, norm, STRICT, evaluation_timestamp="1750000000")))
    easy, maths = found.leaves["arc_easy"], found.leaves["gsm8k/strict-match"]
    assert dict(easy.numbers) == {"acc": 0.75, "acc_stderr": 0.01, "acc_norm": 0.5, "acc_norm_stderr": 0.02}
    assert (easy.samples, easy.num_fewshot, easy.version) == (2376, None, None)
    assert (dict(maths.numbers), maths.num_fewshot) == ({"exact_match": 0.5}, 5)
    model = found.model
    assert (model.id, model.revision, model.precision, model.args) == ("acme/atlas-7b", SHA, "bfloat16", "a=1")
    assert (found.harness.name, found.harness.version, found.date) == ("lm_eval", "0.4.9", 1750000000.0)
    error = "/evaluation_results/1/score_details/uncertainty/standard_error/value"
    assert found.pointer_to("value", "arc_easy", "acc_norm_stderr") == error


def test_what_was_copied_from_a_board_says_where_from() -> None:
    assert parse_result(dumps(record(ACC, source="documentation"))).quoted_from == "Some Board"
    assert parse_result(dumps(record(ACC))).quoted_from == ""
    nameless = record(ACC, source_metadata={"source_type": "documentation"})
    assert parse_result(dumps(nameless)).quoted_from == "documentation"


def test_two_results_of_one_name_and_metric_are_two_leaves() -> None:
    other = result("arc_easy", 0.5, evaluation_description="acc")
    found = parse_result(dumps(record(ACC, other, {"evaluation_name": "no score"}, {})))
    assert {key: row.numbers["acc"] for key, row in found.leaves.items()} == {"arc_easy": 0.75, "arc_easy (2)": 0.5}


@pytest.mark.parametrize(
    ("stamp", "date"),
    [
        ("1750000000", 1750000000.0),
        ("2025-06-15T15:06:40Z", 1750000000.0),
        ("2025-06-15T15:06:40", 1750000000.0),
        ("in June", None),
        ("", None),
    ],
)
def test_the_date_is_when_it_was_measured(stamp: str, date: float | None) -> None:
    assert parse_result(dumps(record(ACC, evaluation_timestamp=stamp))).date == date


def test_a_token_in_the_arguments_is_named_and_not_held() -> None:
    info = {
        "id": "acme/atlas-7b",
        "additional_details": {"model_args": "pretrained=acme/atlas-7b,api_key=hunter2hunter2"},
    }
    found = parse_result(dumps(record(ACC, model_info=info)))
    assert found.secrets == ("/model_info/additional_details/model_args",)
    assert "hunter2" not in str(found)


def test_an_unknown_library_has_no_release() -> None:
    harness = parse_result(dumps(record(ACC, eval_library={"name": "unknown", "version": "unknown"}))).harness
    assert (harness.name, harness.version) == ("unknown", None)


def euroeval(dataset: str, model: str = "acme/atlas-7b", **details: str) -> dict[str, Any]:
    """A line as EuroEval 17 writes it: names of metrics, percentages, an interval, and the rounds as a text."""
    interval = {"lower": 40.04, "upper": 43.96, "confidence_level": 0.95, "method": "bootstrap"}
    scores = [("test_mcc", 42.0, {"confidence_interval": interval, "num_samples": 2}), ("test_macro_f1", 61.0, {})]
    listed = [
        result(name, score, max_score=100) | {"score_details": {"score": score, "uncertainty": uncertainty}}
        for name, score, uncertainty in scores
    ]
    for one in listed:
        one["source_data"] = {"dataset_name": dataset, "source_type": "hf_dataset"}
    rounds = '[{"mcc": 0.41, "macro_f1": 0.6}, {"mcc": 0.43, "macro_f1": 0.62}]'
    known = {"dataset": dataset, "few_shot": "true", "validation_split": "false", "raw_results": rounds}
    library = {"name": "euroeval", "version": "17.6.0", "additional_details": known | details}
    info = {"name": model, "id": model, "additional_details": {"num_model_parameters": "7000000000"}}
    return record(*listed, eval_library=library, model_info=info)


def lines_of(*records: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in records).encode()


def test_the_lines_of_euroeval_are_leaves_by_their_datasets() -> None:
    mark = {"canary": "not a record"}
    found = parse_result(lines_of(euroeval("scala-da"), mark, euroeval("angry-tweets", few_shot="false")))
    assert (found.format, found.harness.name, found.harness.version) == ("every-eval-ever", "EuroEval", "17.6.0")
    assert list(found.leaves) == ["scala-da", "angry-tweets (zero-shot)"]
    leaf = found.leaves["scala-da"]
    assert {name: round(value, 12) for name, value in leaf.numbers.items()} == {
        "mcc": 42.0,
        "mcc_stderr": 1.0,
        "macro_f1": 61.0,
    }
    assert (leaf.samples, leaf.epochs, leaf.contradicted) == (None, 2, {})
    assert found.model.parameters == 7_000_000_000


def test_a_draft_takes_the_first_metric_of_euroeval() -> None:
    draft = draft_of([parse_result(dumps(euroeval("scala-da")))])
    assert [one["name"] for one in draft.tasks[0].keys["metrics"]] == ["mcc"]


def test_a_value_that_its_rounds_do_not_give_is_told() -> None:
    line = euroeval("scala-da", raw_results='[{"mcc": 0.1}, {"mcc": 0.12}]')
    assert "the mean of its 2 rounds is" in parse_result(dumps(line)).leaves["scala-da"].contradicted["mcc"]


def test_a_file_of_lines_has_a_result_for_each_model() -> None:
    data = lines_of(euroeval("scala-da"), euroeval("scala-da", model="acme/other-1b"))
    first = parse_submission("all.jsonl", {"": data})
    assert [one.result.model.id for one in first.parts if one.result] == ["acme/atlas-7b", "acme/other-1b"]


def test_a_line_that_is_broken_is_named() -> None:
    broken = parse_submission("all.jsonl", {"": lines_of(euroeval("scala-da"), euroeval("x"))[:-20]})
    assert broken.problem is not None
    assert broken.problem.line == 2


def test_a_name_that_is_only_a_metric_leaves_the_leaf_to_the_dataset() -> None:
    one = result("accuracy", 0.5) | {"source_data": {"dataset_name": "gsm8k", "source_type": "hf_dataset"}}
    assert list(parse_result(dumps(record(one))).leaves) == ["gsm8k"]
    assert list(parse_result(dumps(record(result("mathqa_accuracy", 0.5)))).leaves) == ["mathqa_accuracy"]


@pytest.mark.parametrize(
    ("details", "name", "precision"),
    [
        ({"lora": "acme/lora"}, "acme/lora", ""),
        ({"quantization": "fp8"}, "acme/atlas-7b", "fp8"),
        ({"model_args": "pretrained=acme/atlas-7b", "load_in_4bit": True}, "acme/atlas-7b", "4bit"),
        ({"quantization": "none", "architecture": "x"}, "acme/atlas-7b", ""),
    ],
)
def test_details_that_change_the_weights_count(details: dict[str, Any], name: str, precision: str) -> None:
    model = parse_result(dumps(record(ACC, model_info={"id": "acme/atlas-7b", "additional_details": details}))).model
    assert (model.id, model.precision) == (name, precision)
