"""Entries in; ranks with their ties, the two files of the table, and the entry that stands for a key, out."""

from __future__ import annotations

import csv
import io
from itertools import permutations
from math import sqrt

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.board import TIE, columns, make_board, records, same_values, to_csv, to_parquet
from bot.entry import Entry, Superseded, choose
from bot.leaderboard import COLUMNS
from bot.measure import raw_values
from bot.pipeline import entry_of
from tests.judging import ABSENT, base, declared, patched, verdict_of

BOARD = declared()


def entry_from(data: object, path: str = "example/results.json", commit: str = "0" * 40) -> Entry:
    entry = entry_of(verdict_of(data), source="acme/results", path=path, commit=commit)
    assert entry is not None
    return entry


ENTRY = entry_from(base())
HOLE = entry_from(patched({"/results/leaderboard_mmlu_pro": ABSENT}))


def row(number: int, average: float | None, stderr: float | None = None) -> Entry:
    return replace(ENTRY, key=f"org__m{number:03}/{'0' * 12}-bfloat16", average=average, stderr=stderr)


# ---- ranks ----


def slow_ranks(entries: list[Entry]) -> dict[str, int | None]:
    """The definition as it is written: one more than the rows that are better beyond chance."""

    def is_beyond(one: Entry, other: Entry) -> bool:
        error = sqrt((one.stderr or 0.0) ** 2 + (other.stderr or 0.0) ** 2)
        return (one.average or 0.0) - (other.average or 0.0) > TIE * error

    complete = [entry for entry in entries if entry.average is not None]
    ranks: dict[str, int | None] = {e.key: 1 + sum(is_beyond(o, e) for o in complete) for e in complete}
    return ranks | {entry.key: None for entry in entries if entry.average is None}


# Tenths over errors of 1/7: no difference of two averages lies on the edge of a tie.
averages = st.none() | st.integers(0, 1000).map(lambda tenths: tenths / 10)
errors = st.none() | st.integers(0, 20).map(lambda sevenths: sevenths / 7)


@settings(max_examples=150)
@given(st.lists(st.tuples(averages, errors), max_size=40))
def test_ranks_are_those_of_the_slow_definition(numbers: list[tuple[float | None, float | None]]) -> None:
    entries = [row(number, *pair) for number, pair in enumerate(numbers)]
    board = make_board(reversed(entries), BOARD)
    assert {line.entry.key: line.rank for line in board.rows} == slow_ranks(entries)
    assert [line.position for line in board.rows] == list(range(1, len(entries) + 1))
    shown = [line.entry.average for line in board.rows]
    complete = [average for average in shown if average is not None]
    assert shown == [*sorted(complete, reverse=True), *[None] * (len(shown) - len(complete))]


def test_rows_that_chance_explains_share_a_rank() -> None:
    rows = [row(1, 50.0, 1.0), row(2, 48.0, 1.0), row(3, 46.0, 1.0), row(4, 30.0, 1.0)]
    ranks = [line.rank for line in make_board(rows, BOARD).rows]
    assert ranks == [1, 1, 2, 4]  # 4 points apart is more than 1.96 sqrt(2) = 2.77, 2 points is less


def test_equal_averages_share_a_rank_without_any_error() -> None:
    assert [line.rank for line in make_board([row(1, 5.0), row(2, 5.0), row(3, 4.0)], BOARD).rows] == [1, 1, 3]


def test_an_incomplete_row_stands_last_and_unranked() -> None:
    board = make_board([HOLE, replace(ENTRY, key="other/row")], BOARD)
    assert [(line.rank, line.entry.verdict) for line in board.rows] == [(1, "accepted"), (None, "incomplete")]
    assert {row.entry.key: row.rank for row in board.rows}[HOLE.key] is None
    assert records(board)[1]["missing"] == "leaderboard_mmlu_pro"
    assert records(board)[1]["average"] is None


# ---- files ----


def test_csv_and_parquet_say_the_same() -> None:
    board = make_board([row(1, 50.0, 1.0), row(2, 100 / 3, None), HOLE], BOARD)
    data = to_parquet(board)
    assert data is not None
    table = pl.read_parquet(io.BytesIO(data))
    lines = list(csv.DictReader(io.StringIO(to_csv(board).decode())))
    assert tuple(table.columns) == tuple(lines[0]) == columns(BOARD)
    for one, other, record in zip(table.to_dicts(), lines, records(board), strict=True):
        assert one == record
        for column, value in one.items():
            text = other[column]
            if isinstance(value, bool):
                assert text == str(value).lower()
            elif isinstance(value, float):
                assert float(text) == value  # to the last bit
            else:
                assert text == ("" if value is None else str(value))


