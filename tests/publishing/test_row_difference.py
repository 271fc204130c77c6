"""Where two versions of a row have different numbers."""

from __future__ import annotations

import msgspec

from bot.publishing.row_difference import Difference, differences
from tests.platforms.git.publisher import entry

replace = msgspec.structs.replace
ROW = entry()
[FIRST, *_] = ROW.tasks
[LEAF, *_] = FIRST.leaves


def test_the_same_numbers_are_no_difference_whatever_else_changed() -> None:
    assert differences(ROW, replace(ROW, evidence=(), tool="another")) == ()


def test_every_number_that_differs_is_named() -> None:
    leaf = replace(LEAF, raw=0.25, score=26.0)
    task = replace(FIRST, raw=0.125, score=12.0, leaves=(leaf, *FIRST.leaves[1:]))
    other = replace(ROW, average=1.0, stderr=2.0, tasks=(task, *ROW.tasks[1:]))
    name = f"{FIRST.id} {LEAF.id} {LEAF.metric}"
    assert differences(ROW, other) == (
        Difference("average", ROW.average, 1.0),
        Difference("average stderr", ROW.stderr, 2.0),
        Difference(f"{FIRST.id} raw", FIRST.raw, 0.125),
        Difference(f"{FIRST.id} score", FIRST.score, 12.0),
        Difference(f"{name} raw", LEAF.raw, 0.25),
        Difference(f"{name} score", LEAF.score, 26.0),
    )


def test_where_nothing_could_be_computed_every_number_differs() -> None:
    found = differences(ROW, None)
    assert found[0] == Difference("average", ROW.average, None)
    numbers = 2 + sum(2 + 2 * len(task.leaves) for task in ROW.tasks)
    assert len(found) == numbers - (ROW.stderr is None)


def test_a_number_that_is_only_in_one_of_them_differs() -> None:
    shorter = replace(ROW, tasks=ROW.tasks[1:])
    assert Difference(f"{FIRST.id} score", None, FIRST.score) in differences(shorter, ROW)
    assert Difference(f"{FIRST.id} score", FIRST.score, None) in differences(ROW, shorter)
