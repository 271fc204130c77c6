"""Two processes on one watch: with one state the second is told so; with two states nothing stands twice in the end."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

from bot.errors import CallError, StateUnavailable
from bot.service.store.engine import connect
from bot.service.store.leases import state_lock
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result


@pytest.mark.slow
@pytest.mark.parametrize("rows", [12, pytest.param(60, marks=pytest.mark.campaign)])
def test_two_processes_with_states_of_their_own_leave_one_request_for_each_row(
    hub: Hub, tmp_path: Path, rows: int
) -> None:
    story = Story(hub, tmp_path, limit=1000)
    hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(rows)})
    hub.faults.order("", delay=0.03, times=-1)
    others = [story.open_context_factory(f"state-{n}.db") for n in range(2)]
    threads = [threading.Thread(target=story.settle, args=(contexts,)) for contexts in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    story.settle()
    for contexts in others:
        contexts.store.close()

    titles = Counter(request.title for request in story.requests)
    assert titles == {f"Add acme/m{n} (bfloat16): 58.33": 1 for n in range(rows)}
    assert [one for one in story.settle() if one.outcome == "failed"] == []
    story.contexts.store.close()


def test_a_state_in_a_folder_that_is_not_there_is_one_line_and_makes_no_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(StateUnavailable, match="its folder does not exist"),
        state_lock(f"sqlite:///{tmp_path}/no/bot.db"),
    ):
        raise AssertionError("there is no such folder")

    assert list(tmp_path.iterdir()) == []


def test_nonsense_for_a_database_is_refused_before_anything_is_locked() -> None:
    with pytest.raises(CallError, match="DATABASE_URL"), state_lock("nonsense"):
        raise AssertionError("there is nothing to lock")
    with pytest.raises(CallError, match="DATABASE_URL"):
        connect("nonsense")


def test_a_second_process_on_the_same_state_is_told_so(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'bot.db'}"
    with state_lock(database), pytest.raises(StateUnavailable, match="another process uses it"), state_lock(database):
        raise AssertionError("two keep one state")
    with state_lock(database):
        pass  # the first has let go
