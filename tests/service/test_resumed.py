"""A listing that broke off, or whose commit is gone, is begun anew: what counts is what lies at the source then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of

BETTER = (60, 60, 70)
OLD, NEW = "Add acme/atlas-7b (bfloat16): 58.33", "Add acme/atlas-7b (bfloat16): 61.67"
OTHER = "Add acme/borea-1b (bfloat16): 58.33"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


def titles(story: Story) -> list[str]:
    return sorted(request.title for request in story.requests)


def test_a_file_that_changed_since_the_listing_broke_off_is_read_as_it_is_now(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.watch.observe.LISTED", 1)
    monkeypatch.setattr("tests.world.routes_files.PAGE", 2)  # a folder and its file
    story.push()
    story.push(model="acme/borea-1b")
    listing = "datasets/acme/results/tree/"
    story.hub.faults.order(listing, before=lambda: story.hub.faults.order(listing, status=503, times=-1))  # all but one
    assert 3 in {one.status for one in story.settle()}
    assert story.state.files.paths() == {path_of()}  # so much was recorded

    story.push(right=BETTER)
    story.hub.faults.ordered.clear()
    story.settle()

    assert titles(story) == [NEW, OTHER]
    assert story.acts() == ["request", "request"]


def test_a_file_that_changed_in_a_rewritten_history_is_read_as_it_is_now(story: Story) -> None:
    story.push()
    story.settle()
    assert titles(story) == [OLD]

    story.push(right=BETTER)
    story.source.squash()
    story.settle()

    assert titles(story) == [NEW]
    assert story.acts() == ["request", "commit", "rename", "edit"]
