"""What lies below a group, and what its leaves give for its value."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan, sqrt
from typing import Any

import pytest

from bot.evaluation.aggregates import MOST, leaves_of, means_of_leaves, means_of_members
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, Model, Result


def result(
    leaves: Mapping[str, LeafResult],
    subtasks: Mapping[str, tuple[str, ...]] | None = None,
    groups: Mapping[str, dict[str, Any]] | None = None,
) -> Result:
    rows = tuple(GroupRow(key, f"/groups/{key}", numbers) for key, numbers in (groups or {}).items())
    return Result(
        Model("acme/atlas"), HarnessVersion("x"), leaves, groups=rows, subtasks=subtasks or {}, format="lm-eval-0.4"
    )


def leaf(value: Any, samples: int | None = None, stderr: Any = None) -> LeafResult:
    numbers = {"acc,none": value} | ({} if stderr is None else {"acc_stderr,none": stderr})
    return LeafResult(numbers, samples=samples)


# ---- which leaves there are ----


@pytest.mark.parametrize(
    ("subtasks", "leaves"),
    [
        ({}, []),
        ({"all": ("a", "b")}, ["a", "b"]),
        ({"all": ("x", "c"), "x": ("a", "b")}, ["c", "a", "b"]),
        ({"all": ("x", "y"), "x": ("a", "b"), "y": ("b", "c")}, ["b", "c", "a"]),
        ({"all": ("all", "a")}, ["a"]),
        ({"all": ("x", "a"), "x": ("all", "y"), "y": ("x", "b")}, ["a", "b"]),
    ],
)
def test_a_group_has_the_leaves_of_its_groups_each_once(
    subtasks: dict[str, tuple[str, ...]], leaves: list[str]
) -> None:
    assert list(leaves_of("all", subtasks)) == leaves


def test_a_group_that_names_too_many_is_looked_at_in_part() -> None:
    many = tuple(map(str, range(MOST + 5)))
    assert list(leaves_of("all", {"all": many})) == list(many[:MOST])
    inner = leaves_of("all", {"all": ("x", "y"), "x": many, "y": ("z",)})
    assert list(inner) == ["z", *many[:MOST]]
    chain = {str(number): (str(number + 1), f"leaf {number}") for number in range(3 * MOST)}
    assert len(leaves_of("0", chain)) == MOST // 2  # as many groups as leaves are seen, and both count
    assert len(leaves_of("0", chain | {"0": ("1", "leaf 0", "leaf x")})) == MOST // 2


# ---- their means ----


def test_the_means_of_leaves_are_weighted_by_samples_and_plain() -> None:
    found = means_of_leaves(result({"a": leaf(0.25, 100), "b": leaf(0.75, 300)}), ["a", "b"], "acc,none", {})
    assert found == (0.625, 0.5)


def test_samples_are_those_of_the_file_then_those_declared_then_those_that_the_error_gives() -> None:
    error = sqrt(0.5 * 0.5 / 99)
    leaves = {"a": leaf(0.0, 300, error), "b": leaf(0.5, None, error), "c": leaf(1.0, None, error)}
    of_all = result(leaves)
    assert means_of_leaves(of_all, ["a", "b"], "acc,none", {"a": 7, "b": 200}) == (0.2, 0.25)
    assert means_of_leaves(of_all, ["a", "b"], "acc,none", {"b": None}) == (0.125, 0.25)
    assert means_of_leaves(of_all, ["a", "b", "c"], "acc,none", {}) is None  # all right: no error tells how many


def test_a_leaf_without_the_metric_takes_no_part_and_one_without_a_number_leaves_it_unknown() -> None:
    leaves = {"a": leaf(0.5, 10), "b": LeafResult({"f1,none": 0.1}, samples=10), "none": leaf(None, 10)}
    of_all = result(leaves)
    assert means_of_leaves(of_all, ["gone", "b", "a"], "acc,none", {}) == (0.5, 0.5)
    assert means_of_leaves(of_all, ["b", "gone"], "acc,none", {}) is None
    assert means_of_leaves(of_all, ["a", "none"], "acc,none", {}) is None
    assert means_of_leaves(result({"a": leaf(1, 10)}), ["a"], "acc,none", {}) is None
    assert means_of_leaves(result({"a": leaf(0.5)}), ["a"], "acc,none", {}) is None


def test_a_leaf_without_the_metric_leaves_the_means_of_an_old_file_unknown() -> None:
    """Harness 0.4.1, whose files record no samples, weighed by those of the leaves without the metric, too.

    As in a file of BioMistral-7B, Gallifantjack/lm-evaluation-harness 799d38e2, with 1,089 samples that have acc alone.
    """
    medmcqa = LeafResult({"acc_norm,none": 0.4052115706430791, "acc_norm_stderr,none": 0.00759154482066989})
    medqa = LeafResult({"acc_norm,none": 0.4516889238020424, "acc_norm_stderr,none": 0.0139537094073131})
    rest = LeafResult({"acc,none": 0.728, "acc_stderr,none": 0.019920483209566096})
    assert means_of_leaves(result({"a": medmcqa, "b": rest, "c": medqa}), ["a", "b", "c"], "acc_norm,none", {}) is None
    assert means_of_leaves(result({"a": medmcqa, "c": medqa}), ["a", "c"], "acc_norm,none", {}) is not None


@pytest.mark.parametrize("error", ["N/A", 0.0, 1, nan, 0.0501])
def test_an_error_that_is_none_or_gives_no_whole_number_tells_no_samples(error: Any) -> None:
    assert means_of_leaves(result({"a": leaf(0.5, None, error)}), ["a"], "acc,none", {}) is None


def test_the_error_of_a_key_without_a_filter_is_beside_it() -> None:
    row = LeafResult({"acc": 0.5, "acc_stderr": sqrt(0.25 / 99)})
    assert means_of_leaves(result({"a": row}), ["a"], "acc", {}) == (0.5, 0.5)


def test_the_mean_of_direct_members_takes_groups_and_leaves_alike() -> None:
    of_all = result(
        {"a": leaf(0.25), "x": leaf(0.9)},
        {"all": ("x", "a"), "x": ("b", "c"), "some": ("a", "gone"), "bad": ("a", "text")},
        {"y": {"acc,none": 0.5}, "text": {"acc,none": "0.5"}},
    )
    assert list(means_of_members(of_all, "all", "acc,none")) == [pytest.approx(0.575)]
    nested = result({"a": leaf(0.25)}, {"all": ("y", "a")}, {"y": {"acc,none": 0.75}})
    assert list(means_of_members(nested, "all", "acc,none")) == [0.5]
    for group in ("some", "bad", "gone"):
        assert list(means_of_members(of_all, group, "acc,none")) == []
    assert list(means_of_members(of_all, "all", "f1,none")) == []
    many = result({"a": leaf(0.5)}, {"all": (*["a"] * MOST, "gone")})
    assert list(means_of_members(many, "all", "acc,none")) == [0.5]
