"""The table of a board as `leaderboard-bot board` prints it: for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bot.publishing.board import Board, make_board, records
from bot.publishing.board_table import board_json, board_markdown, board_text
from tests.platforms.github.entries import entry
from tests.publishing.test_quarantine import doubted

CHAT = entry("acme/b", (90, 50, 60))
ROWS = [entry("acme/a", (10, 60, 70)), replace(CHAT, model=replace(CHAT.model, chat_template=True))]


def board(*quarantined: str) -> Board:
    return make_board(ROWS, doubted(*quarantined))


def test_the_terminal_has_two_decimals_of_each_number_and_says_what_a_rank_is() -> None:
    assert (
        board_text(board())
        == """\
rank  model          average   sums  logic
1     acme/b (chat)    64.17  68.33  60.00
2     acme/a           50.00  30.00  70.00

A rank is the best and the worst place that a row could have by chance: averages
that differ by at most 1.96 standard errors of the difference may change places.
"""
    )


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ([{}, {"precision": "4bit"}], ["acme/a (4bit)", "acme/a (bfloat16)"]),
        (
            [{}, {"revision": "b" * 40}, {"revision": ""}],
            ["acme/a (0123abcd)", "acme/a (bbbbbbbb)", "acme/a (unpinned)"],
        ),
        ([{}, {"chat_template": True}], ["acme/a", "acme/a (chat)"]),
        (
            [{}, {"precision": "4bit"}, {"revision": "b" * 40}],
            ["acme/a (4bit, 0123abcd)", "acme/a (bfloat16, 0123abcd)", "acme/a (bfloat16, bbbbbbbb)"],
        ),
    ],
)
def test_rows_of_one_model_say_how_they_differ(changes: list[dict[str, Any]], names: list[str]) -> None:
    model = replace(ROWS[0].model, revision="0123abcd" * 5)
    rows = [replace(ROWS[0], model=replace(model, **change)) for change in changes]

    text = board_text(make_board([*rows, entry("acme/other", (9, 60, 70))], doubted()))

    assert sorted(line[6:].split("  ")[0] for line in text.splitlines()[1 : len(rows) + 2]) == [*names, "acme/other"]


def test_columns_in_doubt_are_named_with_the_average_without_them() -> None:
    assert (
        board_markdown(board("sums"))
        == """\
| rank | model | average | without sums | sums | logic |
| --- | --- | ---: | ---: | ---: | ---: |
| 1 | `acme/b (chat)` | 64.17 | 60.00 | 68.33 | 60.00 |
| 2 | `acme/a` | 50.00 | 70.00 | 30.00 | 70.00 |

A rank is the best and the worst place that a row could have by chance: averages that differ by at most 1.96 standard \
errors of the difference may change places.

sums is quarantined: scored wrongly
"""
    )


def test_the_json_has_the_records_of_the_csv() -> None:
    text = board_json(board())

    assert json.loads(text) == {"schema": "leaderboard-bot/board/1", "leaderboard": "tiny", "rows": records(board())}
    assert text.startswith('{\n  "schema": ')
    assert text.endswith("}\n")
