"""Answers that are not there: empty, or cut inside of the model's thoughts."""

from __future__ import annotations

import pytest

from bot.audits.samples.sample import Sample
from bot.audits.samples.unanswered import Unanswered


def outcome(*answers: tuple[str | None, float]) -> tuple[int, float | None]:
    found = Unanswered()
    for place, (response, value) in enumerate(answers):
        found.add(Sample("lm-eval-0.4", place, {}, response=response), [("exact_match", [value])])
    return found.outcome()


@pytest.mark.parametrize(
    "missing",
    [
        "",
        " \n",
        "<think>so it is",
        "<think>so</think>\n",
        "[THINK]so",
        "<|channel|>analysis<|message|>so",
        "so</think>",
    ],
)
def test_an_answer_that_is_not_there_is_counted_and_the_others_give_the_mean(missing: str) -> None:
    assert outcome(("4", 1.0), ("5", 0.0), (missing, 0.0), ("<think>so</think> 4", 1.0)) == (1, 2 / 3)


def test_where_most_thoughts_end_one_without_an_end_was_cut() -> None:
    assert outcome(("so</think>4", 1.0), ("so</think>5", 0.0), ("so it is and", 0.0)) == (1, 0.5)
    assert outcome(("so</think>4", 1.0), ("4", 1.0), ("5", 0.0)) == (0, 2 / 3)


def test_log_likelihoods_have_no_answers() -> None:
    assert outcome((None, 1.0), (None, 0.0)) == (0, None)
