"""Which figure a draft takes where answers were repeated or not scored, and what it leaves to a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.errors import CallError
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.reporting.draft import draft_text
from tests.evaluation.drafting import modern


def lighteval(*figures: tuple[str, float]) -> dict[str, Any]:
    general = {"lighteval_sha": "?", "model_name": "acme/a", "model_config": {"model_name": "acme/a"}}
    return {"config_general": general, "results": {"aime25|0": dict(figures)}, "versions": {"aime25|0": 1}}


def drafted(*files: dict[str, Any]) -> str:
    return draft_text(draft_of([parse_result(json.dumps(one).encode()) for one in files]))


@pytest.mark.parametrize(
    ("figures", "chosen"),
    [
        ((("pass@k:k=16&n=16", 0.9), ("avg@n:n=16", 0.7)), "avg@n:n=16"),
        ((("maj@n:n=16", 0.8), ("pass@k:k=16&n=16", 0.9), ("pass@k:k=1&n=16", 0.7)), "pass@k:k=1&n=16"),
        ((("pass@k:k=16&n=16", 0.9),), "pass@k:k=16&n=16"),
        ((("pass@1:32_samples", 0.5), ("pass@8:32_samples", 0.8)), "pass@1:32_samples"),
    ],
)
def test_a_mean_of_answers_comes_before_the_best_of_them(figures: Any, chosen: str) -> None:
    assert f'metrics = [{{ name = "{chosen}"' in drafted(lighteval(*figures))


def test_pass_1_and_the_mean_of_the_same_answers_must_be_equal() -> None:
    for mean, count, contradicted in ((0.70625, 16, False), (0.0, 16, True), (0.0, 8, False)):
        data = lighteval(("pass@k:k=1&n=16", 0.70625), (f"avg@n:n={count}", mean))
        found = parse_result(json.dumps(data).encode()).leaves["aime25|0"].contradicted
        assert bool(found) is contradicted


@pytest.mark.parametrize("row", [{"bypass,none": 999}, {"submission,none": "N/A"}, {"acc,none": -1, "alias": "x"}, {}])
def test_what_was_not_scored_has_no_column(row: dict[str, Any]) -> None:
    with pytest.raises(CallError, match="nothing was scored"):
        drafted(modern({"x": row}))
    assert 'id = "x"' not in drafted(modern({"x": row, "y": {"acc,none": 0.5}}))


def test_versions_and_datasets_that_differ_are_left_to_a_person() -> None:
    def of(version: float, **config: Any) -> dict[str, Any]:
        return modern({"x": {"acc,none": 0.5}}, versions={"x": version}, configs={"x": config})

    asked = {"doc_to_text": "{{q}}", "dataset_path": "acme/data", "output_type": "generate_until"}
    assert "TODO: the files have the versions 1, 2 of x" in drafted(of(1.0), of(2.0))
    revisions = [of(1.0, **asked, dataset_kwargs={"revision": one}) for one in ("a", "b")]
    assert "asked x of 2 datasets or revisions" in drafted(*revisions)
    assert "datasets or revisions" not in drafted(of(1.0, **asked), of(1.0, **asked))
    group = modern(
        {"g_a": {"acc,none": 0.5}, "g_b": {"acc,none": 0.5}}, configs=dict.fromkeys(("g_a", "g_b"), asked),
        group_subtasks={"g": ["g_a", "g_b"]}, groups={"g": {"acc,none": 0.5}},
    )  # fmt: skip
    assert "g_a, g_b ask the same dataset" in drafted(group)
