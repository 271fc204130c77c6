"""The flaws that a generation shows, and what the repairs give for it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from bot.audits.drop.assessment import (
    Flaw,
    SampleOutcome,
    assess,
    destroyed_decimals,
    ends_with_number,
    first_line,
    first_text_line,
    is_cut_decimal,
    runs_on,
)
from bot.audits.drop.samples import DropSample
from bot.audits.drop.scorer import DropScore, GoldAnswers, Golds, Scorer, is_glued, split_tokens

# generation, golds, glued, decimal cut, ends with number, runs on
VECTORS: list[tuple[str, Golds, list[str], bool, bool, bool]] = [
    ("10\n\nPassage: 1,001", (("10",),), ["10\n\nPassage:"], False, True, True),
    (" 12", (("12.25",),), [], True, True, False),
    (" They gained 12", (("12.25",),), [], True, True, False),
    (" 13", (("12.25",),), [], False, True, False),
    (" 3", (("3.5",), ("3",)), [], True, True, False),
    (" Bears\n\nPassage", (("Bears",),), [], False, False, True),
    ("\n10", (("10",),), [], False, True, False),
    ("10\tyards", (("10 yards",),), ["10\tyards"], False, False, False),
    ("10\u00a0yards", (("10 yards",),), ["10\u00a0yards"], False, False, False),
    ("x-$10\ny", (("10",),), ["$10\ny"], False, False, True),
    ("12", (("12.25", "3"),), [], False, True, False),
    ("", (("12.25",),), [], False, False, False),
]


def answers(golds: Golds) -> GoldAnswers:
    return Scorer().answers[golds]


def judge(prediction: str, golds: Golds, em: float | None = None, f1: float | None = None) -> SampleOutcome:
    scorer = Scorer()
    return assess(scorer, DropSample("plain", prediction, golds, em, f1), scorer.answers[golds])


@pytest.mark.parametrize(("text", "golds", "glued", "is_cut", "ends", "runs"), VECTORS)
def test_flaws_of_one_generation(
    text: str, golds: Golds, *, glued: list[str], is_cut: bool, ends: bool, runs: bool
) -> None:
    assert list(filter(is_glued, split_tokens(text))) == glued
    assert is_cut_decimal(text, answers(golds)) is is_cut
    assert ends_with_number(text) is ends
    assert runs_on(text) is runs


def test_all_reference_vectors(reference: Path) -> None:
    vectors = json.loads((reference / "drop/drop_detector_vectors.json").read_bytes())

    for vector in vectors:
        text, golds = vector["prediction"], tuple(map(tuple, vector["gold_answers"]))
        judged = judge(text, golds)
        assert list(filter(is_glued, split_tokens(text))) == vector["glued"], vector["name"]
        assert (Flaw.DECIMAL_CUT in judged.flaws) is vector["float_truncated"], vector["name"]
        assert (Flaw.ENDS_WITH_NUMBER in judged.flaws) is vector["ends_with_number"], vector["name"]
        assert (Flaw.RUNS_ON in judged.flaws) is vector["long"], vector["name"]
        assert list(judged.score) == vector["score"], vector["name"]
        assert first_line(text) == vector["truncated"], vector["name"]
        assert list(judged.first_line) == vector["rescored"], vector["name"]
    assert len(vectors) == 13


@pytest.mark.parametrize("token", ["12.25%", "$12.25", "12.25.", "1,001.5", "(3.5)", "12.25\nPassage:"])
def test_decimal_lost_with_its_punctuation(token: str) -> None:
    assert destroyed_decimals(["about", token, "in", "all"]) == [token]


@pytest.mark.parametrize("token", ["12.25", "-12.25", "1225%", "5:30", "1e3", "3.5yards", "a.b"])
def test_no_decimal_is_lost(token: str) -> None:
    assert destroyed_decimals(split_tokens(f"about {token} in all")) == []


def test_glued_number_matters_only_where_the_gold_has_a_number() -> None:
    assert judge("10\nyards", (("10 yards",),)).glued_matters
    assert not judge("Bears\n10", (("Bears",),)).glued_matters


def test_literal_cut_takes_the_answer_after_a_line_break_and_the_other_keeps_it() -> None:
    judged = judge("\n10\nPassage", (("10",),))

    assert (judged.score, judged.first_line, judged.first_text_line) == (
        DropScore(0, 0),
        DropScore(0, 0),
        DropScore(1, 1),
    )
    assert judge("\n10", (("10",),)).literal_cut_is_worse
    assert not judge(" 10\n", (("10",),)).literal_cut_is_worse
    assert first_text_line("\n \n10 yards\nx") == "10 yards"


def test_answer_line_ends_only_with_a_break_after_text() -> None:
    assert judge(" 10\nPassage", (("10",),)).answer_line_ends
    assert not judge("\n10", (("10",),)).answer_line_ends


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        ("10\nPassage", "10", True),
        ("10\tyards", "10 yards", True),
        ("12", "12.25", True),
        ("10", "10", False),
        ("11\nPassage", "10", False),
        ("wrong", "12.25", False),
    ],
)
def test_score_is_decided_by_the_format(prediction: str, answer: str, *, expected: bool) -> None:
    assert judge(prediction, ((answer,),)).is_distorted is expected


@pytest.mark.parametrize(("em", "f1", "expected"), [(1.0, 1.0, False), (1.0, 0.99, True), (0.0, 1.0, True)])
def test_logged_score_is_compared_with_the_computed_one(em: float, f1: float, *, expected: bool) -> None:
    assert judge("10", (("10",),), em=em, f1=f1).differs_from_log is expected


def test_nothing_logged_differs_from_nothing() -> None:
    assert not judge("10", (("10",),)).differs_from_log
    assert judge("10", (("10",),), em=float("nan")).differs_from_log


def test_kinds_of_golds() -> None:
    assert answers((("12.25",), ("1,001.5",))).kind == "decimal"
    assert answers((("12",), ("13",))).kind == "integer"
    assert answers((("12.25",), ("12",))).kind == "other"
    assert answers((("12.25", "3"),)).kind == "other"


# fmt: off
WORDS = (
    "10", "12.25%", "1,001.5", "the", "Bears", "nan", "x’a’y", "x’the’12", "１２", "’", "1e400", "!", "Passage:", "5.",
)
# fmt: on
SPACES = (" ", " ", "  ", "-", "\n", "\n\n", "\t", "\u00a0", "\x1c", "\x85", " \n")


def odd_text(source: Random, most: int) -> str:
    return "".join(source.choice(WORDS) + source.choice(SPACES) for _ in range(source.randrange(1, most)))


def test_each_repair_scores_as_the_repaired_text_alone() -> None:
    source, scorer, glued = Random(7), Scorer(), 0
    for _ in range(1500):
        text, golds = odd_text(source, source.choice((3, 5, 20))), ((odd_text(source, 3),), (odd_text(source, 4), "10"))
        judged = assess(scorer, DropSample("plain", text, golds, None, None), scorer.answers[golds])
        alone = Scorer()
        assert judged.score == alone.score(text, golds)
        assert judged.first_line == (alone.score(first_line(text), golds) if "\n" in text else judged.score)
        assert judged.first_text_line == (alone.score(first_text_line(text), golds) if "\n" in text else judged.score)
        is_glued_text = any(map(is_glued, split_tokens(text)))
        assert judged.unglued == (alone.score(" ".join(text.split()), golds) if is_glued_text else None), text
        glued += is_glued_text
    assert glued > 300
