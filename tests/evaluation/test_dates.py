"""A file's own date is believed no further than the commit that brought it, and never in the future."""

from __future__ import annotations

from datetime import date
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import DAY, LATEST, believed_date, iso_date, latest_date
from tests.evaluation.judging import judgement_of, outcome_of, patched, rules_of

TODAY = date(2026, 6, 1)
NOON = 1780315200.0  # of that day
OWN = st.none() | st.floats(0, 1e12)


@given(OWN, st.none() | st.floats(0, LATEST - DAY), st.none() | st.just(TODAY))
def test_no_date_is_believed_beyond_its_commit_or_today(
    own: float | None, committed: float | None, day: date | None
) -> None:
    believed = believed_date(own, committed, day)
    if committed is not None:
        assert believed <= committed
    assert believed <= latest_date(day, None)
    assert len(iso_date(believed)) in {0, 20}
    if own is not None and own <= min(NOON, LATEST if committed is None else committed):
        assert believed == own


@pytest.mark.parametrize("own", [1e10, 1e300, inf, -inf, nan, -5.0, 0.0])
def test_a_date_that_cannot_be_is_none(own: float) -> None:
    (row,) = judgement_of({"results_x.json": patched({"/date": own})}, facts=Facts(today=TODAY)).rows
    assert row.lead.date == 0.0


def test_a_file_of_the_future_does_not_replace_one_of_today() -> None:
    new, key = {"/date": NOON}, "/results/leaderboard_mmlu_pro/acc,none"
    files = {"a.json": patched(new), "b.json": patched({"/date": 4e9 - 1, key: 0.25})}
    (row,) = judgement_of(files, facts=Facts(today=TODAY)).rows
    assert row.lead.path == "a.json"


def test_the_commit_counts_where_the_file_is_of_the_future() -> None:
    facts = Facts(today=TODAY, committed={"results_x.json": NOON - 5 * DAY})
    outcome = outcome_of(patched({"/date": NOON}), facts=facts)
    assert outcome.verdict.date == NOON - 5 * DAY
    assert "future-date" in rules_of(outcome)
    assert outcome.status == "accepted"


def test_the_name_of_a_file_is_believed_no_more_than_its_field() -> None:
    outcome = outcome_of(patched({"/date": None}), facts=Facts(today=TODAY), path="results_2088-01-01T00-00-00.json")
    assert outcome.verdict.date == 0.0
    assert "future-date" in rules_of(outcome)
