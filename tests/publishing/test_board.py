"""The board made of entries: ranks with their ties, the two files of the table, and the entry of a key."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from fractions import Fraction
from math import fsum, sqrt
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pyarrow import parquet

from bot.evaluation.leaderboard import COLUMNS, Leaderboard
from bot.evaluation.row_key import RowKey
from bot.evaluation.score import LeafScore, TaskScore
from bot.publishing.board import (
    TIE,
    WITHOUT,
    Standing,
    average_without,
    columns,
    make_board,
    proposed_rank,
    records,
    standing_among,
    to_csv,
    to_parquet,
)
from bot.publishing.board_table import board_text
from bot.publishing.entry import Entry, Remark
from tests.evaluation.judging import ABSENT, base, declared, entry_from, patched

BOARD = declared()
DOUBTED = BOARD.model_copy(update={"tasks": (BOARD.tasks[0].model_copy(update={"quarantined": "x"}), *BOARD.tasks[1:])})


ENTRY = entry_from(base())
HOLE = entry_from(patched({"/results/leaderboard_mmlu_pro": ABSENT}))


def row(number: int, average: float | None, stderr: float | None = None) -> Entry:
    """A row in which every subtask has the score `average`, and every task a standard error that gives `stderr`."""
    tasks = tuple(scored(task, average, stderr) for task in ENTRY.tasks)
    verdict: Literal["accepted", "incomplete"] = "incomplete" if average is None else "accepted"
    shown = None if average is None else stderr
    key = f"open-llm-v2/org/m{number:03}/{'0' * 12}-bfloat16"
    return replace(ENTRY, key=key, tasks=tasks, verdict=verdict, average=average, stderr=shown)


def scored(task: TaskScore, score: float | None, stderr: float | None) -> TaskScore:
    if score is None:
        return replace(task, raw=None, score=None, stderr=None, leaves=())
    leaves = tuple(replace(leaf, raw=raw_at(leaf, score), score=score) for leaf in task.leaves)
    error = None if stderr is None else stderr * sqrt(len(ENTRY.tasks))
    raw = fsum(leaf.raw for leaf in leaves) / len(leaves)
    return replace(task, raw=raw, score=score, stderr=error, leaves=leaves)


def raw_at(leaf: LeafScore, score: float) -> float:
    lower, upper = float(Fraction(leaf.lower_bound)), float(Fraction(leaf.upper_bound))
    return lower + score / 100 * (upper - lower)


# ---- ranks ----


def slow_ranks(entries: list[Entry]) -> dict[str, tuple[int | None, int | None]]:
    """The definition as it is written: the rows that are better, and those that are not worse, beyond chance."""

    def is_beyond(one: Entry, other: Entry) -> bool:
        error = sqrt((one.stderr or 0.0) ** 2 + (other.stderr or 0.0) ** 2)
        return (one.average or 0.0) - (other.average or 0.0) > TIE * error

    complete = [entry for entry in entries if entry.average is not None]
    ranks: dict[str, tuple[int | None, int | None]] = dict.fromkeys((entry.key for entry in entries), (None, None))
    for e in complete:
        ranks[e.key] = (1 + sum(is_beyond(o, e) for o in complete), sum(not is_beyond(e, o) for o in complete))
    return ranks


# Tenths over errors of 1/13: no difference of two averages lies on the edge of a tie, for 1.96 k / 13 is no tenth.
averages = st.none() | st.integers(0, 1000).map(lambda tenths: tenths / 10)
errors = st.none() | st.integers(0, 20).map(lambda parts: parts / 13)


@given(st.lists(st.tuples(averages, errors), max_size=40))
def test_ranks_are_those_of_the_slow_definition(numbers: list[tuple[float | None, float | None]]) -> None:
    entries = [row(number, *pair) for number, pair in enumerate(numbers)]
    board = make_board(reversed(entries), BOARD)
    assert {line.entry.key: (line.rank, line.worst) for line in board.rows} == slow_ranks(entries)
    assert [line.position for line in board.rows] == list(range(1, len(entries) + 1))
    shown = [line.entry.average for line in board.rows]
    complete = [average for average in shown if average is not None]
    assert shown == [*sorted(complete, reverse=True), *[None] * (len(shown) - len(complete))]


@given(st.lists(st.tuples(averages, errors), max_size=12), st.booleans())
def test_a_row_would_stand_where_the_board_has_it_afterwards(
    numbers: list[tuple[float | None, float | None]], is_there: bool
) -> None:
    entries = [row(number, *pair) for number, pair in enumerate(numbers)]
    new = row(0 if is_there else len(numbers), 50.0, 1.0)  # in place of the row of its key, or beside all
    after = make_board([*(one for one in entries if one.key != new.key), new], BOARD).rows
    ranked = [line for line in after if line.rank is not None]
    stands = next((line.rank, line.worst) for line in ranked if line.entry.key == new.key)
    found = standing_among(new, entries)
    assert (found.better + 1, len(ranked) - found.worse) == stands
    assert (found.ranked, found.rows) == (len(ranked) - 1, len(after) - 1)


def test_a_row_without_a_rank_would_stand_nowhere() -> None:
    there = Standing(0, 0, 1, 1)
    assert proposed_rank(row(2, 50.0, 1.0), there) == "Rank 1 to 2 of 2; not separable from 1 other; better than none."
    assert proposed_rank(row(2, 50.0, 1.0), Standing(0, 0, 0, 3)) == ""  # nothing else has one
    assert proposed_rank(row(2, None), there) == ""
    assert proposed_rank(replace(row(2, 50.0, 1.0), average=51.0), there) == ""  # its average is not that of its tasks


def test_rows_that_chance_explains_share_a_rank() -> None:
    rows = [row(1, 50.0, 1.0), row(2, 48.0, 1.0), row(3, 46.0, 1.0), row(4, 30.0, 1.0)]
    ranks = [line.ranks for line in make_board(rows, BOARD).rows]
    assert ranks == ["1–2", "1–3", "2–3", "4"]  # 4 points apart is more than 1.96 sqrt(2) = 2.77, 2 points is less


def test_equal_averages_share_a_rank_without_any_error() -> None:
    shown = [line.ranks for line in make_board([row(1, 5.0), row(2, 5.0), row(3, 4.0)], BOARD).rows]
    assert shown == ["1–2", "1–2", "3"]


def test_an_average_of_0_is_the_lowest() -> None:
    board = make_board([row(1, 0.0), row(2, 0.5)], BOARD)
    assert [(line.ranks, line.entry.average) for line in board.rows] == [("1", 0.5), ("2", 0.0)]


def test_the_average_without_doubted_columns_is_the_mean_of_all_others() -> None:
    scores = [task.score or 0.0 for task in ENTRY.tasks if task.id != BOARD.tasks[0].id]
    assert average_without(ENTRY, DOUBTED) == fsum(scores) / 5
    assert average_without(HOLE, DOUBTED) is None


def test_what_is_missing_and_warned_of_stands_in_one_cell() -> None:
    coverage = replace(HOLE.coverage, missing=("b", "a"))
    warnings = tuple(Remark(rule, "x") for rule in ("rerun-differs", "settings-differ", "rerun-differs"))
    (record,) = records(make_board([replace(HOLE, coverage=coverage, warnings=warnings)], BOARD))
    assert (record["missing"], record["warnings"]) == ("b a", "rerun-differs settings-differ")


def test_an_average_over_other_tasks_than_those_of_the_board_is_not_ranked_beside_its_own() -> None:
    """After a task was added and one of seven rows merged, averages over five and six tasks stood in one order."""
    last, whole, more = BOARD.tasks[-1], row(1, 50.0), row(2, 60.0)
    lacking = replace(more, tasks=more.tasks[:-1])
    first, second = make_board([whole, lacking], BOARD).rows
    assert (first.entry.key, first.ranks, second.ranks, second.entry.average) == (whole.key, "1", "–", None)
    assert second.fault == f"its average is without {last.title}, unlike those of other rows"
    assert average_without(lacking, DOUBTED) is None
    fewer = BOARD.model_copy(update={"tasks": BOARD.tasks[:-1]})
    first, second = make_board([whole, lacking], fewer).rows
    assert (first.entry.key, second.entry.key, second.ranks) == (lacking.key, whole.key, "–")
    assert second.fault == f"its average is also over {last.title}, unlike those of other rows"
    # As long as no row has what the declaration asks for, all are ranked as they were.
    alike = [lacking, replace(lacking, key=whole.key)]
    assert all(line.rank for line in make_board(alike, BOARD).rows)


def test_an_incomplete_row_stands_last_and_unranked() -> None:
    board = make_board([HOLE, replace(ENTRY, key="open-llm-v2/other/row/unpinned-unknown")], BOARD)
    assert [(line.ranks, line.entry.verdict) for line in board.rows] == [("1", "accepted"), ("–", "incomplete")]
    assert {row.entry.key: row.rank for row in board.rows}[HOLE.key] is None
    assert records(board)[1]["missing"] == "leaderboard_mmlu_pro"
    assert records(board)[1]["average"] is None


# ---- rows at fault ----


def first_task(entry: Entry, **changed: object) -> Entry:
    return replace(entry, tasks=(replace(entry.tasks[0], **changed), *entry.tasks[1:]))


def first_leaf(entry: Entry, **changed: object) -> Entry:
    task = entry.tasks[0]
    return first_task(entry, leaves=(replace(task.leaves[0], **changed), *task.leaves[1:]))


FALSIFIED: dict[str, Callable[[Entry], Entry]] = {
    "the average is 99.00, and the mean of the tasks is 33.60": lambda one: replace(one, average=99.0),
    "and the mean of the tasks is 3": lambda one: replace(one, average=(one.average or 0.0) + 0.001),
    "the standard error of the average is 0.01": lambda one: replace(one, stderr=0.01),
    "the verdict is incomplete": lambda one: replace(one, verdict="incomplete"),
    "neither its raw value nor its subtasks give": lambda one: first_task(one, score=99.0),
    "which its subtasks do not give": lambda one: first_task(one, raw=0.99),
    "and its raw value gives": lambda one: first_leaf(one, score=99.0),
    "raw value gives": lambda one: first_leaf(one, upper_bound="1/2"),
    "and the score is none": lambda one: first_task(one, score=None),
}


@pytest.mark.parametrize("why", FALSIFIED)
def test_an_entry_that_contradicts_itself_is_named_and_never_ranked(why: str) -> None:
    board = make_board([row(1, 50.0), FALSIFIED[why](ENTRY)], BOARD)
    good, bad = board.rows
    assert (good.rank, good.fault) == (1, "")
    assert (bad.entry.key, bad.rank, bad.entry.average, bad.entry.stderr) == (ENTRY.key, None, None, None)
    assert why in bad.fault
    [_, record] = records(board)
    assert (record["rank_best"], record["rank_worst"], record["average"]) == (None, None, None)
    assert record["verdict"] == "incomplete"
    assert str(record["warnings"]).split()[0] == "contradicts-itself"
    assert average_without(bad.entry, DOUBTED) is None
    said = " ".join(board_text(board).split())
    assert f"{ENTRY.key} has no rank: {bad.fault}" in said


def test_every_example_and_every_row_with_a_hole_follows_from_its_own_numbers() -> None:
    entries = [ENTRY, HOLE, *(row(number, number * 10.0, number / 10) for number in range(11))]
    assert [line.fault for line in make_board(entries, BOARD).rows] == [""] * 13


@pytest.mark.parametrize("other", ["Example-Org/kestrel-7b", "example-org/kestrel-7b ", "example-org/kestrel\u200b-7b"])
@pytest.mark.parametrize("revision", [ENTRY.model.revision, "0" * 40])
def test_of_two_rows_that_a_reader_cannot_tell_apart_one_is_ranked_and_both_are_named(
    other: str, revision: str
) -> None:
    model = ENTRY.model
    key = RowKey("open-llm-v2", other, revision, model.precision, model.chat_template).text
    later = replace(ENTRY, key=key, evidence=(replace(ENTRY.evidence[0], date="2099-01-01T00:00:00Z"),))
    first, second = make_board([later, ENTRY], BOARD).rows
    assert (first.entry.key, first.rank, first.fault) == (ENTRY.key, 1, "")
    assert (second.entry.key, second.rank) == (key, None)
    assert (
        second.fault
        == f"{ENTRY.key} spells its model or a setting otherwise, in case, in spaces or by a shortened commit alone"
    )


# ---- files ----


def test_csv_and_parquet_say_the_same() -> None:
    board = make_board([row(1, 50.0, 1.0), row(2, 100 / 3, None), HOLE], BOARD)
    data = to_parquet(board)
    assert data is not None
    table = parquet.read_table(io.BytesIO(data))
    lines = list(csv.DictReader(io.StringIO(to_csv(board).decode())))
    assert tuple(table.column_names) == tuple(lines[0]) == columns(BOARD)
    for one, other, record in zip(table.to_pylist(), lines, records(board), strict=True):
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
    tasks = {f"{task.id}{end}" for task in BOARD.tasks for end in ("", "_raw", "_stderr")}
    assert (set(columns(BOARD)) | set(columns(DOUBTED)) | {"path"}) - tasks == COLUMNS


@pytest.mark.parametrize("leaderboard", [BOARD, DOUBTED])
def test_an_empty_board_has_its_columns_and_their_types(leaderboard: Leaderboard) -> None:
    board = make_board([], leaderboard)
    assert to_csv(board).decode() == ",".join(columns(leaderboard)) + "\n"
    data = to_parquet(board)
    assert data is not None
    table = parquet.read_table(io.BytesIO(data))
    assert tuple(table.column_names) == columns(leaderboard)
    numbers = {
        "average",
        "average_stderr",
        WITHOUT,
        *(f"{task.id}{end}" for task in BOARD.tasks for end in ("", "_raw", "_stderr")),
    }
    types = {name: pa.float64() if name in numbers else pa.string() for name in table.column_names}
    types |= {"rank_best": pa.int64(), "rank_worst": pa.int64(), "chat_template": pa.bool_()}
    assert table.schema == pa.schema(types)


@pytest.mark.parametrize(("points", "ranks"), [(2.77, [1, 1]), (2.78, [1, 2])])
def test_a_tie_ends_where_chance_explains_one_in_twenty(points: float, ranks: list[int]) -> None:
    rows = [row(1, 50.0, 1.0), row(2, 50.0 - points, 1.0)]  # 1.96 sqrt(1 + 1) = 2.772
    assert [line.rank for line in make_board(rows, BOARD).rows] == ranks


def test_a_difference_of_just_the_threshold_is_a_tie() -> None:
    rows = [row(1, TIE * 5.0, 3.0), row(2, 5.0, 0.5), row(3, 5.0, 9.0), row(4, 0.0, 4.0)]  # sqrt(3 * 3 + 4 * 4) = 5
    assert [line.ranks for line in make_board(rows, BOARD).rows] == ["1–4"] * 4
    rows[0] = row(1, TIE * 5.0 + 1e-9, 3.0)
    assert [line.ranks for line in make_board(rows, BOARD).rows] == ["1–3", "1–4", "1–4", "2–4"]
