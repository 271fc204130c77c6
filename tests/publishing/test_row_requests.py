"""Which request brings which row: each arm of the decision as a value, without a target."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from bot.publishing.entries import DesiredRow
from bot.publishing.entry import Entry, digest_of, entry_path
from bot.publishing.publication import (
    ClosedRequest,
    CurrentState,
    Form,
    PostText,
    Request,
    commit_mark,
    migration_mark,
    rolling_mark,
    row_mark,
)
from bot.publishing.row_requests import NEW_FILES, SharedRequests, SharingRules, Where, see_row, share_out, where_to
from tests.platforms.git.publisher import entry

OURS = "hf://datasets/acme/results"
AGAIN = "the declaration changed"


def of(model: str = "acme/atlas-7b", day: int = 1) -> Entry:
    """A row from our source."""
    made = entry(model, day, right=(50 + day, 60, 70))
    return replace(made, evidence=tuple(replace(file, source=OURS) for file in made.evidence))


NEW, BETTER = of(), of(day=2)
PATH = entry_path(NEW.key)
MARK = row_mark(PATH, digest_of(BETTER))
ON_MAIN = CurrentState({PATH: NEW.to_bytes()})


def proposing(data: bytes | None = None, main: CurrentState = ON_MAIN) -> CurrentState:
    """An open request for a row, beside what is on main."""
    request = Request("1", {PATH: data or BETTER.to_bytes()}, PostText("", ""))
    return dataclasses.replace(main, request=request)


def closed(main: CurrentState = ON_MAIN) -> CurrentState:
    return dataclasses.replace(main, declined=(ClosedRequest("1", frozenset({MARK})),))


def row(wanted: Entry | None = BETTER, before: Entry | None = NEW, disputed: str = "") -> DesiredRow:
    return DesiredRow("tiny", NEW.key, OURS, wanted, before, disputed)


NOTHING = SharedRequests()
CASES: list[tuple[DesiredRow, CurrentState, SharedRequests, str, Form, Where]] = [
    (row(), CurrentState(), NOTHING, "", "comment", "own"),
    (row(None), CurrentState(), NOTHING, "", "comment", "nowhere"),
    (row(before=None), CurrentState(), NOTHING, NEW_FILES, "pull-request", "new"),
    (row(), ON_MAIN, NOTHING, NEW_FILES, "pull-request", "new"),
    (row(NEW), ON_MAIN, NOTHING, "", "pull-request", "nowhere"),
    (row(NEW), proposing(), NOTHING, NEW_FILES, "pull-request", "own"),  # main has it: its request is closed
    (row(None, None), CurrentState(), NOTHING, "", "pull-request", "nowhere"),
    # a row stays where it is proposed
    (row(), ON_MAIN, SharedRequests(rolling=proposing()), NEW_FILES, "pull-request", "rolling"),
    (row(), ON_MAIN, SharedRequests(migration=proposing()), NEW_FILES, "pull-request", "migration"),
    (row(), ON_MAIN, NOTHING, AGAIN, "pull-request", "migration"),
    (row(), ON_MAIN, NOTHING, AGAIN, "commit", "migration"),
    # a person decided
    (row(), closed(), NOTHING, NEW_FILES, "pull-request", "nowhere"),
    (row(), ON_MAIN, SharedRequests(rolling=closed()), NEW_FILES, "pull-request", "nowhere"),
    (row(), closed(), SharedRequests(rolling=proposing()), NEW_FILES, "pull-request", "rolling"),
    # another submitter's files
    (row(disputed="acme__first"), ON_MAIN, NOTHING, NEW_FILES, "commit", "reviewed"),
    (row(NEW, disputed="acme__first"), ON_MAIN, NOTHING, "", "commit", "nowhere"),
    # commits
    (row(), ON_MAIN, NOTHING, NEW_FILES, "commit", "rolling"),
    (row(NEW), ON_MAIN, NOTHING, "", "commit", "nowhere"),
    (row(NEW), proposing(), NOTHING, "", "commit", "own"),
]


@pytest.mark.parametrize("case", CASES)
def test_a_row_belongs_into_one_request(
    case: tuple[DesiredRow, CurrentState, SharedRequests, str, Form, Where],
) -> None:
    wanted, state, shared, reason, form, where = case
    assert where_to(see_row(wanted, state, shared, reason), shared, form) == where


def test_what_was_taken_from_main_is_proposed_although_a_request_with_it_was_closed() -> None:
    state = closed(CurrentState(merged={PATH: BETTER.to_bytes()}, merged_at="c" * 40))
    for is_there, why in ((True, "took the row"), (False, "rewrote the history")):
        seen = see_row(row(before=None), state, NOTHING, NEW_FILES, contains=lambda _, there=is_there: there)  # type: ignore[misc]
        assert why in seen.taken
        assert seen.planned.action == "restored"
        assert where_to(seen, NOTHING, "pull-request") == "new"
        (proposed,) = share_out([seen], NOTHING, SharingRules(rolling_mark("tiny"), "pull-request")).own
        assert proposed.is_restored


@pytest.mark.parametrize(("limit", "alone"), [(2, 0), (3, 3)])
def test_new_rows_beyond_the_limit_share_one_request(limit: int, alone: int) -> None:
    rows = [
        see_row(DesiredRow("tiny", one.key, OURS, one), CurrentState(), NOTHING, "")
        for one in (of(f"acme/model-{number}") for number in range(3))
    ]
    shares = share_out(rows, NOTHING, SharingRules(rolling_mark("tiny"), "pull-request", limit=limit))
    assert (len(shares.own), [len(one.rows) for one in shares.others]) == (alone, [] if alone else [3])
    together = share_out(rows, NOTHING, SharingRules(commit_mark("tiny"), "commit"))
    (one,) = together.others
    assert (one.mark, one.form, len(one.desire(CurrentState()).files)) == (commit_mark("tiny"), "commit", 3)
    single = share_out(rows[:1], NOTHING, SharingRules(commit_mark("tiny"), "commit"))
    assert single.own[0].desire(CurrentState()).text.title == "Add acme/model-0 (bfloat16): 58.67"


def test_a_shared_request_without_a_row_is_closed() -> None:
    empty = CurrentState(request=Request("1", {}, PostText("", "")))
    shared = SharedRequests(empty, empty)
    shares = share_out([], shared, SharingRules(rolling_mark("tiny"), "pull-request"))
    assert [one.mark for one in shares.others] == [rolling_mark("tiny"), migration_mark("tiny")]
