"""The catalogue against lm-evaluation-harness 0.4.13 itself: members, metrics, choices, shots, datasets."""

from __future__ import annotations

from typing import Any

import pytest

from bot.evaluation.benchmarks.catalogue import PLACE, Group, KnownBenchmark, catalogue, members_of
from tests.evaluation import harness_tasks

TODAY = "lm-eval-0.4"
# Metrics that are functions of the task's own file, by what that function is called.
FUNCTIONS = {"utils.pass_at_k": "pass@1", "utils.pass_at_1": "pass_at_1"}
# Tags, which have no aggregate row.
NO_ROW = {"mgsm_direct"}


def of_today(kind: type[KnownBenchmark | Group]) -> list[Any]:
    return [
        known
        for file in catalogue().files.values()
        for known in (file.benchmarks if kind is KnownBenchmark else file.groups)
        if TODAY in (known.formats or file.formats)
    ]


def metric_names(config: dict[str, Any]) -> list[str]:
    return [FUNCTIONS.get(one["metric"], one["metric"]) for one in config["metric_list"]]


def check(known: KnownBenchmark | Group, config: dict[str, Any]) -> None:
    """Hold what is said of a leaf against its task file."""
    names = metric_names(config) if "metric_list" in config else ["acc"]  # the default of multiple_choice
    assert {metric.name for metric in known.metrics} <= set(names)
    filters = {one["name"] for one in config.get("filter_list", [])} or {"none"}
    assert {metric.filter for metric in known.metrics} <= filters
    if config.get("num_fewshot") is not None and "num_fewshot" not in known.sources:
        assert config["num_fewshot"] == known.num_fewshot
    if config["output_type"] == "multiple_choice":
        assert known.guess is not None or has_choices(known)


def has_choices(known: KnownBenchmark | Group) -> bool:
    if isinstance(known, Group):
        return bool(known.choices) or all(one.choices for one in members_of(known).values())
    return bool(known.choices) or known.id in {"cola", "webqs"}  # a correlation; one of hundreds of answers


@pytest.mark.parametrize("benchmark", of_today(KnownBenchmark), ids=lambda known: known.id)
def test_a_benchmark_is_what_the_harness_says(benchmark: KnownBenchmark) -> None:
    config = harness_tasks.config(benchmark.id)
    check(benchmark, config)
    assert config["dataset_path"] == benchmark.dataset
    choices = config.get("doc_to_choice")
    if isinstance(choices, list):
        assert benchmark.choices in {None, len(choices)}
        assert benchmark.choices or benchmark.id == "cola"


@pytest.mark.slow
@pytest.mark.parametrize("group", of_today(Group), ids=lambda known: known.id)
def test_a_group_has_the_members_that_the_harness_gives_it(group: Group) -> None:
    keys = {group.key.replace(PLACE, name) for name in members_of(group)}
    there = harness_tasks.members(group.id)
    assert keys == there
    assert group.id in NO_ROW or group.id in group.rows
    for key in keys:
        config = harness_tasks.config(key)
        check(group, config)
    first = harness_tasks.config(min(keys))
    assert first["dataset_path"] == group.dataset


@pytest.mark.parametrize("group", of_today(Group), ids=lambda known: known.id)
def test_a_group_is_aggregated_as_the_harness_does(group: Group) -> None:
    config = harness_tasks.config(group.id) if group.id in harness_tasks.task_files() else {}
    for metric in config.get("aggregate_metric_list", ()):
        assert (group.aggregation == "size-weighted") == metric["weight_by_size"]


def test_metrics_of_multiple_choice_are_zeros_and_ones_but_where_the_harness_scores_otherwise() -> None:
    shares = {known.id for known in of_today(KnownBenchmark) if not all(metric.integral for metric in known.metrics)}
    # a share of probability, a correlation, and overlaps of words
    assert shares == {"truthfulqa_mc2", "cola", "drop", "coqa"}
    assert "process_results" in harness_tasks.config("truthfulqa_mc2")
