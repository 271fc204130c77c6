"""Scores by hand: bounds, weights, standard errors, and what keeps a column or the average from having a number."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.measurement import Measurements, take_measurements
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from bot.evaluation.score import (
    HUGE,
    ColumnValue,
    Scores,
    TaskScore,
    column_values,
    group_scores,
    make_scores,
    normalize,
)
from bot.evaluation.score import measured as measured_number

HEAD = """\
title = "By hand"
description = "Columns of one kind each."

[harness]
formats = ["lm-eval-0.4"]
"""
ONE = 'id = "one"\ntitle = "One"\nmetrics = [{ name = "acc" }]\n'
LOWER = 'lower_bound = "1/4"\nbound_reason = "four choices"\n'
TWO = 'leaves = [{ id = "a", samples = 100 }, { id = "b", samples = 300 }]\n'
SINGLE = 'leaves = [{ id = "a", samples = 101 }]\n'


def declared(*tasks: str) -> Leaderboard:
    return parse_leaderboard("".join([HEAD, *(f"\n[[tasks]]\n{task}" for task in tasks)]), "hand", "hand.toml")


def leaf(value: Any, stderr: Any = None, samples: int | None = None, **more: Any) -> LeafResult:
    numbers = {"acc,none": value} | ({} if stderr is None else {"acc_stderr,none": stderr})
    return LeafResult(numbers, samples=samples, **more)


def measured(board: Leaderboard, **leaves: LeafResult) -> Measurements:
    result = Result(Model("acme/atlas"), HarnessVersion("lm-eval"), leaves, format="lm-eval-0.4")
    return take_measurements(result, board, "run.json")


def scored(board: Leaderboard, **leaves: LeafResult) -> Scores:
    return make_scores(measured(board, **leaves), board)


def column(task: str, **leaves: LeafResult) -> TaskScore:
    (found,) = scored(declared(task), **leaves).tasks
    return found


@pytest.mark.parametrize(("value", "score"), [(0.25, 0.0), (0.2, 0.0), (0.4375, 25.0), (1.0, 100.0), (1.3, 140.0)])
def test_a_bound_becomes_0_the_top_100_and_nothing_is_below_0(value: float, score: float) -> None:
    assert normalize(value, 0.25, 0.75) == score


def test_without_a_lower_bound_a_value_below_0_stays_below_0() -> None:
    assert normalize(-0.25, 0.0, 1.0) == -25.0


# ---- what a column is made of ----


def test_a_column_of_weighted_leaves() -> None:
    found = column(ONE + LOWER + TWO + 'aggregation = "size-weighted"\n', a=leaf(0.25), b=leaf(0.75))
    assert (found.id, found.title, found.raw) == ("one", "One", 0.625)
    assert found.score == 50.0
    assert [(one.id, one.metric, one.raw, one.score) for one in found.leaves] == [
        ("a", "acc", 0.25, 0.0), ("b", "acc", 0.75, pytest.approx(200 / 3)),
    ]  # fmt: skip


def test_leaves_scored_one_by_one_are_clipped_before_their_mean() -> None:
    plain = column(ONE + LOWER + TWO + 'normalize = "leaf"\n', a=leaf(0.0), b=leaf(0.625))
    assert (plain.raw, plain.score) == (0.3125, 25.0)
    weighted = 'normalize = "leaf"\naggregation = "size-weighted"\n'
    assert column(ONE + LOWER + TWO + weighted, a=leaf(0.0), b=leaf(0.625)).score == 37.5
    assert column(ONE + LOWER + SINGLE + 'normalize = "leaf"\n', a=leaf(0.625)).score == 50.0


def test_a_score_is_clipped_where_the_value_lies_below_the_bound_and_not_on_it() -> None:
    found = column(ONE + LOWER + TWO, a=leaf(0.25), b=leaf(0.2))
    assert [(one.score, one.is_clipped) for one in found.leaves] == [(0.0, False), (0.0, True)]


def test_what_a_leaf_shows_is_what_the_file_has() -> None:
    (one,) = column(ONE + LOWER + SINGLE, a=leaf(0.5, 0.01, 101)).leaves
    assert (one.samples, one.stderr, one.lower_bound, one.upper_bound, one.file) == (101, 0.01, "1/4", "1", "run.json")
    assert [column(ONE + SINGLE, a=leaf(0.5, error)).leaves[0].stderr for error in (None, inf, nan, "N/A")] == [
        None
    ] * 4


@pytest.mark.parametrize(("value", "score"), [(0.0, 0.0), (1.0, 100.0), (-0.001, None), (1.001, None), (nan, None)])
def test_a_value_out_of_its_range_has_no_score_and_neither_has_its_column(value: float, score: float | None) -> None:
    found = column(ONE + SINGLE, a=leaf(value))
    assert (found.leaves[0].score, found.score, found.raw) == (score, score, None if score is None else value)


def test_a_column_with_a_hole_shows_its_leaves_and_has_no_number() -> None:
    found = column(ONE + TWO, a=leaf(0.5, 0.1))
    assert (found.id, found.title, found.raw, found.score, found.stderr) == ("one", "One", None, None, None)
    assert [one.id for one in found.leaves] == ["a"]
    nothing = column(ONE + TWO)
    assert (nothing.raw, nothing.score, nothing.leaves) == (None, None, ())


def test_the_average_needs_every_column() -> None:
    other = ONE.replace("one", "other").replace('id = "a"', 'id = "z"') + 'leaves = [{ id = "z", samples = 101 }]\n'
    board = declared(ONE + SINGLE, other)
    both = scored(board, a=leaf(0.5, samples=101), z=leaf(0.25, samples=101))
    assert both.average == 37.5
    assert [task.id for task in both.tasks] == ["one", "other"]
    alone = scored(board, z=leaf(0.25, samples=101))
    assert (alone.average, alone.stderr) == (None, None)
    assert [task.score for task in alone.tasks] == [None, 25.0]


# ---- standard errors ----


def points(value: float, samples: int) -> float:
    """The standard error of a share, in points."""
    return 100 * sqrt(value * (1 - value) / (samples - 1))


def test_the_error_of_a_share_is_that_of_the_declared_samples() -> None:
    assert column(ONE + SINGLE, a=leaf(0.5, samples=50)).stderr == pytest.approx(5.0)
    assert column(ONE + SINGLE, a=leaf(0.5, 0.3, 50)).stderr == pytest.approx(5.0)
    assert column(ONE + LOWER + SINGLE, a=leaf(0.5)).stderr == pytest.approx(5.0 / 0.75)


def test_the_error_of_a_share_is_that_of_the_recorded_samples_where_none_are_declared() -> None:
    task = ONE + 'leaves = [{ id = "a" }]\n'
    assert column(task, a=leaf(0.2, samples=65)).stderr == pytest.approx(5.0)
    assert column(task, a=leaf(0.2, 0.03)).stderr == pytest.approx(3.0)
    assert column(task, a=leaf(0.2)).stderr is None


def test_samples_without_an_answer_do_not_count() -> None:
    assert column(ONE + SINGLE, a=leaf(0.5, samples=26, unscored=75)).stderr == pytest.approx(10.0)
    assert column(ONE + SINGLE, a=leaf(0.5, 0.07, unscored=75)).stderr == pytest.approx(7.0)


@pytest.mark.parametrize(("value", "samples"), [(0.0, 101), (1.0, 101), (0.5, 1)])
def test_all_right_all_wrong_or_one_sample_has_no_spread(value: float, samples: int) -> None:
    task = ONE + f'leaves = [{{ id = "a", samples = {samples} }}]\n'
    assert column(task, a=leaf(value)).stderr == 0.0


def test_two_samples_have_the_spread_of_one() -> None:
    assert column(ONE + 'leaves = [{ id = "a", samples = 2 }]\n', a=leaf(0.5)).stderr == pytest.approx(50.0)


def test_what_is_no_share_has_the_error_that_the_file_has() -> None:
    task = ONE.replace('"acc" }', '"acc", integral = false }') + SINGLE
    assert column(task, a=leaf(0.5, 0.02)).stderr == pytest.approx(2.0)
    assert column(task, a=leaf(0.5, 0.0)).stderr == 0.0
    assert column(task, a=leaf(0.5, 5.0)).stderr == pytest.approx(500.0)
    assert [column(task, a=leaf(0.5, error)).stderr for error in (None, -0.01, inf, nan, 1e154)] == [None] * 5
    assert column(ONE + SINGLE, a=leaf(0.5, 0.02, epochs=4)).stderr == pytest.approx(2.0)  # a mean of four answers


def test_a_share_in_percent_has_an_error_in_percent() -> None:
    found = column(ONE + SINGLE + 'unit = "percent"\nupper_bound = "100"\nrange = [0, 100]\n', a=leaf(50.0))
    assert (found.raw, found.score, found.stderr) == (50.0, 50.0, pytest.approx(5.0))


def test_leaves_are_independent_and_count_by_their_weight() -> None:
    both = {"a": leaf(0.5), "b": leaf(0.2)}
    one, other = points(0.5, 100), points(0.2, 300)
    assert column(ONE + TWO, **both).stderr == pytest.approx(sqrt((one / 2) ** 2 + (other / 2) ** 2))
    weighted = ONE + TWO + 'aggregation = "size-weighted"\n'
    assert column(weighted, **both).stderr == pytest.approx(sqrt((one / 4) ** 2 + (other * 3 / 4) ** 2))


def test_nested_leaves_ask_a_question_several_times() -> None:
    """As GPQA: 198 of 448 of 546. Answers to 546 questions, of which 198 count three times, 250 twice and 98 once."""
    sizes = {"a": 198, "b": 448, "c": 546}
    leaves = ", ".join(f'{{ id = "{name}", samples = {size} }}' for name, size in sizes.items())
    task = f'{ONE}aggregation = "size-weighted"\nleaves = [{leaves}]\n'
    answers = {name: leaf(0.5) for name in sizes}
    exact = 50 * sqrt(198 * 3**2 + 250 * 2**2 + 98) / 1192
    assert column(f"{task}nested = true\n", **answers).stderr == pytest.approx(exact, rel=0.002)
    assert column(task, **answers).stderr == pytest.approx(50 / sqrt(1192), rel=0.002)


def test_nested_leaves_of_an_unknown_size_are_the_same_questions() -> None:
    task = f'{ONE}nested = true\nleaves = [{{ id = "a" }}, {{ id = "b" }}]\n'
    found = column(task, a=leaf(0.3, 0.02), b=leaf(0.5, 0.04))
    assert found.stderr == pytest.approx(100 * (0.02 + 0.04) / 2)
    half_known = f'{ONE}nested = true\nleaves = [{{ id = "a", samples = 100 }}, {{ id = "b" }}]\n'
    shown = column(half_known, a=leaf(0.5), b=LeafResult({"acc,none": 0.5, "acc_stderr,none": 0.04}))
    assert shown.stderr == pytest.approx((points(0.5, 100) + 4) / 2)


@pytest.mark.parametrize("value", [True, "0.5", None, [0.5], float("inf"), float("nan"), 10**400, 1.1 * HUGE])
def test_what_is_no_finite_number_is_none(value: Any) -> None:
    assert measured_number(value) is None


def test_numbers_are_taken_as_they_are() -> None:
    assert [measured_number(value) for value in (0, -1, 0.5, HUGE)] == [0.0, -1.0, 0.5, HUGE]


def strict(prompts: float, instructions: float) -> LeafResult:
    return LeafResult({"prompt,none": prompts, "inst,none": instructions})


def test_metrics_of_one_leaf_are_not_independent_so_their_errors_are_added() -> None:
    """Two leaves of two metrics: within a leaf the errors add up, and the leaves are independent."""
    task = ONE.replace('{ name = "acc" }', '{ name = "prompt" }, { name = "inst", samples = 200 }') + TWO
    found = column(task, a=strict(0.5, 0.2), b=strict(0.1, 0.4))
    first, second = points(0.5, 100) + points(0.2, 200), points(0.1, 300) + points(0.4, 200)
    assert found.stderr == pytest.approx(sqrt((first / 4) ** 2 + (second / 4) ** 2))
    assert found.raw == pytest.approx(0.3)


def of_errors(average: float | None, errors: Sequence[float | None]) -> Scores:
    tasks = tuple(TaskScore(str(place), "", 0.5, 50.0, error, ()) for place, error in enumerate(errors))
    return Scores(average, tasks)


def test_the_error_of_the_average_is_that_of_independent_columns() -> None:
    assert of_errors(50.0, [3.0, 4.0]).stderr == 2.5
    assert of_errors(50.0, [3.0, None]).stderr is None
    assert of_errors(None, [3.0, 4.0]).stderr is None
    assert of_errors(50.0, [0.0, 4.0]).stderr == 2.0


def test_a_score_keeps_the_measurements_in_the_order_of_the_declaration() -> None:
    board = declared(ONE + TWO)
    taken = measured(board, b=leaf(0.2), a=leaf(0.5))
    assert [one.required.leaf.id for one in taken.present] == ["a", "b"]
    assert make_scores(replace(taken, missing=(taken.present[0].required,)), board).tasks[0].score is None


def test_a_group_is_the_mean_of_its_columns_and_has_no_number_where_one_has_none() -> None:
    columns = [TaskScore(name, name, 0.5, score, 3.0, ()) for name, score in (("a", 40.0), ("b", 60.0), ("c", None))]
    whole, part = group_scores(columns, {"Whole": ["a", "b"], "Part": ["b", "c", "unknown"]})
    assert (whole.score, whole.stderr, whole.tasks) == (50.0, sqrt(18.0) / 2, ("a", "b"))
    assert (part.score, part.stderr, part.tasks) == (None, None, ("b", "c"))


# ---- columns that do not count ----


def test_the_values_of_a_column_that_does_not_count_are_averaged_or_summed() -> None:
    cost = '[[columns]]\nid = "{name}"\ntitle = "{name}"\nleaves = ["a", "b"]\nmetric = "cost"\n{more}'
    named = (("plain", ""), ("mean", 'aggregation = "mean"\n'), ("sum", 'aggregation = "sum"\n'))
    columns = [cost.format(name=name, more=more) for name, more in named]
    board = parse_leaderboard("\n".join([HEAD, "[[tasks]]", ONE + TWO, *columns]), "hand", "hand.toml")
    leaves = {name: LeafResult({"cost,none": value}) for name, value in (("a", 0.5), ("b", 1.0))}
    result = Result(Model("acme/atlas"), HarnessVersion("lm-eval"), leaves, format="lm-eval-0.4")

    assert column_values(board, {"a": result, "b": result}) == (
        ColumnValue("plain", 0.75, "plain", "fraction"),
        ColumnValue("mean", 0.75, "mean", "fraction"),
        ColumnValue("sum", 1.5, "sum", "fraction"),
    )
    half, rest = (replace(result, leaves={name: leaves[name]}) for name in leaves)
    assert [one.value for one in column_values(board, {"x": half, "y": rest})] == [0.75, 0.75, 1.5]
    beside = columns[0].replace('["a", "b"]', '["beside"]')
    other = parse_leaderboard("\n".join([HEAD, "[[tasks]]", ONE + TWO, beside]), "hand", "hand.toml")
    more = replace(result, leaves={"beside": leaves["a"]})  # a task that the board does not have
    assert column_values(other, {"a": more}) == (ColumnValue("plain", 0.5, "plain", "fraction"),)
    assert [one.value for one in column_values(board, {"a": half})] == [None] * 3