def test_no_task_may_have_the_name_of_a_column() -> None:
    tasks = {task.id for task in BOARD.tasks}
    doubted = BOARD.model_copy(update={"tasks": (BOARD.tasks[0].model_copy(update={"quarantined": "x"}),)})
    assert (set(columns(BOARD)) | set(columns(doubted)) | {"path"}) - tasks == COLUMNS


def test_an_empty_board_has_its_columns() -> None:
    board = make_board([], BOARD)
    assert to_csv(board).decode() == ",".join(columns(BOARD)) + "\n"
    data = to_parquet(board)
    assert data is not None
    assert tuple(pl.read_parquet(io.BytesIO(data)).columns) == columns(BOARD)


def test_the_board_knows_the_values_of_its_complete_rows() -> None:
    verdict = verdict_of(base())
    assert verdict.measures is not None
    assert same_values([ENTRY, HOLE]) == {raw_values(verdict.measures, BOARD): "example-org/kestrel-7b"}


# ---- which submission stands for a key ----


def measured(day: int, entry: Entry = ENTRY, path: str = "") -> Entry:
    path = path or f"kestrel/results_2026-01-{day:02}.json"
    evidence = replace(entry.evidence, path=path, sha256=f"{day:064}", date=f"2026-01-{day:02}T00:00:00Z")
    return replace(entry, evidence=evidence)


def names(entry: Entry) -> list[str]:
    return [old.path for old in entry.supersedes]


def test_the_newest_complete_one_stands_and_names_the_others() -> None:
    old, new, hole = measured(1), measured(2), measured(3, HOLE)
    for order in permutations([old, new, hole]):
        best = choose(order)
        assert best.evidence == new.evidence
        assert names(best) == [old.evidence.path, hole.evidence.path]


def test_the_newest_incomplete_one_stands_where_none_is_complete() -> None:
    assert choose([measured(1, HOLE), measured(2, HOLE)]).evidence == measured(2, HOLE).evidence


def test_what_stands_stays_against_an_older_one_byte_for_byte() -> None:
    standing = choose([measured(2), measured(1)])
    assert choose([measured(1)], standing) is standing
    assert choose([], standing) is standing


def test_a_complete_one_stays_against_a_newer_incomplete_one() -> None:
    assert choose([measured(9, HOLE)], measured(2)).evidence == measured(2).evidence


def test_a_newer_one_takes_the_place_and_remembers_the_whole_line() -> None:
    best = choose([measured(3)], choose([measured(2), measured(1)]))
    assert best.evidence == measured(3).evidence
    assert names(best) == [measured(1).evidence.path, measured(2).evidence.path]


def test_the_same_file_scored_anew_takes_its_own_place() -> None:
    anew = replace(measured(2), average=1.0)
    best = choose([anew], measured(2))
    assert best.average == 1.0
    assert best.supersedes == ()


def test_the_same_path_with_other_bytes_supersedes_itself() -> None:
    mended = measured(3, path=measured(2).evidence.path)
    best = choose([mended], measured(2))
    assert best.evidence.sha256 == mended.evidence.sha256


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=5), st.randoms())
def test_choosing_again_changes_nothing(numbers: list[tuple[int, bool]], random: object) -> None:
    candidates = [measured(day, ENTRY if whole else HOLE) for day, whole in dict(numbers).items()]
    best = choose(candidates)
    assert choose(candidates, best) == best
    assert choose(reversed(candidates), best) == best
    assert choose([best], best) == best
    shuffled = sorted(candidates, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert choose(shuffled) == best
    assert Superseded(best.evidence.path, best.evidence.sha256) not in best.supersedes


def test_one_row_is_chosen_from_files_of_equal_date_by_name() -> None:
    one, other = measured(1, path="a/results_1.json"), measured(1, path="b/results_1.json")
    assert choose([one, other]).evidence.path == choose([other, one]).evidence.path == "b/results_1.json"


@pytest.mark.parametrize(("points", "ranks"), [(2.77, [1, 1]), (2.78, [1, 2])])
def test_a_tie_ends_where_chance_explains_one_in_twenty(points: float, ranks: list[int]) -> None:
    rows = [row(1, 50.0, 1.0), row(2, 50.0 - points, 1.0)]  # 1.96 sqrt(1 + 1) = 2.772
    assert [line.rank for line in make_board(rows, BOARD).rows] == ranks
