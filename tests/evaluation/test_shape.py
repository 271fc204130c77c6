"""What one file's shape was found to be serves the next: no verdict is another for it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from bot.evaluation.judge import judge
from bot.evaluation.result import shape_of
from bot.evaluation.submission import Parsed, one_file, parse_submission
from tests.evaluation.joined_rows import MMLU
from tests.evaluation.judging import declared, dumps, patched

HALF = {"original": 12_032, "effective": 6_000}
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a value past its range": {f"/results/{MMLU}/acc,none": 41.2},
    "a value that is no share": {f"/results/{MMLU}/acc,none": 0.50001},
    "a limit": {"/config/limit": 50.0},
    "another version": {f"/versions/{MMLU}": 9.0},
    "no version": {f"/versions/{MMLU}": None},
    "other shots": {f"/n-shot/{MMLU}": 3},
    "half of the samples": {f"/n-samples/{MMLU}": HALF},
    "another task": {"/results/extra": {"acc,none": 0.5}, "/versions/extra": 1.0, "/n-shot/extra": 0},
    "a row that is an aggregate": {f"/results/{MMLU}/ ": " "},
    "a metric under another name": {f"/results/{MMLU}": {"alias": "x", "f1,none": 0.5}},
    "a harness of long ago": {"/git_hash": "3fa4fd72", "/lm_eval_version": "0.4.0"},
    "a commit for a version": {"/versions": {}},
}


def read(changes: dict[str, Any]) -> Parsed:
    return parse_submission(one_file("results_x.json", dumps(patched(changes))))


@pytest.mark.parametrize("place", ["/git_hash", "/results/", "/groups/", "/versions/"])
def test_what_is_very_long_is_not_kept(place: str) -> None:
    read({})
    tracemalloc.start()
    for letter in "abcdef":
        text = letter * 500_000
        read({f"{place}{text}": {}} if place.endswith("/") else {place: text})
    del text
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 500_000


@pytest.mark.parametrize("leaderboard", ["open-llm-v2", "open-llm-v1"])
@pytest.mark.parametrize("first", ["nothing", "a limit", "other shots", "a value past its range"])
def test_a_verdict_does_not_depend_on_the_files_before_it(first: str, leaderboard: str) -> None:
    board = declared(leaderboard)
    judge(read(CHANGES[first]), board)

    for changes in CHANGES.values():
        parsed = read(changes)
        stored = Parsed.from_bytes(parsed.to_bytes())  # of the state: no shape is known
        known = [judge(parsed, board).findings for _ in range(2)]
        assert known == [judge(stored, board).findings] * 2, changes


def test_files_share_a_shape_where_only_numbers_differ() -> None:
    shapes = [shape_of(found) for changes in CHANGES.values() if (found := read(changes).result) is not None]

    assert shapes[0] is not None
    assert shapes[0] is shapes[1] is shapes[2]
    assert shapes[0] not in shapes[3:10]
    stored = Parsed.from_bytes(read({}).to_bytes()).result
    assert stored is not None
    assert shape_of(stored) is None
