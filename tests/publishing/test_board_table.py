"""The table of a board as `leaderboard-bot board` prints it: for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.leaderboard import parse_leaderboard
from bot.publishing.board import Board, make_board, records
from bot.publishing.board_table import board_json, board_markdown, board_text
from bot.publishing.card import card_table
from tests.platforms.github.entries import entry
from tests.publishing.test_quarantine import doubted
from tests.world.results import TINY

CHAT = entry("acme/b", (90, 50, 60))
ROWS = [entry("acme/a", (10, 60, 70)), replace(CHAT, model=replace(CHAT.model, chat_template=True))]


def board(*quarantined: str) -> Board:
    return make_board(ROWS, doubted(*quarantined))


def test_the_terminal_has_two_decimals_of_each_number_and_says_what_a_rank_is() -> None:
    assert (
        board_text(board())
        == """\
rank  model          average   Sums  Logic
1     acme/b (chat)    64.17  68.33  60.00
2     acme/a           50.00  30.00  70.00

A rank is the best and the worst place that a row could have by chance: averages
that differ by at most 1.96 standard errors of the difference may change places.
"""
    )


def test_rows_without_a_standard_error_are_ranked_by_their_averages_alone() -> None:
    """As of results of MTEB, EvalPlus and BFCL."""
    bare = [replace(row, stderr=None, tasks=tuple(replace(one, stderr=None) for one in row.tasks)) for row in ROWS]
    assert board_text(make_board(bare, doubted())).endswith(
        "The rows are ranked by their averages alone, and nothing tells what chance may\nchange.\n"
    )
    text = board_text(make_board([bare[0], *ROWS[1:]], doubted()))
    assert ("by chance" in text, "Rows without a standard error are ranked" in text) == (True, True)


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


def test_long_names_that_end_alike_are_not_cut_to_one() -> None:
    """As of 89 models of mlfoundations/evalchemy, pull 159: 30 of them were called `…ontaminated`."""
    names = [f"acme/atlas-{size}b-300BT-v1-decontaminated-longsft-16k-DPO-Tulu3-decontaminated" for size in (1, 3)]
    rows = [entry(names[0], (10, 60, 70)), entry(names[1], (90, 50, 60))]
    rank, *lines = board_text(make_board(rows, doubted())).split("\n\n")[0].splitlines()
    start, end = rank.index("model"), rank.index("average")
    assert "".join(line[start:end].strip() for line in lines) == f"{names[1]}{names[0]}"
    assert "…econtaminated-longsft-16k-DPO-Tulu3-decontaminated  " in board_text(
        make_board([rows[0], ROWS[0]], doubted())
    )


def test_columns_in_doubt_are_named_with_the_average_without_them() -> None:
    assert (
        board_markdown(board("sums"))
        == """\
| rank | model | average | without Sums | Sums | Logic |
| --- | --- | ---: | ---: | ---: | ---: |
| 1 | `acme/b (chat)` | 64.17 | 60.00 | 68.33 | 60.00 |
| 2 | `acme/a` | 50.00 | 70.00 | 30.00 | 70.00 |

A rank is the best and the worst place that a row could have by chance: averages that differ by at most 1.96 standard \
errors of the difference may change places.

Sums is quarantined: scored wrongly
"""
    )


def test_the_json_has_the_records_of_the_csv() -> None:
    text = board_json(board())

    assert json.loads(text) == {"schema": "leaderboard-bot/board/1", "leaderboard": "tiny", "rows": records(board())}
    assert text.startswith('{\n  "schema": ')
    assert text.endswith("}\n")


def test_each_part_of_a_wide_board_begins_with_rank_and_model() -> None:
    head, *tasks = TINY.split("[[tasks]]")
    names = [f"a_long_name_{number}" for number in range(8)]
    wide = "[[tasks]]".join([head, *(tasks[1].replace("logic", name).replace("Logic", name) for name in names)])
    rows = [replace(row, tasks=row.tasks[:1] * len(names)) for row in ROWS]

    lines = board_text(make_board(rows, parse_leaderboard(wide, "tiny", "tiny.toml"))).splitlines()

    first, second = (line.split() for line in lines if line.startswith("rank "))
    assert (first[:4], second[:3]) == (["rank", "model", "average", names[0]], ["rank", "model", second[2]])
    assert [*first[3:], *second[2:]] == names


def test_all_columns_in_doubt_are_in_one_title() -> None:
    third = TINY.partition("[[tasks]]")[2].partition("[[tasks]]")[2].replace("logic", "facts").replace("Logic", "Facts")
    three = f"{TINY}\n[[tasks]]{third}".replace("num_fewshot = 0", 'num_fewshot = 0\nquarantined = "scored wrongly"', 2)

    board = make_board([], parse_leaderboard(three, "tiny", "tiny.toml"))
    text = board_markdown(board)

    assert text.startswith("| rank | model | average | without Sums, Logic | Sums | Logic | Facts |")
    assert text.endswith("Sums is quarantined: scored wrongly\n\nLogic is quarantined: scored wrongly\n")
    assert board_text(board).endswith("\nSums is quarantined: scored wrongly\nLogic is quarantined: scored wrongly\n")


def test_a_row_of_a_declaration_with_other_columns_has_its_scores_below_their_own_heads() -> None:
    """So it is between the merge of the first row with a new column and that of the last."""
    row = ROWS[0]
    sums, logic = row.tasks
    for tasks in ((logic, sums), (*row.tasks, replace(sums, id="new"))):
        odd = make_board([replace(row, tasks=tasks), ROWS[1]], doubted())
        assert "  30.00  70.00\n" in board_text(odd)
        assert all("| 30.00 | 70.00 |\n" in f"{made}\n" for made in (board_markdown(odd), card_table(odd)))
    assert " –  70.00\n" in board_text(make_board([replace(row, tasks=(logic,)), ROWS[1]], doubted()))
