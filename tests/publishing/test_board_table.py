"""The table of a board as `leaderboard-bot board` prints it: for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json

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
