"""A result held against what a leaderboard requires: each number with all that is known of it, and what is missing."""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import Any

import pytest

from bot.evaluation.definition import AcceptedDefinition
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.measurement import (
    Measurement,
    Measurements,
    by_task,
    coverage_of,
    required_metric,
    required_metrics,
    sizes,
    take_measurements,
    task_raw,
)
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

BOARD = """\
title = "By hand"
description = "One column of two metrics, one in percent, one of another format too."

[harness]
formats = ["lm-eval-0.4", "lm-eval-0.3"]

[[tasks]]
id = "strict"
title = "Strict"
metrics = [{ name = "prompt" }, { name = "inst", filter = "loose", samples = 40, integral = false }]
leaves = [{ id = "a", samples = 10 }, { id = "b", samples = 30 }]
aggregation = "size-weighted"
versions = ["2", "v3"]

[[tasks]]
id = "rate"
title = "Rate"
metrics = [{ name = "em" }]
unit = "percent"
lower_bound = "25"
bound_reason = "four choices"
upper_bound = "100"
range = [0, 100]
leaves = [{ id = "c", keys = { "lm-eval-0.3" = "old_c" } }, { id = "d" }]
"""
STRICT, RATE = ("prompt,none", "inst,loose"), "em,none"


@pytest.fixture
def board() -> Leaderboard:
    return parse_leaderboard(BOARD, "hand", "hand.toml")


def taken(board: Leaderboard, leaves: dict[str, LeafResult], format_id: str = "lm-eval-0.4") -> Measurements:
    result = Result(Model("acme/atlas"), HarnessVersion("lm-eval"), leaves, format=format_id)
    return take_measurements(result, board, "run.json")


def one(board: Leaderboard, numbers: dict[str, Any], **more: Any) -> Measurement:
    (found,) = taken(board, {"c": LeafResult(numbers, **more)}).present
    return found


# ---- what is required ----


def test_each_metric_of_each_leaf_is_required_in_the_order_of_the_declaration(board: Leaderboard) -> None:
    found = required_metrics(board, "lm-eval-0.4")
    assert [(each.task.id, each.leaf.id, each.metric.name) for each in found] == [
        ("strict", "a", "prompt"), ("strict", "a", "inst"), ("strict", "b", "prompt"), ("strict", "b", "inst"),
        ("rate", "c", "em"), ("rate", "d", "em"),
    ]  # fmt: skip
    assert [(each.metric.name, each.value_key, each.stderr_key) for each in found[:2]] == [
        ("prompt", "prompt,none", "prompt_stderr,none"), ("inst", "inst,loose", "inst_stderr,loose"),
    ]  # fmt: skip


def test_a_metric_may_have_a_count_of_its_own(board: Leaderboard) -> None:
    found = required_metrics(board, "lm-eval-0.4")
    assert [(each.samples, each.metric.samples, each.leaf.samples) for each in found] == [
        (10, None, 10), (40, 40, 10), (30, None, 30), (40, 40, 30), (None, None, None), (None, None, None),
    ]  # fmt: skip
    assert [each.integral for each in found] == [True, False, True, False, True, True]


def test_the_parts_of_a_mean_add_up_to_1(board: Leaderboard) -> None:
    weights = [each.weight for each in required_metrics(board, "lm-eval-0.4")]
    assert weights == [0.125, 0.125, 0.375, 0.375, 0.5, 0.5]


def test_bounds_are_in_the_unit_of_the_metric(board: Leaderboard) -> None:
    first, *_, last = required_metrics(board, "lm-eval-0.4")
    assert (first.unit, first.lower, first.span, first.lower_text, first.upper_text) == (1.0, 0.0, 1.0, "0", "1")
    assert (last.unit, last.lower, last.span, last.lower_text, last.upper_text) == (100.0, 25.0, 75.0, "25", "100")


def test_a_version_is_known_as_text_and_as_a_number(board: Leaderboard) -> None:
    first, *_, last = required_metrics(board, "lm-eval-0.4")
    assert first.versions == {"2", 2.0, "v3"}
    assert last.versions == frozenset()


