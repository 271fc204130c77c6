"""A request for a new row says how it differs from another row of its model on main, and follows that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result

BESIDE = "The board has another row of this model, `tiny/acme/atlas-7b/"
LOWER = "points lower than the row there on the average of 2 tasks; chance alone does not explain this."
LATER = path_of(time="2026-03-03T10-00-00.000000")


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Story:
    return Story(hub, tmp_path)


def push_two(story: Story) -> None:
    """Two revisions of one model, each with an open request."""
    story.push()
    story.settle()
    story.push(result(right=(40, 40, 40), revision=2), LATER)
    story.settle()


def test_a_new_row_says_how_it_differs_from_the_row_of_another_revision(story: Story) -> None:
    story.push()
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.push(result(right=(40, 40, 40), revision=2), LATER)
    story.settle()

    text = story.requests[-1].description
    assert f"{BESIDE}" in text
    assert LOWER in text
    told = len(story.news())
    story.lose_state()
    story.settle()
    assert len(story.news()) == 0 < told


def test_a_request_follows_the_other_row_when_that_is_merged_and_when_it_is_gone(story: Story) -> None:
    push_two(story)
    first, second = story.requests
    assert BESIDE not in second.description
    story.hub.merge(story.target, first)
    story.settle()
    assert BESIDE in second.description
    assert LOWER in second.description

    story.remove()
    story.settle()
    story.hub.merge(story.target, story.requests[-1])
    story.settle()
    assert BESIDE not in second.description


def test_two_open_requests_say_nothing_of_each_other(story: Story) -> None:
    push_two(story)
    assert not any("another row" in request.description for request in story.requests)
