"""What a move of main costs: as many requests on a large board as on a small one, the table included."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result
from tests.world.server import served

SIZES = (4, 60)


def requests_of_a_move(hub: Hub, folder: Path, form: str, size: int) -> int:
    """The requests of a new process, after one row was merged, or while one is written to main."""
    folder.mkdir()
    story = Story(hub, folder, form=form)
    hub.push(story.source, {path_of(f"org{n % 5}/m{n}"): result(f"org{n % 5}/m{n}") for n in range(size)})
    story.settle()
    for request in story.requests:
        hub.merge(story.target, request)
    story.settle()
    story.push(model="org1/new")
    if form == "pull-request":
        story.settle()
        hub.merge(story.target, story.requests[0])
    hub.calls.clear()
    story.settle(story.open_context_factory())
    count = len(hub.calls)

    table = hub.file(story.target, "leaderboard.csv") or b""
    assert len(table.splitlines()) == size + 2
    story.contexts.store.close()
    return count


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_a_move_of_main_costs_the_change_and_not_the_board(tmp_path: Path, form: str) -> None:
    counts = []
    for size in SIZES:
        with served(Hub()) as hub:
            counts.append(requests_of_a_move(hub, tmp_path / str(size), form, size))
    assert counts[1] - counts[0] <= 5
