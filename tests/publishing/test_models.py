"""What is known of a model beside its row: from tags of the Hub, and from its result file."""

from __future__ import annotations

import pytest

from bot.publishing.models import COLUMNS, LONGEST, UNKNOWN, ModelFacts, billions, fact_columns, facts_from_tags
from examples.make_results import make_result
from tests.evaluation.judging import outcome_of, patch


def test_tags_say_licence_base_and_how_it_was_made() -> None:
    tags = [
        "license:apache-2.0",
        "base_model:a/b",
        "base_model:merge:a/b",
        "license:other",
        "en",
        "base_model:merge:c/d",
    ]
    assert facts_from_tags(tags, 7, "2026-03-02") == ModelFacts(7, "apache-2.0", "merge", "a/b", "2026-03-02")
    assert facts_from_tags(["base_model:unheard:a/b"], None, "") == ModelFacts(base="a/b")
    assert len(facts_from_tags(["license:" + "x" * 5_000], None, "").licence) == LONGEST


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        (93_069_280, "0.0931"),
        (1_710_000_000, "1.71"),
        (9_960_000_000, "9.96"),
        (10_159_000_000, "10.2"),
        (70_600_000_000, "70.6"),
        (70_000_000_000, "70"),
        (1_040_000_000_000, "1040"),
    ],
)
def test_sizes_are_in_billions(params: int, shown: str) -> None:
    assert billions(params) == shown


def test_what_nobody_knows_is_empty() -> None:
    assert dict(fact_columns(UNKNOWN)) == dict.fromkeys(COLUMNS)


@pytest.mark.parametrize(
    ("written", "read"),
    [(7_240_000_000, 7_240_000_000), (-1, None), ("", None), (0, None), (10**30, None), (1.5, None)],
)
def test_a_file_states_its_size_or_nothing(written: object, read: int | None) -> None:
    data = patch(make_result("org/model", 0.5), "/config/model_num_parameters", written)
    result = outcome_of(data).verdict.result
    assert result is not None
    assert result.model.parameters == read
