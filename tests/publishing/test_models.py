"""What is known of a model beside its row: from tags of the Hub, and from its result file."""

from __future__ import annotations

import pytest

from bot.publishing.models import (
    COLUMNS,
    LONGEST_FACT,
    UNKNOWN,
    ModelFacts,
    billions,
    fact_columns,
    facts_from_tags,
    other_size,
)
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
    assert len(facts_from_tags(["license:" + "x" * 5_000], None, "").licence) == LONGEST_FACT


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


@pytest.mark.parametrize(
    ("model", "params", "other"),
    [
        ("FINGU-AI/Chocolatine-Fusion-14B", 8_367_000_000, "14B"),
        ("kms7530/chemeng_qwen-math-7b_24_1_100_1_nonmath", 15_231_000_000, "7B"),
        ("godlikehhd/qwen-2.5-1.5b-cherry", 772_000_000, "1.5B"),
        ("google/gemma-2-2b-it", 2_614_000_000, ""),
        ("mistralai/Mixtral-8x7B-v0.1", 46_700_000_000, ""),
        ("pankajmathur/orca_mini_v9_2_14B", 14_660_000_000, ""),
        ("SicariusSicariiStuff/LLAMA-3_8B_Unaligned_BETA", 8_030_000_000, ""),
        ("70B/small", 1_000_000_000, ""),
        ("org/13b-from-70b", 13_000_000_000, ""),
        ("org/model-14B", None, ""),
        ("org/model-0B", 1, ""),
        ("minishlab/potion-base-8M", 7_240_000_000, "8M"),
        ("ibm-granite/granite-embedding-278m-multilingual", 278_000_000, ""),
        ("Qwen/Qwen2.5-14B-Instruct-1M", 7_000_000_000, "14B"),
        ("org/long-context-1M", 7_000_000_000, ""),
    ],
)
def test_a_size_in_the_name_that_is_not_the_recorded_one_is_told(model: str, params: int | None, other: str) -> None:
    assert other_size(model, params) == other


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
