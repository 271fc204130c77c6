"""The status of a row at a target: the first of several facts counts."""

from __future__ import annotations

import pytest

from bot.publishing.decisions import NOTHING, WAITS, Place, RowDecision, RowStatus, Waiting, status_of

HELD, FAILED = Waiting(is_held=True), Waiting(failure="the Hub refuses")
OURS, OTHERS = RowDecision("a", "declined"), RowDecision("b", "declined")


@pytest.mark.parametrize(
    ("place", "decided", "waiting", "refused", "expected"),
    [
        ("main", (OURS,), FAILED, "", RowStatus("main")),
        ("main", (), HELD, "", RowStatus("held")),
        ("open", (OTHERS,), Waiting(), "", RowStatus("open")),
        ("open", (OURS,), Waiting(), "", RowStatus("declined")),
        ("declined", (), Waiting(), "", RowStatus("declined")),
        (None, (OTHERS, OURS), FAILED, "", RowStatus("declined")),
        (None, (RowDecision("a", "removed"),), None, "", RowStatus("declined")),
        (None, (RowDecision("a", "taken"),), None, "", RowStatus("failed", NOTHING)),
        (None, (OTHERS,), Waiting(), "no column", RowStatus("waiting", WAITS)),
        (None, (), FAILED, "", RowStatus("failed", "the Hub refuses")),
        (None, (), None, "no column", RowStatus("refused", "no column")),
        (None, (), None, "", RowStatus("failed", NOTHING)),
    ],
)
def test_the_first_fact_that_holds_is_the_status(
    place: Place | None, decided: tuple[RowDecision, ...], waiting: Waiting | None, refused: str, expected: RowStatus
) -> None:
    assert status_of("a", place, decided, waiting, refused) == expected


def test_of_a_declined_plan_the_rows_are_declined() -> None:
    assert status_of("a", "main", waiting=HELD, is_plan_declined=True) == RowStatus("declined")
