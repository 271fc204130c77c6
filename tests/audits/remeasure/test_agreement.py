"""Another run of a part of the questions: the statistics against scipy, and what is found at which rate."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bot.audits.remeasure.agreement import (
    NOISE,
    POWER,
    hypergeometric_tail,
    judge_runs,
    power,
    sign_test,
    smallest_forgery,
)
from bot.audits.remeasure.plan import DrawnQuestion, PlannedTask, draw, seed_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_the_tests_are_those_of_scipy() -> None:
    from scipy.stats import binomtest, hypergeom

    for more, less in ((0, 0), (3, 1), (10, 0), (0, 4), (40, 31), (400, 320)):
        exact = binomtest(more, more + less, 0.5, alternative="greater").pvalue if more + less else 1.0
        assert sign_test(more, less) == pytest.approx(exact, rel=1e-9)
    for right, drawn, of_all, size in ((40, 100, 700, 1000), (70, 100, 700, 1000), (0, 20, 3, 40), (10, 10, 40, 40)):
        assert hypergeometric_tail(right, drawn, of_all, size) == pytest.approx(
            hypergeom.cdf(right, size, of_all, drawn), rel=1e-9
        )


@pytest.mark.slow
def test_the_power_is_that_of_the_exact_test() -> None:
    """Summed in another way, with scipy, over all tables of answers."""
    from scipy.stats import binom, binomtest

    n, forged = 40, 0.3
    below, above = NOISE / 2, forged + NOISE / 2
    found = sum(
        binom.pmf(less, n, below) * binom.pmf(more, n - less, above / (1 - below))
        for less in range(n + 1)
        for more in range(n - less + 1)
        if more + less and binomtest(more, more + less, 0.5, alternative="greater").pvalue < 0.01
    )
    assert power(n, forged) == pytest.approx(found, abs=1e-6)
    for questions in (30, 100):
        smallest = smallest_forgery(questions)
        assert smallest is not None
        assert power(questions, smallest) >= POWER > power(questions, smallest - 0.001)
    assert smallest_forgery(3) is None


def runs(
    rng: random.Random, n: int, forged: float, noise: float
) -> tuple[list[PlannedTask], dict[str, dict[str | int, DrawnQuestion]]]:
    """A row with a share of forged answers, and another run of the same model, whose answers differ by noise."""
    row, again = [], dict[str | int, DrawnQuestion]()
    for number in range(n):
        right = rng.random() < 0.5
        first, second = (right != (rng.random() < noise / 2) for _ in range(2))
        is_forged = rng.random() < forged * 2 and not right  # half of the answers are wrong
        row.append(DrawnQuestion(number, str(number), float(first or is_forged)))
        again[number] = DrawnQuestion(number, str(number), float(second))
    return [PlannedTask("sums", "acc,none", 0.5, n, tuple(row))], {"sums": again}


def test_forgeries_are_found_as_often_as_promised_and_honest_rows_are_hardly_ever_called_wrong() -> None:
    rng = random.Random(59)
    smallest = smallest_forgery(200)
    assert smallest is not None
    found = [judge_runs(*runs(rng, 200, smallest, 0.02)).outcome for _ in range(200)]
    assert found.count("does not agree") >= 0.85 * 200
    honest = [judge_runs(*runs(rng, 200, 0.0, 0.02)).outcome for _ in range(200)]
    assert honest.count("does not agree") <= 0.02 * 200
    assert honest.count("agrees") >= 0.98 * 200


def test_answers_that_differ_both_ways_far_more_than_noise_are_of_another_model() -> None:
    rng = random.Random(5)
    row = tuple(DrawnQuestion(number, "", float(rng.random() < 0.5)) for number in range(100))
    again = {one.id: DrawnQuestion(one.id, "", float(rng.random() < 0.5)) for one in row}
    found = judge_runs([PlannedTask("sums", "acc", 0.5, 100, row)], {"sums": again})
    assert found.outcome == "does not agree"


def test_what_is_missing_or_another_question_is_named_and_few_questions_say_nothing() -> None:
    row = tuple(DrawnQuestion(number, f"h{number}", 1.0) for number in range(10))
    task = PlannedTask("sums", "acc", 1.0, 100, row)
    again = {one.id: one for one in row[1:]} | {5: DrawnQuestion(5, "other", 1.0)}
    found = judge_runs([task], {"sums": again})
    assert found.outcome == "too few to say"
    assert found.missing == ("sums: 1 of 10 questions are in no log", "sums: question 5 is another one in the new log")
    assert judge_runs([task], {}).outcome == "too few to say"
    many = tuple(DrawnQuestion(number) for number in range(200))  # of a row without a log only the mean is known
    claimed = PlannedTask("sums", "acc", 0.9, 1000, many)
    for right, outcome in ((178, "agrees"), (150, "does not agree")):
        new = {number: DrawnQuestion(number, "", float(number < right)) for number in range(200)}
        assert judge_runs([claimed], {"sums": new}).outcome == outcome


def test_the_draw_follows_from_seed_commit_and_leaf_alone() -> None:
    questions = [DrawnQuestion(number) for number in range(1_000)]
    first = draw(seed_of("beacon", "c0ffee"), "sums", questions, 100)
    assert first.drawn == draw(seed_of("beacon", "c0ffee"), "sums", questions[::-1], 100).drawn
    assert (len(first.drawn), first.size) == (100, 1_000)
    for seed, leaf in (
        (seed_of("beacon", "c0ffef"), "sums"),
        (seed_of("other", "c0ffee"), "sums"),
        (seed_of("beacon", "c0ffee"), "logic"),
    ):
        assert len({one.id for one in first.drawn} & {one.id for one in draw(seed, leaf, questions, 100).drawn}) < 30
    assert len(draw("s", "sums", questions[:5], 100).drawn) == 5


@pytest.mark.slow
def test_the_table_of_the_docs_is_what_the_function_gives() -> None:
    text = (ROOT / "docs" / "scores.md").read_text(encoding="utf-8")
    for questions in (50, 100, 200, 400, 1000):
        smallest = smallest_forgery(questions)
        assert smallest is not None
        assert f"| {questions:,} | {100 * smallest:.1f} |" in text


def test_two_answers_against_one_are_no_evidence_and_ten_against_none_are() -> None:
    assert sign_test(2, 1) == pytest.approx(0.5)
    assert sign_test(10, 0) == pytest.approx(2**-10)
    assert hypergeometric_tail(0, 2, 2, 4) == pytest.approx(1 / 6)
