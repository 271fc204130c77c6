"""A table of scores put together from parts is the table of all files, whichever files a part holds."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.rules.rule import NO_FACTS
from bot.evaluation.score_table import ScoreTable, merged, parted, score_table
from bot.evaluation.submission import UNHASHED, Parsed, one_file, parse_submission
from tests.evaluation.joined_rows import value
from tests.evaluation.judging import declared, dumps, judgement_of, patched
from tests.evaluation.parts import leaves_of, only, parts_of


def _files() -> dict[str, bytes]:
    """Three models: two in parts, of which one is measured again and lacks a part; one with a fault. One is broken."""
    kestrel, heron = parts_of(patched({}), 3), parts_of(patched({"/model_name": "acme/heron"}), 4)[:3]
    again = patched({**value(0.25), "/model_name": "acme/heron"})
    limited = patched({"/config/limit": 50.0, "/model_name": "acme/egret"})
    files = {f"{number}.json": dumps(data) for number, data in enumerate([*kestrel, *heron, again, limited])}
    return files | {"broken.json": b'{"results": {'}


FILES = _files()
PARSED = [parse_submission(one_file(path, data)) for path, data in FILES.items()]


def table_of(submissions: list[Parsed]) -> ScoreTable:
    """The table of submissions of which a SHA-256 is only known once it is asked for."""
    known = {one.path: one for one in submissions}
    unhashed = [replace(one, sha256=UNHASHED) for one in submissions]
    return score_table(
        unhashed, declared(), NO_FACTS, lambda paths: [known[path] for path in paths], lambda one: known[one.path]
    )


WHOLE = table_of(PARSED)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), min_size=len(PARSED), max_size=len(PARSED)), st.integers())
def test_any_parts_in_any_order_make_the_table_of_all(parts: list[int], seed: int) -> None:
    dealt = [[one for one, part in zip(PARSED, parts, strict=True) if part == number] for number in range(4)]
    Random(seed).shuffle(dealt)
    tables = [table_of(part) for part in dealt]
    again = parted(tables)

    made = merged(tables, table_of([one for one in PARSED if one.path in again]))

    assert made == WHOLE


@pytest.mark.parametrize("missing", [0, 1])
def test_files_of_one_row_and_one_date_are_told_apart_by_their_bytes(missing: int) -> None:
    data = [patched(value(points)) for points in (0.25, 0.5, 0.75)]
    made = [only(one, set(leaves_of(one)[missing:])) for one in data]
    files = {f"{number}.json": dumps(one) for number, one in enumerate(made)}
    submissions = [parse_submission(one_file(path, raw)) for path, raw in files.items()]

    scores = {table_of(list(order)).rows[0].scores for order in permutations(submissions)}

    [row] = judgement_of(files).rows
    assert scores == {tuple(task.score for task in row.scores.tasks)}
    assert any(score is not None for score in next(iter(scores)))


def test_a_table_has_the_scores_of_the_rows() -> None:
    judgement = judgement_of(FILES)
    scores = [(row.scores.average, *(task.score for task in row.scores.tasks)) for row in judgement.rows]

    assert [(row.average, *row.scores) for row in WHOLE.rows] == scores
    assert [row.status for row in WHOLE.rows] == [row.status for row in judgement.rows]
    assert [row.key for row in WHOLE.rows] == [row.key for row in judgement.rows]
    assert (WHOLE.has_errors, WHOLE.submissions) == (True, len(FILES))
    assert WHOLE.unreadable == ("broken.json",)
