"""The issue about rows that do not follow from their evidence."""

from __future__ import annotations

from bot.publishing.publication import find_marker
from bot.publishing.verdict_texts import BROKEN_ROWS_NAMED, ISSUE_FOOT, BrokenRow, broken_rows_text, verify_mark

TARGET = "hf://datasets/acme/my board"
ROW = BrokenRow("tiny/acme/m/0-bfloat16", "differs", "average: 58.3 there, 61.7 from the evidence")


def test_the_issue_names_each_row_and_the_command_that_checks_again() -> None:
    mark = verify_mark(TARGET)
    text = broken_rows_text(TARGET, [ROW], mark)

    assert text.title == "Rows of the board do not follow from their evidence"
    assert text.body.startswith(f"1 row of `{TARGET}` does not follow from the evidence:\n\n")
    assert "\n- `tiny/acme/m/0-bfloat16`: **differs**, `average: 58.3 there, 61.7 from the evidence`\n" in text.body
    assert f"from the evidence`\n\nCheck again: `leaderboard-bot verify '{TARGET}'`\n\n{ISSUE_FOOT}" in text.body
    assert find_marker(text.body) == mark
    assert "more." not in text.body


def test_of_very_many_rows_the_first_are_named() -> None:
    body = broken_rows_text(TARGET, [ROW] * (BROKEN_ROWS_NAMED + 2), verify_mark(TARGET)).body

    assert body.startswith(f"102 rows of `{TARGET}` do not follow from the evidence:")
    assert body.count("\n- `") == BROKEN_ROWS_NAMED
    assert "\n\n… and 2 more.\n\n" in body
    assert "more." not in broken_rows_text(TARGET, [ROW] * BROKEN_ROWS_NAMED, verify_mark(TARGET)).body


def test_words_of_a_target_are_no_markup_in_the_issue() -> None:
    hostile = BrokenRow("a`b @all", "differs", f"<b>`{'x' * 297}")
    body = broken_rows_text("x` @all", [hostile], verify_mark("x")).body

    assert f"- ``a`b @all``: **differs**, ``<b>`{'x' * 296}…``\n" in body
    assert "1 row of ``x` @all`` does" in body
