"""A column in doubt by declaration: the table has the average with and without it; entries audited at a target."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from bot.audits.score_table import read_score_table
from bot.cli.audits import audit
from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.publishing.board import WITHOUT, board_of, columns, make_board, records, to_csv, to_parquet
from bot.publishing.board_table import board_text
from tests.platforms.github.entries import entry, tiny
from tests.world.results import TINY


def doubted(*ids: str) -> Leaderboard:
    """The tiny leaderboard with these tasks in quarantine."""
    text = TINY
    for name in ids:
        assert f'id = "{name}"' in text
        text = text.replace(f'[[tasks]]\nid = "{name}"', f'[[tasks]]\nquarantined = "scored wrongly"\nid = "{name}"')
    return parse_leaderboard(text, "tiny", "tiny.toml")


FIRST = tiny().tasks[0].id
ENTRIES = [entry("acme/a", (10, 60, 70)), entry("acme/b", (90, 50, 60))]


def test_the_table_has_the_average_with_and_without() -> None:
    board = make_board(ENTRIES, doubted(FIRST))
    rows = list(csv.DictReader(io.StringIO(to_csv(board).decode())))
    assert len(rows) == 2
    for row, record in zip(rows, records(board), strict=True):
        others = [float(row[task.id]) for task in tiny().tasks if task.id != FIRST]
        everything = [float(row[task.id]) for task in tiny().tasks]
        assert float(row[WITHOUT]) == pytest.approx(sum(others) / len(others))
        assert float(row["average"]) == pytest.approx(sum(everything) / len(everything))
        assert record[WITHOUT] == float(row[WITHOUT])
    assert to_parquet(board)


def test_the_terminal_names_the_column_and_why() -> None:
    text = board_text(make_board(ENTRIES, doubted(FIRST)))
    assert f"without {tiny().tasks[0].title}" in text
    assert f"{tiny().tasks[0].title} is quarantined: scored wrongly" in text


def test_nothing_changes_where_no_column_is_in_doubt() -> None:
    assert WITHOUT not in columns(tiny())
    assert "without" not in board_text(make_board(ENTRIES, tiny()))


def test_not_every_column_can_be_in_doubt() -> None:
    with pytest.raises(MalformedDeclaration, match="every task is quarantined"):
        doubted(*(task.id for task in tiny().tasks))


def test_the_audit_does_not_take_an_average_for_a_column() -> None:
    board = make_board(ENTRIES, doubted(FIRST))
    assert set(read_score_table(to_csv(board), "x.csv").columns) == {task.id for task in tiny().tasks}


def test_entries_are_audited_as_they_are_scored() -> None:
    board = board_of(ENTRIES)
    assert board.names == ("acme/a", "acme/b")
    assert board.columns[FIRST] == tuple(one.tasks[0].score for one in ENTRIES)
    assert set(board_of(ENTRIES, "tiny", (FIRST,)).columns) == {FIRST}


def test_entries_of_no_leaderboard_or_a_strange_column_are_refused() -> None:
    with pytest.raises(CallError, match="no entries"):
        board_of(ENTRIES, "other")
    with pytest.raises(CallError, match=r"\Athere are no entries of this leaderboard\Z"):
        board_of([])
    other = replace(ENTRIES[0], leaderboard=replace(ENTRIES[0].leaderboard, id="other"))
    with pytest.raises(CallError, match=r"\Athere are entries of several leaderboards, other, tiny: name one\Z"):
        board_of([*ENTRIES, other])
    with pytest.raises(
        CallError, match=f"no column 'x'; the columns are {', '.join(task.id for task in tiny().tasks)}"
    ):
        board_of(ENTRIES, "", ("x",))


def test_a_target_without_a_table_is_read_by_its_entries(tmp_path: Path) -> None:
    assert "no entries" in str(CliRunner().invoke(audit, ["board", str(tmp_path)]).exception)
    assert isinstance(CliRunner().invoke(audit, ["board", "ftp://x"]).exception, CallError)
