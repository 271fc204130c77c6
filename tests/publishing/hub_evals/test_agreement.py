"""How a value compares with those that others gave for the same task, and which files are the bot's own."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.publishing.hub_evals.eval_result import Claim, HubEvalResult
from bot.publishing.hub_evals.eval_results_layout import DIGITS, PLACE, SAME, Agreement, is_ours, judge_value, signed
from bot.publishing.publication import Marker

OURS = HubEvalResult("a/b", "c", Decimal(50))
MARK = Marker("entry", "a", "tiny")


def claim(value: Decimal | None, place: str = "x.yaml", task: str = "c", *, is_ours: bool = False) -> Claim:
    return Claim(place, "a/b", task, value, has_tools=False, is_ours=is_ours)


@pytest.mark.parametrize(
    ("claims", "state"),
    [
        ([], "absent"),
        ([claim(Decimal(1), task="other")], "absent"),
        ([claim(Decimal(1), is_ours=True)], "ours"),
        ([claim(Decimal(50) + SAME)], "same"),
        ([claim(Decimal(50) + SAME * 2)], "conflict"),
        ([claim(Decimal(1)), claim(Decimal(50))], "same"),
        ([claim(None)], "conflict"),
    ],
)
def test_a_value_is_new_ours_the_same_or_in_conflict(claims: list[Claim], state: str) -> None:
    assert judge_value(OURS, claims).state == state


def test_both_sides_are_named_in_few_characters() -> None:
    path, digits = "x" * 1_000, Decimal("1." + "1" * 300)
    same, conflict = judge_value(OURS, [claim(Decimal(50), path)]), judge_value(OURS, [claim(digits, path)])

    assert same == Agreement("same", f"{path[:PLACE]}… already has this value")
    assert conflict.why.startswith(f"{path[:PLACE]}… has {str(digits)[:DIGITS]}…, this result is 50: ")


def test_a_file_is_ours_by_its_first_comment_alone() -> None:
    data = signed("- x: 1\n", MARK)
    comment, _, rest = data.partition(b"\n")

    assert is_ours(data, "tiny")
    assert is_ours(comment + b" \r\n" + rest, "tiny")
    assert not is_ours(data.removeprefix(b"# "), "tiny")
    assert not is_ours(data, "other")
    assert not is_ours(b"\n" + data, "tiny")
