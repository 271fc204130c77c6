"""An entry whose numbers do not follow from each other: the first that does not is named, and a sound one is silent."""

from __future__ import annotations

from math import fsum
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.score import LeafScore, TaskScore
from bot.publishing.board import contradiction
from bot.publishing.entry import Entry
from tests.evaluation.judging import base, entry_from

ENTRY = entry_from(base())


def leaf(name: str, raw: float, score: float | None, samples: int | None = None) -> LeafScore:
    return LeafScore(name, "acc", samples, raw, None, "1/4", "1", score, "run.json")


def said(raw: float | None, score: float | None, *leaves: LeafScore) -> str:
    """What is said of an entry with one task of these numbers."""
    task = TaskScore("one", "One", raw, score, None, leaves)
    verdict: Any = "incomplete" if score is None else "accepted"
    entry: Entry = replace(ENTRY, tasks=(task,), average=score, stderr=None, verdict=verdict)
    return contradiction(entry)


LOW, HIGH = leaf("low", 0.1, 0.0), leaf("high", 0.7, 60.0)


def test_a_score_follows_from_the_raw_value_or_from_the_subtasks() -> None:
    assert said(0.4, 20.0, LOW, HIGH) == ""  # (0.4 - 0.25) / 0.75
    assert said(0.4, 30.0, LOW, HIGH) == ""  # (0 + 60) / 2
    easier = replace(HIGH, lower_bound="0", score=70.0)  # 0.4 is 20 by the bounds of the first, and 40 by its own
    assert said(0.4, 20.0, replace(LOW, samples=10), replace(easier, samples=10)) == ""
    assert said(0.4, 31.0, replace(LOW, samples=10), replace(HIGH, samples=10)).startswith("one: the score is 31")


def test_a_column_of_subtasks_of_two_sizes_is_their_plain_or_weighted_mean() -> None:
    leaves = (replace(LOW, samples=10), replace(HIGH, samples=30))
    assert [said(raw, 100 * (raw - 0.25) / 0.75, *leaves) for raw in (0.4, 0.55)] == ["", ""]
    assert "which its subtasks do not give" in said(0.5, 100 / 3, *leaves)


def test_a_subtask_without_a_score_is_no_contradiction_and_one_with_another_score_is() -> None:
    assert said(None, None, leaf("high", 0.7, None)) == ""
    assert said(0.7, 60.0, leaf("high", 0.7, None)) == ""
    assert said(0.7, 60.0, leaf("high", 0.7, 61.0)).startswith("one: the score of high is 61")


def test_a_raw_value_without_a_score_is_named() -> None:
    assert said(0.7, None, HIGH).startswith("one: the raw value is 0.7")


@pytest.mark.parametrize("change", [-2e-6, 2e-6])
def test_an_average_that_is_not_the_mean_is_named(change: float) -> None:
    assert ENTRY.average is not None
    assert contradiction(ENTRY) == ""
    assert contradiction(replace(ENTRY, average=ENTRY.average + change)).startswith("the average is ")
    assert fsum(task.score or 0.0 for task in ENTRY.tasks) / len(ENTRY.tasks) == pytest.approx(ENTRY.average)
