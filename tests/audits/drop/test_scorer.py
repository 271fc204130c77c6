"""DROP's scorer gives the em and f1 of the harness, bit for bit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from bot.audits.drop.scorer import DropScore, Golds, Scorer, round_half_even
from tests.audits.drop.drop_pairs import drop_pairs

# prediction, golds, em, f1, normalized prediction; computed by lm_eval/tasks/drop/utils.py at 4e7e0d47f.
VECTORS = [
    ("10\n\nPassage: 1,001,360", [["10"]], 0, 0, "10 passage 1001360.0"),
    (" 10\n", [["10"]], 1, 1, "10.0"),
    ("10\u00a0yards", [["10"]], 0, 0, "10 yards"),
    ("10 yards", [["10"]], 0, 0.67, "10.0 yards"),
    (" 12", [["12.25"]], 0, 0, "12.0"),
    ("12.25", [["12.25"]], 1, 1, "12.25"),
    ("$12.25", [["12.25"]], 0, 0, "1225.0"),
    ("-5", [["5"]], 1, 1, "5.0"),
    ("The Chicago Bears.", [["Chicago Bears"]], 1, 1, "chicago bears"),
    ("Chicago Bears", [["Chicago Bears", "Green Bay Packers"]], 0, 0.5, "chicago bears"),
    ("Bears", [["Chicago Bears"], ["Bears"]], 1, 1, "bears"),
    ("the", [["the"]], 1, 1, ""),
    ("x", [["  "], ["x"]], 1, 1, "x"),
    ("bears bears", [["bears"]], 0, 1, "bears bears"),
    ("Infinity", [["infinity"]], 1, 1, "inf"),
    ("\u0661\u0662", [["12"]], 1, 1, "12.0"),
    ("\u201cBears\u201d", [["Bears"]], 0, 0, "\u201cbears\u201d"),
    ("5:30", [["5:30"]], 1, 1, "530.0"),
    ("13 yards", [["yards"]], 0, 0.67, "13.0 yards"),
    ("p q r", [["p", "s", "t"]], 0, 0.17, "p q r"),
]


def golds_of(answers: list[list[str]]) -> Golds:
    return tuple(map(tuple, answers))


@pytest.mark.parametrize(("prediction", "answers", "em", "f1", "normal"), VECTORS)
def test_quoted_vectors(prediction: str, answers: list[list[str]], em: float, f1: float, normal: str) -> None:
    scorer = Scorer()

    assert scorer.score(prediction, golds_of(answers)) == DropScore(em, f1)
    assert scorer.normalize(prediction) == normal


def test_halves_round_to_the_even_hundredth_as_numpy_does() -> None:
    assert [round_half_even(value) for value in (0.025, 0.035, 0.045, 0.125)] == [2, 4, 4, 12]


def test_golds_that_are_all_blank_score_nothing() -> None:
    assert Scorer().score("x", (("  ",), ("", "x"))) == DropScore(0.0, 0.0)


def test_what_is_remembered_of_one_sample_does_not_change_the_next() -> None:
    """One scorer for all pairs, and a new one for each, agree."""
    together = Scorer()
    for prediction, golds in drop_pairs(seed=5, count=2000):
        assert together.score(prediction, golds) == Scorer().score(prediction, golds)


def test_all_reference_vectors(reference: Path) -> None:
    vectors = json.loads((reference / "drop/drop_vectors.json").read_bytes())
    scorer = Scorer()

    for vector in vectors:
        golds = golds_of(vector["gold_answers"])
        assert scorer.score(vector["prediction"], golds) == DropScore(vector["em"], vector["f1"]), vector["name"]
        assert scorer.normalize(vector["prediction"]) == vector["normalized_prediction"]
        assert [list(map(scorer.normalize, spans)) for spans in golds] == vector["normalized_golds"]
    assert len(vectors) == 48


def test_ten_thousand_reference_samples(reference: Path) -> None:
    scorer, compared = Scorer(), 0

    with gzip.open(reference / "drop/bench_10k.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            score = scorer.score(row["prediction"], golds_of(row["gold_answers"]))
            assert score == DropScore(row["em"], row["f1"]), row
            compared += 1
    assert compared == 10_000


@pytest.fixture(scope="module")
def harness_scorer() -> Callable[[str, Golds], DropScore]:
    """DropScore with lm-evaluation-harness's own code: the one file, without the seconds that its package takes."""
    package = find_spec("lm_eval")
    if package is None or package.origin is None:
        pytest.skip("lm-eval is not installed (group `oracle`)")
    path = Path(package.origin).parent / "tasks/drop/utils.py"
    spec = spec_from_file_location("harness_drop", path)
    assert spec is not None
    assert spec.loader is not None
    utils: Any = module_from_spec(spec)
    spec.loader.exec_module(utils)

    def score(prediction: str, golds: Golds) -> DropScore:
        result = utils.process_results({"answers": golds}, [prediction])
        return DropScore(float(result["em"]), float(result["f1"]))

    return score


def compare(harness_scorer: Callable[[str, Golds], DropScore], seed: int, count: int) -> list[DropScore]:
    scorer, scores = Scorer(), []
    for prediction, golds in drop_pairs(seed, count):
        expected = harness_scorer(prediction, golds)
        assert scorer.score(prediction, golds) == expected, (prediction, golds)
        scores.append(expected)
    return scores


@pytest.mark.slow
def test_10_000_generated_pairs_score_as_in_the_harness(
    harness_scorer: Callable[[str, Golds], DropScore],
) -> None:
    scores = compare(harness_scorer, seed=20231101, count=10_000)

    # The pairs are of use only if they reach every kind of score.
    assert len(scores) == 10_000
    assert sum(score.em == 1 for score in scores) > 2_000
    assert sum(0 < score.f1 < 1 for score in scores) > 2_000
    assert len({score.f1 for score in scores}) > 40


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(5))
def test_a_million_generated_pairs_score_as_in_the_harness(
    harness_scorer: Callable[[str, Golds], DropScore], seed: int
) -> None:
    assert len(compare(harness_scorer, seed, count=200_000)) == 200_000
