"""Numbers for people: half up in the decimal number that a file wrote, in each output alike."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.rounding import half_up, significant
from bot.evaluation.submission import parse_submission
from bot.reporting.escape import cell
from bot.reporting.explanation import explanation_text
from bot.reporting.markdown import judgement_markdown
from bot.reporting.scores import scores_text
from bot.reporting.text import Ink, terminal_text

BOARD = """title = "Ours"
description = "d"
[harness]
formats = ["own"]
[[formats]]
id = "own"
model = "m"
[[formats.values]]
value = "v"
leaf = "v"
unit = "percent"
[[tasks]]
id = "v"
title = "V"
unit = "percent"
metrics = [{ name = "score", integral = false }]
leaves = [{ id = "v" }]
"""


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (88.335, 2, "88.34"),
        (1.005, 2, "1.01"),
        (-0.125, 2, "-0.13"),
        (-0.004, 2, "0.00"),
        (0.1 + 0.2 - 0.295, 2, "0.01"),  # 0.005 but for the order of a sum
        (1e300, 0, "1" + 300 * "0"),
        (2.5, 0, "3"),
    ],
)
def test_a_tie_goes_up(value: float, digits: int, shown: str) -> None:
    assert str(half_up(value, digits)) == shown


@given(st.decimals(-10_000, 10_000, places=4), st.integers(0, 4))
def test_a_number_is_rounded_as_it_is_written(number: Decimal, digits: int) -> None:
    exact = number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    assert half_up(float(number), digits) == exact
    assert cell(float(number), digits) == str(exact + 0)


def test_significant_digits_are_rounded_alike() -> None:
    shown = [significant(value, digits) for value, digits in ((0.93335, 4), (88.335, 4), (1234565.0, 6), (7.0, 6))]
    assert shown == ["0.9334", "88.34", "1.23457e+06", "7"]


def test_all_outputs_of_a_verdict_show_one_number() -> None:
    board = parse_leaderboard(BOARD, "ours", "board.toml")
    data = {"": json.dumps({"m": "a/b", "v": 88.335}).encode()}
    parsed = parse_submission("r.json", data, forms=[form.format for form in board.formats])
    judgement = judge_all(parsed.parts, board)
    shown = (terminal_text(judgement, Ink(colour=False), whole=whole) for whole in (True, False))
    texts = *shown, scores_text(judgement), judgement_markdown(judgement), explanation_text(judgement)
    assert all("88.34" in text or "88.3350" in text for text in texts)
    assert not any("88.33 " in text or "88.33\n" in text for text in texts)
