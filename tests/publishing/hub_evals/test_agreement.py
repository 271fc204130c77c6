"""How a value compares with those that others gave for the same task, and which files are the bot's own."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.errors import Unwritable
from bot.publishing.hub_evals.eval_result import Claim, HubEvalResult
from bot.publishing.hub_evals.eval_results_layout import DIGITS, PLACE, SAME, is_ours, same_value, signed
from bot.publishing.publication import Marker

OURS = HubEvalResult("a/b", "c", Decimal(50))
MARK = Marker("entry", "a", "tiny")


def claim(value: Decimal | None, place: str = "x.yaml", task: str = "c", *, is_ours: bool = False) -> Claim:
    return Claim(place, "a/b", task, value, is_ours=is_ours)


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ([], ""),
        ([claim(Decimal(1), task="other")], ""),
        ([claim(Decimal(1), is_ours=True)], ""),
        ([claim(Decimal(50) + SAME)], "x.yaml already has this value"),
        ([claim(Decimal(1)), claim(Decimal(50), "y.yaml")], "y.yaml already has this value"),
    ],
)
def test_a_value_is_new_ours_or_the_same(claims: list[Claim], why: str) -> None:
    assert same_value(OURS, claims) == why


@pytest.mark.parametrize("value", [Decimal(50) + SAME * 2, None])
def test_another_value_is_a_conflict(value: Decimal | None) -> None:
    with pytest.raises(Unwritable, match="conflict: x"):
        same_value(OURS, [claim(value)])


def test_both_sides_are_named_in_few_characters() -> None:
    path, digits = "x" * 1_000, Decimal("1." + "1" * 300)
    assert same_value(OURS, [claim(Decimal(50), path)]) == f"{path[:PLACE]}… already has this value"
    with pytest.raises(Unwritable) as caught:
        same_value(OURS, [claim(digits, path)])
    assert str(caught.value).startswith(f"conflict: {path[:PLACE]}… has {str(digits)[:DIGITS]}…, this result is 50: ")


def test_a_file_is_ours_by_its_first_comment_alone() -> None:
    data = signed("- x: 1\n", MARK)
    comment, _, rest = data.partition(b"\n")

    assert is_ours(data, "tiny")
    assert is_ours(comment + b" \r\n" + rest, "tiny")
    assert not is_ours(data.removeprefix(b"# "), "tiny")
    assert not is_ours(data, "other")
    assert not is_ours(b"\n" + data, "tiny")