def test_the_versions_of_a_definition_are_those_of_all_that_declare_it(board: Leaderboard) -> None:
    def versions(*found: tuple[str, set[str]]) -> dict[str, frozenset[str]]:
        definitions = tuple(AcceptedDefinition({}, frozenset(some), digest) for digest, some in found)
        task = board.tasks[0]
        made = required_metric(task, task.leaves[0], task.metrics[0], "lm-eval-0.4", definitions)
        return dict(made.versions_by_definition)

    assert versions(("d", {"1"}), ("d", {"2"}), ("e", {"3"})) == {"d": {"1", "2"}, "e": {"3"}}
    assert versions(("", {"1"})) == {}
    for either in [("d", set()), ("d", {"1"})], [("d", {"1"}), ("d", set())]:
        assert versions(*either) == {"d": frozenset()}


def test_keys_are_those_of_the_format(board: Leaderboard) -> None:
    assert dict(sizes(board, "lm-eval-0.4")) == {"a": 10, "b": 30, "c": None, "d": None}
    assert list(sizes(board, "lm-eval-0.3")) == ["a", "b", "old_c", "d"]
    assert {one.value_key for one in required_metrics(board, "lm-eval-0.4")} == {*STRICT, RATE}
    assert {one.value_key for one in required_metrics(board, "lm-eval-0.3")} == {"prompt", "inst", "em"}


def test_a_mean_of_probabilities_is_not_integral_in_the_format_that_has_it() -> None:
    text = BOARD.replace('id = "c", keys = { "lm-eval-0.3" = "old_c" }', 'id = "c", keys = { "lm-eval-0.3" = "c_mc2" }')
    board = parse_leaderboard(text, "hand", "hand.toml")
    found = {name: required_metrics(board, name)[4].integral for name in ("lm-eval-0.3", "lm-eval-0.4")}
    assert found == {"lm-eval-0.3": False, "lm-eval-0.4": True}


def test_a_metric_that_is_a_mean_of_probabilities_by_its_name_is_not_integral() -> None:
    board = parse_leaderboard(BOARD.replace('name = "em"', 'name = "mc2"'), "hand", "hand.toml")
    assert not required_metrics(board, "lm-eval-0.4")[-1].integral


def test_versions_are_those_of_the_format() -> None:
    added = 'versions = ["2", "v3"]\nformat_versions = { "lm-eval-0.3" = ["0"] }\n'
    board = parse_leaderboard(BOARD.replace('versions = ["2", "v3"]\n', added), "hand", "hand.toml")
    found = {name: required_metrics(board, name)[0].versions for name in ("lm-eval-0.3", "lm-eval-0.4")}
    assert found == {"lm-eval-0.3": {"0", 0.0}, "lm-eval-0.4": {"2", 2.0, "v3"}}


def test_another_declaration_of_the_same_id_requires_other_things(board: Leaderboard) -> None:
    other = parse_leaderboard(BOARD.replace('name = "em"', 'name = "f1"'), "hand", "hand.toml")
    assert [required_metrics(each, "lm-eval-0.4")[-1].metric.name for each in (board, other, board)] == [
        "em",
        "f1",
        "em",
    ]


# ---- what is measured ----


def test_a_leaf_without_the_metric_is_missing(board: Leaderboard) -> None:
    found = taken(board, {"a": LeafResult({STRICT[0]: 0.5}), "d": LeafResult({RATE: None}), "x": LeafResult({})})
    assert [(each.required.leaf.id, each.required.metric.name) for each in found.present] == [
        ("a", "prompt"),
        ("d", "em"),
    ]
    assert [each.leaf.id for each in found.missing] == ["a", "b", "b", "c"]
    coverage = coverage_of(found, board)
    assert (coverage.present, coverage.required, coverage.missing) == (1, 4, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("raw", "value"), [(0.5, 0.5), (1, 1.0), (0, 0.0), (10**299, 1e299), (-(10**299), -1e299), (2.5e300, 2.5e300)]
)
def test_a_number_is_a_double(board: Leaderboard, raw: Any, value: float) -> None:
    found = one(board, {RATE: raw})
    assert (found.raw, found.value, type(found.value)) == (raw, value, float)


