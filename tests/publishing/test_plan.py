"""A plan as a value: what happens to each row, what a person approves, and how it is shown."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from bot.publishing.entry import Entry, digest_of
from bot.publishing.plan import (
    Plan,
    PlannedRow,
    answers_text,
    average_change,
    cause_of,
    effect_of,
    held_text,
    is_beyond,
    plan_lines,
    planned_row,
    with_ranks,
)
from tests.platforms.git.publisher import entry

OLD, NEW, HOLE = entry(right=(40, 60, 70)), entry(), entry(right=(50, None, 70))
LATER = msgspec.structs.replace(NEW, tool="9.9.9")  # the same row, as another version writes it
WHY = "its files changed"
KEY, MODEL = NEW.key, "acme/atlas-7b"
TARGET = "hf://datasets/acme/contents"


def averages(row: Entry | None) -> float | None:
    return row.average if row else None


@pytest.mark.parametrize(
    ("before", "after", "action", "reason"),
    [
        (None, NEW, "added", ""),
        (OLD, NEW, "changed", WHY),
        (NEW, HOLE, "changed", WHY),
        (OLD, None, "removed", WHY),
        (NEW, LATER, "unchanged", ""),
    ],
)
def test_what_happens_to_a_row(before: Entry | None, after: Entry | None, action: str, reason: str) -> None:
    digest = f"{digest_of(before) if before else ''}>{digest_of(after) if after else ''}"

    assert planned_row(KEY, before, after, WHY) == PlannedRow(
        KEY,
        MODEL,
        action,  # type: ignore[arg-type]
        averages(before),
        averages(after),
        reason,
        digest,
        lacks="sums_times" if after is HOLE else "",
    )


def test_a_row_that_was_never_there_is_unchanged() -> None:
    assert planned_row(KEY, None, None, WHY) == PlannedRow(KEY, "", "unchanged", digest=">")


ROWS = (
    PlannedRow("b", "acme/b", "added", None, 61.0, digest=">b"),
    PlannedRow("a", "acme/a", "changed", 50.0, 60.0, "x", "a>A"),
    PlannedRow("c", "acme/c", "removed", 40.0, None, "y", "c>"),
    PlannedRow("d", "acme/d", "changed", 50.0, 70.125, "y", "d>D"),
)
PLAN = Plan(TARGET, "tiny", ROWS, unchanged=7)


def with_rows(*rows: PlannedRow, **changes: object) -> Plan:
    return msgspec.structs.replace(PLAN, rows=rows or ROWS, **changes)


def test_what_is_approved_is_all_that_would_change_or_go_in_any_order() -> None:
    rows = [["a", "changed", "a>A"], ["c", "removed", "c>"], ["d", "changed", "d>D"]]
    expected = hashlib.sha256(msgspec.json.encode([TARGET, rows])).hexdigest()[:32]

    assert PLAN.digest == expected
    assert with_rows(*reversed(ROWS)).digest == expected
    assert with_rows(*ROWS[1:], unchanged=0).digest == expected  # new rows need no approval
    assert msgspec.structs.replace(PLAN, target="other").digest != expected
    for place in (1, 2, 3):
        changed = [*ROWS]
        changed[place] = msgspec.structs.replace(changed[place], digest="z")
        assert with_rows(*changed).digest != expected


def test_the_first_rows_at_a_target_are_approved_too() -> None:
    first = with_rows(is_first=True)

    assert first.digest != PLAN.digest
    assert first.digest != with_rows(*ROWS[1:], is_first=True).digest


def test_an_approval_covers_the_plan_and_what_is_left_of_it_and_nothing_more() -> None:
    assert PLAN.covers(with_rows(*ROWS, unchanged=0))
    assert PLAN.covers(with_rows(*ROWS[:2]))
    assert not with_rows(*ROWS[:2]).covers(PLAN)
    assert not PLAN.covers(with_rows(ROWS[1], PlannedRow("e", "acme/e", "removed", digest="e>")))
    assert not PLAN.covers(with_rows(ROWS[0]))  # of what needs no approval nothing is left of this plan
    assert with_rows(ROWS[0]).covers(with_rows(ROWS[0]))


RESTORED = PlannedRow("r", "acme/r", "restored", None, 50.0, digest=">r")


@pytest.mark.parametrize(
    ("rows", "effect", "cause"),
    [
        (ROWS, "1 row would be removed and 2 changed", " (y and 1 other reason)"),
        (ROWS[2:], "1 row would be removed and 1 changed", " (y)"),
        ((ROWS[1], RESTORED), "1 row that somebody took from main would come back", ""),
        (ROWS[:1], "0 rows would be changed", ""),
    ],
)
def test_what_a_plan_does_and_why(rows: tuple[PlannedRow, ...], effect: str, cause: str) -> None:
    assert (effect_of(with_rows(*rows)), cause_of(with_rows(*rows))) == (effect, cause)
    assert effect_of(with_rows(*ROWS, is_first=True)) == "the first run would write to 4 models"


def test_reasons_are_counted_the_most_frequent_first() -> None:
    assert list(PLAN.reasons.items()) == [("y", 2), ("x", 1)]
    assert [row.key for row in PLAN.having("changed")] == ["a", "d"]


def test_a_plan_for_programs_has_counts_reasons_and_rows() -> None:
    shown = PLAN.to_json()

    assert {name: value for name, value in shown.items() if name != "rows"} == {
        "target": TARGET,
        "leaderboard": "tiny",
        "added": 1,
        "changed": 2,
        "removed": 1,
        "restored": 0,
        "unchanged": 7,
        "declined": 0,
        "digest": PLAN.digest,
        "reasons": {"y": 2, "x": 1},
    }
    assert [row["key"] for row in shown["rows"]] == ["b", "a", "c", "d"]
    assert shown["rows"][1]["after"] == 60.0


def test_a_plan_that_only_adds_has_no_digest_to_approve() -> None:
    added = Plan(TARGET, "board", (planned_row(KEY, None, NEW, ""),))
    assert plan_lines(added)[0] == f"{TARGET}: 1 added, 0 changed, 0 removed, 0 unchanged"


def test_a_plan_for_people_names_the_rows_of_each_kind() -> None:
    assert plan_lines(PLAN) == [
        f"{TARGET}: 1 added, 2 changed, 1 removed, 7 unchanged; plan {PLAN.digest}",
        "  y: 2 rows",
        "  x: 1 row",
        "  added  b  – → 61.00",
        "  changed  a  50.00 → 60.00",
        "  changed  d  50.00 → 70.13",
        "  removed  c  40.00 → –",
    ]
    many = with_rows(*(msgspec.structs.replace(ROWS[1], key=str(n)) for n in range(101)))
    assert plan_lines(many)[-101:] == [f"  changed  {n}  50.00 → 60.00" for n in range(101)]


def test_a_held_plan_says_in_a_terminal_how_it_is_answered() -> None:
    answers = answers_text(PLAN)
    assert answers.startswith(f": `settle --approve {PLAN.digest}`, or `--decline {PLAN.digest}`; ")
    assert "`" not in held_text(PLAN)
    assert "let them go" not in answers
    gone = with_rows(msgspec.structs.replace(ROWS[2], action="restored"))
    assert f"or `--decline {gone.digest}` to let them go; " in answers_text(gone)


def test_ranks_and_values_stand_beside_the_averages() -> None:
    row = msgspec.structs.replace(ROWS[1], ranks_before="2", ranks_after="1–2")

    assert average_change(row) == "50.00 → 60.00, rank 2 → 1–2"
    assert average_change(msgspec.structs.replace(row, values="sums 50 → 60")) == "sums 50 → 60"


def test_the_rank_of_a_row_before_and_after() -> None:
    best, worst = entry("acme/best", right=(99, 99, 99)), entry("acme/worst", right=(30, 30, 30))
    risen = entry("acme/worst", right=(100, 100, 100))
    fresh = entry("acme/fresh", right=(10, 10, 10))
    rows = [
        planned_row(best.key, best, None, WHY),
        planned_row(worst.key, worst, risen, WHY),
        planned_row(fresh.key, None, fresh, WHY),
    ]
    proposed = {best.key: None, worst.key: risen, fresh.key: fresh}
    plan = with_ranks(Plan(TARGET, "tiny", tuple(rows), 3), [best, worst], proposed)

    assert [(row.ranks_before, row.ranks_after) for row in plan.rows] == [("1", "–"), ("2", "1"), ("–", "2")]
    assert (plan.target, plan.unchanged) == (TARGET, 3)


@pytest.mark.parametrize(
    ("limit", "rows", "expected"),
    [(0, 1000, 0), (7, 1000, 7), ("10%", 1000, 100), ("10%", 1009, 100), ("10%", 49, 5), ("100%", 60, 60)],
)
def test_so_many_rows_may_go_without_a_person(limit: int | str, rows: int, expected: int) -> None:
    assert not is_beyond(expected, limit, lambda: rows)
    assert is_beyond(expected + 1, limit, lambda: rows)


def test_a_row_without_an_average_says_what_it_lacks() -> None:
    lines = plan_lines(Plan("t", "b", (planned_row(KEY, None, HOLE, ""),)))
    assert lines[-1].endswith("– → –, lacks sums_times")
