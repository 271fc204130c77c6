"""Main moves under an open request of the bot: it is brought up to main or replaced, and that declines nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.publishing.publication import REPLACED
from tests.platforms.github.fixtures import github
from tests.service.shared_tables import SERVICES, START, SharedTable, shared_table

__all__ = ["github"]
PERSON, ROW = b"person-3b,55.00,by hand\n", b"acme/m1-7b,58.33,\n"


@pytest.fixture(params=SERVICES)
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> SharedTable:
    """A table with an open request of the bot for one new row at its end."""
    shared = shared_table(request, request.param, tmp_path)
    shared.push("acme/m1-7b")
    shared.settle()
    assert shared.requests() == [1]
    return shared


def test_a_hand_edit_beside_the_proposed_row_leaves_no_conflict(shared: SharedTable) -> None:
    shared.edit(START + PERSON)
    assert shared.conflicts(1) == ["board.csv"]
    shared.settle()

    [request] = shared.requests()
    assert shared.conflicts(request) == []
    assert (request == 1) == (REPLACED not in shared.text(1))
    shared.merge(request)
    assert shared.table() == START + PERSON + ROW
    assert shared.settle() == []
    shared.lose_state()
    shared.settle()
    assert (shared.requests(), shared.table()) == ([], START + PERSON + ROW)


def test_a_hand_edit_elsewhere_changes_nothing_in_the_request(shared: SharedTable) -> None:
    edited = START.replace(b"Average,Note\n", b"Average,Note\nperson-3b,55.00,by hand\n")
    before = shared.text(1)
    shared.edit(edited)
    assert shared.settle() == []
    assert (shared.requests(), shared.text(1), shared.table(1)) == ([1], before, START + ROW)
    shared.merge(1)
    assert shared.table() == edited + ROW
    assert shared.settle() == []


def test_what_a_person_closes_is_declined_and_what_the_bot_closed_before_is_not(shared: SharedTable) -> None:
    shared.edit(START + PERSON)
    shared.settle()
    shared.push("acme/m2-7b")
    shared.settle()
    [request] = shared.requests()
    assert shared.rows(request)[-2:] == ["acme/m1-7b", "acme/m2-7b"]
    shared.lose_state()
    shared.settle()
    assert shared.requests() == [request]

    shared.close(request)
    shared.push("acme/m3-7b")
    shared.settle()
    [last] = shared.requests()
    assert (shared.rows(last)[-2:], shared.conflicts(last)) == (["person-3b", "acme/m3-7b"], [])


def test_a_changed_row_survives_a_hand_edit_of_the_row_beside_it(shared: SharedTable) -> None:
    shared.merge(1)
    shared.settle()
    shared.push("acme/m1-7b", right=(60, 60, 70))
    shared.settle()
    shared.edit(shared.table().replace(b"olympus/hera,15.00,", b"olympus/hera,15.50,corrected"))
    shared.settle()

    [request] = shared.requests()
    assert shared.conflicts(request) == []
    shared.merge(request)
    assert shared.table().splitlines()[2:] == [b"olympus/hera,15.50,corrected", b"acme/m1-7b,61.67,"]


def test_a_table_that_cannot_be_read_any_more_is_not_put_back_from_the_request(shared: SharedTable) -> None:
    shared.edit(b"broken")
    shared.settle()
    assert (shared.requests(), shared.table(1)) == ([1], START + ROW)
    shared.edit(START + PERSON)
    shared.settle()
    [request] = shared.requests()
    shared.merge(request)
    assert shared.table() == START + PERSON + ROW
