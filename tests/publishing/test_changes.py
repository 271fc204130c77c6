"""What came, went or changed on a board, one record for each row."""

from __future__ import annotations

import json

import msgspec
import pytest

from bot.publishing.changes import SCHEMA, BoardChange, ScoreChange, additions, change_of, request_of, to_jsonl
from bot.publishing.entry import Entry
from tests.platforms.git.publisher import entry

replace = msgspec.structs.replace
DATE = "2026-11-05T00:00:00Z"
ROW = entry()
KEY, MODEL, AVERAGE = ROW.key, ROW.model.id, ROW.average
[FILE] = ROW.evidence
MEASURED = f"measured: {FILE.path}"
BETTER = entry(day=3, right=(60, 60, 70))
RESCORED = replace(ROW, average=0.5, leaderboard=replace(ROW.leaderboard, scoring_digest="sha256:" + "0" * 64))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, None, None),
        (ROW, ROW, None),
        (None, ROW, ("added", None, AVERAGE, MEASURED)),
        (ROW, None, ("removed", AVERAGE, None, "is not on the board any more")),
        (ROW, BETTER, ("changed", AVERAGE, BETTER.average, f"measured: {BETTER.evidence[0].path}")),
        (ROW, RESCORED, ("changed", AVERAGE, 0.5, MEASURED)),
        (None, replace(ROW, evidence=()), ("added", None, AVERAGE, "measured")),
        (None, replace(ROW, evidence=(replace(FILE, path=""),)), ("added", None, AVERAGE, "measured")),
        (None, replace(ROW, evidence=(replace(FILE, source="hf://datasets/a/b"), FILE)),
         ("added", None, AVERAGE, f"measured: {FILE.path} of hf://datasets/a/b")),
    ],
)  # fmt: skip
def test_a_row_was_added_changed_or_removed(
    before: Entry | None, after: Entry | None, expected: tuple[str, float | None, float | None, str] | None
) -> None:
    found = change_of(before, after, DATE)
    if expected is None:
        assert found is None
        return
    kind, was, is_now, reason = expected
    assert found is not None
    assert replace(found, scores=(), why="") == BoardChange(DATE, kind, KEY, MODEL, was, is_now, reason)  # type: ignore[arg-type]


def test_a_changed_row_says_which_scores_differ() -> None:
    first, *others = ROW.tasks
    assert first.score is not None
    new = replace(first, id="new", title="New", score=5.0)
    higher = replace(first, score=first.score + 1)
    for after, expected in (
        ((higher, *others), [ScoreChange(first.title, first.score, higher.score)]),
        ((first, *others, new), [ScoreChange("New", None, 5.0)]),
        ((*others, new), [ScoreChange("New", None, 5.0), ScoreChange(first.title, first.score, None)]),
    ):
        found = change_of(ROW, replace(ROW, average=1.0, tasks=after), DATE)
        assert found is not None
        assert list(found.scores) == expected
    assert change_of(None, ROW, DATE).scores == ()  # type: ignore[union-attr]


def test_a_changed_row_says_why() -> None:
    def why(before: Entry, after: Entry) -> str:
        found = change_of(before, after, DATE)
        assert found is not None
        return found.why

    older = replace(ROW, harness=replace(ROW.harness, version="0.4.8"))
    newer = replace(BETTER, harness=replace(BETTER.harness, version="0.4.9"))
    assert why(ROW, RESCORED) == "The declaration changed."
    assert why(ROW, BETTER) == "Measured again; no recorded setting differs."
    assert why(older, newer) == "Measured differently: harness version 0.4.8 → 0.4.9."
    assert why(ROW, replace(ROW, average=1.0)) == ""  # the same files, read by another version of the bot
    asked = replace(ROW, definitions={leaf.id: "1" for leaf in ROW.tasks[0].leaves})
    assert why(asked, replace(BETTER, definitions={})) == why(ROW, BETTER)  # what is not recorded is no difference
    other = why(asked, replace(BETTER, definitions=dict.fromkeys(asked.definitions, "5")))
    assert other.startswith("Measured differently: definition of the task ")
    assert other.endswith(f" ({ROW.tasks[0].id}).")
    one_task = {leaf.id: 7 for leaf in ROW.tasks[0].leaves}
    found = why(ROW, replace(BETTER, num_fewshot=BETTER.num_fewshot | one_task))
    assert found == f"Measured differently: few-shot examples 0 → 7 ({ROW.tasks[0].id})."
    newest = BETTER.evidence[0]
    assert why(BETTER, ROW) == f"{newest.path} of {newest.date[:10]} no longer counts."
    both = replace(BETTER, evidence=(newest, FILE))
    assert why(both, replace(ROW, average=1.0)) == f"{newest.path} of {newest.date[:10]} no longer counts."
    assert why(ROW, both) == "Measured again; no recorded setting differs."
    edited = replace(ROW, evidence=(replace(FILE, sha256="5" * 64),))
    assert why(ROW, edited) == "Its files changed, and no number that counts."


@pytest.mark.parametrize(
    ("target", "reason", "url"),
    [
        ("hf://datasets/acme/board", "Add atlas-7b (#7)", "https://huggingface.co/datasets/acme/board/discussions/7"),
        ("github://acme/board", "Add atlas-7b (#7)", "https://github.com/acme/board/pull/7"),
        ("github://acme/board", "Merge pull request #12 from bot/rows", "https://github.com/acme/board/pull/12"),
        ("github://acme/board", "As in Merge pull request #12 of ours", ""),
        ("github://acme/board", "Add atlas-7b (#7) by hand", ""),
    ],
)
def test_the_request_of_a_change_is_the_number_in_the_title_of_its_merge(target: str, reason: str, url: str) -> None:
    change = BoardChange(DATE, "added", KEY, MODEL, None, AVERAGE, reason, "c" * 40)
    assert request_of(change, target) == url
    assert request_of(replace(change, commit=""), target) == ""


def test_a_board_without_history_has_its_rows_as_added_when_they_were_measured_newest_first() -> None:
    other = entry("acme/borea-1b")
    found = additions([ROW, BETTER, other])
    assert [(one.date, one.key) for one in found] == [(one.date, one.key) for one in (BETTER, other, ROW)]
    assert found[-1] == BoardChange(ROW.date, "added", KEY, MODEL, None, AVERAGE, MEASURED)
    lines = [json.loads(line) for line in to_jsonl(found).splitlines()]
    assert [line["date"] for line in lines] == [one.date for one in found]
    assert {line["schema"] for line in lines} == {SCHEMA}