@pytest.mark.parametrize("raw", [int(1e300), -(10**301), 10**400, "0.5", None, True, [0.5], nan], ids=range(8))
def test_what_is_no_number_or_an_enormous_one_is_not_a_number(board: Leaderboard, raw: Any) -> None:
    assert isnan(one(board, {RATE: raw}).value)


def test_an_error_is_a_double_beside_the_value(board: Leaderboard) -> None:
    assert one(board, {RATE: 50.0, "em_stderr,none": 1.5}).stderr == 1.5
    assert [one(board, {RATE: 50.0, "em_stderr,none": error}).stderr for error in ("N/A", 1, None)] == [None] * 3
    assert (one(board, {RATE: 50.0}).stderr, one(board, {RATE: 50.0}).file) == (None, "run.json")
    result = Result(Model(), HarnessVersion("x"), {"c": LeafResult({RATE: 1.0})}, format="lm-eval-0.4")
    assert take_measurements(result, board).present[0].file == ""


def test_a_metric_with_a_count_of_its_own_has_it_where_all_of_the_leaf_ran(board: Leaderboard) -> None:
    numbers = {STRICT[0]: 0.5, STRICT[1]: 0.5}
    for recorded, expected in ((10, [10, 40]), (9, [9, None]), (None, [None, None])):
        assert [each.samples for each in taken(board, {"a": LeafResult(numbers, samples=recorded)}).present] == expected


# ---- how many values are behind a mean ----


def test_the_recorded_count_counts(board: Leaderboard) -> None:
    assert one(board, {RATE: 50.0, "em_stderr,none": 5.0}, samples=77).count == 77
    assert one(board, {RATE: 50.0}).count is None


def test_a_count_is_recovered_where_value_and_error_agree_on_whole_numbers(board: Leaderboard) -> None:
    error = 100 * sqrt(0.25 / 99)
    assert one(board, {RATE: 50.0, "em_stderr,none": error}).count == 100
    assert one(board, {RATE: 50.0, "em_stderr,none": error * 1.01}).count is None
    assert (
        one(board, {RATE: 50.5, "em_stderr,none": 100 * sqrt(0.505 * 0.495 / 99)}).count is None
    )  # 50.5 right answers
    assert one(board, {RATE: 50.0, "em_stderr,none": 0.0}).count is None


def test_means_of_several_answers_and_of_other_numbers_tell_no_count(board: Leaderboard) -> None:
    error = 100 * sqrt(0.25 / 99)
    repeated = one(board, {RATE: 50.0, "em_stderr,none": error}, epochs=4)
    assert (repeated.is_proportion, repeated.count) == (False, None)
    numbers = {STRICT[1]: 0.5, "inst_stderr,loose": sqrt(0.25 / 99)}
    (finer,) = taken(board, {"a": LeafResult(numbers)}).present
    assert (finer.is_proportion, finer.count) == (False, None)


# ---- what a column comes to ----


def test_the_value_of_a_column_is_the_mean_of_its_metrics_over_its_leaves(board: Leaderboard) -> None:
    leaves = {name: LeafResult({STRICT[0]: value, STRICT[1]: value + 0.2}) for name, value in (("a", 0.2), ("b", 0.6))}
    found = taken(board, leaves | {"c": LeafResult({RATE: 30.0}), "d": LeafResult({RATE: 50.0})})
    tasks = by_task(found.present)
    assert [task_raw(task, tasks[task.id]) for task in board.tasks] == [pytest.approx(0.6), 40.0]
    assert {name: [each.required.leaf.id for each in each_task] for name, each_task in tasks.items()} == {
        "strict": ["a", "a", "b", "b"], "rate": ["c", "d"],
    }  # fmt: skip
    assert task_raw(board.tasks[0], tasks["strict"][2:3]) == 0.6
    assert task_raw(board.tasks[1], tasks["rate"][:1]) == 30.0
