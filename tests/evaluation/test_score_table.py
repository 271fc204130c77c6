"""A table of scores put together from parts is the table of all files, whichever files a part holds."""

from __future__ import annotations

from datetime import date
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.leaderboard import Waiver
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.score_table import ScoreTable, merged, parted, score_table
from bot.evaluation.submission import UNHASHED, Parsed, one_file, parse_submission
from tests.evaluation.joined_rows import value
from tests.evaluation.judging import declared, dumps, judgement_of, patched
from tests.evaluation.parts import leaves_of, only, parts_of


def _files() -> dict[str, bytes]:
    """Two models in parts, of which one is measured again, lacking one; one with a fault, one sound. One is broken."""
    kestrel, heron = parts_of(patched({}), 3), parts_of(patched({"/model_name": "acme/heron"}), 4)[:3]
    again = patched({**value(0.25), "/model_name": "acme/heron"})
    limited = patched({"/config/limit": 50.0, "/model_name": "acme/egret"})
    sound = patched({"/model_name": "acme/wren"})
    files = {f"{number}.json": dumps(data) for number, data in enumerate([*kestrel, *heron, again, limited, sound])}
    return files | {"broken.json": b'{"results": {'}


FILES = _files()
PARSED = [parse_submission(one_file(path, data)) for path, data in FILES.items()]


def table_of(submissions: list[Parsed], facts: Facts = NO_FACTS) -> ScoreTable:
    """The table of submissions of which a SHA-256 is only known once it is asked for."""
    known = {one.path: one for one in submissions}
    unhashed = [replace(one, sha256=UNHASHED) for one in submissions]
    return score_table(
        unhashed, declared(), facts, lambda paths: [known[path] for path in paths], lambda one: known[one.path]
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
    assert sum(row.status == "accepted" and len(row.files) == 1 for row in WHOLE.rows) == 1
    assert score_table(PARSED, declared(), NO_FACTS) == WHOLE


@pytest.mark.parametrize("parts", [1, 2])
def test_what_is_known_from_outside_decides_in_a_table_too(parts: int) -> None:
    data = parts_of(patched({"/config/limit": 50.0}), parts)
    files = {f"{number}.json": dumps(part) for number, part in enumerate(data)}
    parsed = [parse_submission(one_file(path, raw)) for path, raw in files.items()]
    waived = {"rule": "limited-run", "submission": "*", "reason": "a test", "who": "me", "until": "2026-06-01"}
    waiver = Waiver.model_validate(waived)

    for day, status in ((date(2026, 6, 1), "accepted"), (date(2026, 6, 2), "rejected")):
        facts = Facts(today=day, waivers=(waiver,))
        [row] = table_of(parsed, facts).rows
        assert row.status == judgement_of(files, facts=facts).rows[0].status == status
        assert table_of(parsed, facts).has_errors == (status == "rejected")


def test_a_hole_is_an_error_of_a_row_whose_files_have_none() -> None:
    whole = patched({})
    hole = only(whole, leaves_of(whole)[1:])
    tables = [table_of([parse_submission(one_file("a.json", dumps(data)))]) for data in (whole, hole)]

    assert [(table.has_rejected, table.has_errors) for table in tables] == [(False, False), (False, True)]


def test_a_sound_file_stands_under_the_name_that_the_declaration_gives_its_model() -> None:
    renamed = declared().model_copy(update={"models": {"acme/wren": "acme/wren-1b"}})
    (row,) = score_table(
        [one for one in PARSED if one.result and one.result.model.id == "acme/wren"], renamed, NO_FACTS
    ).rows
    assert (row.model, row.status) == ("acme/wren-1b", "accepted")
